//! The terminal of the person who typed the command, for questions while a run is driven.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use runner::prompt::{Prompt, Typed};
use runtime::failure::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::keyboard::discard_typed;

const PATH: &str = "/dev/tty";

/// The longest answer that we read.
const MOST_BYTES: usize = 16 * 1024;

pub(crate) struct Terminal {
    file: File,
}

impl Terminal {
    /// The terminal of this process, if it has one.
    pub(crate) fn open() -> Option<Box<dyn Prompt>> {
        let file = OpenOptions::new().read(true).write(true).open(PATH).ok()?;
        Some(Box::new(Self { file }))
    }
}

impl Prompt for Terminal {
    fn say(&mut self, text: &str) -> Result<(), Failure> {
        discard_typed(&self.file);
        let written = self.file.write_all(text.as_bytes());
        written.map_err(Failure::file("write to", Path::new(PATH)))
    }

    fn line(&mut self, patience: Duration) -> Result<Typed, Failure> {
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        let mut ready = [PollFd::new(&self.file, PollFlags::IN)];
        if poll(&mut ready, Some(&patience)).unwrap_or_default() == 0 {
            return Ok(Typed::Nothing);
        }
        let mut bytes = vec![0; MOST_BYTES];
        let read = self.file.read(&mut bytes);
        let read = read.map_err(Failure::file("read", Path::new(PATH)))?;
        if read == 0 {
            return Ok(Typed::Closed);
        }
        let line = String::from_utf8_lossy(&bytes[..read]);
        Ok(Typed::Line(line.trim().to_owned()))
    }
}
