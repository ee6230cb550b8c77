//! Acts of a person on the page: parsed, put to the engine as any caller's, and recorded as done on the page.

use engine::{Refusal, RunId, StageName, Time, Who};
use runtime::answers::Edits;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::ids;
use runtime::person_act::{PersonAct, PersonWish};
use runtime::transact::{self, Decided, Options, Target};
use runtime::workspace::{OpenRun, Workspace};
use serde_json::{Map, Value, json};

/// Starts a process that drives this run.
pub type Resume = dyn Fn(&RunId) -> Result<(), Failure> + Send + Sync;

/// What a person asks for on the page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Put(PersonAct),
    /// A process of its own does it.
    Resume(RunId),
}

/// The person who started the server, on the page.
pub(crate) fn on_page(who: &Who) -> Option<Who> {
    match who {
        Who::Person(name) => Some(Who::Person(format!("{name} (on the page)"))),
        Who::Unattended(_) | Who::Agent(_) | Who::Through(_) | Who::Session(_) | Who::Engine => {
            None
        }
    }
}

impl Act {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Failure> {
        let unclear = |what: &str| Failure::usage(format!("the request is not valid: {what}"));
        let parsed: Value =
            serde_json::from_slice(body).map_err(|_| unclear("it is not valid JSON"))?;
        let Value::Object(fields) = parsed else {
            return Err(unclear("it is not a JSON object"));
        };
        let run = RunId::parse(text(&fields, "run")?)
            .map_err(|_| unclear("`run` is not the id of a run"))?;
        let what = match text(&fields, "act")? {
            "choose" => PersonWish::Choose {
                stage: stage(&fields)?,
                choice: text(&fields, "choice")?.to_owned(),
                text: optional(&fields, "text")?.map(str::to_owned),
                edits: Edits::NotMentioned,
            },
            "answer" => PersonWish::Answer {
                stage: stage(&fields)?,
                answers: texts(&fields, "answers")?,
            },
            "retry" => PersonWish::Retry,
            "cancel" => cancel(&fields, &run)?,
            "resume" => return Ok(Self::Resume(run)),
            _ => return Err(unclear("`act` is unknown")),
        };
        Ok(Self::Put(PersonAct { run, what }))
    }

    /// Does it, and says what happened.
    pub(crate) fn perform(
        &self,
        context: &Context,
        by: &Who,
        resume: &Resume,
    ) -> Result<Value, Failure> {
        match self {
            Self::Put(act) => record(act, &mut Workspace::for_writing(context)?, by),
            Self::Resume(run) => {
                resume(run)?;
                Ok(json!({ "done": resumed(run) }))
            }
        }
    }
}

fn resumed(run: &RunId) -> &'static str {
    if ids::is_of_fleet(run) {
        "the run is queued again: the next free worker of the fleet takes it"
    } else {
        "a process drives the run now"
    }
}

/// Puts it to the engine.
pub(crate) fn record(
    act: &PersonAct,
    workspace: &mut Workspace<'_>,
    by: &Who,
) -> Result<Value, Failure> {
    let key = ids::key()?;
    let options = Options {
        by,
        key: Some(&key),
    };
    let target = Target::Locked(act.run.clone());
    let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, at: Time| {
        act.what.request(workspace, opened, at)
    };
    let decided = transact::transact(workspace, target, options, &mut make)?;
    match decided.reply.refusal() {
        Some(refusal) => Err(refused(&decided, refusal)),
        None => Ok(json!({ "done": "recorded", "version": decided.opened.stored.version })),
    }
}

fn refused(decided: &Decided, refusal: &Refusal) -> Failure {
    let opened = &decided.opened;
    Failure::refused(views::refusal_in(&opened.pipeline, opened.run(), refusal))
}

/// A cancelled run cannot be continued, so the person writes its id.
fn cancel(fields: &Map<String, Value>, run: &RunId) -> Result<PersonWish, Failure> {
    let reason = text(fields, "reason")?.trim().to_owned();
    if reason.is_empty() {
        return Err(Failure::usage("a cancel needs a reason"));
    }
    if text(fields, "confirm")?.trim() != run.as_str() {
        let message = format!("nothing was done, because you did not write {run}");
        return Err(Failure::refused(message).hint("write the id of the run to cancel it"));
    }
    Ok(PersonWish::Cancel { reason })
}

fn stage(fields: &Map<String, Value>) -> Result<StageName, Failure> {
    StageName::parse(text(fields, "stage")?)
        .map_err(|problem| Failure::usage(format!("the act is not clear: {problem}")))
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, Failure> {
    let missing = || Failure::usage(format!("the act is not clear: `{name}` is missing"));
    optional(fields, name)?.ok_or_else(missing)
}

fn optional<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Failure> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Failure::usage(format!(
            "the act is not clear: `{name}` is not a text"
        ))),
    }
}

fn texts(fields: &Map<String, Value>, name: &str) -> Result<Vec<(String, String)>, Failure> {
    let unclear = || Failure::usage(format!("the act is not clear: `{name}` has no texts"));
    let Some(Value::Object(given)) = fields.get(name) else {
        return Err(unclear());
    };
    let given = given.iter();
    let texts = given.map(|(id, text)| Some((id.clone(), text.as_str()?.to_owned())));
    texts.collect::<Option<_>>().ok_or_else(unclear)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Act, String> {
        Act::parse(text.as_bytes()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn an_act_says_what_it_wants_or_is_refused() {
        let run = RunId::parse("r-1").unwrap();
        let resume = Act::Resume(run);
        assert_eq!(parsed(r#"{"run":"r-1","act":"resume"}"#), Ok(resume));
        for unclear in [
            "",
            "[]",
            "null",
            r#"{"act":"resume"}"#,
            r#"{"run":"r-1"}"#,
            r#"{"run":"r 1","act":"retry"}"#,
            r#"{"run":"r-1","act":"skip"}"#,
            r#"{"run":"r-1","act":"choose","choice":"yes"}"#,
            r#"{"run":"r-1","act":"choose","stage":"x","choice":7}"#,
            r#"{"run":"r-1","act":"answer","stage":"x","answers":{"q":1}}"#,
            r#"{"run":"r-1","act":"cancel","reason":" ","confirm":"r-1"}"#,
            r#"{"run":"r-1","act":"cancel","reason":"x","confirm":"r-2"}"#,
            r#"{"run":"r-1","act":"cancel","reason":"x"}"#,
        ] {
            assert!(parsed(unclear).is_err(), "{unclear}");
        }
    }

    #[test]
    fn only_a_person_at_a_terminal_acts_on_the_page() {
        let person = on_page(&Who::Person("ada".to_owned()));
        assert_eq!(person, Some(Who::Person("ada (on the page)".to_owned())));
        assert_eq!(on_page(&Who::Unattended("ada".to_owned())), None);
        assert_eq!(on_page(&Who::Agent("x".to_owned())), None);
        assert_eq!(on_page(&Who::Engine), None);
    }
}
