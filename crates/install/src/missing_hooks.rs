//! Are our hooks still installed after a change of the settings?

use std::path::Path;

use evidence::Project;
use hosts::DEFAULT_SESSION_HOST;
use hosts::settings::{Hook, HookCommand, Settings};
use runtime::environment::Environment;
use runtime::state::State;

use super::claims::Claims;
use super::host::{FORMAT, PLUGIN, TITLE};
use super::program::OurProgram;
use super::settings_faults::HookInstallation;
use super::settings_files::{self, HostSettingsFile};

/// Why our hooks no longer work with the current settings; `None` if they do.
pub fn hooks_gone(
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
    let ground = HookInstallation::new(environment, &program, &places);
    if let Some(harm) = harm(&places, &program, &ground, changed) {
        return Some(harm);
    }
    let mut own = Claims::of_process();
    // A plugin's hooks are not in these files, and a session keeps the hooks that it has loaded.
    if environment.in_plugin && own.is_empty() && !pretends_plugin(&places) {
        return None;
    }
    if own.is_empty() {
        own.state = State::find(environment)
            .ok()
            .map(|it| it.folder().to_owned());
    }
    let missing = missing(&places, &program, &own)?;
    Some(match changed {
        Some(file) => format!("{file} changed, and no hook calls gatewright at {missing} any more"),
        None => format!("no hook calls gatewright at {missing} any more"),
    })
}

/// What the changed file does to the guard, though our hooks are in place. A fault that was there before
/// is for `doctor`: it does not hold up a person who changes something else.
fn harm(
    places: &[HostSettingsFile],
    program: &OurProgram,
    ground: &HookInstallation<'_>,
    changed: Option<&str>,
) -> Option<String> {
    places.iter().find_map(|place| {
        let settings = place.settings()?;
        let is_changed = changed.is_none_or(|file| is_same(Path::new(file), &place.path));
        // A wrong value costs the file in which it stands.
        let invalid = settings.invalid_settings(FORMAT).into_iter();
        let mut invalid = invalid.filter(|_| carries_guard(settings, program));
        let invalid = invalid
            .next()
            .map(|fault| format!("{TITLE} ignores it, hooks included: {fault}"));
        let fault = invalid.or_else(|| {
            let mut faults = ground.faults(place.scope, settings).into_iter();
            faults.next().filter(|_| is_changed)
        });
        fault.map(|fault| format!("{}: {fault}", place.path.display()))
    })
}

/// Do our hooks, or the plugin that has them, come from this file?
pub(crate) fn carries_guard(settings: &Settings, program: &OurProgram) -> bool {
    !settings.hooks(&program.path).is_empty() || settings.enables_plugin(PLUGIN)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// Does a settings file set the variable by which the hooks of a plugin are known?
fn pretends_plugin(places: &[HostSettingsFile]) -> bool {
    let settings = places.iter().filter_map(HostSettingsFile::settings);
    let mut names = settings.flat_map(Settings::variables).map(|(name, _)| name);
    names.any(|name| name == DEFAULT_SESSION_HOST.variables.plugin)
}

fn disables(place: &HostSettingsFile) -> bool {
    place
        .settings()
        .is_some_and(|settings| settings.disables_all_hooks())
}

/// The first event at which no settings file calls this program correctly.
fn missing(
    places: &[HostSettingsFile],
    program: &OurProgram,
    own: &Claims,
) -> Option<&'static str> {
    let settings = places.iter().filter_map(HostSettingsFile::settings);
    let hooks: Vec<Hook> = settings.flat_map(|it| it.hooks(&program.path)).collect();
    let is_current = |event: &str| {
        let mut here = hooks.iter().filter(|hook| hook.event == event);
        here.any(|hook| is_current(hook, program, own))
    };
    let mut events = FORMAT.registered.iter().map(|registered| registered.event);
    events.find(|event| !is_current(event))
}

/// Does this hook call this program, as we would write it, for the same project and state folder?
/// Hooks of earlier versions name neither.
pub(crate) fn is_current(hook: &Hook, program: &OurProgram, own: &Claims) -> bool {
    let Some(claims) = Claims::of_command(&hook.command).filter(|it| it.agrees(own)) else {
        return false;
    };
    let call = match &hook.command {
        HookCommand::Exec { program: path, .. } if program.is_at(path) => FORMAT.call_by_path(path),
        HookCommand::Exec { .. } => return false,
        HookCommand::Shell(_) => FORMAT.call_by_name(),
    };
    hook.is_current(&call.with_arguments(claims.arguments()))
}
