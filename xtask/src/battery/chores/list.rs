//! The chores, each with the way to where it is legal: the commands that have no key, and a hook of
//! every event.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use super::super::pipelines::OPEN;
use super::super::played_hook::{Hook, Promise, hook};
use super::super::stand::{Stand, text};
use crate::failure::Failure;

/// An open pipeline, in which every session has a run.
fn open() -> String {
    let open = OPEN.replace("\"open\"", "\"chore\"");
    format!("{open}\n[commands]\nfinish-it = \"finish\"\n")
}

/// One agent writes a report, and then a person is asked.
fn writing() -> String {
    r#"
name   = "chore"
about  = "A report, and a question."
begins = "session"
start  = "working"

[artifacts.report]
path   = "report.md"
format = "text"

[stages.working]
agent      = "writer"
leaves     = ["report"]
tools.deny = ["WebFetch"]
on.done    = "asking"

[stages.asking]
ask    = "Go on?"
on.yes = "complete"
on.no  = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#
    .to_owned()
}

/// A person's command starts a run.
fn by_command() -> String {
    let open = OPEN.replace("\"open\"", "\"chore\"");
    let by_command = open.replace("\"session\"", "\"command\"");
    format!("{by_command}\n[commands]\nbegin-it = \"start\"\n")
}

/// One chore, and the way to where it is legal.
#[derive(Clone)]
pub(super) struct Chore {
    pub name: &'static str,
    /// The pipeline in the project.
    pub pipeline: fn() -> String,
    pub prepare: fn(&Stand) -> Result<(), Failure>,
    pub act: Act,
    /// What comes after a blow, where it is not the same again.
    pub then: Option<Hook>,
    /// Is a session that comes back after a kill marked? Its run is stored before its file, and what
    /// happened between the two is not known.
    pub marks_a_kill: bool,
}

#[derive(Clone)]
pub(super) enum Act {
    Command(Words),
    Hook(Hook),
}

type Words = fn(&Stand) -> Result<Vec<String>, Failure>;

impl Chore {
    pub(super) fn is_hook(&self) -> bool {
        matches!(self.act, Act::Hook(_))
    }

    const fn in_pipeline(self, pipeline: fn() -> String) -> Self {
        Self { pipeline, ..self }
    }

    const fn marking_a_kill(self) -> Self {
        Self {
            marks_a_kill: true,
            ..self
        }
    }

    const fn then(self, then: Hook) -> Self {
        Self {
            then: Some(then),
            ..self
        }
    }
}

pub(super) const fn command(
    name: &'static str,
    prepare: fn(&Stand) -> Result<(), Failure>,
    words: Words,
) -> Chore {
    Chore {
        name,
        pipeline: open,
        prepare,
        act: Act::Command(words),
        then: None,
        marks_a_kill: false,
    }
}

const fn call(name: &'static str, prepare: fn(&Stand) -> Result<(), Failure>, hook: Hook) -> Chore {
    Chore {
        name,
        pipeline: open,
        prepare,
        act: Act::Hook(hook),
        then: None,
        marks_a_kill: false,
    }
}

const STARTUP: Hook = hook("SessionStart", r#"{"source": "startup"}"#);

const AGENT: Hook = hook(
    "PreToolUse",
    r#"{"tool_name": "Agent", "tool_use_id": "toolu_1",
        "tool_input": {"subagent_type": "writer", "prompt": "x", "description": "x"}}"#,
)
.promises(Promise::Recorded);

const BEGAN: Hook = hook(
    "SubagentStart",
    r#"{"agent_id": "a-1", "agent_type": "writer"}"#,
);

const WRITES: Hook = hook(
    "PreToolUse",
    r#"{"tool_name": "Write", "tool_use_id": "toolu_2", "agent_id": "a-1", "agent_type": "writer",
        "tool_input": {"file_path": "{project}/report.md", "content": "A report."}}"#,
);

const STOPPING: Hook = hook(
    "SubagentStop",
    r#"{"agent_id": "a-1", "agent_type": "writer", "stop_hook_active": false,
        "last_assistant_message": "done", "background_tasks": []}"#,
);

