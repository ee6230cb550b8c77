//! The screen of `gatewright watch`, open while the demo plays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use store::Backend as _;
use tui::WatchOptions;
use views::Paint;

use super::folder::DemoFolder;
use super::{RUN, run_id};

/// How often we look whether the run is there.
const POLL: Duration = Duration::from_millis(50);

/// A thread that shows the screen until the person leaves it.
pub(super) struct DemoScreen {
    thread: JoinHandle<Result<(), Failure>>,
}

impl DemoScreen {
    pub(super) fn open(
        folder: &DemoFolder,
        environment: Environment,
        paint: Paint,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let (root, stop) = (folder.root().to_owned(), Arc::clone(stop));
        let thread = thread::spawn(move || {
            let context = DemoFolder::open(&root)?.context(environment);
            let run = run_id()?;
            while !stop.load(Ordering::Relaxed) {
                let workspace = Workspace::if_exists(&context)?;
                let found = workspace.map(|workspace| workspace.store.run(&run));
                if found.transpose()?.flatten().is_some() {
                    break;
                }
                thread::sleep(POLL);
            }
            let options = WatchOptions {
                select: Some(RUN),
                paint,
                fleet: None,
            };
            tui::watch(&context, &options, &stop)
        });
        Self { thread }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Waits until the person has left the screen.
    pub(super) fn wait(self) -> Result<(), Failure> {
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(Failure::bug("the screen broke off")))
    }
}
