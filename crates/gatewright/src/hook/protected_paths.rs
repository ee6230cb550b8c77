//! What a tool call would plainly change: our own files, and artifacts that belong to an agent.
//!
//! Files that a tool names are compared as resolved paths. A shell's text is only read for what it
//! plainly says: whoever wants to hide it can, and `doctor` says so.

use std::path::{Path, PathBuf};

use engine::{
    Artifact, ArtifactName, BypassAttempt, CommandName, ProtectedPath, Removed, Source, StepId,
};
use evidence::artifact_path;
use hosts::bypass_detection;
use hosts::{DEFAULT_SESSION_HOST, Payload, Program, SettingsPlaces};
use runtime::environment::Environment;
use runtime::state::State;
use runtime::workspace::{OpenRun, Workspace};

use super::resolve::Resolver;

/// Where the settings of the host lie.
const HOST: &SettingsPlaces = &DEFAULT_SESSION_HOST.places;

/// What was found in a call.
pub struct Looked {
    pub protected_paths: Vec<ProtectedPath>,
    pub bypass: Option<BypassAttempt>,
}

/// All that this call would touch, as far as it says so.
pub fn look(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    payload: &Payload,
    paths: &[String],
    command: Option<&str>,
) -> Looked {
    let grounds = grounds(workspace, opened);
    let resolver = Resolver::default();
    let places = if paths.is_empty() && command.is_none() {
        Places::none()
    } else {
        Places::of_run(&resolver, workspace, opened, &grounds)
    };
    let artifacts = artifacts(&resolver, opened, &grounds);
    let folder = folder_of(&resolver, payload, grounds.first().copied());
    let mut protected: Vec<ProtectedPath> = Vec::new();
    for path in paths {
        let path = resolver.resolved(&folder.join(path));
        protected.extend(places.touched(&path));
        protected.extend(
            artifacts
                .iter()
                .filter(|(own, _)| *own == path)
                .map(|(_, protected)| protected.clone()),
        );
    }
    if let Some(command) = command {
        protected.extend(places.named_in(&folder, command));
        let named = artifacts
            .iter()
            .filter(|(own, _)| names(&folder, command, own));
        protected.extend(named.map(|(_, protected)| protected.clone()));
    }
    Looked {
        protected_paths: protected,
        bypass: command
            .and_then(bypass_detection::in_command)
            .or_else(|| planted(opened, payload)),
    }
}

/// Where the run's files lie: first the folder of its own in which a worker works, where it has one.
fn grounds<'a>(workspace: &'a Workspace<'_>, opened: &'a OpenRun) -> Vec<&'a Path> {
    let worktrees = workspace
        .step_folder
        .iter()
        .chain([&opened.stored.worktree]);
    worktrees.map(Path::new).collect()
}

/// A prompt that a tool of the session would submit later is not a person's, whatever it looks like.
fn planted(opened: &OpenRun, payload: &Payload) -> Option<BypassAttempt> {
    let commands = opened.pipeline.definition().commands.keys();
    let commands: Vec<&str> = commands.map(CommandName::as_str).collect();
    bypass_detection::in_prompt(payload.planted.as_deref()?, &commands)
}

/// The same for our own files alone, without a store: what must be refused even when nothing else
/// can be decided.
pub fn is_protected(
    environment: &Environment,
    payload: &Payload,
    paths: &[String],
    command: Option<&str>,
) -> bool {
    let state = State::find(environment).ok();
    let worktree = environment.project.as_deref();
    let resolver = Resolver::default();
    let places = Places::new(&resolver, environment, state.as_ref(), worktree.as_slice());
    let folder = folder_of(&resolver, payload, worktree);
    let written = |path: &String| {
        let path = resolver.resolved(&folder.join(path));
        places.touched(&path).is_some()
    };
    paths.iter().any(written)
        || command.is_some_and(|command| places.named_in(&folder, command).is_some())
}

fn folder_of(resolver: &Resolver, payload: &Payload, worktree: Option<&Path>) -> PathBuf {
    let told = payload.cwd.as_deref().map(Path::new);
    resolver.resolved(told.or(worktree).unwrap_or(Path::new("/")))
}

/// The views whose removal stops the run, by their paths.
fn stops(opened: &OpenRun) -> Vec<PathBuf> {
    let definition = opened.pipeline.definition();
    let views = definition.views.iter();
    let stops = views.filter(|view| view.removed == Removed::Waits);
    let paths = stops.filter_map(|view| {
        let path = artifact_path(&view.path, definition, opened.run(), None).ok()?;
        Some(PathBuf::from(path.as_str()))
    });
    paths.collect()
}

