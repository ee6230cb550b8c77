//! The copy in which everything is tried: a project, a home and a state folder that go when this goes.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use evidence::Project;
use runtime::failure::Failure;
use tempfile::TempDir;

use crate::install::host::PLACES;

/// Folders for one proof.
pub struct Folder {
    root: TempDir,
    kept: u32,
}

/// The copy as it was at some moment.
#[derive(Clone, Debug)]
pub struct Kept(PathBuf);

/// What is copied and put back.
const LIVE: &str = "live";

impl Folder {
    pub fn new() -> Result<Self, Failure> {
        let root = tempfile::Builder::new()
            .prefix("gatewright-proof-")
            .tempdir();
        let root = root.map_err(|cause| {
            Failure::outside(format!("cannot make a temporary folder ({cause})"))
                .hint("set TMPDIR to a writable folder")
        })?;
        let folder = Self { root, kept: 0 };
        for made in [
            folder.project(),
            folder.home().join(PLACES.folder),
            folder.state_home(),
        ] {
            make(&made)?;
        }
        let project = folder.project();
        let found = Project::find(&project).map_err(Failure::from)?;
        if project.canonicalize().is_ok_and(|real| real == found.root) {
            Ok(folder)
        } else {
            Err(
                Failure::outside("the temporary folder is inside a git repository")
                    .hint("set TMPDIR to a folder outside it"),
            )
        }
    }

    fn live(&self) -> PathBuf {
        // A link on the way would be another name for everything in it.
        let root = self.root.path();
        root.canonicalize()
            .unwrap_or_else(|_| root.to_owned())
            .join(LIVE)
    }

    pub fn project(&self) -> PathBuf {
        self.live().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.live().join("home")
    }

    pub fn state_home(&self) -> PathBuf {
        self.live().join("state")
    }

    /// A file beside all that.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.live().with_file_name(name)
    }

    pub fn keep(&mut self) -> Result<Kept, Failure> {
        self.kept += 1;
        let kept = Kept(self.beside(&format!("kept-{}", self.kept)));
        copy(&self.live(), &kept.0)?;
        Ok(kept)
    }

    pub fn restore(&self, kept: &Kept) -> Result<(), Failure> {
        let live = self.live();
        fs::remove_dir_all(&live).map_err(Failure::file("empty", &live))?;
        copy(&kept.0, &live)
    }
}

/// Writes a file, and the folders on the way to it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        make(folder)?;
    }
    fs::write(path, bytes).map_err(Failure::file("write", path))
}

fn make(folder: &Path) -> Result<(), Failure> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made.map_err(Failure::file("make", folder))
}

/// Links are not followed; there are none when something is kept.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    make(to)?;
    let listed = fs::read_dir(from).map_err(Failure::file("read", from))?;
    for entry in listed {
        let entry = entry.map_err(Failure::file("read", from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(Failure::file("look at", &path))?;
        if kind.is_dir() {
            copy(&path, &target)?;
        } else if kind.is_file() {
            fs::copy(&path, &target).map_err(Failure::file("copy", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_comes_back_whole() {
        let mut folder = Folder::new().unwrap();
        let note = folder.project().join("a/note");
        write(&note, b"one").unwrap();
        let kept = folder.keep().unwrap();
        write(&note, b"two").unwrap();
        write(&folder.project().join("new"), b"").unwrap();
        folder.restore(&kept).unwrap();
        assert_eq!(fs::read(&note).unwrap(), b"one");
        assert!(!folder.project().join("new").exists());
    }
}
