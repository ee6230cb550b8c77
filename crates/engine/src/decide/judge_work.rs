//! Judges one piece of work: its artifacts decide, not what it says.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Draft;
use super::moving::listed;
use crate::decision::{ArtifactFault, ArtifactProblem};
use crate::definition::Source;
use crate::duty::leaves_of;
use crate::entry::WorkResult;
use crate::event::Ending;
use crate::evidence::Seen;
use crate::leaves::verdict;
use crate::names::{ArtifactName, Hash};
use crate::needed_list::{ListedWork, listed_fields};
use crate::outcome::{Fault, Outcome};
use crate::pattern::PathGlob;
use crate::rule::Rule;
use crate::run::{Dispatch, Run};
use crate::stage::{Leaves, Writes};

/// The judgement on a piece of work.
pub(super) struct Judged {
    pub rule: Rule,
    pub result: WorkResult,
    pub captured: Vec<(ArtifactName, Hash)>,
    pub warnings: Vec<String>,
    /// The artifact that made it a fault.
    pub artifact: Option<ArtifactFault>,
}

impl Judged {
    fn fault(rule: Rule, fault: Fault, reason: String) -> Self {
        let result = WorkResult::Fault { fault, reason };
        Self {
            rule,
            result,
            captured: Vec::new(),
            warnings: Vec::new(),
            artifact: None,
        }
    }
}

struct Unfit {
    rule: Rule,
    reason: String,
    artifact: Option<ArtifactFault>,
}

pub(super) fn judge(draft: &Draft<'_>, dispatch: &Dispatch, ending: &Ending) -> Judged {
    let worked = match ending {
        Ending::Fault { fault, reason } => {
            let rule = match fault {
                Fault::Timeout => Rule::TimedOut,
                Fault::Crashed
                | Fault::Missing
                | Fault::Hollow
                | Fault::Strayed
                | Fault::Conflict
                | Fault::Limited => Rule::WorkFault,
            };
            return Judged::fault(rule, *fault, reason.clone());
        }
        Ending::Finished { worked } | Ending::Stopping { worked } => *worked || dispatch.worked,
    };
    if let Some(strayed) = strayed(draft, dispatch) {
        let reason = strayed.recorded(draft, dispatch);
        return Judged::fault(Rule::Strayed, Fault::Strayed, reason);
    }
    let leaves = leaves_of(draft.pipeline, dispatch);
    let unfinished = |unfit| unfinished(draft, dispatch, &leaves, worked, unfit);
    let outcome = match outcome(draft, dispatch, &leaves) {
        Ok(outcome) => outcome,
        Err(unfit) => return unfinished(unfit),
    };
    let mut judged = Judged {
        rule: Rule::OutcomeChecked,
        captured: Vec::new(),
        warnings: Vec::new(),
        artifact: None,
        result: WorkResult::Outcome(outcome.clone()),
    };
    let extra = leaves.by_outcome.get(&outcome).into_iter().flatten();
    for artifact in leaves.always.iter().chain(extra) {
        let fits = fit(draft, dispatch, artifact).and_then(|content| {
            listed_for(draft, dispatch, &outcome, artifact)?;
            Ok(content)
        });
        match fits {
            Ok(content) => judged.captured.push((artifact.clone(), content)),
            Err(unfit) if is_strict(draft, artifact) => {
                return unfinished(unfit);
            }
            Err(unfit) => judged.warnings.push(unfit.reason),
        }
    }
    match hollow(draft, dispatch, &judged.captured).filter(|_| !worked) {
        Some(reason) => Judged::fault(Rule::Hollow, Fault::Hollow, String::from(reason)),
        None => judged,
    }
}

/// Why work without a tool is hollow: it left nothing, or only files. Every tool call of a session's
/// worker is seen, so it did not write them.
fn hollow(
    draft: &Draft<'_>,
    dispatch: &Dispatch,
    captured: &[(ArtifactName, Hash)],
) -> Option<&'static str> {
    let artifacts = &draft.pipeline.definition().artifacts;
    let is_file = |name: &ArtifactName| {
        let declared = artifacts.get(name);
        declared.is_some_and(|artifact| matches!(artifact.source, Source::File(_)))
    };
    let files = captured.iter().all(|(artifact, _)| is_file(artifact));
    match captured {
        [] => Some("it used no tool and wrote no artifact"),
        _ if files && dispatch.session.is_some() => {
            Some("it used no tool, so it did not write the files that are there")
        }
        _ => None,
    }
}

