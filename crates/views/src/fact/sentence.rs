//! Every fact in words. They may contain text from outside, so they are printed through `safe`.

use std::collections::BTreeMap;

use engine::{
    ArtifactName, CheckEnd, CheckResult, CheckVerdict, CheckedProgram, Dispatch, DispatchId,
    Driver, Entry, Fact, Fault, Hash, Move, MoveReason, Outcome, Routed, Rule, Run, RunId,
    StageName, Started, Step, StepId, Time, Usage, WorkResult,
};

use super::{AgentNames, outside, place};
use crate::paint::Style;
use crate::routed;
use crate::safe::Untrusted;
use crate::time::{duration, rfc3339};
use crate::words::{self, count, short};

/// What is now true, in one sentence without a full stop.
#[rustfmt::skip] // One fact a line is what makes this list readable.
pub(crate) fn sentence(entry: &Entry, names: &AgentNames) -> Untrusted {
    Untrusted::new(match &entry.fact {
        Fact::Started(started) => begun(started),
        Fact::Forked { from, entry, state } => forked(from, *entry, state),
        Fact::TakenUp => "a worker picked up the queued run".into(),
        Fact::Placed(_) | Fact::Relocated(_) | Fact::Delivered(_) | Fact::DeliveryFailed { .. } => place::sentence(&entry.fact),
        Fact::Attached { session, .. } => format!("session {session} holds the run"),
        Fact::Detached { session } => format!("session {session} ended and released the run"),
        Fact::Admitted { dispatch } => admitted(dispatch, names),
        Fact::Began { dispatch, worker } => format!("{} started as worker {worker}", names.worker(*dispatch)),
        Fact::Worked { dispatch } => format!("{} used a tool", names.worker(*dispatch)),
        Fact::SentBack { .. } | Fact::CutShort { .. } | Fact::Limited(_) | Fact::WentOn { .. } | Fact::Driven { .. } => on_the_way(&entry.fact, names),
        Fact::Ended { dispatch, result, usage } =>
            format!("{} {}", names.worker(*dispatch), ended(entry.rule, result, usage)),
        Fact::Captured { artifact, content, dispatch, step, .. } =>
            captured(artifact, content, *dispatch, step.as_ref(), names),
        Fact::Warned { message } => format!("warning: {message}"),
        Fact::Noted { message } => noted(entry.rule, message),
        Fact::Unevaluated { what } => format!("NOT JUDGED, the host continued: {what}"),
        Fact::Unguarded(found) => words::unguarded(found),
        Fact::AcceptedUnguarded { number } => accepted(*number),
        Fact::ChangedOutside(change) => outside::sentence(change, names),
        Fact::Refused { what, reason } => format!("refused to {what}: {reason}"),
        Fact::Retried { stage, fault, reason } => again(stage.as_str(), *fault, reason),
        Fact::StepRetried { stage, step, fault, reason } => again(&of(step, stage), *fault, reason),
        Fact::StepFailed { stage, step, fault, reason } => failed(&of(step, stage), *fault, reason),
        Fact::Stuck { fault, reason } => failed("a person is needed: the work", *fault, reason),
        Fact::Unstuck => "the run can continue".into(),
        Fact::Checked { stage, verdict, results, .. } => checked(stage, *verdict, results),
        Fact::GatePassed { stage, gate } => format!("{stage} passed on {}", words::gate(gate)),
        Fact::ReviewerApproved { stage, reviewer, subject } =>
            format!("{} approved {}", names.reviewer(stage, *reviewer), short(subject)),
        Fact::ReviewerFound { stage, reviewer } => format!("{} found problems", names.reviewer(stage, *reviewer)),
        Fact::Fixed { stage, reviewer } => format!("the owner fixed what {} found", names.reviewer(stage, *reviewer)),
        Fact::RoundStarted { stage, round } => format!("round {round} of {stage} started"),
        Fact::RoundsSpent { stage } => format!("the rounds of {stage} are used up"),
        Fact::Planned { stage, steps } => planned(stage, steps),
        Fact::StepsRevived { stage } => format!("the failed steps of {stage} can be retried"),
        Fact::Routed(decision) => route(entry.rule, decision),
        Fact::Answered { stage, answer, given, words } => said(answered(stage, answer, given), words.as_deref()),
        Fact::Approved { artifact, content } => format!("approved {artifact} as {}", short(content)),
        Fact::Overridden { stage, outcome, reason } => overridden(stage, outcome, reason),
        Fact::TaskGiven { task } => format!("the person gave the task: {task}"),
        Fact::NextTaskGiven { task } | Fact::TaskBegan { task } => next_task(&entry.fact, task),
        Fact::Moved(step) => moved(step),
        Fact::Held { holds } => format!("the session tried to stop and was held (hold {holds})"),
        Fact::Abandoned => "the session stopped before the work was done".into(),
        Fact::WentStale => "nothing happened for longer than the time to live".into(),
        Fact::OverBudget { what } => format!("the budget is used up: {what}"),
        Fact::Halted { reason } => format!("the run was stopped: {reason}"),
        Fact::Continued { budget_again, words } => continued(*budget_again, words.as_deref()),
        Fact::Cancelled { reason } => format!("the run was cancelled because: {reason}"),
        Fact::Reset { reason, stage } => format!("the run was reset to {stage} because: {reason}"),
        Fact::Bypassed { until, reason } => bypassed(*until, entry.at, reason),
        Fact::Checkpointed { name } => format!("checkpoint {name}"),
        Fact::Vouched { environment, programs } => vouched(environment.is_some(), programs),
        Fact::Restored { entry, state, reason } => restored(*entry, state, reason),
        Fact::Adopted { machine, entry } => adopted(machine, *entry),
    })
}

