//! `gatewright serve`: the runs and questions of every project on a page of this machine.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use engine::{Held, RunId};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::{current_exe, person_only};
use serde_json::json;
use web::{Listener, Parts, Served};

use crate::exit::Exit;
use crate::fleet_link;
use crate::help_topics::TOPICS;
use crate::output::Output;

/// How long the page waits for `resume` to say that it cannot.
const EARLY: Duration = Duration::from_secs(2);

/// Show runs and questions of every project on a page in your browser
///
/// The page is for this machine only. The printed address is needed to read. To answer, retry, cancel or resume there, type the code
/// that this command shows at the terminal. Both are new each time. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The port of the page [default: any free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
}

impl Serve {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "serve", Held::Nobody)?;
        let listener = Listener::open(self.port)?;
        let announce = |served: &Served| announce(served, output);
        let parts = Parts {
            resume: Box::new(resume),
            fleet: fleet_link::for_screens(context)?,
            topics: &TOPICS,
        };
        web::serve(context, &listener, parts, announce)?;
        Ok(Exit::Success)
    }
}

/// The address is a result. The code goes to the terminal alone, wherever stdout goes.
fn announce(served: &Served, output: &mut Output) -> Result<(), Failure> {
    let Served { address, code } = served;
    output.facts(|_| format!("{address}\n"), || json!({ "address": address }))?;
    match code {
        Some(code) => show_code(code),
        None => {
            output.say("the page is read-only, because `serve` was not started at a terminal");
            Ok(())
        }
    }
}

fn show_code(code: &str) -> Result<(), Failure> {
    let path = Path::new("/dev/tty");
    let opened = OpenOptions::new().write(true).open(path);
    let mut terminal = opened.map_err(Failure::file("open", path))?;
    let text = format!("to act on the page, type this code there: {code}\nCtrl-C ends it\n");
    terminal
        .write_all(text.as_bytes())
        .map_err(Failure::file("write to", path))
}

/// Starts `gatewright resume` in the background. It goes on when the page ends.
fn resume(run: &RunId) -> Result<(), Failure> {
    let program = current_exe::program().map_err(|cause| cannot_start(&cause))?;
    let mut process = Command::new(program)
        .args(["resume", run.as_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Ctrl-C at the terminal ends the page, not the run.
        .process_group(0)
        .spawn()
        .map_err(|cause| cannot_start(&cause))?;
    let errors = process.stderr.take();
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || drop(sender.send(outcome(process, errors))));
    match ended.recv_timeout(EARLY) {
        Ok(Err(line)) => Err(Failure::refused(line)),
        // It drives the run, or has done all that there was to do.
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}

fn cannot_start(cause: &std::io::Error) -> Failure {
    Failure::environment(format!("cannot start `gatewright resume` ({cause})"))
        .hint("type it at a terminal")
}

/// The last line of its messages, if it failed.
fn outcome(mut process: Child, errors: Option<ChildStderr>) -> Result<(), String> {
    let lines = errors
        .into_iter()
        .flat_map(|errors| BufReader::new(errors).lines());
    let last = lines.map_while(Result::ok).last();
    match process.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => Err(last.unwrap_or_else(|| "`gatewright resume` failed".to_owned())),
    }
}
