//! A run with a branch of its own begins in its worktree, and its work is delivered when it is over.

use std::collections::BTreeMap;

use engine::{
    Beginning, Decision, Delivered, DeliveryState, Driver, EngineEvent, Event, Evidence, Happening,
    HostName, Next, OnMachine, PersonEvent, Pipeline, Relocation, Reply, Rule, Run, RunBranch,
    RunId, Standing, Time, Who, WorkEvent,
};

use super::audit::built_in;
use super::world::hash;

fn begun(pipeline: &Pipeline, branch: Option<RunBranch>) -> Run {
    let beginning = Beginning {
        at: Time(0),
        by: Who::Person(String::from("ada")),
        id: RunId::parse("r-1").unwrap(),
        definition: hash(0),
        task: String::from("try"),
        params: super::world::small_params(pipeline),
        driver: Driver::Headless,
        host: HostName::listed("claude"),
        process: None,
        session: None,
        steps: Vec::new(),
        before: BTreeMap::new(),
        queued: true,
        environment: None,
        base: None,
        commit: None,
        branch,
        unverified_host: None,
    };
    engine::replay(&engine::begin(pipeline, &beginning).entries).unwrap()
}

fn branch() -> RunBranch {
    RunBranch {
        name: String::from("gatewright/r-1"),
        base: String::from("0123"),
        from: None,
        with_changes: false,
    }
}

fn decided(pipeline: &Pipeline, run: &Run, by: Who, what: Happening) -> (Run, Decision) {
    let event = Event {
        at: Time(1),
        by,
        what,
    };
    let decision = engine::decide(pipeline, run, &event, &Evidence::default());
    let fold = |run, entry| engine::apply(Some(run), entry).unwrap();
    (decision.entries.iter().fold(run.clone(), fold), decision)
}

fn done(pipeline: &Pipeline, run: &Run, event: EngineEvent) -> Run {
    let (run, decision) = decided(pipeline, run, Who::Engine, Happening::Engine(event));
    assert_eq!(decision.reply, Reply::Done, "{:?}", decision.entries);
    run
}

fn refused(pipeline: &Pipeline, run: &Run, event: EngineEvent, rule: Rule) {
    let (after, decision) = decided(pipeline, run, Who::Engine, Happening::Engine(event));
    assert!(matches!(decision.reply, Reply::Refuse(_)), "{decision:?}");
    assert_eq!(decision.rule, rule);
    assert_eq!(after.place, run.place);
}

fn placed() -> EngineEvent {
    EngineEvent::Placed {
        folder: String::from("/places/r-1/p"),
        on: None,
    }
}

fn on(machine: &str) -> OnMachine {
    OnMachine {
        machine: String::from(machine),
        name: String::from(machine),
        environment: hash(7),
    }
}

fn relocated(machine: &str) -> EngineEvent {
    EngineEvent::Relocated(Relocation {
        folder: String::from("/elsewhere/r-1/p"),
        on: on(machine),
        commit: String::from("89ab"),
    })
}

fn delivered() -> EngineEvent {
    EngineEvent::Delivered(Delivered {
        commit: String::from("4567"),
        pushed: None,
        request: None,
    })
}

fn cancelled(pipeline: &Pipeline, run: &Run) -> Run {
    let asked = PersonEvent::CancelAsked {
        reason: String::from("enough"),
    };
    let by = Who::Person(String::from("ada"));
    decided(pipeline, run, by, Happening::Person(asked)).0
}

#[test]
fn a_run_begins_when_its_worktree_is_there_and_has_one() {
    let pipeline = built_in("multi-ai");
    let run = begun(&pipeline, Some(branch()));
    refused(&pipeline, &run, EngineEvent::TakenUp, Rule::TakeUp);
    let run = done(&pipeline, &run, placed());
    assert!(!run.is_unplaced());
    refused(&pipeline, &run, placed(), Rule::Placed);
    let run = done(&pipeline, &run, EngineEvent::TakenUp);
    assert_eq!(run.standing, Standing::Going);
    refused(&pipeline, &run, placed(), Rule::Placed);
    // A run in the person's tree has none.
    let run = begun(&pipeline, None);
    refused(&pipeline, &run, placed(), Rule::Placed);
    done(&pipeline, &run, EngineEvent::TakenUp);
}

