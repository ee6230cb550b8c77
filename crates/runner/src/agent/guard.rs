//! Installs our hooks for one worker process before it starts.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use engine::RunId;
use evidence::Project;
use hosts::Program;
use hosts::agent_process::{
    GuardInputs, GuardSetup, PersonalSettings, PersonalSettingsLocation, SettingsText, Workplace,
};
use runtime::failure::Failure;
use runtime::worker_environment::Variables;
use runtime::workspace::Workspace;
use runtime::{current_exe, state};

/// Where a worker works.
pub(super) struct WorkLocation<'a> {
    pub project: &'a Project,
    pub folder: &'a Path,
}

impl WorkLocation<'_> {
    /// All paths that a program may use for this location. A worktree is also known by the top
    /// folder of its repository.
    fn folders(&self) -> Vec<PathBuf> {
        let repository = self.project.repository.as_ref();
        let top = repository.and_then(|it| it.common_dir.parent());
        let all = [Some(self.folder), Some(&self.project.root), top];
        let mut folders: Vec<PathBuf> = all.into_iter().flatten().map(Path::to_owned).collect();
        folders.sort();
        folders.dedup();
        folders
    }
}

/// Writes the files that the hooks need, and returns the additions to the command line and
/// environment.
pub(super) fn prepare(
    workspace: &Workspace<'_>,
    run: &RunId,
    program: Program,
    variables: &Variables,
    location: &WorkLocation<'_>,
) -> Result<GuardSetup, Failure> {
    let ours = current_exe::program().map_err(|cause| {
        Failure::environment(format!("cannot find the gatewright program ({cause})"))
    })?;
    let ours = ours.to_str().ok_or_else(|| {
        Failure::environment("the path of the gatewright program is not valid UTF-8")
            .hint("install it elsewhere")
    })?;
    // The folder lives as long as its run: a program may keep its conversations there.
    let folder = workspace.state.folder().join("guards").join(run.as_str());
    let folder = folder.join(program.word());
    let own = program
        .personal_settings()
        .and_then(|place| own(&place, variables));
    let settings = own.as_ref().and_then(|(_, settings)| settings.as_deref());
    let theirs = program.personal_settings().and_then(|own| {
        let file = location.folder.join(own.below_home).join(own.file);
        Some((file.clone(), fs::read_to_string(file).ok()?))
    });
    let workplace = Workplace {
        folders: &location.folders(),
        settings: theirs
            .as_ref()
            .map(|(file, text)| SettingsText { file, text }),
    };
    let guard = GuardInputs {
        program: ours,
        folder: &folder,
        workplace,
        personal: own
            .as_ref()
            .map(|(folder, _)| PersonalSettings { folder, settings }),
    };
    let guard_setup = program
        .guard_setup(&guard)
        .map_err(|cause| Failure::settings(cause.to_string()))?;
    write(&folder, &guard_setup)?;
    Ok(guard_setup)
}

/// The person's own settings: the folder, and the text of its file.
fn own(
    place: &PersonalSettingsLocation,
    variables: &Variables,
) -> Option<(PathBuf, Option<String>)> {
    let variable = |name: &str| variables.get(std::ffi::OsStr::new(name)).map(PathBuf::from);
    let folder = match variable(place.variable) {
        Some(named) => named.join(place.below_variable),
        None => variable("HOME")?.join(place.below_home),
    };
    let settings = fs::read_to_string(folder.join(place.file)).ok();
    Some((folder, settings))
}

fn write(folder: &Path, guard_setup: &GuardSetup) -> Result<(), Failure> {
    for path in guard_setup
        .files
        .iter()
        .map(|(path, _)| path)
        .chain(guard_setup.links.iter().map(|(path, _)| path))
    {
        let parent = path.parent().unwrap_or(folder);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(Failure::file("write to", parent))?;
    }
    for (path, text) in &guard_setup.files {
        state::write_durably(path, text).map_err(Failure::file("write to", path))?;
    }
    let existing = guard_setup
        .links
        .iter()
        .filter(|(_, target)| target.exists());
    for (path, target) in existing {
        match symlink(target, path) {
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                return Err(Failure::file("write to", path)(cause));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
