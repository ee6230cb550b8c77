//! Durable storage of runs: a journal with a hash chain, the current state, contents by hash, and
//! leases.
//!
//! Acknowledged means durable. A damaged store becomes read-only and says what to run; it is never
//! recreated over existing data.
//!
//! The modules form layers. A module uses those of earlier layers, and earlier ones of its own:
//!
//! 1. words: `key`, `fence`, `chain`
//! 2. stored bytes: `record`, `error`
//! 3. what passes through a store: `files`, `lease`, `line`, `stored`, `request`, `verification`
//! 4. rules that all stores share: `redaction`, `columns`, `journal`, `verifier`; `run_copy`
//! 5. the contract: `import`, `backend`, `export`, `shipping`; `parts`, of which other crates make stores
//! 6. stores: `group_commit`, `memory`, `sqlite`, `handle`, and `conformance`, which tests them

mod backend;
mod chain;
mod columns;
pub mod conformance;
mod error;
mod export;
mod fence;
mod files;
mod group_commit;
mod handle;
mod import;
mod journal;
mod key;
mod lease;
mod line;
mod memory;
pub mod parts;
mod record;
mod redaction;
mod request;
mod run_copy;
mod shipping;
mod sqlite;
mod stored;
mod verification;
mod verifier;

pub use backend::{
    AtWork, Backend, CapSpent, Connector, OutputPiece, QueueMark, ReachedCap, SharedBackend,
};
pub use chain::content_hash;
pub use error::{DatabaseFault, Error};
pub use export::export;
pub use fence::Fence;
pub use files::Files;
pub use handle::Handle;
pub use import::{Backup, Import, ShippedRun};
pub use key::{Key, KeyError};
pub use lease::{Claim, Lease};
pub use line::StoredEntry;
pub use memory::Memory;
pub use record::{Unreadable, entry_from_json, entry_to_json, hashes};
pub use request::{Collect, Commit, Content, NewRun};
pub use run_copy::RunCopy;
pub use shipping::{Adoption, Announcement, CopyState, JournalCopies, Receipt, ShippedSummary};
pub use sqlite::{
    Access, Compile, Expected, FoundCompiled, Group, Loss, Salvaged, Sqlite, salvage,
};
pub use stored::{Collected, RunSummary, StoredRun, Transacted};
pub use verification::{Fault, FaultKind, Verification};
