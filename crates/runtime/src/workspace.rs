//! The workspace: an open store with the project around it, and the way from a run to its pipeline.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use engine::{
    ArtifactName, ArtifactNeed, Hash, Needs, Pipeline, Run, RunId, Source, Standing, Time,
};
use evidence::{Given, Looked, Looking, Project};
use store::{Access, Backend, Fence, Handle, Sqlite, StoredRun};

use crate::context::Context;
use crate::definition::{self, Trouble};
use crate::failure::Failure;
use crate::state::State;

pub struct Workspace<'a> {
    pub context: &'a Context,
    pub state: State,
    pub store: Handle,
    access: Access,
    project: OnceCell<Project>,
    /// The lease under which this workspace writes to its run.
    pub fence: Option<Fence>,
    /// The folder of its own in which a worker did what is looked at.
    pub step_folder: Option<String>,
    /// What a person should hear of the run's views, each in a line.
    pub notices: Vec<String>,
}

/// A run as it was looked at, with the pipeline to which it is pinned.
#[derive(Clone)]
pub struct OpenRun {
    pub stored: StoredRun,
    /// Shared, since a run is looked at more often than its pipeline changes, which is never.
    pub pipeline: Rc<Pipeline>,
}

impl OpenRun {
    /// Is the folder in which the run works still there?
    pub fn has_project(&self) -> bool {
        Path::new(&self.stored.worktree).is_dir()
    }

    pub fn run(&self) -> &Run {
        &self.stored.run
    }
}

impl<'a> Workspace<'a> {
    pub fn for_reading(context: &'a Context) -> Result<Self, Failure> {
        Self::open(context, Access::Read)
    }

    pub fn for_writing(context: &'a Context) -> Result<Self, Failure> {
        Self::open(context, Access::Write)
    }

