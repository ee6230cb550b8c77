//! Starts a run, for a person's command and for a session.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use engine::{
    Beginning, Decision, Definition, Driver, Entry, Hash, ParamName, Pipeline, Process, Refusal,
    Reply, Run, RunId, SessionId, Step, Who,
};
use evidence::Project;
use hosts::Program;
use language::Sources;
use store::{Backend, Files, Key, NewRun, StoredRun};

use crate::caller::host::unverified_reason;
use crate::commit::stored_content;
use crate::context::Context;
use crate::definition::{self, DefinitionError};
use crate::drive_settings::{DriveRequest, DriveSettings};
use crate::enrolment::{self, Enrolled};
use crate::failure::Failure;
use crate::fleet_project::{self, FleetProject, KeptTree};
use crate::run_branch::{BranchBase, ChosenPlace};
use crate::state::State;
use crate::witness;
use crate::workspace::{BeforeStart, OpenRun, Workspace};
use crate::{
    clock, group_members, ids, params, path_collision, person_only, picture_file, run_environment,
    transact, tree_turn, trust, view_files,
};

/// How often to try another random id if one is taken.
const MOST_IDS: u32 = 8;

/// The request for a new run.
pub struct StartRun {
    /// A built-in pipeline, one of the project's own, or a path.
    pub pipeline: String,
    pub task: String,
    pub params: Vec<(ParamName, String)>,
    pub steps: Vec<Step>,
    pub id: Option<RunId>,
    pub queued: bool,
    /// How long to wait for other starts.
    pub patience: Duration,
    pub by: Who,
    pub holder: Holder,
    /// How a headless run is driven.
    pub drive: DriveRequest,
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
        /// The program whose session it is. The run records it as its host.
        program: Program,
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
            Self::Session {
                session, process, ..
            } => (Some(session.clone()), *process),
        }
    }

    /// The host that the run records. A run without a session has the program that runs its workers
    /// when the definition names none.
    fn host(&self) -> Program {
        match self {
            Self::Hand | Self::Headless => Program::DEFAULT,
            Self::Session { program, .. } => *program,
        }
    }
}

pub enum Started {
    Run(OpenRun),
    /// The same key had started this one before.
    Earlier(OpenRun),
    Refused(Refusal),
}

/// Starts the run.
pub fn start(
    workspace: &mut Workspace<'_>,
    starting: StartRun,
    key: &Key,
) -> Result<Started, DefinitionError> {
    let project = workspace.project()?;
    let word = &installed_path(workspace.context, project, &starting.pipeline)?;
    let sources = sources(workspace.context, project, word)?;
    let compiled = match starting.holder {
        Holder::Headless => definition::compile_for(&sources, starting.drive.default_runner())?,
        Holder::Hand | Holder::Session { .. } => definition::compile(&sources)?,
    };
    is_new(workspace, starting.id.as_ref())?;
    let definition = compiled.pipeline.definition();
    may_weaken(definition, &starting)?;
    let files = trust::pinned(workspace, word, &sources, definition)?;
    let (free_id, patience) = (starting.id.is_none(), starting.patience);
    let holder = starting.holder.clone();
    let settings = match &holder {
        Holder::Headless => Some(starting.drive.settings(workspace.context, definition)?),
        Holder::Hand | Holder::Session { .. } => None,
    };
    let place = match &holder {
        Holder::Headless => starting.drive.place.choose(project, definition)?,
        Holder::Hand | Holder::Session { .. } => ChosenPlace::Tree,
    };
    let (branch, notice) = match place {
        ChosenPlace::Branch(base) => (Some(base), None),
        ChosenPlace::Tree => (None, None),
        ChosenPlace::TreeBecause(reason) => {
            let notice = format!("the work is done in your tree, because {reason}");
            (None, Some(notice))
        }
    };
    if workspace.context.fleet().is_some() && branch.is_none() {
        let message = "a run in the fleet works on a branch of its own";
        return Err(Failure::refused(message)
            .hint("leave out --in-place")
            .into());
    }
    let beginning = beginning(workspace, files.hash(), &compiled.pipeline, starting)?;
    let starter = RunStarter {
        key,
        files: &files,
        pipeline: &compiled.pipeline,
        free_id,
        patience,
        holder,
        settings,
        branch,
    };
    let started = starter.begin(workspace, beginning)?;
    if let Started::Run(opened) = &started {
        witness::begin(workspace, opened);
        workspace.notices.extend(notice);
    }
    Ok(started)
}

