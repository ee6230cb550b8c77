//! The files of `multi-ai`: a valid file passes, and an invalid one gives one clear line.

use serde_json::{Value, json};
use testkit::Project;

use crate::fixture::{fact, project, run, says_one_line, stage, start, status};

const SIGNAL: &str = ".task/worker-signal.json";
const STORY: &str = ".task/user-story.json";

/// A file with one thing changed in it, and what is said about that.
type Case = (fn(&mut Value), &'static str);

fn signal(worker: &str, phase: &str) -> Value {
    json!({
        "worker_id": format!("{worker}-abc123"), "phase": phase, "status": "completed",
        "agent_id": "abc123", "timestamp": format!("2026-01-15T10:30:00Z in {phase}"),
    })
}

fn story() -> Value {
    json!({
        "id": "story-20260115-103000", "title": "Greet people",
        "requirements": {
            "functional": ["it greets"], "non_functional": ["fast"], "constraints": ["no network"],
        },
        "acceptance_criteria": [
            { "id": "AC1", "scenario": "s", "given": "g", "when": "w", "then": "t" },
        ],
        "scope": { "in_scope": ["words"], "out_of_scope": ["songs"] },
        "test_criteria": {
            "commands": ["sh test.sh"], "success_pattern": "passed", "failure_pattern": "FAILED",
        },
        "implementation": { "mode": "ralph-loop", "max_iterations": 10 },
        "approved_at": "2026-01-15T10:31:00Z", "approved_by": "user",
    })
}

fn plan() -> Value {
    json!({
        "id": "plan-20260115-110000", "title": "Greet people",
        "technical_approach": { "pattern": "a file", "rationale": "it is enough" },
        "steps": [
            { "id": 1, "phase": "implementation", "file": "src/a.ts", "action": "modify", "description": "d" },
        ],
        "files_to_modify": ["src/a.ts"], "files_to_create": ["src/b.ts"],
        "test_plan": { "commands": ["sh test.sh"], "success_pattern": "passed", "failure_pattern": "FAILED" },
        "implementation": { "mode": "ralph-loop", "max_iterations": 10 },
        "completion_promise": "<promise>IMPLEMENTATION_COMPLETE</promise>",
    })
}

fn review(reviewer: &str, model: &str) -> Value {
    json!({
        "id": "review-20260115-113000", "reviewer": reviewer, "model": model,
        "status": "approved", "summary": "good",
        "scores": { "security": 8, "quality": 9, "overall": 8 },
        "findings": [
            { "id": "F1", "category": "style", "severity": "low", "title": "t", "recommendation": "r" },
        ],
        "blockers": [], "reviewed_at": "2026-01-15T11:30:00Z",
    })
}

fn result() -> Value {
    json!({
        "id": "impl-20260115-120000", "plan_implemented": "plan-20260115-110000",
        "status": "complete", "files_modified": ["src/a.ts"], "files_created": ["src/b.ts"],
        "tests": { "written": 5, "passing": 5, "failing": 0 },
        "completed_at": "2026-01-15T12:00:00Z",
    })
}

fn begun() -> Project {
    let project = project();
    start(&project, "multi-ai").succeeds();
    project
}

/// The present worker has left these, and says so.
fn leaves(project: &Project, files: &[(&str, &Value)]) {
    for (path, content) in files {
        project.write(path, content.to_string());
    }
    run(project, "report").succeeds();
}

/// To the stage in which the plan is drafted.
fn planned(project: &Project) {
    let signal = signal("requirements-gatherer", "requirements_gathering");
    leaves(project, &[(STORY, &story()), (SIGNAL, &signal)]);
    run(project, "answer approve").succeeds();
    assert_eq!(stage(project), "plan_drafting");
}

/// To the first review of the plan.
fn reviewed(project: &Project) {
    planned(project);
    for (file, phase) in [
        (".task/plan.json", "plan_drafting"),
        (".task/plan-refined.json", "plan_refining"),
    ] {
        leaves(
            project,
            &[(file, &plan()), (SIGNAL, &signal("planner", phase))],
        );
    }
    assert_eq!(stage(project), "plan_reviewing");
}

/// To the implementation.
fn approved(project: &Project) {
    reviewed(project);
    for (reviewer, model) in [
        ("plan-reviewer", "sonnet"),
        ("plan-reviewer", "opus"),
        ("review-codex", "codex"),
    ] {
        let file = format!(".task/plan-review-{model}.json");
        leaves(project, &[(&file, &review(reviewer, model))]);
    }
    assert_eq!(stage(project), "implementing_loop");
}

/// Each change is refused with one line, nothing advances, and the file as it should be passes.
fn check(project: &Project, file: &str, good: &Value, cases: &[Case]) {
    let here = stage(project);
    for (change, said) in cases {
        let mut bad = good.clone();
        change(&mut bad);
        project.write(file, bad.to_string());
        says_one_line(run(project, "report"), 1, &["GW-R3", said]);
        assert_eq!(stage(project), here, "{bad}");
    }
    for (bytes, said) in [
        (&b"{\"status\": \"\xff\"}"[..], "UTF-8"),
        (b"{", "JSON"),
        (b"[]", "schema"),
        (b" \n", file),
    ] {
        project.write(file, bytes);
        says_one_line(run(project, "report"), 1, &["GW-R34", said]);
        assert_eq!(stage(project), here);
    }
    leaves(project, &[(file, good)]);
    assert_ne!(stage(project), here);
}

#[test]
fn a_signal_that_is_not_as_wanted_is_refused_with_one_line() {
    let project = begun();
    project.write(STORY, story().to_string());
    let good = signal("requirements-gatherer", "requirements_gathering");
    check(
        &project,
        SIGNAL,
        &good,
        &[
            (
                |it| it["worker_id"] = json!("planner-abc123"),
                "\"planner-abc123\"",
            ),
            (|it| it["worker_id"] = json!(""), "worker_id"),
            (
                |it| it["phase"] = json!("plan_drafting"),
                "\"plan_drafting\"",
            ),
            (|it| it["status"] = json!("finished"), "/status"),
            (|it| it["status"] = json!("in_progress"), "in_progress"),
            (|it| it["status"] = Value::Null, "/status"),
            (|it| it["status"] = json!("needs_input"), "questions"),
            (|it| it["timestamp"] = json!(7), "/timestamp"),
            // The author of questions that nobody could answer hears of it.
            (
                |it| {
                    it["status"] = json!("needs_input");
                    it["questions"] = json!([{ "id": "auth method", "question": "Which?" }]);
                },
                "question 1",
            ),
            (
                |it| {
                    it["status"] = json!("needs_input");
                    let one = json!({ "id": "q1", "question": "Which?" });
                    it["questions"] = json!([one, one]);
                },
                "q1",
            ),
        ],
    );
}

#[test]
fn a_story_that_is_not_as_wanted_is_refused_with_one_line() {
    let project = begun();
    let signal = signal("requirements-gatherer", "requirements_gathering");
    project.write(SIGNAL, signal.to_string());
    check(
        &project,
        STORY,
        &story(),
        &[
            (|it| it["id"] = json!("story-1"), "/id"),
            (|it| it["title"] = json!(""), "/title"),
            (
                |it| it["requirements"]["functional"] = json!([]),
                "/requirements/functional",
            ),
            (
                |it| it["acceptance_criteria"][0]["then"] = Value::Null,
                "/acceptance_criteria/0/then",
            ),
            (
                |it| it["test_criteria"]["commands"] = json!([]),
                "/test_criteria/commands",
            ),
            (
                |it| it["test_criteria"]["commands"] = json!(["true"]),
                "`true`",
            ),
            (
                |it| it["test_criteria"]["commands"] = json!(["rm -rf ."]),
                "`rm -rf .`",
            ),
            (
                |it| it["implementation"]["max_iterations"] = json!(0),
                "/implementation/max_iterations",
            ),
        ],
    );
}

#[test]
fn a_plan_that_is_not_as_wanted_is_refused_with_one_line() {
    let project = begun();
    reviewed_up_to_refining(&project);
    check(
        &project,
        ".task/plan-refined.json",
        &plan(),
        &[
            (|it| it["id"] = json!("story-20260115-110000"), "/id"),
            (
                |it| it["technical_approach"] = json!("a file"),
                "/technical_approach",
            ),
            (|it| it["steps"] = json!([]), "/steps"),
            (
                |it| it["steps"][0]["file"] = json!("../outside.ts"),
                "/steps/0/file",
            ),
            (
                |it| it["files_to_modify"] = json!(["/etc/passwd"]),
                "/files_to_modify/0",
            ),
            (
                |it| it["files_to_create"] = json!(["src/../../x"]),
                "/files_to_create/0",
            ),
            (
                |it| it["test_plan"]["commands"] = json!(["echo ok"]),
                "`echo ok`",
            ),
            (
                |it| it["test_plan"]["commands"] = json!(["npm test || exit 0"]),
                "npm test || exit 0",
            ),
        ],
    );
}

/// The draft is there, and the signal of the refined plan.
fn reviewed_up_to_refining(project: &Project) {
    planned(project);
    let drafted = signal("planner", "plan_drafting");
    leaves(project, &[(".task/plan.json", &plan()), (SIGNAL, &drafted)]);
    project.write(SIGNAL, signal("planner", "plan_refining").to_string());
}

#[test]
fn a_review_that_is_not_as_wanted_is_refused_with_one_line() {
    let project = begun();
    reviewed(&project);
    let file = ".task/plan-review-sonnet.json";
    let good = review("plan-reviewer", "sonnet");
    let cases: &[Case] = &[
        (|it| it["status"] = Value::Null, "/status"),
        (|it| it["status"] = json!("rejected"), "/status"),
        (
            |it| it["reviewer"] = json!("code-reviewer"),
            "\"code-reviewer\"",
        ),
        (|it| it["model"] = json!("opus"), "\"opus\""),
        (|it| it["id"] = json!("r1"), "/id"),
        (|it| it["summary"] = json!(""), "/summary"),
        (|it| it["scores"]["overall"] = json!(11), "/scores/overall"),
        (
            |it| it["findings"][0]["title"] = json!(""),
            "/findings/0/title",
        ),
        (
            |it| it["blockers"] = json!(["it does not work"]),
            "/blockers",
        ),
    ];
    for (change, said) in cases {
        let mut bad = good.clone();
        change(&mut bad);
        project.write(file, bad.to_string());
        says_one_line(run(&project, "report"), 1, &["GW-R34", said]);
    }
    let next = run(&project, "next").stdout;
    assert!(next.contains("plan-review-sonnet.json"), "{next}");
    leaves(&project, &[(file, &good)]);
    let next = run(&project, "next").stdout;
    assert!(next.contains("plan-review-opus.json"), "{next}");
}

/// Where the reviews stand: what the run waits for.
fn awaited(project: &Project) -> String {
    run(project, "next").succeeds().stdout
}

#[test]
fn a_review_says_one_of_the_documented_words_and_no_other() {
    let project = begun();
    reviewed(&project);
    let file = ".task/plan-review-sonnet.json";
    let good = review("plan-reviewer", "sonnet");
    for (field, words) in [
        ("status", ["APPROVED", "approve", "rejected", "in_progress"]),
        ("reviewer", ["Plan-Reviewer", "planner", "codex", ""]),
        ("model", ["haiku", "Sonnet", "claude-sonnet-4", ""]),
    ] {
        for word in words {
            let mut bad = good.clone();
            bad[field] = json!(word);
            project.write(file, bad.to_string());
            let place = format!("/{field}");
            says_one_line(run(&project, "report"), 1, &["GW-R34", file, &place]);
        }
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(field);
        project.write(file, bad.to_string());
        says_one_line(run(&project, "report"), 1, &["GW-R34", file, field]);
    }
    assert!(awaited(&project).contains(file), "nothing moved");
    // Each of the three statuses has its own way.
    for (status, follows) in [
        ("approved", "plan-review-opus.json"),
        ("needs_changes", "planner"),
        ("needs_clarification", "continue"),
    ] {
        let project = begun();
        reviewed(&project);
        let mut good = good.clone();
        good["status"] = json!(status);
        leaves(&project, &[(file, &good)]);
        let next = awaited(&project);
        assert!(next.contains(follows), "{status}: {next}");
    }
}

/// Every reviewer with every model that the document gives it, for the plan and for the code.
#[test]
fn every_documented_reviewer_counts() {
    let project = begun();
    approved(&project);
    leaves(&project, &[(".task/impl-result.json", &result())]);
    for (reviewer, model) in [
        ("code-reviewer", "sonnet"),
        ("code-reviewer", "opus"),
        ("review-codex", "codex"),
    ] {
        assert_eq!(stage(&project), "code_reviewing");
        let file = format!(".task/code-review-{model}.json");
        leaves(&project, &[(&file, &review(reviewer, model))]);
    }
    assert_eq!(stage(&project), "testing");
}

#[test]
fn a_result_that_is_not_as_wanted_is_refused_with_one_line() {
    let project = begun();
    approved(&project);
    check(
        &project,
        ".task/impl-result.json",
        &result(),
        &[
            (|it| it["status"] = json!("done"), "/status"),
            (|it| it["id"] = json!("plan-20260115-120000"), "/id"),
            (
                |it| it["plan_implemented"] = json!("the plan"),
                "/plan_implemented",
            ),
            (
                |it| it["files_created"] = json!(["~/x"]),
                "/files_created/0",
            ),
            (|it| it["tests"]["failing"] = json!(-1), "/tests/failing"),
        ],
    );
}

/// The word in the view of the seed.
fn state(project: &Project) -> String {
    let text = std::fs::read_to_string(project.path().join(".task/state.json")).unwrap();
    let view: Value = serde_json::from_str(&text).unwrap();
    view["state"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_ten_states_are_shown_by_their_names() {
    let project = begun();
    assert_eq!(state(&project), "requirements_gathering");
    let gathered = signal("requirements-gatherer", "requirements_gathering");
    leaves(&project, &[(STORY, &story()), (SIGNAL, &gathered)]);
    assert_eq!(state(&project), "needs_user_input");
    run(&project, "answer approve").succeeds();
    assert_eq!(state(&project), "plan_drafting");
    let drafted = signal("planner", "plan_drafting");
    leaves(
        &project,
        &[(".task/plan.json", &plan()), (SIGNAL, &drafted)],
    );
    assert_eq!(state(&project), "plan_refining");
    let refined = signal("planner", "plan_refining");
    leaves(
        &project,
        &[(".task/plan-refined.json", &plan()), (SIGNAL, &refined)],
    );
    assert_eq!(state(&project), "plan_reviewing");
    skip(&project, "approved");
    assert_eq!(state(&project), "implementing_loop");
    skip(&project, "complete");
    assert_eq!(
        (stage(&project).as_str(), state(&project).as_str()),
        ("code_reviewing", "implementing_loop")
    );
    skip(&project, "exceeded");
    assert_eq!(state(&project), "needs_user_input");
    run(&project, "answer stop").succeeds();
    assert_eq!(
        (status(&project).as_str(), state(&project).as_str()),
        ("failed", "error")
    );

    let project = begun();
    project.run(["cancel", "--reason", "enough"]).succeeds();
    assert_eq!(state(&project), "idle");

    // The other two of the ten: without the loop, up to the end.
    let project = self::project();
    let simple = "start multi-ai --param mode=simple --task t --by-hand --id r-test";
    run(&project, simple).succeeds();
    reviewed(&project);
    skip(&project, "approved");
    assert_eq!(state(&project), "implementing");
    for outcome in ["complete", "approved", "passed"] {
        skip(&project, outcome);
    }
    assert_eq!(
        (status(&project).as_str(), state(&project).as_str()),
        ("completed", "complete")
    );
}

/// A person passes over the stage, because it is not what a test is about.
fn skip(project: &Project, outcome: &str) {
    let words = ["skip", "--as", outcome, "--reason", "another test"];
    project.run(words).succeeds();
}

#[test]
fn who_deletes_the_state_of_the_loop_stops_the_run() {
    let project = begun();
    approved(&project);
    let path = project.path().join(".task/loop-state.json");
    let view: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(view["active"], true, "{view}");
    assert_eq!(view["max_iterations"], 10, "{view}");
    std::fs::remove_file(&path).unwrap();
    project.write(".task/impl-result.json", result().to_string());
    run(&project, "report").exits(1);
    assert_eq!(stage(&project), "implementing_loop");
    assert_eq!(status(&project), "waiting");
    run(&project, "answer continue").succeeds();
    run(&project, "report").succeeds();
    assert_eq!(stage(&project), "code_reviewing");
}

#[test]
fn the_settings_of_the_seed_are_read_from_its_file() {
    let settings = |mode: &str| {
        json!({
            "autonomy": { "mode": mode, "planReviewLoopLimit": 7, "codeReviewLoopLimit": 8 },
            "ralphLoop": {
                "defaultMode": "ralph-loop", "defaultMaxIterations": 9,
                "completionPromise": "<promise>OVER</promise>",
            },
        })
    };
    let started = |settings: &Value| {
        let project = project();
        project.write("pipeline.config.json", settings.to_string());
        (start(&project, "multi-ai"), project)
    };
    let params = |project: &Project| fact(project, "status r-test")["params"].clone();
    let (ran, project) = started(&settings("simple"));
    ran.succeeds();
    let expected = json!({
        "mode": "implementing", "plan_rounds": "7", "code_rounds": "8", "iterations": "9",
        "promise": "<promise>OVER</promise>", "size": "full",
    });
    assert_eq!(params(&project), expected);

    let mut only_loop = settings("ralph-loop");
    only_loop["autonomy"] = Value::Null;
    let (ran, project) = started(&only_loop);
    ran.succeeds();
    assert_eq!(params(&project)["mode"], "implementing_loop");
    assert_eq!(params(&project)["plan_rounds"], "10");
    assert_eq!(params(&project)["code_rounds"], "15");

    let (ran, _) = started(&settings("autopilot"));
    says_one_line(ran, 1, &["mode", "autopilot"]);
}

#[test]
fn the_files_of_a_run_are_ignored_by_git() {
    let project = Project::with_git(crate::fixture::PROGRAM);
    project.run(["init", "multi-ai", "--yes"]).succeeds();
    let ignored = std::fs::read_to_string(project.path().join(".gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == ".task/"), "{ignored}");
}
