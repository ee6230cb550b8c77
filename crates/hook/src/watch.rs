//! The watch over a hook: one that takes too long is answered for, before its host loses its patience.
//!
//! Nearly every hook is done in a millisecond, and a thread would cost a tenth of that. So the watch
//! begins only before what may take long: a look at many files, and waiting for others.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hosts::Bytes;

/// The one answer of this process. The first thread to claim it gives it.
#[derive(Clone)]
pub(super) struct Voice {
    turn: Arc<Mutex<()>>,
    print: fn(&Bytes) -> u8,
}

impl Voice {
    pub(super) fn new(print: fn(&Bytes) -> u8) -> Self {
        let turn = Arc::default();
        Self { turn, print }
    }

    /// Gives the answer, and hands back the code with which the process ends.
    pub(super) fn answer(&self, bytes: &Bytes) -> u8 {
        self.speak(|| (self.print)(bytes))
    }

    /// Invariant: the turn to speak is never given back. The second thread waits for the end of the
    /// process, which the first one brings about.
    fn speak<T>(&self, say: impl FnOnce() -> T) -> T {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let said = say();
        std::mem::forget(turn);
        said
    }
}

/// Does this when so much time has passed since then, unless the process has ended before.
pub(super) fn begin(since: Instant, patience: Duration, late: impl FnOnce() + Send + 'static) {
    let watch = move || {
        thread::sleep(patience.saturating_sub(since.elapsed()));
        late();
    };
    // A system that gives us no thread lets us go on unwatched: the host has a limit of its own.
    let _ = thread::Builder::new().spawn(watch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn only_the_first_answer_is_given() {
        let voice = Voice::new(|bytes| bytes.code);
        let (sender, receiver) = mpsc::channel();
        voice.speak(|| sender.send("first").unwrap());
        let (second, voice) = (sender.clone(), voice.clone());
        begin(Instant::now(), Duration::ZERO, move || {
            voice.speak(|| second.send("second").unwrap());
        });
        assert_eq!(receiver.recv(), Ok("first"));
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
    }

    #[test]
    fn what_is_late_is_answered_for() {
        let (sender, receiver) = mpsc::channel();
        begin(Instant::now(), Duration::ZERO, move || {
            sender.send("late").unwrap();
        });
        assert_eq!(receiver.recv(), Ok("late"));
    }
}
