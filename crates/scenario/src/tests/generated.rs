//! What is generated covers every transition, and passes when it is played.

use engine::{HostName, Pipeline};

use super::super::file::File;
use super::super::generate::{Generated, generate};
use super::super::report::Report;
use super::files::{EVERY_KIND, Ours};
use super::{SMALL, sources};

fn pipeline(text: &str) -> Pipeline {
    language::compile(&sources("p.toml", text.as_bytes()))
        .unwrap()
        .pipeline
}

/// Generates for a pipeline, and plays what was generated.
fn check(pipeline: &Pipeline, reference: &str) -> Generated {
    let generated = generate(pipeline, reference, &HostName::listed("claude"));
    let file = File {
        name: "generated.md".to_owned(),
        text: generated.text.as_str().into(),
    };
    let mut report = Report::new(HostName::listed("claude"));
    report.add(&file, &Ours);
    let paint = views::Paint::Plain;
    assert!(
        report.is_good(),
        "{}{}",
        report.mistakes(paint),
        report.text(paint)
    );
    for transition in &generated.covered {
        assert!(
            generated.text.contains(&format!("- {transition}\n")),
            "{transition}"
        );
    }
    generated
}

fn uncovered(generated: &Generated) -> Vec<String> {
    let all = generated.uncovered.iter();
    all.map(|(transition, reason)| format!("{transition} ({reason})"))
        .collect()
}

#[test]
fn every_transition_of_the_built_in_pipelines_is_covered() {
    for builtin in language::builtin::all() {
        let compiled = language::compile(&builtin.sources()).unwrap();
        let generated = check(&compiled.pipeline, builtin.name);
        assert_eq!(uncovered(&generated), [""; 0], "{}", builtin.name);
    }
}

#[test]
fn every_transition_of_every_kind_of_stage_is_covered() {
    let generated = check(&pipeline(EVERY_KIND), "every-kind.toml");
    assert_eq!(uncovered(&generated), [""; 0]);
    assert!(generated.covered.len() > 30, "{}", generated.covered.len());
}

#[test]
fn a_small_pipeline_gets_a_small_file() {
    let generated = check(&pipeline(SMALL), SMALL.trim());
    assert_eq!(uncovered(&generated), [""; 0]);
    assert_eq!(generated.covered.len(), 8);
    assert_eq!(
        generated.text.matches("```scenario").count(),
        3,
        "{}",
        generated.text
    );
}

/// Work that leaves nothing cannot be missing anything.
#[test]
fn what_cannot_be_covered_is_told_with_the_reason() {
    let text = SMALL.replace("leaves   = [\"text\"]\n", "").replace(
        "on.ready = \"look\"\non.poor  = { to = \"write\", count = \"changes\" }",
        "on.done = \"look\"\non.missing = \"stopped\"",
    );
    let generated = check(&pipeline(&text), text.trim());
    let expected = "write → stopped: missing (no step of a scenario does this in `write`)";
    assert_eq!(uncovered(&generated), [expected]);
    assert!(
        generated.text.contains(&format!("- {expected}\n")),
        "{}",
        generated.text
    );
}

/// An agent of an open stage whose artifact has a verdict is done, which needs no word.
#[test]
fn a_verdict_in_an_open_stage_is_told() {
    let text = SMALL.replace(
        "agent    = \"writer\"\nleaves   = [\"text\"]\nstop     = \"hold\"\non.ready = \"look\"\n\
         on.poor  = { to = \"write\", count = \"changes\" }",
        "allow = [\"writer\"]\nleaves.writer = [\"text\"]\nafter.writer = \"look\"",
    );
    assert_ne!(text, SMALL);
    let text = text
        .replace("\"ready\"", "\"done\"")
        .replace("\"poor\"", "\"failed\"");
    let generated = check(&pipeline(&text), text.trim());
    assert_eq!(uncovered(&generated), [""; 0]);
    assert!(
        generated.text.contains("writer works\n"),
        "{}",
        generated.text
    );
}