/// An agent chooses neither how strict its own gates are nor a shorter way.
fn may_weaken(definition: &Definition, starting: &StartRun) -> Result<(), Failure> {
    if !matches!(starting.by, Who::Agent(_)) {
        return Ok(());
    }
    match params::weakening(definition, &starting.params) {
        Some(((name, value), weakened)) => {
            let command = format!("start … --param {name}={value}");
            let reason = match weakened {
                params::Weakened::Artifact => {
                    "it turns the check of an artifact into a warning, and only a person may choose that"
                }
                params::Weakened::Route => {
                    "it lets a route take a shorter way, and only a person may choose that"
                }
            };
            Err(person_only::refused(&command, reason))
        }
        None => Ok(()),
    }
}

/// The sources of a pipeline, as every command uses them: the installed file, with the members that
/// the project's settings add.
pub fn sources(
    context: &Context,
    project: &Project,
    word: &str,
) -> Result<Sources, DefinitionError> {
    let word = installed_path(context, project, word)?;
    let found = definition::find(&word, &context.folder, &project.root)?;
    Ok(group_members::with_members(found, &project.root)?)
}

/// The file that `init` wrote for the pipeline of this name, or the word itself. A person may edit
/// that file, so it takes precedence over the built-in pipeline.
pub fn installed_path(context: &Context, project: &Project, word: &str) -> Result<String, Failure> {
    // Without a home nothing is installed.
    let file = match context.state() {
        Ok(state) => installed(&state, project, word)?,
        Err(_) => None,
    };
    Ok(file.unwrap_or_else(|| word.to_owned()))
}

fn installed(state: &State, project: &Project, word: &str) -> Result<Option<String>, Failure> {
    let installed =
        enrolment::of(state, project).map_err(Failure::file("read from", state.folder()))?;
    let pipelines = installed.into_iter().flat_map(|it| it.pipelines);
    let mut files = pipelines
        .filter(|it| it.name.as_str() == word)
        .filter_map(|it| it.file);
    let file = files.next().map(|file| project.root.join(file));
    Ok(file
        .filter(|file| file.is_file())
        .map(|file| file.to_string_lossy().into_owned()))
}

/// A taken id is refused before anything else about its run is checked.
fn is_new(workspace: &Workspace<'_>, id: Option<&RunId>) -> Result<(), Failure> {
    let is_fleet = workspace.context.fleet().is_some();
    match id {
        Some(id) if ids::is_of_fleet(id) != is_fleet => {
            let prefix = if is_fleet { ids::FLEET_PREFIX } else { "r-" };
            let whose = if is_fleet {
                "a run of the fleet"
            } else {
                "a run of this machine"
            };
            let message =
                format!("the id of {whose} must begin with `{prefix}`, and {id} does not");
            Err(Failure::refused(message).hint("type another --id, or leave it out"))
        }
        Some(id) if workspace.store.run(id)?.is_some() => {
            Err(store::Error::RunExists { run: id.clone() }.into())
        }
        Some(_) | None => Ok(()),
    }
}

