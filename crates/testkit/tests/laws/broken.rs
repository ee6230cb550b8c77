//! Laws broken on purpose: the walk must find each of them, or it would find nothing.

use engine::{
    AgentName, Change, Conversation, Decision, Dispatch, DispatchId, Duty, Entry, Event, Evidence,
    Fact, Gate, Happening, Pipeline, Reply, Rule, Run, Seen, TreeAccess, Who, WorkEvent, WorkRef,
    decide,
};
use std::collections::BTreeMap;

use crate::acts::Scope;
use crate::random::wander;
use crate::small::{walk_promised, walk_routed};
use crate::walk::walk;
use crate::world::{Judge, session, small_params};

/// Law 2 broken: every caller counts as the session that holds the run.
fn anybody_counts(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    let by = match &event.by {
        Who::Session(_) => run.session.as_ref().map_or_else(
            || event.by.clone(),
            |binding| Who::Session(binding.session.clone()),
        ),
        other => other.clone(),
    };
    decide(
        pipeline,
        run,
        &Event {
            by,
            ..event.clone()
        },
        evidence,
    )
}

/// Law 3 broken: an agent's word is taken for what it left.
fn words_count(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    let mut believed = evidence.clone();
    for seen in believed.artifacts.values_mut() {
        if matches!(event.what, Happening::Work(WorkEvent::Ended { .. })) && *seen == Seen::Absent {
            *seen = Seen::Valid {
                content: crate::world::hash(12),
                word: Some("PASS".into()),
            };
        }
    }
    decide(pipeline, run, event, &believed)
}

/// Law 3 broken: a completion without a dispatch is given one.
fn strays_count(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    let first = decide(pipeline, run, event, evidence);
    let Happening::Work(WorkEvent::Ended {
        work: WorkRef::Agent { agent, step },
        ..
    }) = &event.what
    else {
        return first;
    };
    if first.rule != Rule::Unmatched {
        return first;
    }
    let request = Happening::Work(WorkEvent::Requested {
        agent: agent.clone(),
        step: step.clone(),
        model: None,
        call: None,
        worker: None,
        service: None,
    });
    let request = Event {
        what: request,
        ..event.clone()
    };
    let admitted = decide(pipeline, run, &request, &Evidence::default());
    let fold = |run, entry: &Entry| engine::apply(Some(run), entry).unwrap();
    let after = admitted.entries.iter().fold(run.clone(), fold);
    let looked = engine::needs(pipeline, &after, event);
    let valid = |name| {
        (
            name,
            Seen::Valid {
                content: crate::world::hash(10),
                word: Some("PASS".into()),
            },
        )
    };
    let artifacts = looked
        .artifacts
        .into_iter()
        .map(|need| valid(need.artifact))
        .collect();
    let evidence = Evidence {
        artifacts,
        ..evidence.clone()
    };
    let mut second = decide(pipeline, &after, event, &evidence);
    second.entries.splice(0..0, admitted.entries);
    second
}

/// Law 1 broken: what is refused is let through all the same.
fn open_door(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    let decision = decide(pipeline, run, event, evidence);
    let Happening::Work(WorkEvent::Requested { agent, .. }) = &event.what else {
        return decision;
    };
    if !matches!(decision.reply, Reply::Refuse(_)) {
        return decision;
    }
    let fact = Fact::Admitted {
        dispatch: Box::new(forged(run, agent)),
    };
    let entry = Entry {
        at: event.at,
        by: event.by.clone(),
        rule: Rule::AgentInTurn,
        fact,
    };
    Decision {
        reply: Reply::Allow,
        entries: vec![entry],
        rule: Rule::AgentInTurn,
    }
}

fn forged(run: &Run, agent: &AgentName) -> Dispatch {
    Dispatch {
        id: DispatchId(run.last_dispatch.0 + 1),
        duty: Duty::Open,
        agent: agent.clone(),
        stage: run.position.stage.clone(),
        visit: run.position.visit,
        attempt: 1,
        call: None,
        worker: None,
        worked: false,
        sent_back: 0,
        session: Some(session(1)),
        started_at: engine::Time(0),
        paused_at: None,
        service: None,
        conversation: Conversation::Fresh,
        reach: TreeAccess::ReadsOnly,
        tree: None,
        before: BTreeMap::new(),
    }
}

