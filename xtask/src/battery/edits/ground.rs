//! The ground that is edited: a state folder with a file of every kind, after an ordinary day.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use super::super::played_hook::{Hook, hook};
use super::super::stand::{Stand, text};
use crate::failure::Failure;

/// A report, a check that fails, and a question. Every session of the project has a run of it.
const GUARDED: &str = r#"
name   = "guarded"
about  = "A report that is checked, and a question."
begins = "session"
start  = "writing"

[counters]
fixes = { max = 3, then = "stopped" }

[artifacts.report]
path   = "report-{run}.md"
format = "text"

[views]
summary = ".gatewright/{run}.md"
status  = { path = ".gatewright/{run}.json", removed = "wait" }

[stages.writing]
agent   = "writer"
leaves  = ["report"]
on.done = "testing"

[stages.testing]
check     = ["sh check.sh"]
on.passed = "asking"
on.failed = { to = "writing", count = "fixes" }

[stages.asking]
ask    = "Go on?"
on.yes = "complete"
on.no  = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// One that nobody has trusted, and one that was changed after it was trusted.
const OTHER: &str = "name = \"NAME\"\nabout = \"x\"\nstart = \"a\"\n\n[stages.a]\nagent = \"a\"\n\
                     on.done = \"complete\"\n\n[stages.complete]\nend = \"completed\"\n";

pub(super) const STARTUP: Hook = hook("SessionStart", r#"{"source": "startup"}"#);

const AGENT: Hook = hook(
    "PreToolUse",
    r#"{"tool_name": "Agent", "tool_use_id": "toolu_1",
        "tool_input": {"subagent_type": "writer", "prompt": "x", "description": "x"}}"#,
);

const BEGAN: Hook = hook(
    "SubagentStart",
    r#"{"agent_id": "a-1", "agent_type": "writer"}"#,
);

/// The state folder as it was before the last steps.
pub(super) const EARLY: &str = "early";

/// A stand with all of it. It was kept before the last steps, and at the end.
pub(super) fn lay(program: &Path) -> Result<Stand, Failure> {
    let changed = OTHER.replace("NAME", "changed");
    let stand = Stand::in_memory(program, &[("check.sh", "test -e passes.txt\n")])?;
    let pipelines = [
        ("guarded", GUARDED),
        ("untrusted", &OTHER.replace("NAME", "untrusted")),
        ("changed", &changed),
    ];
    for (name, text) in pipelines {
        write(&stand, &format!(".gatewright/{name}.toml"), text)?;
    }
    trust(&stand)?;
    write(
        &stand,
        ".gatewright/changed.toml",
        &format!("{changed}\n# x\n"),
    )?;
    by_hand(&stand)?;
    headless(&stand)?;
    session(&stand)?;
    Ok(stand)
}

fn write(stand: &Stand, name: &str, text: &str) -> Result<(), Failure> {
    let path = stand.project().join(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Failure::file("make", folder))?;
    }
    fs::write(&path, text).map_err(Failure::file("write", &path))
}

fn remove(stand: &Stand, name: &str) -> Result<(), Failure> {
    let path = stand.project().join(name);
    fs::remove_file(&path).map_err(Failure::file("remove", &path))
}

/// A person at a terminal trusts the pipelines, which also gives the checks their environment.
fn trust(stand: &Stand) -> Result<(), Failure> {
    let program = stand.program().to_string_lossy().into_owned();
    for pipeline in ["guarded", "changed"] {
        stand.person(&format!("'{program}' trust {pipeline}"), "yes\n")?;
    }
    stand.run(&["init", "guarded", "--yes"]).map(drop)
}

/// A run that is completed, one at its check, one that was reset, and one that was stopped.
fn by_hand(stand: &Stand) -> Result<(), Failure> {
    for run in ["r-done", "r-checked", "r-reset"] {
        let start = ["start", "guarded", "--task", "x", "--by-hand", "--id", run];
        stand.run(&start)?;
        write(stand, &format!("report-{run}.md"), "A report.\n")?;
        stand.run(&["report", run, "--agent", "writer"])?;
    }
    write(stand, "passes.txt", "yes\n")?;
    stand.run(&["check", "r-done"])?;
    stand.run(&["answer", "r-done", "yes"])?;
    remove(stand, "passes.txt")?;
    stand.run(&["reset", "r-reset", "--reason", "x"]).map(drop)
}

/// A headless run that waits for an answer.
fn headless(stand: &Stand) -> Result<(), Failure> {
    let script = stand.path("stand-in.sh");
    let lines = "#!/bin/sh\necho 'A report.' >\"report-$GATEWRIGHT_RUN.md\"\n: >passes.txt\n";
    fs::write(&script, lines).map_err(Failure::file("write", &script))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
        .map_err(Failure::file("set the mode of", &script))?;
    let script = script.to_string_lossy().into_owned();
    let run = ["run", "guarded", "--task", "x", "--id", "r-waits"];
    let mut command = stand.command(&[&run[..], &["--stand-in", &script]].concat());
    stand.output(&mut command)?;
    remove(stand, "passes.txt")
}

/// A session whose worker is at work, another session, and one event that nobody judged.
fn session(stand: &Stand) -> Result<(), Failure> {
    goes_well(&STARTUP.run(stand, &[])?)?;
    stand.keep_as(EARLY)?;
    goes_well(&AGENT.run(stand, &[])?)?;
    goes_well(&BEGAN.run(stand, &[])?)?;
    goes_well(&STARTUP.in_session("other").run(stand, &[])?)?;
    let half = hook("Stop", "").run_with(stand, "{\"hook_event_name\": ")?;
    goes_well(&half)?;
    stand.keep()
}

fn goes_well(output: &Output) -> Result<(), Failure> {
    if output.status.success() {
        return Ok(());
    }
    let told = text(&output.stderr);
    Err(Failure::no(format!("{}: {told}", output.status)))
}
