//! Checks the hooks in the settings: are they complete, and do they call this program correctly?

use hosts::settings::{Hook, HookCommand, HookInvocation, HookRegistration, OnFailure};

use super::{CheckTopic, DoctorContext, Finding, claims};
use crate::claims::Claims;
use crate::host::{FORMAT, PLUGIN, TITLE};
use crate::program::{self, OurProgram};
use crate::settings_faults::HookInstallation;
use crate::settings_files::{FileState, HostSettingsFile, SHARED, Scope};
use crate::{missing_hooks, plugin_hooks};

pub(super) const ADVICE: &str = "`gatewright init` fixes it";

/// What keeps a settings file, or all hooks, from being used.
pub(super) fn settings(doctor: &DoctorContext<'_>) -> Vec<Finding> {
    let ground =
        HookInstallation::new(&doctor.context.environment, &doctor.program, &doctor.places);
    doctor
        .places
        .iter()
        .flat_map(|place| of_place(place, &doctor.program, &ground))
        .chain(of_plugins(doctor, &ground))
        .collect()
}

/// Hooks of plugins that may answer for a person.
fn of_plugins(doctor: &DoctorContext<'_>, ground: &HookInstallation<'_>) -> Vec<Finding> {
    let plugins = plugin_hooks::look(&doctor.context.environment, &doctor.places).into_iter();
    let faults = plugins.filter_map(|(path, settings)| Some((path, ground.answering(&settings)?)));
    faults
        .map(|(path, fault)| {
            let says = format!("{}: {fault}", path.display());
            CheckTopic::Settings.red(says, "disable the plugin, or answer at a terminal")
        })
        .collect()
}

fn of_place(
    place: &HostSettingsFile,
    program: &OurProgram,
    ground: &HookInstallation<'_>,
) -> Vec<Finding> {
    let path = place.path.display();
    let settings = match &place.found {
        FileState::Missing => return Vec::new(),
        FileState::Unusable(reason) => {
            let says = format!("{TITLE} cannot read {path}: {reason}");
            return vec![CheckTopic::Settings.red(says, "fix it, or move it away")];
        }
        FileState::Settings(settings) => settings,
    };
    let off = settings.disables_all_hooks().then(|| {
        CheckTopic::Settings.red(
            format!("{path} disables all hooks"),
            "remove `disableAllHooks`",
        )
    });
    let ours = missing_hooks::carries_guard(settings, program);
    let faults = settings.invalid_settings(FORMAT).into_iter().map(|fault| {
        let says = format!("{TITLE} ignores {path}: {fault}");
        if ours {
            CheckTopic::Settings.red(says, "fix it: Gatewright's hooks come from it")
        } else {
            CheckTopic::Settings.warning(says, "fix it")
        }
    });
    let harm = ground
        .faults(place.scope, settings)
        .into_iter()
        .map(|fault| {
            CheckTopic::Settings.red(format!("{path}: {fault}"), "remove it from the file")
        });
    off.into_iter().chain(faults).chain(harm).collect()
}

/// Our hooks, wherever they stand.
pub(super) fn hooks(doctor: &DoctorContext<'_>) -> Vec<Finding> {
    let found = found(doctor);
    if found.is_empty() {
        return vec![none(doctor)];
    }
    let missing = FORMAT.registered.iter().filter(|registered| {
        let mut here = found
            .iter()
            .filter(|(_, hook)| hook.event == registered.event);
        here.next().is_none()
    });
    let missing = missing.map(|registered| {
        let says = format!("no hook calls gatewright at {}", registered.event);
        CheckTopic::Hooks.red(says, ADVICE)
    });
    let wrong = found
        .iter()
        .flat_map(|(place, hook)| wrong(doctor, place, hook));
    let mut findings: Vec<Finding> = missing.chain(wrong).collect();
    if findings.is_empty() {
        findings.push(fine(&found));
    }
    findings.extend(claims::missing(&found));
    findings.extend(twice(&found));
    findings.extend(only_shared(&found));
    findings
}

/// The hooks that call us, with the file in which each stands.
pub(super) fn found<'a>(doctor: &'a DoctorContext<'_>) -> Vec<(&'a HostSettingsFile, Hook)> {
    let places = doctor.places.iter();
    places
        .flat_map(|place| {
            let settings = place.settings().into_iter();
            let hooks = settings.flat_map(|it| it.hooks(&doctor.program.path));
            hooks.map(move |hook| (place, hook))
        })
        .collect()
}

fn none(doctor: &DoctorContext<'_>) -> Finding {
    let mut settings = doctor.places.iter().filter_map(HostSettingsFile::settings);
    if settings.any(|settings| settings.enables_plugin(PLUGIN)) {
        CheckTopic::Hooks.fine("the hooks come with the plugin and were not checked")
    } else {
        CheckTopic::Hooks.red(
            "no settings file has the hooks: nothing is guarded",
            "`gatewright init` installs them",
        )
    }
}

