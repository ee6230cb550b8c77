//! What a settings file does to the guard without touching our hooks: variables that mislead them, and
//! hooks of others that answer for a person.

use std::path::Path;

use hosts::DEFAULT_SESSION_HOST as HOST;
use hosts::settings::{HookCommand, Settings};
use runtime::environment::Environment;
use runtime::state::State;

use super::program::{self, OurProgram};
use super::settings_files::{HostSettingsFile, Scope};

/// Variables that run other code inside the hooks.
const INJECTED: [&str; 3] = ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"];
/// The same for hooks that a shell starts.
const IN_SHELL: [&str; 2] = ["BASH_ENV", "ENV"];
/// Marks a worker that we started.
const CALL: &str = "GATEWRIGHT_CALL";

/// The installation that a settings file may harm.
pub(crate) struct HookInstallation<'a> {
    environment: &'a Environment,
    program: &'a OurProgram,
    /// Does a shell start the hooks, and look for our program on the PATH?
    is_by_name: bool,
}

impl<'a> HookInstallation<'a> {
    pub(crate) fn new(
        environment: &'a Environment,
        program: &'a OurProgram,
        places: &[HostSettingsFile],
    ) -> Self {
        let settings = places.iter().filter_map(HostSettingsFile::settings);
        let mut hooks = settings.flat_map(|it| it.hooks(&program.path));
        let is_by_path = hooks.any(|hook| matches!(hook.command, HookCommand::Exec { .. }));
        Self {
            environment,
            program,
            is_by_name: !is_by_path,
        }
    }

    /// Everything in this file that harms the guard.
    pub(crate) fn faults(&self, scope: Scope, settings: &Settings) -> Vec<String> {
        let variables = settings.variables().into_iter();
        let misled = variables.filter_map(|(name, value)| self.misled(scope, name, &value));
        misled.chain(self.answering(settings)).collect()
    }

    fn misled(&self, scope: Scope, name: &str, value: &str) -> Option<String> {
        let how = if switches_off(scope, name, value) {
            "no hook is called"
        } else if HOST.variables.own.contains(&name) || name == CALL {
            "only the host may tell the hooks that"
        } else if INJECTED.contains(&name) || self.is_by_name && IN_SHELL.contains(&name) {
            "it runs other code in the hooks"
        } else if self.moves_state(name, value) {
            "the hooks and your commands would use another folder"
        } else if self.is_by_name && name == "PATH" && !self.finds_us(value) {
            "the hooks would not find this program"
        } else {
            return None;
        };
        Some(format!("`env.{name}` is set: {how}"))
    }

    /// Does the variable lead to another state folder, or to other settings of the person?
    fn moves_state(&self, name: &str, value: &str) -> bool {
        let differs = |present: Option<&Path>| present.is_some_and(|it| it != Path::new(value));
        let is_absolute = Path::new(value).is_absolute();
        let home = self.environment.home();
        match name {
            "XDG_STATE_HOME" => {
                let state = State::find(self.environment).ok();
                let state = state.as_ref().and_then(|state| state.folder().parent());
                is_absolute && differs(state)
            }
            "HOME" => is_absolute && differs(home.as_deref()),
            _ if name == HOST.places.folder_variable => {
                let folder = self.environment.settings_folder();
                is_absolute && differs(folder.as_deref())
            }
            _ => false,
        }
    }

    fn finds_us(&self, search: &str) -> bool {
        let search = ("PATH".into(), search.into());
        let found = program::find(&Environment::new([search]), "gatewright");
        let found = found.as_ref().and_then(|path| path.to_str());
        found.is_some_and(|path| self.program.is_at(path))
    }

    /// A hook of others that is called before a question may answer it, and nobody can see that.
    pub(crate) fn answering(&self, settings: &Settings) -> Option<String> {
        let event = *self.others(settings).first()?;
        let tool = HOST.question_tool;
        Some(format!(
            "a hook of another program at {event} is called before {tool} and may answer for you"
        ))
    }

    fn others(&self, settings: &Settings) -> Vec<&'static str> {
        settings.others_before(HOST.question_tool, &self.program.path)
    }
}

