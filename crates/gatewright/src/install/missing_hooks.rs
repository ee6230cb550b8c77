//! Are our hooks still installed after a change of the settings?

use std::path::Path;

use evidence::Project;
use hosts::settings::{Hook, HookCommand};
use runtime::environment::Environment;

use super::host::FORMAT;
use super::program::OurProgram;
use super::settings_files::{self, HostSettingsFile};

/// Why our hooks no longer work with the current settings; `None` if they do.
pub(crate) fn hooks_gone(
    environment: &Environment,
    worktree: &Path,
    changed: Option<&str>,
) -> Option<String> {
    let (Ok(project), Ok(program)) = (Project::find(worktree), OurProgram::of_process(environment))
    else {
        return Some("cannot read the settings".to_owned());
    };
    let places = settings_files::look(environment, &project);
    if let Some(place) = places.iter().find(|place| disables(place)) {
        return Some(format!("{} disables all hooks", place.path.display()));
    }
    // A plugin's hooks are not in these files, and a session keeps the hooks that it has loaded.
    if environment.in_plugin {
        return None;
    }
    let missing = missing(&places, &program)?;
    Some(match changed {
        Some(file) => format!("{file} changed, and no hook calls gatewright at {missing} any more"),
        None => format!("no hook calls gatewright at {missing} any more"),
    })
}

fn disables(place: &HostSettingsFile) -> bool {
    place
        .settings()
        .is_some_and(|settings| settings.disables_all_hooks())
}

/// The first event at which no settings file calls this program correctly.
fn missing(places: &[HostSettingsFile], program: &OurProgram) -> Option<&'static str> {
    let settings = places.iter().filter_map(HostSettingsFile::settings);
    let hooks: Vec<Hook> = settings.flat_map(|it| it.hooks(&program.path)).collect();
    let is_current = |event: &str| {
        let mut here = hooks.iter().filter(|hook| hook.event == event);
        here.any(|hook| is_current(hook, program))
    };
    let mut events = FORMAT.registered.iter().map(|registered| registered.event);
    events.find(|event| !is_current(event))
}

/// Does this hook call this program, as we would write it?
pub(crate) fn is_current(hook: &Hook, program: &OurProgram) -> bool {
    match &hook.command {
        HookCommand::Exec { program: path, .. } => {
            program.is_at(path) && hook.is_current(&FORMAT.call_by_path(path))
        }
        HookCommand::Shell(_) => hook.is_current(&FORMAT.call_by_name()),
    }
}