fn beginning(
    workspace: &Workspace<'_>,
    hash: Hash,
    pipeline: &Pipeline,
    starting: StartRun,
) -> Result<Beginning, Failure> {
    let definition = pipeline.definition();
    let params = params::gather(definition, &starting.params, &workspace.project()?.root)?;
    params::refuse_empty(definition, &params)?;
    let (session, process) = starting.holder.session();
    let environment = run_environment::fix(&workspace.state, workspace.project()?, &starting.by)?;
    let host = starting.holder.host().host_name();
    let unverified_host = match &starting.holder {
        Holder::Session { .. } => unverified_reason(&host, process.as_ref()),
        Holder::Hand | Holder::Headless => None,
    };
    Ok(Beginning {
        at: clock::now(),
        by: starting.by,
        id: starting.id.map_or_else(|| new_id(workspace.context), Ok)?,
        definition: hash,
        task: starting.task,
        params,
        driver: starting.holder.driver(),
        host,
        session,
        process,
        steps: starting.steps,
        before: BTreeMap::new(),
        queued: starting.queued,
        environment: Some(environment),
        base: None,
        branch: None,
        commit: None,
        unverified_host,
    })
}

/// Everything that stays the same while ids are tried.
struct RunStarter<'a> {
    key: &'a Key,
    files: &'a Files,
    pipeline: &'a Pipeline,
    free_id: bool,
    patience: Duration,
    holder: Holder,
    settings: Option<DriveSettings>,
    /// What the run's own branch begins with.
    branch: Option<BranchBase>,
}

impl RunStarter<'_> {
    /// Invariant: no other run starts between the collision check and the start.
    fn begin(
        &self,
        workspace: &mut Workspace<'_>,
        mut beginning: Beginning,
    ) -> Result<Started, Failure> {
        let home = home(workspace)?;
        let pipeline = self.pipeline;
        let _lock = workspace.state.lock_start(self.patience)?;
        for _ in 0..MOST_IDS {
            self.place(workspace, &home, &mut beginning)?;
            let decision = engine::begin(pipeline, &beginning);
            if let Reply::Refuse(refusal) = decision.reply {
                let advice = params::advice(pipeline.definition(), &beginning);
                return Ok(Started::Refused(advised(refusal, advice)));
            }
            let run = begun(&decision.entries)?;
            if !beginning.queued {
                path_collision::refuse(workspace, pipeline.definition(), &run, &home.worktree)?;
            }
            let before = if run.is_unplaced() {
                BeforeStart::default()
            } else {
                workspace.before_start(pipeline, &run, &home.worktree)?
            };
            beginning.before = before.artifacts;
            beginning.base = before.base;
            beginning.commit = before.commit;
            let decision = engine::begin(pipeline, &beginning);
            if let Some(base) = &self.branch {
                base.keep(&workspace.state, workspace.project()?, &beginning.id)?;
                publish(workspace, &beginning)?;
            }
            self.enrol(workspace, &beginning.id)?;
            match self.store(workspace, &home, &decision, &before.contents) {
                Ok(stored) => {
                    let opened = OpenRun {
                        stored: Rc::new(stored),
                        pipeline: Rc::new(pipeline.clone()),
                    };
                    picture_file::take_at_start(workspace, &opened);
                    let opened = complete_start(workspace, opened)?;
                    return Ok(Started::Run(opened));
                }
                Err(store::Error::RunExists { .. }) if self.free_id => {
                    beginning.id = new_id(workspace.context)?;
                }
                Err(error) => return Err(self.give_up(workspace, error)),
            }
        }
        Err(Failure::environment("found no free id for the run").hint("choose one with --id"))
    }

    /// A run with a branch of its own begins when its worktree is there. One in a tree that another headless
    /// run works in waits until that one is over.
    fn place(
        &self,
        workspace: &Workspace<'_>,
        home: &RunPlace,
        beginning: &mut Beginning,
    ) -> Result<(), Failure> {
        if let Some(base) = &self.branch {
            beginning.branch = Some(base.branch(&beginning.id, &beginning.task));
            beginning.queued = true;
        } else if self.holder == Holder::Headless && !beginning.queued {
            let holder = tree_turn::holder(workspace, &beginning.id, &home.worktree)?;
            beginning.queued = holder.is_some();
        }
        Ok(())
    }

    /// Invariant: the session's file exists before the run, so that no moment is unguarded. A file
    /// that names a missing run binds nobody. The same holds for the settings of a headless run.
    fn enrol(&self, workspace: &Workspace<'_>, run: &RunId) -> Result<(), Failure> {
        if let Some(settings) = &self.settings {
            settings.save(&workspace.state, run)?;
        }
        let Holder::Session {
            session, process, ..
        } = &self.holder
        else {
            return Ok(());
        };
        let enrolled = Enrolled {
            session: session.clone(),
            run: run.clone(),
            process: *process,
        };
        enrolment::enrol(&workspace.state, &enrolled)
            .map_err(Failure::file("write to", workspace.state.folder()))
    }

    /// After an error of the disk nobody knows whether the run was stored. The session's file then
    /// stays: if the run is there, it guards the session; if not, the file binds nobody.
    fn give_up(&self, workspace: &Workspace<'_>, error: store::Error) -> Failure {
        let is_uncertain = matches!(
            error,
            store::Error::Sqlite { .. } | store::Error::Database { .. }
        );
        if let Holder::Session { session, .. } = &self.holder
            && !is_uncertain
        {
            let _ = enrolment::withdraw(&workspace.state, session);
        }
        error.into()
    }

    fn store(
        &self,
        workspace: &mut Workspace<'_>,
        home: &RunPlace,
        decision: &Decision,
        contents: &[evidence::Content],
    ) -> Result<StoredRun, store::Error> {
        let contents: Vec<store::Content<'_>> = contents.iter().map(stored_content).collect();
        let new = NewRun {
            project: &home.project,
            worktree: &home.worktree,
            files: self.files,
            compiled: self.pipeline.definition(),
            key: Some(self.key),
            contents: &contents,
            secrets: workspace.context.environment.secrets(),
            status: &|run| engine::status(self.pipeline, run),
        };
        workspace.store.begin(&new, decision)
    }
}

