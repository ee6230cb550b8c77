//! `phases` by hand: phases that are given at the start, and plans and reports that are none.

use serde_json::{Value, json};
use testkit::{Project, Ran};

use crate::fixture::{RUN, fact, number_of_runs, project, run, says_one_line, stage, status};

/// Starts a run to which the phases of this file are given.
fn begin(project: &Project, file: &str) -> Ran {
    let line = format!("start phases --task x --by-hand --id {RUN} --steps {file}");
    run(project, &line)
}

/// Each step as `id agent title needs`.
fn steps(project: &Project) -> Vec<String> {
    let facts = fact(project, "status r-test");
    let steps = facts["steps"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    steps
        .map(|step| {
            let needs = step["needs"].as_array().unwrap().iter();
            let needs: Vec<String> = needs.map(text).collect();
            let [id, agent, title] = ["id", "agent", "title"].map(|name| text(&step[name]));
            format!("{id} {agent} {title} {}", needs.join(","))
        })
        .collect()
}

fn report(project: &Project, id: &str, report: &Value) -> Ran {
    let path = format!(".claude/state/phases/{id}.json");
    project.write(path, report.to_string());
    run(project, &format!("report {RUN} --step {id}"))
}

fn completed(what: &str) -> Value {
    json!({ "status": "completed", "deliverables": [what], "context_for_next": what })
}

#[test]
fn titles_alone_are_phases_one_after_the_other_and_nobody_plans() {
    let project = project();
    project.write(
        "list.txt",
        "Create calculator module\nWrite and run tests\n",
    );
    let planned = run(&project, "dry-run phases --task x --steps list.txt");
    assert!(
        planned.stdout.contains("executing (steps), the start"),
        "{planned}"
    );
    assert_eq!(
        planned.stdout.matches(", the start").count(),
        1,
        "{planned}"
    );
    begin(&project, "list.txt").succeeds();
    assert_eq!(stage(&project), "executing");
    assert_eq!(
        steps(&project),
        [
            "phase_0 general-purpose Create calculator module ",
            "phase_1 general-purpose Write and run tests phase_0",
        ]
    );
    report(&project, "phase_0", &completed("calculator.py")).succeeds();
    report(&project, "phase_1", &completed("tests")).succeeds();
    assert_eq!(stage(&project), "verifying");
    // Set back, it begins where it began.
    project
        .person(["reset", RUN, "--reason", "again"], "r-test\n")
        .succeeds();
    assert_eq!(stage(&project), "executing");
    assert_eq!(steps(&project).len(), 2);
}

#[test]
fn a_new_plan_of_an_agent_counts_before_what_was_given() {
    let project = project();
    project.write("graph.json", r#"[{"id": "a", "title": "A", "agent": "x"}]"#);
    begin(&project, "graph.json").succeeds();
    let failed = json!({
        "status": "failed", "deliverables": [], "context_for_next": "", "error": "no compiler",
    });
    for _ in 0..3 {
        assert_eq!(stage(&project), "executing");
        let mut failed = failed.clone();
        failed["context_for_next"] = fact(&project, "history r-test")["entries"]
            .as_array()
            .unwrap()
            .len()
            .to_string()
            .into();
        report(&project, "a", &failed);
    }
    assert_eq!(stage(&project), "planning");
    // The reason appears in its own words, in the history and in the briefing of the new plan.
    for line in ["history r-test", "next r-test", "status r-test"] {
        let told = run(&project, line).succeeds();
        assert!(told.stdout.contains("no compiler"), "{line}: {told}");
    }
    let workflow = project.read(".claude/state/workflow.json");
    assert!(
        workflow.contains("\"error\": \"no compiler\""),
        "{workflow}"
    );
    let report = project.read(".claude/workflow_state_system.md");
    assert!(report.contains("no compiler"), "{report}");
    let plan = json!({ "phases": [{ "id": "b", "title": "B", "agent": "x" }] });
    project.write(".claude/state/plan.json", plan.to_string());
    run(&project, "report").succeeds();
    assert_eq!(stage(&project), "executing");
    assert_eq!(steps(&project), ["b x B "]);
}

#[test]
fn a_file_that_gives_no_phases_is_told_in_one_line_and_no_run_begins() {
    let project = project();
    let many: Vec<String> = (0..10_000).map(|number| format!("step {number}")).collect();
    for (content, expected) in [
        (
            &br#"[{"id": "a", "title": "A", "needs": ["b"]}, {"id": "b", "title": "B", "needs": ["a"]}]"#[..],
            "'a'",
        ),
        (
            br#"[{"id": "a", "title": "A", "needs": ["z"]}]"#,
            "'z'",
        ),
        (
            br#"[{"id": "a", "title": "A"}, {"id": "a", "title": "A"}]"#,
            "'a'",
        ),
        (
            br#"[{"id": "../../etc/x", "title": "A"}]"#,
            "has a bad id",
        ),
        (
            br#"[{"id": "a", "title": "A", "agent": "no name"}]"#,
            "has a bad agent",
        ),
        (b"\xff\xfe", "UTF-8"),
        (b"", "there are no steps"),
        (b"{", "JSON"),
        (many.join("\n").as_bytes(), "1000"),
    ] {
        project.write("plan", content);
        says_one_line(begin(&project, "plan"), 1, &[expected]);
    }
    assert_eq!(number_of_runs(&project), 0);
}

#[test]
fn a_plan_that_cannot_be_worked_through_is_sent_back_and_nothing_advances() {
    let project = project();
    run(
        &project,
        &format!("start phases --task x --by-hand --id {RUN}"),
    )
    .succeeds();
    let plan = |phases: &Value| json!({ "phases": phases }).to_string().into_bytes();
    let many: Vec<Value> = (0..10_000)
        .map(|number| json!({ "id": format!("p{number}"), "title": "t", "agent": "x" }))
        .collect();
    let two = |one: &[&str], other: &[&str]| {
        json!([
            { "id": "a", "title": "A", "agent": "x", "needs": one },
            { "id": "b", "title": "B", "agent": "x", "needs": other },
        ])
    };
    for (content, expected) in [
        (plan(&two(&["b"], &["a"])), "'a'"),
        (plan(&two(&["z"], &[])), "'z'"),
        (
            plan(&json!([{ "id": "../x", "title": "A", "agent": "x" }])),
            "id",
        ),
        (
            plan(&json!([{ "id": "a", "title": "A", "agent": "no name" }])),
            "agent",
        ),
        (plan(&json!([])), "phases"),
        (plan(&Value::from(many)), "plan"),
        (b"\xff".to_vec(), "UTF-8"),
    ] {
        project.write(".claude/state/plan.json", content);
        says_one_line(run(&project, "report r-test"), 1, &["GW-R34", expected]);
        assert_eq!(stage(&project), "planning");
        if status(&project) == "waiting" {
            run(&project, "retry r-test").succeeds();
        }
    }
    project.write(".claude/state/plan.json", plan(&two(&[], &["a"])));
    run(&project, "report r-test").succeeds();
    assert_eq!(stage(&project), "executing");
}

#[test]
fn a_report_that_is_none_or_anothers_ends_no_phase() {
    let project = project();
    project.write("list.txt", "one\ntwo\n");
    begin(&project, "list.txt").succeeds();
    for (told, expected) in [
        (json!({ "status": "completed" }), "deliverables"),
        (
            json!({ "status": "completed", "deliverables": [], "context_for_next": "" }),
            "deliverables",
        ),
        (
            json!({ "status": "done", "deliverables": ["x"], "context_for_next": "" }),
            "status",
        ),
        (
            json!({ "status": "failed", "deliverables": [], "context_for_next": "" }),
            "error",
        ),
    ] {
        says_one_line(report(&project, "phase_0", &told), 1, &[expected]);
        if status(&project) == "waiting" {
            run(&project, "retry r-test").succeeds();
        }
    }
    // A report for another phase is none for this one, and a phase without a valid name has no file.
    for (id, expected) in [
        ("phase_1", "phase_0"),
        ("phase_9", "phase_9"),
        ("../phase_0", "../phase_0"),
    ] {
        let ran = run(&project, &format!("report {RUN} --step {id}"));
        assert_ne!(ran.code, Some(0), "{ran}");
        assert!(ran.stderr.contains(expected), "{ran}");
    }
    assert_eq!(stage(&project), "executing");
    report(&project, "phase_0", &completed("one")).succeeds();
}
