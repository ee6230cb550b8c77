//! What a story expects: the reply and its rule, and every fact that was recorded, in short.

use engine::{CheckVerdict, Decision, Duty, Fact, Reply, WorkResult, is_over, needs};

use crate::guarded::words;
use crate::guarded::world::{Judge, World};

/// Tells a story: each line with what must come of it, as `allow R10 | admitted d1 writer`. A line
/// that only changes the world expects nothing. A line `# in STAGE, STATUS` looks at the run.
pub(super) fn check(pipeline: &str, lines: &[(&str, &str)]) {
    if let Err(wrong) = tell(pipeline, lines, &engine::decide) {
        panic!("{wrong}");
    }
}

/// Tells a story by another judge.
pub(super) fn tell(
    pipeline: &str,
    lines: &[(&str, &str)],
    judge: Judge<'_>,
) -> Result<World, String> {
    let mut world = World::begun(pipeline);
    let mut past: Vec<String> = Vec::new();
    for (line, expected) in lines {
        let came = match line.strip_prefix("# in ") {
            Some(_) => standing(&world),
            None if world.changes(line) => String::new(),
            None => happens(&mut world, line, judge)
                .map_err(|law| format!("{}{line}: {law}", recent(&past)))?,
        };
        let expected = line.strip_prefix("# in ").unwrap_or(expected);
        if came != expected {
            let past = recent(&past);
            return Err(format!(
                "{past}{line}\n  expected: {expected}\n  came:     {came}"
            ));
        }
        past.push(format!("{line}  ->  {came}\n"));
    }
    Ok(world)
}

/// What came before, as far as it helps to understand.
fn recent(past: &[String]) -> String {
    past[past.len().saturating_sub(12)..].concat()
}

fn standing(world: &World) -> String {
    let status = engine::status(&world.pipeline, &world.run);
    format!("{}, {}", world.run.position.stage, status.word())
}

fn happens(world: &mut World, line: &str, judge: Judge<'_>) -> Result<String, String> {
    let event = words::event(world, line);
    let needs = needs(&world.pipeline, &world.run, &event);
    let evidence = world.look(&needs);
    let decision = judge(&world.pipeline, &world.run, &event, &evidence);
    is_for_the_asker(world, line, &decision)?;
    world.take(&decision)?;
    helps(world, &decision)?;
    Ok(short(&decision))
}

/// A worker at work that is refused something is pointed to its own work, and never told to wait for the
/// worker at work, which may be itself.
fn is_for_the_asker(world: &World, line: &str, decision: &Decision) -> Result<(), String> {
    let asks = ["ask ", "tool ", "write ", "used "];
    let asks = asks.iter().any(|word| line.starts_with(word));
    let worker = line.split_once(" by ").filter(|_| asks);
    let worker = worker.and_then(|(_, worker)| worker.split(' ').next());
    let is_at_work = |name: &str| {
        let mut open = world.run.dispatches.values();
        open.any(|open| open.worker.as_ref().is_some_and(|it| it.as_str() == name))
    };
    match &decision.reply {
        Reply::Refuse(refusal) if worker.is_some_and(is_at_work) => {
            let is_right = refusal.own_work && refusal.next.is_empty();
            is_right
                .then_some(())
                .ok_or(format!("a worker that waits: {refusal:?}"))
        }
        Reply::Refuse(_) | Reply::Hold(_) | Reply::Allow | Reply::Inject(_) | Reply::Done => Ok(()),
    }
}

/// A refusal says why, by which rule, and what may happen instead.
fn helps(world: &World, decision: &Decision) -> Result<(), String> {
    match &decision.reply {
        Reply::Refuse(refusal) | Reply::Hold(refusal) => {
            let over = is_over(&world.pipeline, &world.run);
            let told = !refusal.reason.is_empty() && refusal.rule.code().starts_with("GW-R");
            if told && (over || refusal.own_work || !refusal.next.is_empty()) {
                Ok(())
            } else {
                Err(format!("a refusal that does not help: {refusal:?}"))
            }
        }
        Reply::Allow | Reply::Inject(_) | Reply::Done => Ok(()),
    }
}

