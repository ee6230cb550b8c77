//! Guards that were broken on purpose: the proof fails, and names the gate.

use testkit::Project;

use crate::fixture::{
    EVENTS, PROGRAM, TINY, broken, broken_gates, install, proof, stand_in, trusted,
};

/// A project whose hooks call a program of this text.
fn mutated(text: &str) -> Project {
    let project = trusted(TINY);
    let program = stand_in(&project, text);
    install(&project, program.to_str().unwrap(), &EVENTS);
    project
}

/// A hook that says nothing about payloads with these words, and is ours for all others.
fn deaf_to(words: &str) -> Project {
    mutated(&format!(
        "#!/bin/sh\ninput=$(cat)\ncase $input in *'{words}'*) exit 0;; esac\n\
         printf '%s' \"$input\" | exec '{PROGRAM}' \"$@\"\n"
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

#[test]
fn each_guard_that_is_taken_away_is_named() {
    for (words, expected) in [
        (r#""tool_name":"Workflow""#, "doors refusal"),
        ("claude -p", "doors refusal"),
        (r#""agent_type":"Explore""#, "admission refusal"),
        (r#""command":"gatewright cancel"#, "people refusal"),
        (r#""command":"gatewright answer"#, "asking refusal"),
        ("echo x > note.md", "artifacts fault"),
        ("innocent", "own files fault"),
        (r#""hook_event_name":"ConfigChange""#, "settings refusal"),
        (r#""hook_event_name":"Stop""#, "writing refusal"),
        (r#""hook_event_name":"SubagentStop""#, "writing fault"),
        ("somebody-else", "writing refusal"),
    ] {
        let proof = proof(&deaf_to(words), "mine", 1);
        let gates = broken_gates(&proof);
        assert!(gates.contains(&expected.to_owned()), "{words}: {gates:?}");
    }
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
    assert!(proof.to_string().contains("no hook of ours at Stop"));
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
