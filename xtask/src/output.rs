//! The only file of xtask that prints.

use std::fmt::Display;
use std::io::{Write as _, stderr, stdout};

/// One line of result. A closed pipe is the reader's choice and no fault.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(stdout().lock(), "{line}");
}

/// One line of complaint.
pub(crate) fn complain(line: impl Display) {
    let _ = writeln!(stderr().lock(), "{line}");
}
