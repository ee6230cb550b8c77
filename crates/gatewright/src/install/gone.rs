//! After a change of the settings: are our hooks still there?

use std::path::Path;

use evidence::Project;
use hosts::settings::{Hook, HookCommand};
use runtime::environment::Environment;

use super::host::FORMAT;
use super::places::{self, Place};
use super::program::Program;

/// How our hooks are lost with the settings as they are now; nothing if they still hold.
pub fn hooks_gone(
    environment: &Environment,
    worktree: &Path,
    changed: Option<&str>,
) -> Option<String> {
    let (Ok(project), Ok(program)) = (Project::find(worktree), Program::of_process(environment))
    else {
        return Some("cannot read the settings".to_owned());
    };
    let places = places::look(environment, &project);
    if let Some(place) = places.iter().find(|place| disables(place)) {
        return Some(format!("{} disables all hooks", place.path.display()));
    }
    // A plugin's hooks stand in none of these files, and a session keeps those that it has loaded.
    if environment.in_plugin {
        return None;
    }
    let missing = missing(&places, &program)?;
    Some(match changed {
        Some(file) => format!("{file} changed, and no hook calls gatewright at {missing} any more"),
        None => format!("no hook calls gatewright at {missing} any more"),
    })
}

fn disables(place: &Place) -> bool {
    place
        .settings()
        .is_some_and(|settings| settings.disables_all_hooks())
}

/// The first event at which no settings file calls this program as it must be called.
fn missing(places: &[Place], program: &Program) -> Option<&'static str> {
    let settings = places.iter().filter_map(Place::settings);
    let hooks: Vec<Hook> = settings.flat_map(|it| it.hooks(&program.path)).collect();
    let holds = |event: &str| {
        let mut here = hooks.iter().filter(|hook| hook.event == event);
        here.any(|hook| holds(hook, program))
    };
    let mut events = FORMAT.registered.iter().map(|registered| registered.event);
    events.find(|event| !holds(event))
}

/// Does this hook call the program that runs now, as we would write it?
pub fn holds(hook: &Hook, program: &Program) -> bool {
    match &hook.command {
        HookCommand::Exec { program: path, .. } => {
            program.is_at(path) && hook.is_current(&FORMAT.call_by_path(path))
        }
        HookCommand::Shell(_) => hook.is_current(&FORMAT.call_by_name()),
    }
}