/// Does the variable start sessions without hooks? The host obeys it only outside of projects.
fn switches_off(scope: Scope, name: &str, value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let is_on = ["1", "true", "yes", "on"].contains(&value.as_str());
    let is_obeyed = match scope {
        Scope::Managed | Scope::User => true,
        Scope::Main | Scope::Shared | Scope::Local => false,
    };
    is_obeyed && is_on && HOST.variables.switches.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        faults_in(Scope::Local, text)
    }

    fn faults_in(scope: Scope, text: &str) -> Vec<String> {
        let variables = [("HOME", "/me"), ("PATH", "/bin")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::new(variables);
        let program = OurProgram::of_process(&environment).unwrap();
        let ground = HookInstallation {
            environment: &environment,
            program: &program,
            is_by_name: false,
        };
        ground.faults(scope, &Settings::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn variables_that_mislead_the_hooks_are_found_and_others_are_not() {
        for (name, value, expected) in [
            ("XDG_STATE_HOME", "/elsewhere", true),
            ("XDG_STATE_HOME", "/me/.local/state", false),
            ("XDG_STATE_HOME", "relative", false),
            ("HOME", "/other", true),
            ("HOME", "/me", false),
            ("CLAUDE_CONFIG_DIR", "/other", true),
            ("LD_PRELOAD", "/x.so", true),
            ("LD_LIBRARY_PATH", "/opt/cuda/lib", false),
            ("CLAUDE_PLUGIN_ROOT", "/x", true),
            ("CLAUDE_PID", "1", true),
            ("GATEWRIGHT_CALL", "c-1", true),
            ("PATH", "/opt/bin", false),
            ("BASH_ENV", "/me/.env", false),
            ("NODE_ENV", "test", false),
            ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "1", false),
        ] {
            let text = format!(r#"{{"env": {{"{name}": "{value}"}}}}"#);
            assert_eq!(!faults(&text).is_empty(), expected, "{text}");
        }
    }

    /// The host makes a text of every value.
    #[test]
    fn a_variable_counts_whatever_its_type() {
        for (value, expected) in [
            (r#"["/elsewhere"]"#, true),
            (r#"["/me/.local/state"]"#, false),
            ("3", false),
            ("null", false),
        ] {
            let text = format!(r#"{{"env": {{"XDG_STATE_HOME": {value}}}}}"#);
            assert_eq!(!faults(&text).is_empty(), expected, "{text}");
        }
    }

    #[test]
    fn a_variable_that_switches_the_hooks_off_is_found_where_the_host_obeys_it() {
        for name in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"] {
            for (value, is_on) in [
                ("\"1\"", true),
                ("\" Yes \"", true),
                ("1", true),
                ("true", true),
                ("[\"on\"]", true),
                ("\"0\"", false),
                ("\"\"", false),
                ("\"2\"", false),
                ("false", false),
            ] {
                let text = format!(r#"{{"env": {{"{name}": {value}}}}}"#);
                for (scope, is_obeyed) in [
                    (Scope::Managed, true),
                    (Scope::User, true),
                    (Scope::Main, false),
                    (Scope::Shared, false),
                    (Scope::Local, false),
                ] {
                    let found = !faults_in(scope, &text).is_empty();
                    assert_eq!(found, is_on && is_obeyed, "{text} in {scope:?}");
                }
            }
        }
    }

    #[test]
    fn a_hook_that_may_answer_for_a_person_is_found_and_others_are_not() {
        let hook = r#"[{"type": "command", "command": "./x.sh"}]"#;
        for (event, matcher, expected) in [
            ("PreToolUse", "AskUserQuestion", true),
            ("PreToolUse", "Bash|AskUserQuestion", true),
            ("PreToolUse", "Ask.*", true),
            ("PermissionRequest", "AskUserQuestion", true),
            ("PostToolUse", "AskUserQuestion", false),
            ("PreToolUse", "Bash", false),
            ("PreToolUse", "*", false),
            ("PreToolUse", "", false),
            ("PreToolUse", "Edit|Write", false),
        ] {
            let text = format!(
                r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}", "hooks": {hook}}}]}}}}"#
            );
            assert_eq!(!faults(&text).is_empty(), expected, "{text}");
        }
    }
}
