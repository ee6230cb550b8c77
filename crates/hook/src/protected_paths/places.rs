//! The places that a run protects, and what a change of a path or a shell's text changes of them.

use std::path::{Path, PathBuf};

use engine::{Artifact, ArtifactName, ProtectedPath, Removed, Source, StepId};
use evidence::artifact_path;
use hosts::bypass_detection::{Reach, Write};
use hosts::{DEFAULT_SESSION_HOST, Program, SettingsPlaces};
use runtime::environment::Environment;
use runtime::state::State;
use runtime::workspace::{OpenRun, Workspace};

use super::super::resolve::Resolver;
use super::super::shell_paths::Shell;

/// Where the settings of the host lie.
const HOST: &SettingsPlaces = &DEFAULT_SESSION_HOST.places;

/// Where our own files lie.
#[derive(Default)]
pub(super) struct Places {
    places: Vec<(PathBuf, ProtectedPath)>,
    /// The folder of a worker's own. It may lie inside a place of ours, which does not make it ours.
    own: Option<PathBuf>,
}

impl Places {
    pub(super) fn new(
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
    pub(super) fn of_run(
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
        places.places.extend(artifacts(resolver, opened, grounds));
        let place = opened.run().place.as_ref();
        let placed = place.and_then(|place| place.folder.as_deref());
        match workspace.step_folder.as_deref().or(placed) {
            Some(own) => places.with_own(resolver.resolved(Path::new(own))),
            None => places,
        }
    }

    /// The same where a worker has this folder of its own.
    pub(super) fn with_own(self, own: PathBuf) -> Self {
        let own = Some(own);
        Self { own, ..self }
    }

    /// What a change of this file changes.
    pub(super) fn touched(&self, path: &Path) -> Vec<ProtectedPath> {
        let is_own = self.own.as_ref().is_some_and(|own| path.starts_with(own));
        let is_around_own =
            |place: &Path| self.own.as_ref().is_some_and(|own| own.starts_with(place));
        let places = self.places.iter().filter(|(place, protected)| {
            let is_artifact = matches!(protected, ProtectedPath::Artifact { .. });
            let is_in = if is_artifact {
                path == place
            } else {
                path.starts_with(place)
            };
            is_in && !(is_own && is_around_own(place))
        });
        places.map(|(_, protected)| protected.clone()).collect()
    }

    /// What a change of this folder with all that it holds changes.
    fn touched_below(&self, path: &Path) -> Vec<ProtectedPath> {
        let places = self.places.iter();
        let below = places.filter(|(place, _)| place.starts_with(path) && place.exists());
        let below = below.map(|(_, protected)| protected.clone());
        below.chain(self.touched(path)).collect()
    }

    /// What a call changes that writes these files, by their names and by a shell's text.
    pub(super) fn changed(
        &self,
        shell: &Shell<'_>,
        paths: &[String],
        writes: &[Write],
    ) -> Vec<ProtectedPath> {
        let paths = paths.iter().map(|path| shell.folder().join(path));
        let by_name = paths.flat_map(|path| self.touched(&shell.resolver.resolved(&path)));
        let by_text = writes.iter().flat_map(|write| self.written(shell, write));
        by_name.chain(by_text).collect()
    }

    fn written(&self, shell: &Shell<'_>, write: &Write) -> Vec<ProtectedPath> {
        let Some(folder) = shell.after(&write.entered) else {
            return Vec::new();
        };
        let paths = shell.paths(&folder, &write.path).into_iter();
        let paths = paths.map(|path| shell.resolver.resolved(&path));
        let is_around_start = |path: &PathBuf| shell.folder().starts_with(path);
        match &write.reach {
            Reach::Itself => paths.flat_map(|path| self.touched(&path)).collect(),
            Reach::Tree => paths.flat_map(|path| self.touched_below(&path)).collect(),
            Reach::Picked => paths
                .filter(|path| !is_around_start(path))
                .flat_map(|path| self.touched_below(&path))
                .collect(),
            Reach::Copies(words) => {
                let names: Vec<_> = words
                    .iter()
                    .flat_map(|word| shell.paths(&folder, word))
                    .filter_map(|path| path.file_name().map(ToOwned::to_owned))
                    .collect();
                let copies = |path: PathBuf| {
                    let inside = names.iter().map(|name| path.join(name)).collect();
                    if path.is_dir() { inside } else { vec![path] }
                };
                paths
                    .flat_map(copies)
                    .flat_map(|path| self.touched(&shell.resolver.resolved(&path)))
                    .collect()
            }
        }
    }
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
        .flat_map(|(root, (name, artifact))| {
            let paths = paths_of(opened, name, artifact).into_iter();
            paths.map(move |(path, protected)| (resolver.resolved(&root.join(path)), protected))
        })
        .collect()
}

/// The paths of an artifact in the worktree: one, or one for each step.
fn paths_of(
    opened: &OpenRun,
    name: &ArtifactName,
    artifact: &Artifact,
) -> Vec<(PathBuf, ProtectedPath)> {
    let Source::File(template) = &artifact.source else {
        return Vec::new();
    };
    let path = |step: Option<&StepId>| {
        let definition = opened.pipeline.definition();
        let path = artifact_path(template, definition, opened.run(), step).ok()?;
        let protected = ProtectedPath::Artifact {
            artifact: name.clone(),
            step: step.cloned(),
        };
        Some((PathBuf::from(path.as_str()), protected))
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
