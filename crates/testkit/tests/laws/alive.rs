//! Staying alive: whatever a host told, somebody can go on, take the run over, and stop.

use engine::{BindingState, Next, NextDuty, Pipeline, Reply};

use crate::hosted::{Arrival, Background, Hosted, told};
use crate::world::{Judge, World};

/// Nothing in this state keeps everybody for ever.
pub(crate) fn stays_alive(
    pipeline: &Pipeline,
    world: &World,
    judge: Judge<'_>,
) -> Result<(), String> {
    let after = |world: &World, hosted: &Hosted| {
        let (event, evidence) = told(pipeline, world, hosted);
        let decision = judge(pipeline, &world.run, &event, &evidence);
        (world.after(&decision), decision.reply)
    };
    let (taken, reply) = after(world, &Hosted::Comes(Arrival::Successor));
    if matches!(reply, Reply::Refuse(_)) {
        return Err(String::from("nobody can take the run over"));
    }
    goes_on(pipeline, &taken, judge)?;
    let holder = world.run.session.as_ref();
    if holder.is_none_or(|holder| holder.state == BindingState::Ended) {
        return Ok(());
    }
    let mut stopping = world.clone();
    for _ in 0..4 {
        let (stopped, reply) = after(&stopping, &Hosted::Stops(Background::Idle));
        stopping = stopped;
        goes_on(pipeline, &stopping, judge)?;
        if reply == Reply::Allow {
            return Ok(());
        }
    }
    Err(String::from("the session can never stop"))
}

/// No work is left open, and the reported next step is legal.
fn goes_on(pipeline: &Pipeline, world: &World, judge: Judge<'_>) -> Result<(), String> {
    if let Some(open) = world.run.dispatches.values().next() {
        return Err(format!("nobody can ever end {}", open.id));
    }
    for next in engine::next(pipeline, &world.run) {
        let Next::Agent { agent, duty, .. } = next else {
            continue;
        };
        let step = match duty {
            NextDuty::Step { step, .. } => Some(step.to_string()),
            NextDuty::Work | NextDuty::Review { .. } | NextDuty::Fix { .. } => None,
        };
        let asks = Hosted::Asks {
            agent: agent.to_string(),
            step,
            call: String::from("c-next"),
        };
        let (event, evidence) = told(pipeline, world, &asks);
        let reply = judge(pipeline, &world.run, &event, &evidence).reply;
        if reply != Reply::Allow {
            return Err(format!("{agent} is next, and is refused: {reply:?}"));
        }
    }
    Ok(())
}
