//! People: answers, overrides, and the commands that only a person may give.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::moving::{Exit, compare_again, leave, leave_anyway, take, unguarded, withhold};
use super::work_end::words;
use super::{Draft, Verdict, edits, panel, session};
use crate::budget::is_capped;
use crate::cause::MoveReason;
use crate::check_result::CheckedProgram;
use crate::entry::Fact;
use crate::event::{Answer, Words};
use crate::evidence::Question;
use crate::names::{ArtifactName, CheckpointName, Hash, Time};
use crate::nearest::nearest;
use crate::outcome::Outcome;
use crate::rule::Rule;
use crate::run::{Run, Standing};
use crate::stage::{Questions, Stage, WordsRule, Work};
use crate::status::{is_completed, is_over};

pub(super) fn answered(draft: &mut Draft<'_>, answer: &Answer) -> Verdict {
    if let Err(verdict) = draft.person("answer") {
        return verdict;
    }
    match (answer, &draft.run.standing) {
        (Answer::Continue { words }, _) => go_on(draft, words.as_ref()),
        (_, Standing::Stale) => {
            let reason = String::from("the run is stale: type `gatewright answer continue` first");
            draft.refuse(Rule::WentStale, "answer", reason)
        }
        (Answer::Choice { choice, words }, _) => choose(draft, choice, words.as_ref()),
        (Answer::Answers { given, content }, _) => questions(draft, given, *content),
    }
}

fn go_on(draft: &mut Draft<'_>, words: Option<&String>) -> Verdict {
    match &draft.run.standing {
        Standing::Halted { reason } => {
            if unguarded(draft).as_ref() == Some(reason) {
                accept_unguarded(draft);
            }
            continued(draft, words);
            if is_completed(draft.pipeline, &draft.run.position.stage) {
                compare_again(draft);
                withhold(draft);
            }
            Verdict::done(Rule::Continue)
        }
        Standing::Stale | Standing::Abandoned | Standing::OverBudget { .. } => {
            continued(draft, words);
            Verdict::done(Rule::Continue)
        }
        Standing::Queued
        | Standing::Going
        | Standing::Stuck { .. }
        | Standing::Cancelled { .. } => {
            if draft.run.open_unguarded().next().is_some() {
                accept_unguarded(draft);
                return Verdict::done(Rule::AcceptUnguarded);
            }
            let reason = String::from("the run was not stopped, so there is nothing to continue");
            draft.refuse(Rule::NothingToContinue, "continue", reason)
        }
    }
}

fn continued(draft: &mut Draft<'_>, words: Option<&String>) {
    // A cap on all runs is not the budget of this one, which stays as it is.
    let budget_again = matches!(draft.run.standing, Standing::OverBudget { .. })
        && !is_capped(draft.pipeline, &draft.run);
    let words = words.filter(|words| !words.trim().is_empty()).cloned();
    let fact = Fact::Continued {
        budget_again,
        words,
    };
    draft.record(Rule::Continue, fact);
}

/// The person's word about all the work that no hook guarded so far.
fn accept_unguarded(draft: &mut Draft<'_>) {
    let number = u32::try_from(draft.run.open_unguarded().count()).unwrap_or(u32::MAX);
    draft.record(Rule::AcceptUnguarded, Fact::AcceptedUnguarded { number });
}

pub(super) fn nothing_asked(draft: &mut Draft<'_>) -> Verdict {
    let reason = format!("{} asks nothing", draft.run.position.stage);
    draft.refuse(Rule::NothingAsked, "answer", reason)
}

