//! Settings with hooks: what is changed in them to install us there, as data: text in, text out.
//!
//! The format is that of Claude Code's settings. Other hosts have taken it over; what is different is
//! in a [`SettingsFormat`].

mod edit;
mod hooks;
mod layout;
mod merge;
mod tree;
mod wire;

use std::fmt;

pub use hooks::{Call, Hook, HookCommand, OnFailure, Registered};

use edit::Text;
pub(crate) use layout::{Json, document};
use tree::Broken;
pub(crate) use tree::{Node, Value};
pub(crate) use wire::{STATUS_LINE, kind};

/// What is different between the settings of hosts.
pub struct SettingsFormat {
    /// The word by which hooks tell us who calls: `gatewright hook WORD EVENT`.
    pub host: &'static str,
    /// The events at which sessions call us.
    pub registered: &'static [Registered],
    /// More events at which workers that we start call us.
    pub in_workers: &'static [Registered],
    /// Values for which the host drops the whole file, hooks included.
    pub(crate) faults: fn(&Node) -> Vec<Fault>,
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

/// A value that the host does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The keys that lead to it.
    pub at: String,
    pub found: &'static str,
    pub wanted: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, found, wanted } = self;
        write!(f, "`{at}` is {found}, not {wanted}")
    }
}

/// A settings file that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Some editors begin a file with a mark of its encoding. It stays.
    mark: &'static str,
    text: Text,
}

/// Who shows the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusLine {
    /// Ours, unless there is another one in this file.
    Ours,
    /// Whoever does now.
    AsItIs,
}

const MARK: &str = "\u{feff}";

impl Settings {
    /// A file of nothing but space is taken for one without settings.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unfit> {
        let text = str::from_utf8(bytes).map_err(|_| Unfit::NotText)?;
        let (mark, text) = match text.strip_prefix(MARK) {
            Some(text) => (MARK, text),
            None => ("", text),
        };
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = tree::parse(text).map_err(Unfit::NotJson)?;
        match root.members() {
            None => Err(Unfit::NotAnObject(wire::kind(&root))),
            Some(_) => Ok(Self {
                mark,
                text: Text::new(text.to_owned(), root),
            }),
        }
    }

    /// The file with our hooks at every event, once each. `program` is where our program lies now.
    pub fn with_hooks(
        &self,
        call: &Call,
        program: &str,
        status_line: StatusLine,
    ) -> Result<String, Unfit> {
        let text = merge::with_hooks(self.text.clone(), call, program)?;
        let text = match status_line {
            StatusLine::Ours => merge::with_status_line(text, call, program),
            StatusLine::AsItIs => text,
        };
        self.written(text)
    }

    /// The file without anything of ours.
    pub fn without_hooks(&self, program: &str) -> Result<String, Unfit> {
        let text = merge::without_hooks(self.text.clone(), program);
        self.written(merge::without_status_line(text, program))
    }

    /// Whatever we did, what we hand out can be read.
    fn written(&self, text: Text) -> Result<String, Unfit> {
        tree::parse(&text.text).map_err(Unfit::NotJson)?;
        Ok(format!("{}{}", self.mark, text.text))
    }

    /// The hooks that call us.
    pub fn hooks(&self, program: &str) -> Vec<Hook> {
        merge::ours(&self.text.root, program)
    }

    /// Are all our hooks here, as we would write them?
    pub fn is_complete(&self, call: &Call, program: &str) -> bool {
        let hooks = self.hooks(program);
        hooks.len() == call.format.registered.len() && hooks.iter().all(|hook| hook.holds(call))
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

    /// Are all hooks switched off by this file, ours and others'?
    pub fn disables_all_hooks(&self) -> bool {
        let switch = self.text.root.get(wire::DISABLE_ALL);
        switch.is_some_and(Node::is_true)
    }

    /// Values for which the host drops the whole file, hooks included.
    pub fn faults(&self, format: &SettingsFormat) -> Vec<Fault> {
        (format.faults)(&self.text.root)
    }
}

/// A file of hooks and nothing else, as plugins have them.
pub(crate) fn hooks_file(about: &str, call: &Call) -> String {
    document(&Json::Object(vec![
        ("description", Json::text(about)),
        (wire::HOOKS, wire::hooks(call)),
    ]))
}

/// Settings for one process, in one line: our hooks at these events, and no way to switch them off.
pub(crate) fn process_settings(call: &Call, events: &[&str]) -> String {
    layout::line(&Json::Object(vec![
        (wire::DISABLE_ALL, Json::False),
        (wire::HOOKS, wire::hooks_at(call, events)),
    ]))
}

/// Why a settings file cannot take our hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    NotText,
    NotJson(Broken),
    /// It is this instead.
    NotAnObject(&'static str),
    WrongType {
        at: String,
        found: &'static str,
        wanted: &'static str,
    },
}

impl Unfit {
    fn wrong(at: &str, found: &Node, wanted: &'static str) -> Self {
        Self::WrongType {
            at: at.to_owned(),
            found: wire::kind(found),
            wanted,
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText => f.write_str("it is not UTF-8 text"),
            Self::NotJson(Broken {
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

impl std::error::Error for Unfit {}
