//! Shipping: the journals of guarded runs are copied to the fleet's database, in the background.
//!
//! Hooks decide here and wait for nobody. What is written is copied later, by one process for each state folder,
//! which remembers in small files how far the copies are.

mod background;
mod log;
mod pass;
mod position;
mod watch;

pub use background::{lock, wake};
pub use log::ShippingLog;
pub use pass::{Passed, Shipper};
pub use position::{Halt, forget_positions, halt_of};
pub use watch::{IDLE, PassResult, Watch, watch};
