//! Hooks of a test's own: they note every payload, and answer as the test has said.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::{PATIENCE, Project, within};

/// The events that are noted. `MessageDisplay` is not: it comes for every flush of text.
const EVENTS: [&str; 25] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "PermissionDenied",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "TaskCreated",
    "TaskCompleted",
    "PreCompact",
    "PostCompact",
    "ConfigChange",
    "Notification",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// What the hooks of a project have seen.
pub struct Recorder {
    folder: TempDir,
    settings: PathBuf,
    answers: Vec<RecordedAnswer>,
}

struct RecordedAnswer {
    event: String,
    matcher: String,
    file: PathBuf,
}

impl Recorder {
    /// Writes `.claude/settings.json` of the project, with a hook for every event.
    pub fn install(project: &Project) -> Self {
        let recorder = Self {
            folder: TempDir::new().expect("a temporary folder can be made"),
            settings: project.write(".claude/settings.json", "{}"),
            answers: Vec::new(),
        };
        fs::write(recorder.script(), NOTE).expect("the script can be written");
        fs::create_dir(recorder.notes()).expect("a folder can be made");
        recorder.write();
        recorder
    }

    /// Lets the hook of an event answer with this JSON, where the matcher fits.
    pub fn answer(mut self, event: &str, matcher: &str, reply: &Value) -> Self {
        let file = self
            .folder
            .path()
            .join(format!("answer-{}", self.answers.len()));
        fs::write(&file, reply.to_string()).expect("an answer can be written");
        self.answers.push(RecordedAnswer {
            event: event.to_owned(),
            matcher: matcher.to_owned(),
            file,
        });
        self.write();
        self
    }

    /// Refuses a tool with this reason.
    pub fn deny(self, tool: &str, reason: &str) -> Self {
        let decision = json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        });
        self.answer(
            "PreToolUse",
            tool,
            &json!({ "hookSpecificOutput": decision }),
        )
    }

    /// Every payload so far, in the order in which their hooks began.
    pub fn payloads(&self) -> Vec<Value> {
        let notes = fs::read_dir(self.notes()).expect("the notes can be listed");
        let mut names: Vec<_> = notes
            .filter_map(|note| note.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        let read = |name: &String| fs::read(self.notes().join(name)).ok();
        let notes = names.iter().filter_map(read);
        notes
            .filter_map(|note| serde_json::from_slice(&note).ok())
            .collect()
    }

    /// The payloads of one event.
    pub fn of(&self, event: &str) -> Vec<Value> {
        let payloads = self.payloads().into_iter();
        payloads
            .filter(|payload| payload["hook_event_name"] == event)
            .collect()
    }

    /// The names of the events, in order, with the tool's name where there is one: `PreToolUse Agent`.
    pub fn names(&self) -> Vec<String> {
        let name = |payload: &Value| {
            let text = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
            let name = format!("{} {}", text("hook_event_name"), text("tool_name"));
            name.trim_end().to_owned()
        };
        self.payloads().iter().map(name).collect()
    }

    /// Waits until there is a payload of which this holds, and hands it over.
    ///
    /// # Panics
    /// When there is none in time.
    #[track_caller]
    pub fn wait_for(&self, event: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let found = within(PATIENCE, || self.of(event).into_iter().find(&holds));
        let names = || self.names().join("\n");
        found.unwrap_or_else(|| panic!("no such {event} has come, but:\n{}", names()))
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("note.sh")
    }

    fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    fn write(&self) {
        let note = |event: &&str| (event.to_string(), json!([self.note_hook()]));
        let mut hooks: Map<_, _> = EVENTS.iter().map(note).collect();
        for answer in &self.answers {
            let hook = json!({ "type": "command", "command": "cat", "args": [answer.file] });
            let entry = json!({ "matcher": answer.matcher, "hooks": [hook] });
            let entries = hooks.get_mut(&answer.event).and_then(Value::as_array_mut);
            entries.expect("the event is noted").push(entry);
        }
        let settings = json!({ "hooks": hooks }).to_string();
        fs::write(&self.settings, settings).expect("the settings can be written");
    }

    fn note_hook(&self) -> Value {
        let arguments = json!([self.script(), self.notes()]);
        json!({ "hooks": [{ "type": "command", "command": "sh", "args": arguments }] })
    }
}

/// Notes its input under the time at which it came. The host may end a hook half-way, so the note is
/// whole before it has its name.
const NOTE: &str = r#"name="$(date +%s%N)-$$"
cat > "$1/.$name" && mv "$1/.$name" "$1/$name"
"#;
