//! Each built-in pipeline compiles without a word of complaint and keeps its promises.

use engine::PipelineName;
use language::{builtin, compile, references, template};

use crate::{compiled, said};

#[test]
fn every_built_in_passes_without_a_warning() {
    for builtin in builtin::all() {
        match compile(&builtin.sources()) {
            Ok(compiled) => {
                assert_eq!(
                    said(&compiled.warnings, builtin.text),
                    "",
                    "{}",
                    builtin.name
                );
                let definition = compiled.pipeline.definition();
                assert_eq!(definition.name.as_str(), builtin.name);
                assert_eq!(definition.about, builtin.about);
                assert!(
                    !definition.proofs.is_empty(),
                    "{} promises nothing",
                    builtin.name
                );
            }
            Err(problems) => panic!("{}\n{}", builtin.name, said(&problems, builtin.text)),
        }
    }
}

#[test]
fn built_ins_are_found_by_name() {
    assert_eq!(
        builtin::find("ansible").map(|builtin| builtin.name),
        Some("ansible")
    );
    assert!(builtin::find("nothing").is_none());
}

/// A template is a pipeline like any other, whatever it is called.
#[test]
fn every_template_passes_without_a_warning_and_brings_its_files() {
    for template in template::all() {
        for name in ["NAME", "mine", "my_own-2"] {
            let sources = template.sources(&PipelineName::parse(name).unwrap());
            let text = String::from_utf8_lossy(&sources.main.bytes).into_owned();
            let compiled = compile(&sources)
                .unwrap_or_else(|problems| panic!("{}\n{}", template.name, said(&problems, &text)));
            assert_eq!(said(&compiled.warnings, &text), "", "{}", template.name);
            let definition = compiled.pipeline.definition();
            assert_eq!(definition.name.as_str(), name);
            assert_eq!(definition.about, template.about);
            assert!(!definition.proofs.is_empty(), "{}", template.name);
            let embedded: Vec<&String> = sources.files.keys().collect();
            assert_eq!(
                references(&sources.main).iter().collect::<Vec<_>>(),
                embedded
            );
        }
    }
    assert_eq!(
        template::find("minimal").map(|found| found.name),
        Some("minimal")
    );
    assert!(template::find("nothing").is_none());
}

/// What is embedded is what is referred to: no file is missing, none is carried for nothing.
#[test]
fn every_built_in_brings_its_files() {
    for builtin in builtin::all() {
        let embedded: Vec<&str> = builtin.files.iter().map(|(path, _)| *path).collect();
        assert_eq!(
            references(&builtin.sources().main),
            embedded,
            "{}",
            builtin.name
        );
    }
}

/// A way around a gate is found: each built-in with one edge bent past its gate is refused.
#[test]
fn a_bypass_in_a_built_in_is_refused() {
    const FALSE: &str = "GW-L260";
    const UNAPPROVED: &str = "GW-L244";
    for (name, from, to, code) in [
        (
            "ansible",
            "on.failed = { to = \"debugging\"",
            "on.failed = { to = \"reviewing\"",
            FALSE,
        ),
        (
            "ansible",
            "reset = [\"fixes\", \"reworks\"] }",
            "reset = [\"fixes\", \"reworks\"] }\non.accept = \"complete\"",
            FALSE,
        ),
        (
            "ansible",
            "on.done = \"validating\"\n\n[stages.reviewing]",
            "on.done = \"reviewing\"\n\n[stages.reviewing]",
            FALSE,
        ),
        (
            "context-first",
            "[\"context-refiner\", \"utility\"]",
            "[\"context-refiner\", \"language\"]",
            FALSE,
        ),
        (
            "context-first",
            "= [\"context-gatherer\"]",
            "= [\"context-gatherer\", \"bash-*\"]",
            FALSE,
        ),
        (
            "context-first",
            "after.context-gatherer  = \"GATHERING\"\n\n[[prove]]",
            "after.context-gatherer  = \"REFINING\"\n\n[[prove]]",
            FALSE,
        ),
        (
            "multi-ai",
            "on.error       = \"stuck\"",
            "on.error       = \"plan_drafting\"",
            FALSE,
        ),
        (
            "multi-ai",
            "on.retry = \"@interrupted\"",
            "on.retry = \"plan_refining\"",
            FALSE,
        ),
        (
            "multi-ai",
            "on.failed = { to = \"implementing_loop\"",
            "on.failed = { to = \"complete\"",
            FALSE,
        ),
        ("multi-ai", ", approves = [\"story\"] }", " }", UNAPPROVED),
        (
            "phases",
            "on.stop     = \"failed\"",
            "on.stop     = \"failed\"\non.accept   = \"complete\"",
            FALSE,
        ),
    ] {
        let builtin = builtin::find(name).expect("the built-in exists");
        let text = builtin.text.replacen(from, to, 1);
        assert_ne!(text, builtin.text, "{name} has no {from}");
        let files: Vec<(&str, &[u8])> = builtin
            .files
            .iter()
            .map(|(path, text)| (*path, text.as_bytes()))
            .collect();
        let problems = compiled(name, text.as_bytes(), &files)
            .map(|_| ())
            .expect_err(to);
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
        assert!(
            codes.contains(&code),
            "{name} with {to}:\n{}",
            said(&problems, &text)
        );
    }
}
