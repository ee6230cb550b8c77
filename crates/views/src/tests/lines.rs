//! Runs in a list, and refusals: a line each.

use engine::*;
use expect_test::expect;

use super::example::*;
use super::runs::{AROUND, bypassed, overridden, reviewed};
use crate::list::RunRow;
use crate::{Paint, list, refusal, refusal_in};

#[test]
fn many_runs_in_a_table() {
    let pipeline = pipeline();
    let mut long = run_in("escalate");
    long.id = run_id("r-9k2m");
    long.task = "Rewrite the whole deployment of everything that we have, in one go".to_owned();
    let runs = [run_in("gathering"), reviewed(), overridden(), long];
    let view = list(
        runs.iter()
            .map(|run| RunRow::new(&pipeline, run, AROUND))
            .collect(),
    );
    expect![[r#"
        RUN     PIPELINE  STATUS     STAGE      IDLE   MARKS                    SESSION  TASK
        r-7f3   showcase  running    gathering  2h 5m  unwitnessed              –        Write the role web
        r-7f3   showcase  running    reviewing  3m     –                        s-1      Write the role web
        r-7f3   showcase  completed  complete   2h 5m  OVERRIDDEN, unwitnessed  –        Write the role web
        r-9k2m  showcase  waiting    escalate   2h 5m  unwitnessed              –        Rewrite the whole deployment of everything that…
    "#]].assert_eq(&view.text(Paint::Plain));
    assert_eq!(view.json()[3]["task"], runs[3].task.as_str());
}

#[test]
fn what_a_reader_must_not_overlook_is_marked() {
    let pipeline = pipeline();
    let marked = |run: &Run, unjudged| {
        let row = RunRow {
            unjudged,
            ..RunRow::new(&pipeline, run, AROUND)
        };
        list(vec![row])
    };
    let mut ended = bypassed();
    ended.id = run_id("r-8");
    ended.session.as_mut().unwrap().state = BindingState::Ended;
    for (view, marks, session) in [
        (marked(&reviewed(), 0), "–", Some("s-1")),
        (
            marked(&bypassed(), 0),
            "NOT GUARDED until 14:30 UTC",
            Some("s-1"),
        ),
        (
            marked(&reviewed(), 2),
            "2 events were not judged",
            Some("s-1"),
        ),
        (
            marked(&ended, 1),
            "NOT GUARDED until 14:30 UTC, 1 event was not judged",
            None,
        ),
    ] {
        let text = view.text(Paint::Plain);
        let row = text.lines().nth(1).unwrap();
        assert!(row.contains(&format!("  {marks}  ")), "{text}");
        assert_eq!(text.contains("SESSION"), session.is_some(), "{text}");
        assert!(row.contains(session.unwrap_or_default()), "{text}");
    }
    let json = marked(&bypassed(), 2).json();
    assert_eq!(json[0]["session"]["id"], "s-1");
    assert_eq!(json[0]["bypass"]["reason"], "the hook is\nbeing mended");
    assert_eq!(json[0]["unjudged"], 2);
}

#[test]
fn no_runs_are_no_text() {
    assert_eq!(list(Vec::new()).text(Paint::Plain), "");
}

#[test]
fn a_refusal_is_one_line_with_the_legal_next_step() {
    let pipeline = pipeline();
    for (run, reason, expected) in [
        (
            run_in("validating"),
            "'reviewer' may not work in validating",
            "GW-R11 refused: 'reviewer' may not work in validating; run r-7f3 is in validating; next: 'validator'",
        ),
        (
            run_in("linting"),
            "linting is a check,\nwhich gatewright runs itself",
            "GW-R11 refused: linting is a check, which gatewright runs itself; run r-7f3 is in linting; next: `gatewright check r-7f3`",
        ),
        (
            run_in("gathering"),
            "no",
            "GW-R11 refused: no; run r-7f3 is in gathering; next: any of 'gatherer', 'bash-*', 'python-*', or a person ends the stage",
        ),
        (
            run_in("approving"),
            "no",
            "GW-R11 refused: no; run r-7f3 is in approving; next: a person answers",
        ),
        (
            run_in("tidying"),
            "no",
            "GW-R11 refused: no; run r-7f3 is in tidying; next: the session itself",
        ),
        (
            run_in("broken"),
            "no",
            "GW-R11 refused: no; run r-7f3 is in broken; next: nothing, the run is over",
        ),
    ] {
        let legal = engine::next(&pipeline, &run);
        let refused = Refusal {
            rule: Rule::AgentOutOfTurn,
            reason: reason.to_owned(),
            next: legal,
            own_work: false,
            artifact: None,
        };
        assert_eq!(refusal_in(&pipeline, &run, &refused), expected);
    }
    let plain = Refusal {
        rule: Rule::Begin,
        reason: "no target".to_owned(),
        next: Vec::new(),
        own_work: false,
        artifact: None,
    };
    assert_eq!(refusal(&plain), "GW-R01 refused: no target");
}

/// The session does not call a worker of another program, so the prompt says what it does instead.
#[test]
fn a_worker_of_another_program_is_named_with_the_command_that_runs_it() {
    let run = run_in("reviewing");
    for (reviewer, agent, expected) in [
        (0, "code-reviewer", "'code-reviewer' reviews (round 1 of 2)"),
        (
            1,
            "codex-reviewer",
            "'codex-reviewer' reviews (round 1 of 2), by `gatewright step r-7f3`",
        ),
    ] {
        let duty = NextDuty::Review {
            reviewer,
            round: 1,
            rounds: 2,
        };
        let refused = Refusal {
            rule: Rule::AgentOutOfTurn,
            reason: "no".to_owned(),
            own_work: false,
            artifact: None,
            next: vec![Next::Agent {
                agent: agent_name(agent),
                duty,
                reads: Vec::new(),
                leaves: Vec::new(),
            }],
        };
        let line = refusal_in(&pipeline(), &run, &refused);
        assert!(line.ends_with(&format!("; next: {expected}")), "{line}");
    }
}

#[test]
fn a_refusal_never_teaches_the_way_around() {
    let pipeline = pipeline();
    let mut run = run_in("validating");
    run.standing = Standing::Stuck {
        fault: Fault::Crashed,
        reason: "exit 137".to_owned(),
    };
    let legal = engine::next(&pipeline, &run);
    let refused = Refusal {
        rule: Rule::RunWaits,
        reason: "the run waits".to_owned(),
        next: legal,
        own_work: false,
        artifact: None,
    };
    let line = refusal_in(&pipeline, &run, &refused);
    assert!(line.contains("`gatewright next r-7f3`"), "{line}");
    for word in ["skip", "reset", "cancel", "retry", "bypass"] {
        assert!(!line.contains(word), "{line}");
    }
}

#[test]
fn a_person_reads_what_is_not_done_and_what_answers() {
    let pipeline = pipeline();
    let line = |run: &Run| crate::unfinished(&pipeline, run).unwrap_or_default();
    assert!(line(&run_in("gathering")).contains("it is in gathering"));
    let asking = line(&run_in("escalate"));
    assert!(
        asking.contains("`gatewright answer r-7f3 stop`"),
        "{asking}"
    );
    let other = crate::not_an_answer(&pipeline, &run_in("escalate")).unwrap_or_default();
    assert!(other.contains("`gatewright answer r-7f3 stop`"), "{other}");
    assert_eq!(crate::unfinished(&pipeline, &run_in("complete")), None);
    assert_eq!(crate::not_an_answer(&pipeline, &run_in("gathering")), None);
}