fn choose(draft: &mut Draft<'_>, choice: &Outcome, words: Option<&Words>) -> Verdict {
    let asked = draft.stage().and_then(|stage| {
        let ask = stage.work.as_ask().filter(|ask| ask.is_choice())?;
        Some((stage, ask))
    });
    let going = draft.run.standing == Standing::Going;
    let Some((stage, ask)) = asked.filter(|_| going) else {
        return nothing_asked(draft);
    };
    if !stage.choices().contains(&choice) {
        let reason = not_a_choice(stage, choice);
        return draft.refuse(Rule::AnswerUnknown, "answer", reason);
    }
    let said = words.filter(|words| !words.text.trim().is_empty());
    let rule = stage.on.get(choice).map(|edge| edge.words);
    if rule == Some(WordsRule::Required) && said.is_none() {
        let reason = format!("'{choice}' needs your words: type them behind it, in quotes");
        return draft.refuse(Rule::WordsMissing, "answer", reason);
    }
    if let Some(refused) = edits::untaken(draft, Some(choice)) {
        return refused;
    }
    if let (Some(artifact), Some(words)) = (ask.leaves(), said) {
        keep_answer(draft, artifact, words.content);
    }
    let fact = Fact::Answered {
        stage: stage.name.clone(),
        answer: choice.clone(),
        given: BTreeMap::new(),
        words: said.map(|words| words.text.clone()),
    };
    draft.record(Rule::Answer, fact);
    leave(draft, choice);
    Verdict::done(Rule::Answer)
}

fn not_a_choice(stage: &Stage, choice: &Outcome) -> String {
    let choices = stage.choices();
    let near = nearest(choice.as_str(), choices.iter().map(|it| it.as_str()));
    let near = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    format!("'{choice}' is not a choice: {}{near}", words(choices))
}

/// A person's answer becomes an artifact that later workers read.
fn keep_answer(draft: &mut Draft<'_>, artifact: &ArtifactName, content: Hash) {
    let captured = Fact::Captured {
        artifact: artifact.clone(),
        content,
        dispatch: None,
        step: None,
        commands: Vec::new(),
    };
    draft.record(Rule::Answer, captured);
}

fn questions(draft: &mut Draft<'_>, given: &BTreeMap<String, String>, content: Hash) -> Verdict {
    let asked = draft
        .stage()
        .and_then(|stage| match &stage.work.as_ask()?.questions {
            Questions::From { leaves, .. } => Some((stage, leaves)),
            Questions::Choice { .. } => None,
        });
    let going = draft.run.standing == Standing::Going;
    let Some((stage, leaves)) = asked.filter(|_| going) else {
        return nothing_asked(draft);
    };
    if let Err(reason) = complete(&draft.evidence.questions, given) {
        return draft.refuse(Rule::AnswersIncomplete, "answer", reason);
    }
    if let Some(refused) = edits::untaken(draft, None) {
        return refused;
    }
    keep_answer(draft, leaves, content);
    let (stage, given) = (stage.name.clone(), given.clone());
    draft.record(
        Rule::Answer,
        Fact::Answered {
            stage,
            answer: Outcome::Answered,
            given,
            words: None,
        },
    );
    leave(draft, &Outcome::Answered);
    Verdict::done(Rule::Answer)
}

/// Every question has an answer, and every answer a question.
fn complete(
    asked: &Option<Result<Vec<Question>, String>>,
    given: &BTreeMap<String, String>,
) -> Result<(), String> {
    let questions = match asked {
        Some(Ok(questions)) => questions,
        Some(Err(reason)) => return Err(reason.clone()),
        None => return Err(String::from("the questions could not be read")),
    };
    let unanswered = questions.iter().find(|question| {
        given
            .get(&question.id)
            .is_none_or(|answer| answer.trim().is_empty())
    });
    if let Some(question) = unanswered {
        return Err(format!(
            "question '{}' has no answer: {}",
            question.id, question.text
        ));
    }
    match given
        .keys()
        .find(|id| !questions.iter().any(|question| question.id == **id))
    {
        Some(id) => Err(format!("there is no question '{id}'")),
        None => Ok(()),
    }
}

