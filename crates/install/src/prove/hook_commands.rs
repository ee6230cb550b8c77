//! The command lines of our hooks: from the installed settings, or else as `init` would write them.

use std::path::PathBuf;

use evidence::Project;
use hosts::Event;
use hosts::settings::{Hook, HookCommand, Settings, StatusLine};
use runtime::context::Context;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::state::State;

use crate::claims::Claims;
use crate::host::FORMAT;
use crate::program::OurProgram;
use crate::settings_files::{self, HostSettingsFile, Scope};

/// The command at each event, and the settings files that have them.
pub(super) struct HookCommands {
    hooks: Vec<Hook>,
    program: OurProgram,
    /// The files with our hooks; empty if nothing is installed.
    pub installed: Vec<PathBuf>,
    pub settings: Vec<SettingsFile>,
}

/// A settings file for the sandbox.
pub(super) struct SettingsFile {
    pub owner: SettingsOwner,
    pub name: &'static str,
    pub text: String,
}

/// The folder of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingsOwner {
    Project,
    User,
}

impl HookCommands {
    pub(super) fn of_project(
        environment: &Environment,
        project: &Project,
    ) -> Result<Self, Failure> {
        let program = OurProgram::of_process(environment)?;
        let places = settings_files::look(environment, project);
        let off =
            |place: &&HostSettingsFile| place.settings().is_some_and(Settings::disables_all_hooks);
        if let Some(place) = places.iter().find(off) {
            let message = format!(
                "{} disables all hooks: no guard works",
                place.path.display()
            );
            return Err(Failure::refused(message).hint("remove `disableAllHooks` from it"));
        }
        let ours: Vec<(&HostSettingsFile, Vec<Hook>)> = places
            .iter()
            .filter_map(|place| Some((place, place.settings()?.hooks(&program.path))))
            .filter(|(_, hooks)| !hooks.is_empty())
            .collect();
        let installed = ours.iter().map(|(place, _)| place.path.clone()).collect();
        let settings = if ours.is_empty() {
            vec![our_own(&program)?]
        } else {
            let copies = ours.iter().map(|(place, _)| copied(place));
            copies.collect::<Result<_, _>>()?
        };
        Ok(Self {
            hooks: ours.into_iter().flat_map(|(_, hooks)| hooks).collect(),
            program,
            installed,
            settings,
        })
    }

    /// The command that the host runs at this event, or why it runs none.
    pub(super) fn at(&self, event: Event) -> Result<HookCommand, String> {
        let word = event.word();
        if self.installed.is_empty() {
            return Ok(FORMAT.call_by_path(&self.program.path).hook(word));
        }
        let mut here = self.hooks.iter().filter(|hook| hook.event == word);
        match here.next() {
            None => Err(format!("the settings have no Gatewright hook at {word}")),
            Some(hook) => match hook.limits.first() {
                Some(limit) => Err(format!("the hook at {word} is limited: {limit}")),
                None => Ok(hook.command.clone()),
            },
        }
    }

    /// The state folder that the hooks name, if they name one. It must be this one: the cases tell
    /// the hooks to use another one instead.
    pub(super) fn claimed_state(&self, context: &Context) -> Result<Option<State>, Failure> {
        let claims = self.hooks.iter();
        let claims = claims.filter_map(|hook| Claims::of_command(&hook.command)?.state);
        let folders: Vec<PathBuf> = claims.collect();
        if folders.is_empty() {
            return Ok(None);
        }
        let state = context.state()?;
        if let Some(other) = folders.iter().find(|folder| *folder != state.folder()) {
            let message = format!("the hooks use another state folder: {}", other.display());
            return Err(Failure::refused(message).hint("`gatewright init` updates them"));
        }
        Ok(Some(state))
    }

    /// The path of this program.
    pub(super) fn program(&self) -> &str {
        &self.program.path
    }

    /// Where the hooks are, for people.
    pub(super) fn describe(&self) -> String {
        match self.installed.as_slice() {
            [] => "this program, as `init` would install it".to_owned(),
            files => {
                let files = files.iter().map(|file| file.display().to_string());
                format!("the hooks in {}", files.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The settings that `init` would write.
fn our_own(program: &OurProgram) -> Result<SettingsFile, Failure> {
    let call = FORMAT.call_by_path(&program.path);
    let text = Settings::parse(b"{}\n")
        .and_then(|empty| empty.with_hooks(&call, &program.path, StatusLine::AsItIs))
        .map_err(|unfit| Failure::bug(format!("the generated settings are not usable: {unfit}")))?;
    Ok(SettingsFile {
        owner: SettingsOwner::Project,
        name: settings_files::LOCAL,
        text,
    })
}

fn copied(place: &HostSettingsFile) -> Result<SettingsFile, Failure> {
    let (owner, name) = match place.scope {
        Scope::Shared => (SettingsOwner::Project, settings_files::SHARED),
        Scope::Local | Scope::Main => (SettingsOwner::Project, settings_files::LOCAL),
        Scope::User | Scope::Managed => (SettingsOwner::User, settings_files::USER),
    };
    let text = std::fs::read_to_string(&place.path).map_err(Failure::file("read", &place.path))?;
    Ok(SettingsFile { owner, name, text })
}
