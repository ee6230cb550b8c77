//! The path of our own program, also if it was replaced while we run.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The suffix that the system adds to the path of a replaced or removed program.
const GONE: &str = " (deleted)";

/// The path of our own program. If it was replaced, the new file: it has the same commands.
pub fn program() -> io::Result<PathBuf> {
    let reported = std::env::current_exe()?;
    Ok(replaced(&reported).unwrap_or(reported))
}

fn replaced(reported: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(reported.to_str()?.strip_suffix(GONE)?);
    (path.is_file() && !reported.exists()).then_some(path)
}

/// A file that may be executed.
pub fn is_executable(path: &Path) -> bool {
    let found = path.metadata().ok();
    found.is_some_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_replaced_is_found_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gatewright");
        let reported = PathBuf::from(format!("{}{GONE}", path.display()));
        assert_eq!(replaced(&reported), None, "nothing lies there");
        std::fs::write(&path, "").unwrap();
        assert_eq!(replaced(&reported), Some(path.clone()));
        assert_eq!(replaced(&path), None, "it was not replaced");
        std::fs::write(&reported, "").unwrap();
        assert_eq!(replaced(&reported), None, "it is called so");
    }
}
