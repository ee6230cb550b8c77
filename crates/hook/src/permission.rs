//! The host would ask a person whether a tool may be used. The run answers for what it needs itself: the
//! file that the worker must leave now, and the commands of ours that its prompts name. Everything else
//! is the person's, so there is no answer.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{Dispatch, Leaves, ProtectedPath, StepId, Work};
use hosts::{Answer, Payload, Verdict, What, own_command, tool_names};
use runtime::environment::Environment;
use runtime::workspace::{OpenRun, Workspace};

use super::guarded_session::Guarded;
use super::protected_paths;

/// The answer to a question of the host in a session that holds a run.
pub(super) fn answer(guarded: &Guarded<'_, '_>, payload: &Payload) -> Answer {
    let What::ToolRequested {
        tool,
        actor,
        command,
        ..
    } = &payload.what
    else {
        return Answer::nothing();
    };
    let (workspace, opened) = (&*guarded.workspace, &guarded.opened);
    let is_needed = match command {
        Some(command) => {
            let environment = &workspace.context.environment;
            tool_names::is_shell(tool) && runs_our_command(environment, command)
        }
        None => {
            let owed = match actor {
                Some(actor) => {
                    let dispatch = opened.run().work_of(&actor.id);
                    dispatch.map(|dispatch| Owed::by_worker(opened, dispatch))
                }
                None => Owed::by_session(opened),
            };
            owed.is_some_and(|owed| owed.covers(workspace, opened, payload))
        }
    };
    if is_needed {
        Answer::from(Verdict::Allow)
    } else {
        Answer::nothing()
    }
}

/// What a piece of work must leave.
pub(super) struct Owed {
    leaves: Leaves,
    step: Option<StepId>,
}

impl Owed {
    pub(super) fn by_worker(opened: &OpenRun, dispatch: &Dispatch) -> Self {
        Self {
            leaves: engine::leaves_of(&opened.pipeline, dispatch),
            step: dispatch.duty.step().cloned(),
        }
    }

    /// The session's own work has no dispatch.
    fn by_session(opened: &OpenRun) -> Option<Self> {
        let (pipeline, run) = (&opened.pipeline, opened.run());
        let stage = pipeline.stage(&run.position.stage)?;
        match &stage.work {
            Work::Agent(work) if engine::session_works(pipeline, run) => Some(Self {
                leaves: work.leaves.clone(),
                step: None,
            }),
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Review(_)
            | Work::Steps(_)
            | Work::Route(_)
            | Work::End(_) => None,
        }
    }

    /// Does the call write one file, which this work must leave, and nothing more?
    pub(super) fn covers(
        &self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        payload: &Payload,
    ) -> bool {
        let What::ToolRequested {
            tool,
            paths,
            command: None,
            ..
        } = &payload.what
        else {
            return false;
        };
        if !tool_names::may_write(tool) || paths.len() != 1 {
            return false;
        }
        let looked = protected_paths::look(workspace, opened, payload, paths, None);
        let touched = looked.protected_paths;
        !touched.is_empty() && touched.iter().all(|path| self.names(path))
    }

    fn names(&self, path: &ProtectedPath) -> bool {
        match path {
            ProtectedPath::Artifact { artifact, step } => {
                let own = self.step.as_ref();
                self.leaves.all().contains(&artifact)
                    && step.as_ref().is_none_or(|step| Some(step) == own)
            }
            ProtectedPath::State
            | ProtectedPath::Settings
            | ProtectedPath::Definition
            | ProtectedPath::Program
            | ProtectedPath::Stop => false,
        }
    }
}

/// Is this one plain call of a harmless command of ours, by the program that guards?
fn runs_our_command(environment: &Environment, command: &str) -> bool {
    let Some(program) = own_command::harmless_call(command) else {
        return false;
    };
    let found = if program.contains('/') {
        Path::new(program)
            .is_absolute()
            .then(|| PathBuf::from(program))
    } else {
        on_search_path(environment, program)
    };
    let ours = env::current_exe().and_then(fs::canonicalize);
    let found = found.map(fs::canonicalize);
    matches!((found, ours), (Some(Ok(found)), Ok(ours)) if found == ours)
}

/// The file that a shell would run for this name.
fn on_search_path(environment: &Environment, program: &str) -> Option<PathBuf> {
    let path = environment.search_path.as_ref()?;
    let mut files = env::split_paths(path).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}
