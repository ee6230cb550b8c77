//! What a run would do, as `dry-run` tells it.

use engine::*;
use expect_test::expect;
use serde_json::json;

use super::example::*;
use crate::plan::{NeededProgram, Plan, PlannedWorker, ProgramState, Trust};
use crate::{Paint, Untrusted};

fn worker(stage: &str, who: &str, runner: &str) -> PlannedWorker {
    PlannedWorker {
        stage: stage_name(stage),
        who: Untrusted::new(who),
        runner: Untrusted::new(runner),
        model: None,
        conversation: Conversation::Fresh,
    }
}

fn program(name: &str, state: ProgramState) -> NeededProgram {
    NeededProgram {
        name: Untrusted::new(name),
        needed_for: vec![format!("runs {name}")],
        state,
    }
}

fn plan<'a>(pipeline: &'a Pipeline, run: &'a Run) -> Plan<'a> {
    let found = ProgramState::Found {
        path: Untrusted::new("/usr/bin/claude"),
        version: Some(Untrusted::new("2.1.325 (Claude Code)")),
        caution: None,
    };
    let untested = ProgramState::Found {
        path: Untrusted::new("/usr/bin/gemini"),
        version: Some(Untrusted::new("9.0.0")),
        caution: Some(Untrusted::new("gemini 9.0.0 was not tried")),
    };
    let unfit = ProgramState::Unfit {
        path: Untrusted::new("/usr/bin/gemini"),
        reason: Untrusted::new("it is too old"),
        remedy: Untrusted::new("update it"),
    };
    let missing = ProgramState::Missing {
        install: Untrusted::new("install it"),
    };
    let planner = PlannedWorker {
        model: Some(Untrusted::new("opus")),
        conversation: Conversation::Same,
        ..worker("planning", "'planner'", "claude")
    };
    Plan {
        pipeline,
        run: Some(run),
        task: Some(Untrusted::new(&run.task)),
        origin: Untrusted::new("showcase.toml"),
        trust: Trust::Untrusted(Untrusted::new("showcase.toml is not trusted yet")),
        workers: vec![
            planner,
            worker("reviewing", "'codex-reviewer'", "codex"),
            worker("reviewing", "'debugger'", "claude"),
        ],
        programs: vec![
            program("claude", found),
            program("gemini", untested),
            program("gemini", unfit),
            program("codex", missing),
        ],
        missing: vec![Untrusted::new("codex is missing: install it")],
        remarks: vec![Untrusted::new("the tree is dirty\u{1b}[31m")],
    }
}

#[test]
fn a_plan_tells_stages_limits_and_programs() {
    let (pipeline, run) = (pipeline(), run_in("gathering"));
    expect![[r#"
        showcase: Every kind of stage in one pipeline.
          from      showcase.toml
          trust     showcase.toml is not trusted yet
          mode      enforced
          task      Write the role web
          params    finish = complete
                    limit = 3
                    target = roles/web

        stages, in the order of the file
          gathering (open), the start
              gatherer leaves context
              finish → planning
              after gatherer → planning
          planning (agent)
              'planner' by claude, opus, same conversation
              reads context?, answers?
              leaves plan
              when unclear leaves questions
              done → approving
              unclear → clarifying
          clarifying (ask)
              asks a person: The planner has questions.
              leaves answers
              answered · replans ≤ 3 → planning
          approving (ask)
              asks a person: Is this the plan?
              no · replans ≤ 3 → planning
              yes · approves plan → building
          building (steps)
              reads plan
              each leaves built
              at most 2 at once
              done → validating
              failed → escalate
          validating (agent)
              reads plan, fixed?
              leaves validated
              failed · fixes ≤ 2 → debugging
              passed → linting
          debugging (agent)
              reads validated
              leaves fixed
              done → validating
          linting (check)
              $ ansible-lint '{target}'
              $ yamllint .
              shown as validating
              failed · fixes ≤ 2 → debugging
              passed → reviewing
          reviewing (review)
              'codex-reviewer' by codex
              'debugger' by claude
              reads plan
              a fix leaves fixed
              at most 3 rounds
              approved → tidying
              exceeded → escalate
              needs_clarification → escalate
          tidying (agent)
              done → {finish}
          escalate (ask)
              asks a person: It does not get better. Continue, or stop?
              continue · resets fixes → where it was interrupted
              give-up → broken
              stop → abandoned
          complete (end)
              after gatherer → planning
          abandoned (end)
          broken (end)

        limits
          loops     fixes 2, then escalate
                    replans 3, then escalate
          budget    turns 40, cost 5.00

        programs
          ✓ claude (runs claude): /usr/bin/claude, 2.1.325 (Claude Code)
          ✓ gemini (runs gemini): /usr/bin/gemini, 9.0.0; gemini 9.0.0 was not tried
          ✗ gemini (runs gemini): it is too old; update it
          ✗ codex (runs codex): missing; install it

        note: the tree is dirty
        not ready; nothing was started
          - codex is missing: install it
    "#]]
    .assert_eq(&plan(&pipeline, &run).text(Paint::Plain));
}

#[test]
fn a_plan_that_lacks_nothing_is_ready() {
    let (pipeline, run) = (pipeline(), run_in("gathering"));
    let plan = Plan {
        missing: Vec::new(),
        programs: Vec::new(),
        trust: Trust::Shipped,
        ..plan(&pipeline, &run)
    };
    assert!(plan.is_ready());
    let text = plan.text(Paint::Plain);
    assert!(!text.contains("not ready"), "{text}");
    assert!(text.contains("trusted as shipped"), "{text}");
}

#[test]
fn a_plan_for_programs_has_the_same_facts() {
    let (pipeline, run) = (pipeline(), run_in("gathering"));
    let told = plan(&pipeline, &run).json();
    assert_eq!(told["ready"], false);
    assert_eq!(told["trust"]["is"], "untrusted");
    assert_eq!(told["budget"]["turns"], 40);
    assert_eq!(told["budget"]["cost_cents"], 500);
    assert_eq!(told["counters"][0]["then"], "escalate");
    assert_eq!(told["programs"][3]["found"], false);
    let reviewing = told["stages"].as_array().unwrap().iter();
    let reviewing = reviewing.clone().find(|stage| stage["name"] == "reviewing");
    let reviewing = reviewing.unwrap();
    assert_eq!(reviewing["rounds"], 3);
    assert_eq!(reviewing["reads"], json!(["plan"]));
    assert_eq!(reviewing["workers"][0]["runner"], "codex");
    assert_eq!(
        reviewing["ways"][0],
        json!({"on": "approved", "to": "tidying", "counts": null})
    );
}
