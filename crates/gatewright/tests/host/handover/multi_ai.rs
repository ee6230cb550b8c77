//! A feature from requirements to tested code: a question, an approval, a red test and its repair.

use expect_test::expect_file;
use serde_json::{Value, json};
use testkit::codex;
use testkit::model::{Actor, Turn, bash, call, hold, say, write};

use super::transcript::Transcript;
use super::{claude_on, denied, gives_environment};
use crate::seeds::multi_ai::{calls, goes_on};
use crate::stage::Stage;

/// What a worker leaves in a file that others may have written before: the host demands that it is read first.
fn leaves(stage: &Stage, file: &str, content: &Value) -> Vec<Turn> {
    let path = stage.path(&format!(".task/{file}"));
    let read = call("Read", json!({ "file_path": path }));
    vec![read, write(path, &content.to_string())]
}

pub(super) fn signal(stage: &Stage, worker: &str, phase: &str, status: &str) -> Vec<Turn> {
    let mut signal = json!({
        "worker_id": format!("{worker}-1"), "phase": phase, "status": status,
        "timestamp": "2026-01-15T10:00:00Z",
    });
    if status == "needs_input" {
        signal["questions"] = json!([{ "id": "q1", "question": "Which word greets?" }]);
    }
    leaves(stage, "worker-signal.json", &signal)
}

pub(super) fn story(stage: &Stage) -> Vec<Turn> {
    let criterion = json!({
        "id": "AC1", "scenario": "a greeting", "given": "a person", "when": "met", "then": "greeted",
    });
    let story = json!({
        "id": "story-20260115-103000",
        "title": "Greet people",
        "requirements": { "functional": ["It greets with Moin"] },
        "acceptance_criteria": [criterion],
        "test_criteria": { "commands": ["grep Moin greeting.txt"] },
    });
    leaves(stage, "user-story.json", &story)
}

pub(super) fn plan(stage: &Stage, file: &str) -> Vec<Turn> {
    let plan = json!({
        "id": "plan-20260115-110000",
        "title": "A greeting in a file",
        "technical_approach": { "pattern": "a file", "rationale": "it is enough" },
        "steps": [{ "id": 1, "file": "greeting.txt", "description": "write the greeting" }],
        "test_plan": { "commands": [] },
    });
    leaves(stage, file, &plan)
}

pub(super) fn result(stage: &Stage, word: &str) -> Vec<Turn> {
    let result = json!({
        "id": "impl-20260115-120000", "status": "complete",
        "files_modified": [], "files_created": ["greeting.txt"],
    });
    let greeting = write(stage.path("greeting.txt"), &format!("{word}\n"));
    [vec![greeting], leaves(stage, "impl-result.json", &result)].concat()
}

fn review(reviewer: &str, model: &str) -> Value {
    json!({
        "id": "review-20260115-113000", "reviewer": reviewer, "model": model,
        "status": "approved", "summary": "It does what the story asks.",
    })
}

/// An actor that takes these turns, and says in the end that it is done.
pub(super) fn worker(marker: &str, turns: Vec<Turn>) -> Actor {
    Actor::new(marker, turns.into_iter().chain([say("DONE")]))
}

pub(super) fn reviewer(stage: &Stage, marker: &str, of: &str, model: &str) -> Actor {
    let agent = format!("{of}-reviewer");
    let file = format!("{of}-review-{model}.json");
    worker(marker, leaves(stage, &file, &review(&agent, model)))
}

