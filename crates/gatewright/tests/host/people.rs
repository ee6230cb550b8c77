//! What a person types in the session is a person's act.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use testkit::model::{Actor, agent_in_foreground, bash, call, say};
use testkit::{PATIENCE, within};

use crate::stage::{DRAFT, REJECTED, STORY, Stage};

fn leave(path: &str, text: &str) -> testkit::model::Turn {
    bash(&format!("cat > {path} <<'END'\n{text}\nEND"))
}

#[test]
fn a_slash_command_starts_a_run_and_another_cancels_it() {
    let stage = Stage::story([Actor::new(
        "GO-MAIN",
        [
            say("ONE"),
            say("TWO"),
            say("THREE"),
            say("FOUR"),
            say("FIVE"),
            say("SIX"),
        ],
    )]);
    let session = stage.claude().open();
    session.say("/story about a fox");
    session.wait_for("FOUR");
    session.wait_for("it waits for you");
    assert_eq!(stage.place(), "writing waiting", "{}", stage.history());
    let status = stage.status(&stage.run());
    assert!(
        status["task"]
            .as_str()
            .is_some_and(|task| task.contains("about a fox")),
        "{status}"
    );
    session.say("/cancel-story it is enough");
    session.wait_for("FIVE");
    session.leave();
    assert!(stage.place().ends_with("cancelled"), "{}", stage.history());
    let journal = stage.journal();
    let cancelled = journal.iter().find(|entry| entry["rule"] == "GW-R71");
    let by = cancelled
        .map(|entry| entry["by"].to_string())
        .unwrap_or_default();
    assert!(by.contains("person"), "{by}");
}

/// A hidden command wrote the host's file of schedules, and the host submits the prompt in it by itself, at the
/// next full minute.
#[test]
fn a_slash_command_that_a_planted_schedule_submits_is_not_a_persons() {
    let turns: Vec<_> = (0..12).map(|turn| say(&format!("TURN {turn}"))).collect();
    let stage = Stage::story([Actor::new("GO-MAIN", turns)]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = u64::try_from(now.expect("a time").as_millis()).expect("a time");
    let plan = json!({"tasks": [{
        "id": "abcd1234", "cron": "* * * * *", "prompt": "/cancel-story it is enough",
        "createdAt": now, "recurring": true,
    }]});
    let file = ".claude/scheduled_tasks.json";
    let file = stage.project.write(file, plan.to_string());
    let session = stage.claude().open();
    session.say("/story about a fox");
    session.wait_for("it waits for you");
    let is_refused = || (stage.count("GW-R66") > 0).then_some(());
    within(2 * PATIENCE, is_refused).expect("it is submitted, and refused");
    fs::remove_file(file).expect("removed");
    assert_eq!(stage.count("GW-R71"), 0, "{}", stage.history());
    session.wait_for("so it does not count");
    session.say("/cancel-story I want it");
    session.wait_for("is cancelled");
    session.leave();
    assert_eq!(stage.count("GW-R71"), 1, "{}", stage.history());
}

#[test]
fn a_question_of_the_run_is_put_to_the_person_by_the_host() {
    let question = "The critic says no. Go on?";
    let asked = call(
        "AskUserQuestion",
        json!({"questions": [{
            "question": question,
            "header": "Critic",
            "multiSelect": false,
            "options": [
                {"label": "stop", "description": "give up"},
                {"label": "again", "description": "write it again"},
            ],
        }]}),
    );
    let mut second = String::from(DRAFT);
    second.push_str("The end.");
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("writer", "GO-WRITER-1"),
                say("W1"),
                agent_in_foreground("critic", "GO-CRITIC-1"),
                say("C1"),
                agent_in_foreground("writer", "GO-WRITER-2"),
                say("W2"),
                agent_in_foreground("critic", "GO-CRITIC-2"),
                say("C2"),
                asked,
                say("ANSWERED"),
            ],
        ),
        Actor::new("GO-WRITER-1", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC-1",
            [leave("judgement.json", REJECTED), say("NO")],
        ),
        Actor::new("GO-WRITER-2", [leave("draft.md", &second), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC-2",
            [leave("judgement.json", &format!("{REJECTED} ")), say("NO")],
        ),
    ]);
    let session = stage.claude().open();
    session.say("/story about a fox");
    session.wait_for(question);
    session.choose("stop");
    session.wait_for("ANSWERED");
    session.leave();
    assert_eq!(stage.place(), "given_up failed", "{}", stage.history());
    let journal = stage.journal();
    let answered = journal.iter().find(|entry| entry["rule"] == "GW-R60");
    let by = answered
        .map(|entry| entry["by"].to_string())
        .unwrap_or_default();
    assert!(by.contains("person"), "{by}");
}

