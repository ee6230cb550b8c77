//! Work as hosts number it: calls, workers, beginnings, messages, ends told twice, sessions that die.

use engine::{
    Actor, AgentName, ArtifactName, Binding, CallId, Dispatch, Ending, Event, Evidence, Fault,
    Happening, Pipeline, Process, ProcessState, Run, Seen, SessionEvent, SessionId, StepId, Time,
    ToolEvent, Usage, Who, WorkEvent, WorkRef, WorkerId, needs,
};
use std::collections::BTreeSet;

use crate::acts::{agents, fresh, steps, words};
use crate::world::{World, change, hash, session};

/// What a host tells of the session that holds the run, and of those that want it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hosted {
    Asks {
        agent: String,
        step: Option<String>,
        call: String,
    },
    Begins {
        worker: String,
        agent: String,
    },
    Launched {
        call: String,
        worker: String,
    },
    Ends {
        call: Option<String>,
        worker: Option<String>,
        told: Told,
        left: Left,
    },
    Writes {
        to: String,
        call: String,
    },
    Uses {
        worker: String,
        agent: String,
    },
    /// A person interrupts it.
    Interrupts {
        worker: String,
    },
    /// The session itself turns to something else.
    Pauses(Left),
    Stops(Background),
    Prompts,
    Comes(Arrival),
    Leaves,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    Stopping,
    Finished,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Left {
    /// Every artifact is there; the one with the verdict says this word.
    Well(String),
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Background {
    Working,
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Arrival {
    /// The same session in the same process: after a compaction.
    Again,
    /// The same session in another process.
    Resumed,
    /// Another session in the same process, after a clear.
    Heir,
    /// Another session while the holder lives.
    Intruder,
    /// Another session after the holder's process has died.
    Successor,
}

/// The first number of a call that nobody has yet.
fn new_call(run: &Run) -> String {
    let open = run
        .dispatches
        .values()
        .filter_map(|open| open.call.as_ref());
    let known = run.workers.values().filter_map(|known| known.call.as_ref());
    let taken: BTreeSet<&str> = open.chain(known).map(CallId::as_str).collect();
    first_free("c", &taken)
}

fn new_worker(run: &Run) -> String {
    let taken = run.workers.keys().map(WorkerId::as_str).collect();
    first_free("w", &taken)
}

fn first_free(letter: &str, taken: &BTreeSet<&str>) -> String {
    let mut names = (1..).map(|number| format!("{letter}{number}"));
    names
        .find(|name| !taken.contains(name.as_str()))
        .expect("numbers do not end")
}

/// Everything that a host may tell here, true or not.
pub(crate) fn hosted(pipeline: &Pipeline, world: &World) -> Vec<Hosted> {
    let mut all = vec![
        Hosted::Stops(Background::Working),
        Hosted::Stops(Background::Idle),
        Hosted::Prompts,
        Hosted::Leaves,
    ];
    all.extend(
        [
            Arrival::Again,
            Arrival::Resumed,
            Arrival::Heir,
            Arrival::Intruder,
            Arrival::Successor,
        ]
        .map(Hosted::Comes),
    );
    if engine::session_works(pipeline, &world.run) {
        let left = lefts(pipeline, world).into_iter();
        all.extend(left.map(Hosted::Pauses));
    }
    all.extend(requests(pipeline, world));
    all.extend(beginnings(world));
    all.extend(ends(pipeline, world));
    all
}

/// Everything that may be left, a good word first.
fn lefts(pipeline: &Pipeline, world: &World) -> Vec<Left> {
    let mut words: Vec<String> = words(pipeline, world).into_iter().collect();
    words.sort_by_key(|word| !matches!(word.as_str(), "PASS" | "approved"));
    let words = words.into_iter().map(Left::Well);
    words.chain([Left::Nothing]).collect()
}

fn requests(pipeline: &Pipeline, world: &World) -> Vec<Hosted> {
    let run = &world.run;
    let mut all = Vec::new();
    for agent in agents(pipeline) {
        for step in steps(world, &agent) {
            let (agent, call) = (agent.clone(), new_call(run));
            all.push(Hosted::Asks { agent, step, call });
        }
    }
    for open in run.dispatches.values() {
        if let Some(call) = &open.call {
            all.push(Hosted::Asks {
                agent: open.agent.to_string(),
                step: None,
                call: call.to_string(),
            });
        }
    }
    let everybody = workers(run).map(|(worker, _)| worker);
    let written = everybody.chain([new_worker(run)]);
    all.extend(written.map(|to| Hosted::Writes {
        to,
        call: new_call(run),
    }));
    all
}

/// Everybody that the run knows, with the agent that it is.
fn workers(run: &Run) -> impl Iterator<Item = (String, String)> {
    let known = run.workers.iter();
    known.map(|(worker, known)| (worker.to_string(), known.agent.to_string()))
}

fn beginnings(world: &World) -> Vec<Hosted> {
    let run = &world.run;
    let open = run.dispatches.values().map(|open| open.agent.to_string());
    let newcomers = open
        .chain([String::from("stranger")])
        .map(|agent| (new_worker(run), agent));
    let mut all = Vec::new();
    for (worker, agent) in workers(run).chain(newcomers) {
        let (id, name) = (worker.clone(), agent.clone());
        all.push(Hosted::Interrupts {
            worker: worker.clone(),
        });
        all.push(Hosted::Begins { worker, agent });
        all.push(Hosted::Uses {
            worker: id,
            agent: name,
        });
    }
    for call in run
        .dispatches
        .values()
        .filter_map(|open| open.call.as_ref())
    {
        let everybody = workers(run).map(|(worker, _)| worker);
        for worker in everybody.chain([new_worker(run)]) {
            let call = call.to_string();
            all.push(Hosted::Launched { call, worker });
        }
    }
    all
}

/// A call and a worker, as far as a witness knows them.
type Named<'a> = (Option<&'a str>, Option<&'a str>);

/// Every pair of a call and a worker that an end may name: those of one work, those of two, old ones
/// and unknown ones.
fn ends(pipeline: &Pipeline, world: &World) -> Vec<Hosted> {
    let run = &world.run;
    let lefts = lefts(pipeline, world);
    let well = &lefts[0];
    let mut all = Vec::new();
    let mut tell = |(call, worker): Named<'_>, told: Told, left: &Left| {
        all.push(Hosted::Ends {
            call: call.map(str::to_owned),
            worker: worker.map(str::to_owned),
            told,
            left: left.clone(),
        });
    };
    for open in run.dispatches.values() {
        let (call, worker) = named(open);
        for left in &lefts {
            tell((None, worker), Told::Stopping, left);
            tell((call, worker), Told::Finished, left);
        }
        for left in [well, &Left::Nothing] {
            tell((call, None), Told::Finished, left);
            tell((call, worker), Told::Stopping, left);
        }
        tell((call, worker), Told::Failed, &Left::Nothing);
        tell((None, worker), Told::Failed, &Left::Nothing);
        // The host tells crosswise, or late.
        for other in run.dispatches.values().filter(|other| other.id != open.id) {
            tell((call, named(other).1), Told::Finished, well);
        }
        for (old_call, old_worker) in over(run) {
            tell((old_call, worker), Told::Finished, well);
            tell((call, old_worker), Told::Finished, well);
        }
    }
    for (call, worker) in over(run) {
        tell((call, worker), Told::Finished, well);
        tell((None, worker), Told::Stopping, well);
    }
    let (call, worker) = (new_call(run), new_worker(run));
    tell((Some(&call), Some(&worker)), Told::Finished, well);
    tell((None, None), Told::Finished, well);
    all
}

fn named(open: &Dispatch) -> Named<'_> {
    (
        open.call.as_ref().map(CallId::as_str),
        open.worker.as_ref().map(WorkerId::as_str),
    )
}