pub(super) fn finish(draft: &mut Draft<'_>) -> Verdict {
    if let Err(verdict) = draft.person("finish") {
        return verdict;
    }
    let stage = draft
        .stage()
        .filter(|stage| matches!(stage.work, Work::Open(_)));
    let going = matches!(draft.run.standing, Standing::Going | Standing::Abandoned);
    match stage
        .filter(|_| going)
        .and_then(|stage| stage.on.get(&Outcome::Finish))
    {
        Some(edge) => {
            take(draft, Exit::Outcome(&Outcome::Finish), edge);
            Verdict::done(Rule::Finish)
        }
        None => {
            let reason = format!("a person cannot finish {}", draft.run.position.stage);
            draft.refuse(Rule::NothingToFinish, "finish", reason)
        }
    }
}

pub(super) fn skip(draft: &mut Draft<'_>, outcome: Option<&Outcome>, reason: &str) -> Verdict {
    if let Err(verdict) = draft.person("skip") {
        return verdict;
    }
    if let Err(verdict) = given_reason(draft, "skip", reason) {
        return verdict;
    }
    match skipped(draft, outcome) {
        Ok((stage, outcome)) => {
            let fact = Fact::Overridden {
                stage: stage.name.clone(),
                outcome: outcome.clone(),
                reason: reason.to_string(),
            };
            draft.record(Rule::Skip, fact);
            leave_anyway(draft, &outcome);
            Verdict::done(Rule::Skip)
        }
        Err(reason) => draft.refuse(Rule::SkipNowhere, "skip", reason),
    }
}

/// The stage's outcome that a skip takes: the named one, or the only one.
fn skipped<'a>(
    draft: &Draft<'a>,
    outcome: Option<&Outcome>,
) -> Result<(&'a Stage, Outcome), String> {
    let Some(stage) = draft
        .stage()
        .filter(|_| !is_over(draft.pipeline, &draft.run))
    else {
        return Err(String::from("the run is over"));
    };
    if draft.run.standing == Standing::Queued {
        return Err(String::from("the run is queued and has not started"));
    }
    // A worker's questions that cannot be read, or a move that got stuck, leave no other way.
    let asks = matches!(&stage.work, Work::Ask(ask) if ask.is_choice());
    if asks && !matches!(draft.run.standing, Standing::Stuck { .. }) {
        return Err(format!("{} is a question: answer it", stage.name));
    }
    match (outcome, stage.own_outcomes().as_slice()) {
        (Some(outcome), own) if own.contains(&outcome) => Ok((stage, outcome.clone())),
        (Some(outcome), own) => Err(format!(
            "'{outcome}' is not an outcome of {}: {}",
            stage.name,
            words(own.iter().copied())
        )),
        (None, [only]) => Ok((stage, (*only).clone())),
        (None, own) => Err(format!(
            "name an outcome of {}: {}",
            stage.name,
            words(own.iter().copied())
        )),
    }
}

fn given_reason(draft: &mut Draft<'_>, what: &str, reason: &str) -> Result<(), Verdict> {
    if !reason.trim().is_empty() {
        return Ok(());
    }
    let text = format!("a {what} needs a reason");
    Err(draft.refuse(Rule::PersonOnly, what, text))
}

pub(super) fn retry(draft: &mut Draft<'_>) -> Verdict {
    if let Err(verdict) = draft.person("retry") {
        return verdict;
    }
    let is_stuck = matches!(draft.run.standing, Standing::Stuck { .. });
    let mut limits = draft.run.limits.iter();
    if !is_stuck && limits.any(|limit| limit.until > draft.at) {
        // The person knows more about their account than its service said.
        draft.record(Rule::Retry, Fact::Unstuck);
        return Verdict::done(Rule::Retry);
    }
    if !is_stuck {
        let reason = String::from("nothing has failed here");
        return draft.refuse(Rule::NothingToRetry, "retry", reason);
    }
    draft.record(Rule::Retry, Fact::Unstuck);
    panel::begin_again(draft);
    Verdict::done(Rule::Retry)
}

