//! What a tool call would plainly change: our own files, and artifacts that belong to an agent.
//!
//! Files that a tool names are compared as resolved paths. A shell's text is only read for what it
//! plainly says: whoever wants to hide it can, and `doctor` says so.

use std::path::{Path, PathBuf};

use engine::{Artifact, ArtifactName, CommandName, Door, Source, StepId, Touch};
use hosts::Payload;
use hosts::claude::doors;

use super::resolve::Resolver;
use crate::desk::{Desk, Opened};
use crate::environment::Environment;
use crate::state::State;

/// What was found in a call.
pub struct Looked {
    pub touches: Vec<Touch>,
    pub door: Option<Door>,
}

/// Can this tool change a file?
pub fn may_write(tool: &str) -> bool {
    !matches!(
        tool,
        "Read"
            | "Glob"
            | "Grep"
            | "LS"
            | "WebFetch"
            | "WebSearch"
            | "ToolSearch"
            | "TaskList"
            | "TaskGet"
    )
}

/// All that this call would touch, as far as it says so.
pub fn look(
    desk: &Desk<'_>,
    opened: &Opened,
    payload: &Payload,
    paths: &[String],
    command: Option<&str>,
) -> Looked {
    let worktree = Path::new(&opened.stored.worktree);
    let resolver = Resolver::default();
    let places = match paths.is_empty() && command.is_none() {
        true => Places::none(),
        false => Places::of_run(&resolver, desk, opened, worktree),
    };
    let artifacts = artifacts(&resolver, opened, worktree);
    let folder = folder_of(&resolver, payload, worktree);
    let mut touches: Vec<Touch> = Vec::new();
    for path in paths {
        let path = resolver.resolved(&folder.join(path));
        touches.extend(places.touched(&path));
        touches.extend(
            artifacts
                .iter()
                .filter(|(own, _)| *own == path)
                .map(|(_, touch)| touch.clone()),
        );
    }
    if let Some(command) = command {
        touches.extend(places.named_in(&folder, command));
        let named = artifacts
            .iter()
            .filter(|(own, _)| names(&folder, command, own));
        touches.extend(named.map(|(_, touch)| touch.clone()));
    }
    Looked {
        touches,
        door: command
            .and_then(doors::of_command)
            .or_else(|| planted(opened, payload)),
    }
}

/// A prompt that a tool of the session would submit later is not a person's, whatever it looks like.
fn planted(opened: &Opened, payload: &Payload) -> Option<Door> {
    let commands = opened.pipeline.definition().commands.keys();
    let commands: Vec<&str> = commands.map(CommandName::as_str).collect();
    doors::of_prompt(payload.planted.as_deref()?, &commands)
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
    let places = Places::new(&resolver, environment, state.as_ref(), worktree);
    let folder = folder_of(&resolver, payload, worktree.unwrap_or(Path::new("/")));
    let written = |path: &String| {
        let path = resolver.resolved(&folder.join(path));
        places.touched(&path).is_some()
    };
    paths.iter().any(written)
        || command.is_some_and(|command| places.named_in(&folder, command).is_some())
}

fn folder_of(resolver: &Resolver, payload: &Payload, worktree: &Path) -> PathBuf {
    match &payload.cwd {
        Some(folder) => resolver.resolved(Path::new(folder)),
        None => resolver.resolved(worktree),
    }
}

/// Where our own files lie.
struct Places {
    places: Vec<(PathBuf, Touch)>,
}

impl Places {
    /// For whoever names no file.
    fn none() -> Self {
        Self { places: Vec::new() }
    }