fn short(decision: &Decision) -> String {
    let rule = decision.rule.code().trim_start_matches("GW-");
    let reply = format!("{} {rule}", decision.reply.word());
    let facts: Vec<String> = decision
        .entries
        .iter()
        .map(|entry| fact(&entry.fact))
        .collect();
    if facts.is_empty() {
        reply
    } else {
        format!("{reply} | {}", facts.join(", "))
    }
}

fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Attached { session, .. } => format!("attached {session}"),
        Fact::Detached { session } => format!("detached {session}"),
        Fact::Admitted { dispatch } => match &dispatch.duty {
            Duty::Step { step } => format!("admitted {} {step}", dispatch.id),
            Duty::Work | Duty::Open | Duty::Review { .. } | Duty::Fix { .. } => {
                format!("admitted {} {}", dispatch.id, dispatch.agent)
            }
        },
        Fact::Began { dispatch, worker } => format!("began {dispatch} {worker}"),
        Fact::Worked { dispatch } => format!("worked {dispatch}"),
        Fact::SentBack { dispatch, .. } => format!("sent back {dispatch}"),
        Fact::Ended {
            dispatch, result, ..
        } => format!("ended {dispatch} {}", word(result)),
        Fact::Captured { artifact, .. } => format!("captured {artifact}"),
        Fact::Retried { fault, .. } => format!("retried {}", fault.word()),
        Fact::StepRetried { step, fault, .. } => format!("retried {step} {}", fault.word()),
        Fact::StepFailed { step, fault, .. } => format!("step {step} {}", fault.word()),
        Fact::Stuck { fault, .. } => format!("stuck {}", fault.word()),
        Fact::Moved(step) => format!("to {}", step.to),
        Fact::Held { holds } => format!("held {holds}"),
        Fact::GatePassed { stage, .. } => format!("gate {stage}"),
        Fact::Overridden { outcome, .. } => format!("overridden {outcome}"),
        Fact::Answered { answer, .. } => format!("answered {answer}"),
        Fact::Checked { verdict, .. } => match verdict {
            CheckVerdict::Passed => "checked well".into(),
            CheckVerdict::Failed => "checked badly".into(),
            CheckVerdict::Void => "checked nothing".into(),
        },
        other => plain(other).into(),
    }
}

fn word(result: &WorkResult) -> &str {
    match result {
        WorkResult::Outcome(outcome) => outcome.as_str(),
        WorkResult::Fault { fault, .. } => fault.word(),
        WorkResult::Late => "late",
        WorkResult::Dropped => "dropped",
    }
}

/// Facts that a story mentions without their content.
fn plain(fact: &Fact) -> &'static str {
    match fact {
        Fact::Refused { .. } => "refused",
        Fact::Warned { .. } => "warned",
        Fact::Noted { .. } => "noted",
        Fact::Unevaluated { .. } => "unevaluated",
        Fact::Unguarded(_) => "unguarded",
        Fact::ChangedOutside(_) => "changed outside",
        Fact::AcceptedUnguarded { .. } => "accepted unguarded",
        Fact::Abandoned => "abandoned",
        Fact::WentStale => "stale",
        Fact::OverBudget { .. } => "over budget",
        Fact::Halted { .. } => "halted",
        Fact::Continued { .. } => "continued",
        Fact::Cancelled { .. } => "cancelled",
        Fact::Reset { .. } => "reset",
        Fact::Restored { .. } => "restored",
        Fact::Adopted { .. } => "adopted",
        Fact::Bypassed { .. } => "bypassed",
        Fact::Checkpointed { .. } => "checkpointed",
        Fact::Vouched { .. } => "vouched",
        Fact::Planned { .. } => "planned",
        Fact::StepsRevived { .. } => "revived",
        Fact::Approved { .. } => "approved",
        Fact::Unstuck => "unstuck",
        Fact::TakenUp => "taken up",
        Fact::TaskGiven { .. } => "task given",
        Fact::NextTaskGiven { .. } => "next task given",
        Fact::TaskBegan { .. } => "task began",
        Fact::ReviewerApproved { .. } => "reviewer approved",
        Fact::ReviewerFound { .. } => "reviewer found",
        Fact::Fixed { .. } => "fixed",
        Fact::RoundStarted { .. } => "round",
        Fact::RoundsSpent { .. } => "rounds spent",
        _ => "something else",
    }
}
