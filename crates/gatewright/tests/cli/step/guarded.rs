//! A step inside a guarded session: what its hooks see when it is killed.

use std::io::Write as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::Ran;

use super::fixture::{ONE, WORKED, World, began};

/// The judgement alone.
const JUDGING: &str = r#"
name   = "story"
about  = "Have a story judged."
begins = "command"
start  = "judging"

[artifacts.judgement]
path    = "judgement.json"
format  = "json"
outcome = { field = "verdict", values = { APPROVED = "approved", REJECTED = "rejected" } }

[stages.judging]
agent       = "critic"
runner      = "codex"
leaves      = ["judgement"]
writes      = []
stop        = "hold"
on.approved = "complete"
on.rejected = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

/// A project in which the story is installed and trusted.
fn installed(pipeline: &str) -> World {
    let world = World::unstarted(pipeline);
    world.project.write(".gatewright/story.toml", pipeline);
    world.trust("story", "");
    world.project.run(["init", "story", "--yes"]).succeeds();
    for agent in ["writer", "critic"] {
        let text = format!("---\nname: {agent}\ndescription: the {agent}\n---\nWork.\n");
        world
            .project
            .write(format!(".claude/agents/{agent}.md"), text);
    }
    world
}

const SESSION: &str = "94e177ca-6e8d-476c-9202-9845d99bc9b8";

fn in_session(mut command: Command, world: &World) -> Command {
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", SESSION)
        .env("CLAUDE_PID", std::process::id().to_string())
        .env("CLAUDE_PROJECT_DIR", world.project.path());
    command
}

fn hook(world: &World, event: &str, mut payload: Value) -> Ran {
    payload["session_id"] = json!(SESSION);
    payload["hook_event_name"] = json!(event);
    payload["cwd"] = json!(world.project.path());
    let mut command = in_session(world.child(&format!("hook claude {event}")), world);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(payload.to_string().as_bytes()).unwrap();
    drop(pipe);
    Ran::from(child.wait_with_output().unwrap())
}

/// The session of a killed step: its next hook notices, and says to step again.
#[test]
fn a_session_whose_step_was_killed_goes_on() {
    let world = installed(JUDGING);
    let start = world.command("start story --task try --id r-test");
    Ran::from(in_session(start, &world).output().unwrap()).succeeds();

    let works = format!(
        "{}
{WORKED}
touch \"$here/here\"
sleep 300",
        began(ONE)
    );
    world.codex(&works);
    let mut step = in_session(world.child("step"), &world).spawn().unwrap();
    testkit::until("the worker works", || {
        assert!(step.try_wait().unwrap().is_none(), "it has ended");
        world.programs().join("here").exists()
    });
    // While it works the session waits, and nothing is taken for lost.
    let stop = json!({ "stop_hook_active": false, "background_tasks": [] });
    hook(&world, "Stop", stop.clone());
    assert_eq!(world.history("ended").len(), 0);

    let pid = Pid::from_raw(i32::try_from(step.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    step.wait().unwrap();
    let held = hook(&world, "Stop", stop);
    assert!(held.stdout.contains("next: 'critic'"), "{held}");
    let ended = world.history("ended");
    assert_eq!(ended[0]["fact"]["result"]["fault"], "crashed", "{ended:?}");
}