/// Everything that is wrong with one hook.
fn wrong(doctor: &DoctorContext<'_>, place: &HostSettingsFile, hook: &Hook) -> Vec<Finding> {
    let at = format!("{} in {}", hook.event, place.path.display());
    let Some(registered) = FORMAT.registered.iter().find(|it| it.event == hook.event) else {
        let says = format!("{at}: gatewright does nothing at this event");
        return vec![CheckTopic::Hooks.warning(says, ADVICE)];
    };
    let red = |says: String| CheckTopic::Hooks.red(format!("{at}: {says}"), ADVICE);
    let line = line_fault(doctor, &hook.command, registered).map(red);
    let open = registered.on_failure == OnFailure::Block && hook.on_failure == OnFailure::GoOn;
    let open = open.then(|| {
        red("without `onFailure: block`, a crash of the hook lets the call through".to_owned())
    });
    let limits = hook.limits.iter().map(|limit| red(limit.clone()));
    let timeout = timeout_fault(hook, registered)
        .map(|says| CheckTopic::Hooks.warning(format!("{at}: {says}"), ADVICE));
    line.into_iter()
        .chain(open)
        .chain(limits)
        .chain(timeout)
        .collect()
}

fn line_fault(
    doctor: &DoctorContext<'_>,
    line: &HookCommand,
    registered: &HookRegistration,
) -> Option<String> {
    let (program, event) = (&doctor.program, registered.event);
    match line {
        HookCommand::Exec { program: path, .. } if !std::path::Path::new(path).exists() => Some(
            format!("{path} does not exist, so every tool call is refused"),
        ),
        HookCommand::Exec { program: path, .. } if !program.is_at(path) => {
            Some(format!("it calls {path}, which is not this program"))
        }
        HookCommand::Exec { program: path, .. }
            if !is_written(line, FORMAT.call_by_path(path), event) =>
        {
            Some("it calls gatewright with other arguments".to_owned())
        }
        HookCommand::Shell(_) if !is_written(line, FORMAT.call_by_name(), event) => {
            Some("it uses a shell command that `init` did not write".to_owned())
        }
        HookCommand::Exec { .. } => claims::fault(doctor, line),
        HookCommand::Shell(_) => name_fault(doctor),
    }
}

/// Is it a line that `init` writes, whatever it claims?
fn is_written(line: &HookCommand, call: HookInvocation, event: &str) -> bool {
    let claims = Claims::of_command(line);
    claims.is_some_and(|claims| *line == call.with_arguments(claims.arguments()).hook(event))
}

/// A hook that calls us by name does nothing if our program is not on the PATH.
fn name_fault(doctor: &DoctorContext<'_>) -> Option<String> {
    let found = program::find(&doctor.context.environment, "gatewright");
    match found.as_ref().and_then(|path| path.to_str()) {
        Some(path) if doctor.program.is_at(path) => None,
        Some(path) => Some(format!("the PATH finds {path}, which is not this program")),
        None => Some("gatewright is not on the PATH, so it does nothing here".to_owned()),
    }
}

fn timeout_fault(hook: &Hook, registered: &HookRegistration) -> Option<String> {
    match hook.timeout_seconds {
        Some(seconds) if registered.suffices(seconds) => None,
        Some(seconds) if seconds < registered.timeout_seconds as f64 => Some(format!(
            "a timeout of {seconds} seconds kills the hook before it answers"
        )),
        Some(seconds) => Some(format!("a timeout of {seconds} seconds is long to wait")),
        None => Some("without a timeout, a hook that hangs blocks the session".to_owned()),
    }
}

fn fine(found: &[(&HostSettingsFile, Hook)]) -> Finding {
    let mut files: Vec<String> = found
        .iter()
        .map(|(place, _)| place.path.display().to_string())
        .collect();
    files.dedup();
    CheckTopic::Hooks.fine(format!(
        "{} events call this program, from {}",
        FORMAT.registered.len(),
        files.join(" and ")
    ))
}

/// Commands that are the same run once; ours by path and ours by name are not the same.
fn twice(found: &[(&HostSettingsFile, Hook)]) -> Option<Finding> {
    let at = |event: &str| {
        let here = found.iter().filter(|(_, hook)| hook.event == event);
        let mut lines: Vec<&HookCommand> = here.map(|(_, hook)| &hook.command).collect();
        lines.dedup();
        lines.len()
    };
    let event = FORMAT.registered.iter().find(|it| at(it.event) > 1)?;
    Some(CheckTopic::Hooks.warning(
        format!("{} calls gatewright twice, from two files", event.event),
        "remove the hooks from one of the settings files",
    ))
}

/// The host reads a project's shared settings only in the folder in which it is started.
fn only_shared(found: &[(&HostSettingsFile, Hook)]) -> Option<Finding> {
    let shared = found.iter().all(|(place, _)| place.scope == Scope::Shared);
    shared.then(|| {
        CheckTopic::Hooks.warning(
            format!("a session that starts in a subfolder does not read {SHARED}"),
            "start sessions in the top folder, or type `gatewright init --user` once",
        )
    })
}
