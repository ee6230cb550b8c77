//! The environment of checks: it comes from a person, never from the process that asks for a check.
//!
//! The caller may be an agent. A PATH or a home of its choice would give it programs of its choice, so
//! a run has the environment that was chosen at its start, and its journal has the hash of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::{Hash, Run, Time, Who};
use evidence::Project;
use evidence::check::{self, SearchPath};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::caller;
use crate::failure::Failure;
use crate::state::{self, State};
use crate::worker_settings::is_known;

const FOLDER: &str = "environments";

/// The command with which a person gives a project and its runs their own environment.
const REMEDY: &str = "have a person type `gatewright trust --environment` in the project";

/// An environment for checks. The same one always has the same hash.
///
/// Invariant: its fields are stored in this order. Journals have the hash of these bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEnvironment {
    pub origin: Origin,
    /// PATH, HOME and those of two short lists that were set.
    pub variables: BTreeMap<String, String>,
    /// The programs in the folders of the project that the PATH names.
    pub inside: BTreeSet<String>,
}

/// Whose environment it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// That of a person at a terminal.
    Person,
    /// That of a script or of CI, where no person had given one.
    Unattended,
    /// Nobody's: the folders of the system, and the home in the password file.
    System,
}

impl Origin {
    pub fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Unattended => "unattended",
            Self::System => "system",
        }
    }
}

/// The environment of a project, with who gave it and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub environment: SavedEnvironment,
    pub at: Time,
    pub by: String,
}

/// The same as it is stored: the environment has a file of its own.
#[derive(Serialize, Deserialize)]
struct GivenRecord {
    #[serde(with = "crate::serde_names")]
    environment: Hash,
    #[serde(with = "crate::serde_names")]
    at: Time,
    by: String,
}

impl GivenRecord {
    fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
}

impl SavedEnvironment {
    /// That of this process, as far as checks and workers may know of it. Checks get nothing of what only
    /// workers need.
    pub fn of_process(origin: Origin, root: &Path) -> Self {
        let variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, value)| {
                let is_kept = name == "PATH" || check::is_captured(name) || is_known(name);
                !value.is_empty() && is_kept
            })
            .collect();
        let environment = Self {
            origin,
            variables,
            inside: BTreeSet::new(),
        };
        Self {
            inside: environment.programs_inside(root),
            ..environment
        }
    }

    /// What is there without anybody: nothing that a caller could set.
    pub fn of_system() -> Self {
        let home = caller::home().map(|home| ("HOME".to_owned(), home));
        let language = ("LANG".to_owned(), "C.UTF-8".to_owned());
        Self {
            origin: Origin::System,
            variables: home.into_iter().chain([language]).collect(),
            inside: BTreeSet::new(),
        }
    }

    /// Where its programs are looked for.
    pub fn search(&self, root: &Path) -> SearchPath {
        check::search_for_checks(&self.folders(), &self.known(), root)
    }

    pub fn folders(&self) -> Vec<PathBuf> {
        let path = self.variables.get("PATH").map_or("", String::as_str);
        std::env::split_paths(path).collect()
    }

    /// The programs of the project that are found in their turn.
    pub fn known(&self) -> BTreeSet<PathBuf> {
        self.inside.iter().map(PathBuf::from).collect()
    }

    fn programs_inside(&self, root: &Path) -> BTreeSet<String> {
        let folders = self.search(root).inside;
        let entries = folders
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok());
        let paths = entries
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path());
        paths
            .filter_map(|path| path.into_os_string().into_string().ok())
            .collect()
    }

    /// One line for each variable, as a person is shown them.
    pub fn lines(&self) -> Vec<String> {
        let variables = self.variables.iter();
        variables
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    fn text(&self) -> String {
        views::json_text(&json!(self))
    }

    pub fn hash(&self) -> Hash {
        evidence::hash(self.text().as_bytes())
    }

    fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Keeps an environment under its hash. It is durable when this returns.
pub fn keep(state: &State, environment: &SavedEnvironment) -> Result<Hash, Failure> {
    let (text, hash) = (environment.text(), environment.hash());
    let path = kept(state, hash);
    if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
        return Ok(hash);
    }
    state::write_durably(&path, &text).map_err(Failure::file("write to", &path))?;
    Ok(hash)
}

