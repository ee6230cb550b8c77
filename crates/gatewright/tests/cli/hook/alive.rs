//! The liveness of a guarded run: its session lives, is frozen, or is dead, and every screen says so.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::until;

use super::seat::{SESSION, Seat};

/// A host: it calls the hook that begins its session, then does nothing.
const HOST: &str = r#"export CLAUDE_PID=$$
"$0" hook claude SessionStart < begin.json > answer.json
mv answer.json answered.json
exec sleep 600
"#;

struct Host {
    seat: Seat,
    process: Child,
}

impl Host {
    fn begin() -> Self {
        let seat = Seat::installed();
        let path = seat.project.path();
        let begun = json!({
            "hook_event_name": "SessionStart",
            "source": "startup",
            "session_id": SESSION,
            "cwd": path,
        });
        seat.project.write("begin.json", begun.to_string());
        let mut command = seat.command("SessionStart");
        let program = PathBuf::from(env!("CARGO_BIN_EXE_gatewright"));
        let variables: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = std::process::Command::new("sh");
        command.args(["-c", HOST]).arg(program);
        command.env_clear().envs(variables).current_dir(&path);
        let process = command.stdin(Stdio::null()).spawn().expect("a shell");
        let answered = path.join("answered.json");
        until("the hook has answered", || answered.exists());
        Self { seat, process }
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.process.id())
            .ok()
            .and_then(Pid::from_raw);
        kill_process(id.expect("a number"), signal).expect("a signal");
    }

    fn facts(&self, command: &str) -> Value {
        let ran = self.seat.project.run([command, "--json"]).succeeds();
        serde_json::from_str(&ran.stdout).expect("JSON")
    }

    fn liveness(&self) -> Value {
        self.facts("status")["liveness"].clone()
    }

    #[track_caller]
    fn shows(&self, state: &str, text: &str) {
        assert_eq!(self.liveness()["state"], state);
        let list = self.facts("list");
        assert_eq!(list["runs"][0]["liveness"]["state"], state, "{list}");
        for screen in ["status", "list"] {
            let shown = self.seat.project.run([screen]).succeeds().stdout;
            assert!(shown.contains(text), "{text}\n{shown}");
        }
        let input = json!({ "session_id": SESSION }).to_string();
        let line = self
            .seat
            .project
            .run_with_input(["statusline"], &input)
            .succeeds();
        assert!(line.stdout.contains(text), "{text}\n{line}");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_guarded_run_is_as_alive_as_the_process_of_its_session() {
    let mut host = Host::begin();
    host.shows("live", "● live");
    host.signal(Signal::STOP);
    until("it is frozen", || host.liveness()["why"] == "stopped");
    host.shows("quiet", "◌ quiet for ");
    host.signal(Signal::CONT);
    until("it goes on", || host.liveness()["state"] == "live");
    host.signal(Signal::KILL);
    host.process.wait().expect("an end");
    assert_eq!(host.liveness()["why"], "process_gone");
    host.shows("lost", "✗ owner lost");
}