/// A remark tells what somebody did besides the run, such as a merge. The rest is what an event did not change.
fn noted(rule: Rule, message: &str) -> String {
    if rule == Rule::Remarked {
        message.to_owned()
    } else {
        format!("noted without effect: {message}")
    }
}

fn next_task(fact: &Fact, task: &str) -> String {
    let what = match fact {
        Fact::TaskBegan { .. } => "began, with no context of the last one",
        _ => "was given",
    };
    format!("the next task {what}: {task}")
}

/// The colour of a fact in a list.
pub(crate) fn style(fact: &Fact) -> Style {
    match fact {
        Fact::Overridden { .. }
        | Fact::Refused { .. }
        | Fact::StepFailed { .. }
        | Fact::Unevaluated { .. }
        | Fact::Unguarded(_)
        | Fact::AcceptedUnguarded { .. }
        | Fact::Bypassed { .. }
        | Fact::Vouched { .. }
        | Fact::Adopted { .. }
        | Fact::Cancelled { .. } => Style::Bad,
        Fact::Stuck { .. }
        | Fact::Abandoned
        | Fact::WentStale
        | Fact::OverBudget { .. }
        | Fact::DeliveryFailed { .. }
        | Fact::Halted { .. }
        | Fact::RoundsSpent { .. }
        | Fact::Warned { .. }
        | Fact::ChangedOutside(_)
        | Fact::SentBack { .. }
        | Fact::Limited(_)
        | Fact::Retried { .. }
        | Fact::StepRetried { .. } => Style::Wait,
        Fact::Routed(decision) if decision.outcome == Outcome::Otherwise => Style::Wait,
        Fact::Routed(_) => Style::Normal,
        Fact::GatePassed { .. } | Fact::ReviewerApproved { .. } | Fact::Delivered(_) => Style::Good,
        Fact::Checked { verdict, .. } => verdict_style(*verdict),
        Fact::Moved(_) => Style::Strong,
        Fact::Noted { .. }
        | Fact::Held { .. }
        | Fact::Captured { .. }
        | Fact::Began { .. }
        | Fact::Worked { .. }
        | Fact::CutShort { .. }
        | Fact::Driven { .. } => Style::Dim,
        Fact::Started(_)
        | Fact::Forked { .. }
        | Fact::TakenUp
        | Fact::Placed(_)
        | Fact::Relocated(_)
        | Fact::TaskGiven { .. }
        | Fact::NextTaskGiven { .. }
        | Fact::TaskBegan { .. }
        | Fact::Attached { .. }
        | Fact::Detached { .. }
        | Fact::Admitted { .. }
        | Fact::Ended { .. }
        | Fact::Unstuck
        | Fact::WentOn { .. }
        | Fact::ReviewerFound { .. }
        | Fact::Fixed { .. }
        | Fact::RoundStarted { .. }
        | Fact::Planned { .. }
        | Fact::StepsRevived { .. }
        | Fact::Answered { .. }
        | Fact::Approved { .. }
        | Fact::Continued { .. }
        | Fact::Reset { .. }
        | Fact::Checkpointed { .. }
        | Fact::Restored { .. } => Style::Normal,
    }
}

fn route(rule: Rule, decision: &Routed) -> String {
    match rule {
        Rule::RouteKept => routed::kept(decision),
        Rule::Outgrown => routed::outgrown(decision),
        _ => routed::decided(decision),
    }
}

/// A bypass until a time that has passed ends the bypass.
fn bypassed(until: Time, at: Time, reason: &str) -> String {
    if until <= at {
        format!("the run is guarded again because: {reason}")
    } else {
        format!("NOT GUARDED until {} because: {reason}", rfc3339(until))
    }
}

fn accepted(number: u32) -> String {
    let pieces = count(u64::from(number), "piece");
    format!("a person accepted {pieces} of unguarded work")
}

