//! Cold starts: processes that begin a new run in a store that is there, up to its first durable decision.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::loops::{Loop, Who};
use crate::battery::Stand;
use crate::failure::Failure;
use crate::workspace::scratch;

pub(super) struct Cold<'a> {
    pub who: Who,
    way: Way<'a>,
}

enum Way<'a> {
    /// Two processes: the run begins, and something is decided about it.
    Ours {
        stand: Box<Stand>,
        number: AtomicUsize,
    },
    /// One process that does both.
    Script { each: &'a Loop, folder: TempDir },
}

/// Ours, and that of each peer whose loop there is. Each has been started once, so that its store is there.
pub(super) fn all<'a>(program: &Path, loops: &'a [Loop]) -> Result<Vec<Cold<'a>>, Failure> {
    let stand = Box::new(Stand::new(program, &[])?);
    let number = AtomicUsize::new(0);
    let mut colds = vec![Cold {
        who: Who::Ours,
        way: Way::Ours { stand, number },
    }];
    for each in loops {
        if let Who::LangGraph | Who::Dbos = each.who {
            let folder = scratch("cold")?;
            let way = Way::Script { each, folder };
            colds.push(Cold { who: each.who, way });
        }
    }
    colds.iter().try_for_each(|cold| cold.time().map(drop))?;
    Ok(colds)
}

impl Cold<'_> {
    pub(super) fn time(&self) -> Result<Duration, Failure> {
        match &self.way {
            Way::Ours { stand, number } => {
                let run = format!("r-{}", number.fetch_add(1, Ordering::Relaxed));
                let task = ["--task", "a cold start", "--by-hand", "--id", &run];
                let start = [&["start", "context-first"], task.as_slice()].concat();
                let began = stand.command(&start);
                let decided = stand.command(&["checkpoint", &run, "first"]);
                Ok(timed(began)? + timed(decided)?)
            }
            Way::Script { each, folder } => {
                let command = each.command(&[], folder.path(), 1);
                timed(command.ok_or_else(|| Failure::no("the floor has no cold start"))?)
            }
        }
    }
}

fn timed(mut command: Command) -> Result<Duration, Failure> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().map_err(Failure::program("a cold start"))?;
    let took = began.elapsed();
    if status.success() {
        Ok(took)
    } else {
        Err(Failure::no(format!("{command:?} failed: {status}")))
    }
}
