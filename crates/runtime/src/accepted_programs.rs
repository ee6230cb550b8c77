//! The programs that a person accepted for the checks of a project, of those that the account can change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use engine::{CheckedProgram, Hash, ProgramPlace};
use evidence::Project;
use evidence::check::{AcceptedPrograms, program};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::check_environment::{self, SavedEnvironment};
use crate::failure::Failure;
use crate::state::{self, State};

/// What was accepted in a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The folders of which everything was accepted that was there.
    folders: BTreeSet<PathBuf>,
    pub programs: AcceptedPrograms,
}

/// What differs after a person accepted everything as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub changed: Vec<PathBuf>,
    pub new: Vec<PathBuf>,
}

impl Accepted {
    /// Has a person accepted what lay beside this program?
    pub fn knows_folder_of(&self, program: &Path) -> bool {
        let folder = program.parent();
        folder.is_some_and(|folder| self.folders.contains(folder))
    }
}

/// What a person accepted for the checks of this project.
pub fn of_project(state: &State, project: &Project) -> Accepted {
    let text = fs::read_to_string(file(state, project)).ok();
    text.and_then(|text| parse(&text)).unwrap_or_default()
}

/// A person vouches for this environment: every program that it finds is accepted as it is now.
pub fn accept_all(
    state: &State,
    project: &Project,
    environment: &SavedEnvironment,
) -> Result<Difference, Failure> {
    let earlier = of_project(state, project);
    let mut now = Accepted::default();
    let mut reader = Reader::default();
    for folder in folders(environment, project) {
        reader.take(&folder, &mut now);
    }
    let difference = Difference {
        changed: differing(&now, |path, hash| {
            earlier
                .programs
                .get(path)
                .is_some_and(|known| known != hash)
        }),
        new: differing(&now, |path, _| {
            let is_looked_at = path.parent().is_some_and(|it| earlier.folders.contains(it));
            is_looked_at && !earlier.programs.contains_key(path)
        }),
    };
    keep(state, project, &now)?;
    Ok(difference)
}

/// A person uses this environment for the first time: what lies in folders that nobody has looked at is
/// accepted. Where somebody has, a changed or added program waits for a person's word.
pub fn accept_new_folders(
    state: &State,
    project: &Project,
    environment: &SavedEnvironment,
) -> Result<(), Failure> {
    let mut accepted = of_project(state, project);
    let mut reader = Reader::default();
    let unseen: Vec<PathBuf> = folders(environment, project)
        .filter(|folder| !accepted.folders.contains(folder))
        .collect();
    if unseen.is_empty() {
        return Ok(());
    }
    for folder in unseen {
        reader.take(&folder, &mut accepted);
    }
    keep(state, project, &accepted)
}

/// A person accepts these programs as they are.
pub fn accept(
    state: &State,
    project: &Project,
    programs: &[CheckedProgram],
) -> Result<(), Failure> {
    let mut accepted = of_project(state, project);
    for program in programs {
        if let Some(hash) = program.hash {
            accepted.programs.insert(PathBuf::from(&program.path), hash);
        }
    }
    keep(state, project, &accepted)
}

fn differing(now: &Accepted, differs: impl Fn(&Path, &Hash) -> bool) -> Vec<PathBuf> {
    let programs = now.programs.iter();
    programs
        .filter(|(path, hash)| differs(path, hash))
        .map(|(path, _)| path.clone())
        .collect()
}

/// The folders in which this environment looks for programs, as far as the account can change them.
fn folders(environment: &SavedEnvironment, project: &Project) -> impl Iterator<Item = PathBuf> {
    let search = environment.search(&project.root);
    let root = project.root.clone();
    search.folders.into_iter().filter(move |folder| {
        // A folder is as changeable as a file in it.
        program::place(&folder.join("program"), &root) == ProgramPlace::Account && folder.is_dir()
    })
}

/// Reads each file once, under however many names it lies there.
#[derive(Default)]
struct Reader {
    read: BTreeMap<(u64, u64), Hash>,
}

impl Reader {
    fn take(&mut self, folder: &Path, accepted: &mut Accepted) {
        accepted.folders.insert(folder.to_owned());
        let listed = fs::read_dir(folder).into_iter().flatten();
        for path in listed.filter_map(Result::ok).map(|entry| entry.path()) {
            let Ok(metadata) = fs::metadata(&path) else {
                continue;
            };
            let is_program = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
            if is_program && let Some(hash) = self.hash(&path, &metadata) {
                accepted.programs.insert(path, hash);
            }
        }
    }

    fn hash(&mut self, path: &Path, metadata: &Metadata) -> Option<Hash> {
        let file = (metadata.dev(), metadata.ino());
        if let Some(hash) = self.read.get(&file) {
            return Some(*hash);
        }
        let hash = program::hash_of(path).ok()?;
        self.read.insert(file, hash);
        Some(hash)
    }
}

