//! What the hooks of a fleet's worker decided on this machine, for the orchestrator: it tells the run's store, which may be
//! away while a hook decides.
//!
//! A report is the event, and the engine decides about it again. Each has a key, so it counts once. Hooks write them, so
//! their JSON is made by hand, as that of `enrolment` is.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use engine::{
    Actor, AgentName, ArtifactName, Author, BypassAttempt, CallId, DispatchId, EngineEvent,
    Happening, Outside, OutsideChange, ProtectedPath, StepId, ToolEvent, WorkEvent, WorkerId,
};
use serde_json::{Value, json};
use store::{Key, content_hash};

use crate::claim;
use crate::clock;
use crate::failure::Failure;
use crate::state::State;

/// One event that a hook has judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub what: Happening,
    pub key: Option<Key>,
}

/// How often the same report counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Once for a worker: later ones of the same kind say nothing new.
    OnceForWork,
    Each,
}

/// Adds a report. It is durable when this returns. An event of another kind than hooks of workers have is an error.
pub fn add(
    state: &State,
    call: &CallId,
    what: &Happening,
    key: Option<&Key>,
    times: Times,
) -> Result<(), Failure> {
    let what = to_json(what).ok_or_else(|| Failure::bug("a hook cannot report this event"))?;
    let path = path(state, call);
    let is_once = times == Times::OnceForWork;
    let is_same = |earlier: &Value| {
        let same = |name: &str| earlier["what"][name] == what[name];
        earlier["once"] == true && same("kind") && same("worker")
    };
    if is_once && lines(state, call).any(|(_, earlier)| is_same(&earlier)) {
        return Ok(());
    }
    let line = json!({
        "at": clock::now().0,
        "key": key.map(Key::as_str),
        "once": is_once,
        "what": what,
    });
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| {
            file.write_all(format!("{line}\n").as_bytes())?;
            file.sync_data()
        })
        .map_err(Failure::file("write to", &path))
}

/// The reports after the first ones, so many. One that cannot be read hides none of the others.
pub fn after(state: &State, call: &CallId, known: usize) -> Vec<Report> {
    let read = lines(state, call).filter_map(|(line, value)| {
        let own = || format!("hook {}", content_hash(line.as_bytes()));
        let key = value["key"].as_str().map_or_else(own, str::to_owned);
        Some(Report {
            what: from_json(&value["what"])?,
            key: Key::parse(&key).ok(),
        })
    });
    read.skip(known).collect()
}

/// The whole lines of the file.
fn lines(state: &State, call: &CallId) -> impl Iterator<Item = (String, Value)> {
    let text = fs::read_to_string(path(state, call)).unwrap_or_default();
    let whole = text.rsplit_once('\n').map(|(whole, _)| whole.to_owned());
    let lines: Vec<String> =
        whole.map_or_else(Vec::new, |whole| whole.lines().map(str::to_owned).collect());
    let read = lines.into_iter();
    read.filter_map(|line| serde_json::from_str(&line).ok().map(|value| (line, value)))
}

fn path(state: &State, call: &CallId) -> PathBuf {
    claim::file_beside(state, call, "told")
}

fn to_json(what: &Happening) -> Option<Value> {
    match what {
        Happening::Work(WorkEvent::Launched { call, worker }) => {
            Some(json!({ "kind": "launched", "call": call.as_str(), "worker": worker.as_str() }))
        }
        Happening::Tool(ToolEvent::Requested {
            tool,
            worker: Some(worker),
            protected_paths,
            bypass,
        }) => Some(json!({
            "kind": "requested",
            "tool": tool,
            "worker": worker.id.as_str(),
            "agent": worker.agent.as_str(),
            "paths": protected_paths.iter().map(path_to_json).collect::<Vec<_>>(),
            "bypass": bypass.as_ref().map(bypass_to_json),
        })),
        Happening::Engine(EngineEvent::ChangedOutside(OutsideChange {
            during,
            author: Author::Worker,
            what: Outside::Elsewhere { tool, paths },
        })) => Some(json!({
            "kind": "outside",
            "during": during.iter().map(|dispatch| dispatch.0).collect::<Vec<_>>(),
            "tool": tool,
            "paths": paths,
        })),
        Happening::Work(_)
        | Happening::Tool(_)
        | Happening::Session(_)
        | Happening::Person(_)
        | Happening::Engine(_) => None,
    }
}

