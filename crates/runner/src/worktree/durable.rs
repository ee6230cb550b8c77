//! Files that survive a power cut: those of a worktree reach the disk while its worker works.
//!
//! Until then the record names the present boot of the machine. After another boot nobody knows which of the
//! files are whole, so the worktree is made again, from the commit that it began with.

use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtime::failure::Failure;

use super::disk;
use super::git::Repository;
use super::name::SafeName;
use super::record::WorktreeRecord;
use super::tree_commit::Committed;
use super::{Worktree, Worktrees};

/// A worker that ends sooner needs no files on the disk: its result is a commit.
const BEFORE_SYNC: Duration = Duration::from_secs(5);

/// This boot of the machine; nothing where the system does not name it.
pub(super) fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

impl WorktreeRecord {
    /// May files of it have been lost with the power?
    fn may_be_damaged(&self) -> bool {
        self.unsynced.is_some() && self.unsynced != boot()
    }
}

impl Worktrees {
    /// Writes the files of a worktree to the disk, and notes that.
    pub fn make_durable(&self, worktree: &Worktree) -> Result<(), Failure> {
        let name = SafeName::of(&worktree.name);
        let record = self.records.worktree_record(&name)?;
        let Some(record) = record.filter(|record| record.unsynced.is_some()) else {
            return Ok(());
        };
        disk::sync_all(&worktree.root)?;
        let unsynced = None;
        let record = WorktreeRecord { unsynced, ..record };
        self.records.write_worktree_record(&name, &record)
    }

    /// A prepared worktree, made again if its files may be damaged. The files as they are now are kept under its
    /// ref.
    pub(super) fn undamaged(
        &self,
        repository: &Repository,
        worktree: Worktree,
    ) -> Result<Worktree, Failure> {
        let name = SafeName::of(&worktree.name);
        let record = self.records.worktree_record(&name)?;
        let Some(record) = record.filter(WorktreeRecord::may_be_damaged) else {
            return Ok(worktree);
        };
        // The stamps are not durable either.
        let _ = fs::remove_file(self.records.stamps(&name));
        self.finish(&worktree)?;
        let record = WorktreeRecord {
            id: self.fill(repository, &name, &Committed::earlier(&record.base))?,
            unsynced: boot(),
            ..record
        };
        self.records.write_worktree_record(&name, &record)?;
        Ok(self.worktree(&name, record))
    }
}

/// Makes a worktree durable after a while. Dropping it waits until it is not at it any more.
pub struct DurableSoon {
    cancel: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl DurableSoon {
    pub fn begin(worktrees: &Worktrees, worktree: &Worktree) -> Self {
        let (cancel, cancelled) = mpsc::channel();
        let (worktrees, worktree) = (worktrees.clone(), worktree.clone());
        let thread = thread::spawn(move || {
            if cancelled.recv_timeout(BEFORE_SYNC) == Err(RecvTimeoutError::Timeout) {
                // As long as it fails, a power cut costs this work and nothing else.
                let _ = worktrees.make_durable(&worktree);
            }
        });
        Self {
            cancel: Some(cancel),
            thread: Some(thread),
        }
    }
}

impl Drop for DurableSoon {
    fn drop(&mut self) {
        self.cancel = None;
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(Err(panic)) = ended
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}
