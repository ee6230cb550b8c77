//! How long a person waits for the database of a fleet: a bounded time, whatever the server or the network does.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::failure::Failure;
use crate::fleet_seat::{ConnectFleet, FleetSeat};

/// So long a page or a command waits.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// So long nobody tries to connect, after an attempt failed.
pub const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(10);

/// What `ask` gets from the fleet, or why it gets nothing in time. A server that accepts and then says nothing holds
/// only the thread.
pub fn in_time<T: Send + 'static>(
    ask: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, answer) = mpsc::channel();
    let thread = thread::Builder::new().spawn(move || drop(sender.send(ask())));
    thread.map_err(|cause| Failure::environment(format!("cannot start a thread ({cause})")))?;
    match answer.recv_timeout(PATIENCE) {
        Ok(answered) => answered,
        Err(RecvTimeoutError::Timeout) => Err(silent()),
        Err(RecvTimeoutError::Disconnected) => Err(Failure::bug("a thread of the fleet ended")),
    }
}

/// A seat in the fleet, or why there is none now.
pub fn connected(connect: &Arc<ConnectFleet>) -> Result<FleetSeat, Failure> {
    let connect = Arc::clone(connect);
    in_time(move || connect())
}

/// What screens say while the fleet cannot be read.
pub fn away(why: &Failure) -> Failure {
    Failure {
        message: format!("cannot read the runs of the fleet: {}", why.message),
        ..why.clone()
    }
}

/// The server does not answer.
pub fn silent() -> Failure {
    Failure::environment("the database of the fleet does not answer")
        .hint("type `gatewright fleet status` to see it")
}
