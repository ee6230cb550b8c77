//! Durable storage of runs in a PostgreSQL database that several machines share.
//!
//! The same journal bytes, hash chain and guarantees as every `store::Backend`, with these besides:
//!
//! - A change is one statement and one round trip: the caller's version, key and fence are compared, and entries,
//!   contents and state are stored, or nothing.
//! - A lease expires by the database's clock.
//! - `decide` is called without a lock, on the run as this handle has read it, and its decision is stored only if
//!   the run is still the same.
//! - When the connection breaks, the handle connects again and finds out whether its last write was stored.
//!
//! The modules form layers. A module uses those of earlier layers, and earlier ones of its own:
//!
//! 1. `address`, `roles`, `fault`, `tls`
//! 2. `link`: one connection, and its statements
//! 3. `schema`: set-up, versions, roles
//! 4. `rows`, `cap_rows`, `read`, `write`, `collect`, `verify`, `trees`, `spending`, `output`, `shipped_runs`, `queue_marks`, and `backend`, which puts them together
//! 5. the fleet: `machines`, `queue`, `caps`, `fleet_status`, `shipping`, `adoption`

mod address;
mod adoption;
mod backend;
mod cap_rows;
mod caps;
mod collect;
mod fault;
mod fleet_status;
mod link;
mod machines;
mod output;
mod queue;
mod queue_marks;
mod read;
mod roles;
mod rows;
mod schema;
mod session;
mod shipped_runs;
mod shipping;
mod spending;
#[cfg(test)]
mod tests;
mod tls;
mod trees;
mod verify;
mod write;

pub use address::Address;
pub use adoption::{Adopter, Adopting, AdoptionAnswer, MachineCopy};
pub use backend::Postgres;
pub use caps::{CapScope, FleetCap, SpentToday};
pub use fleet_status::{FleetRun, FleetStatus, HeldLease, MachineRow, WorkerRow};
pub use machines::{Joined, Machine, WorkerSign};
pub use queue::{Claimed, FleetWait, LetGo, Placement, QueueWatch, QueuedRow, Requeued};
pub use roles::{DRIVE_ROLE, READ_ROLE, SHIP_ROLE};
pub use schema::{SetUp, set_up};
pub use shipping::ShippedCopies;