/// Where our own files lie.
#[derive(Default)]
struct Places {
    places: Vec<(PathBuf, ProtectedPath)>,
    /// The folder of a worker's own. It may lie in a place of ours, and is none of it.
    own: Option<PathBuf>,
    /// All that lies around that folder in places of ours.
    around: Vec<(PathBuf, ProtectedPath)>,
}

impl Places {
    /// For whoever names no file.
    fn none() -> Self {
        Self::default()
    }

    fn new(
        resolver: &Resolver,
        environment: &Environment,
        state: Option<&State>,
        worktrees: &[&Path],
    ) -> Self {
        let mut places = Vec::new();
        let mut add = |path: PathBuf, protected: ProtectedPath| {
            places.push((resolver.resolved(&path), protected))
        };
        if let Some(state) = state {
            add(state.folder().to_owned(), ProtectedPath::State);
        }
        let roots = worktrees.iter().copied();
        let roots = roots.chain(environment.project.as_deref());
        let own = roots.map(|root| Some(root.join(HOST.folder)));
        let settings = own.chain([environment.settings_folder()]);
        for folder in settings.flatten() {
            for file in HOST.protected {
                add(folder.join(file), ProtectedPath::Settings);
            }
        }
        for worktree in worktrees {
            add(worktree.join(".gatewright"), ProtectedPath::Definition);
            // What a worker writes here would be the settings of the next one.
            let others = Program::ALL.into_iter().flat_map(Program::project_settings);
            for file in others.filter(|_| environment.call.is_some()) {
                add(worktree.join(file), ProtectedPath::Settings);
            }
        }
        if let Ok(program) = std::env::current_exe() {
            add(program, ProtectedPath::Program);
        }
        Self {
            places,
            ..Self::default()
        }
    }

    /// The same with what the run's pipeline gave to the host.
    fn of_run(
        resolver: &Resolver,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        grounds: &[&Path],
    ) -> Self {
        let environment = &workspace.context.environment;
        let mut places = Self::new(resolver, environment, Some(&workspace.state), grounds);
        let given = opened.pipeline.definition().gives.iter();
        let given = given.flat_map(|file| grounds.iter().map(move |root| (root, file)));
        let given = given.map(|(root, file)| root.join(HOST.folder).join(file));
        let given = given.map(|path| (resolver.resolved(&path), ProtectedPath::Definition));
        places.places.extend(given);
        let stops = stops(opened).into_iter();
        let stops = stops.flat_map(|path| grounds.iter().map(move |root| root.join(&path)));
        let stops = stops.map(|path| (resolver.resolved(&path), ProtectedPath::Stop));
        places.places.extend(stops);
        match &workspace.step_folder {
            Some(own) => places.without(resolver.resolved(Path::new(own))),
            None => places,
        }
    }

    /// The same without what is a worker's own.
    fn without(mut self, own: PathBuf) -> Self {
        let around = self
            .places
            .iter()
            .filter(|(place, _)| own.starts_with(place));
        self.around = around
            .flat_map(|(place, kind)| beside(place, &own).map(|path| (path, kind.clone())))
            .collect();
        self.own = Some(own);
        self
    }

    fn is_around_own(&self, place: &Path) -> bool {
        self.own.as_ref().is_some_and(|own| own.starts_with(place))
    }

    /// What this path belongs to. A folder above one of ours is ours as well: to move it is to
    /// move what it holds.
    fn touched(&self, path: &Path) -> Option<ProtectedPath> {
        let is_own = self.own.as_ref().is_some_and(|own| path.starts_with(own));
        let mut places = self.places.iter();
        let found = places
            .find(|(place, _)| path.starts_with(place) && !(is_own && self.is_around_own(place)));
        found.map(|(_, protected)| protected.clone())
    }

    /// Reading a shell's text takes time, so it is read for all places at once; only a text that
    /// names one is read again.
    fn named_in(&self, folder: &Path, command: &str) -> Option<ProtectedPath> {
        let mut named = self.for_a_shell();
        let all = self.for_a_shell().map(|(place, _)| place.as_path());
        if !names_any(folder, command, all) {
            return None;
        }
        let found = named.find(|(place, _)| names(folder, command, place));
        found.map(|(_, protected)| protected.clone())
    }

    /// A shell that works in its own folder changes whatever lies around that as well.
    fn for_a_shell(&self) -> impl Iterator<Item = &(PathBuf, ProtectedPath)> {
        let places = self.places.iter();
        let places = places.filter(|(place, _)| !self.is_around_own(place));
        self.around.iter().chain(places)
    }
}

