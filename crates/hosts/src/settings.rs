//! Settings files with hooks: adds and removes our hooks. Text in, text out.
//!
//! The format is that of Claude Code's settings, which other hosts copied. A [`SettingsFormat`] has the
//! differences.
//!
//! The editor is our own. `jsonc-parser` 0.34 has one (`cst`), which keeps comments, CRLF, tabs and duplicate keys. But
//! to append, it breaks an object on one line into several lines, and drops blank lines after an opening and before a
//! closing bracket and spaces at the end of a line; it does not read a byte order mark. So `uninit` would not give these
//! files back byte for byte. It also accepts comments and trailing commas, for which a host ignores the whole file.

mod edit;
mod hooks;
mod layout;
mod merge;
mod permissions;
mod tree;
mod wire;

use std::fmt;

pub use hooks::{Hook, HookCommand, HookInvocation, HookRegistration, OnFailure};

use edit::JsonText;
pub(crate) use layout::{Json, document};
use tree::JsonError;
pub(crate) use tree::{Node, Value};
pub(crate) use wire::{BEFORE_TOOL, HOOKS, kind};

/// The differences between the settings of hosts.
pub struct SettingsFormat {
    /// The argument by which hooks name their host: `gatewright hook WORD EVENT`.
    pub host: &'static str,
    /// The events at which sessions call us.
    pub registered: &'static [HookRegistration],
    /// Values for which the host ignores the whole file, hooks included.
    pub(crate) invalid_settings: fn(&Node) -> Vec<InvalidSetting>,
}

impl fmt::Debug for SettingsFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SettingsFormat({})", self.host)
    }
}

impl PartialEq for SettingsFormat {
    fn eq(&self, other: &Self) -> bool {
        self.host == other.host
    }
}

/// A value that the host rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSetting {
    /// The path of keys.
    pub at: String,
    pub found: &'static str,
    pub wanted: String,
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, found, wanted } = self;
        write!(f, "`{at}` is {found}, not {wanted}")
    }
}

/// A parsed settings file.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Some editors begin a file with a byte order mark. We keep it.
    mark: &'static str,
    text: JsonText,
}

/// What to do with the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusLine {
    /// Add ours, unless the file already has another one.
    Ours,
    /// Leave it as it is.
    AsItIs,
}

const MARK: &str = "\u{feff}";

impl Settings {
    /// An empty file counts as a file without settings.
    pub fn parse(bytes: &[u8]) -> Result<Self, SettingsError> {
        let text = str::from_utf8(bytes).map_err(|_| SettingsError::NotText)?;
        let (mark, text) = match text.strip_prefix(MARK) {
            Some(text) => (MARK, text),
            None => ("", text),
        };
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = tree::parse(text).map_err(SettingsError::NotJson)?;
        match root.members() {
            None => Err(SettingsError::NotAnObject(wire::kind(&root))),
            Some(_) => Ok(Self {
                mark,
                text: JsonText::new(text.to_owned(), root),
            }),
        }
    }

    /// The file with our hooks at every event, once each. `program` is the current path of our program.
    pub fn with_hooks(
        &self,
        call: &HookInvocation,
        program: &str,
        status_line: StatusLine,
    ) -> Result<String, SettingsError> {
        let text = merge::with_hooks(self.text.clone(), call, program)?;
        let text = match status_line {
            StatusLine::Ours => merge::with_status_line(text, call, program),
            StatusLine::AsItIs => text,
        };
        self.written(text)
    }

    /// The file without anything of ours.
    pub fn without_hooks(&self, program: &str) -> Result<String, SettingsError> {
        let text = merge::without_hooks(self.text.clone(), program);
        self.written(merge::without_status_line(text, program))
    }

    /// The rules that the file allows without a question.
    pub fn allowed(&self) -> Vec<&str> {
        permissions::allowed(&self.text.root)
    }

    /// The file with these rules among what it allows.
    pub fn with_allowed(&self, rules: &[String]) -> Result<String, SettingsError> {
        self.written(permissions::with_allowed(self.text.clone(), rules)?)
    }

    /// The file without these rules.
    pub fn without_allowed(&self, rules: &[String]) -> Result<String, SettingsError> {
        self.written(permissions::without_allowed(self.text.clone(), rules))
    }

    /// Checks that the result is valid JSON.
    fn written(&self, text: JsonText) -> Result<String, SettingsError> {
        tree::parse(&text.text).map_err(SettingsError::NotJson)?;
        Ok(format!("{}{}", self.mark, text.text))
    }

    /// The hooks that call us.
    pub fn hooks(&self, program: &str) -> Vec<Hook> {
        merge::ours(&self.text.root, program)
    }

    /// Are all our hooks here, as we would write them?
    pub fn is_complete(&self, call: &HookInvocation, program: &str) -> bool {
        let hooks = self.hooks(program);
        hooks.len() == call.format.registered.len()
            && hooks.iter().all(|hook| hook.is_current(call))
    }

    pub fn has_status_line(&self) -> bool {
        self.text.root.get(wire::STATUS_LINE).is_some()
    }

