//! What our hooks say about their own installation, as arguments behind the event: the state folder,
//! the project, and its pipelines. So a project keeps its guard when the state folder has lost it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::Begins;
use evidence::Project;
use hosts::settings::HookCommand;
use runtime::definition::{self, DefinitionError};
use runtime::enrolment::{Installed, InstalledPipeline};
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::group_members;
use runtime::state::State;

use super::trial;

const STATE: &str = "--state";
const PROJECT: &str = "--project";
/// A pipeline of which every session has a run, and one that a command starts.
const ALWAYS: &str = "--always";
const PIPELINE: &str = "--pipeline";

/// What the arguments of a hook say. Hooks in a person's own settings name only the state folder, and
/// hooks for everybody only the pipelines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    pub state: Option<PathBuf>,
    pub project: Option<PathBuf>,
    pub pipelines: Vec<ClaimedPipeline>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedPipeline {
    /// Its file, as seen from the project's root.
    pub file: String,
    pub begins: Begins,
}

impl Claims {
    /// The hooks of one project on this machine.
    pub fn of_project(state: &State, root: &Path, installed: &Installed) -> Self {
        Self {
            state: Some(state.folder().to_owned()),
            project: Some(root.to_owned()),
            ..Self::shared(installed)
        }
    }

    /// The hooks of a project for everybody.
    pub fn shared(installed: &Installed) -> Self {
        let pipelines = installed.pipelines.iter().filter_map(|pipeline| {
            Some(ClaimedPipeline {
                file: pipeline.file.clone()?,
                begins: pipeline.begins,
            })
        });
        Self {
            pipelines: pipelines.collect(),
            ..Self::default()
        }
    }

    /// The hooks of a person for all projects.
    pub fn of_user(state: &State) -> Self {
        Self {
            state: Some(state.folder().to_owned()),
            ..Self::default()
        }
    }

    /// The claims of the hook that this process is.
    pub fn of_process() -> Self {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        Self::of_arguments(&arguments)
    }

    /// The claims among the arguments of a hook. What we do not know says nothing.
    pub fn of_arguments(arguments: &[OsString]) -> Self {
        let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
        let first = words.iter().position(|word| word.starts_with("--"));
        Self::read(first.map_or(&[][..], |first| &words[first..])).0
    }

