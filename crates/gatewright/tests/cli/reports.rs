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
        "## Stages",
        "## Gates",
        "grep -q Hello note.md",
        "## Proved",
        "## People",
        "yes",
        "## Cost",
        "## Chain",
        "gatewright history r-test",
    ] {
        assert!(page.contains(told), "{told}\n{page}");
    }
}

#[test]
fn show_tells_the_story_prints_markdown_and_writes_one_page() {
    let project = project();
    project.write("small.toml", SMALL);
    start(&project, "small.toml").succeeds();
    to_the_question(&project);
    to_the_end(&project);
    let facts: serde_json::Value =
        serde_json::from_str(&run(&project, "show r-test --json").succeeds().stdout).unwrap();
    assert_eq!(facts["report"]["integrity"], "intact");
    let head = facts["journal"]["head"].as_str().unwrap();
    let entries = facts["journal"]["entries"].as_u64();
    let last = run(&project, "history r-test --json").succeeds().stdout;
    let last: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!(
        entries,
        last["entries"].as_array().map(|all| all.len() as u64)
    );
    run(&project, "show r-test --html page.html").succeeds();
    let page = project.read("page.html");
    let markdown = run(&project, "show r-test --markdown").succeeds().stdout;
    let text = run(&project, "show r-test").succeeds().stdout;
    for told in [
        "completed",
        "grep -q Hello note.md",
        "gatewright verify r-test",
        head,
    ] {
        for form in [&page, &markdown, &text] {
            assert!(form.contains(told), "{told}\n{form}");
        }
    }
    assert!(!page.contains("<script"), "{page}");
    // The pipeline with the way of the run, and when who worked.
    assert_eq!(page.matches("<svg").count(), 2, "{page}");
    run(&project, "show r-test --html no/such/folder.html").exits(4);
    run(&project, "show r-test --html x --markdown").exits(2);
    run(&project, "show r-none").exits(3);
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