    fn new(
        resolver: &Resolver,
        environment: &Environment,
        state: Option<&State>,
        worktree: Option<&Path>,
    ) -> Self {
        let mut places = Vec::new();
        let mut add = |path: PathBuf, touch: Touch| places.push((resolver.resolved(&path), touch));
        if let Some(state) = state {
            add(state.folder().to_owned(), Touch::State);
        }
        let roots = [worktree, environment.project.as_deref()];
        let roots = roots.into_iter().flatten();
        let own = roots.map(|root| Some(root.join(".claude")));
        let settings = own.chain([environment.claude_folder()]);
        for folder in settings.flatten() {
            add(folder.join("settings.json"), Touch::Settings);
            add(folder.join("settings.local.json"), Touch::Settings);
            // What stands here is submitted later as if a person had typed it.
            add(folder.join("scheduled_tasks.json"), Touch::Settings);
        }
        if let Some(worktree) = worktree {
            add(worktree.join(".gatewright"), Touch::Definition);
        }
        if let Ok(program) = std::env::current_exe() {
            add(program, Touch::Program);
        }
        Self { places }
    }

    /// The same with what the run's pipeline gave to the host.
    fn of_run(resolver: &Resolver, desk: &Desk<'_>, opened: &Opened, worktree: &Path) -> Self {
        let environment = &desk.context.environment;
        let own = Self::new(resolver, environment, Some(&desk.state), Some(worktree));
        let given = opened.pipeline.definition().gives.iter();
        let given = given.map(|file| worktree.join(".claude").join(file));
        let given = given.map(|path| (resolver.resolved(&path), Touch::Definition));
        Self {
            places: own.places.into_iter().chain(given).collect(),
        }
    }

    /// What this path belongs to. A folder above one of ours is ours as well: to move it is to
    /// move what it holds.
    fn touched(&self, path: &Path) -> Option<Touch> {
        let mut places = self.places.iter();
        let found = places.find(|(place, _)| path.starts_with(place) || *place == *path);
        found.map(|(_, touch)| touch.clone())
    }

    /// Reading a shell's text takes time, so it is read for all places at once; only a text that
    /// names one is read again.
    fn named_in(&self, folder: &Path, command: &str) -> Option<Touch> {
        let all = self.places.iter().map(|(place, _)| place.as_path());
        if !names_any(folder, command, all) {
            return None;
        }
        let mut places = self.places.iter();
        let found = places.find(|(place, _)| names(folder, command, place));
        found.map(|(_, touch)| touch.clone())
    }
}

/// The paths of every artifact that is a file, as they are in this run.
fn artifacts(resolver: &Resolver, opened: &Opened, worktree: &Path) -> Vec<(PathBuf, Touch)> {
    let definition = opened.pipeline.definition();
    let files = definition.artifacts.iter();
    files
        .flat_map(|(name, artifact)| paths_of(resolver, (opened, worktree), name, artifact))
        .collect()
}

fn paths_of(
    resolver: &Resolver,
    (opened, worktree): (&Opened, &Path),
    name: &ArtifactName,
    artifact: &Artifact,
) -> Vec<(PathBuf, Touch)> {
    let Source::File(template) = &artifact.source else {
        return Vec::new();
    };
    let path = |step: Option<&StepId>| {
        let definition = opened.pipeline.definition();
        let path = evidence::artifact_path(template, definition, opened.run(), step).ok()?;
        let touch = Touch::Artifact {
            artifact: name.clone(),
            step: step.cloned(),
        };
        let path = worktree.join(path.as_str());
        Some((resolver.resolved(&path), touch))
    };
    match template.contains("{step}") {
        false => path(None).into_iter().collect(),
        true => {
            let graphs = opened.run().graphs.values();
            let members = graphs.flat_map(|graph| &graph.members);
            members
                .filter_map(|member| path(Some(&member.step.id)))
                .collect()
        }
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
        .is_some_and(|folder| doors::mentions_from(folder, command, &paths))
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
        let places = Places::new(&resolver, &environment, Some(&state), Some(&project));
        for (path, expected) in [
            ("state/store.db", Some(Touch::State)),
            ("project/.claude/settings.json", Some(Touch::Settings)),
            ("project/other/settings.local.json", Some(Touch::Settings)),
            ("project/.claude/agents/x.md", None),
            ("project/.gatewright/mine.toml", Some(Touch::Definition)),
            ("project/src/main.rs", None),
        ] {
            assert_eq!(
                places.touched(&resolver.resolved(&root.join(path))),
                expected,
                "{path}"
            );
        }
    }
}