    /// A workspace for reading; `None` when there is no store yet.
    pub fn if_there(context: &'a Context) -> Result<Option<Self>, Failure> {
        let state = context.state()?;
        match Sqlite::open(state.folder(), Access::Read) {
            Ok(store) => {
                let store = Handle::Alone(store);
                Ok(Some(Self::with(context, state, store, Access::Read)))
            }
            Err(store::Error::Absent { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn open(context: &'a Context, access: Access) -> Result<Self, Failure> {
        let state = context.state()?;
        let store = match (access, context.group()) {
            (Access::Write, Some(group)) => Handle::Together(Box::new(group.clone())),
            _ => Handle::Alone(Sqlite::open(state.folder(), access)?),
        };
        Ok(Self::with(context, state, store, access))
    }

    fn with(context: &'a Context, state: State, store: Handle, access: Access) -> Self {
        Self {
            context,
            state,
            store,
            access,
            project: OnceCell::new(),
            fence: None,
            step_folder: None,
            notices: Vec::new(),
        }
    }

    /// Whoever drives the run under a lease may have slept while another one took it.
    pub fn still_ours(&self, run: &RunId) -> Result<(), Failure> {
        let Some(fence) = self.fence else {
            return Ok(());
        };
        match self.store.lease(run)? {
            Some(lease) if lease.fence == fence => Ok(()),
            other => Err(store::Error::Fenced {
                run: run.clone(),
                given: fence,
                last: other.map_or(fence, |lease| lease.fence),
            }
            .into()),
        }
    }

    /// The process ends now, and with it all that is open: taking it apart first would cost time.
    pub fn leave(self) {
        self.store.leave();
    }

    /// The project of the folder that the command was typed in. It is looked for when it is needed:
    /// whoever names a run by its id does not need it.
    pub fn project(&self) -> Result<&Project, Failure> {
        if let Some(project) = self.project.get() {
            return Ok(project);
        }
        let project = find_project(&self.context.folder, &self.store)?;
        Ok(self.project.get_or_init(|| project))
    }

    /// The worktree that the command was typed in, as the store keeps it, which is text.
    pub fn worktree(&self) -> Result<String, Failure> {
        let root = &self.project()?.root;
        root.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("the folder {} has a name that is no text", root.display());
            Failure::no(message).hint("rename it")
        })
    }

    /// The run with its pipeline.
    pub fn opened(&mut self, stored: StoredRun) -> Result<OpenRun, Failure> {
        let pipeline = Rc::new(self.pipeline(stored.run.definition)?);
        Ok(OpenRun { stored, pipeline })
    }

    /// The run as it is now, with its pipeline.
    pub fn read(&mut self, run: &RunId) -> Result<OpenRun, Failure> {
        let stored = self.store.run(run)?;
        let unknown = || store::Error::UnknownRun { run: run.clone() };
        self.opened(stored.ok_or_else(unknown)?)
    }

    /// The pipeline to which a run is pinned: from the cache, else from the stored bytes. The file
    /// from which it once came is not read again.
    pub fn pipeline(&mut self, hash: Hash) -> Result<Pipeline, Failure> {
        if let Some(compiled) = self.store.compiled(hash)? {
            return Ok(Pipeline::from_cache(compiled));
        }
        let files = self
            .store
            .definition(hash)?
            .ok_or(store::Error::UnknownDefinition { hash })?;
        let compiled =
            definition::compile_pinned(&definition::unpinned(&files)).map_err(|trouble| {
                let first = match trouble {
                    Trouble::Rejected { problems, .. } => {
                        problems.into_iter().next().map(|p| p.message)
                    }
                    Trouble::Failed(failure) => Some(failure.to_string()),
                };
                Failure::no(format!(
                    "the definition of this run is not accepted any more ({})",
                    first.unwrap_or_default()
                ))
                .hint("start a new run with a corrected one")
            })?;
        if let Access::Write = self.access {
            self.store
                .put_compiled(hash, compiled.pipeline.definition())?;
        }
        Ok(compiled.pipeline)
    }

    /// Looks at what the engine needs to know, in the run's own worktree.
    pub fn look(
        &self,
        opened: &OpenRun,
        needs: &Needs,
        given: &BTreeMap<ArtifactName, Given>,
        reply: Option<&str>,
    ) -> Result<Looked, Failure> {
        if may_take_long(needs, opened) {
            self.context.expect_delay();
        }
        if *needs == Needs::default() {
            Ok(Looked::default())
        } else {
            self.looking(opened, given, |looking| {
                let looking = Looking {
                    reply,
                    given: given.clone(),
                    ..*looking
                };
                evidence::look(needs, &looking)
            })
        }
    }

    /// The project that a run belongs to, wherever the command was typed.
    pub fn project_of(&self, opened: &OpenRun) -> Result<Project, Failure> {
        self.project_at(&opened.run().id, &opened.stored.worktree)
    }

    fn project_at(&self, run: &RunId, worktree: &str) -> Result<Project, Failure> {
        if Path::new(worktree).is_dir() {
            find_project(Path::new(worktree), &self.store)
        } else {
            Err(Failure::outside(format!(
                "the project of {run} was {worktree}, which is gone"
            ))
            .hint("put it back, or cancel the run"))
        }
    }

    /// What lies at the artifacts' paths before a run begins: an earlier run left it.
    pub fn lying_there(
        &self,
        pipeline: &Pipeline,
        run: &Run,
        worktree: &str,
    ) -> Result<BTreeMap<ArtifactName, Hash>, Failure> {
        let needs = engine::needs_at_start(pipeline);
        let given = BTreeMap::new();
        let looked = self.looking_at((pipeline, run, worktree), &given, |looking| {
            evidence::look(&needs, looking)
        })?;
        let seen = looked.evidence.artifacts.into_iter();
        Ok(seen
            .filter_map(|(name, seen)| Some((name, seen.content()?)))
            .collect())
    }

    /// Hands on all that it takes to look, in the worktree that the run belongs to, wherever the
    /// command was typed.
    pub fn looking<T>(
        &self,
        opened: &OpenRun,
        given: &BTreeMap<ArtifactName, Given>,
        look: impl FnOnce(&Looking<'_>) -> Result<T, evidence::Error>,
    ) -> Result<T, Failure> {
        let worktree = self.step_folder.as_deref();
        let subject = (
            opened.pipeline.as_ref(),
            opened.run(),
            worktree.unwrap_or(&opened.stored.worktree),
        );
        self.looking_at(subject, given, look)
    }

    fn looking_at<T>(
        &self,
        (pipeline, run, worktree): (&Pipeline, &Run, &str),
        given: &BTreeMap<ArtifactName, Given>,
        look: impl FnOnce(&Looking<'_>) -> Result<T, evidence::Error>,
    ) -> Result<T, Failure> {
        let project = self.project_at(&run.id, worktree)?;
        let cache = self.state.cache();
        let contents = |hash: &Hash| self.store.content(*hash).ok().flatten();
        let looking = Looking {
            pipeline,
            run,
            project: &project,
            contents: &contents,
            cache: Some(&cache),
            secrets: &self.context.environment.secrets,
            given: given.clone(),
            reply: None,
        };
        Ok(look(&looking)?)
    }
}

/// Files are read and checked for this, perhaps many of them. What an agent said is there already.
fn may_take_long(needs: &Needs, opened: &OpenRun) -> bool {
    let artifacts = &opened.pipeline.definition().artifacts;
    let is_file = |need: &ArtifactNeed| {
        let artifact = artifacts.get(&need.artifact);
        artifact.is_some_and(|artifact| matches!(artifact.source, Source::File(_)))
    };
    let tree = needs.tree || needs.keep_tree || needs.changed_since.is_some();
    tree || !needs.inputs.is_empty() || needs.artifacts.iter().any(is_file)
}

/// Without git, a folder is part of the nearest folder above that has runs.
fn find_project(folder: &Path, store: &Handle) -> Result<Project, Failure> {
    let is_known = |key: &str| store.runs(Some(key)).is_ok_and(|runs| !runs.is_empty());
    Ok(Project::find_among(folder, is_known)?)
}

/// The run as it stands at this time: one past its `ttl` asks, also when nothing has recorded that yet.
pub fn as_of(pipeline: &Pipeline, run: &Run, now: Time) -> Run {
    let mut run = run.clone();
    if engine::is_stale(pipeline, &run, now) {
        run.standing = Standing::Stale;
    }
    run
}