/// The environment of this hash, if it is still as it was kept.
fn read(state: &State, hash: Hash) -> Option<SavedEnvironment> {
    let text = std::fs::read_to_string(kept(state, hash)).ok()?;
    if evidence::hash(text.as_bytes()) == hash {
        SavedEnvironment::parse(&text)
    } else {
        None
    }
}

/// The environment in which the checks of a run are run, or why it cannot be had.
pub fn of_run(state: &State, run: &Run) -> Result<SavedEnvironment, String> {
    let Some(hash) = run.environment else {
        return Ok(of_older(state, run));
    };
    read(state, hash).ok_or_else(|| {
        format!(
            "the environment of {} is not as it was recorded: {REMEDY}",
            run.id
        )
    })
}

/// Runs of earlier versions recorded only where programs were looked for.
fn of_older(state: &State, run: &Run) -> SavedEnvironment {
    let search = state.search_path(&run.id).unwrap_or_default();
    let mut environment = SavedEnvironment::of_system();
    if let Ok(search) = search.into_string() {
        environment.variables.insert("PATH".to_owned(), search);
    }
    environment
}

/// The environment for a run that this caller starts: that of a person who starts it; otherwise the one
/// that a person gave the project; that of a script only where there is none. An agent adds nothing.
pub fn chosen(state: &State, project: &Project, by: &Who) -> SavedEnvironment {
    let given = of_project(state, project).map(|given| given.environment);
    let by_person = |given: &SavedEnvironment| given.origin == Origin::Person;
    match by {
        Who::Person(_) => SavedEnvironment::of_process(Origin::Person, &project.root),
        Who::Unattended(_) => given
            .filter(by_person)
            .unwrap_or_else(|| SavedEnvironment::of_process(Origin::Unattended, &project.root)),
        Who::Agent(_) | Who::Session(_) | Who::Through(_) | Who::Engine => {
            given.unwrap_or_else(SavedEnvironment::of_system)
        }
    }
}

/// The environment that was given to this project.
pub fn of_project(state: &State, project: &Project) -> Option<Given> {
    let record = GivenRecord::read(&given(state, project))?;
    Some(Given {
        environment: read(state, record.environment)?,
        at: record.at,
        by: record.by,
    })
}

/// Gives the project this environment. It is durable when this returns.
pub fn give(state: &State, project: &Project, new: &Given) -> Result<Hash, Failure> {
    let hash = keep(state, &new.environment)?;
    let path = given(state, project);
    let record = GivenRecord {
        environment: hash,
        at: new.at,
        by: new.by.clone(),
    };
    state::write_durably(&path, &views::json_text(&json!(record)))
        .map_err(Failure::file("write to", &path))?;
    Ok(hash)
}