fn from_json(value: &Value) -> Option<Happening> {
    let text = |name: &str| value[name].as_str();
    let worker = || WorkerId::parse(text("worker")?).ok();
    Some(match text("kind")? {
        "launched" => Happening::Work(WorkEvent::Launched {
            call: CallId::parse(text("call")?).ok()?,
            worker: worker()?,
        }),
        "requested" => Happening::Tool(ToolEvent::Requested {
            tool: text("tool")?.to_owned(),
            worker: Some(Actor {
                id: worker()?,
                agent: AgentName::parse(text("agent")?).ok()?,
            }),
            protected_paths: all(&value["paths"], path_from_json)?,
            bypass: match &value["bypass"] {
                Value::Null => None,
                bypass => Some(bypass_from_json(bypass)?),
            },
        }),
        "outside" => Happening::Engine(EngineEvent::ChangedOutside(OutsideChange {
            during: all(&value["during"], |number| {
                let number = number.as_u64()?.try_into().ok()?;
                Some(DispatchId(number))
            })?,
            author: Author::Worker,
            what: Outside::Elsewhere {
                tool: text("tool")?.to_owned(),
                paths: all(&value["paths"], |path| path.as_str().map(str::to_owned))?,
            },
        })),
        _ => return None,
    })
}

fn all<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

fn path_to_json(path: &ProtectedPath) -> Value {
    match path {
        ProtectedPath::State => json!("state"),
        ProtectedPath::Settings => json!("settings"),
        ProtectedPath::Definition => json!("definition"),
        ProtectedPath::Program => json!("program"),
        ProtectedPath::Stop => json!("stop"),
        ProtectedPath::Artifact { artifact, step } => json!({
            "artifact": artifact.as_str(),
            "step": step.as_ref().map(StepId::as_str),
        }),
    }
}

fn path_from_json(value: &Value) -> Option<ProtectedPath> {
    match value.as_str() {
        Some("state") => Some(ProtectedPath::State),
        Some("settings") => Some(ProtectedPath::Settings),
        Some("definition") => Some(ProtectedPath::Definition),
        Some("program") => Some(ProtectedPath::Program),
        Some("stop") => Some(ProtectedPath::Stop),
        Some(_) => None,
        None => Some(ProtectedPath::Artifact {
            artifact: ArtifactName::parse(value["artifact"].as_str()?).ok()?,
            step: match value["step"].as_str() {
                Some(step) => Some(StepId::parse(step).ok()?),
                None => None,
            },
        }),
    }
}

fn bypass_to_json(bypass: &BypassAttempt) -> Value {
    match bypass {
        BypassAttempt::Workflow => json!({ "workflow": true }),
        BypassAttempt::HookCall => json!({ "hook_call": true }),
        BypassAttempt::AgentProgram(program) => json!({ "agent_program": program }),
        BypassAttempt::HelperWrites(tool) => json!({ "helper_writes": tool }),
        BypassAttempt::PersonsCommand(command) => json!({ "persons_command": command }),
        BypassAttempt::NoName(name) => json!({ "no_name": name }),
        BypassAttempt::OwnAgent(agent) => json!({ "own_agent": agent.as_str() }),
    }
}