pub(super) fn cancel(draft: &mut Draft<'_>, reason: &str) -> Verdict {
    if let Err(verdict) = draft.person("cancel") {
        return verdict;
    }
    if let Err(verdict) = given_reason(draft, "cancel", reason) {
        return verdict;
    }
    if is_over(draft.pipeline, &draft.run) {
        return draft.refuse(Rule::RunIsOver, "cancel", String::from("the run is over"));
    }
    draft.record(
        Rule::Cancel,
        Fact::Cancelled {
            reason: reason.to_string(),
        },
    );
    Verdict::done(Rule::Cancel)
}

pub(super) fn reset(draft: &mut Draft<'_>, reason: &str) -> Verdict {
    if let Err(verdict) = draft.person("reset") {
        return verdict;
    }
    if let Err(verdict) = given_reason(draft, "reset", reason) {
        return verdict;
    }
    let definition = draft.pipeline.definition();
    let stage = definition.start_with(&draft.run.given_steps).clone();
    draft.record(
        Rule::Reset,
        Fact::Reset {
            reason: reason.to_string(),
            stage,
        },
    );
    super::moving::enter(draft, &MoveReason::Edge);
    Verdict::done(Rule::Reset)
}

/// A person bypasses the guards for a while. A time in the past ends the bypass.
pub(super) fn bypass(draft: &mut Draft<'_>, until: Time, reason: &str) -> Verdict {
    if let Err(verdict) = draft.person("bypass") {
        return verdict;
    }
    if let Err(verdict) = given_reason(draft, "bypass", reason) {
        return verdict;
    }
    let reason = reason.to_string();
    draft.record(Rule::Bypass, Fact::Bypassed { until, reason });
    Verdict::done(Rule::Bypass)
}

/// A check that waited for this may run again.
pub(super) fn vouched(
    draft: &mut Draft<'_>,
    environment: Option<Hash>,
    programs: &[CheckedProgram],
) -> Verdict {
    if let Err(verdict) = draft.person("trust") {
        return verdict;
    }
    let programs = programs.to_vec();
    draft.record(
        Rule::Vouched,
        Fact::Vouched {
            environment,
            programs,
        },
    );
    let at_check = draft
        .stage()
        .is_some_and(|stage| matches!(stage.work, Work::Check(_)));
    if at_check && matches!(draft.run.standing, Standing::Stuck { .. }) {
        draft.record(Rule::Vouched, Fact::Unstuck);
    }
    Verdict::done(Rule::Vouched)
}

pub(super) fn checkpoint(draft: &mut Draft<'_>, name: &CheckpointName) -> Verdict {
    if let Err(verdict) = draft.person("checkpoint") {
        return verdict;
    }
    draft.record(Rule::Checkpoint, Fact::Checkpointed { name: name.clone() });
    Verdict::done(Rule::Checkpoint)
}

pub(super) fn restore(draft: &mut Draft<'_>, entry: u64, state: &Run, reason: &str) -> Verdict {
    if let Err(verdict) = draft.person("restore") {
        return verdict;
    }
    if let Err(verdict) = given_reason(draft, "restore", reason) {
        return verdict;
    }
    let state = Box::new(state.clone());
    draft.record(
        Rule::Restore,
        Fact::Restored {
            entry,
            state,
            reason: reason.to_string(),
        },
    );
    Verdict::done(Rule::Restore)
}

/// The session and the workers stay on the lost machine: here they are over, and that costs no attempt.
pub(super) fn adopt(draft: &mut Draft<'_>, machine: &str, entry: u64) -> Verdict {
    if let Err(verdict) = draft.person("adopt") {
        return verdict;
    }
    if is_over(draft.pipeline, &draft.run) {
        let reason = "the run is over".to_string();
        return draft.refuse(Rule::Adopted, "adopt the run", reason);
    }
    let machine = machine.to_string();
    draft.record(Rule::Adopted, Fact::Adopted { machine, entry });
    session::stay_behind(draft);
    Verdict::done(Rule::Adopted)
}
