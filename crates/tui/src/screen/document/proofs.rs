//! What was proved: the gates with their evidence, and the artifacts.

use engine::RunId;
use views::Style;
use views::facts::{CommandEvidence, GateEvidence, GateState, ReviewEvidence};
use views::status::{Approval, ArtifactLine};

use super::{DocLine, Piece, wrapped};
use crate::age::age;
use crate::event::{RunFacts, TextTarget};
use crate::screen::Screen;

/// How many lines of a command's output are shown; `why` has all that was kept.
const TAIL_LINES: usize = 20;

pub(super) fn gates(screen: &Screen, run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let gates = run.status.journal.as_ref().map(|journal| &journal.gates);
    let gates = gates.into_iter().flatten();
    let lines: Vec<DocLine> = gates
        .flat_map(|gate| gate_lines(screen, run, gate, columns))
        .collect();
    if lines.is_empty() {
        return vec![DocLine::one(Style::Dim, "this pipeline has no gates")];
    }
    lines
}

fn gate_lines(
    screen: &Screen,
    run: &RunFacts,
    gate: &GateEvidence,
    columns: usize,
) -> Vec<DocLine> {
    let (style, mark) = state_mark(gate.state);
    let at = gate
        .at
        .map(|at| format!(" · {} ago", age(screen.now.since(at))));
    let round = gate.round.map(|round| format!(" · round {round}"));
    let tree = gate
        .subject
        .map(|it| format!(" · on {}", short(&it.to_string())));
    let details = [round, tree, at].into_iter().flatten().collect::<String>();
    let mut lines = vec![DocLine::of(vec![
        Piece::new(style, format!("{mark} {} ", gate.stage)),
        Piece::new(Style::Dim, format!("{} ", gate.kind)),
        Piece::new(style, gate.state.word()),
        Piece::new(Style::Dim, details),
    ])];
    for command in &gate.commands {
        lines.extend(command_lines(command, columns));
    }
    if gate.failed_before > 0 {
        let text = format!("  failed before: {}", gate.failed_before);
        lines.push(DocLine::one(Style::Normal, text));
    }
    for failure in &gate.failures {
        let commands = failure.commands.iter();
        let failed: Vec<DocLine> = commands.flat_map(|it| command_lines(it, columns)).collect();
        lines.extend(opening(failed, run, failure.entry));
    }
    lines.extend(gate.reviews.iter().map(review_line));
    lines.push(DocLine::blank());
    match gate.entry {
        Some(entry) => opening(lines, run, entry),
        None => lines,
    }
}

/// Each line opens the reason of this entry.
fn opening(lines: Vec<DocLine>, run: &RunFacts, entry: u64) -> Vec<DocLine> {
    let target = TextTarget::Why {
        run: run.status.run.clone(),
        entry,
    };
    let lines = lines.into_iter();
    let opens = |line: DocLine| match line.target {
        Some(_) => line,
        None => line.opens(target.clone()),
    };
    lines.map(opens).collect()
}

fn state_mark(state: GateState) -> (Style, &'static str) {
    match state {
        GateState::Open => (Style::Dim, "○"),
        GateState::Failed => (Style::Bad, "✗"),
        GateState::Holds => (Style::Good, "✓"),
        GateState::Superseded | GateState::Stale => (Style::Wait, "~"),
        GateState::Overridden => (Style::Bad, "!"),
    }
}

fn command_lines(command: &CommandEvidence, columns: usize) -> Vec<DocLine> {
    let is_good = command.exit == Some(0);
    let style = if is_good { Style::Normal } else { Style::Bad };
    let took = views::time::duration(command.duration_ms);
    let text = format!(
        "  $ {} · {} · {took}",
        command.command.line(),
        command.ended.line()
    );
    let mut lines = wrapped(style, &text, columns, 4);
    if !is_good {
        let tail = command.tail.block();
        let all: Vec<&str> = tail.trim_end().lines().collect();
        let first = all.len().saturating_sub(TAIL_LINES);
        for line in &all[first..] {
            let text = format!("    {}", line.replace('\t', "    "));
            lines.extend(wrapped(Style::Dim, &text, columns, 4));
        }
    }
    lines
}

fn review_line(review: &ReviewEvidence) -> DocLine {
    let agent = review.agent.as_ref();
    let agent = agent.map_or_else(String::new, |agent| format!(" '{agent}'"));
    let (style, verdict) = match review.approved {
        Some(_) => (Style::Good, "approved"),
        None => (Style::Bad, "found problems"),
    };
    DocLine::of(vec![
        Piece::new(
            Style::Normal,
            format!("  reviewer {}{agent} ", review.reviewer),
        ),
        Piece::new(style, verdict),
        Piece::new(Style::Dim, format!(" · entry {}", review.entry)),
    ])
}

pub(super) fn artifacts(run: &RunFacts) -> Vec<DocLine> {
    let artifacts = run.status.artifacts.iter();
    let mut lines: Vec<DocLine> = artifacts
        .map(|artifact| artifact_line(&run.status.run, artifact))
        .collect();
    let hint = match lines.len() {
        0 => "no artifact was captured yet",
        _ => "Enter on one opens it",
    };
    lines.push(DocLine::one(Style::Dim, hint));
    lines
}

fn artifact_line(run: &RunId, artifact: &ArtifactLine) -> DocLine {
    let by = artifact.dispatch.map(|id| format!(" by {id}"));
    let (style, approval) = match artifact.approval {
        Approval::None => (Style::Normal, ""),
        Approval::Approved => (Style::Good, " · approved"),
        Approval::Stale => (Style::Wait, " · approved with other content"),
    };
    let line = DocLine::of(vec![
        Piece::new(Style::Strong, artifact.name.to_string()),
        Piece::new(
            Style::Dim,
            format!(
                " {}{}",
                short(&artifact.content.to_string()),
                by.unwrap_or_default()
            ),
        ),
        Piece::new(style, approval),
    ]);
    line.opens(TextTarget::Artifact {
        run: run.clone(),
        name: artifact.name.to_string(),
        content: artifact.content,
    })
}

fn short(hash: &str) -> String {
    hash.chars().take(8).collect()
}
