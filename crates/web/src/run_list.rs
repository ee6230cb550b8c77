//! The list of all runs, shared by all who look: it is read again only when somebody has written to the store.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use runtime::failure::Failure;
use store::{Access, Backend as _, RunSummary, Sqlite};

/// The runs of all projects, the latest started first.
pub(crate) type Runs = Arc<Vec<RunSummary>>;

#[derive(Default)]
pub(crate) struct RunList(Mutex<Option<OpenList>>);

/// A store that stays open: only an open one knows whether others have written.
struct OpenList {
    store: Sqlite,
    /// The change number before the list was read.
    number: u64,
    runs: Runs,
}

impl RunList {
    /// The list of the store in this folder as it is now.
    pub(crate) fn read(&self, folder: &Path) -> Result<Runs, Failure> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.take();
        // A store that was replaced or removed is opened anew, which tells what is wrong with it.
        let current = known.and_then(|known| known.caught_up().ok());
        let current = match current {
            Some(current) => current,
            None => OpenList::new(folder)?,
        };
        let runs = Arc::clone(&current.runs);
        *open = Some(current);
        Ok(runs)
    }
}

impl OpenList {
    fn new(folder: &Path) -> Result<Self, Failure> {
        let store = Sqlite::open(folder, Access::Read)?;
        let number = store.change_number()?;
        let runs = Arc::new(store.runs(None)?);
        Ok(Self {
            store,
            number,
            runs,
        })
    }

    fn caught_up(mut self) -> Result<Self, Failure> {
        let number = self.store.change_number()?;
        if number != self.number {
            self.runs = Arc::new(self.store.runs(None)?);
            self.number = number;
        }
        Ok(self)
    }
}
