//! Starting a run: whoever asks for it, a person's command or a session, it begins here.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use engine::{
    Beginning, Decision, Driver, Entry, Hash, ParamName, Pipeline, Process, Refusal, Reply, Run,
    RunId, SessionId, Step, Who,
};
use evidence::Project;
use language::Sources;
use store::{Backend, Files, Key, NewRun, StoredRun};

use crate::context::Context;
use crate::definition::{self, Trouble};
use crate::desk::{Desk, Opened};
use crate::enrolment::{self, Enrolled};
use crate::failure::Failure;
use crate::headless::flags::Driving;
use crate::headless::settings::Settings;
use crate::hook::host;
use crate::state::State;
use crate::{chance, clock, collision, drive, members, params, rendering, trust, worker};

/// How often another id is tried, when the one that chance gave is taken.
const MOST_IDS: u32 = 8;

/// What a run is to begin with.
pub struct Starting<'a> {
    /// A built-in pipeline, one of the project's own, or a path.
    pub pipeline: &'a str,
    pub task: String,
    pub params: &'a [(ParamName, String)],
    pub steps: Vec<Step>,
    pub id: Option<RunId>,
    pub queued: bool,
    /// How long others may keep us from beginning.
    pub patience: Duration,
    pub by: Who,
    pub holder: Holder,
    /// How a headless run is driven.
    pub driving: &'a Driving,
}

/// Who will drive the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    Hand,
    /// Our own orchestrator.
    Headless,
    Session {
        session: SessionId,
        process: Option<Process>,
    },
}

impl Holder {
    fn driver(&self) -> Driver {
        match self {
            Self::Hand => Driver::ByHand,
            Self::Headless => Driver::Headless,
            Self::Session { .. } => Driver::Guarded,
        }
    }

    fn session(&self) -> (Option<SessionId>, Option<Process>) {
        match self {
            Self::Hand | Self::Headless => (None, None),
            Self::Session { session, process } => (Some(session.clone()), *process),
        }
    }
}

pub enum Begun {
    Run(Opened),
    /// The key had begun this one before.
    Earlier(Opened),
    Refused(Refusal),
}

/// Starts the run.
pub fn start(desk: &mut Desk<'_>, starting: Starting<'_>, key: &Key) -> Result<Begun, Trouble> {
    let project = desk.project()?;
    let word = &meant(desk.context, project, starting.pipeline)?;
    let sources = sources(desk.context, project, word)?;
    let compiled = match starting.holder {
        Holder::Headless => definition::compile_for(&sources, starting.driving.usual_runner())?,
        Holder::Hand | Holder::Session { .. } => definition::compile(&sources)?,
    };
    is_new(desk, starting.id.as_ref())?;
    let definition = compiled.pipeline.definition();
    let files = trust::pinned(desk, word, &sources, definition)?;
    let (free_id, patience) = (starting.id.is_none(), starting.patience);
    let holder = starting.holder.clone();
    let settings = match &holder {
        Holder::Headless => Some(starting.driving.settings(desk.context, definition)?),
        Holder::Hand | Holder::Session { .. } => None,
    };
    let beginning = beginning(desk, files.hash(), &compiled.pipeline, starting)?;
    let beginner = Beginner {
        key,
        files: &files,
        pipeline: &compiled.pipeline,
        free_id,
        patience,
        holder,
        settings,
    };
    Ok(beginner.begin(desk, beginning)?)
}

/// What a run of this pipeline is started with, as `lint` and all others look at it: the file that is
/// meant, with the members that the project's settings add.
pub fn sources(context: &Context, project: &Project, word: &str) -> Result<Sources, Trouble> {
    let word = meant(context, project, word)?;
    let found = definition::find(&word, &context.folder, &project.root)?;
    Ok(members::settled(found, &project.root)?)
}

/// The file that `init` made of the pipeline of this name, or the word itself. A person put the file
/// there to be edited, so it goes before the program's own of the same name.
pub fn meant(context: &Context, project: &Project, word: &str) -> Result<String, Failure> {
    // Without a home nothing is installed.
    let file = match context.state() {
        Ok(state) => installed(&state, project, word)?,
        Err(_) => None,
    };
    Ok(file.unwrap_or_else(|| word.to_owned()))
}

fn installed(state: &State, project: &Project, word: &str) -> Result<Option<String>, Failure> {
    let installed = enrolment::of_project(state, &project.key)
        .map_err(Failure::file("read from", state.folder()))?;
    let pipelines = installed.into_iter().flat_map(|it| it.pipelines);
    let mut files = pipelines
        .filter(|it| it.name.as_str() == word)
        .filter_map(|it| it.file);
    let file = files.next().map(|file| project.root.join(file));
    Ok(file
        .filter(|file| file.is_file())
        .map(|file| file.to_string_lossy().into_owned()))
}

/// That an id is taken is told before anything about the run that has it.
fn is_new(desk: &Desk<'_>, id: Option<&RunId>) -> Result<(), Failure> {
    match id {
        Some(id) if desk.store.run(id)?.is_some() => {
            Err(store::Error::RunExists { run: id.clone() }.into())
        }
        Some(_) | None => Ok(()),
    }
}