fn is_strict(draft: &Draft<'_>, artifact: &ArtifactName) -> bool {
    draft
        .pipeline
        .definition()
        .artifacts
        .get(artifact)
        .is_none_or(|artifact| artifact.strictness.is_strict(&draft.run.params))
}

/// Work without its artifacts: hollow if nothing at all was done, else missing.
fn unfinished(
    draft: &Draft<'_>,
    dispatch: &Dispatch,
    leaves: &Leaves,
    worked: bool,
    unfit: Unfit,
) -> Judged {
    let nothing = leaves.all().iter().all(|name| {
        let there = draft.evidence.artifacts.get(*name).and_then(Seen::content);
        there.is_none_or(|there| !is_new(draft, dispatch, name, &there))
    });
    if !worked && nothing {
        let reason = format!("it used no tool and wrote no artifact; {}", unfit.reason);
        return Judged::fault(Rule::Hollow, Fault::Hollow, reason);
    }
    Judged {
        artifact: unfit.artifact,
        ..Judged::fault(unfit.rule, Fault::Missing, unfit.reason)
    }
}

/// Files changed that the stage's `writes` does not cover.
pub(super) struct Strayed {
    /// Some of the paths, for a sentence; `None` if nobody could compare the files.
    paths: Option<String>,
}

impl Strayed {
    /// For the worker itself, which may still undo it.
    pub(super) fn for_worker(&self, run: &Run, dispatch: &Dispatch) -> String {
        let Some(paths) = &self.paths else {
            return not_compared();
        };
        let undo = if shares_tree(run) {
            "undo only what you changed yourself, and leave what somebody else changed"
        } else {
            "undo the changes"
        };
        format!("{} may not change {paths}: {undo}", dispatch.stage)
    }

    /// For the record, which people read, and later workers. In the tree of a person it may be their edit, so
    /// it asks nobody to undo it.
    fn recorded(&self, draft: &Draft<'_>, dispatch: &Dispatch) -> String {
        match &self.paths {
            Some(paths) if shares_tree(&draft.run) => {
                let stage = draft.pipeline.stage(&dispatch.stage);
                let may = stage.map_or_else(String::new, |stage| may_change(&stage.writes));
                format!(
                    "{paths} changed while '{}' worked, which may change {may}",
                    dispatch.agent
                )
            }
            Some(_) | None => self.for_worker(&draft.run, dispatch),
        }
    }
}

fn not_compared() -> String {
    String::from("gatewright could not compare the files that it changed")
}

/// What the workers of a stage may change, for a sentence.
fn may_change(writes: &Writes) -> String {
    match writes {
        Writes::Only(globs) if globs.is_empty() => String::from("nothing"),
        Writes::Only(globs) => format!("only {}", listed(globs.iter().map(PathGlob::as_str))),
        Writes::Anything => String::from("anything"),
    }
}

/// Has this work changed what its stage may not change?
pub(super) fn strayed(draft: &Draft<'_>, dispatch: &Dispatch) -> Option<Strayed> {
    let stage = draft.pipeline.stage(&dispatch.stage)?;
    let Writes::Only(globs) = &stage.writes else {
        return None;
    };
    let changed = match (&draft.evidence.changed, dispatch.tree) {
        (Some(changed), _) => changed.as_slice(),
        // Nobody saw the tree before the work, as in a run that is driven by hand.
        (None, None) => return None,
        (None, Some(_)) => return Some(Strayed { paths: None }),
    };
    let outside: Vec<&str> = changed
        .iter()
        .map(String::as_str)
        .filter(|path| !globs.iter().any(|glob| glob.covers(path)))
        .collect();
    let paths = Some(some_of(&outside)?);
    Some(Strayed { paths })
}

/// Some of the paths, for a sentence.
pub(super) fn some_of(paths: &[&str]) -> Option<String> {
    if paths.is_empty() {
        return None;
    }
    let shown = listed(paths.iter().take(5).copied());
    let more = paths.len().saturating_sub(5);
    Some(if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    })
}

