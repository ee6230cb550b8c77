//! The workspace: an open store with its project, and the way from a run to its pipeline.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use engine::{
    ArtifactName, ArtifactNeed, Driver, Hash, Needs, Pipeline, Run, RunId, Seen, Source, Standing,
    Time,
};
use evidence::{GivenArtifact, LookContext, Looked, Project};
use store::{
    Access, Backend, Expected, Fence, FoundCompiled, Handle, Memory, RunCopy, Sqlite, StoredRun,
};

use crate::context::{Context, StoreChoice};
use crate::definition::{self, DefinitionError};
use crate::failure::Failure;
use crate::state::State;
use crate::{fleet_look, fleet_seat};

/// Up to this many bytes, git's index lists some 20,000 files. A look at so many is a short part of a hook's time.
const LARGEST_INDEX_AT_START: u64 = 2 * 1024 * 1024;

pub struct Workspace<'a> {
    pub context: &'a Context,
    pub state: State,
    pub store: Handle,
    access: Access,
    project: OnceCell<Project>,
    /// The lease under which this workspace writes to its run.
    pub fence: Option<Fence>,
    /// The worktree of the worker whose work is read, if it has one of its own.
    pub step_folder: Option<String>,
    /// The checkout that the host gave the worker: it leaves its artifacts there. The tree is the run's.
    pub host_checkout: Option<String>,
    /// Notices about the run's views for a person, one line each.
    pub notices: Vec<String>,
}

/// A run as it was read, with the pipeline that it is pinned to. Both are shared, because they are handed
/// on often and rarely change.
#[derive(Clone)]
pub struct OpenRun {
    pub stored: Rc<StoredRun>,
    pub pipeline: Rc<Pipeline>,
}

/// What there is before a run starts.
#[derive(Default)]
pub struct BeforeStart {
    /// The files at the artifacts' paths.
    pub artifacts: BTreeMap<ArtifactName, Hash>,
    /// The tree, and its content.
    pub base: Option<Hash>,
    pub contents: Vec<evidence::Content>,
    /// The commit that is checked out.
    pub commit: Option<String>,
}

impl OpenRun {
    /// Does the run's folder still exist? One that was removed may be there again, empty: an agent program opens a
    /// conversation only in its folder.
    pub fn has_project(&self) -> bool {
        let folder = Path::new(self.stored.worktree());
        match &self.run().place {
            Some(place) if place.folder.is_some() => {
                fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
            }
            Some(_) | None => folder.is_dir(),
        }
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

    /// A workspace for reading; `None` if there is no store yet.
    pub fn if_exists(context: &'a Context) -> Result<Option<Self>, Failure> {
        if context.fleet().is_some() {
            return Self::for_reading(context).map(Some);
        }
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
        let store = match (access, context.store_choice()) {
            (_, StoreChoice::Fleet(seat)) => seat.open()?,
            (Access::Write, StoreChoice::Group(group)) => Handle::Together(group.clone()),
            (Access::Read, StoreChoice::Group(_)) | (_, StoreChoice::Home) => {
                Handle::Alone(Sqlite::open(state.folder(), access)?)
            }
        };
        Ok(Self::with(context, state, store, access))
    }

    /// The same as `for_writing` and `find`, in one snapshot of the store.
    pub fn with_run(
        context: &'a Context,
        run: &RunId,
        expected: Expected,
    ) -> Result<(Self, Option<OpenRun>), Failure> {
        let state = context.state()?;
        if !matches!(context.store_choice(), StoreChoice::Home) {
            let mut workspace = Self::for_writing(context)?;
            let opened = workspace.find(run)?;
            return Ok((workspace, opened));
        }
        let (store, found) = Sqlite::open_and_read(state.folder(), Access::Write, run, expected)?;
        let mut workspace = Self::with(context, state, Handle::Alone(store), Access::Write);
        let opened = found.map(|found| workspace.compiled(found)).transpose()?;
        Ok((workspace, opened))
    }

    /// A workspace with the copy of one run: what is decided in it is stored nowhere.
    pub fn of_copy(context: &'a Context, copy: RunCopy) -> Result<(Self, OpenRun), Failure> {
        let pipeline = Pipeline::from_cache(copy.compiled.clone());
        let status = engine::status(&pipeline, &copy.stored.run);
        let opened = OpenRun {
            stored: Rc::new(copy.stored.clone()),
            pipeline: Rc::new(pipeline),
        };
        let store = Handle::Copy(Memory::with_copy(copy, status));
        let workspace = Self::with(context, context.state()?, store, Access::Write);
        Ok((workspace, opened))
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
            host_checkout: None,
            notices: Vec::new(),
        }
    }

