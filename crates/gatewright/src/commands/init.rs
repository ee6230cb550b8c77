//! `gatewright init`: installs the hooks, a pipeline and its files in a project.

use std::io::BufRead as _;
use std::path::PathBuf;

use engine::{Held, Who};
use evidence::Project;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::file_lock::FileLock;
use runtime::state::State;
use runtime::{needed_programs, person_only, start_run};
use serde_json::json;

use super::trust::vouch;
use crate::exit::Exit;
use crate::output::{Format, Output};
use install::hooks::HooksTarget;
use install::host::TITLE;
use install::plan::Plan;
use install::record::InstallRecord;
use install::{
    self, AllowRules, Altered, InstallRequest, PreparedInstall, host, perform, pipeline, plugin,
};

/// Guard this project: install a pipeline and the hooks for Claude Code
///
/// Writes the pipeline (.gatewright/NAME.toml), its agents, commands and skills for Claude Code
/// (.claude/), and Gatewright's hooks (.claude/settings.local.json). Shows every change and asks
/// before it writes. Keeps your other hooks, settings and files of the same name. `gatewright
/// uninit` restores every file.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// A built-in pipeline, or one of the project's own (.gatewright/NAME.toml) [default: the
    /// installed pipelines, otherwise context-first]
    #[arg(value_name = "PIPELINE")]
    pipeline: Option<String>,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Write the hooks to .claude/settings.json, for everybody who works on the project. They look
    /// up gatewright on the PATH, and do nothing where it is not installed
    #[arg(long, conflicts_with_all = ["user", "plugin"])]
    shared: bool,
    /// Write only the hooks, to your user settings, for all projects
    #[arg(long, conflicts_with_all = ["pipeline", "plugin"])]
    user: bool,
    /// Write a Claude Code plugin to this folder instead, with the hooks and the pipeline's agents,
    /// commands and skills
    #[arg(long, value_name = "DIR")]
    plugin: Option<PathBuf>,
    /// Replace agents, commands and skills that differ from the pipeline's. Without it they are
    /// kept and named
    #[arg(long, conflicts_with_all = ["user", "plugin"])]
    force: bool,
    /// Also add rules to `permissions.allow`, so that Claude Code asks you less: for Gatewright's commands that
    /// only read or check, and for the files outside of `.claude` that the pipeline's workers must leave
    #[arg(long, conflicts_with_all = ["user", "plugin"])]
    allow: bool,
}

impl Init {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let done = match &self.plugin {
            Some(folder) => self.make_plugin(context, output, folder),
            None => self.install(context, output),
        };
        match done {
            Ok(exit) => Ok(exit),
            Err(DefinitionError::Failed(failure)) => Err(failure),
            Err(DefinitionError::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                Ok(Exit::No)
            }
        }
    }

    fn request(&self) -> InstallRequest {
        let target = match (self.shared, self.user) {
            (true, _) => HooksTarget::Shared,
            (_, true) => HooksTarget::User,
            (false, false) => HooksTarget::Local,
        };
        let altered = if self.force {
            Altered::Replaced
        } else {
            Altered::Kept
        };
        InstallRequest {
            pipeline: self.pipeline.clone(),
            target,
            altered,
            allow: if self.allow {
                AllowRules::Written
            } else {
                AllowRules::Offered
            },
        }
    }

    fn install(&self, context: &Context, output: &mut Output) -> Result<Exit, DefinitionError> {
        let mut request = self.request();
        refuse_agents(context, &request)?;
        self.choose(context, output, &mut request)?;
        let shown = install::prepare(context, &request)?;
        let state = context.state()?;
        let project = match request.target {
            HooksTarget::User => None,
            HooksTarget::Local | HooksTarget::Shared => Some(install::project(context, &state)?),
        };
        if let Some(project) = &project {
            vouch::show(context, output, project)?;
        }
        if shown.is_done() {
            if let Some(project) = &project {
                vouch::give(context, output, project)?;
            }
            return Ok(nothing_to_do(output, &shown.plan)?);
        }
        self.agreed(context, output, &shown.plan)?;
        perform::prepare(&state)?;
        let _turn = FileLock::wait(&state.folder().join("installing.lock"))?;
        // Another process may have changed the files while the person read the plan.
        let now = install::prepare(context, &request)?;
        if !now.is_same(&shown) && !now.is_done() && !self.yes {
            let failure = Failure::refused("the files changed while you were reading");
            return Err(failure.hint("retry: `gatewright init`").into());
        }
        now.perform()?;
        if let Some(project) = &project {
            vouch::give(context, output, project)?;
        }
        Ok(tell_done(context, output, &shown)?)
    }

    /// Lets the person choose a pipeline if they name none and none is installed.
    fn choose(
        &self,
        context: &Context,
        output: &mut Output,
        request: &mut InstallRequest,
    ) -> Result<(), Failure> {
        let asks = !self.yes && matches!(context.who(), Who::Person(_));
        let open = request.pipeline.is_none() && request.target != HooksTarget::User;
        if asks && open && !is_installed(context, &context.state()?, request)? {
            for builtin in language::builtin::all() {
                output.say(&format!("{:<14} {}", builtin.name, builtin.about));
            }
            output.mutter(&format!("Which pipeline? [{}] ", pipeline::DEFAULT));
            let answer = typed();
            request.pipeline = Some(answer).filter(|answer| !answer.is_empty());
        }
        Ok(())
    }

    /// Shows what will change, and asks.
    fn agreed(&self, context: &Context, output: &mut Output, plan: &Plan) -> Result<(), Failure> {
        if output.format() == Format::Text {
            output.text(&plan.text(output.paint()))?;
        }
        tell_notes(output, plan);
        match (self.yes, context.who()) {
            (true, _) => Ok(()),
            (false, Who::Person(_)) => asked(output),
            (false, _) => Err(Failure::refused(
                "nothing was written, because there is no terminal to confirm at",
            )
            .hint(format!("type `{}`", self.confirmed()))),
        }
    }

    /// The same command, confirmed.
    fn confirmed(&self) -> String {
        let mut words = vec!["gatewright".to_owned(), "init".to_owned()];
        words.extend(self.pipeline.clone());
        for (is_given, option) in [
            (self.shared, "--shared"),
            (self.user, "--user"),
            (self.force, "--force"),
            (self.allow, "--allow"),
            (true, "--yes"),
        ] {
            words.extend(is_given.then(|| option.to_owned()));
        }
        if let Some(folder) = &self.plugin {
            words.extend(["--plugin".to_owned(), folder.display().to_string()]);
        }
        engine::shell_words(&words)
    }

    fn make_plugin(
        &self,
        context: &Context,
        output: &mut Output,
        folder: &std::path::Path,
    ) -> Result<Exit, DefinitionError> {
        let state = context.state()?;
        let project = install::project(context, &state)?;
        let word = self.pipeline.as_deref().unwrap_or(pipeline::DEFAULT);
        let chosen = pipeline::choose(context, &project, &InstallRecord::default(), word)?;
        let folder = context.folder.join(folder);
        let plan = plugin::plan(&folder, &chosen)?;
        self.agreed(context, output, &plan)?;
        for change in &plan.changes {
            perform::write(&plan, change)?;
        }
        let shown = views::line(&folder.display().to_string());
        let told = format!("the plugin is in {shown}\ntry it: claude --plugin-dir {shown}\n");
        output.facts(|_| told, || plan.json())?;
        Ok(Exit::Success)
    }
}

