//! A machine: a home and a state folder of its own, a clone of the project, a copy of the program, and its workers.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::Signal;
use testkit::database::Server;
use testkit::{Project, Ran, within};

use super::processes::{self, Process};
use crate::Result;
use crate::site::TEAM;

/// How many runs a worker drives at once.
const AT_ONCE: &str = "2";

/// How long processes have to end after the one that they belong to.
const LAST_BREATH: Duration = Duration::from_secs(10);

pub(crate) struct Machine {
    pub name: String,
    project: Project,
    workers: Vec<Worker>,
    begun: usize,
}

/// A worker that was started.
struct Worker {
    /// The program itself; the child may be a detour to it.
    id: i32,
    child: Child,
}

impl Machine {
    /// Makes the machine and lets it join. `remote` is cloned.
    pub(crate) fn new(program: &Path, name: &str, remote: &Path, server: &Server) -> Result<Self> {
        let machine = Self::apart(program, name)?;
        machine.project.git([
            "clone".as_ref(),
            "--quiet".as_ref(),
            remote.as_os_str(),
            ".".as_ref(),
        ]);
        machine.join(server);
        Ok(machine)
    }

    /// One without a clone that has not joined yet.
    pub(crate) fn apart(program: &Path, name: &str) -> Result<Self> {
        let project = Project::new(program);
        let machine = Self {
            name: name.to_owned(),
            project,
            workers: Vec::new(),
            begun: 0,
        };
        // A process of this program is known by it as one of this machine.
        fs::copy(program, machine.program())?;
        Ok(machine)
    }

    pub(crate) fn join(&self, server: &Server) {
        let address = server.address(TEAM);
        let ran = self.run(&["fleet", "join", &address, "--name", &self.name]);
        ran.succeeds();
    }

    pub(crate) fn project(&self) -> &Project {
        &self.project
    }

    /// All that belongs to the machine is below it.
    pub(crate) fn folder(&self) -> PathBuf {
        let home = self.project.home();
        home.parent().unwrap_or(&home).to_owned()
    }

    fn program(&self) -> PathBuf {
        self.folder().join("gatewright")
    }

    /// Types a command of a person on this machine.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        let mut command = self.project.at_home(self.program());
        let output = command.args(words).output();
        match output {
            Ok(output) => Ran::from(output),
            Err(error) => Ran {
                stdout: String::new(),
                stderr: error.to_string(),
                code: None,
            },
        }
    }

    /// Starts one more worker.
    pub(crate) fn begin_worker(&mut self) -> Result<()> {
        let number = self.begun;
        self.begun += 1;
        let file = self.folder().join(format!("worker-{number}.pid"));
        let said = File::create(self.said(number))?;
        let mut command: Command = self.project.at_home("sh");
        command.args(["-c", r#"echo $$ > "$0.new"; mv "$0.new" "$0"; exec "$@""#]);
        command.arg(&file).arg(self.program());
        command.args(["worker", "--fleet", "--runs", AT_ONCE]);
        let child = command.stdout(said.try_clone()?).stderr(said).spawn()?;
        let look = || fs::read_to_string(&file).ok();
        let id = within(LAST_BREATH, look).ok_or("the worker does not begin")?;
        let id = id.trim().parse()?;
        self.workers.push(Worker { id, child });
        Ok(())
    }

    fn said(&self, number: usize) -> PathBuf {
        self.folder().join(format!("worker-{number}.said"))
    }

    /// The last lines of its workers.
    pub(crate) fn last_words(&self) -> String {
        let said = (0..self.begun).map(|number| {
            let text = fs::read_to_string(self.said(number)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(8)..].join("\n    ");
            format!("  {} worker {number}:\n    {last}", self.name)
        });
        said.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// kill -9 of the whole machine.
    pub(crate) fn kill(&mut self) -> Result<()> {
        processes::kill(&self.folder())?;
        for mut worker in self.workers.drain(..) {
            worker.child.wait()?;
        }
        Ok(())
    }

    /// kill -9 of one of its workers, and of nothing else.
    pub(crate) fn kill_worker(&mut self) -> Result<()> {
        if self.workers.is_empty() {
            return Ok(());
        }
        let mut worker = self.workers.remove(0);
        processes::send(worker.id, Signal::KILL)?;
        worker.child.wait()?;
        Ok(())
    }

    pub(crate) fn freeze(&self) -> Result<()> {
        processes::freeze(&self.folder())
    }

    pub(crate) fn wake(&self) -> Result<()> {
        processes::wake(&self.folder())
    }

    /// Ends its workers as Ctrl-C does.
    pub(crate) fn end_workers(&mut self) -> Result<()> {
        for worker in &self.workers {
            processes::send(worker.id, Signal::INT)?;
        }
        for mut worker in self.workers.drain(..) {
            let mut ended = || worker.child.try_wait().ok().flatten();
            within(LAST_BREATH, &mut ended).ok_or("a worker does not end after Ctrl-C")?;
        }
        Ok(())
    }

    /// How a worker ended, if one did by itself.
    pub(crate) fn ended(&mut self) -> Result<Option<String>> {
        for worker in &mut self.workers {
            if let Some(status) = worker.child.try_wait()? {
                return Ok(Some(format!("a worker of {} ended: {status}", self.name)));
            }
        }
        Ok(None)
    }

    /// The processes that are still there, after they had time to end.
    pub(crate) fn left(&self) -> Vec<Process> {
        let folder = self.folder();
        let gone = || processes::inside(&folder).is_empty().then_some(());
        match within(LAST_BREATH, gone) {
            Some(()) => Vec::new(),
            None => processes::inside(&folder),
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Nothing may write into a folder that is being removed.
        let _ = self.kill();
    }
}