/// Law 3 broken: an approval is believed whatever the tree is now.
fn old_approvals_count(
    pipeline: &Pipeline,
    run: &Run,
    event: &Event,
    evidence: &Evidence,
) -> Decision {
    let gate = run.gates.values().find_map(|gate| match gate {
        Gate::Tree(tree) | Gate::Superseded(tree) => Some(*tree),
        Gate::Artifact { .. } => None,
    });
    let tree = gate.or(evidence.tree);
    decide(
        pipeline,
        run,
        event,
        &Evidence {
            tree,
            ..evidence.clone()
        },
    )
}

/// Law 3 broken: a promise is only read, and any later gate stands in for the one that it names.
fn promises_are_words(
    pipeline: &Pipeline,
    run: &Run,
    event: &Event,
    evidence: &Evidence,
) -> Decision {
    let mut definition = pipeline.definition().clone();
    definition.proofs.clear();
    decide(&Pipeline::from_cache(definition), run, event, evidence)
}

/// Nobody is asked about work that no hook guarded.
fn unguarded_work_counts(
    pipeline: &Pipeline,
    run: &Run,
    event: &Event,
    evidence: &Evidence,
) -> Decision {
    let mut decision = decide(pipeline, run, event, evidence);
    let asks = |entry: &Entry| matches!(entry.fact, Fact::Halted { .. });
    decision.entries.retain(|entry| !asks(entry));
    decision
}

#[test]
fn the_walk_notices_a_gate_that_stands_in_for_another() {
    match walk_promised(&promises_are_words) {
        Ok(_) => panic!("the walk does not notice a broken promise"),
        Err(told) => assert!(told.contains("did not pass on this tree"), "{told}"),
    }
}

/// A route is decided once, and nobody looks again.
fn nothing_grows(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    let believed = Evidence {
        change: evidence.change.as_ref().map(|_| Change::none()),
        ..evidence.clone()
    };
    decide(pipeline, run, event, &believed)
}

/// An agent decides a route: its own event moves the run past it.
fn agents_choose(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    match engine::pending(pipeline, run) {
        Some(what) if matches!(event.what, Happening::Work(_)) => {
            let event = Event {
                what,
                ..event.clone()
            };
            decide(pipeline, run, &event, evidence)
        }
        Some(_) | None => decide(pipeline, run, event, evidence),
    }
}

#[test]
fn the_walk_notices_a_route_that_is_not_looked_at_again_and_one_that_an_agent_chooses() {
    let laws: [(Judge<'_>, &str); 2] = [
        (&nothing_grows, "has outgrown"),
        (&agents_choose, "without a checked outcome"),
    ];
    for (judge, law) in laws {
        match walk_routed(judge) {
            Ok(_) => panic!("the walk does not notice that a route {law}"),
            Err(told) => assert!(told.contains(law), "another law was noticed: {told}"),
        }
    }
}

fn check_walk_finds(name: &str, scope: Scope, judge: Judge<'_>, law: &str) {
    let builtin = language::builtin::find(name).expect("a built-in");
    let pipeline = language::compile(&builtin.sources())
        .expect("it passes lint")
        .pipeline;
    match walk(&pipeline, &small_params(&pipeline), scope, judge) {
        Ok(_) => panic!("{name}: the walk does not notice that {law}"),
        Err(told) => assert!(
            told.contains(law),
            "{name}: another law was noticed: {told}"
        ),
    }
}

#[test]
fn the_walk_notices_another_session_that_counts() {
    check_walk_finds(
        "ansible",
        Scope::Sessions,
        &anybody_counts,
        "does not hold the run and wrote to it",
    );
}

#[test]
fn the_walk_notices_words_that_count() {
    check_walk_finds(
        "ansible",
        Scope::Work,
        &words_count,
        "was captured and seen as",
    );
}

#[test]
fn the_walk_notices_strays_that_count() {
    check_walk_finds(
        "context-first",
        Scope::Work,
        &strays_count,
        "was captured and seen as",
    );
}

#[test]
fn the_walk_notices_an_open_door() {
    check_walk_finds(
        "context-first",
        Scope::Work,
        &open_door,
        "was admitted and has no part in",
    );
}

#[test]
fn the_walk_notices_old_approvals_that_count() {
    check_walk_finds(
        "ansible",
        Scope::Work,
        &old_approvals_count,
        "looked at another tree",
    );
}

#[test]
fn chance_notices_every_broken_law() {
    let laws: [(&str, Judge<'_>); 5] = [
        ("another session counts", &anybody_counts),
        ("words count", &words_count),
        ("strays count", &strays_count),
        ("the door is open", &open_door),
        ("unguarded work counts", &unguarded_work_counts),
    ];
    for (law, judge) in laws {
        let noticed = (1..400).any(|seed| wander(seed, judge).is_err());
        assert!(noticed, "chance does not notice that {law}");
    }
}
