//! Folding causes: the run remembers what led it here, as far as the next one must know it.
//!
//! A run's state is read at every event, so texts and lists are bounded. The journal has the whole.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use crate::cause::{CommandEnd, Happened, Passage};
use crate::change::{Change, Routed};
use crate::check_result::{CheckResult, CheckVerdict};
use crate::entry::{Entry, Fact, Move, WorkResult};
use crate::names::DispatchId;
use crate::rule::Rule;
use crate::run::Run;

/// The stages that are remembered: those since an agent last worked, and what people said before.
const MOST_PASSAGES: usize = 8;

/// What is remembered of one visit of a stage.
const MOST_HAPPENED: usize = 8;

/// How many commands that did not pass keep the end of their output.
const MOST_TAILS: usize = 3;

/// How many changed paths are remembered.
const MOST_PATHS: usize = 20;

const TAIL_CHARACTERS: usize = 3_000;
const REASON_CHARACTERS: usize = 2_000;
const WORDS_CHARACTERS: usize = 8_000;

/// Takes note of an entry before it is folded: an end still finds its open dispatch, and a move the
/// stage that it leaves.
pub(super) fn note(run: &mut Run, entry: &Entry) {
    let by = || entry.by.name();
    let happened = match &entry.fact {
        Fact::Moved(step) => return leave(run, step),
        Fact::Ended {
            dispatch, result, ..
        } => ended(run, *dispatch, result),
        Fact::Checked {
            verdict, results, ..
        } => Some(Happened::Checked {
            verdict: *verdict,
            commands: commands(results),
        }),
        // That a route still holds leads nowhere.
        Fact::Routed(_) if entry.rule == Rule::RouteKept => None,
        Fact::Routed(routed) => Some(Happened::Routed(shortened(routed))),
        Fact::Stuck { fault, reason } => Some(Happened::Failed {
            agent: None,
            step: None,
            fault: *fault,
            reason: reason.clone(),
        })
        .filter(|_| !knows(run, reason)),
        Fact::Answered { answer, words, .. } => Some(Happened::Answered {
            by: by(),
            choice: answer.clone(),
            words: words.as_deref().map(|it| start(it, WORDS_CHARACTERS)),
        }),
        Fact::Overridden {
            outcome, reason, ..
        } => Some(Happened::Skipped {
            by: by(),
            outcome: outcome.clone(),
            reason: start(reason, REASON_CHARACTERS),
        }),
        Fact::Unstuck => Some(Happened::Continued {
            by: by(),
            words: None,
        }),
        Fact::Continued { words, .. } => Some(Happened::Continued {
            by: by(),
            words: words.as_deref().map(|it| start(it, WORDS_CHARACTERS)),
        }),
        _ => None,
    };
    if let Some(happened) = happened {
        remember(&mut run.position.happened, happened);
    }
}

/// A person sent the run somewhere: nothing else led it there.
pub(super) fn sent(run: &mut Run, happened: Happened) {
    remember(&mut run.position.happened, happened);
}

/// The oldest work gives way first: what failed and what people said is worth more.
fn remember(all: &mut Vec<Happened>, happened: Happened) {
    all.push(happened);
    if all.len() > MOST_HAPPENED {
        let is_work = |it: &Happened| matches!(it, Happened::Worked { .. });
        let oldest = all.iter().position(is_work).unwrap_or(0);
        all.remove(oldest);
    }
}

/// Is this already known as the reason of a fault?
fn knows(run: &Run, reason: &str) -> bool {
    let reason = start(reason, REASON_CHARACTERS);
    let mut happened = run.position.happened.iter();
    happened.any(|it| matches!(it, Happened::Failed { reason: known, .. } if *known == reason))
}

/// Work of an earlier visit, or work that was dropped, led nowhere.
fn ended(run: &Run, id: DispatchId, result: &WorkResult) -> Option<Happened> {
    let open = run.dispatches.get(&id)?;
    if open.visit != run.position.visit {
        return None;
    }
    let (agent, step) = (open.agent.clone(), open.duty.step().cloned());
    match result {
        WorkResult::Outcome(outcome) => {
            let captured = run.artifacts.iter();
            let own = captured.filter(|(_, captured)| captured.dispatch == Some(id));
            Some(Happened::Worked {
                agent,
                step,
                outcome: outcome.clone(),
                left: own.map(|(name, it)| (name.clone(), it.content)).collect(),
            })
        }
        WorkResult::Fault { fault, reason } => Some(Happened::Failed {
            agent: Some(agent),
            step,
            fault: *fault,
            reason: start(reason, REASON_CHARACTERS),
        }),
        WorkResult::Late | WorkResult::Dropped => None,
    }
}

/// The first paths stand for all: the journal has them.
fn shortened(routed: &Routed) -> Routed {
    let mut routed = routed.clone();
    if let Some(Change::Seen { paths, .. }) = &mut routed.change {
        paths.truncate(MOST_PATHS);
    }
    routed
}

fn commands(results: &[CheckResult]) -> Vec<CommandEnd> {
    let mut tails = 0;
    let command = |result: &CheckResult| {
        let mut command = CommandEnd {
            argv: result.argv.clone(),
            ended: result.ended.clone(),
            matched_failure: result.matched_failure,
            lacks: result.lacks.clone(),
            tail: String::new(),
        };
        if !command.has_passed() && tails < MOST_TAILS {
            tails += 1;
            command.tail = end(&result.tail, TAIL_CHARACTERS);
        }
        command
    };
    results.iter().map(command).collect()
}

/// The run leaves its stage. What an agent did answers for what led to its work, except that a check
/// which failed stays open until it passes, and a person's words hold for all who come later.
fn leave(run: &mut Run, step: &Move) {
    let passage = Passage {
        stage: step.from.clone(),
        outcome: step.outcome.clone(),
        along: step.along.clone(),
        happened: core::mem::take(&mut run.position.happened),
    };
    let checked = passage.verdict().is_some();
    let has_worked = passage.has_worked();
    run.trail.retain(|earlier| {
        let again = checked && earlier.stage == passage.stage && earlier.verdict().is_some();
        let is_open = earlier.verdict() == Some(CheckVerdict::Failed);
        !again && (!has_worked || is_open || earlier.has_words())
    });
    run.trail.push(passage);
    if run.trail.len() > MOST_PASSAGES {
        run.trail.remove(0);
    }
}

fn start(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => text[..at].to_string() + "…",
        None => text.to_string(),
    }
}

fn end(text: &str, characters: usize) -> String {
    let all = text.chars().count();
    match text.char_indices().nth(all.saturating_sub(characters)) {
        Some((at, _)) if at > 0 => String::from("…") + &text[at..],
        _ => text.to_string(),
    }
}
