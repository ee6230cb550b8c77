//! Edits: what a person changes in the file of an artifact while a question is open.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::moving::listed;
use super::{Draft, Verdict, people};
use crate::definition::{Act, Source};
use crate::entry::Fact;
use crate::event::Who;
use crate::evidence::Seen;
use crate::names::ArtifactName;
use crate::outcome::Outcome;
use crate::rule::Rule;
use crate::run::{Run, Standing};

/// The word with which a person takes what they changed, behind an answer.
pub const WITH_EDITS: &str = "--with-edits";

/// File systems stamp a file with a clock that lags behind the exact one by up to a tick of the kernel.
const STAMP_LAG: u64 = 10;

/// An answer does not pass over a changed file in silence: the next worker would get the captured
/// text, and the person believes in theirs. `choice`: what they answered, where it is one word.
pub(super) fn untaken(draft: &mut Draft<'_>, choice: Option<&Outcome>) -> Option<Verdict> {
    let edited = edited(draft);
    let first = edited.first().map(|(name, _)| name.clone())?;
    let names = listed(edited.iter().map(|(name, _)| name.as_str()));
    let (run, path) = (&draft.run.id, path(draft, &first));
    let take = to_take(draft, choice);
    let reason = format!(
        "the file of {names} was changed after the question was asked. To take the changed text, {take}. \
         To put the text back that was captured, type `gatewright export {run} --artifact {first} -o \
         {path}` at a terminal"
    );
    Some(draft.refuse(Rule::Edits, "answer", reason))
}

/// What the person types where they sit. A worker's questions have no choice: the edits are taken first.
fn to_take(draft: &Draft<'_>, choice: Option<&Outcome>) -> String {
    let run = &draft.run.id;
    let words = |choice: Option<&Outcome>| match choice {
        Some(choice) => format!("{choice} {WITH_EDITS}"),
        None => String::from(WITH_EDITS),
    };
    let again = if choice.is_none() {
        ", and answer again"
    } else {
        ""
    };
    let typed = match &draft.by {
        Who::Through(_) => in_session(draft, choice, &words),
        Who::Person(_) | Who::Unattended(_) | Who::Agent(_) | Who::Session(_) | Who::Engine => None,
    };
    let typed =
        typed.unwrap_or_else(|| format!("type `gatewright answer {run} {}`", words(choice)));
    format!("{typed}{again}")
}

/// The slash command of the pipeline, or the host's own question, which takes a typed text.
fn in_session(
    draft: &Draft<'_>,
    choice: Option<&Outcome>,
    words: &dyn Fn(Option<&Outcome>) -> String,
) -> Option<String> {
    let commands = &draft.pipeline.definition().commands;
    let command = commands.iter().find_map(|(name, act)| match act {
        Act::Answer(None) => Some(format!("type `/{name} {}`", words(choice))),
        Act::Answer(Some(only)) if choice == Some(only) => {
            Some(format!("type `/{name} {WITH_EDITS}`"))
        }
        Act::Answer(Some(_)) | Act::Start | Act::Finish | Act::Retry | Act::Cancel | Act::Reset => {
            None
        }
    });
    let asked_again = || {
        let choice = choice?;
        Some(format!(
            "answer again, and type `{}` instead of choosing an option",
            words(Some(choice))
        ))
    };
    command.or_else(asked_again)
}

/// The person takes what they changed: it is captured, and approved because they wrote it.
pub(super) fn taken(draft: &mut Draft<'_>) -> Verdict {
    if let Err(verdict) = draft.person("take edits") {
        return verdict;
    }
    let asks = draft
        .stage()
        .is_some_and(|stage| stage.work.as_ask().is_some());
    if !asks || draft.run.standing != Standing::Going {
        return people::nothing_asked(draft);
    }
    let edited = edited(draft);
    for (artifact, seen) in &edited {
        if let Seen::Invalid { reason, .. } = seen {
            let reason = format!("the changed `{artifact}` is not valid: {reason}");
            return draft.refuse(Rule::ArtifactMissing, "take edits", reason);
        }
    }
    for (artifact, seen) in edited {
        let Some(content) = seen.content() else {
            continue;
        };
        let commands = draft.evidence.commands.get(&artifact).cloned();
        let captured = Fact::Captured {
            artifact: artifact.clone(),
            content,
            dispatch: None,
            step: None,
            commands: commands.unwrap_or_default(),
        };
        draft.record(Rule::Edits, captured);
        draft.record(Rule::Edits, Fact::Approved { artifact, content });
    }
    Verdict::done(Rule::Edits)
}

/// The captured artifacts whose file says something else, and was written while the question was open.
fn edited(draft: &Draft<'_>) -> Vec<(ArtifactName, Seen)> {
    let asked_at = draft.run.position.entered_at;
    let captured = draft.run.artifacts.iter();
    let edited = captured.filter_map(|(name, captured)| {
        let seen = draft.evidence.artifacts.get(name)?;
        let written = draft.evidence.written.get(name)?;
        let written_since = written.0.saturating_add(STAMP_LAG) >= asked_at.0;
        let differs = seen.content()? != captured.content && written_since;
        differs.then(|| (name.clone(), seen.clone()))
    });
    edited.collect()
}

/// The file of an artifact, as a person types it.
fn path(draft: &Draft<'_>, artifact: &ArtifactName) -> String {
    let declared = draft.pipeline.definition().artifacts.get(artifact);
    match declared.map(|declared| &declared.source) {
        Some(Source::File(path)) => filled(&draft.run, path),
        Some(Source::Reply | Source::Answers) | None => String::from("FILE"),
    }
}

fn filled(run: &Run, path: &str) -> String {
    let path = path.replace("{run}", run.id.as_str());
    let params = run.params.iter();
    params.fold(path, |path, (name, value)| {
        path.replace(&format!("{{{name}}}"), value)
    })
}
