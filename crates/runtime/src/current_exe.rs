//! Our own program: where it lies, also when it was replaced while we run.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What the system adds to the path of a program whose file was replaced or removed.
const GONE: &str = " (deleted)";

/// The path of our own program. Where it was replaced, the one that lies there now: it speaks the
/// same language.
pub fn program() -> io::Result<PathBuf> {
    let told = std::env::current_exe()?;
    Ok(replaced(&told).unwrap_or(told))
}

fn replaced(told: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(told.to_str()?.strip_suffix(GONE)?);
    (path.is_file() && !told.exists()).then_some(path)
}

/// A file that somebody may execute.
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
        let told = PathBuf::from(format!("{}{GONE}", path.display()));
        assert_eq!(replaced(&told), None, "nothing lies there");
        std::fs::write(&path, "").unwrap();
        assert_eq!(replaced(&told), Some(path.clone()));
        assert_eq!(replaced(&path), None, "it was not replaced");
        std::fs::write(&told, "").unwrap();
        assert_eq!(replaced(&told), None, "it is called so");
    }
}