/// As it is stored. A program whose hash cannot be read is not accepted.
#[derive(Serialize, Deserialize)]
struct StoredPrograms {
    folders: Vec<String>,
    programs: BTreeMap<String, String>,
}

fn keep(state: &State, project: &Project, accepted: &Accepted) -> Result<(), Failure> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let programs = accepted.programs.iter();
    let stored = StoredPrograms {
        folders: accepted.folders.iter().map(|it| text(it)).collect(),
        programs: programs
            .map(|(path, hash)| (text(path), hash.to_string()))
            .collect(),
    };
    let path = file(state, project);
    state::write_durably(&path, &views::json_text(&json!(stored)))
        .map_err(Failure::file("write to", &path))
}

fn parse(text: &str) -> Option<Accepted> {
    let stored: StoredPrograms = serde_json::from_str(text).ok()?;
    let programs = stored.programs.into_iter();
    Some(Accepted {
        folders: stored.folders.into_iter().map(PathBuf::from).collect(),
        programs: programs
            .filter_map(|(path, hash)| Some((PathBuf::from(path), Hash::parse(&hash)?)))
            .collect(),
    })
}

fn file(state: &State, project: &Project) -> PathBuf {
    check_environment::file_of(state, project, "programs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_environment::Origin;

    struct World {
        folder: tempfile::TempDir,
        state: State,
        project: Project,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["bin", "more", "project"] {
                fs::create_dir(folder.path().join(name)).unwrap();
            }
            Self {
                state: State::new(folder.path().join("state")),
                project: Project::find(&folder.path().join("project")).unwrap(),
                folder,
            }
        }

        fn program(&self, path: &str, text: &str) -> PathBuf {
            let path = self.folder.path().join(path);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        fn environment(&self, folders: &[&str]) -> SavedEnvironment {
            let folders = folders.iter().map(|name| self.folder.path().join(name));
            let path = std::env::join_paths(folders)
                .unwrap()
                .into_string()
                .unwrap();
            SavedEnvironment {
                origin: Origin::Person,
                variables: BTreeMap::from([("PATH".to_owned(), path)]),
                inside: BTreeSet::new(),
            }
        }

        fn knows(&self, path: &Path) -> bool {
            of_project(&self.state, &self.project).programs.get(path)
                == Some(&program::hash_of(path).unwrap())
        }
    }

    #[test]
    fn what_is_changed_or_added_waits_for_a_person_s_word() {
        let world = World::new();
        let (state, project) = (&world.state, &world.project);
        let cargo = world.program("bin/cargo", "one");
        let both = world.environment(&["bin", "more"]);
        accept_new_folders(state, project, &world.environment(&["bin"])).unwrap();
        assert!(world.knows(&cargo));
        // A second use accepts what lies in a folder that is new to us, and no more.
        world.program("bin/cargo", "two");
        let added = world.program("bin/added", "");
        let further = world.program("more/further", "");
        accept_new_folders(state, project, &both).unwrap();
        assert!(!world.knows(&cargo) && !world.knows(&added) && world.knows(&further));
        accept(state, project, &[program::look_at(&added, &project.root)]).unwrap();
        assert!(!world.knows(&cargo) && world.knows(&added));
        let difference = accept_all(state, project, &both).unwrap();
        assert_eq!(difference.changed, std::slice::from_ref(&cargo));
        assert!(difference.new.is_empty() && world.knows(&cargo));
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let world = World::new();
        let (state, project) = (&world.state, &world.project);
        let hash = Hash([0xab; 32]);
        let stored = format!(
            "{{\n  \"folders\": [\n    \"/a b\",\n    \"/c\"\n  ],\n  \"programs\": {{\n    \"/a b/cargo\": \"{hash}\"\n  }}\n}}\n"
        );
        let accepted = Accepted {
            folders: ["/a b", "/c"].map(PathBuf::from).into(),
            programs: [(PathBuf::from("/a b/cargo"), hash)].into(),
        };
        let path = file(state, project);
        keep(state, project, &accepted).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), stored);
        assert_eq!(of_project(state, project), accepted);
        // A damaged hash is that of no program; the folder stays known, so that nothing in it is accepted as new.
        fs::write(&path, stored.replace(&hash.to_string(), "ab")).unwrap();
        let read = of_project(state, project);
        assert_eq!((read.folders, read.programs.len()), (accepted.folders, 0));
        for damaged in ["", "[]", r#"{"folders":[]}"#, r#"{"programs":{}}"#] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(of_project(state, project), Accepted::default(), "{damaged}");
        }
    }
}
