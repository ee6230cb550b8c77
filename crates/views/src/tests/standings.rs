//! Where runs stand, as their session reads it.

use engine::*;
use expect_test::{Expect, expect};

use super::example::*;
use super::runs::{building, dispatch, reviewed};
use crate::session_prompt;

fn check(run: &Run, text: Expect) {
    check_of(definition(), run, text);
}

fn check_of(definition: Definition, run: &Run, text: Expect) {
    let told = session_prompt(&Pipeline::from_cache(definition), run);
    assert!(told.lines().count() <= 12, "{told}");
    text.assert_eq(&told);
}

fn guarded(stage: &str) -> Run {
    let mut run = run_in(stage);
    run.driver = Driver::Guarded;
    run
}

/// A worker of this agent that worked before.
fn knows(run: &mut Run, worker: &str, agent: &str, number: u32) {
    let known = KnownWorker {
        agent: agent_name(agent),
        dispatch: DispatchId(number),
        call: None,
    };
    std::sync::Arc::make_mut(&mut run.workers).insert(worker_id(worker), known);
}

/// A review in which it is this turn's turn.
fn review(turn: Turn) -> Run {
    let mut run = guarded("reviewing");
    let approvals = std::collections::BTreeMap::new();
    let panel = Panel {
        round: 2,
        turn,
        approvals,
    };
    run.panels.insert(stage_name("reviewing"), panel);
    run
}