fn beginning(
    desk: &Desk<'_>,
    hash: Hash,
    pipeline: &Pipeline,
    starting: Starting<'_>,
) -> Result<Beginning, Failure> {
    let definition = pipeline.definition();
    let params = params::gather(definition, starting.params, &desk.project()?.root)?;
    params::refuse_empty(definition, &params)?;
    let (session, process) = starting.holder.session();
    Ok(Beginning {
        at: clock::now(),
        by: starting.by,
        id: starting.id.map_or_else(chance::run_id, Ok)?,
        definition: hash,
        task: starting.task,
        params,
        driver: starting.holder.driver(),
        session,
        process,
        steps: starting.steps,
        before: BTreeMap::new(),
        queued: starting.queued,
    })
}

/// All that stays the same while a free id is looked for.
struct Beginner<'a> {
    key: &'a Key,
    files: &'a Files,
    pipeline: &'a Pipeline,
    free_id: bool,
    patience: Duration,
    holder: Holder,
    settings: Option<Settings>,
}

impl Beginner<'_> {
    /// Invariant: from the look for other runs to the begin nobody else begins one.
    fn begin(&self, desk: &mut Desk<'_>, mut beginning: Beginning) -> Result<Begun, Failure> {
        let home = Home {
            project: desk.project()?.key.clone(),
            worktree: desk.worktree()?,
        };
        let pipeline = self.pipeline;
        let _turn = desk.state.wait_to_start(self.patience)?;
        for _ in 0..MOST_IDS {
            let decision = engine::begin(pipeline, &beginning);
            if let Reply::Refuse(refusal) = decision.reply {
                let advice = params::advice(pipeline.definition(), &beginning);
                return Ok(Begun::Refused(advised(refusal, advice)));
            }
            let run = begun(&decision.entries)?;
            if !beginning.queued {
                collision::refuse(desk, pipeline.definition(), &run, &home.worktree)?;
            }
            beginning.before = desk.lying_there(pipeline, &run, &home.worktree)?;
            let decision = engine::begin(pipeline, &beginning);
            self.enrol(desk, &beginning.id)?;
            match self.store(desk, &home, &decision) {
                Ok(stored) => {
                    let opened = settled(desk, stored, Rc::new(pipeline.clone()))?;
                    return self.marked(desk, opened).map(Begun::Run);
                }
                Err(store::Error::RunExists { .. }) if self.free_id => {
                    beginning.id = chance::run_id()?;
                }
                Err(error) => return Err(self.give_up(desk, error)),
            }
        }
        Err(Failure::outside("no free id was found for the run").hint("give one with --id"))
    }

    /// Invariant: the session's file is there before the run is, so no moment is unguarded. A file
    /// that names a run which is not there binds nobody. So with the settings of a headless run.
    fn enrol(&self, desk: &Desk<'_>, run: &RunId) -> Result<(), Failure> {
        if let Some(settings) = &self.settings {
            settings.keep(&desk.state, run)?;
        }
        let Holder::Session { session, process } = &self.holder else {
            return Ok(());
        };
        let enrolled = Enrolled {
            session: session.clone(),
            run: run.clone(),
            process: *process,
        };
        enrolment::enrol(&desk.state, &enrolled)
            .map_err(Failure::file("write to", desk.state.folder()))
    }

    fn marked(&self, desk: &mut Desk<'_>, opened: Opened) -> Result<Opened, Failure> {
        match &self.holder {
            Holder::Session { process, .. } => host::mark_doubt(desk, opened, process.as_ref()),
            _ => Ok(opened),
        }
    }

    fn give_up(&self, desk: &Desk<'_>, error: store::Error) -> Failure {
        if let Holder::Session { session, .. } = &self.holder {
            // What is left behind names a run that is not there, and binds nobody.
            let _ = enrolment::withdraw(&desk.state, session);
        }
        error.into()
    }

    fn store(
        &self,
        desk: &mut Desk<'_>,
        home: &Home,
        decision: &Decision,
    ) -> Result<StoredRun, store::Error> {
        let new = NewRun {
            project: &home.project,
            worktree: &home.worktree,
            files: self.files,
            compiled: self.pipeline.definition(),
            key: Some(self.key),
            contents: &[],
            secrets: &desk.context.environment.secrets,
            status: &|run| engine::status(self.pipeline, run),
        };
        desk.store.begin(&new, decision)
    }
}

/// A refusal that ends with what to type.
fn advised(refusal: Refusal, advice: Option<String>) -> Refusal {
    match advice {
        Some(advice) => Refusal {
            reason: format!("{}; {advice}", refusal.reason),
            ..refusal
        },
        None => refusal,
    }
}

/// Where a run belongs, as the store keeps it.
struct Home {
    project: String,
    worktree: String,
}

/// The run as its first entries tell it.
fn begun(entries: &[Entry]) -> Result<Run, Failure> {
    engine::replay(entries)
        .map_err(|damage| Failure::bug(format!("the run cannot begin ({damage})")))
}

/// What goes with a run that has just been stored, or that was and then the power went.
pub fn settled(
    desk: &mut Desk<'_>,
    stored: StoredRun,
    pipeline: Rc<Pipeline>,
) -> Result<Opened, Failure> {
    let run = &stored.run.id;
    if desk.state.search_path(run).is_none()
        && let Some(search) = &desk.context.environment.search_path
    {
        worker::keep(desk, &stored.run, pipeline.definition())?;
        desk.state.keep_search_path(run, search)?;
    }
    let opened = drive::prepare(desk, Opened { stored, pipeline })?;
    let opened = rendering::render(desk, opened);
    // A view that cannot be written now is told of by the next change, and the run has begun.
    desk.notices.clear();
    Ok(opened)
}
