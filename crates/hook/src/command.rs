//! Slash commands that a person typed. The prompt hook sees them, so they are a person's act.

use std::path::{Path, PathBuf};

use engine::{
    Act, CheckpointName, CommandName, Happening, Meaning, Param, ParamName, PersonEvent, Standing,
    Time, WorkEvent,
};
use hosts::{Answer, DEFAULT_SESSION_HOST, Payload};
use runtime::answers::{Chosen, Edits, chosen, edits_taken, with_edits};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::transact::{Options, Request};
use runtime::witness::{self, GivenCommand};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{backup, clock};
use store::{Backend as _, Key};

use super::call::HookCall;
use super::guarded_session::Guarded;
use super::{answer, edits, other_pipeline, skill};

/// What stands for a reason where a person gave none.
const NO_REASON: &str = "typed as a command, without a reason";

/// What a person reads where a schedule submits a command.
const NOT_TYPED: &str = "gatewright: GW-R66 a schedule of this session submitted the command, so it does not \
     count; if you want it, type it yourself";

pub(super) fn typed(
    guarded: &mut Guarded<'_, '_>,
    call: &HookCall<'_>,
    name: &CommandName,
    arguments: &str,
) -> Result<Answer, Failure> {
    let key = call.key.as_ref();
    let act = guarded.opened.pipeline.definition().commands.get(name);
    match act.cloned() {
        Some(act) if is_scheduled(guarded, call.payload, name) => {
            refuse_scheduled(guarded, key, &act, arguments)
        }
        Some(act) => act_on(guarded, key, &act, arguments),
        None => match other_pipeline::answer(guarded, name) {
            Some(answer) => Ok(answer),
            None => forked(guarded, key, name),
        },
    }
}

/// Does a schedule of the host submit this command, and no person?
fn is_scheduled(guarded: &Guarded<'_, '_>, payload: &Payload, name: &CommandName) -> bool {
    let Some(record) = payload.transcript.as_deref() else {
        return false;
    };
    let environment = &guarded.workspace.context.environment;
    let worktree = Path::new(guarded.opened.stored.worktree());
    let started = environment.project.as_deref();
    let projects = [Some(worktree), started].into_iter().flatten();
    let projects = projects.map(|folder| folder.join(DEFAULT_SESSION_HOST.places.folder));
    let folders: Vec<PathBuf> = projects.chain(environment.settings_folder()).collect();
    let given = GivenCommand {
        command: name,
        session: &guarded.session,
        record: Path::new(record),
        folders: &folders,
    };
    witness::is_scheduled(&given, DEFAULT_SESSION_HOST, clock::now())
}

/// A command that nobody typed is the session's own act, and is refused and recorded as one.
fn refuse_scheduled(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    act: &Act,
    arguments: &str,
) -> Result<Answer, Failure> {
    let by = &guarded.session_itself();
    let meant = meant(act, arguments);
    let asked = guarded.submit_with(Options { by, key }, &mut |workspace, opened, at| {
        requested(workspace, opened, at, &meant)
    });
    let told = match asked {
        Ok(decided) => answer::told(&decided),
        Err(failure) if failure.kind.is_about_the_request() => Answer::nothing(),
        Err(failure) => return Err(failure),
    };
    Ok(Answer {
        notice: Some(NOT_TYPED.to_owned()),
        ..told
    })
}

fn requested(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    at: Time,
    meant: &Meant,
) -> Result<Request, Failure> {
    match meant {
        Meant::Choice { choice, text, .. } => {
            let text = Some(text.as_str());
            chosen(workspace, opened, Chosen { choice, text }, at)
        }
        Meant::Edits => Ok(edits_taken()),
        Meant::Happening(what) => Ok(Request::from(what.clone())),
        Meant::Nothing(why) => Err(Failure::refused(*why)),
    }
}