fn script(stage: &Stage) -> Vec<Actor> {
    let next = || bash("gatewright next");
    let step = || bash("gatewright step");
    let main = vec![
        next(),
        calls("requirements-gatherer", "opus", "GO-GATHER"),
        hold("asked", goes_on(0)),
        say("WAITING"),
        hold("approved", calls("planner", "opus", "GO-ARCHITECT")),
        goes_on(1),
        say("WAITING"),
        calls("plan-reviewer", "sonnet", "GO-PLAN-SONNET"),
        calls("plan-reviewer", "opus", "GO-PLAN-OPUS"),
        step(),
        calls("implementer", "sonnet", "GO-IMPLEMENT"),
        calls("code-reviewer", "sonnet", "GO-CODE-SONNET-1"),
        calls("code-reviewer", "opus", "GO-CODE-OPUS-1"),
        step(),
        bash("gatewright check"),
        goes_on(4),
        say("WAITING"),
        calls("code-reviewer", "sonnet", "GO-CODE-SONNET-2"),
        calls("code-reviewer", "opus", "GO-CODE-OPUS-2"),
        step(),
        bash("gatewright check"),
        say("END"),
    ];
    let (gatherer, planner) = ("requirements-gatherer", "planner");
    let gathers = |status| signal(stage, gatherer, "requirements_gathering", status);
    let plans = |phase, file| {
        [
            plan(stage, file),
            signal(stage, planner, phase, "completed"),
        ]
        .concat()
    };
    let asks = [gathers("needs_input"), vec![say("I HAVE A QUESTION")]].concat();
    let drafts = [plans("plan_drafting", "plan.json"), vec![say("DRAFTED")]].concat();
    let codes = [result(stage, "Hello"), vec![say("IMPLEMENTED")]].concat();
    vec![
        Actor::new("GO-MAIN", main),
        worker(
            "GO-GATHER",
            [asks, story(stage), gathers("completed")].concat(),
        ),
        worker(
            "GO-ARCHITECT",
            [drafts, plans("plan_refining", "plan-refined.json")].concat(),
        ),
        worker("GO-IMPLEMENT", [codes, result(stage, "Moin")].concat()),
        reviewer(stage, "GO-PLAN-SONNET", "plan", "sonnet"),
        reviewer(stage, "GO-PLAN-OPUS", "plan", "opus"),
        reviewer(stage, "GO-CODE-SONNET-1", "code", "sonnet"),
        reviewer(stage, "GO-CODE-OPUS-1", "code", "opus"),
        reviewer(stage, "GO-CODE-SONNET-2", "code", "sonnet"),
        reviewer(stage, "GO-CODE-OPUS-2", "code", "opus"),
    ]
}

/// A person looks at the run, and answers. Both go to the page.
pub(super) fn answers(stage: &Stage, page: &mut Transcript, words: &[&str]) {
    let shown = stage.project.person(["next"], "").succeeds();
    page.person("gatewright next", &shown.stdout);
    let words = [&["answer"], words].concat();
    stage.project.person(&words, "").succeeds();
}

#[test]
fn multi_ai_asks_nothing_needless_and_a_red_test_is_told_to_the_implementer() {
    let stage = Stage::builtin("multi-ai", []);
    let actors = script(&stage);
    let stage = stage.scripted(actors);
    let lines = ["plan", "code", "code"].map(|of| {
        let review = review("review-codex", "codex");
        codex::run(&format!(
            "cat > .task/{of}-review-codex.json <<'END'\n{review}\nEND"
        ))
    });
    let turns = lines
        .into_iter()
        .flat_map(|line| [line, codex::say("JUDGED")]);
    let model = codex::CodexModel::start(turns);
    codex::settle(&stage.project, &model);
    gives_environment(&stage, &codex::folder());
    let mut page = Transcript::new(
        "multi-ai",
        "A feature with a question to the person, an approval, and a test that fails first.",
    );
    let claude = claude_on(&stage, &codex::folder());
    let running = claude.begin("/multi-ai Greet people (GO-MAIN)");
    stage.model.wait_until_held("asked");
    answers(&stage, &mut page, &["--answer", "q1=Moin"]);
    stage.model.release("asked");
    stage.model.wait_until_held("approved");
    answers(&stage, &mut page, &["approve", "Keep it short."]);
    stage.model.release("approved");
    let session = running.wait().succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(denied(&session), [""; 0]);

    // Who goes on hears what the work is about, although the session said nothing of it.
    let resumed = stage.model.told("GO-GATHER");
    assert!(resumed.contains("Moin"), "{resumed}");
    let drafted = stage.model.told("GO-ARCHITECT");
    assert!(drafted.contains("Keep it short."), "{drafted}");
    assert!(drafted.contains("plan_refining"), "{drafted}");
    let repaired = stage.model.told("GO-IMPLEMENT");
    for words in ["grep Moin greeting.txt", "exited with code 1"] {
        assert!(repaired.contains(words), "{words}: {repaired}");
    }
    let codex = model.requests();
    assert_eq!(codex.len(), 6);

    page.conversations(
        &stage,
        &[
            ("The session", "GO-MAIN"),
            (
                "`requirements-gatherer`, in `requirements_gathering`",
                "GO-GATHER",
            ),
            (
                "`planner`, in `plan_drafting` and `plan_refining`",
                "GO-ARCHITECT",
            ),
            ("`plan-reviewer`, in `plan_reviewing`", "GO-PLAN-SONNET"),
            ("`implementer`, in `implementing_loop`", "GO-IMPLEMENT"),
            ("`code-reviewer`, in `code_reviewing`", "GO-CODE-SONNET-1"),
            ("`code-reviewer`, after the repair", "GO-CODE-SONNET-2"),
        ],
    );
    let page = page.finished(&stage, &stage.run());
    expect_file!["../../../../../docs/transcripts/multi-ai.md"].assert_eq(&page);
}
