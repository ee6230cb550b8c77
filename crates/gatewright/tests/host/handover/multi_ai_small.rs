//! A small change takes the quick way, and one that grew is sent the whole way. Each worker reads why.

use expect_test::expect_file;
use testkit::model::{Actor, Turn, bash, hold, say, write};

use super::multi_ai::{answers, plan, result, reviewer, signal, story, worker};
use super::transcript::Transcript;
use super::{claude, denied};
use crate::seeds::multi_ai::calls;
use crate::stage::Stage;

/// Who gathers the requirements asks nothing.
fn gatherer(stage: &Stage) -> Actor {
    let completed = signal(
        stage,
        "requirements-gatherer",
        "requirements_gathering",
        "completed",
    );
    worker("GO-GATHER", [story(stage), completed].concat())
}

/// The session until a person has approved, and then these turns.
fn session(then: impl IntoIterator<Item = Turn>) -> Actor {
    let begins = [
        bash("gatewright next"),
        calls("requirements-gatherer", "opus", "GO-GATHER"),
        hold("approved", calls("implementer", "sonnet", "GO-IMPLEMENT")),
    ];
    Actor::new("GO-MAIN", begins.into_iter().chain(then))
}

/// Plays the run until its session is over.
fn plays(stage: &Stage, page: &mut Transcript) {
    let running = claude(stage).begin("/multi-ai size=small Greet people (GO-MAIN)");
    stage.model.wait_until_held("approved");
    answers(stage, page, &["approve"]);
    stage.model.release("approved");
    let session = running.wait().succeeds();
    assert_eq!(denied(&session), [""; 0], "{}", stage.history());
}

/// The rules by which the route was decided, in their order.
fn routed(stage: &Stage) -> Vec<String> {
    let journal = stage.journal().into_iter();
    let routed = journal.filter(|entry| entry["fact"]["kind"] == "routed");
    routed
        .map(|entry| entry["rule"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[track_caller]
fn is_told(stage: &Stage, actor: &str, facts: &[&str]) {
    let told = stage.model.told(actor);
    for fact in facts {
        assert!(told.contains(fact), "{actor}, {fact}: {told}");
    }
}

#[test]
fn multi_ai_takes_a_small_change_the_quick_way() {
    let stage = Stage::builtin("multi-ai", []);
    let main = session([
        calls("code-reviewer", "opus", "GO-REVIEW"),
        bash("gatewright check"),
        say("END"),
    ]);
    let actors = [
        main,
        gatherer(&stage),
        worker("GO-IMPLEMENT", result(&stage, "Moin")),
        reviewer(&stage, "GO-REVIEW", "code", "opus"),
    ];
    let stage = stage.scripted(actors);
    let mut page = Transcript::new(
        "multi-ai",
        "A small change, which a person starts with `size=small`: one implementer, one review and the tests.",
    );
    plays(&stage, &mut page);
    let place = stage.place();
    assert_eq!(place, "complete_small completed", "{}", stage.history());
    // At the route, before the review, before the tests and before the end.
    let kept = ["GW-R115", "GW-R117", "GW-R117", "GW-R117"];
    assert_eq!(routed(&stage), kept);

    is_told(
        &stage,
        "GO-IMPLEMENT",
        &[
            "quick_implementing",
            ".task/user-story.json",
            "size is small",
            "at most 3 files, at most 60 lines",
        ],
    );
    let review = ["quick_reviewing", "code-review-opus.json"];
    is_told(&stage, "GO-REVIEW", &review);
    for actor in ["GO-IMPLEMENT", "GO-REVIEW"] {
        let told = stage.model.told(actor);
        assert!(!told.contains("plan_drafting"), "{actor}: {told}");
    }
    stage.project.person(["verify"], "").succeeds();

    page.conversations(
        &stage,
        &[
            ("The session", "GO-MAIN"),
            ("`implementer`, in `quick_implementing`", "GO-IMPLEMENT"),
            ("`code-reviewer`, in `quick_reviewing`", "GO-REVIEW"),
        ],
    );
    let page = page.finished(&stage, &stage.run());
    expect_file!["../../../../../docs/transcripts/multi-ai-small.md"].assert_eq(&page);
}

#[test]
fn multi_ai_plans_what_was_called_small_and_has_grown() {
    let stage = Stage::builtin("multi-ai", []);
    let large = "Moin\n".repeat(61);
    let grows = [
        result(&stage, "Moin"),
        vec![write(stage.path("more.txt"), &large)],
    ]
    .concat();
    let drafts = [
        plan(&stage, "plan.json"),
        signal(&stage, "planner", "plan_drafting", "completed"),
    ]
    .concat();
    let stops = (0..4).map(|_| say("END"));
    let main = session(
        [calls("planner", "opus", "GO-PLAN")]
            .into_iter()
            .chain(stops),
    );
    let actors = [
        main,
        gatherer(&stage),
        worker("GO-IMPLEMENT", grows),
        worker("GO-PLAN", drafts),
    ];
    let stage = stage.scripted(actors);
    plays(&stage, &mut Transcript::new("multi-ai", ""));
    let place = stage.place();
    assert!(place.starts_with("plan_refining"), "{}", stage.history());
    assert_eq!(routed(&stage), ["GW-R115", "GW-R118"]);
    // Who plans, and the session that calls it, hear what was measured.
    is_told(&stage, "GO-PLAN", &["plan_drafting", "62 lines"]);
    is_told(&stage, "GO-MAIN", &["plan_drafting", "62 lines"]);
}