/// A command that opens a conversation of its own starts an agent, no matter who typed it.
fn forked(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    name: &CommandName,
) -> Result<Answer, Failure> {
    let Some(agent) = skill::forked(guarded, name.as_str()) else {
        return Ok(Answer::nothing());
    };
    let requested = Happening::Work(WorkEvent::Requested {
        agent,
        step: None,
        model: None,
        call: None,
        worker: None,
        service: None,
    });
    let decided = guarded.submit_once(key, requested)?;
    Ok(answer::of(&decided))
}

fn act_on(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    act: &Act,
    arguments: &str,
) -> Result<Answer, Failure> {
    let meant = meant(act, arguments);
    if let Some(answer) = edits_first(guarded, key, &meant)? {
        return Ok(answer);
    }
    let by = &guarded.person();
    let backup = match act {
        Act::Reset => mark_before(guarded, key)?,
        Act::Start | Act::Answer(_) | Act::Finish | Act::Retry | Act::Cancel => None,
    };
    let answered = guarded.submit_with(Options { by, key }, &mut |workspace, opened, at| {
        requested(workspace, opened, at, &meant)
    });
    // A person typed it, and a person sees what came of it.
    Ok(match answered {
        Ok(decided) => {
            let run = decided.opened.run();
            let stands = || {
                if let Standing::Cancelled { .. } = run.standing {
                    format!("run {} is cancelled", run.id)
                } else {
                    format!("run {} is in {}", run.id, run.position.stage)
                }
            };
            let notice = answer::objection(&decided).unwrap_or_else(stands);
            let kept = backup.map_or_else(String::new, |name| {
                format!(
                    "; to undo: gatewright restore {} {name} --reason WHY",
                    run.id
                )
            });
            Answer {
                notice: Some(format!("gatewright: {notice}{kept}")),
                ..answer::told(&decided)
            }
        }
        Err(failure) if failure.kind.is_about_the_request() => Answer {
            context: Some(failure.to_string()),
            notice: Some(format!("gatewright: {failure}")),
            ..Answer::nothing()
        },
        Err(failure) => return Err(failure),
    })
}

/// A person who takes their edits does so before the answer about them. The whole answer, if nothing
/// follows.
fn edits_first(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    meant: &Meant,
) -> Result<Option<Answer>, Failure> {
    match meant {
        Meant::Edits => Ok(Some(edits::told(&edits::take(guarded, key)?))),
        Meant::Choice {
            edits: Edits::Taken,
            ..
        } => {
            let refused = edits::refused(guarded, key)?;
            Ok(refused.as_ref().map(edits::told))
        }
        Meant::Choice {
            edits: Edits::NotMentioned,
            ..
        }
        | Meant::Happening(_)
        | Meant::Nothing(_) => Ok(None),
    }
}

/// Names the point before a reset and keeps the run as it is, once for each command.
fn mark_before(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
) -> Result<Option<CheckpointName>, Failure> {
    let run = guarded.opened.run().id.clone();
    let is_repeated = match key {
        Some(key) => !guarded.workspace.store.keyed(&run, key)?.is_empty(),
        None => false,
    };
    if is_repeated {
        return Ok(None);
    }
    guarded.workspace.context.expect_delay();
    let name = backup::name(&guarded.opened.stored)?;
    let mark = Happening::Person(PersonEvent::CheckpointAsked { name: name.clone() });
    // The key belongs to the reset itself, which follows.
    let options = Options {
        by: &guarded.person(),
        key: None,
    };
    guarded.submit_with(options, &mut |_, _, _| Ok(Request::from(mark.clone())))?;
    backup::write(guarded.workspace, &run, &name)?;
    Ok(Some(name))
}

const NO_CHOICE: &str = "type the choice after the command; `gatewright next` lists the choices";

/// What a command stands for, with what follows it.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    /// A choice, and what the person says behind it.
    Choice {
        choice: String,
        text: String,
        edits: Edits,
    },
    /// Only what the person changed, and no answer yet.
    Edits,
    Happening(Happening),
    Nothing(&'static str),
}