    pub fn has_our_status_line(&self, program: &str) -> bool {
        let command = wire::status_line_command(&self.text.root);
        command.is_some_and(|command| hooks::is_our_status_line(command, program))
    }

    /// Is a plugin of this name switched on, from whatever market?
    pub fn enables_plugin(&self, name: &str) -> bool {
        let plugins = self.text.root.get(wire::PLUGINS).and_then(Node::members);
        let mut plugins = plugins.unwrap_or_default().iter();
        plugins.any(|plugin| plugin.name.split('@').next() == Some(name) && plugin.value.is_true())
    }

    /// The plugins that this file switches on, each with its market.
    pub fn enabled_plugins(&self) -> Vec<&str> {
        let plugins = self.text.root.get(wire::PLUGINS).and_then(Node::members);
        let plugins = plugins.unwrap_or_default().iter();
        let enabled = plugins.filter(|plugin| plugin.value.is_true());
        enabled.map(|plugin| plugin.name.as_str()).collect()
    }

    /// Are all hooks switched off by this file, ours and others'?
    pub fn disables_all_hooks(&self) -> bool {
        let switch = self.text.root.get(wire::DISABLE_ALL);
        switch.is_some_and(Node::is_true)
    }

    /// The variables that this file sets for the host and for everything that it starts, hooks
    /// included. The host makes a text of every value.
    pub fn variables(&self) -> Vec<(&str, String)> {
        let members = self.text.root.get(wire::ENV).and_then(Node::members);
        let members = members.unwrap_or_default().iter();
        members
            .map(|member| (member.name.as_str(), wire::variable(&member.value)))
            .collect()
    }

    /// Other programs' hooks that are called before this tool by its name, and may answer for it: the
    /// event of each.
    pub fn others_before(&self, tool: &str, program: &str) -> Vec<&'static str> {
        merge::others_before(&self.text.root, tool, program)
    }

    /// What concerns the guard in this file, as a text: files with the same text guard alike. The arguments of
    /// our hooks are not part of it, because `init` writes them anew for every pipeline.
    pub fn guard_text(&self, format: &SettingsFormat, tool: &str, program: &str) -> String {
        let ours = self.hooks(program);
        let ours = ours.iter().map(|hook| {
            let (event, limits) = (&hook.event, &hook.limits);
            format!("{event} {} {:?} {limits:?}", hook.called(), hook.on_failure)
        });
        let others = self.others_before(tool, program).into_iter();
        let others = others.map(|event| format!("{event} of another program"));
        let variables = self.variables().into_iter();
        let variables = variables.map(|(name, value)| format!("{name}={value}"));
        let off = self.disables_all_hooks().then(|| "no hooks".to_owned());
        let is_invalid = !self.invalid_settings(format).is_empty();
        let invalid = is_invalid.then(|| "invalid".to_owned());
        let mut lines: Vec<String> = ours.chain(others).chain(variables).collect();
        lines.extend(off.into_iter().chain(invalid));
        lines.sort();
        lines.join("\n")
    }

    /// The keys at the top whose values differ from those of another file.
    pub fn differing_keys(&self, other: &Self) -> Vec<String> {
        let (one, other) = (self.top(), other.top());
        let names = one.keys().chain(other.keys());
        let mut names: Vec<String> = names
            .filter(|name| one.get(*name) != other.get(*name))
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The keys at the top with their values. If a key is there twice, the last one counts.
    fn top(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::from_str(&self.text.text).unwrap_or_default()
    }

    /// Values for which the host ignores the whole file, hooks included.
    pub fn invalid_settings(&self, format: &SettingsFormat) -> Vec<InvalidSetting> {
        (format.invalid_settings)(&self.text.root)
    }
}

/// A file with hooks and nothing else, as plugins have.
pub(crate) fn hooks_file(about: &str, call: &HookInvocation) -> String {
    document(&Json::Object(vec![
        ("description", Json::text(about)),
        (wire::HOOKS, wire::hooks(call)),
    ]))
}

/// Settings for one process, on one line: our hooks at these events, which nobody can disable.
pub(crate) fn process_settings(call: &HookInvocation, events: &[&str]) -> String {
    layout::line(&Json::Object(vec![
        (wire::DISABLE_ALL, Json::False),
        (wire::HOOKS, wire::hooks_at(call, events)),
    ]))
}

/// Why we cannot add our hooks to a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    NotText,
    NotJson(JsonError),
    /// It is this instead.
    NotAnObject(&'static str),
    WrongType {
        at: String,
        found: &'static str,
        wanted: &'static str,
    },
}

impl SettingsError {
    fn wrong(at: &str, found: &Node, wanted: &'static str) -> Self {
        Self::WrongType {
            at: at.to_owned(),
            found: wire::kind(found),
            wanted,
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText => f.write_str("it is not UTF-8 text"),
            Self::NotJson(JsonError {
                line,
                column,
                reason,
            }) => write!(f, "it is not JSON: {reason} (line {line}, column {column})"),
            Self::NotAnObject(found) => write!(f, "it is {found}, not an object"),
            Self::WrongType { at, found, wanted } => {
                write!(f, "`{at}` is {found}, not {wanted}")
            }
        }
    }
}

impl std::error::Error for SettingsError {}