fn bypass_from_json(value: &Value) -> Option<BypassAttempt> {
    let (name, value) = value.as_object()?.iter().next()?;
    let text = || value.as_str().map(str::to_owned);
    match name.as_str() {
        "workflow" => Some(BypassAttempt::Workflow),
        "hook_call" => Some(BypassAttempt::HookCall),
        "agent_program" => text().map(BypassAttempt::AgentProgram),
        "helper_writes" => text().map(BypassAttempt::HelperWrites),
        "persons_command" => text().map(BypassAttempt::PersonsCommand),
        "no_name" => text().map(BypassAttempt::NoName),
        "own_agent" => AgentName::parse(&text()?).ok().map(BypassAttempt::OwnAgent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(path: ProtectedPath, bypass: Option<BypassAttempt>) -> Happening {
        Happening::Tool(ToolEvent::Requested {
            tool: "Write".to_owned(),
            worker: Some(Actor {
                id: WorkerId::parse("claude:1").unwrap(),
                agent: AgentName::parse("writer").unwrap(),
            }),
            protected_paths: vec![path],
            bypass,
        })
    }

    fn all_kinds() -> Vec<Happening> {
        let artifact = |step: Option<&str>| ProtectedPath::Artifact {
            artifact: ArtifactName::parse("plan").unwrap(),
            step: step.map(|step| StepId::parse(step).unwrap()),
        };
        let mut kinds = vec![
            Happening::Work(WorkEvent::Launched {
                call: CallId::parse("step-1").unwrap(),
                worker: WorkerId::parse("codex:7").unwrap(),
            }),
            Happening::Engine(EngineEvent::ChangedOutside(OutsideChange {
                during: vec![DispatchId(3)],
                author: Author::Worker,
                what: Outside::Elsewhere {
                    tool: "Write".to_owned(),
                    paths: vec!["/tmp/a".to_owned()],
                },
            })),
        ];
        for path in [
            ProtectedPath::State,
            ProtectedPath::Settings,
            ProtectedPath::Definition,
            ProtectedPath::Program,
            ProtectedPath::Stop,
            artifact(None),
            artifact(Some("s1")),
        ] {
            kinds.push(requested(path, None));
        }
        let text = || "x".to_owned();
        for bypass in [
            BypassAttempt::Workflow,
            BypassAttempt::HookCall,
            BypassAttempt::AgentProgram(text()),
            BypassAttempt::HelperWrites(text()),
            BypassAttempt::PersonsCommand(text()),
            BypassAttempt::NoName(text()),
            BypassAttempt::OwnAgent(AgentName::parse("helper").unwrap()),
        ] {
            kinds.push(requested(ProtectedPath::State, Some(bypass)));
        }
        kinds
    }

    #[test]
    fn reports_are_read_as_they_were_written_and_a_torn_line_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let call = CallId::parse("step-1").unwrap();
        fs::create_dir_all(claim::folder(&state)).unwrap();
        assert!(after(&state, &call, 0).is_empty());
        let given = Key::parse("k").unwrap();
        for what in &all_kinds() {
            add(&state, &call, what, Some(&given), Times::Each).unwrap();
        }
        let read = after(&state, &call, 0);
        let whats: Vec<Happening> = read.iter().map(|report| report.what.clone()).collect();
        assert_eq!(whats, all_kinds());
        assert!(
            read.iter()
                .all(|report| report.key.as_ref() == Some(&given))
        );
        assert_eq!(after(&state, &call, read.len() - 1).len(), 1);
        let mut file = OpenOptions::new()
            .append(true)
            .open(path(&state, &call))
            .unwrap();
        // What another version wrote hides nothing that comes after it.
        file.write_all(b"{\"what\":{\"kind\":\"unknown\"}}\n")
            .unwrap();
        add(&state, &call, &all_kinds()[0], Some(&given), Times::Each).unwrap();
        file.write_all(b"{\"at\":1").unwrap();
        assert_eq!(after(&state, &call, 0).len(), read.len() + 1);
        assert_eq!(after(&state, &call, read.len()).len(), 1);
    }

    #[test]
    fn what_says_nothing_new_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let call = CallId::parse("step-1").unwrap();
        fs::create_dir_all(claim::folder(&state)).unwrap();
        let launched = &all_kinds()[0];
        for _ in 0..3 {
            add(&state, &call, launched, None, Times::OnceForWork).unwrap();
        }
        let read = after(&state, &call, 0);
        assert_eq!(read.len(), 1);
        assert!(
            read[0].key.is_some(),
            "it counts once, also if it is read twice"
        );
        let asked = Happening::Session(engine::SessionEvent::Remarked {
            message: String::new(),
        });
        assert!(add(&state, &call, &asked, None, Times::Each).is_err());
    }
}
