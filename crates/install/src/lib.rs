//! Installs and uninstalls our hooks in a host's settings, and a pipeline's files in the project.

pub mod additions;
mod allow_rules;
pub mod claims;
pub mod disk;
pub mod given;
pub mod health;
pub mod hooks;
pub mod host;
mod marked_section;
mod missing_hooks;
pub mod perform;
pub mod pipeline;
pub mod plan;
pub mod plugin;
mod plugin_hooks;
mod program;
pub mod prove;
pub mod record;
mod request;
pub mod settings_change;
mod settings_faults;
mod settings_files;
mod trial;
mod uninstall;

use std::path::{Path, PathBuf};

use evidence::Project;

pub use missing_hooks::hooks_gone;
pub use request::{AllowRules, Altered, InstallRequest};

use additions::Additions;
use claims::Claims;
use disk::BaseFolder;
use hooks::HooksTarget;
use perform::Installer;
use plan::Plan;
use program::OurProgram;
use record::{InstallRecord, RecordFolder};
use runtime::context::Context;
use runtime::definition::DefinitionError;
use runtime::enrolment::{self, Installed, InstalledPipeline};
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::project_files::PROJECT_FOLDER;
use runtime::state::State;

/// A planned installation.
pub struct PreparedInstall {
    pub plan: Plan,
    state: State,
    program: OurProgram,
    /// What the project will have, and whether that is already recorded.
    installed: Option<Installed>,
    known: bool,
}

impl PreparedInstall {
    pub fn is_done(&self) -> bool {
        self.plan.changes.is_empty() && self.known
    }

    /// Is this the same as an earlier plan?
    pub fn is_same(&self, other: &Self) -> bool {
        self.plan.changes == other.plan.changes && self.installed == other.installed
    }

    pub fn pipelines(&self) -> Vec<String> {
        let installed = self.installed.iter().flat_map(|it| &it.pipelines);
        installed
            .map(|pipeline| pipeline.name.to_string())
            .collect()
    }

    pub fn perform(&self) -> Result<(), Failure> {
        let installer = self.installer();
        let mut steps = installer.steps().into_iter();
        steps.try_for_each(|step| installer.take(&step))
    }

    fn installer(&self) -> Installer<'_> {
        Installer {
            state: &self.state,
            plan: &self.plan,
            program: &self.program,
            installed: self.installed.as_ref(),
        }
    }
}

/// Plans an installation. Writes nothing.
pub fn prepare(
    context: &Context,
    request: &InstallRequest,
) -> Result<PreparedInstall, DefinitionError> {
    let state = context.state()?;
    let program = OurProgram::of_process(&context.environment)?;
    match request.target {
        HooksTarget::User => Ok(for_user(context, state, program)?),
        HooksTarget::Local | HooksTarget::Shared => in_project(context, request, state, program),
    }
}

fn for_user(
    context: &Context,
    state: State,
    program: OurProgram,
) -> Result<PreparedInstall, Failure> {
    let project = project(context, &state)?;
    let places = settings_files::look(&context.environment, &project);
    let mut plan = Plan::new(&user_folder(&context.environment)?);
    let claims = Claims::of_user(&state);
    hooks::plan(&mut plan, HooksTarget::User, &places, &program, &claims)?;
    plan.note("type `gatewright init PIPELINE` in each project that you want to guard");
    Ok(PreparedInstall {
        plan,
        state,
        program,
        installed: None,
        known: true,
    })
}

fn in_project(
    context: &Context,
    request: &InstallRequest,
    state: State,
    program: OurProgram,
) -> Result<PreparedInstall, DefinitionError> {
    let project = project(context, &state)?;
    let record = RecordFolder::of(&state, &project.root)
        .read()?
        .unwrap_or_default();
    let present = installed(&state, &project)?;
    let mut plan = Plan::new(&project.root);
    let mut after = present.clone().unwrap_or_else(|| Installed {
        project: project.key.clone(),
        pipelines: Vec::new(),
    });
    let mut additions = Vec::new();
    let mut rules = Vec::new();
    for word in words(request, present.as_ref(), &project) {
        let mut chosen = pipeline::choose(context, &project, &record, &word)?;
        chosen.plan(&mut plan, &record, request.altered)?;
        additions.push(chosen.additions());
        rules.extend(allow_rules::of(&chosen.definition));
        let new = chosen.installed();
        after.pipelines.retain(|pipeline| pipeline.name != new.name);
        refuse_same_command(&after, &new)?;
        after.pipelines.push(new);
    }
    after
        .pipelines
        .sort_by(|one, other| one.name.cmp(&other.name));
    let places = settings_files::look(&context.environment, &project);
    let claims = match request.target {
        HooksTarget::Shared => Claims::shared(&after),
        HooksTarget::Local | HooksTarget::User => Claims::of_project(&state, &project.root, &after),
    };
    hooks::plan(&mut plan, request.target, &places, &program, &claims)?;
    rules.sort();
    rules.dedup();
    match request.allow {
        AllowRules::Written => hooks::allow(&mut plan, request.target, rules)?,
        AllowRules::Offered => hooks::offer(&mut plan, &places, &rules),
    }
    let local = plan
        .changes
        .iter()
        .any(|it| it.path == settings_files::LOCAL);
    let settings = (local && request.target == HooksTarget::Local).then(Additions::of_settings);
    additions.extend(settings);
    additions::plan_ignored(&mut plan, &project, &additions)?;
    additions::plan_memory(&mut plan, &additions)?;
    Ok(PreparedInstall {
        plan,
        state,
        program,
        known: present.as_ref() == Some(&after),
        installed: Some(after),
    })
}

