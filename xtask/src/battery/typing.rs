//! A person at a keyboard: types the next line when the program asks, and not before.
//!
//! As `testkit::typing`, which xtask cannot use: it is built without the product.

use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// What ends in one of these, and stays so for a moment, asks for a line.
const ASKS: [&[u8]; 4] = [b": ", b"? ", b"> ", b"] "];
const MOMENT: Duration = Duration::from_millis(10);

/// A program that writes nothing for so long reads without a word.
const LONG: Duration = Duration::from_secs(10);

/// Ctrl-D: whatever else is asked gets no answer, and nobody waits for one.
const END: &str = "\u{4}";

/// Types these lines, one for each question, and hands over what was written to the screen.
pub(super) fn converse(screen: ChildStdout, keyboard: &ChildStdin, typed: &str) -> Vec<u8> {
    let pieces = pieces(screen);
    let mut lines = typed.split_inclusive('\n');
    let (mut shown, mut answered) = (Vec::new(), None);
    let mut heard_at = Instant::now();
    loop {
        match pieces.recv_timeout(MOMENT) {
            Ok(piece) => {
                shown.extend(piece);
                heard_at = Instant::now();
            }
            Err(RecvTimeoutError::Disconnected) => return shown,
            Err(RecvTimeoutError::Timeout) => {
                let asks = ASKS.iter().any(|end| shown.ends_with(end));
                if answered != Some(shown.len()) && (asks || heard_at.elapsed() > LONG) {
                    answered = Some(shown.len());
                    press(keyboard, lines.next().unwrap_or_default());
                }
            }
        }
    }
}

/// A last line without its line break is ended by Ctrl-D.
fn press(mut keyboard: &ChildStdin, line: &str) {
    let end = if line.ends_with('\n') { "" } else { END };
    // The program may have ended meanwhile.
    let _ = keyboard.write_all(format!("{line}{end}").as_bytes());
}

fn pieces(mut screen: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        // At the end of a terminal some systems report an error.
        while let Ok(count @ 1..) = screen.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    pieces
}
