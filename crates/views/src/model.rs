//! The model of a run: the JSON that templates see. `docs/view-model.md` lists all of it.

mod counters;
mod history;
mod replies;
mod stages;
mod steps;

use std::collections::BTreeMap;

use engine::{SessionId, Standing, Status, Time, ViewFormat, Work, Worker};
use minijinja::Value as Model;
use minijinja::value::Serde;
use serde_json::{Map, Value, json};

use crate::status::status_words;
use crate::template::Template;
use crate::time::rfc3339;
use crate::view_input::ViewInput;
use crate::words;
pub(crate) use replies::{replies, said_artifacts};

/// The names that every template has.
pub(crate) const ROOTS: [&str; 13] = [
    "run", "stage", "stages", "visited", "params", "counters", "verdicts", "steps", "sessions",
    "replies", "history", "log", "view",
];

/// The part of the model that this template mentions: nothing else is read from the store.
pub(crate) fn model(template: Template<'_>, format: &ViewFormat, input: &ViewInput<'_>) -> Model {
    let mentions = |word: &str| template.text.contains(word);
    let sessions = || input.digest.sessions.iter().map(SessionId::as_str);
    let mut known = json!({});
    let parts: [(&str, &dyn Fn() -> Value); 11] = [
        ("run", &|| run(input)),
        ("stage", &|| stages::stage(input, &input.run.position.stage)),
        ("params", &|| params(input)),
        ("verdicts", &|| verdicts(input)),
        ("sessions", &|| sessions().collect::<Vec<_>>().into()),
        ("view", &|| view(format, input)),
        ("stages", &|| stages::stages(input)),
        ("visited", &|| stages::visited(input)),
        ("counters", &|| counters::counters(input)),
        ("replies", &|| {
            replies(input.pipeline, input.run, input.contents)
        }),
        ("steps", &|| steps::steps(input, mentions("reports"))),
    ];
    for (name, part) in parts {
        if mentions(name) {
            known[name] = part();
        }
    }
    let digest = input.digest;
    let lists = [("history", &digest.history), ("log", &digest.log)];
    let lists = lists.into_iter().filter(|(name, _)| mentions(name));
    let lists = lists.map(|(name, lines)| (name.to_owned(), history::items(input, lines)));
    let known = known.as_object().into_iter().flatten();
    let known = known.map(|(name, part)| (name.clone(), Model::from(Serde(part))));
    known.chain(lists).collect::<BTreeMap<_, _>>().into()
}

fn run(input: &ViewInput<'_>) -> Value {
    let (pipeline, run) = (input.pipeline, input.run);
    let status = engine::status(pipeline, run);
    let ended = ended_at(input);
    let (_, text) = status_words(&status);
    json!({
        "id": run.id.as_str(),
        "pipeline": pipeline.definition().name.as_str(),
        "project": input.project,
        "task": run.task,
        "driver": words::driver(run.driver),
        "mode": words::mode(pipeline.definition().mode),
        "status": status.word(),
        "status_text": text,
        "waiting_for": if let Status::Waiting(reason) = &status { Some(reason) } else { None },
        "cancel_reason": if let Standing::Cancelled { reason } = &run.standing {
            Some(reason)
        } else {
            None
        },
        "is_over": engine::is_over(pipeline, run),
        "was_reset": input.digest.was_reset,
        "agent": agent(input),
        "session": run.session.as_ref().map(|binding| binding.session.as_str()),
        "started_at": rfc3339(run.started_at),
        "changed_at": rfc3339(run.touched_at),
        "ended_at": ended.map(rfc3339),
        "duration_seconds": ended.map(|at| at.since(run.started_at).0),
    })
}

/// When the run ended, if it has ended.
fn ended_at(input: &ViewInput<'_>) -> Option<Time> {
    let run = input.run;
    let over = engine::is_over(input.pipeline, run);
    over.then_some(if let Standing::Cancelled { .. } = run.standing {
        run.touched_at
    } else {
        run.position.entered_at
    })
}

/// Who is working, or who works next. A check has no agent.
fn agent(input: &ViewInput<'_>) -> Option<String> {
    let mut open = input.run.dispatches.values();
    if let Some(dispatch) = open.next() {
        return Some(dispatch.agent.to_string());
    }
    match &input.pipeline.stage(&input.run.position.stage)?.work {
        Work::Agent(work) => Some(match &work.worker {
            Worker::Session => engine::SESSION.to_owned(),
            Worker::Agent(agent) => agent.to_string(),
        }),
        Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_)
        | Work::End(_) => None,
    }
}

/// Every parameter of the definition, and null where the run has no value for it.
fn params(input: &ViewInput<'_>) -> Value {
    let declared = input.pipeline.definition().params.keys();
    let given = input.run.params.keys();
    let values = declared.chain(given).map(|name| {
        let value = input.run.params.get(name);
        (name.to_string(), json!(value))
    });
    Value::Object(values.collect::<Map<_, _>>())
}

fn verdicts(input: &ViewInput<'_>) -> Value {
    let verdicts = input.digest.verdicts.iter();
    let verdicts = verdicts.map(|(name, said)| {
        let said = json!({ "passed": said.passed, "failed": said.failed });
        (name.clone(), said)
    });
    Value::Object(verdicts.collect::<Map<_, _>>())
}

/// The keys of a loop view besides its path. Other views of the same pipeline may show the loop, too.
fn view(format: &ViewFormat, input: &ViewInput<'_>) -> Value {
    let mut views = input.pipeline.definition().views.iter();
    let looped = match format {
        ViewFormat::LoopState(of) => Some(of),
        _ => views.find_map(|view| match &view.format {
            ViewFormat::LoopState(of) => Some(of),
            _ => None,
        }),
    };
    json!({
        "counter": looped.map(|of| of.counter.as_str()),
        "promise": looped.map(|of| of.promise.text(&input.run.params)),
    })
}
