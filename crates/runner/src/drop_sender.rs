//! A last word: what a thread says at its end, also where a panic is its end.

use std::sync::mpsc::Sender;

/// Is sent when this goes. Whoever waits for it never waits for a thread that fell.
pub struct DropSender<T> {
    sender: Sender<T>,
    word: Option<T>,
}

impl<T> DropSender<T> {
    /// `fallen` is said where nothing else was.
    pub fn new(sender: Sender<T>, fallen: T) -> Self {
        Self {
            sender,
            word: Some(fallen),
        }
    }

    pub fn say(mut self, word: T) {
        self.word = Some(word);
    }
}

impl<T> Drop for DropSender<T> {
    fn drop(&mut self) {
        // Whoever listened may have gone; then nobody wants to know.
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
        let (well, fallen) = (sender.clone(), sender);
        thread::spawn(move || DropSender::new(well, "fell").say("done"));
        assert_eq!(heard.recv(), Ok("done"));
        let thread = thread::spawn(move || {
            let _last = DropSender::new(fallen, "fell");
            panic!("as it must");
        });
        assert!(thread.join().is_err());
        assert_eq!(heard.recv(), Ok("fell"));
    }
}