/// Those who are known and have no open work.
fn over(run: &Run) -> Vec<Named<'_>> {
    let idle = run
        .workers
        .iter()
        .filter(|(id, _)| run.work_of(id).is_none());
    idle.map(|(id, known)| (known.call.as_ref().map(CallId::as_str), Some(id.as_str())))
        .collect()
}

/// The event that a host's word is, and what a look at the world shows.
pub(crate) fn told(pipeline: &Pipeline, world: &World, hosted: &Hosted) -> (Event, Evidence) {
    let holder = world.run.session.as_ref().expect("somebody has held it");
    let by = match hosted {
        Hosted::Comes(arrival) => arriving(&holder.session, *arrival),
        _ => holder.session.clone(),
    };
    let event = Event {
        at: Time(0),
        by: Who::Session(by.clone()),
        what: happening(holder, by, hosted),
    };
    let evidence = look(pipeline, world, hosted, &event);
    (event, evidence)
}

fn arriving(holder: &SessionId, arrival: Arrival) -> SessionId {
    match arrival {
        Arrival::Again | Arrival::Resumed => holder.clone(),
        Arrival::Heir | Arrival::Intruder | Arrival::Successor => {
            let other = if *holder == session(1) { 2 } else { 1 };
            session(other)
        }
    }
}

