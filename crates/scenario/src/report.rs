//! The results of scenarios, for people and for programs.

use std::fmt::Write as _;

use engine::{Entry, HostName};
use language::Colour;
use serde_json::{Value, json};
use views::{Paint, Style};

use super::file::File;
use super::file::Folder;
use super::mistake::LocatedMistake;
use super::read::{Scenario, read};
use super::verdict::{Failure, Verdict, play};

/// How many of the last entries a failure shows.
const MOST_HISTORY: usize = 12;

/// How many problems are shown. Nobody reads more.
const MOST_MISTAKES: usize = 100;

/// The results of some files.
#[derive(Clone, Debug)]
pub struct Report {
    /// The agent program of the sessions.
    host: HostName,
    pub played: Vec<(Scenario, Verdict)>,
    /// Problems of files that could not be read.
    pub mistakes: Vec<LocatedMistake>,
}

impl Report {
    pub fn new(host: HostName) -> Self {
        Self {
            host,
            played: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    /// Reads a file and plays its scenarios.
    pub fn add(&mut self, file: &File, folder: &dyn Folder) {
        match read(file, folder) {
            Ok(scenarios) => self.played.extend(scenarios.into_iter().map(|scenario| {
                let verdict = play(&scenario, &self.host);
                (scenario, verdict)
            })),
            Err(mistakes) => self.mistakes.extend(mistakes),
        }
    }

    pub fn passed(&self) -> usize {
        self.played
            .iter()
            .filter(|(_, verdict)| matches!(verdict, Verdict::Passed))
            .count()
    }

    pub fn failed(&self) -> usize {
        self.played.len() - self.passed()
    }

    pub fn is_good(&self) -> bool {
        self.failed() == 0 && self.mistakes.is_empty()
    }

    /// Problems of files that could not be read.
    pub fn mistakes(&self, paint: Paint) -> String {
        let mut text = String::new();
        for mistake in self.mistakes.iter().take(MOST_MISTAKES) {
            let _ = writeln!(text, "{}", mistake.render(colour(paint)));
        }
        let more = self.mistakes.len().saturating_sub(MOST_MISTAKES);
        if more > 0 {
            let _ = writeln!(text, "… {more} more mistakes: fix these first");
        }
        text
    }

    /// One line for each scenario, its failures below it, and the totals.
    pub fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        for (scenario, verdict) in &self.played {
            let (name, file) = (
                views::line(&scenario.name),
                views::line(&scenario.file.name),
            );
            let place = paint.on(Style::Dim, &format!("({file}:{})", line(scenario)));
            let word = match verdict {
                Verdict::Passed => paint.on(Style::Good, "pass"),
                Verdict::Failed(_) => paint.on(Style::Bad, "FAIL"),
            };
            let _ = writeln!(text, "{word}  {name} {place}");
            if let Verdict::Failed(failure) = verdict {
                text.push_str(&failed(failure, paint));
            }
        }
        let _ = writeln!(text, "{}", self.sum());
        text
    }

    fn sum(&self) -> String {
        let sum = format!("{} passed, {} failed", self.passed(), self.failed());
        match self.mistakes.len() {
            0 => sum,
            1 => format!("{sum}, 1 mistake"),
            number => format!("{sum}, {number} mistakes"),
        }
    }

    pub fn json(&self) -> Value {
        let scenarios = self.played.iter().map(|(scenario, verdict)| {
            let mut value = json!({
                "file": scenario.file.name,
                "line": line(scenario),
                "name": scenario.name,
                "result": "passed",
            });
            if let Verdict::Failed(failure) = verdict {
                value["result"] = json!("failed");
                value["step"] = json!(failure.step);
                value["troubles"] = mistakes(&failure.mistakes);
                value["history"] = views::history(numbered(&failure.history)).json();
            }
            value
        });
        json!({
            "passed": self.passed(),
            "failed": self.failed(),
            "scenarios": scenarios.collect::<Vec<_>>(),
            "mistakes": mistakes(&self.mistakes),
        })
    }
}

/// The first line of a scenario, from 1.
fn line(scenario: &Scenario) -> usize {
    scenario.file.text[..scenario.opening.start]
        .matches('\n')
        .count()
        + 1
}

fn colour(paint: Paint) -> Colour {
    match paint {
        Paint::Plain => Colour::Plain,
        Paint::Ansi => Colour::Ansi,
    }
}

fn failed(failure: &Failure, paint: Paint) -> String {
    let mut text = String::new();
    for mistake in &failure.mistakes {
        for line in mistake.render(colour(paint)).lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    let _ = writeln!(text, "    after: {}", views::line(&failure.step));
    let history = views::history(numbered(&failure.history));
    let skipped = history.lines.len().saturating_sub(MOST_HISTORY);
    if skipped > 0 {
        let _ = writeln!(text, "    … {skipped} earlier entries");
    }
    for entry in history.lines.iter().skip(skipped) {
        let (number, code) = (entry.number, entry.rule.code());
        let what = paint.on(entry.style, &entry.what.line());
        let _ = writeln!(text, "    {number:>4} {code} {what}");
    }
    text
}

fn numbered(entries: &[Entry]) -> impl Iterator<Item = (u64, &Entry)> {
    (1..).zip(entries)
}

fn mistakes(mistakes: &[LocatedMistake]) -> Value {
    let one = |mistake: &LocatedMistake| {
        let (line, column) = mistake.line_column();
        json!({
            "code": mistake.diagnostic.code,
            "file": mistake.diagnostic.file,
            "line": line,
            "column": column,
            "message": mistake.diagnostic.message,
            "hint": mistake.diagnostic.hint,
        })
    };
    Value::Array(mistakes.iter().map(one).collect())
}
