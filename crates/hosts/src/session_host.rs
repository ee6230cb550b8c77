//! A program whose sessions hold runs: the environment of its hooks, and the location of its settings.

use std::path::{Path, PathBuf};

use engine::{CallId, CommandName, Time, WorkerId};

use crate::settings::SettingsFormat;

/// What we need to know to guard the sessions of a program.
pub struct SessionHost {
    pub variables: SessionVariables,
    pub places: SettingsPlaces,
    pub format: SettingsFormat,
    pub connection: HookConnection,
    pub records: WorkerRecords,
    /// Settings that are matters of taste: they run nothing, allow nothing, and no hook depends on them.
    pub preferences: &'static [&'static str],
    /// The tool by which it puts a question to a person.
    pub question_tool: &'static str,
    /// Arguments that make it start a session, call the hooks and exit without calling a model.
    pub trial_arguments: &'static [&'static str],
    /// Reads one line of the record that the host keeps of a conversation.
    pub read_record: fn(&[u8]) -> Vec<RecordedCall>,
    /// Reads what one line of that record says about the answer to a question, by its call.
    pub read_answer: fn(&[u8], &CallId) -> Option<RecordedAnswer>,
    /// Reads what one line of that record says about a prompt that a schedule submits.
    pub read_schedule: fn(&[u8]) -> Option<RecordedSchedule>,
    /// The slash commands in its file of schedules.
    pub read_schedules: fn(&[u8]) -> Vec<CommandName>,
}

/// What the host's own record says about a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedCall {
    Called {
        call: String,
        tool: String,
        at: Time,
    },
    /// The call has a result. `ran`: the tool really worked, well or not.
    Returned { call: String, ran: bool },
}

/// What the host's own record says about a prompt that nobody types: a schedule submits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedSchedule {
    /// It is about to be submitted. `command`: the slash command with which it begins.
    Due {
        id: String,
        command: Option<CommandName>,
        at: Time,
    },
    /// It was submitted.
    Submitted { id: String },
}

/// What the host's own record says about an answered question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// Each question with the labels that were chosen, or the text that was typed.
    pub answers: Vec<(String, Vec<String>)>,
    /// The labels that the session wrote for the person to choose from.
    pub offered: Vec<String>,
    /// The host put the question to the person, and the person answered it.
    pub by_person: bool,
}

/// What a host writes down about the workers of a session.
pub struct WorkerRecords {
    /// The file with a worker's conversation, by the file with the session's.
    pub conversation: fn(session: &Path, worker: &WorkerId) -> PathBuf,
    /// Does the end of a conversation say that the person interrupted it?
    pub ends_interrupted: fn(tail: &str) -> bool,
    /// The file that says how a worker was started.
    pub origin: fn(session: &Path, worker: &WorkerId) -> PathBuf,
    /// The call that started a worker, by that file's text.
    pub call: fn(origin: &str) -> Option<CallId>,
    /// The checkout that the host made for this worker, by the folder in which it works.
    pub own_checkout: fn(folder: &Path, worker: &WorkerId) -> Option<PathBuf>,
}

/// Variables that a session sets for its hooks and commands.
pub struct SessionVariables {
    /// The id of the session.
    pub session: &'static str,
    /// The id of its process.
    pub process: &'static str,
    /// The folder in which it was started.
    pub project: &'static str,
    /// A file that the session's shells source first.
    pub env_file: &'static str,
    /// Set in the hooks of a plugin.
    pub plugin: &'static str,
    /// Variables that only the session may set for its hooks.
    pub own: &'static [&'static str],
    /// Variables with which it starts sessions without hooks.
    pub switches: &'static [&'static str],
    /// Variables that mark the commands of a session, with their values.
    pub marks: &'static [(&'static str, &'static str)],
}

/// The location of its settings.
pub struct SettingsPlaces {
    /// The variable with the folder of a person's own settings.
    pub folder_variable: &'static str,
    /// The settings folder, relative to the home directory and to a project.
    pub folder: &'static str,
    /// The file of a person's own settings, in their folder.
    pub user: &'static str,
    /// A project's shared settings, relative to the project.
    pub shared: &'static str,
    /// A project's settings for this machine.
    pub local: &'static str,
    /// The machine's settings.
    pub managed: &'static str,
    /// The file with prompts that it submits by itself, in both folders.
    pub schedules: &'static str,
    /// Files in both folders that a run must not change.
    pub protected: &'static [&'static str],
    /// The instructions file of a project, which every session reads.
    pub memory: &'static str,
}

/// How a session is connected to its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookConnection {
    /// A socket, with the session's process at the other end.
    Socket,
    /// Pipes.
    Pipe,
}
