//! How long a person waits for the database of a fleet: a bounded time, whatever the server or the network does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::failure::Failure;
use crate::fleet_seat::{ConnectFleet, FleetSeat};

/// How long a page or a command waits: for a connection over a slow network, and some statements.
pub const PATIENCE: Duration = Duration::from_secs(8);

/// How long nobody tries to connect after an attempt failed.
pub const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(10);

/// Does anybody still wait for what a thread does?
#[derive(Clone, Default)]
pub struct Waiting {
    has_left: Arc<AtomicBool>,
}

impl Waiting {
    /// Fails if nobody waits: what was asked for must not happen minutes later.
    pub fn check(&self) -> Result<(), Failure> {
        if self.has_left.load(Ordering::SeqCst) {
            return Err(silent());
        }
        Ok(())
    }
}

/// What `ask` gets from the fleet, or why it gets nothing in time. A server that accepts and then says nothing holds
/// only the thread.
pub fn in_time<T: Send + 'static>(
    ask: impl FnOnce(&Waiting) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, answer) = mpsc::channel();
    let waiting = Waiting::default();
    let asker = waiting.clone();
    let thread = thread::Builder::new().spawn(move || drop(sender.send(ask(&asker))));
    thread.map_err(|cause| Failure::environment(format!("cannot start a thread ({cause})")))?;
    match answer.recv_timeout(PATIENCE) {
        Ok(answered) => answered,
        Err(RecvTimeoutError::Timeout) => {
            waiting.has_left.store(true, Ordering::SeqCst);
            Err(silent())
        }
        Err(RecvTimeoutError::Disconnected) => Err(Failure::bug("a thread of the fleet ended")),
    }
}

/// A seat in the fleet, or why there is none now.
pub fn connected(connect: &Arc<ConnectFleet>) -> Result<FleetSeat, Failure> {
    let connect = Arc::clone(connect);
    in_time(move |_| connect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_gets_the_answer_or_leaves_and_nothing_is_done_any_more() {
        assert_eq!(in_time(|_| Ok(7)), Ok(7));
        let refused = || Failure::refused("no");
        assert_eq!(in_time::<u8>(move |_| Err(refused())), Err(refused()));
        let (let_go, held) = mpsc::channel::<()>();
        let (sender, late) = mpsc::channel();
        let silent = in_time(move |waiting| {
            waiting.check()?;
            let _ = held.recv();
            sender.send(waiting.check()).map_err(|_| refused())
        });
        assert!(silent.is_err());
        drop(let_go);
        assert!(late.recv().is_ok_and(|checked| checked.is_err()));
    }
}