fn happening(holder: &Binding, by: SessionId, hosted: &Hosted) -> Happening {
    match hosted {
        Hosted::Asks { agent, step, call } => Happening::Work(WorkEvent::Requested {
            agent: name(agent),
            step: step.as_ref().map(|step| StepId::parse(step).unwrap()),
            model: None,
            call: Some(call_id(call)),
            worker: None,
            service: None,
        }),
        Hosted::Begins { worker, agent } => Happening::Work(WorkEvent::Began {
            worker: actor(worker, agent),
        }),
        Hosted::Interrupts { worker } => Happening::Work(WorkEvent::Interrupted {
            worker: worker_id(worker),
        }),
        Hosted::Launched { call, worker } => Happening::Work(WorkEvent::Launched {
            call: call_id(call),
            worker: worker_id(worker),
        }),
        Hosted::Ends {
            call, worker, told, ..
        } => Happening::Work(WorkEvent::Ended {
            work: WorkRef::Host {
                call: call.as_deref().map(call_id),
                worker: worker.as_deref().map(worker_id),
            },
            ending: ending(*told),
            usage: Usage::default(),
        }),
        Hosted::Writes { to, call } => Happening::Work(WorkEvent::MessageRequested {
            to: worker_id(to),
            call: Some(call_id(call)),
            worker: None,
        }),
        Hosted::Uses { worker, agent } => Happening::Tool(ToolEvent::Requested {
            tool: "Read".into(),
            worker: Some(actor(worker, agent)),
            protected_paths: Vec::new(),
            bypass: None,
        }),
        Hosted::Pauses(_) => Happening::Work(WorkEvent::Ended {
            work: WorkRef::Agent {
                agent: name(engine::SESSION),
                step: None,
            },
            ending: Ending::Stopping { worked: true },
            usage: Usage::default(),
        }),
        Hosted::Stops(background) => Happening::Session(SessionEvent::StopRequested {
            background_work: *background == Background::Working,
        }),
        Hosted::Prompts => Happening::Session(SessionEvent::PromptSubmitted {
            text: "do it".to_owned(),
        }),
        Hosted::Comes(arrival) => Happening::Session(SessionEvent::Started {
            session: by,
            process: Some(process(holder, *arrival)),
            heir_of: (*arrival == Arrival::Heir).then(|| holder.session.clone()),
            unverified_host: None,
        }),
        Hosted::Leaves => Happening::Session(SessionEvent::Ended { session: by }),
    }
}

fn process(holder: &Binding, arrival: Arrival) -> Process {
    let own = holder.process.unwrap_or(Process { id: 1, started: 1 });
    match arrival {
        Arrival::Again | Arrival::Heir => own,
        Arrival::Resumed | Arrival::Intruder | Arrival::Successor => Process {
            id: own.id + 1,
            ..own
        },
    }
}