/// Removes kept environments that are not among these and that no project has. Young ones stay: their
/// run may be about to begin.
pub fn forget(state: &State, used: &BTreeSet<Hash>) {
    let listed = std::fs::read_dir(state.folder().join(FOLDER));
    let paths: Vec<PathBuf> = listed
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    let is_project = |path: &&PathBuf| path.extension().is_some_and(|end| end == "project");
    let given = paths.iter().filter(is_project);
    let given = given.filter_map(|path| GivenRecord::read(path));
    let given: BTreeSet<Hash> = given.map(|record| record.environment).collect();
    for path in &paths {
        let hash = path
            .file_name()
            .and_then(|name| Hash::parse(name.to_str()?));
        let unused = hash.is_some_and(|hash| !used.contains(&hash) && !given.contains(&hash));
        if unused && state::is_old(path) {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn kept(state: &State, hash: Hash) -> PathBuf {
    state.folder().join(FOLDER).join(hash.to_string())
}

fn given(state: &State, project: &Project) -> PathBuf {
    file_of(state, project, "project")
}

/// The file of this kind for a project: under the key that it has, or one that it had when the file
/// was written. Its name is a hash, in which no path can hide.
pub fn file_of(state: &State, project: &Project, kind: &str) -> PathBuf {
    let folder = state.folder().join(FOLDER);
    let path = |key: &String| folder.join(format!("{}.{kind}", evidence::hash(key.as_bytes())));
    let keys = project.keys();
    let mut paths = keys.iter().map(path);
    let written = paths.find(|path| path.exists());
    written.unwrap_or_else(|| path(&project.key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(path: &str) -> SavedEnvironment {
        SavedEnvironment {
            origin: Origin::Person,
            variables: BTreeMap::from([("PATH".to_owned(), path.to_owned())]),
            inside: BTreeSet::new(),
        }
    }

    #[test]
    fn an_environment_is_read_only_as_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let hash = keep(&state, &environment("/a")).unwrap();
        assert_eq!(read(&state, hash), Some(environment("/a")));
        let text = environment("/evil").text();
        std::fs::write(kept(&state, hash), text).unwrap();
        assert_eq!(read(&state, hash), None);
        // Keeping it again repairs it.
        keep(&state, &environment("/a")).unwrap();
        assert_eq!(read(&state, hash), Some(environment("/a")));
        std::fs::remove_file(kept(&state, hash)).unwrap();
        assert_eq!(read(&state, hash), None);
    }

    #[test]
    fn a_person_s_own_comes_before_the_project_s_and_an_agent_s_never() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let project = Project::find(folder.path()).unwrap();
        let own = |origin| SavedEnvironment::of_process(origin, &project.root);
        let person = Who::Person("ada".to_owned());
        let script = Who::Unattended("ada".to_owned());
        let agent = Who::Agent("a sign".to_owned());
        assert_eq!(chosen(&state, &project, &person), own(Origin::Person));
        assert_eq!(chosen(&state, &project, &script), own(Origin::Unattended));
        assert_eq!(
            chosen(&state, &project, &agent),
            SavedEnvironment::of_system()
        );
        let new = Given {
            environment: environment("/a"),
            at: Time(1),
            by: "ada".to_owned(),
        };
        give(&state, &project, &new).unwrap();
        assert_eq!(of_project(&state, &project).as_ref(), Some(&new));
        assert_eq!(chosen(&state, &project, &person), own(Origin::Person));
        assert_eq!(chosen(&state, &project, &script), environment("/a"));
        assert_eq!(chosen(&state, &project, &agent), environment("/a"));
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let project = Project::find(folder.path()).unwrap();
        for (origin, word) in [
            (Origin::Person, "person"),
            (Origin::Unattended, "unattended"),
            (Origin::System, "system"),
        ] {
            let environment = SavedEnvironment {
                origin,
                inside: BTreeSet::from(["/p/node_modules/.bin/tsc".to_owned()]),
                ..environment("/a")
            };
            // Journals have the hash of these bytes.
            let text = format!(
                "{{\n  \"origin\": \"{word}\",\n  \"variables\": {{\n    \"PATH\": \"/a\"\n  }},\n  \"inside\": [\n    \"/p/node_modules/.bin/tsc\"\n  ]\n}}\n"
            );
            assert_eq!(environment.text(), text);
            assert_eq!(SavedEnvironment::parse(&text), Some(environment.clone()));
            let given = Given {
                environment,
                at: Time(7),
                by: "ada".to_owned(),
            };
            let hash = give(&state, &project, &given).unwrap();
            let stored = format!(
                "{{\n  \"environment\": \"{hash}\",\n  \"at\": 7,\n  \"by\": \"ada\"\n}}\n"
            );
            let path = super::given(&state, &project);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), stored);
            assert_eq!(of_project(&state, &project), Some(given));
            for damaged in ["{", "[]", "{}", &stored.replace("7", "\"7\"")] {
                std::fs::write(&path, damaged).unwrap();
                assert_eq!(of_project(&state, &project), None, "{damaged}");
            }
        }
        // A later version may say more.
        let more = r#"{"origin":"person","variables":{},"inside":[],"more":1}"#;
        assert!(SavedEnvironment::parse(more).is_some());
        for damaged in [
            "",
            "[]",
            r#"{"origin":"agent","variables":{},"inside":[]}"#,
            r#"{"origin":"person","variables":{"A":1},"inside":[]}"#,
            r#"{"origin":"person","variables":{}}"#,
        ] {
            assert_eq!(SavedEnvironment::parse(damaged), None, "{damaged}");
        }
    }
}