    /// The claims of a hook in a settings file; `None` if it has arguments that we do not write.
    pub fn of_command(command: &HookCommand) -> Option<Self> {
        let words: Vec<String> = match command {
            HookCommand::Exec { arguments, .. } => arguments.clone(),
            HookCommand::Shell(line) => {
                let last = hosts::shell::commands(line).pop()?;
                last.words.iter().map(|word| word.to_string()).collect()
            }
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let first = words.iter().position(|word| word.starts_with("--"));
        let (claims, unknown) = Self::read(first.map_or(&[][..], |first| &words[first..]));
        (!unknown).then_some(claims)
    }

    /// Reads the claims, and whether there was anything else.
    fn read(words: &[&str]) -> (Self, bool) {
        let mut claims = Self::default();
        let mut unknown = false;
        for pair in words.chunks(2) {
            match *pair {
                [STATE, folder] if folder.starts_with('/') => claims.state = Some(folder.into()),
                [PROJECT, root] if root.starts_with('/') => claims.project = Some(root.into()),
                [ALWAYS, file] => claims.claim(file, Begins::Session),
                [PIPELINE, file] => claims.claim(file, Begins::Command),
                _ => unknown = true,
            }
        }
        (claims, unknown)
    }

    fn claim(&mut self, file: &str, begins: Begins) {
        let file = file.to_owned();
        self.pipelines.push(ClaimedPipeline { file, begins });
    }

    /// The arguments that make these claims. A path that is not text cannot be claimed.
    pub fn arguments(&self) -> Vec<String> {
        let path = |name: &str, path: &Option<PathBuf>| {
            let path = path.as_ref().and_then(|path| path.to_str());
            path.map(|path| [name.to_owned(), path.to_owned()])
        };
        let pipelines = self.pipelines.iter().map(|pipeline| {
            let name = match pipeline.begins {
                Begins::Session => ALWAYS,
                Begins::Command => PIPELINE,
            };
            [name.to_owned(), pipeline.file.clone()]
        });
        let paths = [path(STATE, &self.state), path(PROJECT, &self.project)];
        let all = paths.into_iter().flatten().chain(pipelines);
        all.flatten().collect()
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Should every session have a run?
    pub fn is_always_on(&self) -> bool {
        let mut pipelines = self.pipelines.iter();
        pipelines.any(|pipeline| pipeline.begins == Begins::Session)
    }

    /// Is this folder in the claimed project, or in a worktree of it? A copy of the project is neither.
    pub fn covers(&self, folder: &Path) -> bool {
        let Some(root) = &self.project else {
            return false;
        };
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        folder.starts_with(root)
            || real(folder).starts_with(real(root))
            || is_worktree(folder, &real(root))
    }

    /// Do these claims guard the place of the others, as far as both name one?
    pub fn agrees(&self, other: &Self) -> bool {
        let same_state = match (&self.state, &other.state) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        };
        let same_project = match (&self.project, &other.project) {
            (Some(_), Some(other)) => self.covers(other),
            (None, _) | (_, None) => true,
        };
        same_state && same_project
    }

    /// The state folder of a hook with these claims in this folder, if the environment has another
    /// one. A copy of a project, and a trial of its hooks, use the environment's.
    pub fn state_beside(
        &self,
        environment: &Environment,
        folder: Option<&Path>,
    ) -> Option<PathBuf> {
        let claimed = self.state.as_ref()?;
        let told = State::find(environment).ok();
        let is_told = |told: &State| told.folder() == claimed || trial::is_under_way(claimed, told);
        let is_here = || self.project.is_none() || folder.is_some_and(|it| self.covers(it));
        (!told.as_ref().is_some_and(is_told) && is_here()).then(|| claimed.clone())
    }

    /// What is installed, told from the definitions alone.
    pub fn installed(&self) -> Result<Installed, Failure> {
        let root = self.project.clone().unwrap_or_default();
        let pipelines = self.pipelines.iter().map(|claimed| claimed.look(&root));
        Ok(Installed {
            project: root.to_string_lossy().into_owned(),
            pipelines: pipelines.collect::<Result<_, _>>()?,
        })
    }
}

impl ClaimedPipeline {
    fn look(&self, root: &Path) -> Result<InstalledPipeline, Failure> {
        let compiled = definition::read(&root.join(&self.file), &self.file)
            .and_then(|sources| Ok(group_members::with_members(sources, root)?))
            .and_then(|sources| definition::compile(&sources));
        let compiled = compiled.map_err(|trouble| match trouble {
            DefinitionError::Failed(failure) => failure,
            DefinitionError::Rejected { .. } => {
                Failure::refused(format!("{} is not accepted", self.file))
                    .hint("`gatewright lint` shows why")
            }
        })?;
        let definition = compiled.pipeline.definition();
        Ok(InstalledPipeline {
            name: definition.name.clone(),
            file: Some(self.file.clone()),
            // The person who installed it saw this, and not what the file says by now.
            begins: self.begins,
            commands: definition.commands.clone(),
        })
    }
}

/// Is the folder in a linked worktree whose main one is this?
fn is_worktree(folder: &Path, root: &Path) -> bool {
    let main = Project::find(folder).ok();
    main.and_then(|project| project.main_root())
        .is_some_and(|main| main == root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Vec<OsString> {
        texts.iter().map(OsString::from).collect()
    }

    #[test]
    fn claims_are_read_as_they_were_written() {
        let claims = Claims {
            state: Some("/s/gatewright".into()),
            project: Some("/a b".into()),
            pipelines: vec![
                ClaimedPipeline {
                    file: ".gatewright/a.toml".to_owned(),
                    begins: Begins::Session,
                },
                ClaimedPipeline {
                    file: "x/it's.toml".to_owned(),
                    begins: Begins::Command,
                },
            ],
        };
        let mut line = vec!["hook".to_owned(), "claude".to_owned(), "Stop".to_owned()];
        line.extend(claims.arguments());
        let given: Vec<OsString> = line.iter().map(OsString::from).collect();
        assert_eq!(Claims::of_arguments(&given), claims);
        let exec = HookCommand::Exec {
            program: "/gatewright".to_owned(),
            arguments: line,
        };
        assert_eq!(Claims::of_command(&exec), Some(claims.clone()));
        let shell = crate::host::FORMAT.call_by_name();
        let shell = shell.with_arguments(claims.arguments()).hook("Stop");
        assert_eq!(Claims::of_command(&shell), Some(claims));
    }

    #[test]
    fn what_we_do_not_write_claims_nothing() {
        let none = Claims::default();
        for line in [
            &["hook", "claude", "Stop"][..],
            &["hook", "claude", "Stop", "--state", "relative"],
            &["hook", "claude", "Stop", "--state"],
            &["hook", "claude", "Stop", "--odd", "/x"],
        ] {
            assert_eq!(Claims::of_arguments(&words(line)), none, "{line:?}");
        }
        let odd = HookCommand::Exec {
            program: "/gatewright".to_owned(),
            arguments: ["hook", "claude", "Stop", "--odd"]
                .map(str::to_owned)
                .to_vec(),
        };
        assert_eq!(Claims::of_command(&odd), None);
    }

    #[test]
    fn a_copy_of_a_project_is_not_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["p/sub", "q", "pq"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("p"), root.join("link")).unwrap();
        let claims = Claims {
            project: Some(root.join("p")),
            ..Claims::default()
        };
        for (name, expected) in [
            ("p", true),
            ("p/sub", true),
            ("link", true),
            ("link/sub", true),
            ("p/gone", true),
            ("q", false),
            ("pq", false),
            ("", false),
        ] {
            assert_eq!(claims.covers(&root.join(name)), expected, "{name}");
        }
    }
}
