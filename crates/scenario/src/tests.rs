//! Tests of the scenario language, of the player, and of what is generated.

mod expectations;
mod files;
mod generated;
mod mistakes;
mod routes;
mod unplayable;
mod wording;

use std::collections::BTreeMap;

use engine::HostName;
use language::{SourceFile, Sources};

use super::file::File;
use super::file::Folder;
use super::report::Report;

/// A folder that exists only here.
#[derive(Default)]
struct Memory(BTreeMap<&'static str, &'static str>);

impl Folder for Memory {
    fn file(&self, path: &str) -> Result<Sources, String> {
        match self.0.get(path) {
            Some(text) => Ok(sources(path, text.as_bytes())),
            None => Err(format!("there is no file {path}")),
        }
    }

    fn text(&self, definition: &[u8]) -> Result<Sources, String> {
        Ok(sources("a block", definition))
    }
}

fn sources(name: &str, bytes: &[u8]) -> Sources {
    let main = SourceFile {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    Sources {
        main,
        files: BTreeMap::new(),
    }
}

/// A small pipeline with a verdict, a limit, a question and a check.
const SMALL: &str = r#"
name  = "small"
about = "Write a text, and look at it."
start = "write"
ttl   = "7d"

[params]
limit = { about = "how often", default = 1 }

[counters]
changes = { max = "{limit}", then = "decide" }

[artifacts.text]
path    = "text.json"
format  = "json"
outcome = { field = "status", values = { READY = "ready", POOR = "poor" } }

[stages.write]
agent    = "writer"
leaves   = ["text"]
stop     = "hold"
on.ready = "look"
on.poor  = { to = "write", count = "changes" }

[stages.look]
check     = ["look text.json"]
on.passed = "end"
on.failed = { to = "write", count = "changes" }

[stages.decide]
ask         = "Another one?"
on.continue = { to = "@interrupted", reset = ["changes"] }
on.stop     = "stopped"

[stages.end]
end = "completed"

[stages.stopped]
end = "cancelled"

[[prove]]
name    = "nothing ends unseen"
before  = "end"
through = ["look"]
"#;

/// A file with the small pipeline and one scenario.
fn with_small(scenario: &str) -> File {
    let text = format!("```pipeline\n{SMALL}```\n\n# A story\n\n```scenario\n{scenario}\n```\n");
    File {
        name: "story.md".to_owned(),
        text: text.into(),
    }
}

fn played(file: &File) -> Report {
    let mut report = Report::new(HostName::listed("claude"));
    report.add(file, &Memory::default());
    report
}

/// What the report says about a scenario on the small pipeline, without the file around it.
fn told(scenario: &str) -> String {
    let report = played(&with_small(scenario));
    let mistakes = report.mistakes(views::Paint::Plain);
    format!("{mistakes}{}", report.text(views::Paint::Plain))
}
