//! Faults that earlier systems of this kind had, each tried here.

use std::thread;

use testkit::Project;

use crate::fixture::{
    RUN, SMALL, entries, fact, project, run, says_one_line, stage, start, started, status,
    to_the_question,
};

fn at_the_review() -> Project {
    let project = started();
    to_the_question(&project);
    run(&project, "answer yes").succeeds();
    project
}

#[test]
fn only_an_approval_is_an_approval() {
    let project = at_the_review();
    for verdict in [
        "NOT APPROVED",
        "Approved",
        "rejected",
        "LGTM",
        "",
        "approved\\nrejected",
    ] {
        project.write(
            "verdict.json",
            format!(r#"{{"status": "{verdict}", "n": {}}}"#, verdict.len()),
        );
        let ran = run(&project, "report --agent reader").exits(1);
        assert!(ran.stderr.contains("GW-R3"), "{verdict}\n{ran}");
        assert_eq!(stage(&project), "reviewing", "{verdict}");
    }
    project.write("verdict.json", r#"{"status": "approved"}"#);
    run(&project, "report --agent reader").succeeds();
    assert_eq!(status(&project), "completed");
}

#[test]
fn an_unrelated_agent_moves_nothing() {
    let project = started();
    project.write("note.md", "Hello\n");
    says_one_line(
        run(&project, "report --agent Explore"),
        1,
        &["GW-R11", "'Explore'"],
    );
    assert_eq!(stage(&project), "writing");
}

#[test]
fn saying_done_is_not_being_done() {
    let project = started();
    let ran = run(&project, "report --agent writer --outcome done").exits(1);
    assert!(
        ran.stderr.contains("GW-R34") && ran.stderr.contains("note.md"),
        "{ran}"
    );
    assert_eq!(stage(&project), "writing");
}

#[test]
fn work_that_failed_moves_nothing() {
    let project = started();
    project.write("note.md", "Hello\n");
    run(&project, "report --outcome crashed").succeeds();
    assert_eq!(stage(&project), "writing");
    says_one_line(run(&project, "report --outcome splendid"), 1, &["GW-R33"]);
}

#[test]
fn an_old_artifact_does_not_serve_twice() {
    let project = at_the_review();
    project.write("verdict.json", r#"{"status": "needs_changes"}"#);
    run(&project, "report --agent reader").succeeds();
    project.write("note.md", "Hello again\n");
    run(&project, "report --agent writer").succeeds();
    says_one_line(
        run(&project, "report --agent reader"),
        1,
        &["GW-R35", "verdict"],
    );
}

#[test]
fn what_an_earlier_run_left_does_not_serve_this_one() {
    let project = project();
    project.write("note.md", "Hello from three days ago\n");
    start(&project, "small.toml").succeeds();
    says_one_line(run(&project, "report"), 1, &["GW-R35", "note"]);
    assert_eq!(stage(&project), "writing");
    project.write("note.md", "Hello from today\n");
    run(&project, "report").succeeds();
    assert_eq!(stage(&project), "testing");
}

#[test]
fn words_in_the_output_never_pass_a_check_and_may_fail_it() {
    let says = |script: &str, fails_on: &str| {
        let text = SMALL.replace(
            "[\"grep -q Hello note.md\"]",
            &format!("[\"sh says.sh\"]\n{fails_on}"),
        );
        let project = crate::fixture::project();
        project.write("says.toml", text);
        project.write("says.sh", script);
        start(&project, "says.toml").succeeds();
        project.write("note.md", "Hello\n");
        run(&project, "report").succeeds();
        run(&project, "check").code
    };
    assert_eq!(
        says("echo '<promise>All tests passed</promise>'; exit 1\n", ""),
        Some(1)
    );
    assert_eq!(says("echo 3 FAILED; exit 0\n", ""), Some(0));
    assert_eq!(
        says("echo 3 FAILED; exit 0\n", "fails_on = \"FAILED\""),
        Some(1)
    );
}

#[test]
fn a_check_that_changes_the_tree_has_no_verdict() {
    let project = project();
    project.write(
        "changes.toml",
        SMALL.replace("grep -q Hello note.md", "cp other.txt source.txt"),
    );
    project.write("other.txt", "formatted\n");
    project.write("source.txt", "written\n");
    start(&project, "changes.toml").succeeds();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let ran = run(&project, "check").exits(1);
    for words in ["GW-R51", "source.txt"] {
        assert!(ran.stderr.contains(words), "{words}\n{ran}");
    }
    assert_eq!(stage(&project), "testing");
    run(&project, "check").succeeds();
}

#[test]
fn what_a_check_makes_is_no_change_of_sources() {
    let project = project();
    project.write(
        "makes.toml",
        SMALL.replace("grep -q Hello note.md", "cp note.md report.xml"),
    );
    start(&project, "makes.toml").succeeds();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    run(&project, "check").succeeds();
    assert_ne!(stage(&project), "testing");
}

#[test]
fn a_finished_run_of_context_first_begins_again() {
    let project = project();
    start(&project, "context-first").succeeds();
    project.write("said.json", r#"{"text": "what I know"}"#);
    let early = run(&project, "report --agent bash-writer").exits(1);
    assert!(early.stderr.contains("GW-R11"), "{early}");
    for (agent, artifact, stage) in [
        ("context-gatherer", "gathered", "GATHERING"),
        ("context-refiner", "refined", "REFINING"),
        ("strategic-orchestrator", "orchestration", "EXECUTING"),
    ] {
        run(
            &project,
            &format!("report --agent {agent} --artifact {artifact}=said.json"),
        )
        .succeeds();
        assert_eq!(self::stage(&project), stage);
    }
    run(&project, "report --agent bash-writer").succeeds();
    run(&project, "finish").succeeds();
    assert_eq!(status(&project), "completed");
    project.write("said.json", r#"{"text": "what I know now"}"#);
    run(
        &project,
        "report r-test --agent context-gatherer --artifact gathered=said.json",
    )
    .succeeds();
    assert_eq!(
        (stage(&project).as_str(), status(&project).as_str()),
        ("GATHERING", "running")
    );
}

/// A run of `phases` with so many phases that need nothing, and one that needs them all.
fn phases(count: usize) -> Project {
    let project = project();
    run(
        &project,
        &format!("start phases --task x --by-hand --id {RUN} --param parallel={count}"),
    )
    .succeeds();
    let phase = |id: String, needs: Vec<String>| serde_json::json!({ "id": id, "title": "a phase", "description": "a phase", "agent": "worker", "needs": needs, "depends_on": null });
    let ids: Vec<String> = (0..count).map(|n| format!("p{n}")).collect();
    let mut list: Vec<_> = ids.iter().map(|id| phase(id.clone(), Vec::new())).collect();
    list.push(phase("last".to_owned(), ids));
    for item in &mut list {
        item.as_object_mut().unwrap().remove("depends_on");
    }
    let graph = serde_json::json!({ "phases": list });
    project.write(".claude/state/plan.json", graph.to_string());
    let ran = run(&project, "report");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(stage(&project), "executing");
    project
}

fn report_of(id: &str) -> String {
    format!(r#"{{"status": "completed", "deliverables": ["{id}"], "context_for_next": "{id}"}}"#)
}

#[test]
fn twelve_phases_that_end_at_once_are_twelve_and_the_order_holds() {
    let project = phases(12);
    project.write(".claude/state/phases/last.json", report_of("last"));
    says_one_line(
        run(&project, "report --agent worker --step last"),
        1,
        &["GW-R14"],
    );
    thread::scope(|scope| {
        for n in 0..12 {
            let project = &project;
            scope.spawn(move || {
                project.write(
                    format!(".claude/state/phases/p{n}.json"),
                    report_of(&format!("p{n}")),
                );
                run(project, &format!("report {RUN} --agent worker --step p{n}")).succeeds();
            });
        }
    });
    assert_eq!(stage(&project), "executing");
    let history = fact(&project, "history r-test");
    let ended = history["entries"].as_array().unwrap().iter();
    assert_eq!(
        ended
            .filter(|entry| entry["fact"]["kind"] == "ended")
            .count(),
        13,
        "{history}"
    );
    run(&project, "report --agent worker --step last").succeeds();
    assert_eq!(stage(&project), "verifying");
    run(&project, "verify").succeeds();
}

#[test]
fn a_report_for_no_step_or_a_done_step_moves_nothing() {
    let project = phases(2);
    let before = stage(&project);
    says_one_line(run(&project, "report --agent worker"), 1, &["GW-R13"]);
    project.write(".claude/state/phases/p0.json", report_of("p0"));
    run(&project, "report --agent worker --step p0").succeeds();
    project.write(".claude/state/phases/p0.json", report_of("p0 again"));
    run(&project, "report --agent worker --step p0").exits(1);
    assert_eq!(stage(&project), before);
    assert!(entries(&project, RUN) > 0);
}

#[test]
fn no_refusal_teaches_the_way_around() {
    let project = started();
    for line in [
        "report --agent reader",
        "check",
        "answer yes",
        "finish",
        "report",
    ] {
        let ran = run(&project, line).exits(1);
        for word in ["skip", "reset", "cancel", "--by-hand", "store.db", "sqlite"] {
            assert!(!ran.stderr.contains(word), "{line} mentions {word}\n{ran}");
        }
    }
}
