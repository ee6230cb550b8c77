//! The report that a run leaves when it ends.

use crate::fixture::{SMALL, project, run, start, to_the_end, to_the_question};

const REPORT: &str = "\n[views]\nreport = \"out/report-{run}.md\"\n";

#[test]
fn a_report_is_written_when_the_run_ends_and_not_before() {
    let project = project();
    project.write("small.toml", format!("{SMALL}{REPORT}"));
    start(&project, "small.toml").succeeds();
    let path = project.path().join("out/report-r-test.md");
    to_the_question(&project);
    assert!(!path.exists());
    to_the_end(&project);
    let page = project.read("out/report-r-test.md");
    for told in [
        "is completed",
        "write a note",
        "## Done",
        "## Checked",
        "grep -q Hello note.md",
        "## Reviewed",
        "## Decided",
        "yes",
        "## Cost",
        "## Where to look",
        "gatewright history r-test",
    ] {
        assert!(page.contains(told), "{told}\n{page}");
    }
}

#[test]
fn a_failed_run_leaves_one_too() {
    let project = project();
    project.write("small.toml", format!("{SMALL}{REPORT}"));
    start(&project, "small.toml").succeeds();
    to_the_question(&project);
    run(&project, "answer no").succeeds();
    let page = project.read("out/report-r-test.md");
    assert!(page.contains("is failed"), "{page}");
}

#[test]
fn every_built_in_pipeline_has_a_report() {
    for builtin in language::builtin::all() {
        let compiled = language::compile(&builtin.sources()).expect("a built-in compiles");
        let views = &compiled.pipeline.definition().views;
        let report = views
            .iter()
            .find(|view| view.format == engine::ViewFormat::Report);
        // Runs do not overwrite each other's.
        let path = report.map(|view| view.path.contains("{run}"));
        assert_eq!(path, Some(true), "{}", builtin.name);
    }
}
