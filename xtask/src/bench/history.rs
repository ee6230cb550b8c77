//! A run with a long history, made by the bulk writer of `examples/history.rs`.

use crate::battery::Stand;
use crate::dist::{static_cargo, triple};
use crate::failure::Failure;
use crate::workspace::succeed;

/// Grows a run on this stand to so many entries.
///
/// The bulk writer is an example of its own, so that xtask itself is built without the store.
pub(super) fn grow(stand: &Stand, run: &str, entries: usize) -> Result<(), Failure> {
    let mut command = static_cargo("run", &triple()?);
    command.args(["--package", "xtask", "--example", "history", "--"]);
    command.arg(stand.state_home().join("gatewright"));
    succeed(command.args([run, &entries.to_string()]))
}
