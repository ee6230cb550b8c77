//! What each piece of work changed, each line with its diff behind it.

use views::{Style, cut, pad, width};

use super::{DocLine, Piece};
use crate::event::{ChangeExtent, ChangeRow, RunFacts, TextTarget};

/// With fewer columns, a line shows only the number of the work.
const NARROW: usize = 60;

pub(super) fn lines(run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let whole = TextTarget::Change {
        run: run.status.run.clone(),
    };
    let mut lines = vec![DocLine::one(Style::Strong, "the whole run, since it began").opens(whole)];
    let names = |name: fn(&ChangeRow) -> String| {
        let widest = run.changes.iter().map(|row| width(&name(row))).max();
        widest.unwrap_or(0).min(columns / 2)
    };
    let who: fn(&ChangeRow) -> String = if columns < NARROW {
        |row| row.dispatch.to_string()
    } else {
        |row| format!("attempt {} · {} '{}'", row.attempt, row.dispatch, row.agent)
    };
    let (stage, work) = (names(|row| row.stage.to_string()), names(who));
    lines.extend(run.changes.iter().map(|row| {
        let cell = |text: &str, columns: usize| format!("{}  ", pad(&cut(text, columns), columns));
        let name = cell(row.stage.as_str(), stage);
        line(run, row, [name, cell(&who(row), work)])
    }));
    let hint = match run.changes.len() {
        0 => "no agent has worked in this run yet",
        _ => "Enter on one shows its diff",
    };
    lines.push(DocLine::one(Style::Dim, hint));
    lines
}

fn line(run: &RunFacts, row: &ChangeRow, [stage, who]: [String; 2]) -> DocLine {
    let (style, extent) = match row.extent {
        ChangeExtent::Known(stat) => (Style::Normal, stat.text()),
        ChangeExtent::Open => (Style::Wait, "at work".to_owned()),
        ChangeExtent::Unknown => (Style::Dim, "not kept".to_owned()),
    };
    let pieces = vec![
        Piece::new(Style::Normal, stage),
        Piece::new(Style::Dim, who),
        Piece::new(style, extent),
    ];
    DocLine::of(pieces).opens(TextTarget::WorkChange {
        run: run.status.run.clone(),
        of: row.dispatch.to_string(),
    })
}