pub(super) const CHORES: &[Chore] = &[
    command("trust", nothing, trust_words),
    command("init", trust, |_| Ok(line("init chore --yes"))),
    command("uninit", install, |_| Ok(line("uninit --yes"))),
    command("gc", end_a_run, |_| Ok(line("gc --older-than 0s"))),
    command("repair", damage, |_| Ok(line("verify --repair"))),
    call("SessionStart", install, STARTUP),
    call("SessionStart, then an agent", install, STARTUP).then(AGENT),
    call(
        "SessionStart after clear",
        begin,
        hook("SessionStart", r#"{"source": "clear"}"#).in_session("heir"),
    )
    .marking_a_kill(),
    call(
        "UserPromptSubmit",
        begin,
        hook("UserPromptSubmit", r#"{"prompt": "go on"}"#),
    ),
    call("UserPromptExpansion", begin, typed_finish()),
    call("UserPromptExpansion, start", install, typed_begin()).in_pipeline(by_command),
    call("PreToolUse Agent", begin, AGENT),
    call("PreToolUse Agent, first", install, AGENT),
    call("PreToolUse, protected", begin, protected_write()),
    call(
        "PermissionRequest",
        begin,
        hook(
            "PermissionRequest",
            r#"{"tool_name": "Bash", "tool_input": {"command": "gatewright next"}}"#,
        ),
    ),
    call("PostToolUse", work, post_tool_use()).in_pipeline(writing),
    call("PostToolUse Agent", work, agent_returned()).in_pipeline(writing),
    call("PostToolUse, an answer", ask, answered()).in_pipeline(writing),
    call("PostToolUseFailure", work, agent_failed()).in_pipeline(writing),
    call("SubagentStart", admit, BEGAN).in_pipeline(writing),
    call("SubagentStop", work, STOPPING).in_pipeline(writing),
    call(
        "Stop",
        begin,
        hook(
            "Stop",
            r#"{"stop_hook_active": false, "background_tasks": []}"#,
        ),
    ),
    call("StopFailure", work, stop_failure()).in_pipeline(writing),
    call("TaskCompleted", begin, task_completed()),
    call("ConfigChange", unhook, config_change()),
    call(
        "SessionEnd",
        begin,
        hook("SessionEnd", r#"{"reason": "other"}"#),
    ),
    call("PreToolUse of a worker", headless, denied_to_worker()).in_pipeline(writing),
    call("PostToolUse of a worker", headless, used_by_worker()).in_pipeline(writing),
];

const fn typed_finish() -> Hook {
    hook(
        "UserPromptExpansion",
        r#"{"expansion_type": "slash_command", "command_name": "finish-it", "command_args": "",
            "prompt": "/finish-it"}"#,
    )
}

const fn typed_begin() -> Hook {
    hook(
        "UserPromptExpansion",
        r#"{"expansion_type": "slash_command", "command_name": "begin-it",
            "command_args": "a task", "prompt": "/begin-it a task"}"#,
    )
}

const fn protected_write() -> Hook {
    hook(
        "PreToolUse",
        r#"{"tool_name": "Write", "tool_use_id": "toolu_3",
            "tool_input": {"file_path": "{project}/.claude/settings.local.json", "content": "{}"}}"#,
    )
    .promises(Promise::Refused)
}

const fn post_tool_use() -> Hook {
    hook(
        "PostToolUse",
        r#"{"tool_name": "Write", "tool_use_id": "toolu_2", "agent_id": "a-1",
            "agent_type": "writer", "tool_response": {},
            "tool_input": {"file_path": "{project}/report.md", "content": "A report."}}"#,
    )
}

const fn agent_returned() -> Hook {
    hook(
        "PostToolUse",
        r#"{"tool_name": "Agent", "tool_use_id": "toolu_1",
            "tool_input": {"subagent_type": "writer", "prompt": "x", "description": "x"},
            "tool_response": {"status": "completed", "agentId": "a-1", "agentType": "writer",
                "toolsUsed": ["Write"], "totalToolUseCount": 1, "totalTokens": 8,
                "content": [{"type": "text", "text": "done"}]}}"#,
    )
}

const fn answered() -> Hook {
    hook(
        "PostToolUse",
        r#"{"tool_name": "AskUserQuestion", "tool_use_id": "toolu_4",
            "tool_input": {"questions": [{"question": "Go on?", "header": "x",
                "options": [{"label": "yes", "description": "x"}, {"label": "no", "description": "x"}],
                "multiSelect": false}]},
            "tool_response": {"questions": [], "answers": {"Go on?": "yes"}}}"#,
    )
}

const fn agent_failed() -> Hook {
    hook(
        "PostToolUseFailure",
        r#"{"tool_name": "Agent", "tool_use_id": "toolu_1", "error": "terminated early",
            "is_interrupt": false,
            "tool_input": {"subagent_type": "writer", "prompt": "x", "description": "x"}}"#,
    )
}

const fn stop_failure() -> Hook {
    hook(
        "StopFailure",
        r#"{"agent_id": "a-1", "agent_type": "writer", "error": "unknown",
            "last_assistant_message": "an error"}"#,
    )
}

const fn task_completed() -> Hook {
    hook(
        "TaskCompleted",
        r#"{"task_id": "1", "task_subject": "a step", "task_description": "x"}"#,
    )
}

const fn config_change() -> Hook {
    hook(
        "ConfigChange",
        r#"{"source": "local_settings", "file_path": "{project}/.claude/settings.local.json"}"#,
    )
    .promises(Promise::Refused)
}

const fn denied_to_worker() -> Hook {
    hook(
        "PreToolUse",
        r#"{"tool_name": "WebFetch", "tool_use_id": "toolu_5", "tool_input": {"url": "x"}}"#,
    )
    .promises(Promise::Refused)
    .of_worker(CALL_FILE)
}

const fn used_by_worker() -> Hook {
    hook(
        "PostToolUse",
        r#"{"tool_name": "Write", "tool_use_id": "toolu_6", "tool_response": {},
            "tool_input": {"file_path": "{project}/report.md", "content": "A report."}}"#,
    )
    .of_worker(CALL_FILE)
}