/// Only a person may change an existing installation.
fn refuse_agents(context: &Context, request: &InstallRequest) -> Result<(), Failure> {
    let state = context.state()?;
    if is_installed(context, &state, request)? {
        let held = match request.target {
            HooksTarget::User => Held::Nobody,
            HooksTarget::Local | HooksTarget::Shared => person_only::session_holds_a_run(context)?,
        };
        person_only::require_person(context, "init", held)
    } else {
        Ok(())
    }
}

fn is_installed(
    context: &Context,
    state: &State,
    request: &InstallRequest,
) -> Result<bool, Failure> {
    match request.target {
        HooksTarget::User => {
            let removal = install::prepare_removal(context, HooksTarget::User)?;
            Ok(!removal.is_done())
        }
        HooksTarget::Local | HooksTarget::Shared => {
            let project = install::project(context, state)?;
            Ok(install::installed(state, &project)?.is_some())
        }
    }
}

fn asked(output: &mut Output) -> Result<(), Failure> {
    output.mutter("Do this? [y/N] ");
    match typed().as_str() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::refused("nothing was written")),
    }
}

/// One line from the terminal; empty if it cannot be read.
fn typed() -> String {
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    line.trim().to_owned()
}

fn tell_notes(output: &mut Output, plan: &Plan) {
    for note in &plan.notes {
        output.say(&format!("note: {note}"));
    }
}

fn nothing_to_do(output: &mut Output, plan: &Plan) -> Result<Exit, Failure> {
    tell_notes(output, plan);
    output.facts(
        |_| "nothing to do: everything is installed\n".to_owned(),
        || json!({ "done": false, "plan": plan.json() }),
    )?;
    Ok(Exit::Success)
}

/// What the pipelines will need and is not there.
fn missing_programs(context: &Context, pipelines: &[String]) -> Vec<String> {
    let Ok(project) = Project::find(&context.folder) else {
        return Vec::new();
    };
    let compiled = pipelines.iter().filter_map(|name| {
        let sources = start_run::sources(context, &project, name).ok()?;
        Some((name, definition::compile(&sources).ok()?))
    });
    let missing = compiled.flat_map(|(name, compiled)| {
        let definition = compiled.pipeline.definition();
        let missing = needed_programs::missing(context, &project, definition).unwrap_or_default();
        missing.into_iter().map(move |it| {
            let (program, needed_for) = (it.name, it.needed_for.join(", "));
            format!(
                "{name} needs `{program}` for {needed_for}, and it is missing: {}",
                it.remedy
            )
        })
    });
    missing.collect()
}

fn tell_done(
    context: &Context,
    output: &mut Output,
    done: &PreparedInstall,
) -> Result<Exit, Failure> {
    let host = host::find(&context.environment);
    let found = match &host {
        Some(host) => match &host.version {
            Ok(version) => format!("{TITLE} {version} is {}", host.path.display()),
            Err(reason) => format!("{TITLE} is {}, but {reason}", host.path.display()),
        },
        None => format!("{TITLE} is not on the PATH; the hooks work once it is installed"),
    };
    output.say(&format!("note: {found}"));
    let pipelines = done.pipelines();
    for missing in missing_programs(context, &pipelines) {
        output.say(&format!("note: {missing}"));
    }
    let text = match pipelines.as_slice() {
        [] => "installed in your user settings\n".to_owned(),
        names => format!(
            "installed: {}\nnext: `gatewright doctor` checks the guard, `claude` starts a session, \
             `gatewright uninit` removes everything again\n",
            names.join(", ")
        ),
    };
    let json = json!({ "done": true, "pipelines": pipelines, "plan": done.plan.json() });
    output.facts(|_| text, || json)?;
    Ok(Exit::Success)
}