#[test]
fn an_answer_in_other_words_does_not_count_and_the_person_learns_what_does() {
    let asked = call(
        "AskUserQuestion",
        json!({"questions": [{
            "question": "Shall we go on?",
            "header": "Critic",
            "multiSelect": false,
            "options": [
                {"label": "yes", "description": "by all means"},
                {"label": "no", "description": "rather not"},
            ],
        }]}),
    );
    let question = STORY.replace("start  = \"writing\"", "start  = \"asking\"");
    let main = [asked, say("ANSWERED"), say("HEARD"), say("CHOSEN")];
    let stage = Stage::with(&question, [Actor::new("GO-MAIN", main)]);
    let session = stage.claude().open();
    session.say("/story about a fox");
    session.wait_for("Shall we go on?");
    session.choose("yes");
    session.wait_for("ANSWERED");
    session.wait_for("this did not answer it");
    stage
        .model
        .wait_until_told("GO-MAIN", "this did not answer it");
    assert_eq!(stage.place(), "asking waiting", "{}", stage.history());
    // Nor do words at the prompt.
    session.say("yes, go on");
    session.wait_for("HEARD");
    assert_eq!(stage.place(), "asking waiting", "{}", stage.history());
    session.wait_for("/choose stop");
    session.say("/choose stop");
    session.wait_for("CHOSEN");
    session.leave();
    assert_eq!(stage.place(), "given_up failed", "{}", stage.history());
}

#[test]
fn after_a_run_the_session_is_free_and_may_begin_another() {
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                say("ONE"),
                say("TWO"),
                say("THREE"),
                say("FOUR"),
                say("FIVE"),
                agent_in_foreground("critic", "GO-FREE"),
                say("SIX"),
                say("SEVEN"),
                agent_in_foreground("critic", "GO-EARLY"),
                say("EIGHT"),
                say("NINE"),
                say("TEN"),
                say("ELEVEN"),
                say("TWELVE"),
            ],
        ),
        Actor::new("GO-FREE", [bash("echo free > free.txt"), say("FREE")]),
        Actor::new("GO-EARLY", [bash("echo early > early.txt"), say("NEVER")]),
    ]);
    let session = stage.claude().open();
    session.say("/story about a fox");
    session.wait_for("it waits for you");
    session.say("/cancel-story enough");
    session.wait_for("FIVE");
    // Nothing is guarded now.
    session.say("GO-MAIN: and now freely");
    session.wait_for("SEVEN");
    assert_eq!(stage.project.read("free.txt"), "free\n");
    // And here everything is again.
    session.say("/story about a wolf");
    let refused = "'critic' may not work in writing";
    stage.model.wait_until_told("GO-MAIN", refused);
    assert_eq!(stage.runs().len(), 2, "{}", stage.history());
    assert!(!stage.path("early.txt").exists());
}

#[test]
fn a_worker_that_the_person_interrupts_is_over_and_may_be_called_again() {
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("writer", "GO-SLOW"),
                agent_in_foreground("writer", "GO-WRITER"),
                say("END"),
            ],
        ),
        Actor::new("GO-SLOW", [bash("sleep 61"), say("NEVER")]),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
    ]);
    let claude = stage.claude();
    let claude = claude.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1");
    let session = claude.open();
    session.say("/story about a fox");
    session.wait_for("sleep 61");
    session.press("Escape");
    session.wait_for("Interrupted");
    session.say("GO-MAIN: write it shorter");
    session.wait_for("it waits for you");
    session.leave();
    let told = stage.model.told("GO-MAIN");
    assert!(!told.contains("GW-R12"), "{told}");
    assert_eq!(stage.count("GW-R106"), 1, "{}", stage.history());
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
    // What the person interrupted is not an attempt that failed.
    let journal = stage.journal();
    let admitted = journal.iter().filter(|entry| entry["rule"] == "GW-R10");
    let attempts: Vec<_> = admitted
        .filter_map(|entry| entry["fact"]["attempt"].as_u64())
        .collect();
    assert_eq!(attempts, [1, 1], "{}", stage.history());
}