/// Where the call of the headless worker is noted.
const CALL_FILE: &str = "call";

fn line(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

fn nothing(_: &Stand) -> Result<(), Failure> {
    Ok(())
}

fn trust_words(stand: &Stand) -> Result<Vec<String>, Failure> {
    let shown = stand.ask(&["trust", "chore", "--show"])?;
    let hash = shown["hash"].as_str().unwrap_or_default();
    Ok(line(&format!("trust chore --hash {hash}")))
}

fn trust(stand: &Stand) -> Result<(), Failure> {
    let words = trust_words(stand)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    stand.run(&words).map(drop)
}

fn install(stand: &Stand) -> Result<(), Failure> {
    trust(stand)?;
    stand.run(&["init", "chore", "--yes"]).map(drop)
}

fn begin(stand: &Stand) -> Result<(), Failure> {
    install(stand)?;
    goes_well(&STARTUP.run(stand, &[])?)
}

fn admit(stand: &Stand) -> Result<(), Failure> {
    begin(stand)?;
    goes_well(&AGENT.run(stand, &[])?)
}

fn work(stand: &Stand) -> Result<(), Failure> {
    admit(stand)?;
    goes_well(&BEGAN.run(stand, &[])?)?;
    goes_well(&WRITES.run(stand, &[])?)?;
    let report = stand.project().join("report.md");
    fs::write(&report, "A report.\n").map_err(Failure::file("write", &report))
}

fn ask(stand: &Stand) -> Result<(), Failure> {
    work(stand)?;
    goes_well(&STOPPING.run(stand, &[])?)
}

fn goes_well(output: &Output) -> Result<(), Failure> {
    if output.status.success() {
        return Ok(());
    }
    let told = text(&output.stderr);
    Err(Failure::no(format!("{}: {told}", output.status)))
}

/// The settings lose their hooks: the change must be refused.
fn unhook(stand: &Stand) -> Result<(), Failure> {
    begin(stand)?;
    let settings = stand.project().join(".claude/settings.local.json");
    fs::write(&settings, "{}\n").map_err(Failure::file("write", &settings))
}

fn end_a_run(stand: &Stand) -> Result<(), Failure> {
    trust(stand)?;
    for id in ["r-old", "r-going"] {
        stand.run(&["start", "chore", "--task", "x", "--by-hand", "--id", id])?;
    }
    stand.run(&["cancel", "r-old", "--reason", "battery"])?;
    // Only what ended before this moment is old enough.
    std::thread::sleep(std::time::Duration::from_millis(20));
    Ok(())
}

fn damage(stand: &Stand) -> Result<(), Failure> {
    trust(stand)?;
    stand.run(&[
        "start",
        "chore",
        "--task",
        "x",
        "--by-hand",
        "--id",
        "r-one",
    ])?;
    let marker = stand.state_home().join("gatewright/damaged");
    fs::write(&marker, "a disk that failed\n").map_err(Failure::file("write", &marker))
}

/// A headless run whose worker is at work. The stand-in of the worker copies the state folder while it
/// works, and the stand goes on with the copy.
fn headless(stand: &Stand) -> Result<(), Failure> {
    trust(stand)?;
    let (script, copy, call) = (
        stand.path("stand-in.sh"),
        stand.path("at-work"),
        stand.path(CALL_FILE),
    );
    let lines = format!(
        "#!/bin/sh\n[ -e '{copy}' ] || {{ cp -a \"$XDG_STATE_HOME\" '{copy}'\n\
         printf %s \"$GATEWRIGHT_CALL\" >'{call}'; }}\nexit 1\n",
        copy = copy.display(),
        call = call.display()
    );
    fs::write(&script, lines).map_err(Failure::file("write", &script))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
        .map_err(Failure::file("set the mode of", &script))?;
    let script = script.to_string_lossy().into_owned();
    let run = ["run", "chore", "--task", "x", "--id", "r-worker"];
    let mut command = stand.command(&[&run[..], &["--stand-in", &script]].concat());
    stand.output(&mut command)?;
    let live = stand.state_home();
    fs::remove_dir_all(&live).map_err(Failure::file("remove", &live))?;
    fs::rename(&copy, &live).map_err(Failure::file("move", &copy))?;
    as_worker_of_claude(stand)
}

/// A stand-in has no hooks. The record says that the worker is one that has.
fn as_worker_of_claude(stand: &Stand) -> Result<(), Failure> {
    let call = stand.path(CALL_FILE);
    let call = fs::read_to_string(&call).map_err(Failure::file("read", &call))?;
    let path = stand.state_home().join("gatewright/working");
    let path = path.join(call).with_extension("json");
    let record = fs::read_to_string(&path).map_err(Failure::file("read", &path))?;
    let mut record: serde_json::Value = serde_json::from_str(&record)
        .map_err(|problem| Failure::no(format!("{}: {problem}", path.display())))?;
    record["runner"] = "claude".into();
    fs::write(&path, record.to_string()).map_err(Failure::file("write", &path))
}
