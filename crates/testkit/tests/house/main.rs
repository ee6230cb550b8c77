//! The house rules as tests: the repository keeps each, and each finds what was planted against it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read the repository has failed"
)]

mod imports;
mod kit;
mod manifest;
mod modules;
mod names;
mod papers;
mod purity;
mod rules;
mod shared_pipelines;
mod source;
mod text;
mod threats;
mod voice;
mod waits;
mod wishes;

use source::File;

/// A rule looks at all files and tells what breaks it.
struct Rule {
    says: &'static str,
    find: fn(&[File]) -> Vec<String>,
    /// Small repositories, each of which breaks the rule.
    broken: &'static [Sketch],
    /// One that comes close and keeps it.
    kept: Sketch,
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    let topics = [
        modules::RULES,
        names::RULES,
        text::RULES,
        manifest::RULES,
        purity::RULES,
        wishes::RULES,
        threats::RULES,
        papers::RULES,
        shared_pipelines::RULES,
        voice::RULES,
        waits::RULES,
    ];
    topics.into_iter().flatten()
}

/// A small repository: paths and texts.
type Sketch = &'static [(&'static str, &'static str)];

#[test]
fn the_repository_keeps_every_rule() {
    let files = source::repository();
    voice::update(&files);
    let files = source::repository();
    assert!(
        files
            .iter()
            .any(|file| file.path == "crates/engine/src/lib.rs"),
        "this is not the repository"
    );
    let broken = rules().flat_map(|rule| {
        let found = (rule.find)(&files).into_iter();
        found.map(|found| format!("{}\n    {found}", rule.says))
    });
    let broken: Vec<_> = broken.collect();
    assert!(
        broken.is_empty(),
        "{} times a rule is broken:\n{}",
        broken.len(),
        broken.join("\n")
    );
}

#[test]
fn every_rule_finds_what_was_planted_against_it() {
    for rule in rules() {
        for sketch in rule.broken {
            assert!(
                !(rule.find)(&files(sketch)).is_empty(),
                "{}: blind to {sketch:?}",
                rule.says
            );
        }
    }
}

#[test]
fn no_rule_finds_fault_with_what_keeps_it() {
    for rule in rules() {
        let found = (rule.find)(&files(rule.kept));
        assert!(
            found.is_empty(),
            "{}: {found:?} in {:?}",
            rule.says,
            rule.kept
        );
    }
}

fn files(sketch: Sketch) -> Vec<File> {
    sketch
        .iter()
        .map(|(path, text)| File::new(*path, grown(text)))
        .collect()
}

/// Rules about length need much text; a sketch says how much.
fn grown(text: &str) -> String {
    let grown = text.replace("⟨61 lines⟩", &"\n".repeat(61));
    let grown = grown.replace("⟨61 arms⟩", &"        A::B => b(),\n".repeat(61));
    let grown = grown.replace("⟨61 alternatives⟩", &"        | A::B\n".repeat(61));
    let grown = grown.replace("⟨601 lines⟩", &"\n".repeat(601));
    grown.replace("⟨999 packages⟩", &"[[package]]\n".repeat(999))
}