/// A slash command stands for one pipeline: the host could not tell whose is meant.
fn refuse_same_command(others: &Installed, new: &InstalledPipeline) -> Result<(), Failure> {
    for other in &others.pipelines {
        let same = new
            .commands
            .keys()
            .find(|name| other.commands.contains_key(*name));
        if let Some(command) = same {
            let (new, other) = (&new.name, &other.name);
            let fault = format!(
                "`/{command}` is a command of the installed pipeline `{other}`, and of `{new}`"
            );
            return Err(Failure::refused(fault).hint(format!(
                "give it another name below [commands] in the file of `{new}`, such as \
                 `{new}-{command}`, or remove what is installed with `gatewright uninit`"
            )));
        }
    }
    Ok(())
}

/// The pipelines to install, by name or path.
fn words(request: &InstallRequest, present: Option<&Installed>, project: &Project) -> Vec<String> {
    let installed = present.iter().flat_map(|present| &present.pipelines);
    let installed = installed.map(|pipeline| {
        let name = pipeline.name.to_string();
        match (language::builtin::find(&name), &pipeline.file) {
            (None, Some(file)) => project.root.join(file).display().to_string(),
            (Some(_), _) | (None, None) => name,
        }
    });
    match &request.pipeline {
        Some(word) => vec![word.clone()],
        None if present.is_some() => installed.collect(),
        None => vec![pipeline::DEFAULT.to_owned()],
    }
}

/// The project of the current folder.
pub fn project(context: &Context, state: &State) -> Result<Project, Failure> {
    let is_known = |key: &str| matches!(enrolment::of_project(state, key), Ok(Some(_)) | Err(_));
    Ok(Project::find_installed(&context.folder, is_known)?)
}

/// What the hooks know of this project.
pub fn installed(state: &State, project: &Project) -> Result<Option<Installed>, Failure> {
    enrolment::of(state, project).map_err(Failure::file("read from", state.folder()))
}

/// Does the project have pipelines of its own, as `init` leaves them?
pub fn has_pipelines(root: &Path) -> bool {
    let listed = std::fs::read_dir(root.join(PROJECT_FOLDER));
    let files = listed.into_iter().flatten().filter_map(Result::ok);
    files.map(|file| file.path()).any(|path| {
        path.extension()
            .is_some_and(|end| end == "toml" || end == "json")
    })
}

/// Did `init` record an installation in this project? A record that cannot be read is one.
pub fn was_installed(state: &State, project: &Project) -> bool {
    let around = project.root.ancestors().skip(1);
    let around = around.filter(|_| project.repository.is_none());
    let main = project.main_root();
    let roots = std::iter::once(project.root.as_path())
        .chain(around)
        .chain(main.as_deref());
    let is_recorded = |root: &Path| match RecordFolder::of(state, root).read() {
        Ok(record) => record.is_some_and(|record| record.project.is_some()),
        Err(_) => true,
    };
    roots.into_iter().any(is_recorded)
}

/// The folder of a person's own settings, with symlinks resolved.
pub fn user_folder(environment: &Environment) -> Result<PathBuf, Failure> {
    let folder = environment.settings_folder().ok_or_else(|| {
        Failure::environment("cannot find your user settings").hint(format!(
            "set HOME or {} to an absolute path",
            host::PLACES.folder_variable
        ))
    })?;
    Ok(folder.canonicalize().unwrap_or(folder))
}

/// A planned removal.
pub struct PreparedRemoval {
    pub plan: Plan,
    state: State,
    record: Option<InstallRecord>,
}

impl PreparedRemoval {
    pub fn is_done(&self) -> bool {
        self.plan.changes.is_empty() && self.record.is_none()
    }

    /// Is it known what was there before `init`?
    pub fn is_recorded(&self) -> bool {
        self.record.is_some()
    }

    pub fn perform(&self) -> Result<(), Failure> {
        uninstall::perform(&self.state, &self.plan, self.record.as_ref())
    }
}

/// Plans the removal.
pub fn prepare_removal(context: &Context, target: HooksTarget) -> Result<PreparedRemoval, Failure> {
    let state = context.state()?;
    let program = OurProgram::of_process(&context.environment)?;
    let root = match target {
        HooksTarget::User => user_folder(&context.environment)?,
        HooksTarget::Local | HooksTarget::Shared => project(context, &state)?.root,
    };
    let record = RecordFolder::of(&state, &root).read()?;
    let base = BaseFolder::new(root);
    let mut plan = uninstall::plan(&state, &base, record.as_ref(), &program, target)?;
    if record.is_none() && target != HooksTarget::User {
        tell_elsewhere(&mut plan, &state, &project(context, &state)?);
    }
    Ok(PreparedRemoval {
        plan,
        state,
        record,
    })
}

/// Nothing to remove here if the project was installed from another worktree.
fn tell_elsewhere(plan: &mut Plan, state: &State, project: &Project) {
    let records = record::all(state).into_iter();
    let mut same = records.filter(|other| other.project.as_deref() == Some(&project.key));
    if let Some(other) = same.next() {
        plan.note(format!("this project was installed from {}", other.root));
    }
}

#[cfg(test)]
mod tests;