fn verdict_style(verdict: CheckVerdict) -> Style {
    match verdict {
        CheckVerdict::Passed => Style::Good,
        CheckVerdict::Failed => Style::Bad,
        CheckVerdict::Void => Style::Wait,
    }
}

/// One command of a check: `ansible-lint site.yml: exit 2 after 3.4 s`.
pub(crate) fn check_line(result: &CheckResult) -> Untrusted {
    let (argv, took) = (
        engine::shell_words(&result.argv),
        duration(result.duration_ms),
    );
    let (ended, matched) = (ended_as(&result.ended), found_in_output(result));
    Untrusted::new(format!("{argv}: {ended} after {took}{matched}"))
}

/// How a command of a check ended, with what its output meant.
pub(crate) fn check_end(result: &CheckResult) -> String {
    format!("{}{}", ended_as(&result.ended), found_in_output(result))
}

fn ended_as(end: &CheckEnd) -> String {
    match end {
        CheckEnd::Exit(code) => format!("exit {code}"),
        CheckEnd::Signal(signal) => format!("killed by signal {signal}"),
        CheckEnd::TimedOut => "timed out".to_owned(),
        CheckEnd::CouldNotStart(reason) => format!("could not start: {reason}"),
        CheckEnd::EnvironmentLost(reason) | CheckEnd::ProgramUnaccepted(reason) => {
            format!("was not run: {reason}")
        }
    }
}

fn found_in_output(result: &CheckResult) -> String {
    match (&result.lacks, result.matched_failure) {
        (_, true) => ", with a failure in its output".to_owned(),
        (Some(text), false) => format!(", and no command printed “{text}”"),
        (None, false) => String::new(),
    }
}

fn vouched(environment: bool, programs: &[CheckedProgram]) -> String {
    let environment = environment.then(|| "the environment of checks".to_owned());
    let programs = programs.iter().map(|program| program.path.clone());
    let all: Vec<String> = environment.into_iter().chain(programs).collect();
    format!("a person accepted {}", all.join(", "))
}

fn begun(started: &Started) -> String {
    let driver = match started.driver {
        Driver::ByHand => "by hand, unwitnessed",
        Driver::Guarded => "guarded by hooks",
        Driver::Headless => "headless",
    };
    let begun = if started.queued {
        "was queued, to start"
    } else {
        "started"
    };
    format!(
        "the run {begun} at {} ({driver}{}): {}",
        started.stage,
        started
            .branch
            .as_ref()
            .map(place::on_branch)
            .unwrap_or_default(),
        started.task
    )
}

fn forked(from: &RunId, entry: u64, state: &Run) -> String {
    format!(
        "the run continues from entry {entry} of {from}, in {}",
        state.position.stage
    )
}

fn adopted(machine: &str, entry: u64) -> String {
    format!("the run was adopted from {machine} at entry {entry}; what came later there is unknown")
}

fn restored(entry: u64, state: &Run, reason: &str) -> String {
    format!(
        "restored to entry {entry}, in {}, because: {reason}",
        state.position.stage
    )
}

fn overridden(stage: &StageName, outcome: &Outcome, reason: &str) -> String {
    format!("OVERRIDDEN: {stage} skipped as {outcome} because: {reason}")
}

fn admitted(dispatch: &Dispatch, names: &AgentNames) -> String {
    let Dispatch {
        id, agent, stage, ..
    } = dispatch;
    let attempt = names.attempt(dispatch);
    let attempt = attempt.map_or_else(String::new, |attempt| format!(", attempt {attempt}"));
    let service = dispatch.service.as_ref();
    let service = service.map_or_else(String::new, |service| format!(", with {service}"));
    format!(
        "'{agent}' ({id}) was admitted to {stage}{}{attempt}{service}",
        words::duty(&dispatch.duty)
    )
}

/// What happens to work before it ends.
fn on_the_way(fact: &Fact, names: &AgentNames) -> String {
    match fact {
        Fact::SentBack { dispatch, reason } => {
            format!(
                "{} was sent back to work: {reason}",
                names.worker(*dispatch)
            )
        }
        Fact::CutShort { dispatch, usage } => match words::usage(usage) {
            used if used.is_empty() => format!("{} rests", names.worker(*dispatch)),
            used => format!(
                "{} rests; this time it used {used}",
                names.worker(*dispatch)
            ),
        },
        Fact::Limited(limit) => {
            format!(
                "{} is limited: work rests {}",
                limit.service,
                words::limit(limit)
            )
        }
        Fact::WentOn { dispatch, service } => {
            format!("{} continues with {service}", names.worker(*dispatch))
        }
        Fact::Driven { ms } => format!("the run was driven for {}", crate::time::duration(*ms)),
        _ => String::new(),
    }
}