/// All that lies in a folder, and in the folders on the way from there to another one, but not that one.
fn beside(folder: &Path, other: &Path) -> impl Iterator<Item = PathBuf> {
    let way: Vec<PathBuf> = other
        .ancestors()
        .take_while(|place| *place != folder)
        .map(Path::to_owned)
        .collect();
    let folders = way.clone().into_iter().filter_map(|place| {
        let listed = place.parent()?.read_dir().ok()?;
        Some(listed.filter_map(Result::ok).map(|entry| entry.path()))
    });
    folders.flatten().filter(move |path| !way.contains(path))
}

/// The paths of every artifact that is a file, as they are in this run.
fn artifacts(
    resolver: &Resolver,
    opened: &OpenRun,
    grounds: &[&Path],
) -> Vec<(PathBuf, ProtectedPath)> {
    let artifacts = &opened.pipeline.definition().artifacts;
    let files = grounds
        .iter()
        .flat_map(|root| artifacts.iter().map(move |it| (root, it)));
    files
        .flat_map(|(root, (name, artifact))| paths_of(resolver, (opened, root), name, artifact))
        .collect()
}

fn paths_of(
    resolver: &Resolver,
    (opened, worktree): (&OpenRun, &Path),
    name: &ArtifactName,
    artifact: &Artifact,
) -> Vec<(PathBuf, ProtectedPath)> {
    let Source::File(template) = &artifact.source else {
        return Vec::new();
    };
    let path = |step: Option<&StepId>| {
        let definition = opened.pipeline.definition();
        let path = evidence::artifact_path(template, definition, opened.run(), step).ok()?;
        let protected = ProtectedPath::Artifact {
            artifact: name.clone(),
            step: step.cloned(),
        };
        let path = worktree.join(path.as_str());
        Some((resolver.resolved(&path), protected))
    };
    if template.contains("{step}") {
        let graphs = opened.run().graphs.values();
        let members = graphs.flat_map(|graph| &graph.members);
        members
            .filter_map(|member| path(Some(&member.step.id)))
            .collect()
    } else {
        path(None).into_iter().collect()
    }
}

/// Does a text for a shell that runs in this folder plainly change this path?
fn names(folder: &Path, command: &str, path: &Path) -> bool {
    names_any(folder, command, [path])
}

fn names_any<'p>(folder: &Path, command: &str, paths: impl IntoIterator<Item = &'p Path>) -> bool {
    let paths: Vec<&str> = paths.into_iter().filter_map(Path::to_str).collect();
    folder
        .to_str()
        .is_some_and(|folder| bypass_detection::changes_any(folder, command, &paths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn our_own_places_are_known_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project/.claude")).unwrap();
        symlink(root.join("project/.claude"), root.join("project/other")).unwrap();
        let state = State::new(root.join("state"));
        let project = root.join("project");
        let (resolver, environment) = (Resolver::default(), Environment::default());
        let places = Places::new(&resolver, &environment, Some(&state), &[&project]);
        for (path, expected) in [
            ("state/store.db", Some(ProtectedPath::State)),
            (
                "project/.claude/settings.json",
                Some(ProtectedPath::Settings),
            ),
            (
                "project/other/settings.local.json",
                Some(ProtectedPath::Settings),
            ),
            ("project/.claude/agents/x.md", None),
            (
                "project/.gatewright/mine.toml",
                Some(ProtectedPath::Definition),
            ),
            ("project/src/main.rs", None),
        ] {
            assert_eq!(
                places.touched(&resolver.resolved(&root.join(path))),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn the_folder_of_a_worker_is_its_own_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["state/trees/r-1/a", "state/trees/r-1/b", "state/heads"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        let state = State::new(root.join("state"));
        let own = root.join("state/trees/r-1/a");
        let (resolver, environment) = (Resolver::default(), Environment::default());
        let places = Places::new(&resolver, &environment, Some(&state), &[&own]);
        let places = places.without(own.clone());
        for (path, expected) in [
            ("src/main.rs", None),
            (".gatewright/mine.toml", Some(ProtectedPath::Definition)),
            (".claude/settings.json", Some(ProtectedPath::Settings)),
            ("../b/main.rs", Some(ProtectedPath::State)),
            ("../../../heads/r-1", Some(ProtectedPath::State)),
            ("../../../working/new", Some(ProtectedPath::State)),
        ] {
            let found = places.touched(&resolver.resolved(&own.join(path)));
            assert_eq!(found, expected, "{path}");
        }
        for (command, expected) in [
            ("echo x > main.rs", None),
            ("rm -r src", None),
            ("rm .gatewright/mine.toml", Some(ProtectedPath::Definition)),
            ("echo x > ../b/main.rs", Some(ProtectedPath::State)),
            ("rm -r ../../../heads", Some(ProtectedPath::State)),
            ("rm -r ../../..", Some(ProtectedPath::State)),
            ("ls ../../../heads", None),
        ] {
            assert_eq!(places.named_in(&own, command), expected, "{command}");
        }
    }
}