#[test]
fn only_a_run_that_is_over_is_delivered_and_a_failed_delivery_can_be_repeated() {
    let pipeline = built_in("multi-ai");
    let run = done(&pipeline, &begun(&pipeline, Some(branch())), placed());
    refused(&pipeline, &run, delivered(), Rule::Delivered);
    let run = cancelled(&pipeline, &run);
    let failed = EngineEvent::DeliveryFailed {
        reason: String::from("no login"),
    };
    let run = done(&pipeline, &run, failed.clone());
    let state = |run: &Run| run.place.as_ref().unwrap().delivery.clone();
    assert!(matches!(state(&run), DeliveryState::Failed { .. }));
    let run = done(&pipeline, &run, delivered());
    assert!(matches!(state(&run), DeliveryState::Done(_)));
    let run = cancelled(&pipeline, &begun(&pipeline, None));
    refused(&pipeline, &run, delivered(), Rule::Delivered);
    refused(&pipeline, &run, failed, Rule::DeliveryFailed);
}

#[test]
fn a_reset_before_the_worktree_is_there_leaves_the_run_queued() {
    let pipeline = built_in("multi-ai");
    let reset = |run: &Run| {
        let asked = PersonEvent::ResetAsked {
            reason: String::from("again"),
        };
        let by = Who::Person(String::from("ada"));
        decided(&pipeline, run, by, Happening::Person(asked)).0
    };
    assert_eq!(
        reset(&begun(&pipeline, Some(branch()))).standing,
        Standing::Queued
    );
    let placed = done(&pipeline, &begun(&pipeline, Some(branch())), placed());
    assert_eq!(reset(&placed).standing, Standing::Going);
}

#[test]
fn another_machine_goes_on_and_drops_what_was_at_work() {
    let pipeline = built_in("multi-ai");
    let run = begun(&pipeline, Some(branch()));
    // A run at home has no machine that it could leave, and one that no machine has begun is not moved.
    refused(&pipeline, &run, relocated("two"), Rule::Relocated);
    let home = done(&pipeline, &run, placed());
    refused(&pipeline, &home, relocated("two"), Rule::Relocated);

    let there = EngineEvent::Placed {
        folder: String::from("/places/r-1/p"),
        on: Some(on("one")),
    };
    let run = done(&pipeline, &run, there);
    let run = done(&pipeline, &run, EngineEvent::TakenUp);
    refused(&pipeline, &run, relocated("one"), Rule::Relocated);
    let at_work = working(&pipeline, &run);
    assert!(!at_work.dispatches.is_empty());
    let moved = done(&pipeline, &at_work, relocated("two"));
    assert!(moved.dispatches.is_empty());
    assert_eq!(moved.position.stage, at_work.position.stage);
    assert_eq!(moved.environment, Some(hash(7)));
    let place = moved.place.clone().unwrap();
    assert_eq!(place.machine.as_deref(), Some("two"));
    assert_eq!(place.folder.as_deref(), Some("/elsewhere/r-1/p"));
    // It costs no attempt: the next one is the same that was dropped.
    let again = working(&pipeline, &moved);
    let attempts = |run: &Run| {
        run.dispatches
            .values()
            .map(|it| it.attempt)
            .collect::<Vec<_>>()
    };
    assert_eq!(attempts(&again), attempts(&at_work));
}

/// The run with its next piece of work begun.
fn working(pipeline: &Pipeline, run: &Run) -> Run {
    let agents = engine::next(pipeline, run)
        .into_iter()
        .find_map(|next| match next {
            Next::Agent { agent, .. } => Some(agent),
            _ => None,
        });
    let what = Happening::Work(WorkEvent::Requested {
        agent: agents.unwrap(),
        step: None,
        model: None,
        call: None,
        worker: None,
        service: None,
    });
    let (run, decision) = decided(pipeline, run, Who::Engine, what);
    assert_eq!(decision.reply, Reply::Allow, "{decision:?}");
    run
}