fn meant(act: &Act, arguments: &str) -> Meant {
    let reason = match arguments.trim() {
        "" => NO_REASON.to_owned(),
        reason => reason.to_owned(),
    };
    match act {
        Act::Start => Meant::Nothing(
            "this session already holds a run: end it first, or start another session",
        ),
        Act::Answer(Some(choice)) => {
            let (edits, text) = with_edits(arguments);
            let (choice, text) = (choice.to_string(), text.to_owned());
            Meant::Choice {
                choice,
                text,
                edits,
            }
        }
        Act::Answer(None) => typed_choice(arguments),
        Act::Finish => Meant::Happening(Happening::Person(PersonEvent::FinishAsked)),
        Act::Retry => Meant::Happening(Happening::Person(PersonEvent::RetryAsked)),
        Act::Cancel => Meant::Happening(Happening::Person(PersonEvent::CancelAsked { reason })),
        Act::Reset => Meant::Happening(Happening::Person(PersonEvent::ResetAsked { reason })),
    }
}

/// A choice, with words behind it. The word that takes edits may stand before or behind either.
fn typed_choice(arguments: &str) -> Meant {
    let (edits, typed) = with_edits(arguments);
    match (first_word(typed), edits) {
        (Some((word, rest)), _) => {
            let (behind, text) = with_edits(rest);
            Meant::Choice {
                choice: word.to_owned(),
                text: text.to_owned(),
                edits: edits.or(behind),
            }
        }
        (None, Edits::Taken) => Meant::Edits,
        (None, Edits::NotMentioned) => Meant::Nothing(NO_CHOICE),
    }
}

/// Parameters and task from what follows the command: `name=value` words first; where one required
/// parameter is still missing, the next word is its value.
pub(super) fn params(
    context: &Context,
    pipeline: &str,
    typed: &TypedStart<'_>,
) -> Result<(Vec<(ParamName, String)>, String), Failure> {
    let sources = definition::find(pipeline, &context.folder, &context.folder);
    let compiled = sources.and_then(|sources| definition::compile(&sources));
    let compiled = compiled.map_err(|trouble| match trouble {
        DefinitionError::Failed(failure) => failure,
        DefinitionError::Rejected { .. } => {
            Failure::refused(format!("pipeline {pipeline} is not accepted"))
                .hint("`gatewright lint` shows why")
        }
    })?;
    let definition = compiled.pipeline.definition();
    let mut params: Vec<(ParamName, String)> = Vec::new();
    let mut rest = typed.arguments.trim();
    while let Some((word, after)) = first_word(rest) {
        let Some((name, value)) = word.split_once('=') else {
            break;
        };
        let name = ParamName::parse(name).ok();
        let Some(name) = name.filter(|name| definition.params.contains_key(name)) else {
            break;
        };
        params.push((name, value.to_owned()));
        rest = after;
    }
    let missing: Vec<&ParamName> = definition
        .params
        .iter()
        .filter(|(name, param)| {
            let given = params.iter().any(|(given, _)| given == *name);
            param.required && param.default.is_none() && param.settings.is_empty() && !given
        })
        .map(|(name, _)| name)
        .collect();
    match (missing.as_slice(), first_word(rest)) {
        ([], _) => {}
        ([only], Some((word, _))) if could_be(definition.params.get(*only), word) => {
            params.push(((*only).clone(), word.to_owned()));
        }
        (missing, _) => {
            let named: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
            let message = format!("{} is missing", named.join(", "));
            return Err(Failure::refused(message).hint(typed.usage(missing)));
        }
    }
    if rest.is_empty() {
        return Err(Failure::refused("the task is empty").hint(typed.usage(&missing)));
    }
    Ok((params, rest.to_owned()))
}

/// A command that starts a run, as a person typed it.
pub(super) struct TypedStart<'a> {
    pub name: &'a CommandName,
    pub arguments: &'a str,
}

