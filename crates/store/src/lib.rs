//! Runs kept durably: a journal with a hash chain, its present state, contents by hash, and leases.
//!
//! Acknowledged means durable. A damaged store turns read-only and says what to run; it is never
//! made anew over what was there.

mod backend;
mod chain;
pub mod conformance;
mod convoy;
mod error;
mod export;
mod files;
mod handle;
mod key;
mod lease;
mod ledger;
mod line;
mod memory;
mod record;
mod redaction;
mod sqlite;
mod verifier;
mod verify;

pub use backend::{
    Backend, Collect, Collected, Commit, Content, NewRun, RunSummary, StoredEntry, StoredRun,
    Transacted,
};
pub use chain::content_hash;
pub use error::Error;
pub use files::Files;
pub use handle::Handle;
pub use key::{Key, KeyError};
pub use lease::{Claim, Fence, Lease};
pub use memory::Memory;
pub use record::{Unreadable, entry_from_json, entry_to_json};
pub use sqlite::{Access, Group, Loss, Salvaged, Sqlite, salvage};
pub use verify::{Fault, FaultKind, Verification};
