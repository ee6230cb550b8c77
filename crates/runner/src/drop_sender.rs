//! Sends a message when it is dropped, so that a thread reports its end even after a panic.

use std::sync::mpsc::Sender;

/// The receiver never waits for a thread that panicked.
pub struct DropSender<T> {
    sender: Sender<T>,
    word: Option<T>,
}

impl<T> DropSender<T> {
    /// Sends `on_panic` unless `send` replaces it.
    pub fn new(sender: Sender<T>, on_panic: T) -> Self {
        Self {
            sender,
            word: Some(on_panic),
        }
    }

    pub fn send(mut self, word: T) {
        self.word = Some(word);
    }
}

impl<T> Drop for DropSender<T> {
    fn drop(&mut self) {
        // The receiver may be gone; then nobody needs the message.
        let _ = self.word.take().map(|word| self.sender.send(word));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_that_falls_is_heard_too() {
        let (sender, heard) = mpsc::channel();
        let (well, on_panic) = (sender.clone(), sender);
        thread::spawn(move || DropSender::new(well, "fell").send("done"));
        assert_eq!(heard.recv(), Ok("done"));
        let thread = thread::spawn(move || {
            let _last = DropSender::new(on_panic, "fell");
            panic!("as it must");
        });
        assert!(thread.join().is_err());
        assert_eq!(heard.recv(), Ok("fell"));
    }
}
