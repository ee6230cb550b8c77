//! The log of a process in the background: a file of bounded size in the state folder.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::clock;
use crate::state::State;

const FILE: &str = "shipping.log";

/// A file of this size becomes the earlier one, and the earlier one is dropped.
const LARGEST: u64 = 64 * 1024;

pub struct ShippingLog {
    path: PathBuf,
    last: String,
}

impl ShippingLog {
    pub fn of(state: &State) -> Self {
        let path = state.folder().join(FILE);
        let last = String::new();
        Self { path, last }
    }

    /// Writes a line, unless it was the last one already: an outage fills no disk. What cannot be written is lost.
    pub fn line(&mut self, text: &str) {
        let text = views::line(text);
        if text == self.last {
            return;
        }
        if fs::metadata(&self.path).is_ok_and(|file| file.len() > LARGEST) {
            let _ = fs::rename(&self.path, self.path.with_extension("log.1"));
        }
        let mut options = OpenOptions::new();
        let file = options
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path);
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{} {text}", views::time::rfc3339(clock::now()));
        }
        self.last = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_once_and_the_file_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let mut log = ShippingLog::of(&state);
        for _ in 0..3 {
            log.line("the server is away");
        }
        let path = folder.path().join(FILE);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
        let text = "x".repeat(1_000);
        for number in 0..500 {
            log.line(&format!("{number} {text}"));
        }
        let files = fs::read_dir(folder.path()).unwrap();
        let sizes = files.map(|file| file.unwrap().metadata().unwrap().len());
        assert!(sizes.sum::<u64>() < 3 * LARGEST);
    }
}
