//! Our own scenario files and the examples of the documentation are played.

use engine::HostName;
use language::{SourceFile, Sources};

use super::super::file::{File, Folder};
use super::super::report::Report;
use super::super::shipped::shipped;

pub(super) const EVERY_KIND: &str = include_str!("../../scenarios/every-kind.toml");

/// Scenarios that no built-in pipeline ships.
const OTHERS: [(&str, &str); 3] = [
    (
        "every-kind.md",
        include_str!("../../scenarios/every-kind.md"),
    ),
    ("laws.md", include_str!("../../scenarios/laws.md")),
    (
        "docs/scenarios.md",
        include_str!("../../../../docs/scenarios.md"),
    ),
];

/// The folder of our scenario files, as far as they refer to it.
pub(super) struct Ours;

impl Folder for Ours {
    fn file(&self, path: &str) -> Result<Sources, String> {
        match path {
            "every-kind.toml" => self.text(EVERY_KIND.as_bytes()),
            _ => Err(format!("{path} is not embedded in the test")),
        }
    }

    fn text(&self, definition: &[u8]) -> Result<Sources, String> {
        let main = SourceFile {
            name: "a block".to_owned(),
            bytes: definition.to_vec(),
        };
        match language::references(&main).into_iter().next() {
            Some(path) => Err(format!("{path} is not embedded in the test")),
            None => Ok(Sources {
                files: Default::default(),
                main,
            }),
        }
    }
}

fn check(file: &File) {
    let mut report = Report::new(HostName::listed("claude"));
    report.add(file, &Ours);
    let paint = views::Paint::Plain;
    assert!(
        report.is_good(),
        "{}{}",
        report.mistakes(paint),
        report.text(paint)
    );
    assert!(report.passed() > 0, "{} has no scenario", file.name);
}

#[test]
fn every_built_in_pipeline_has_scenarios_and_they_pass() {
    for builtin in language::builtin::all() {
        let file = shipped(builtin.name);
        check(&file.unwrap_or_else(|| panic!("{} has no scenarios", builtin.name)));
    }
}

#[test]
fn the_other_scenarios_and_the_examples_of_the_documentation_pass() {
    for (name, text) in OTHERS {
        check(&File {
            name: name.to_owned(),
            text: text.into(),
        });
    }
}
