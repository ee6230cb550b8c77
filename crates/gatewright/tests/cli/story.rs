//! The whole way by hand: a pipeline is written, linted, started, driven to its end, and verified.

use testkit::Project;

use crate::fixture::{
    PROGRAM, RUN, SMALL, entries, number_of_runs, project, run, says_one_line, stage, start,
    started, status, to_the_end, to_the_question,
};

#[test]
fn a_pipeline_is_driven_by_hand_to_its_end() {
    let project = project();
    let linted = run(&project, "lint small.toml").succeeds();
    assert_eq!(linted.stdout, "small.toml: accepted\n");
    let begun = start(&project, "small.toml").succeeds();
    assert!(begun.stdout.starts_with("r-test\n"), "{begun}");
    assert!(
        begun
            .stdout
            .contains("gatewright report r-test --agent writer"),
        "{begun}"
    );
    assert_eq!(stage(&project), "writing");

    // The reviewer is out of turn, and the wrong note fails the check that is really run.
    says_one_line(
        run(&project, "report --agent reader"),
        1,
        &["GW-R11", "'reader'", "'writer'"],
    );
    project.write("note.md", "Hallo\n");
    run(&project, "report --agent writer").succeeds();
    assert_eq!(stage(&project), "testing");
    let failed = run(&project, "check").exits(1);
    for fact in ["testing", "grep -q Hello note.md: exit 1"] {
        assert!(failed.stdout.contains(fact), "{failed}");
    }
    assert_eq!(stage(&project), "writing");

    // The same bytes again are an old note.
    says_one_line(run(&project, "report"), 1, &["GW-R35", "note"]);
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    run(&project, "check").succeeds();
    assert_eq!(status(&project), "waiting");
    says_one_line(run(&project, "answer perhaps"), 1, &["GW-R61", "'perhaps'"]);
    run(&project, "answer yes").succeeds();

    project.write("verdict.json", r#"{"status": "needs_changes"}"#);
    run(&project, "report --agent reader").succeeds();
    says_one_line(
        run(&project, "report --agent reader"),
        1,
        &["GW-R11", "'writer'"],
    );
    project.write("note.md", "Hello, reader\n");
    run(&project, "report --agent writer").succeeds();
    project.write("verdict.json", r#"{"status": "approved"}"#);
    run(&project, "report --agent reader").succeeds();

    assert_eq!(
        (stage(&project).as_str(), status(&project).as_str()),
        ("complete", "completed")
    );
    let verified = run(&project, "verify").succeeds();
    assert!(verified.stdout.starts_with("r-test  intact"), "{verified}");
    assert!(verified.stdout.contains("unwitnessed"), "{verified}");
}

#[test]
fn a_way_around_the_review_is_refused_with_its_path() {
    let project = project();
    let bypass = SMALL.replace(r#"on.no  = "stopped""#, r#"on.no  = "complete""#);
    assert_ne!(bypass, SMALL);
    project.write("bypass.toml", bypass);
    let linted = run(&project, "lint bypass.toml").exits(1);
    for words in [
        "GW-L260",
        "bypass.toml:",
        "`reviewing`",
        "asking (no) → complete",
    ] {
        assert!(linted.stderr.contains(words), "{words}\n{linted}");
    }
    // What lint refuses, start refuses: the same words, and no run.
    let refused = start(&project, "bypass.toml").exits(1);
    assert_eq!(refused.stderr.trim_end(), linted.stderr.trim_end());
    assert_eq!(number_of_runs(&project), 0);
}

#[test]
fn a_change_after_the_check_sends_the_run_back() {
    let project = started();
    to_the_question(&project);
    project.write("code.txt", "written after the check had passed\n");
    to_the_end(&project);
    assert_eq!(stage(&project), "testing");
    run(&project, "check").succeeds();
}

/// An agent may write the rules of git: what the run was started for counts all the same.
#[test]
fn a_target_that_git_ignores_is_looked_at_too() {
    for target in ["site.yml", "roles/web"] {
        let project = Project::with_git(PROGRAM);
        let params = "[params]\ntarget = { about = \"what is made\", is = \"path\" }\n";
        let used = SMALL.replace("grep -q Hello note.md", "ls {target}");
        project.write("small.toml", format!("{used}\n{params}"));
        let file = match target {
            "site.yml" => "site.yml",
            role => &format!("{role}/tasks/main.yml"),
        };
        project.write(file, "made\n");
        project.write(".gitignore", format!("{target}\n"));
        project.trust("small.toml");
        let line =
            format!("start small.toml --id r-test --task x --by-hand --param target={target}");
        run(&project, &line).succeeds();
        to_the_question(&project);
        project.write(file, "changed after the check had passed\n");
        to_the_end(&project);
        assert_eq!(stage(&project), "testing", "{target}");
    }
}

#[test]
fn a_run_is_pinned_to_the_bytes_that_it_was_started_with() {
    let project = started();
    project.write("small.toml", "this is no pipeline any more");
    to_the_question(&project);
    to_the_end(&project);
    assert_eq!(status(&project), "completed");
}

#[test]
fn work_that_fails_too_often_waits_for_a_person() {
    let project = started();
    for _ in 0..3 {
        run(&project, "report --outcome crashed").succeeds();
    }
    assert_eq!(status(&project), "waiting");
    let next = run(&project, "next").succeeds();
    assert!(next.stdout.contains("gatewright retry r-test"), "{next}");
    project.write("note.md", "Hello\n");
    says_one_line(run(&project, "report"), 1, &["GW-R17"]);
    run(&project, "retry").succeeds();
    run(&project, "report").succeeds();
    assert_eq!(stage(&project), "testing");
}

#[test]
fn a_skip_marks_the_run_for_ever() {
    let project = started();
    run(&project, "skip").exits(2);
    run(&project, "skip --as nonsense --reason haste").exits(1);
    run(&project, "skip --reason haste").succeeds();
    run(&project, "skip --as passed --reason haste").succeeds();
    to_the_end(&project);
    assert_eq!(status(&project), "completed");
    for line in [
        "status r-test",
        "verify",
        "export r-test --format md",
        "history r-test",
    ] {
        let shown = run(&project, line).succeeds();
        assert!(shown.stdout.contains("OVERRIDDEN"), "{line}\n{shown}");
        assert!(shown.stdout.contains("haste"), "{line}\n{shown}");
    }
    assert!(run(&project, "list --all").stdout.contains("OVERRIDDEN"));
}

#[test]
fn a_cancelled_run_is_over() {
    let project = started();
    run(&project, "cancel --reason enough").succeeds();
    assert_eq!(status(&project), "cancelled");
    project.write("note.md", "Hello\n");
    says_one_line(run(&project, "report r-test"), 1, &["GW-R16"]);
    says_one_line(
        run(&project, "report"),
        3,
        &["`gatewright run PIPELINE --task TEXT`"],
    );
    assert_eq!(entries(&project, RUN), 3);
}

#[test]
fn an_open_stage_is_ended_by_a_person() {
    let project = project();
    project.write(
        "open.toml",
        r#"
            name = "open"
            about = "Any helper may work until a person says that it is enough."
            start = "working"
            stages.working = { allow = ["helper-*"], on.finish = "over" }
            stages.over = { end = "completed" }
            prove = [{ name = "it ends after the work", before = "over", through = "working" }]
        "#,
    );
    start(&project, "open.toml").succeeds();
    run(&project, "report --agent helper-1").succeeds();
    assert_eq!(stage(&project), "working");
    says_one_line(run(&project, "report --agent stranger"), 1, &["GW-R11"]);
    run(&project, "finish").succeeds();
    assert_eq!(status(&project), "completed");
    says_one_line(run(&project, "finish r-test"), 1, &["GW-R"]);
}
