//! Checks what the hooks say about their own installation: is it this one?

use std::path::Path;

use hosts::settings::{Hook, HookCommand};

use super::hooks::{ADVICE, found};
use super::{CheckTopic, DoctorContext, Finding};
use crate::claims::Claims;
use crate::settings_files::{HostSettingsFile, Scope};

/// What is wrong with the claims of a hook: it guards another place than this one.
pub(super) fn fault(doctor: &DoctorContext<'_>, line: &HookCommand) -> Option<String> {
    let claims = Claims::of_command(line)?;
    let state = doctor.state.folder();
    let other = |folder: &&Path| *folder != state;
    if let Some(folder) = claims.state.as_deref().filter(other) {
        return Some(format!(
            "it uses the state folder {}, and this shell uses {}",
            folder.display(),
            state.display()
        ));
    }
    let project = claims.project.as_ref()?;
    if !claims.covers(&doctor.project.root) {
        let project = project.display();
        return Some(format!(
            "it was installed in {project}, so it does not guard this folder"
        ));
    }
    let recorded = doctor.installed.as_ref().ok().and_then(Option::as_ref);
    let is_unrecorded = recorded.is_some_and(|recorded| !recorded.is_always_on());
    (claims.is_always_on() && is_unrecorded)
        .then(|| "it promises each session a run, which the state folder does not".to_owned())
}

/// Hooks of an earlier version name neither the project nor the state folder.
pub(super) fn missing(hooks: &[(&HostSettingsFile, Hook)]) -> Option<Finding> {
    let unclaimed = |hook: &Hook| Claims::of_command(&hook.command).is_some_and(|it| it.is_empty());
    let (place, _) = hooks.iter().find(|(_, hook)| unclaimed(hook))?;
    let advice = match place.scope {
        Scope::User => "`gatewright init --user` updates them",
        Scope::Shared => "`gatewright init --shared` updates them",
        Scope::Managed | Scope::Main | Scope::Local => ADVICE,
    };
    let path = place.path.display();
    let says = format!(
        "the hooks in {path} are from an earlier version: the guard ends if the state folder is lost"
    );
    Some(CheckTopic::Hooks.warning(says, advice))
}

/// Does any hook guard another place than this one?
pub(super) fn is_elsewhere(doctor: &DoctorContext<'_>) -> bool {
    let mut hooks = found(doctor).into_iter();
    hooks.any(|(_, hook)| fault(doctor, &hook.command).is_some())
}

/// Do hooks stand in a file of this project, or name a state folder that is gone? Then something was
/// installed.
pub(super) fn promise(doctor: &DoctorContext<'_>) -> bool {
    let is_gone = |hook: &Hook| {
        let state = Claims::of_command(&hook.command).and_then(|claims| claims.state);
        state.is_some_and(|state| !state.exists())
    };
    let is_own = |scope| matches!(scope, Scope::Main | Scope::Shared | Scope::Local);
    let mut hooks = found(doctor).into_iter();
    hooks.any(|(place, hook)| is_own(place.scope) || is_gone(&hook))
}
