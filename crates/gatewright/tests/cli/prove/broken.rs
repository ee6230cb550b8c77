//! Guards that were broken on purpose: the proof fails, and names the gate.

use testkit::Project;

use super::fixture::{
    EVENTS, PROGRAM, TINY, broken, broken_gates, install, proof, stand_in, trusted,
};

/// A project whose hooks call a program of this text.
fn mutated(text: &str) -> Project {
    let project = trusted(TINY);
    let program = stand_in(&project, text);
    install(&project, program.to_str().unwrap(), &EVENTS);
    project
}

/// A hook that says nothing about payloads with one of these words, and is ours for all others.
fn deaf_to(words: &[&str]) -> Project {
    let patterns: Vec<String> = words.iter().map(|words| format!("*'{words}'*")).collect();
    // The hook must be the host's own child, so the shell becomes it.
    mutated(&format!(
        "#!/bin/sh\ncat > \"$HOME/input\"\n\
         case $(cat \"$HOME/input\") in {}) exit 0;; esac\n\
         exec '{PROGRAM}' \"$@\" < \"$HOME/input\"\n",
        patterns.join("|")
    ))
}

#[test]
fn a_hook_that_does_not_guard_at_all_is_caught_at_every_gate() {
    for text in [
        "#!/bin/sh\nexit 0\n",
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\
         \"permissionDecision\":\"allow\"}}'\n",
        "#!/bin/sh\necho allowed\n",
        "#!/bin/sh\nkill -9 $$\n",
    ] {
        let proof = proof(&mutated(text), "mine", 1);
        let told = broken(&proof);
        for gate in ["writing", "asking"] {
            for column in ["refusal", "pass", "fault"] {
                let beginning = format!("{gate} {column}: ");
                let named = told.iter().any(|told| told.starts_with(&beginning));
                assert!(named, "{beginning} is not named for {text}: {told:?}");
            }
        }
    }
}

/// Insists that just these cases do not hold, by their gate and column. That the hooks call another
/// program than the one that runs is noticed in each of them.
#[track_caller]
fn check(words: &[&str], expected: &[&str]) {
    let told = broken(&proof(&deaf_to(words), "mine", 1));
    let mut cases: Vec<&str> = told
        .iter()
        .map(|told| told.split_once(": ").unwrap().0)
        .collect();
    cases.retain(|case| *case != "settings pass");
    assert_eq!(cases, expected, "{words:?}\n{told:?}");
}

#[test]
fn each_guard_that_is_taken_away_is_named_and_no_other() {
    check(
        &[
            r#""tool_name":"Workflow""#,
            "claude -p",
            r#""agent_type":"general-purpose""#,
            r#""command":"gatewright cancel"#,
            r#""command":"gatewright answer"#,
            "echo x > note.md",
            "innocent",
            r#""hook_event_name":"ConfigChange""#,
        ],
        &[
            "asking refusal",
            "admission refusal",
            "admission refusal",
            "doors refusal",
            "doors refusal",
            "own files fault",
            "artifacts fault",
            "people refusal",
            "settings refusal",
            "settings refusal",
            "settings fault",
        ],
    );
}

#[test]
fn a_session_that_is_not_held_is_named() {
    check(
        &[r#""hook_event_name":"Stop""#],
        &["writing refusal", "writing fault"],
    );
}

#[test]
fn a_worker_that_is_not_sent_back_is_named() {
    check(
        &[r#""hook_event_name":"SubagentStop""#],
        &["writing refusal", "writing fault"],
    );
}

#[test]
fn an_agent_out_of_turn_that_is_let_through_is_named() {
    check(
        &[r#""subagent_type":"somebody-else""#],
        &["writing refusal"],
    );
}

#[test]
fn a_guard_that_refuses_everything_is_caught_too() {
    let told = broken(&proof(
        &mutated("#!/bin/sh\necho no >&2\nexit 2\n"),
        "mine",
        1,
    ));
    assert!(
        told.iter().any(|told| told.starts_with("writing pass: ")),
        "{told:?}"
    );
}

#[test]
fn an_event_without_a_hook_is_told() {
    let project = trusted(TINY);
    let events: Vec<&str> = EVENTS
        .into_iter()
        .filter(|event| *event != "Stop")
        .collect();
    install(&project, PROGRAM, &events);
    let proof = proof(&project, "mine", 1);
    assert!(broken_gates(&proof).contains(&"writing refusal".to_owned()));
}

#[test]
fn the_hooks_of_the_settings_are_asked() {
    let project = trusted(TINY);
    let log = project.home().join("log");
    let text = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\nexec '{PROGRAM}' \"$@\"\n",
        log.display()
    );
    let program = stand_in(&project, &text);
    install(&project, program.to_str().unwrap(), &EVENTS);
    // The hooks call something else than the program that runs, which is all that is wrong here.
    let told = broken_gates(&proof(&project, "mine", 1));
    assert_eq!(told, ["settings pass"]);
    let asked = std::fs::read_to_string(log).unwrap();
    for event in [
        "SessionStart",
        "PreToolUse",
        "SubagentStop",
        "Stop",
        "ConfigChange",
    ] {
        let line = format!("hook claude {event}");
        assert!(
            asked.lines().any(|asked| asked == line),
            "{event} was not asked"
        );
    }
}
