//! Where our own program lies, as a hook must name it.

use std::path::{Path, PathBuf};

use runtime::environment::Environment;
use runtime::failure::Failure;

/// The program that runs now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurProgram {
    /// An absolute path that leads to it.
    pub path: String,
    real: PathBuf,
}

impl OurProgram {
    /// A path on which people find it by its name is taken before the place to which it leads: an
    /// update may change the place.
    pub fn of_process(environment: &Environment) -> Result<Self, Failure> {
        let real = std::env::current_exe().and_then(std::fs::canonicalize);
        let real = real.map_err(|cause| {
            Failure::environment(format!("cannot find the path of this program ({cause})"))
                .hint("start it again by its path")
        })?;
        let found = on_path(environment, &real).unwrap_or_else(|| real.clone());
        match found.to_str() {
            Some(path) => Ok(Self {
                path: path.to_owned(),
                real,
            }),
            None => {
                let message = format!("the path of this program is not UTF-8: {}", real.display());
                Err(Failure::environment(message).hint("move it"))
            }
        }
    }

    /// Does this path lead to the program that runs now?
    pub fn is_at(&self, path: &str) -> bool {
        std::fs::canonicalize(path).is_ok_and(|real| real == self.real)
    }

    pub fn real(&self) -> &Path {
        &self.real
    }
}

fn on_path(environment: &Environment, real: &Path) -> Option<PathBuf> {
    let name = real.file_name()?;
    let folders = folders(environment).map(|folder| folder.join(name));
    let mut same = folders.filter(|path| std::fs::canonicalize(path).is_ok_and(|it| it == real));
    same.next()
}

/// The first program of this name that people would start by it.
pub(crate) fn find(environment: &Environment, name: &str) -> Option<PathBuf> {
    let mut paths = folders(environment).map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// A folder that is not absolute means another place in every project, so it does not count.
fn folders(environment: &Environment) -> impl Iterator<Item = PathBuf> {
    let search = environment.search_path.as_deref().unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(search).collect();
    folders.into_iter().filter(|folder| folder.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_on_the_search_path_is_taken_before_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let real = std::env::current_exe().unwrap().canonicalize().unwrap();
        let name = real.file_name().unwrap();
        let with = |path: &Path| {
            let search = (
                "PATH".into(),
                std::env::join_paths([Path::new("."), path]).unwrap(),
            );
            OurProgram::of_process(&Environment::new([search])).unwrap()
        };
        assert_eq!(with(folder.path()).path, real.to_str().unwrap());
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let program = with(folder.path());
        assert_eq!(program.path, link.to_str().unwrap());
        assert!(program.is_at(real.to_str().unwrap()) && program.is_at(&program.path));
        assert!(!program.is_at("/bin/sh") && !program.is_at("/nowhere"));
    }
}
