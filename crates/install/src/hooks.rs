//! Chooses the settings file for our hooks, and cleans up the others.

use hosts::settings::{HookInvocation, Settings, StatusLine};
use runtime::failure::Failure;

use super::claims::Claims;
use super::host::{FORMAT, PLUGIN, TITLE};
use super::missing_hooks;
use super::plan::{Change, Plan};
use super::program::OurProgram;
use super::record::FileKind;
use super::settings_files::{FileState, HostSettingsFile, LOCAL, SHARED, Scope, USER};

/// Where to install the hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HooksTarget {
    /// In the project, for this machine, unless they are installed elsewhere.
    Local,
    /// In the project, for everybody.
    Shared,
    /// In a person's own settings, for all projects.
    User,
}

/// Plans the hooks of a project.
pub fn plan(
    plan: &mut Plan,
    target: HooksTarget,
    places: &[HostSettingsFile],
    program: &OurProgram,
    claims: &Claims,
) -> Result<(), Failure> {
    tell_switches(plan, places);
    let arguments = claims.arguments();
    match target {
        HooksTarget::Local => local(plan, places, program, claims),
        HooksTarget::Shared => {
            let call = FORMAT.call_by_name().with_arguments(arguments);
            put(plan, SHARED, &call, program, StatusLine::AsItIs)?;
            take_out(plan, LOCAL, program)
        }
        HooksTarget::User => {
            let call = FORMAT.call_by_path(&program.path);
            let call = call.with_arguments(arguments);
            put(plan, USER, &call, program, StatusLine::Ours)
        }
    }
}

fn local(
    plan: &mut Plan,
    places: &[HostSettingsFile],
    program: &OurProgram,
    claims: &Claims,
) -> Result<(), Failure> {
    let elsewhere = || places.iter().filter(|place| place.scope != Scope::Local);
    if let Some(place) = elsewhere().find(|place| is_complete(place, program, claims)) {
        plan.note(format!("the hooks are already in {}", place.path.display()));
        return Ok(());
    }
    if elsewhere().any(has_plugin) {
        plan.note("the hooks come with the plugin");
        return Ok(());
    }
    let mut others = elsewhere().filter_map(HostSettingsFile::settings);
    let status_line = if others.any(Settings::has_status_line) {
        StatusLine::AsItIs
    } else {
        StatusLine::Ours
    };
    let call = FORMAT.call_by_path(&program.path);
    let call = call.with_arguments(claims.arguments());
    put(plan, LOCAL, &call, program, status_line)
}

fn has_plugin(place: &HostSettingsFile) -> bool {
    let settings = place.settings();
    settings.is_some_and(|settings| settings.enables_plugin(PLUGIN))
}

/// Are all our hooks in this file, so that they hold?
fn is_complete(place: &HostSettingsFile, program: &OurProgram, claims: &Claims) -> bool {
    let Some(settings) = place.settings() else {
        return false;
    };
    let hooks = settings.hooks(&program.path);
    FORMAT.registered.iter().all(|registered| {
        let mut here = hooks.iter().filter(|hook| hook.event == registered.event);
        here.any(|hook| missing_hooks::is_current(hook, program, claims))
    })
}

fn put(
    plan: &mut Plan,
    path: &str,
    call: &HookInvocation,
    program: &OurProgram,
    status_line: StatusLine,
) -> Result<(), Failure> {
    let before = plan.base.read(path)?;
    let settings = settings(plan, path, before.as_deref().unwrap_or_default())?;
    if let Some(fault) = settings.invalid_settings(FORMAT).first() {
        let message = format!("{TITLE} ignores {}: {fault}", shown(plan, path));
        return Err(Failure::settings(message).hint("nothing was written; fix the file first"));
    }
    let after = settings.with_hooks(call, &program.path, status_line);
    let after = after.map_err(|unfit| unusable(plan, path, &unfit.to_string()))?;
    if settings.has_status_line() && !settings.has_our_status_line(&program.path) {
        plan.note(format!("{path} keeps your status line"));
    }
    plan.push(changed(path, before, Some(after.into_bytes())));
    Ok(())
}

/// Adds the rules to what the settings of the project allow.
pub fn allow(plan: &mut Plan, target: HooksTarget, mut rules: Vec<String>) -> Result<(), Failure> {
    let path = match target {
        HooksTarget::Local => LOCAL,
        HooksTarget::Shared => SHARED,
        HooksTarget::User => return Ok(()),
    };
    let at = plan.changes.iter().position(|change| change.path == path);
    let planned = at.map(|at| plan.changes.remove(at));
    let before = match &planned {
        Some(change) => change.before.clone(),
        None => plan.base.read(path)?,
    };
    let now = planned.and_then(|change| change.after);
    let now = now.or_else(|| before.clone()).unwrap_or_default();
    let settings = settings(plan, path, &now)?;
    rules.retain(|rule| !settings.allowed().contains(&rule.as_str()));
    let after = settings.with_allowed(&rules);
    let after = after.map_err(|unfit| unusable(plan, path, &unfit.to_string()))?;
    plan.push(changed(path, before, Some(after.into_bytes())));
    plan.allowed = rules;
    Ok(())
}

/// Names the rules that no settings file has.
pub fn offer(plan: &mut Plan, places: &[HostSettingsFile], rules: &[String]) {
    let files = || places.iter().filter_map(HostSettingsFile::settings);
    let is_new = |rule: &&String| !files().any(|file| file.allowed().contains(&rule.as_str()));
    let new: Vec<&str> = rules.iter().filter(is_new).map(String::as_str).collect();
    if !new.is_empty() {
        plan.note(format!(
            "to be asked less, add these rules to `permissions.allow`, or type `gatewright init --allow`: {}",
            new.join(", ")
        ));
    }
}

/// Plans a settings file without anything of ours.
pub fn take_out(plan: &mut Plan, path: &str, program: &OurProgram) -> Result<(), Failure> {
    let Some(before) = plan.base.read(path)? else {
        return Ok(());
    };
    let settings = settings(plan, path, &before)?;
    if settings.hooks(&program.path).is_empty() && !settings.has_our_status_line(&program.path) {
        return Ok(());
    }
    let after = settings.without_hooks(&program.path);
    let after = after.map_err(|unfit| unusable(plan, path, &unfit.to_string()))?;
    plan.push(changed(path, Some(before), Some(after.into_bytes())));
    Ok(())
}

fn settings(plan: &Plan, path: &str, bytes: &[u8]) -> Result<Settings, Failure> {
    Settings::parse(bytes).map_err(|unfit| unusable(plan, path, &unfit.to_string()))
}

fn unusable(plan: &Plan, path: &str, reason: &str) -> Failure {
    Failure::settings(format!("cannot change {}: {reason}", shown(plan, path)))
        .hint("nothing was written; fix the file first")
}

fn shown(plan: &Plan, path: &str) -> String {
    plan.base.root().join(path).display().to_string()
}

fn changed(path: &str, before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> Change {
    Change {
        path: path.to_owned(),
        kind: FileKind::Settings,
        before,
        after,
    }
}

/// What would keep our hooks from being called, wherever they stand.
fn tell_switches(plan: &mut Plan, places: &[HostSettingsFile]) {
    for place in places {
        let path = place.path.display();
        match &place.found {
            FileState::Settings(settings) if settings.disables_all_hooks() => plan.note(format!(
                "{path} disables all hooks: nothing is guarded until you remove that"
            )),
            FileState::Settings(_) | FileState::Missing => {}
            FileState::Unusable(reason) => {
                plan.note(format!("{TITLE} cannot read {path}: {reason}"));
            }
        }
    }
}
