//! The orchestrator of the demo: a process of its own, which the demo kills and starts again.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::{RunId, Status};
use runner::drive_options::{DriveEnd, DriveOptions, WhenLimited, WhenWaiting};
use runner::drive_run;
use runner::progress::{Progress, ProgressContext, Watcher};
use runner::prompt::Prompt;
use runner::slots::AgentLimits;
use runtime::context::Context;
use runtime::current_exe;
use runtime::definition::DefinitionError;
use runtime::drive_settings::DriveRequest;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::file_lock::LOCK_TIMEOUT;
use runtime::ids;
use runtime::run_branch::{PlaceRequest, PlaceWish};
use runtime::signals;
use runtime::start_run::{self, Holder, StartRun, Started};
use runtime::workspace::Workspace;
use rustix::process::{Pid, Signal, kill_process};
use store::Backend as _;

use super::folder::DemoFolder;
use super::{PIPELINE, TASK, run_id};
use crate::exit::Exit;

/// How long an orchestrator may take to stop. Then it is killed, and its watchdogs end its workers.
const STOPPING: Duration = Duration::from_secs(5);

const POLL: Duration = Duration::from_millis(10);

/// A running orchestrator. It does not outlive this value.
pub(super) struct OrchestratorProcess {
    child: Child,
}

impl OrchestratorProcess {
    pub(super) fn start(folder: &DemoFolder, context: &Context) -> Result<Self, Failure> {
        let path = folder.log();
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(Failure::file("write to", &path))?;
        let failed = |cause: io::Error| {
            Failure::environment(format!("cannot start gatewright itself ({cause})")).hint("retry")
        };
        let search_path = context.environment.search_path.as_deref();
        let child = Command::new(current_exe::program().map_err(failed)?)
            .arg("demo-orchestrator")
            .arg(folder.root())
            .current_dir(folder.project())
            .env_clear()
            .envs(folder.variables(search_path))
            // When this process is gone, the pipe ends and the orchestrator stops.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            // Ctrl-C reaches the demo, which stops the orchestrator.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        Ok(Self { child })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn has_ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.child.try_wait().map_err(lost)
    }

    /// `kill -9`: it gets no chance to clean up.
    pub(super) fn kill(mut self) -> Result<ExitStatus, Failure> {
        self.child.kill().map_err(lost)?;
        self.child.wait().map_err(lost)
    }
}

fn lost(cause: io::Error) -> Failure {
    Failure::environment(format!("cannot watch the orchestrator ({cause})")).hint("retry")
}

impl Drop for OrchestratorProcess {
    fn drop(&mut self) {
        let end = Instant::now() + STOPPING;
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        if let (Ok(None), Some(id)) = (self.child.try_wait(), id) {
            let _ = kill_process(id, Signal::TERM);
        }
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() > end {
                let _ = self.child.kill();
            }
            thread::sleep(POLL);
        }
    }
}

/// The last line that the orchestrators said.
pub(super) fn last_words(folder: &DemoFolder) -> Option<String> {
    let log = fs::read_to_string(folder.log()).ok()?;
    let line = log.lines().rfind(|line| !line.trim().is_empty())?;
    Some(line.trim_start_matches("gatewright: ").to_owned())
}

/// The orchestrator's side: starts the run, or continues it, as `gatewright run --wait` and `resume` do.
pub(crate) fn orchestrate(root: &Path) -> Result<Exit, Failure> {
    let folder = DemoFolder::open(root)?;
    let context = folder.context(Environment::of_process());
    let run = run_id()?;
    let options = DriveOptions {
        bid: None,
        when_waiting: WhenWaiting::Stay,
        when_limited: WhenLimited::Stay,
        limits: AgentLimits::default(),
        stop: signals::watch()?,
    };
    stop_with_our_starter(&options.stop);
    let mut workspace = Workspace::for_writing(&context)?;
    if workspace.store.run(&run)?.is_none() {
        start(&mut workspace, &folder, &run)?;
    }
    match drive_run::drive(&mut workspace, &run, &options, &mut NobodyWatches)? {
        DriveEnd::Over(Status::Completed) => Ok(Exit::Success),
        DriveEnd::Over(_) | DriveEnd::Waiting(_) | DriveEnd::Limited { .. } => Ok(Exit::No),
        DriveEnd::Stopped => Ok(Exit::Interrupted),
    }
}

/// The demo holds the other end of our stdin. If it is killed, we stop.
fn stop_with_our_starter(stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        stop.store(true, Ordering::Relaxed);
    });
}

fn start(workspace: &mut Workspace<'_>, folder: &DemoFolder, run: &RunId) -> Result<(), Failure> {
    let starting = StartRun {
        pipeline: PIPELINE.to_owned(),
        task: TASK.to_owned(),
        params: Vec::new(),
        steps: Vec::new(),
        id: Some(run.clone()),
        queued: false,
        patience: LOCK_TIMEOUT,
        by: workspace.context.who(),
        holder: Holder::Headless,
        drive: DriveRequest {
            stand_in: Some(folder.worker()),
            place: PlaceRequest {
                // Nobody else changes files there, so what strays is undone without asking a person.
                wish: PlaceWish::Branch,
                with_changes: false,
            },
            ..DriveRequest::default()
        },
    };
    match start_run::start(workspace, starting, &ids::key()?) {
        Ok(Started::Run(_) | Started::Earlier(_)) => Ok(()),
        Ok(Started::Refused(refusal)) => Err(Failure::bug(views::refusal(&refusal))),
        Err(DefinitionError::Failed(failure)) => Err(failure),
        Err(DefinitionError::Rejected { .. }) => {
            Err(Failure::bug("the demo's own pipeline is not valid"))
        }
    }
}

/// The demo reads the journal instead.
struct NobodyWatches;

impl Watcher for NobodyWatches {
    fn tell(&mut self, _: &ProgressContext<'_>, _: &Progress) {}

    fn tick(&mut self, _: &ProgressContext<'_>) {}

    fn remark(&mut self, _: &str) {}

    /// The demo answers, also at a terminal.
    fn prompt(&mut self) -> Option<Box<dyn Prompt>> {
        None
    }
}