    /// Fails if another process took the lease while this one was frozen.
    pub fn check_lease(&self, run: &RunId) -> Result<(), Failure> {
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

    /// Skips cleanup: the process ends now, and closing the store first would cost time.
    pub fn leave(self) {
        self.store.leave();
    }

    /// The project of the current folder. It is searched when needed: a run named by its id does
    /// not need it.
    pub fn project(&self) -> Result<&Project, Failure> {
        if let Some(project) = self.project.get() {
            return Ok(project);
        }
        let project = find_project(&self.context.folder, &self.store)?;
        Ok(self.project.get_or_init(|| project))
    }

    /// The current worktree, as text for the store.
    pub fn worktree(&self) -> Result<String, Failure> {
        let root = &self.project()?.root;
        root.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("the path {} is not valid UTF-8", root.display());
            Failure::refused(message).hint("rename it")
        })
    }

    /// The run with its pipeline.
    pub fn opened(&mut self, stored: StoredRun) -> Result<OpenRun, Failure> {
        let pipeline = Rc::new(self.pipeline(stored.run.definition)?);
        let stored = Rc::new(stored);
        Ok(OpenRun { stored, pipeline })
    }

    /// The current run with its pipeline.
    pub fn read(&mut self, run: &RunId) -> Result<OpenRun, Failure> {
        let unknown = || store::Error::UnknownRun { run: run.clone() };
        Ok(self.find(run)?.ok_or_else(unknown)?)
    }

    /// The same; `None` if there is no such run.
    pub fn find(&mut self, run: &RunId) -> Result<Option<OpenRun>, Failure> {
        let found = self.store.run_and_compiled(run)?;
        found.map(|found| self.compiled(found)).transpose()
    }

    fn compiled(&mut self, (stored, compiled): FoundCompiled) -> Result<OpenRun, Failure> {
        let pipeline = match compiled {
            Some(compiled) => Pipeline::from_cache(compiled),
            None => self.compile(stored.run.definition)?,
        };
        let (stored, pipeline) = (Rc::new(stored), Rc::new(pipeline));
        Ok(OpenRun { stored, pipeline })
    }

    /// The pipeline that a run is pinned to: from the cache, else from the stored bytes. Its
    /// original file is not read again.
    pub fn pipeline(&mut self, hash: Hash) -> Result<Pipeline, Failure> {
        if let Some(compiled) = self.store.compiled(hash)? {
            return Ok(Pipeline::from_cache(compiled));
        }
        self.compile(hash)
    }

    fn compile(&mut self, hash: Hash) -> Result<Pipeline, Failure> {
        let files = self
            .store
            .definition(hash)?
            .ok_or(store::Error::UnknownDefinition { hash })?;
        let compiled =
            definition::compile_pinned(&definition::unpinned(&files)).map_err(|trouble| {
                let first = match trouble {
                    DefinitionError::Rejected { problems, .. } => {
                        problems.into_iter().next().map(|p| p.message)
                    }
                    DefinitionError::Failed(failure) => Some(failure.to_string()),
                };
                Failure::refused(format!(
                    "this version does not accept the definition of this run ({})",
                    first.unwrap_or_default()
                ))
                .hint("start a new run with a corrected definition")
            })?;
        if let Access::Write = self.access {
            self.store
                .put_compiled(hash, compiled.pipeline.definition())?;
        }
        Ok(compiled.pipeline)
    }

    /// Reads the evidence that the engine needs, in the run's own worktree.
    pub fn look(
        &self,
        opened: &OpenRun,
        needs: &Needs,
        given: &BTreeMap<ArtifactName, GivenArtifact>,
        reply: Option<&str>,
    ) -> Result<Looked, Failure> {
        if may_take_long(needs, opened) {
            self.context.expect_delay();
        }
        if *needs == Needs::default() {
            return Ok(Looked::default());
        }
        let look_in = |folder: &str, needs: &Needs| {
            let (pipeline, run) = (&opened.pipeline, opened.run());
            self.with_look_context(pipeline, run, folder, given, |looking| {
                let looking = LookContext {
                    reply,
                    given: given.clone(),
                    ..*looking
                };
                evidence::look(needs, &looking)
            })
        };
        let looked = look_in(&self.folder(opened)?, needs)?;
        let looked = match &self.host_checkout {
            Some(checkout) => {
                let artifacts = Needs {
                    artifacts: needs.artifacts.clone(),
                    ..Needs::default()
                };
                left_in_checkout(looked, look_in(checkout, &artifacts)?)
            }
            None => looked,
        };
        Ok(self.timeless_in_checkout(looked))
    }

    /// A step's own checkout is made for it, so the times of its files say nothing about the work. The same is true
    /// where another machine looks at a run of its fleet.
    fn timeless_in_checkout(&self, mut looked: Looked) -> Looked {
        let is_elsewhere = self.context.fleet().is_some() && self.fence.is_none();
        if self.step_folder.is_some() || is_elsewhere {
            looked.evidence.written.clear();
        }
        looked
    }

    /// The project of a run, wherever the command was typed.
    pub fn project_of(&self, opened: &OpenRun) -> Result<Project, Failure> {
        let unplaced = self.store.fleet().is_some() && opened.run().is_unplaced();
        if unplaced {
            return self.home_of(opened);
        }
        if self.is_elsewhere(opened) {
            let run = &opened.run().id;
            let message = format!("another machine of the fleet has the files of {run}");
            return Err(Failure::refused(message)
                .hint(format!("`gatewright status {run}` shows how far it is")));
        }
        if let Some(failure) = removed_place(opened) {
            return Err(failure);
        }
        self.project_at(&opened.run().id, opened.stored.worktree())
    }

    /// Can the run go on? For that its project must exist, here or on another machine of the fleet.
    pub fn require_project(&self, opened: &OpenRun) -> Result<(), Failure> {
        if self.is_elsewhere(opened) {
            return Ok(());
        }
        self.project_of(opened).map(drop)
    }

    /// Does another machine of the fleet have the files of this run?
    pub fn is_elsewhere(&self, opened: &OpenRun) -> bool {
        let (Some(seat), Some(place)) = (self.context.fleet(), &opened.run().place) else {
            return false;
        };
        !(place.machine.as_ref() == Some(&seat.machine) && opened.has_project())
    }

    /// The project in which a run was started. The store of a fleet names its remote, of which this machine has a
    /// clone.
    pub fn home_of(&self, opened: &OpenRun) -> Result<Project, Failure> {
        let home = &opened.stored.home;
        if self.store.fleet().is_none() {
            return Ok(Project::find(Path::new(home))?);
        }
        Ok(Project::find(&fleet_seat::project_folder(
            &self.state,
            home,
        ))?)
    }

    fn project_at(&self, run: &RunId, worktree: &str) -> Result<Project, Failure> {
        find_project(existing(run, worktree)?, &self.store)
    }

    /// The folder of a run, where that is all of its project that matters.
    pub fn worktree_of<'o>(&self, opened: &'o OpenRun) -> Result<&'o Path, Failure> {
        existing(&opened.run().id, opened.stored.worktree())
    }

    /// What there is before a run starts: the files at the artifacts' paths, which an earlier run left, and
    /// the tree, where a route, a reviewer or a person will ask for the change.
    pub fn before_start(
        &self,
        pipeline: &Pipeline,
        run: &Run,
        worktree: &str,
    ) -> Result<BeforeStart, Failure> {
        let mut needs = engine::needs_at_start(pipeline, &run.params);
        needs.base |= engine::shows_change(pipeline) && self.may_look_at_start(run)?;
        let given = BTreeMap::new();
        let look = |context: &LookContext<'_>| evidence::look(&needs, context);
        let looked = self.with_look_context(pipeline, run, worktree, &given, look)?;
        let seen = looked.evidence.artifacts.into_iter();
        let artifacts = seen.filter_map(|(name, seen)| Some((name, seen.content()?)));
        let base = looked.evidence.base;
        let mut contents = looked.contents;
        contents.retain(|content| Some(content.hash) == base);
        Ok(BeforeStart {
            artifacts: artifacts.collect(),
            base,
            contents,
            commit: self.project_at(&run.id, worktree)?.commit(),
        })
    }

    /// A guarded run begins inside a hook, which has no time to read a large tree.
    fn may_look_at_start(&self, run: &Run) -> Result<bool, Failure> {
        Ok(match run.driver {
            Driver::Headless => true,
            Driver::ByHand => false,
            Driver::Guarded => {
                let repository = self.project()?.repository.as_ref();
                let index = repository.map(|repository| repository.git_dir.join("index"));
                let index = index.and_then(|path| path.metadata().ok());
                index.is_some_and(|index| index.len() <= LARGEST_INDEX_AT_START)
            }
        })
    }

    /// Calls `look` with the context of the run's worktree, wherever the command was typed.
    pub fn looking<T>(
        &self,
        opened: &OpenRun,
        given: &BTreeMap<ArtifactName, GivenArtifact>,
        look: impl FnOnce(&LookContext<'_>) -> Result<T, evidence::Error>,
    ) -> Result<T, Failure> {
        let folder = self.folder(opened)?;
        self.with_look_context(&opened.pipeline, opened.run(), &folder, given, look)
    }

    /// The same, in the run's own worktree even if the work is done in another one.
    pub fn looking_in_project<T>(
        &self,
        opened: &OpenRun,
        look: impl FnOnce(&LookContext<'_>) -> Result<T, evidence::Error>,
    ) -> Result<T, Failure> {
        self.looking_in(opened, opened.stored.worktree(), look)
    }

    /// The same, in this worktree.
    pub(crate) fn looking_in<T>(
        &self,
        opened: &OpenRun,
        folder: &str,
        look: impl FnOnce(&LookContext<'_>) -> Result<T, evidence::Error>,
    ) -> Result<T, Failure> {
        let none = BTreeMap::new();
        self.with_look_context(&opened.pipeline, opened.run(), folder, &none, look)
    }

    /// Where the work that is read was done.
    fn folder(&self, opened: &OpenRun) -> Result<String, Failure> {
        if let Some(own) = &self.step_folder {
            return Ok(own.clone());
        }
        let (run, is_over) = (
            opened.run(),
            engine::is_over(&opened.pipeline, opened.run()),
        );
        match fleet_look::elsewhere(self.context, &self.state, &self.store, run, is_over)? {
            Some(copy) => Ok(copy),
            None => Ok(opened.stored.worktree().to_owned()),
        }
    }

    fn with_look_context<T>(
        &self,
        pipeline: &Pipeline,
        run: &Run,
        worktree: &str,
        given: &BTreeMap<ArtifactName, GivenArtifact>,
        look: impl FnOnce(&LookContext<'_>) -> Result<T, evidence::Error>,
    ) -> Result<T, Failure> {
        let project = self.project_at(&run.id, worktree)?;
        let cache = self.state.cache();
        let contents = |hash: &Hash| self.store.content(*hash).ok().flatten();
        let looking = LookContext {
            pipeline,
            run,
            project: &project,
            contents: &contents,
            cache: Some(&cache),
            secrets: self.context.environment.secrets(),
            given: given.clone(),
            reply: None,
        };
        Ok(look(&looking)?)
    }
}

fn existing<'p>(run: &RunId, worktree: &'p str) -> Result<&'p Path, Failure> {
    let folder = Path::new(worktree);
    if folder.is_dir() {
        return Ok(folder);
    }
    let message = format!("the project of {run}, {worktree}, does not exist any more");
    Err(Failure::environment(message).hint("restore it, or cancel the run"))
}

/// Why a run cannot go on whose worktree was removed when it was over.
fn removed_place(opened: &OpenRun) -> Option<Failure> {
    let run = opened.run();
    let place = run.place.as_ref()?;
    let was_removed = place.folder.is_some() && !opened.has_project();
    if !was_removed || !engine::is_over(&opened.pipeline, run) {
        return None;
    }
    let (run, branch) = (&run.id, &place.branch.name);
    let message =
        format!("the worktree of {run} was removed after its end; its work is on {branch}");
    Some(Failure::refused(message).hint("start a new run"))
}

/// What a worker left in the checkout of its host counts before what is at the run's own path.
fn left_in_checkout(mut looked: Looked, checkout: Looked) -> Looked {
    let there = checkout.evidence.artifacts.into_iter();
    for (artifact, seen) in there.filter(|(_, seen)| *seen != Seen::Absent) {
        // The host made the file with the checkout, or the worker wrote it: its time does not say which.
        looked.evidence.written.remove(&artifact);
        looked.evidence.artifacts.insert(artifact, seen);
    }
    looked.evidence.commands.extend(checkout.evidence.commands);
    looked.contents.extend(checkout.contents);
    looked
}

/// Files may have to be read and checked. An agent's reply is in memory already.
fn may_take_long(needs: &Needs, opened: &OpenRun) -> bool {
    let artifacts = &opened.pipeline.definition().artifacts;
    let is_file = |need: &ArtifactNeed| {
        let artifact = artifacts.get(&need.artifact);
        artifact.is_some_and(|artifact| matches!(artifact.source, Source::File(_)))
    };
    let tree = needs.tree || needs.keep_tree || needs.changed_since.is_some();
    tree || !needs.inputs.is_empty() || needs.artifacts.iter().any(is_file)
}

/// Without git, a folder belongs to the nearest parent folder that has runs.
fn find_project(folder: &Path, store: &Handle) -> Result<Project, Failure> {
    let is_known = |key: &str| store.runs(Some(key)).is_ok_and(|runs| !runs.is_empty());
    Ok(Project::find_among(folder, is_known)?)
}

/// The run at this time: after its `ttl` it asks, even if nothing has recorded that yet.
pub fn as_of(pipeline: &Pipeline, run: &Run, now: Time) -> Run {
    let mut run = run.clone();
    if engine::is_stale(pipeline, &run, now) {
        run.standing = Standing::Stale;
    }
    run
}
