//! Laws of what hosts tell, broken on purpose: the walk must find each of them too.

use engine::{
    Decision, Event, Evidence, Fact, Happening, Pipeline, Reply, Rule, Run, SessionEvent,
    ToolEvent, WorkEvent, WorkRef, decide,
};

use crate::random::wander;
use crate::small::walk_small;
use crate::world::Judge;

/// Law 1 broken: an agent that nobody admitted may use its tools.
fn strangers_work(pipeline: &Pipeline, run: &Run, event: &Event, seen: &Evidence) -> Decision {
    let decision = decide(pipeline, run, event, seen);
    match (&event.what, &decision.reply) {
        (Happening::Tool(ToolEvent::Requested { .. }), Reply::Refuse(_)) => Decision {
            reply: Reply::Allow,
            ..decision
        },
        _ => decision,
    }
}

/// Law 3 broken: an end that matches nothing ends the work that happens to be open.
fn any_end_counts(pipeline: &Pipeline, run: &Run, event: &Event, seen: &Evidence) -> Decision {
    let decision = decide(pipeline, run, event, seen);
    let (Happening::Work(WorkEvent::Ended { ending, usage, .. }), Rule::Unmatched | Rule::Again) =
        (&event.what, decision.rule)
    else {
        return decision;
    };
    let Some(open) = run.dispatches.keys().next() else {
        return decision;
    };
    let what = Happening::Work(WorkEvent::Ended {
        work: WorkRef::Dispatch(*open),
        ending: ending.clone(),
        usage: *usage,
    });
    let event = Event {
        what,
        ..event.clone()
    };
    decide(pipeline, run, &event, seen)
}

/// Law 3 broken: a call that is asked again is admitted again.
fn calls_count_twice(pipeline: &Pipeline, run: &Run, event: &Event, seen: &Evidence) -> Decision {
    let mut forgetful = run.clone();
    std::sync::Arc::make_mut(&mut forgetful.workers).clear();
    for open in forgetful.dispatches.values_mut() {
        open.call = None;
    }
    match event.what {
        Happening::Work(WorkEvent::Requested { .. }) => decide(pipeline, &forgetful, event, seen),
        _ => decide(pipeline, run, event, seen),
    }
}

/// Law 1 broken: what was refused is not written down.
fn refused_in_silence(pipeline: &Pipeline, run: &Run, event: &Event, seen: &Evidence) -> Decision {
    let mut decision = decide(pipeline, run, event, seen);
    let entries = &mut decision.entries;
    entries.retain(|entry| !matches!(entry.fact, Fact::Refused { .. }));
    decision
}

/// A session is held for ever.
fn never_let_go(pipeline: &Pipeline, run: &Run, event: &Event, seen: &Evidence) -> Decision {
    let fresh = Run {
        holds: 0,
        ..run.clone()
    };
    match event.what {
        Happening::Session(SessionEvent::StopRequested { .. }) => {
            decide(pipeline, &fresh, event, seen)
        }
        _ => decide(pipeline, run, event, seen),
    }
}

/// A session that died holds its run for ever.
fn the_dead_hold(pipeline: &Pipeline, run: &Run, event: &Event, seen: &Evidence) -> Decision {
    let evidence = Evidence {
        holder: None,
        ..seen.clone()
    };
    decide(pipeline, run, event, &evidence)
}

/// Work that nobody can end stays open for ever.
fn the_lost_stay(pipeline: &Pipeline, run: &Run, event: &Event, seen: &Evidence) -> Decision {
    let decision = decide(pipeline, run, event, seen);
    let ended = |fact: &Fact| matches!(fact, Fact::Ended { .. });
    let stops = matches!(
        event.what,
        Happening::Session(SessionEvent::StopRequested { .. })
    );
    if stops && decision.entries.iter().any(|entry| ended(&entry.fact)) {
        Decision {
            reply: Reply::Allow,
            entries: Vec::new(),
            rule: Rule::StopFree,
        }
    } else {
        decision
    }
}

#[test]
fn the_walk_notices_every_broken_law_of_hosts() {
    let laws: [(Judge<'_>, &str); 7] = [
        (&strangers_work, "was not admitted, and used a tool"),
        (&any_end_counts, "ended, and something else was told"),
        (&calls_count_twice, "shares its worker or its call"),
        (&refused_in_silence, "a refusal is not in the journal"),
        (&never_let_go, "the session can never stop"),
        (&the_dead_hold, "nobody can take the run over"),
        (&the_lost_stay, "nobody can ever end"),
    ];
    for (judge, law) in laws {
        match walk_small("open", judge) {
            Ok(_) => panic!("the walk does not notice: {law}"),
            Err(told) => assert!(told.contains(law), "{law}: another was noticed: {told}"),
        }
    }
}

#[test]
fn chance_notices_broken_laws_of_hosts() {
    let laws: [(&str, Judge<'_>); 3] = [
        ("strangers work", &strangers_work),
        ("any end counts", &any_end_counts),
        ("refusals are silent", &refused_in_silence),
    ];
    for (law, judge) in laws {
        let noticed = (1..400).any(|seed| wander(seed, judge).is_err());
        assert!(noticed, "chance does not notice that {law}");
    }
}
