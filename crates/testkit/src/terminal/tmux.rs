//! One tmux server with one program in it, driven over the pipe of its control mode.
//!
//! The server ends when that pipe closes, so nothing stays behind a test that is killed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use super::{Plain, SIZE};
use crate::PATIENCE;

pub(super) struct Tmux {
    client: Child,
    line: Mutex<Line>,
    changes: Arc<Changes>,
}

/// Both directions of the pipe: one command, one reply.
struct Line {
    commands: ChildStdin,
    replies: Receiver<String>,
}

/// How often something has been written to the screen.
#[derive(Default)]
struct Changes {
    count: Mutex<u64>,
    more: Condvar,
}

impl Tmux {
    pub(super) fn start(socket: &Path, program: &Plain) -> Self {
        let settings = socket.with_extension("conf");
        fs::write(&settings, settings_text()).expect("the settings of tmux can be written");
        let mut client = command(socket, &settings, program)
            .spawn()
            .expect("tmux is installed: run `cargo xtask test`, which sees to it");
        let commands = client.stdin.take().expect("the input is a pipe");
        let output = client.stdout.take().expect("the output is a pipe");
        let changes = Arc::new(Changes::default());
        let (sender, replies) = channel();
        let seen = Arc::clone(&changes);
        thread::spawn(move || listen(output, &sender, &seen));
        Self {
            client,
            line: Mutex::new(Line { commands, replies }),
            changes,
        }
    }

    /// Runs a command of tmux and hands over its reply.
    pub(super) fn ask(&self, command: &str) -> String {
        assert!(!command.contains('\n'), "a command of tmux is one line");
        let mut line = self.line.lock().expect("no question has panicked");
        writeln!(line.commands, "{command}").expect("tmux is there");
        let reply = line.replies.recv_timeout(PATIENCE);
        reply.unwrap_or_else(|_| panic!("tmux does not answer `{command}`"))
    }

    pub(super) fn changes(&self) -> u64 {
        *self
            .changes
            .count
            .lock()
            .expect("the listener has not panicked")
    }

    /// Waits until more has been written than `seen`, or the deadline has passed.
    pub(super) fn wait_for_change(&self, seen: u64, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let count = self
            .changes
            .count
            .lock()
            .expect("the listener has not panicked");
        let more = &self.changes.more;
        drop(more.wait_timeout_while(count, left, |count| *count == seen));
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        if let Ok(line) = self.line.get_mut() {
            let _ = writeln!(line.commands, "kill-server");
        }
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}

fn settings_text() -> String {
    let (width, height) = SIZE;
    format!(
        "set -g remain-on-exit on\nset -g remain-on-exit-format ''\nset -s exit-unattached on\n\
         set -s escape-time 0\nset -g status off\nset -g default-terminal screen-256color\n\
         set -g history-limit 20000\nset -g default-size {width}x{height}\n"
    )
}

/// The server takes its environment from the first client, and the program its own from the server.
/// It is not told that it lives in tmux: a person's terminal would not tell it either.
fn command(socket: &Path, settings: &Path, program: &Plain) -> Command {
    let mut command = Command::new("tmux");
    command
        .arg("-u")
        .arg("-S")
        .arg(socket)
        .arg("-f")
        .arg(settings);
    command
        .args(["-C", "new-session", "-c"])
        .arg(&program.folder);
    command.args([
        "--",
        "env",
        "-u",
        "TMUX",
        "-u",
        "TMUX_PANE",
        "-u",
        "TERM_PROGRAM",
    ]);
    command.args(["-u", "TERM_PROGRAM_VERSION"]);
    command.args(&program.line);
    command
        .env_clear()
        .envs(program.environment.iter().cloned());
    command.env("TERM", "screen-256color");
    // A separate process group, so that it gets no signals from the keyboard of the tests.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.current_dir(&program.folder);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Reads the control mode: replies stand between `%begin` and `%end`; `%output` means that the
/// screen has changed. Replies to what we did not ask have a flag of 0 and are left out.
fn listen(output: ChildStdout, replies: &Sender<String>, changes: &Changes) {
    let mut reply: Option<Vec<String>> = None;
    for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        let ends = line.starts_with("%end ") || line.starts_with("%error ");
        match reply.as_mut() {
            Some(_) if ends => {
                let lines = reply.take().unwrap_or_default();
                if line.ends_with(" 1") && replies.send(lines.join("\n")).is_err() {
                    return;
                }
            }
            Some(lines) => lines.push(line),
            None if line.starts_with("%begin ") => reply = Some(Vec::new()),
            None => changes.note(),
        }
    }
    changes.note();
}

impl Changes {
    fn note(&self) {
        if let Ok(mut count) = self.count.lock() {
            *count += 1;
        }
        self.more.notify_all();
    }
}