fn ended(rule: Rule, result: &WorkResult, usage: &Usage) -> String {
    let result = match result {
        WorkResult::Outcome(outcome) => format!("ended: {outcome}"),
        WorkResult::Fault { fault, reason } => format!("ended with {}: {reason}", fault.word()),
        WorkResult::Late => "ended after the run had left its stage, without effect".to_owned(),
        WorkResult::Dropped => dropped(rule).to_owned(),
    };
    let usage = words::usage(usage);
    let usage = if usage.is_empty() {
        usage
    } else {
        format!(" ({usage})")
    };
    format!("{result}{usage}")
}

/// Why work ended without a result.
fn dropped(rule: Rule) -> &'static str {
    match rule {
        Rule::SessionOver => "ended with its session, and may start again",
        Rule::NeverBegan => "never started, and may be called again",
        Rule::WorkerInterrupted => "was interrupted by a person, and may start again",
        Rule::Relocated => {
            "was dropped with the machine that drove it, and starts again in a new conversation"
        }
        _ => "was dropped, because a person moved the run",
    }
}

fn captured(
    artifact: &ArtifactName,
    content: &Hash,
    dispatch: Option<DispatchId>,
    step: Option<&StepId>,
    names: &AgentNames,
) -> String {
    let step = step
        .map(|step| format!(" for step {step}"))
        .unwrap_or_default();
    let by = dispatch
        .map(|id| format!(", written by {}", names.worker(id)))
        .unwrap_or_default();
    format!("captured {artifact}{step} as {}{by}", short(content))
}

fn of(step: &StepId, stage: &StageName) -> String {
    format!("step {step} of {stage}")
}

fn again(what: &str, fault: Fault, reason: &str) -> String {
    format!("{what} is retried after {}: {reason}", fault.word())
}

fn failed(what: &str, fault: Fault, reason: &str) -> String {
    format!("{what} failed with {}: {reason}", fault.word())
}

fn checked(stage: &StageName, verdict: CheckVerdict, results: &[CheckResult]) -> String {
    let commands = count(results.len() as u64, "command");
    match verdict {
        CheckVerdict::Passed => format!("the check {stage} passed ({commands})"),
        CheckVerdict::Void => format!("the check {stage} gave no verdict ({commands})"),
        CheckVerdict::Failed => {
            let culprit = results
                .iter()
                .find(|result| !passed(result))
                .map(check_line);
            let culprit = culprit
                .map(|line| format!(": {}", line.raw()))
                .unwrap_or_default();
            format!("the check {stage} failed ({commands}){culprit}")
        }
    }
}

fn passed(result: &CheckResult) -> bool {
    result.ended == CheckEnd::Exit(0) && !result.matched_failure && result.lacks.is_none()
}

fn planned(stage: &StageName, steps: &[Step]) -> String {
    let ids: Vec<_> = steps.iter().map(|step| step.id.as_str()).collect();
    format!(
        "{} of {stage} planned: {}",
        count(steps.len() as u64, "step"),
        ids.join(", ")
    )
}

/// What a person said with it.
fn said(sentence: String, words: Option<&str>) -> String {
    match words {
        Some(words) => format!("{sentence}: \"{words}\""),
        None => sentence,
    }
}

fn answered(stage: &StageName, answer: &Outcome, given: &BTreeMap<String, String>) -> String {
    match given.len() as u64 {
        0 => format!("{stage} was answered: {answer}"),
        number => format!(
            "{stage} was answered: {answer}, {}",
            count(number, "answer")
        ),
    }
}

/// `validating → debugging: failed; fixes is now 1`.
fn moved(step: &Move) -> String {
    let Move {
        from, outcome, to, ..
    } = step;
    let mut parts = vec![outcome.clone()];
    match &step.along {
        MoveReason::Edge => {}
        MoveReason::Full(counter) => parts.push(format!("{counter} is full")),
        MoveReason::Unapproved(artifact) => {
            parts.push(format!("{artifact} has commands that nobody approved"));
        }
        MoveReason::Interrupted => parts.push("back to where it was interrupted".to_owned()),
        MoveReason::StaleGate => parts.push(format!("what {to} had checked has changed")),
        MoveReason::Outgrown(route) => parts.push(format!("it has outgrown the route {route}")),
    }
    parts.extend(
        step.reset
            .iter()
            .map(|counter| format!("{counter} is reset")),
    );
    parts.extend(
        step.counted
            .iter()
            .map(|(counter, value)| format!("{counter} is now {value}")),
    );
    format!("{from} → {to}: {}", parts.join("; "))
}

fn continued(budget_again: bool, words: Option<&str>) -> String {
    let sentence = if budget_again {
        "a person let the run continue and renewed its budget"
    } else {
        "a person let the run continue"
    };
    said(sentence.to_owned(), words)
}