impl TypedStart<'_> {
    /// What to type, with these parameters.
    fn usage(&self, params: &[&ParamName]) -> String {
        let params = params.iter().map(|name| format!(" {name}=VALUE"));
        format!("type `/{}{} TASK`", self.name, params.collect::<String>())
    }
}

/// Could this word be meant for the parameter? A path looks like one; anything else begins the task.
fn could_be(param: Option<&Param>, word: &str) -> bool {
    let is_path = param.is_some_and(|param| param.meaning == Meaning::Path);
    !is_path || (word.contains(['.', '/']) && !word.contains('=') && !word.ends_with('.'))
}

fn first_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then(|| (word, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use engine::Outcome;

    use super::*;

    #[test]
    fn an_act_takes_what_follows_its_command() {
        let given = |word: &str, text: &str, edits| Meant::Choice {
            choice: word.to_owned(),
            text: text.to_owned(),
            edits,
        };
        let choice = |word: &str, text: &str| given(word, text, Edits::NotMentioned);
        let edited = |word: &str, text: &str| given(word, text, Edits::Taken);
        let stop = Outcome::parse("stop").ok();
        let cancel = |reason: &str| {
            Meant::Happening(Happening::Person(PersonEvent::CancelAsked {
                reason: reason.to_owned(),
            }))
        };
        for (act, arguments, expected) in [
            (Act::Cancel, " too slow ", cancel("too slow")),
            (Act::Cancel, "", cancel(NO_REASON)),
            (Act::Answer(None), "stop now", choice("stop", "now")),
            (Act::Answer(stop.clone()), "", choice("stop", "")),
            (
                Act::Answer(stop.clone()),
                "--with-edits",
                edited("stop", ""),
            ),
            (
                Act::Answer(None),
                "stop --with-edits now",
                edited("stop", "now"),
            ),
            (
                Act::Answer(None),
                "stop now --with-edits",
                edited("stop", "now"),
            ),
            (Act::Answer(None), "--with-edits", Meant::Edits),
            (Act::Cancel, "--with-edits", cancel("--with-edits")),
            (Act::Answer(stop), " too slow", choice("stop", "too slow")),
            (Act::Answer(None), "", Meant::Nothing(NO_CHOICE)),
            (
                Act::Finish,
                "",
                Meant::Happening(Happening::Person(PersonEvent::FinishAsked)),
            ),
        ] {
            assert_eq!(meant(&act, arguments), expected);
        }
        assert!(matches!(meant(&Act::Start, "x"), Meant::Nothing(_)));
    }

    #[test]
    fn parameters_come_before_the_task() {
        let folder = tempfile::tempdir().unwrap();
        let context = Context::at(
            runtime::environment::Environment::default(),
            folder.path().into(),
        );
        let name = CommandName::parse("create-playbook").unwrap();
        let typed = |arguments: &str| {
            let name = &name;
            params(&context, "ansible", &TypedStart { name, arguments })
        };
        let read = |arguments: &str| {
            let (params, task) = typed(arguments).unwrap();
            let params: Vec<String> = params
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            (params.join(" "), task)
        };
        let expected = |params: &str, task: &str| (params.to_owned(), task.to_owned());
        assert_eq!(
            read("target=site.yml write it"),
            expected("target=site.yml", "write it")
        );
        assert_eq!(
            read("site.yml with nginx"),
            expected("target=site.yml", "site.yml with nginx")
        );
        // A word that is not a path is the beginning of the task: then the target is missing.
        for missing in ["Install Docker", "tarqet=a.yml go", ""] {
            let failure = typed(missing).unwrap_err();
            let usage = "`/create-playbook target=VALUE TASK`";
            assert!(failure.hints.join("").contains(usage), "{missing}");
        }
        assert!(typed("target=site.yml").is_err(), "an empty task is none");
    }
}
