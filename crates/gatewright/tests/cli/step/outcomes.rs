//! What a worker leaves decides: approval, a review that is missing, nothing at all, a stray file.

use serde_json::json;

use super::fixture::{APPROVES, ONE, REVIEW, WORKED, World, began, done, says, well};

#[test]
fn a_worker_that_leaves_what_it_must_moves_the_run() {
    let world = World::with(REVIEW);
    world.codex(&well(APPROVES));
    let ran = world.step().succeeds();
    assert!(ran.stdout.contains("approved"), "{ran}");
    assert_eq!(world.stage(), "complete");
    let calls = world.calls("codex");
    let [call] = calls.as_slice() else {
        panic!("one call: {calls:?}");
    };
    let own = " exec --json --skip-git-repo-check -s workspace-write -m some-model -";
    assert!(call.ends_with(own), "{call}");
    assert!(call.contains("gatewright hook codex PreToolUse"), "{call}");
    let prompt = world.noted("codex.prompt.1");
    for words in ["'review-codex'", "r-test", ".task/review.json"] {
        assert!(prompt.contains(words), "{prompt}");
    }
    assert!(prompt.ends_with("\n\nBe strict.\n"), "{prompt}");
}

#[test]
fn the_journal_tells_who_worked_and_what_it_used() {
    let world = World::with(REVIEW);
    world.codex(&well(APPROVES));
    world.step().succeeds();
    let began = world.history("began");
    assert_eq!(began[0]["fact"]["worker"], format!("codex:{ONE}"));
    assert_eq!(began[0]["by"]["kind"], "gatewright", "{began:?}");
    let ended = world.history("ended");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["fact"]["used"]["tokens"], json!(100), "{ended:?}");
}

#[test]
fn the_dispatch_is_in_the_journal_before_the_worker_begins() {
    let world = World::with(REVIEW);
    let program = env!("CARGO_BIN_EXE_gatewright");
    let state = world.project.state_home();
    let looks = format!(
        "XDG_STATE_HOME='{}' '{program}' history r-test --json > \"$here/journal\"",
        state.display()
    );
    world.codex(&[looks.as_str(), &well(APPROVES)].join("\n"));
    world.step().succeeds();
    let journal = world.noted("journal");
    assert!(journal.contains(r#""kind": "admitted""#), "{journal}");
    assert!(!journal.contains(r#""kind": "ended""#), "{journal}");
}

#[test]
fn a_worker_without_its_artifact_is_sent_back_into_its_own_conversation() {
    let world = World::with(REVIEW);
    world.codex(&well(&format!("[ \"$count\" -lt 2 ] || {{ {APPROVES}; }}")));
    world.step().succeeds();
    assert_eq!(world.stage(), "complete");
    let calls = world.calls("codex");
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[1].ends_with(&format!("resume {ONE} -")), "{calls:?}");
    assert!(world.noted("codex.prompt.2").contains("review"));
    assert_eq!(world.history("sent_back").len(), 1);
}

#[test]
fn after_two_times_the_attempt_is_spent_and_after_three_attempts_a_person_decides() {
    let world = World::with(REVIEW);
    world.codex(&well(":"));
    let ran = world.step().exits(1);
    assert!(ran.stderr.contains("GW-R34"), "{ran}");
    assert_eq!(world.calls("codex").len(), 3);
    assert_eq!(world.stage(), "reviewing");
    world.step().exits(1);
    world.step().exits(1);
    world.step().exits(1);
    assert_eq!(world.calls("codex").len(), 9);
    // Each attempt is a conversation of its own, since the first one may be what failed.
    let resumed = world
        .calls("codex")
        .iter()
        .filter(|call| call.contains("resume"))
        .count();
    assert_eq!(resumed, 6);
}

#[test]
fn a_worker_that_did_nothing_is_hollow_and_is_not_sent_back() {
    let world = World::with(REVIEW);
    world.codex(
        &[&began(ONE), &says("LGTM"), &done(10)]
            .map(String::as_str)
            .join("\n"),
    );
    world.step().exits(1);
    let ended = world.history("ended");
    assert_eq!(ended[0]["fact"]["result"]["fault"], "hollow", "{ended:?}");
    assert_eq!(world.calls("codex").len(), 1);
}

#[test]
fn a_word_that_is_no_verdict_is_none() {
    let world = World::with(REVIEW);
    let says = r#"mkdir -p .task; echo '{"status": "NOT APPROVED"}' > .task/review.json"#;
    world.codex(&well(says));
    let ran = world.step().exits(1);
    assert!(ran.stderr.contains("NOT APPROVED"), "{ran}");
    assert_eq!(world.stage(), "reviewing");
}

#[test]
fn a_review_of_before_does_not_count() {
    let world = World::unstarted(REVIEW);
    world
        .project
        .write(".task/review.json", r#"{"status": "approved"}"#);
    world.start().succeeds();
    world.codex(&well(":"));
    world.step().exits(1);
    let ended = world.history("ended");
    assert_eq!(ended[0]["fact"]["result"]["fault"], "missing", "{ended:?}");
}

#[test]
fn a_reviewer_that_changes_the_project_is_sent_back_to_put_it_back() {
    let world = World::with(REVIEW);
    let strays =
        format!("{APPROVES}; if [ \"$count\" = 1 ]; then touch stray; else rm -f stray; fi");
    world.codex(&well(&strays));
    world.step().succeeds();
    assert!(world.noted("codex.prompt.2").contains("stray"));
    assert_eq!(world.stage(), "complete");
}

/// Everything that is not an end in good order is a crash, whatever the exit code says.
#[test]
fn a_worker_that_does_not_end_well_has_crashed() {
    let failed = r#"echo '{"type":"turn.failed","error":{"message":"no such model"}}'"#;
    let begins = began(ONE);
    for (script, reason) in [
        (
            format!("{begins}\n{APPROVES}\n{failed}\nexit 1"),
            "no such model",
        ),
        (format!("{begins}\n{APPROVES}\n{failed}"), "no such model"),
        (format!("{begins}\n{APPROVES}"), "codex"),
        (
            format!("{begins}\n{APPROVES}\n{}\necho oh >&2\nexit 3", done(1)),
            "exit code 3: oh",
        ),
        (
            format!("{begins}\n{APPROVES}\n{}\nkill -9 $$", done(1)),
            "signal 9",
        ),
        (format!("{APPROVES}\n{WORKED}\n{}", done(1)), "exit code 0"),
        (
            "echo 'not logged in' >&2; exit 1".to_owned(),
            "not logged in",
        ),
    ] {
        let world = World::with(REVIEW);
        world.codex(&script);
        let ran = world.step().exits(1);
        assert!(ran.stderr.contains(reason), "{script}\n{ran}");
        assert_eq!(world.stage(), "reviewing");
        let ended = world.history("ended");
        assert_eq!(ended[0]["fact"]["result"]["fault"], "crashed", "{ended:?}");
    }
}

#[test]
fn what_a_worker_says_last_can_be_what_it_leaves() {
    let reply = REVIEW.replace(r#"path    = ".task/review.json""#, r#"from    = "reply""#);
    let world = World::with(&reply);
    let verdict = r#"{"status": "needs_changes"}"#;
    let script = [
        &began(ONE),
        WORKED,
        &says("first"),
        &says(verdict),
        &done(1),
    ]
    .join("\n");
    world.codex(&script);
    world.step().succeeds();
    assert_eq!(world.stage(), "stopped");
    // Nobody who only speaks needs to write.
    assert!(world.calls("codex")[0].contains("-s read-only"));
}