/// Does the run work in the tree of a person, who may change files there at the same time?
pub(super) fn shares_tree(run: &Run) -> bool {
    run.place.is_none()
}

/// The outcome in the work's artifact, from the closed set; `done` if no artifact has one.
fn outcome(draft: &Draft<'_>, dispatch: &Dispatch, leaves: &Leaves) -> Result<Outcome, Unfit> {
    let Some((artifact, field)) = verdict(draft.pipeline.definition(), leaves) else {
        return Ok(Outcome::Done);
    };
    fit(draft, dispatch, &artifact)?;
    let word = match draft.evidence.artifacts.get(&artifact) {
        Some(Seen::Valid {
            word: Some(word), ..
        }) => word.as_str(),
        _ => "",
    };
    field.values.get(word).cloned().ok_or_else(|| Unfit {
        rule: Rule::OutcomeUnknown,
        reason: format!(
            "in the artifact `{artifact}`, `{}` is {word:?}; write one of {}",
            field.field,
            listed(field.values.keys().map(String::as_str))
        ),
        artifact: None,
    })
}

/// Does an artifact belong to this attempt? Work may honestly come to the same content as before; then the
/// time of the file decides.
fn is_new(draft: &Draft<'_>, dispatch: &Dispatch, artifact: &ArtifactName, content: &Hash) -> bool {
    let differs = dispatch.before.get(artifact) != Some(content);
    let written = draft.evidence.written.get(artifact);
    differs || written.is_some_and(|written| *written > dispatch.started_at)
}

/// Does the artifact have the lists that the stages need to which this outcome leads? A later stage could
/// only stop for a person, and what it needs can be written now.
fn listed_for(
    draft: &Draft<'_>,
    dispatch: &Dispatch,
    outcome: &Outcome,
    artifact: &ArtifactName,
) -> Result<(), Unfit> {
    let (Some(unlisted), Some(stage)) = (
        draft.evidence.unlisted.get(artifact),
        draft.pipeline.stage(&dispatch.stage),
    ) else {
        return Ok(());
    };
    let definition = draft.pipeline.definition();
    for (taker, field) in listed_fields(definition, artifact) {
        let work = ListedWork {
            definition,
            stage,
            duty: &dispatch.duty,
            agent: &dispatch.agent,
            field,
        };
        if let Some(reason) = unlisted.get(&field.field)
            && work.is_needed(outcome)
        {
            return Err(Unfit {
                rule: Rule::ArtifactMissing,
                reason: format!(
                    "the artifact `{artifact}` is not valid for `{}`, which `{outcome}` leads to: {reason}",
                    taker.name
                ),
                artifact: Some(ArtifactFault {
                    artifact: artifact.clone(),
                    problem: ArtifactProblem::Invalid,
                }),
            });
        }
    }
    Ok(())
}

/// The artifact's content, if it exists, is valid, and belongs to this attempt.
fn fit(draft: &Draft<'_>, dispatch: &Dispatch, artifact: &ArtifactName) -> Result<Hash, Unfit> {
    let fault = |problem| {
        Some(ArtifactFault {
            artifact: artifact.clone(),
            problem,
        })
    };
    match draft.evidence.artifacts.get(artifact) {
        Some(Seen::Valid { content, .. }) if is_new(draft, dispatch, artifact, content) => {
            Ok(*content)
        }
        Some(Seen::Valid { .. }) => Err(Unfit {
            rule: Rule::ArtifactOld,
            reason: format!(
                "the artifact `{artifact}` is from before this attempt: write it again"
            ),
            artifact: None,
        }),
        Some(Seen::Invalid { reason, .. }) => Err(Unfit {
            rule: Rule::ArtifactMissing,
            reason: format!("the artifact `{artifact}` is not valid: {reason}"),
            artifact: fault(ArtifactProblem::Invalid),
        }),
        Some(Seen::Absent) | None => Err(Unfit {
            rule: Rule::ArtifactMissing,
            reason: format!("the artifact `{artifact}` is missing"),
            artifact: fault(ArtifactProblem::Missing),
        }),
    }
}
