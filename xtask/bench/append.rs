//! A process that appends one line to the file it is given and makes it durable: the floor of a durable step.

use std::fs::OpenOptions;
use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1).ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(b"one line of a journal, about as long as an entry is in most of them\n")?;
    file.sync_data()
}
