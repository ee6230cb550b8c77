//! `gatewright gc`: runs that ended long ago are deleted, and what no run holds any more.

use engine::{Seconds, Time};
use serde_json::json;
use store::{Backend, Collect, RunSummary};

use crate::clock;
use crate::context::Context;
use crate::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::runs;

/// Delete runs that ended long ago, with their backups, and what no run holds any more
#[derive(Debug, clap::Args)]
pub struct Gc {
    /// Keep runs that ended less long ago than this
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = parse_time)]
    older_than: Seconds,
    /// Only show which runs would go
    #[arg(long)]
    dry_run: bool,
}

/// A number and its unit: `90s`, `30m`, `2h`, `7d`.
fn parse_time(text: &str) -> Result<Seconds, String> {
    let wrong = || "write a number and its unit: 90s, 30m, 2h, 7d".to_owned();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let size = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    number.checked_mul(size).map(Seconds).ok_or_else(wrong)
}

impl Gc {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let age = self.older_than.0.saturating_mul(1_000);
        let before = Time(clock::now().0.saturating_sub(age));
        match self.dry_run {
            true => show(context, output, before),
            false => collect(context, output, before),
        }
    }
}

fn show(context: &Context, output: &mut Output, before: Time) -> Result<Exit, Failure> {
    let runs = match Desk::if_there(context)? {
        Some(desk) => desk.store.runs(None)?,
        None => Vec::new(),
    };
    let goes = |run: &&RunSummary| !runs::is_active(run) && run.updated_at < before;
    let going: Vec<&RunSummary> = runs.iter().filter(goes).collect();
    let ids: Vec<&str> = going.iter().map(|run| run.id.as_str()).collect();
    let text = match ids.as_slice() {
        [] => "no run would go\n".to_owned(),
        [only] => format!("1 run would go:\n{only}\n"),
        ids => format!("{} runs would go:\n{}\n", ids.len(), ids.join("\n")),
    };
    let entries: u64 = going.iter().map(|run| run.version).sum();
    // What the contents and definitions come to is known only when the runs are gone.
    let json = json!({
        "dry_run": true,
        "runs": ids.len(),
        "ids": ids,
        "entries": entries,
        "contents": null,
        "definitions": null,
    });
    output.facts(|_| text, || json)?;
    Ok(Exit::Success)
}

fn collect(context: &Context, output: &mut Output, before: Time) -> Result<Exit, Failure> {
    let mut desk = Desk::for_writing(context)?;
    let earlier = desk.store.runs(None)?;
    let collected = desk.store.gc(&Collect {
        before,
        shrink: true,
    })?;
    let left = desk.store.runs(None)?;
    let is_left = |run: &str| left.iter().any(|left| left.id.as_str() == run);
    desk.state.forget_runs(is_left);
    let ids = earlier.iter().map(|run| run.id.as_str());
    let ids: Vec<&str> = ids.filter(|run| !is_left(run)).collect();
    let store::Collected {
        runs,
        entries,
        contents,
        definitions,
    } = collected;
    let text = format!(
        "deleted {} with {}, {}, {}\n",
        count(runs, "run", "runs"),
        count(entries, "entry", "entries"),
        count(contents, "content", "contents"),
        count(definitions, "definition", "definitions"),
    );
    let json = json!({
        "dry_run": false,
        "runs": runs,
        "ids": ids,
        "entries": entries,
        "contents": contents,
        "definitions": definitions,
    });
    output.facts(|_| text, || json)?;
    Ok(Exit::Success)
}

fn count(number: u64, one: &str, more: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_number_and_a_unit() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("30m", Some(1_800)),
            ("2h", Some(7_200)),
            ("7d", Some(604_800)),
            ("0s", Some(0)),
            ("7", None),
            ("d", None),
            ("-1d", None),
            ("1 d", None),
            ("99999999999999999999d", None),
            ("18446744073709551615d", None),
        ] {
            assert_eq!(parse_time(text).ok(), expected.map(Seconds), "{text}");
        }
    }
}
