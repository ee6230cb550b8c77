//! Programs that tests write and run at once.

use std::path::Path;
use std::process::Command;

/// Makes a file that a test has written a program that can be run at once.
///
/// The program is a copy that another process wrote. The system refuses to run a file that anybody
/// holds open for writing, and a test that runs beside this one may have been forked while we wrote.
pub fn make_executable(path: &Path) {
    let copy = r#"cp "$0" "$0.copy" && chmod 755 "$0.copy" && mv "$0.copy" "$0""#;
    let copied = Command::new("/bin/sh")
        .args(["-c", copy])
        .arg(path)
        .status();
    assert!(copied.expect("a shell").success(), "{}", path.display());
}
