//! What is installed where a session works: as the state folder says, or else as the hook itself says.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use evidence::Project;
use runtime::enrolment::{self, Installed};
use runtime::failure::Failure;
use runtime::project_files::PROJECT_FOLDER;
use runtime::state::State;

use install::claims::Claims;

/// An installation in the project of a session.
pub(super) struct Installation {
    pub root: PathBuf,
    pub installed: Result<Installed, Failure>,
    /// Should every session have a run? Yes, where nobody can see whether it should.
    pub is_always_on: bool,
    /// What the person hears when a session starts.
    pub notice: Option<String>,
}

/// What is installed in the project of this folder. `None` is the usual answer elsewhere. `plugin_starts`: the
/// hook is a plugin's, and a session starts.
pub(super) fn find(
    folder: &Path,
    state: &State,
    claims: &Claims,
    plugin_starts: bool,
) -> Option<Installation> {
    // Nearly every hook elsewhere comes this far, so each file is looked for once.
    let known = RefCell::new(None);
    let may_be = |key: &str| match enrolment::of_project(state, key).transpose() {
        None => false,
        installed => {
            known.replace(installed);
            true
        }
    };
    let project = match Project::find_installed(folder, may_be) {
        Ok(project) => project,
        Err(error) => {
            let is_gone = matches!(&error, evidence::Error::Folder { cause, .. } if cause.kind() == ErrorKind::NotFound);
            let is_ours = !is_gone || claims.covers(folder);
            return is_ours.then(|| unseen(folder, error.into(), claims));
        }
    };
    match known.into_inner() {
        // The hooks promise more than the state folder: then that was changed behind their back.
        Some(Ok(installed))
            if claims.covers(folder) && claims.is_always_on() && !installed.is_always_on() =>
        {
            lost(project, folder, state, claims, plugin_starts)
        }
        Some(Ok(installed)) => Some(Installation {
            root: project.root,
            is_always_on: installed.is_always_on(),
            installed: Ok(installed),
            notice: None,
        }),
        Some(Err(cause)) => {
            let failure = Failure::file("read from", state.folder())(cause);
            Some(unseen(&project.root, failure, claims))
        }
        None => lost(project, folder, state, claims, plugin_starts),
    }
}

/// An error on the way: nobody knows what is installed here.
fn unseen(root: &Path, failure: Failure, claims: &Claims) -> Installation {
    Installation {
        root: root.to_owned(),
        installed: Err(failure),
        is_always_on: claims.pipelines.is_empty() || claims.is_always_on(),
        notice: None,
    }
}

/// The state folder knows nothing of this project. Do the hook or the record of `init` know better?
fn lost(
    project: Project,
    folder: &Path,
    state: &State,
    claims: &Claims,
    plugin_starts: bool,
) -> Option<Installation> {
    let shown = state.folder().display();
    if claims.covers(folder) && !claims.pipelines.is_empty() {
        let notice = format!(
            "gatewright: {shown} no longer knows this project, and its hooks still guard it; type \
             `gatewright init` to record it again, or `gatewright uninit` to remove the hooks"
        );
        return Some(Installation {
            root: project.root,
            installed: claims.installed(),
            is_always_on: claims.is_always_on(),
            notice: Some(notice),
        });
    }
    if install::was_installed(state, &project) {
        let failure = Failure::environment(format!("{shown} no longer knows this project"))
            .hint("type `gatewright init` to record it again");
        return Some(unseen(&project.root, failure, &Claims::default()));
    }
    let notice = untold(state, claims)
        .or_else(|| plugin_starts.then(|| unrecorded(state, &project)).flatten())?;
    Some(Installation {
        root: project.root,
        installed: Ok(Installed {
            project: project.key,
            pipelines: Vec::new(),
        }),
        is_always_on: false,
        notice: Some(notice),
    })
}

/// Hooks that promise nothing here, and a person might believe that they do.
fn untold(state: &State, claims: &Claims) -> Option<String> {
    let advice = "this session is not guarded; type `gatewright init` to guard this project";
    if let Some(other) = &claims.project {
        let other = other.display();
        Some(format!(
            "gatewright: the hooks of this project were installed in {other}; {advice}"
        ))
    } else if !claims.pipelines.is_empty() {
        Some(format!(
            "gatewright: this project has shared hooks, and nothing is installed in it on this \
             machine; {advice}"
        ))
    } else if claims.state.is_some() && !state.folder().exists() {
        let folder = state.folder().display();
        Some(format!("gatewright: {folder} is gone; {advice}"))
    } else {
        None
    }
}

/// Hooks of a plugin, which name nothing, in a project that has pipelines. Told once, when a session starts:
/// hooks of other projects look no further.
fn unrecorded(state: &State, project: &Project) -> Option<String> {
    let folder = state.folder().display();
    install::has_pipelines(&project.root).then(|| {
        format!(
            "gatewright: this project has pipelines in {PROJECT_FOLDER}, and {folder} knows of none \
             of them; this session is not guarded; type `gatewright init` to guard this project"
        )
    })
}