fn name(agent: &str) -> AgentName {
    AgentName::parse(agent).expect("an agent's name")
}

fn call_id(call: &str) -> CallId {
    CallId::parse(call).expect("a call")
}

fn worker_id(worker: &str) -> WorkerId {
    WorkerId::parse(worker).expect("a worker")
}

fn actor(worker: &str, agent: &str) -> Actor {
    Actor {
        id: worker_id(worker),
        agent: name(agent),
    }
}

fn ending(told: Told) -> Ending {
    match told {
        Told::Stopping => Ending::Stopping { worked: false },
        Told::Finished => Ending::Finished { worked: true },
        Told::Failed => Ending::Fault {
            fault: Fault::Crashed,
            reason: "it died".into(),
        },
    }
}

fn look(pipeline: &Pipeline, world: &World, hosted: &Hosted, event: &Event) -> Evidence {
    let needs = needs(pipeline, &world.run, event);
    let seen = |name: &ArtifactName| match hosted {
        Hosted::Ends {
            left: Left::Well(word),
            ..
        }
        | Hosted::Pauses(Left::Well(word)) => {
            let artifact = pipeline.definition().artifacts.get(name);
            let told = artifact.is_some_and(|artifact| artifact.outcome.is_some());
            Seen::Valid {
                content: fresh(world, name),
                word: told.then(|| word.clone()),
            }
        }
        _ => Seen::Absent,
    };
    let all = needs.artifacts.iter();
    Evidence {
        artifacts: all
            .map(|need| (need.artifact.clone(), seen(&need.artifact)))
            .collect(),
        tree: needs.tree.then(|| hash(world.tree)),
        changed: needs.changed_since.map(|_| Vec::new()),
        change: needs.change.map(|_| change(world)),
        holder: needs.holder.map(|_| match hosted {
            Hosted::Comes(Arrival::Successor) => ProcessState::Gone,
            _ => ProcessState::Alive,
        }),
        // Somebody changes every file after it was captured: that moves nothing.
        altered: needs.inputs,
        ..Evidence::default()
    }
}

/// Takes away what tells states apart that are the same: the numbers of calls, workers, sessions and
/// processes, and all workers that are over but the last.
pub(crate) fn normal(run: &mut Run) {
    let open: Vec<Dispatch> = run.dispatches.values().cloned().collect();
    let place = |id| open.iter().position(|open| open.id == id).map(|at| at + 1);
    let call = |call: &CallId| {
        let at = open
            .iter()
            .position(|open| open.call.as_ref() == Some(call));
        call_id(&format!("c{}", at.map_or(0, |at| at + 1)))
    };
    let worker = |worker: &WorkerId| {
        let at = open
            .iter()
            .position(|open| open.worker.as_ref() == Some(worker));
        worker_id(&format!("w{}", at.map_or(0, |at| at + 1)))
    };
    for open in run.dispatches.values_mut() {
        open.session = open.session.as_ref().map(|_| session(1));
        open.call = open.call.as_ref().map(call);
        open.worker = open.worker.as_ref().map(worker);
    }
    // The last that is over has the highest number, so it stays.
    let known = std::mem::take(std::sync::Arc::make_mut(&mut run.workers));
    let mut known: Vec<_> = known.into_iter().collect();
    known.sort_by_key(|(_, known)| known.dispatch);
    for (id, mut known) in known {
        known.call = known.call.as_ref().map(call);
        let place = place(known.dispatch).unwrap_or(0);
        known.dispatch = engine::DispatchId(u32::try_from(place).unwrap());
        std::sync::Arc::make_mut(&mut run.workers).insert(worker(&id), known);
    }
    if let Some(binding) = &mut run.session {
        binding.session = session(1);
        binding.process = Some(Process { id: 1, started: 1 });
    }
}