#[test]
fn an_agent_is_called_with_its_model() {
    check(
        &guarded("planning"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `planning` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with subagent_type "planner" and model "opus""#]],
    );
    check(
        &guarded("validating"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `validating` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with subagent_type "validator""#]],
    );
}

#[test]
fn a_known_worker_whose_conversation_goes_on_is_written_to() {
    let mut run = guarded("debugging");
    check(
        &run,
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `debugging` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with subagent_type "debugger""#]],
    );
    knows(&mut run, "a-old", "debugger", 2);
    knows(&mut run, "z-other", "validator", 9);
    knows(&mut run, "b-new", "Debugger", 5);
    check(
        &run,
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `debugging` (running).
            The task: Write the role web
            What comes next:
            - use SendMessage to b-new to continue 'debugger'; if that worker is gone, call the Agent tool with subagent_type "debugger""#]],
    );
    // It needs a fresh conversation there, even of a known agent.
    let mut run = guarded("validating");
    knows(&mut run, "z-other", "validator", 9);
    check(
        &run,
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `validating` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with subagent_type "validator""#]],
    );
}

#[test]
fn reviewers_of_the_host_are_called_and_others_are_started_by_us() {
    check(
        &review(Turn::Reviewing { reviewer: 0 }),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `reviewing` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with subagent_type "code-reviewer": it reviews as reviewer 1 in round 2 of 3"#]],
    );
    check(
        &review(Turn::Reviewing { reviewer: 1 }),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `reviewing` (running).
            The task: Write the role web
            What comes next:
            - run `gatewright step r-7f3`: it starts 'codex-reviewer', which reviews as reviewer 2 in round 2 of 3"#]],
    );
    let mut fixing = review(Turn::Fixing { reviewer: 1 });
    check(
        &fixing,
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `reviewing` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with subagent_type "debugger": it fixes what 'codex-reviewer' found"#]],
    );
    knows(&mut fixing, "a1b2", "debugger", 5);
    check(
        &fixing,
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `reviewing` (running).
            The task: Write the role web
            What comes next:
            - use SendMessage to a1b2 to continue 'debugger': it fixes what 'codex-reviewer' found; if that worker is gone, call the Agent tool with subagent_type "debugger""#]],
    );
    check(
        &reviewed(),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `reviewing` (running).
            The task: Write the role web
            What comes next:
            - run `gatewright step r-7f3`: it starts 'codex-reviewer', which reviews as reviewer 2 in round 2 of 3"#]],
    );
}

#[test]
fn a_step_is_named_in_the_call_and_mirrored_in_the_hosts_list() {
    check(
        &building(),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `building` (running).
            The task: Write the role web
            What comes next:
            - wait for 'bash-writer', which is working on step handlers
            - call the Agent tool with subagent_type "bash-writer" for step vars (Write vars); the first line of its prompt is `step: vars`
            At most 2 at once. If you have TaskCreate or TodoWrite, mirror the steps with it: subject `ID: title`, active form `Working on TITLE`. This run decides which steps are done. The steps:
              [completed] tasks: Write tasks
              [in_progress] handlers: Write handlers
              [pending] vars: Write vars
              [pending] docs: Write docs
              [pending] molecule: Write molecule"#]],
    );
    check(
        &guarded("building"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `building` (running).
            The task: Write the role web
            What comes next:
            - run `gatewright next r-7f3`: it plans the steps of building"#]],
    );
}

/// Two reviewers of one name cannot be told apart afterwards, so each begins anew.
#[test]
fn a_reviewer_goes_on_only_if_it_is_the_one_of_its_name() {
    for (second, goes_on) in [("codex-reviewer", true), ("code-reviewer", false)] {
        let mut definition = definition();
        let mut stages = definition.stages.iter_mut();
        let stage = stages.find(|stage| stage.name == stage_name("reviewing"));
        if let Work::Review(work) = &mut stage.unwrap().work {
            work.panel[0].settings.conversation = Conversation::Same;
            work.panel[1].agent = agent_name(second);
        }
        let mut run = review(Turn::Reviewing { reviewer: 0 });
        knows(&mut run, "a1b2", "code-reviewer", 5);
        let told = session_prompt(&Pipeline::from_cache(definition), &run);
        assert_eq!(told.contains("SendMessage to a1b2"), goes_on, "{told}");
    }
}

#[test]
fn many_steps_are_not_all_told() {
    let mut run = building();
    let graph = run.graphs.get_mut(&stage_name("building")).unwrap();
    let ready = graph.members[2].clone();
    for number in 0..20 {
        let mut member = ready.clone();
        member.step.id = step_id(&format!("step-{number}"));
        graph.members.push(member);
    }
    let told = session_prompt(&pipeline(), &run);
    // Sixteen lines, the word that they are mirrored, twenty steps, and how many there are besides.
    assert_eq!(told.lines().count(), 16 + 1 + 20 + 1);
    for expected in [
        "`gatewright next r-7f3` shows the rest\n",
        "\n  … and 5 more: `gatewright status`",
    ] {
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn the_last_step_is_told_when_the_run_has_gone_on() {
    let mut run = building();
    let graph = run.graphs.get_mut(&stage_name("building")).unwrap();
    graph.members.truncate(1);
    run.position.stage = stage_name("reviewing");
    let told = session_prompt(&pipeline(), &run);
    assert!(
        told.ends_with("\n  [completed] tasks: Write tasks"),
        "{told}"
    );
}

#[test]
fn people_are_asked_word_for_word() {
    check(
        &guarded("approving"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `approving` (waiting: Is this the plan?).
            The task: Write the role web
            What comes next:
            - ask the person with AskUserQuestion; use exactly the question "Is this the plan?" and exactly the options "no", "yes""#]],
    );
    check(
        &guarded("clarifying"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `clarifying` (waiting: The planner has questions.).
            The task: Write the role web
            What comes next:
            - ask the person each question of the worker (`open` in `.work/r-7f3/questions.json`) with AskUserQuestion, at most four in one call; copy the question and its options exactly; where a question has no options, offer two likely answers, and the person can type another"#]],
    );
    let mut definition = definition();
    let choices = |definition: &mut Definition, words: &[&str]| {
        let mut stages = definition.stages.iter_mut();
        let stage = stages.find(|stage| stage.name == stage_name("approving"));
        stage.unwrap().on = words
            .iter()
            .map(|word| (outcome(word), to("planning")))
            .collect();
    };
    // The host asks for a choice between two and four.
    choices(&mut definition, &["go"]);
    check_of(
        definition.clone(),
        &guarded("approving"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `approving` (waiting: Is this the plan?).
            The task: Write the role web
            What comes next:
            - the person must answer "Is this the plan?" with "go": tell them to type `gatewright next r-7f3`, then end your turn"#]],
    );
    choices(&mut definition, &["a", "b", "c", "d", "e"]);
    check_of(
        definition,
        &guarded("approving"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `approving` (waiting: Is this the plan?).
            The task: Write the role web
            What comes next:
            - the person must answer "Is this the plan?" with "a", "b", "c", "d", "e": tell them to type `gatewright next r-7f3`, then end your turn"#]],
    );
}

#[test]
fn open_stages_checks_and_ends() {
    check(
        &guarded("gathering"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `gathering` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with one of these as subagent_type: "gatherer", "bash-*", "python-*"
            - when the work is done, tell the person to end the stage"#]],
    );
    let mut definition = definition();
    let done = CommandName::parse("task-done").unwrap();
    definition.commands.insert(done, Act::Finish);
    check_of(
        definition,
        &guarded("gathering"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `gathering` (running).
            The task: Write the role web
            What comes next:
            - call the Agent tool with one of these as subagent_type: "gatherer", "bash-*", "python-*"
            - when the work is done, tell the person to type `/task-done`: it ends the stage"#]],
    );
    check(
        &guarded("linting"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `linting` (running).
            The task: Write the role web
            What comes next:
            - run `gatewright check r-7f3`: it runs the commands of linting"#]],
    );
    check(
        &guarded("tidying"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `tidying` (running).
            The task: Write the role web
            What comes next:
            - do the work of this stage yourself, then end your turn"#]],
    );
    check(
        &guarded("complete"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `complete` (completed).
            The task: Write the role web
            What comes next:
            - the run is over; for a new task, call the Agent tool with subagent_type "gatherer""#]],
    );
    check(
        &guarded("abandoned"),
        expect![[r#"
            Run r-7f3 of `showcase` is over (cancelled). Gatewright no longer guards this session.
            Tell the person how the run ended, with these facts and what led here. `gatewright status r-7f3` shows the rest, `gatewright history r-7f3` every step.
            - the run is over: there is nothing to do"#]],
    );
}

#[test]
fn a_session_that_works_itself_is_told_what_to_leave() {
    let mut definition = definition();
    let tidying = definition
        .stages
        .iter_mut()
        .find(|it| it.name == stage_name("tidying"));
    tidying.unwrap().work = works("session", "", "validated");
    check_of(
        definition,
        &guarded("tidying"),
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `tidying` (running).
            The task: Write the role web
            What comes next:
            - do the work of this stage yourself; produce these artifacts before you end your turn:
              - validated: the file `.work/r-7f3/validated.md`, Markdown with YAML front matter, with the fields source_agent, timestamp; `status` is `FAIL` (failed) or `PASS` (passed)"#]],
    );
}

#[test]
fn work_under_way_is_waited_for() {
    let mut run = guarded("validating");
    let open = dispatch(3, "validator", "validating", Duty::Work);
    run.dispatches.insert(open.id, open);
    check(
        &run,
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `validating` (running).
            The task: Write the role web
            What comes next:
            - wait for 'validator', which is working"#]],
    );
}

#[test]
fn a_run_that_waits_for_a_person_shows_no_way_around() {
    let mut run = guarded("validating");
    run.standing = Standing::Stuck {
        fault: Fault::Missing,
        reason: "nothing\nwas left".to_owned(),
    };
    check(
        &run,
        expect![[r#"
            Gatewright guards this session: run r-7f3 of `showcase` is in stage `validating` (waiting: missing: nothing was left).
            The task: Write the role web
            What comes next:
            - a person must decide: tell them that `gatewright next r-7f3` shows the choices, then end your turn"#]],
    );
    for word in ["skip", "retry", "cancel", "reset", "bypass"] {
        assert!(!session_prompt(&pipeline(), &run).contains(word), "{word}");
    }
}
