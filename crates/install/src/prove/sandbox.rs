//! A temporary copy for the cases: a project, a home and a state folder, removed on drop.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use evidence::Project;
use evidence::git::Git;
use runtime::failure::Failure;
use tempfile::TempDir;

use crate::host::PLACES;

/// The folders of one proof.
pub(super) struct Sandbox {
    root: TempDir,
    kept: u32,
}

/// A saved copy of the sandbox.
#[derive(Clone, Debug)]
pub(super) struct SandboxCopy(PathBuf);

/// The folder that is saved and restored.
const LIVE: &str = "live";

impl Sandbox {
    pub(super) fn new() -> Result<Self, Failure> {
        let root = tempfile::Builder::new()
            .prefix("gatewright-proof-")
            .tempdir();
        let root = root.map_err(|cause| {
            Failure::environment(format!("cannot make a temporary folder ({cause})"))
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
                Failure::environment("the temporary folder is inside a git repository")
                    .hint("set TMPDIR to a folder outside it"),
            )
        }
    }

    /// A route measures with git what has changed.
    pub(super) fn make_repository(&self) -> Result<(), Failure> {
        let project = self.project();
        let mut command = Git::find()?.command(&project, &project.join(".git"));
        let made = command.args(["init", "--quiet", "--template="]).output();
        match made {
            Ok(output) if output.status.success() => Ok(()),
            Ok(_) | Err(_) => Err(Failure::environment("git cannot make a repository")
                .hint("make sure that `git init` works in a temporary folder")),
        }
    }

    fn live(&self) -> PathBuf {
        // A symlink in the path would give every file a second name.
        let root = self.root.path();
        root.canonicalize()
            .unwrap_or_else(|_| root.to_owned())
            .join(LIVE)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.live().join("project")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.live().join("home")
    }

    pub(super) fn state_home(&self) -> PathBuf {
        self.live().join("state")
    }

    /// A file outside the folder that is saved and restored.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.live().with_file_name(name)
    }

    pub(super) fn snapshot(&mut self) -> Result<SandboxCopy, Failure> {
        self.kept += 1;
        let kept = SandboxCopy(self.beside(&format!("kept-{}", self.kept)));
        copy(&self.live(), &kept.0)?;
        Ok(kept)
    }

    pub(super) fn restore(&self, kept: &SandboxCopy) -> Result<(), Failure> {
        let live = self.live();
        fs::remove_dir_all(&live).map_err(Failure::file("empty", &live))?;
        copy(&kept.0, &live)
    }
}

/// Writes a file, and creates its parent folders.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
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

/// Symlinks are skipped; the sandbox has none when it is saved.
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
    fn a_saved_copy_is_restored_completely() {
        let mut folder = Sandbox::new().unwrap();
        let note = folder.project().join("a/note");
        write(&note, b"one").unwrap();
        let kept = folder.snapshot().unwrap();
        write(&note, b"two").unwrap();
        write(&folder.project().join("new"), b"").unwrap();
        folder.restore(&kept).unwrap();
        assert_eq!(fs::read(&note).unwrap(), b"one");
        assert!(!folder.project().join("new").exists());
    }
}
