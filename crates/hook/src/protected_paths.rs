//! What a tool call would plainly change: our own files, and artifacts that belong to an agent.
//!
//! Files that a tool or a shell's text names are compared as resolved paths.

mod outside;
mod places;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::{BypassAttempt, CommandName, ProtectedPath};
use hosts::Payload;
use hosts::bypass_detection::{self, ShellText};
use hosts::shell::Word;
use runtime::environment::Environment;
use runtime::state::State;
use runtime::workspace::{OpenRun, Workspace};

pub(super) use outside::outside;
use places::Places;

use super::resolve::Resolver;
use super::shell_paths::Shell;
use install::settings_change;

/// What was found in a call.
pub(super) struct Looked {
    pub protected_paths: Vec<ProtectedPath>,
    pub bypass: Option<BypassAttempt>,
}

/// All that this call would touch, as far as it says so.
pub(super) fn look(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    payload: &Payload,
    paths: &[String],
    command: Option<&str>,
) -> Looked {
    let grounds = grounds(workspace, opened);
    let resolver = Resolver::default();
    let folder = folder_of(payload, grounds.first().copied());
    let shell = Shell::new(&workspace.context.environment, &resolver, folder);
    let command = command.map(ShellText::read);
    let writes = command.as_ref().map(ShellText::writes).unwrap_or_default();
    // Most calls write no file by name, and need no places.
    let protected_paths = if paths.is_empty() && writes.is_empty() {
        Vec::new()
    } else {
        let places = Places::of_run(&resolver, workspace, opened, &grounds);
        let paths = if is_taste(&places, &shell, payload, paths) {
            &[]
        } else {
            paths
        };
        places.changed(&shell, paths, &writes)
    };
    Looked {
        protected_paths,
        bypass: command
            .and_then(|command| bypass(&shell, &command))
            .or_else(|| in_scheduled_prompt(opened, payload)),
    }
}

/// Does the call change a settings file in matters of taste alone? What a worker that we started writes
/// there would be the settings of the next one, so it may not.
fn is_taste(places: &Places, shell: &Shell<'_>, payload: &Payload, paths: &[String]) -> bool {
    let ([path], Some(edit), None) = (paths, &payload.edit, &shell.environment.call) else {
        return false;
    };
    let path = shell.resolver.resolved(&shell.folder().join(path));
    let touched = places.touched(&path);
    if touched.is_empty() || touched.iter().any(|it| *it != ProtectedPath::Settings) {
        return false;
    }
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == ErrorKind::NotFound => String::new(),
        Err(_) => return false,
    };
    let after = edit.applied(&before);
    after.is_some_and(|after| settings_change::is_harmless(&before, &after))
}

/// The bypass that a text for a shell plainly attempts. A program called `gatewright` at a path is ours
/// only when it is the one that guards: people build programs, and ours too.
pub(super) fn bypass(shell: &Shell<'_>, command: &ShellText) -> Option<BypassAttempt> {
    command.bypass(&|program| {
        let is_this = |path: PathBuf| {
            let ours = std::env::current_exe().and_then(|path| path.canonicalize());
            matches!((path.canonicalize(), ours), (Ok(path), Ok(ours)) if path == ours)
        };
        if !program.contains('/') {
            return true;
        }
        let mut paths = shell
            .paths(shell.folder(), &Word::from(program))
            .into_iter();
        paths.any(is_this)
    })
}

/// Where the run's files lie: first the folder of its own in which a worker works, where it has one.
fn grounds<'a>(workspace: &'a Workspace<'_>, opened: &'a OpenRun) -> Vec<&'a Path> {
    let worktrees = workspace
        .step_folder
        .iter()
        .map(String::as_str)
        .chain([opened.stored.worktree()]);
    worktrees.map(Path::new).collect()
}

/// A prompt that a tool of the session would submit later is not a person's, whatever it looks like.
fn in_scheduled_prompt(opened: &OpenRun, payload: &Payload) -> Option<BypassAttempt> {
    let commands = opened.pipeline.definition().commands.keys();
    let commands: Vec<&str> = commands.map(CommandName::as_str).collect();
    bypass_detection::in_prompt(payload.scheduled_prompt.as_deref()?, &commands)
}

/// The same for our own files alone, without a store: what must be refused even when nothing else
/// can be decided.
pub(super) fn is_protected(
    environment: &Environment,
    payload: &Payload,
    paths: &[String],
    command: Option<&str>,
) -> bool {
    let writes = command.map(|command| ShellText::read(command).writes());
    let writes = writes.unwrap_or_default();
    if paths.is_empty() && writes.is_empty() {
        return false;
    }
    let state = State::find(environment).ok();
    let worktree = environment.project.as_deref();
    let resolver = Resolver::default();
    let places = Places::new(&resolver, environment, state.as_ref(), worktree.as_slice());
    let shell = shell(&resolver, payload, environment);
    !places.changed(&shell, paths, &writes).is_empty()
}

/// The shell that a call would start, as far as the payload and the environment tell.
pub(super) fn shell<'e>(
    resolver: &'e Resolver,
    payload: &'e Payload,
    environment: &'e Environment,
) -> Shell<'e> {
    let folder = folder_of(payload, environment.project.as_deref());
    Shell::new(environment, resolver, folder)
}

fn folder_of<'e>(payload: &'e Payload, worktree: Option<&'e Path>) -> &'e Path {
    let told = payload.cwd.as_deref().map(Path::new);
    told.or(worktree).unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod ordinary;
#[cfg(test)]
mod tests;
