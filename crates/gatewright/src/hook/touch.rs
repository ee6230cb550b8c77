//! What a tool call would plainly change: our own files, and artifacts that belong to an agent.
//!
//! Files that a tool names are compared as resolved paths. A shell's text is only read for what it
//! plainly says: whoever wants to hide it can, and `doctor` says so.

use std::path::{Component, Path, PathBuf};

use engine::{Artifact, ArtifactName, CommandName, Door, Source, StepId, Touch};
use hosts::Payload;
use hosts::claude::doors;

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
    let mut places = Places::new(&desk.context.environment, Some(&desk.state), Some(worktree));
    let given = opened.pipeline.definition().gives.iter();
    let given = given.map(|file| worktree.join(".claude").join(file));
    places
        .places
        .extend(given.map(|path| (resolved(&path), Touch::Definition)));
    let artifacts = artifacts(opened, worktree);
    let folder = folder_of(payload, worktree);
    let mut touches: Vec<Touch> = Vec::new();
    for path in paths {
        let path = resolved(&folder.join(path));
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
    let places = Places::new(environment, state.as_ref(), worktree);
    let folder = folder_of(payload, worktree.unwrap_or(Path::new("/")));
    let written = |path: &String| places.touched(&resolved(&folder.join(path))).is_some();
    paths.iter().any(written)
        || command.is_some_and(|command| places.named_in(&folder, command).is_some())
}

fn folder_of(payload: &Payload, worktree: &Path) -> PathBuf {
    match &payload.cwd {
        Some(folder) => resolved(Path::new(folder)),
        None => resolved(worktree),
    }
}

/// Where our own files lie.
struct Places {
    places: Vec<(PathBuf, Touch)>,
}

impl Places {
    fn new(environment: &Environment, state: Option<&State>, worktree: Option<&Path>) -> Self {
        let mut places = Vec::new();
        let mut add = |path: PathBuf, touch: Touch| places.push((resolved(&path), touch));
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

    /// What this path belongs to. A folder above one of ours is ours as well: to move it is to
    /// move what it holds.
    fn touched(&self, path: &Path) -> Option<Touch> {
        let mut places = self.places.iter();
        let found = places.find(|(place, _)| path.starts_with(place) || *place == *path);
        found.map(|(_, touch)| touch.clone())
    }

    fn named_in(&self, folder: &Path, command: &str) -> Option<Touch> {
        let mut places = self.places.iter();
        let found = places.find(|(place, _)| names(folder, command, place));
        found.map(|(_, touch)| touch.clone())
    }
}

/// The paths of every artifact that is a file, as they are in this run.
fn artifacts(opened: &Opened, worktree: &Path) -> Vec<(PathBuf, Touch)> {
    let definition = opened.pipeline.definition();
    let files = definition.artifacts.iter();
    files
        .flat_map(|(name, artifact)| paths_of(opened, worktree, name, artifact))
        .collect()
}

fn paths_of(
    opened: &Opened,
    worktree: &Path,
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
        Some((resolved(&worktree.join(path.as_str())), touch))
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
    let (Some(folder), Some(path)) = (folder.to_str(), path.to_str()) else {
        return false;
    };
    doors::mentions_from(folder, command, &[path])
}

/// The path with every link followed as far as it exists; the rest is taken by its words.
pub fn resolved(path: &Path) -> PathBuf {
    let plain = plain(path);
    for ancestor in plain.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return match plain.strip_prefix(ancestor) {
                Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                _ => real,
            };
        }
    }
    plain
}

/// Without `.` and `..`. Whatever does not exist has no links to follow.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                // A link is followed before its parent is meant.
                if let Ok(real) = plain.canonicalize() {
                    plain = real;
                }
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_as_far_as_they_lead() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/inner")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        symlink("real/new.txt", root.join("dangling")).unwrap();
        for (path, expected) in [
            ("real/a", "real/a"),
            ("link/a", "real/a"),
            ("link/absent/b", "real/absent/b"),
            ("link/inner/../a", "real/a"),
            ("real/./inner/../../link/a", "real/a"),
        ] {
            assert_eq!(resolved(&root.join(path)), root.join(expected), "{path}");
        }
    }

    #[test]
    fn our_own_places_are_known_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project/.claude")).unwrap();
        symlink(root.join("project/.claude"), root.join("project/other")).unwrap();
        let state = State::new(root.join("state"));
        let project = root.join("project");
        let places = Places::new(&Environment::default(), Some(&state), Some(&project));
        for (path, expected) in [
            ("state/store.db", Some(Touch::State)),
            ("project/.claude/settings.json", Some(Touch::Settings)),
            ("project/other/settings.local.json", Some(Touch::Settings)),
            ("project/.claude/agents/x.md", None),
            ("project/.gatewright/mine.toml", Some(Touch::Definition)),
            ("project/src/main.rs", None),
        ] {
            assert_eq!(
                places.touched(&resolved(&root.join(path))),
                expected,
                "{path}"
            );
        }
    }
}