/// Adds what to type to a refusal.
fn advised(refusal: Refusal, advice: Option<String>) -> Refusal {
    match advice {
        Some(advice) => Refusal {
            reason: format!("{}; {advice}", refusal.reason),
            ..refusal
        },
        None => refusal,
    }
}

/// Where a run belongs, as the store records it.
struct RunPlace {
    project: String,
    worktree: String,
}

fn home(workspace: &Workspace<'_>) -> Result<RunPlace, Failure> {
    let project = workspace.project()?;
    if workspace.context.fleet().is_some() {
        let remote = fleet_project::remote_of(project, &workspace.context.environment)?;
        return Ok(RunPlace {
            project: remote.clone(),
            worktree: remote,
        });
    }
    Ok(RunPlace {
        project: project.key.clone(),
        worktree: workspace.worktree()?,
    })
}

fn new_id(context: &Context) -> Result<RunId, Failure> {
    match context.fleet() {
        Some(_) => ids::fleet_run_id(),
        None => ids::run_id(),
    }
}

/// Other machines get the commit that the run begins with from the project's remote.
fn publish(workspace: &Workspace<'_>, beginning: &Beginning) -> Result<(), Failure> {
    let (Some(_), Some(branch)) = (workspace.context.fleet(), &beginning.branch) else {
        return Ok(());
    };
    let project = FleetProject {
        folder: &workspace.project()?.root,
        environment: &workspace.context.environment,
    };
    project.push(&beginning.id, &branch.base, KeptTree::Start)
}

/// The run after its first entries.
fn begun(entries: &[Entry]) -> Result<Run, Failure> {
    engine::replay(entries)
        .map_err(|damage| Failure::bug(format!("the run cannot start ({damage})")))
}

/// Completes the start of a stored run. It also repairs a start that a power failure interrupted.
pub fn complete_start(workspace: &mut Workspace<'_>, opened: OpenRun) -> Result<OpenRun, Failure> {
    let opened = transact::prepare(workspace, opened)?;
    let opened = view_files::render(workspace, opened);
    // The run has started. The next change reports a view that cannot be written.
    workspace.notices.clear();
    Ok(opened)
}

#[cfg(test)]
mod tests;
