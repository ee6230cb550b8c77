//! Checks: Gatewright runs the commands; exit codes decide, on an unchanged tree.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::moving::leave;
use super::work_end::stage_fault;
use super::{Draft, Verdict};
use crate::check_result::{CheckEnd, CheckResult, CheckVerdict, TreeAround};
use crate::decision::{Refusal, Reply};
use crate::entry::Fact;
use crate::names::StageName;
use crate::next::next;
use crate::outcome::{Fault, Outcome};
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::run::{Gate, Run, Standing};
use crate::stage::{CheckWork, Commands, FieldOf, Work};

/// The check that may run now, or why none may. Commands of an artifact need a person's approval of
/// exactly the content that contains them.
pub fn may_check<'a>(pipeline: &'a Pipeline, run: &Run) -> Result<&'a CheckWork, Refusal> {
    let refuse = |rule, reason| {
        Err(Refusal {
            rule,
            reason,
            next: next(pipeline, run),
            own_work: false,
            artifact: None,
        })
    };
    let stage = &run.position.stage;
    let goes_on = matches!(run.standing, Standing::Going | Standing::Abandoned);
    if !goes_on {
        return refuse(
            Rule::RunWaits,
            String::from("the run waits for a person, or is over"),
        );
    }
    let Some(Work::Check(work)) = pipeline.stage(stage).map(|stage| &stage.work) else {
        return refuse(Rule::CheckElsewhere, format!("{stage} is not a check"));
    };
    if let Commands::Approved(fields) = &work.commands {
        let unapproved = fields.iter().find(|field| !approved(pipeline, run, field));
        if let Some(FieldOf { artifact, .. }) = unapproved {
            let reason =
                format!("no person has approved the commands in the artifact `{artifact}`");
            return refuse(Rule::CheckUnapproved, reason);
        }
    }
    Ok(work)
}

/// A person approves an artifact as it is. One that may add commands passes with those that were
/// approved before, whatever else changed in it.
fn approved(pipeline: &Pipeline, run: &Run, field: &FieldOf) -> bool {
    let name = &field.artifact;
    let declared = pipeline.definition().artifacts.get(name);
    match declared.and_then(|artifact| artifact.approved.as_ref()) {
        Some(_) => run.new_commands(name).is_empty(),
        None => {
            let captured = run.artifacts.get(name);
            captured.is_some_and(|captured| run.approved.get(name) == Some(&captured.content))
        }
    }
}

pub(super) fn ran(
    draft: &mut Draft<'_>,
    stage: &StageName,
    visit: u32,
    results: &[CheckResult],
    tree: &TreeAround,
) -> Verdict {
    let here = draft.run.position.stage == *stage && draft.run.position.visit == visit;
    if !here {
        let message = format!("a check of {stage} ended after the run had left it");
        draft.record(Rule::CheckElsewhere, Fact::Noted { message });
        return Verdict::done(Rule::CheckElsewhere);
    }
    if let Err(refusal) = may_check(draft.pipeline, &draft.run) {
        return draft.refuse(refusal.rule, "check", refusal.reason);
    }
    match judge(results, tree) {
        Judgement::Void {
            rule,
            fault,
            reason,
        } => {
            checked(draft, rule, CheckVerdict::Void, results, tree);
            stage_fault(draft, rule, fault, &reason);
            Verdict {
                rule,
                reply: Reply::Refuse(draft.refusal(rule, reason)),
            }
        }
        Judgement::Unvouched { rule, reason } => {
            checked(draft, rule, CheckVerdict::Void, results, tree);
            unvouched(draft, rule, reason)
        }
        Judgement::Failed => {
            checked(draft, Rule::CheckRan, CheckVerdict::Failed, results, tree);
            leave(draft, &Outcome::Failed);
            Verdict::done(Rule::CheckRan)
        }
        Judgement::Passed => {
            checked(draft, Rule::CheckRan, CheckVerdict::Passed, results, tree);
            let gate = Gate::Tree(tree.after);
            draft.record(
                Rule::CheckRan,
                Fact::GatePassed {
                    stage: stage.clone(),
                    gate,
                },
            );
            leave(draft, &Outcome::Passed);
            Verdict::done(Rule::CheckRan)
        }
    }
}

/// Waits for a person: their word for it lets the check run again.
fn unvouched(draft: &mut Draft<'_>, rule: Rule, reason: String) -> Verdict {
    let fact = Fact::Stuck {
        fault: Fault::Crashed,
        reason: reason.clone(),
    };
    draft.record(rule, fact);
    Verdict {
        rule,
        reply: Reply::Refuse(draft.refusal(rule, reason)),
    }
}

enum Judgement {
    Passed,
    Failed,
    Void {
        rule: Rule,
        fault: Fault,
        reason: String,
    },
    /// Nothing was run until a person vouches for it. To try again would change nothing.
    Unvouched {
        rule: Rule,
        reason: String,
    },
}

fn judge(results: &[CheckResult], tree: &TreeAround) -> Judgement {
    let unvouched = results.iter().find_map(|result| match &result.ended {
        CheckEnd::EnvironmentLost(reason) => Some((Rule::EnvironmentLost, reason)),
        CheckEnd::ProgramUnaccepted(reason) => Some((Rule::ProgramUnaccepted, reason)),
        CheckEnd::CouldNotStart(_)
        | CheckEnd::Exit(_)
        | CheckEnd::Signal(_)
        | CheckEnd::TimedOut => None,
    });
    if let Some((rule, reason)) = unvouched {
        let reason = reason.clone();
        return Judgement::Unvouched { rule, reason };
    }
    let unstarted = results.iter().find_map(|result| match &result.ended {
        CheckEnd::CouldNotStart(reason) => Some((result, reason)),
        CheckEnd::EnvironmentLost(_)
        | CheckEnd::ProgramUnaccepted(_)
        | CheckEnd::Exit(_)
        | CheckEnd::Signal(_)
        | CheckEnd::TimedOut => None,
    });
    if let Some((result, reason)) = unstarted {
        let program = result.argv.first().map_or("", String::as_str);
        let reason = format!("'{program}' could not start: {reason}");
        return Judgement::Void {
            rule: Rule::CheckCannotRun,
            fault: Fault::Crashed,
            reason,
        };
    }
    // A check that ran no command gives no verdict.
    if results.is_empty() || results.iter().any(|result| !passed(result)) {
        return Judgement::Failed;
    }
    if tree.before != tree.after {
        let reason = String::from("files changed while the check ran: run it again");
        return Judgement::Void {
            rule: Rule::CheckVoid,
            fault: Fault::Strayed,
            reason,
        };
    }
    Judgement::Passed
}

/// Did every command pass, on files that it left as they were?
pub(super) fn has_passed(results: &[CheckResult], tree: &TreeAround) -> bool {
    matches!(judge(results, tree), Judgement::Passed)
}

fn passed(result: &CheckResult) -> bool {
    result.ended == CheckEnd::Exit(0) && !result.matched_failure && result.lacks.is_none()
}

fn checked(
    draft: &mut Draft<'_>,
    rule: Rule,
    verdict: CheckVerdict,
    results: &[CheckResult],
    tree: &TreeAround,
) {
    let fact = Fact::Checked {
        stage: draft.run.position.stage.clone(),
        verdict,
        results: Vec::from(results),
        tree: tree.clone(),
    };
    draft.record(rule, fact);
}
