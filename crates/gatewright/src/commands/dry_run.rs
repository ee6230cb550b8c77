//! `gatewright dry-run`: shows what a run would do and need. Starts nothing and writes nothing.

mod programs;

use std::path::PathBuf;

use engine::{Beginning, Driver, ParamName, Pipeline, Reply, Run};
use evidence::Project;
use hosts::Program;
use language::Sources;
use runner::{delivery, run_place};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError, Place};
use runtime::drive_settings::DriveRequest;
use runtime::failure::Failure;
use runtime::runners::{self, Member};
use runtime::workspace::Workspace;
use runtime::{clock, ids, params, path_collision, start_run, task_graph_file, trust};
use views::plan::{NeededProgram, Plan, PlannedWorker, ProgramState, Trust};
use views::{Untrusted, refusal};

use crate::drive_arguments::DriveArguments;
use crate::exit::Exit;
use crate::output::Output;
use crate::task;
use install::additions::Additions;
use install::disk::BaseFolder;
use install::given;

/// Show what a headless run would do and need, without starting it
///
/// Prints the stages with their workers, the programs found and missing, and the limits. Exits with
/// 0 when a run could start, and with 1 when something is missing.
#[derive(Debug, clap::Args)]
pub(crate) struct DryRun {
    /// A built-in pipeline, one of the project's own (.gatewright/NAME.toml), or a path
    #[arg(value_name = "PIPELINE")]
    pipeline: String,
    /// The task; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Set a parameter
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = params::parse)]
    params: Vec<(ParamName, String)>,
    /// A file with the steps, for a pipeline that takes them at the start: a task graph in JSON, or
    /// one title per line
    #[arg(long, value_name = "FILE")]
    steps: Option<PathBuf>,
    #[command(flatten)]
    driving: DriveArguments,
}

impl DryRun {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        match self.planned(context, output) {
            Ok(exit) => Ok(exit),
            Err(DefinitionError::Failed(failure)) => Err(failure),
            Err(DefinitionError::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                Ok(Exit::No)
            }
        }
    }

    fn planned(&self, context: &Context, output: &mut Output) -> Result<Exit, DefinitionError> {
        let drive = self.driving.request();
        let mut workspace = Workspace::if_exists(context)?;
        let project = match &workspace {
            Some(workspace) => workspace.project()?.clone(),
            None => Project::find(&context.folder).map_err(Failure::from)?,
        };
        let word = &start_run::installed_path(context, &project, &self.pipeline)?;
        let sources = start_run::sources(context, &project, word)?;
        let compiled = definition::compile_for(&sources, drive.default_runner())?;
        let (pipeline, mut missing) = (&compiled.pipeline, Vec::new());
        let run = self.begun(&project, pipeline, context)?;
        let run = run.map_err(|why| missing.push(why)).ok();
        missing.extend(self.obstacles(context, &mut workspace, pipeline, run.as_ref())?);
        missing.extend(lacks_in_git(&project, pipeline, &drive)?);
        let (origin, trust) = origin_and_trust(
            context,
            &project,
            word,
            &CompiledDefinition {
                sources: &sources,
                pipeline,
            },
        )?;
        if let Trust::Untrusted(why) = &trust {
            missing.push(why.raw().to_owned());
        }
        let members = runners::members(pipeline.definition(), drive.default_runner());
        let wanted = programs::ProgramQuery {
            pipeline,
            run: run.as_ref(),
            members: &members,
            drive: &drive,
        };
        let programs = programs::needed(context, &project, &wanted)?;
        missing.extend(programs.iter().filter_map(absent));
        let warnings = compiled.warnings.iter().map(|it| it.message.clone());
        let mut lacking = uncarried(&project, pipeline)?;
        if *word != self.pipeline {
            missing.extend(altered(&project, &sources)?);
            lacking.extend(self::lacking(&project, &sources, pipeline)?);
        }

        let plan = Plan {
            pipeline,
            run: run.as_ref(),
            task: self.task.as_ref().map(Untrusted::new),
            origin: Untrusted::new(origin),
            trust,
            workers: members.iter().map(|member| self.worker(member)).collect(),
            programs,
            missing: missing.into_iter().map(Untrusted::new).collect(),
            remarks: warnings.chain(lacking).map(Untrusted::new).collect(),
        };
        output.facts(|paint| plan.text(paint), || plan.json())?;
        Ok(exit(&plan))
    }

    /// What else would prevent the start: answers without a question, and another run that writes to the
    /// same files.
    fn obstacles(
        &self,
        context: &Context,
        workspace: &mut Option<Workspace<'_>>,
        pipeline: &Pipeline,
        run: Option<&Run>,
    ) -> Result<Vec<String>, Failure> {
        let definition = pipeline.definition();
        let decided = self.driving.request().settings(context, definition).err();
        let taken = match (workspace, run) {
            (Some(workspace), Some(run)) => {
                let worktree = workspace.worktree()?;
                path_collision::refuse(workspace, definition, run, &worktree).err()
            }
            (Some(_), None) | (None, _) => None,
        };
        let told = decided.into_iter().chain(taken);
        Ok(told.map(|failure| failure.to_string()).collect())
    }

    fn worker(&self, member: &Member<'_>) -> PlannedWorker {
        let settings = member.settings;
        let model = settings.and_then(|settings| settings.model.as_ref());
        let runner = match self.driving.request().stand_in {
            Some(_) => "its stand-in",
            None => member.runner,
        };
        PlannedWorker {
            stage: member.stage.name.clone(),
            who: Untrusted::new(&member.who),
            runner: Untrusted::new(runner),
            model: model.map(Untrusted::new),
            conversation: settings.map_or_else(Default::default, |it| it.conversation),
        }
    }

    /// The run as it would start, or why it would not.
    fn begun(
        &self,
        project: &Project,
        pipeline: &Pipeline,
        context: &Context,
    ) -> Result<Result<Run, String>, Failure> {
        let definition = pipeline.definition();
        let params = params::gather(definition, &self.params, &project.root)?;
        if let Err(failure) = params::refuse_empty(definition, &params) {
            return Ok(Err(failure.to_string()));
        }
        let task = self.task.as_deref().map(task::read).transpose()?;
        let steps = match &self.steps {
            Some(path) => task_graph_file::read(&context.folder.join(path))?,
            None => Vec::new(),
        };
        let beginning = Beginning {
            at: clock::now(),
            by: context.who(),
            id: ids::run_id()?,
            definition: engine::Hash([0; 32]),
            // A plan needs no task.
            task: task.unwrap_or_else(|| "no task yet".to_owned()),
            params,
            driver: Driver::Headless,
            host: Program::DEFAULT.host_name(),
            session: None,
            process: None,
            steps,
            before: std::collections::BTreeMap::new(),
            queued: false,
            environment: None,
            base: None,
            commit: None,
            branch: None,
            unverified_host: None,
        };
        let decision = engine::begin(pipeline, &beginning);
        if let Reply::Refuse(refused) = &decision.reply {
            let advice = params::advice(definition, &beginning);
            let advice = advice.map(|advice| format!("; {advice}"));
            return Ok(Err(refusal(refused) + &advice.unwrap_or_default()));
        }
        let run = engine::replay(&decision.entries)
            .map_err(|damage| Failure::bug(format!("the run cannot start ({damage})")))?;
        Ok(Ok(run))
    }
}

fn exit(plan: &Plan<'_>) -> Exit {
    if plan.is_ready() {
        Exit::Success
    } else {
        Exit::No
    }
}

/// The text of a definition, and what it compiles to.
struct CompiledDefinition<'a> {
    sources: &'a Sources,
    pipeline: &'a Pipeline,
}

/// Where the definition comes from, and whether it is trusted.
fn origin_and_trust(
    context: &Context,
    project: &Project,
    word: &str,
    CompiledDefinition { sources, pipeline }: &CompiledDefinition<'_>,
) -> Result<(String, Trust), Failure> {
    let place = definition::place(word, &context.folder, &project.root)?;
    let shown = match &place {
        Place::Builtin(_) => "gatewright itself".to_owned(),
        Place::File { shown, .. } => shown.clone(),
    };
    if trust::is_shipped(sources) {
        return Ok((shown, Trust::Shipped));
    }
    let definition = pipeline.definition();
    let path = trust::path(&place, definition, &project.root);
    let subject = trust::Subject::new(&path, sources, definition, &project.root)?;
    let trust = match trust::require(&context.state()?, word, &subject) {
        Ok(()) => Trust::Trusted,
        Err(failure) => Trust::Untrusted(Untrusted::new(failure.to_string())),
    };
    Ok((shown, trust))
}

/// What `init` added to the project's own files, and somebody removed.
fn lacking(
    project: &Project,
    sources: &Sources,
    pipeline: &Pipeline,
) -> Result<Vec<String>, Failure> {
    let additions = Additions::of(pipeline.definition(), sources);
    let missing = additions.missing(&BaseFolder::new(project.root.clone()), project)?;
    let missing = missing.into_iter();
    Ok(missing
        .map(|what| format!("{what}: `gatewright init` restores it"))
        .collect())
}

/// Agents, commands and skills that are missing, or not what the pipeline gives.
fn altered(project: &Project, sources: &Sources) -> Result<Vec<String>, Failure> {
    let faults = given::faults(&BaseFolder::new(project.root.clone()), sources)?;
    let faults = faults.into_iter();
    Ok(faults
        .map(|fault| format!("{}: {}", fault.says, fault.advice))
        .collect())
}

fn absent(needed: &NeededProgram) -> Option<String> {
    match &needed.state {
        ProgramState::Missing { install } => Some(format!(
            "{} is missing: {}",
            needed.name.raw(),
            install.raw()
        )),
        ProgramState::Unfit { reason, remedy, .. } => {
            Some(format!("{}: {}", reason.raw(), remedy.raw()))
        }
        ProgramState::Found { .. } => None,
    }
}

/// Why the run could have no branch of its own here, and why it could not be pushed.
fn lacks_in_git(
    project: &Project,
    pipeline: &Pipeline,
    drive: &DriveRequest,
) -> Result<Vec<String>, Failure> {
    let definition = pipeline.definition();
    let misplaced = drive.place.refuse_impossible(project, definition).err();
    let mut lacks: Vec<String> = misplaced.iter().map(Failure::to_string).collect();
    let needs = programs::delivery(definition, drive);
    if let Some(remote) = needs.and_then(|needs| needs.remote)
        && !(project.is_git() && delivery::knows_remote(project, &remote)?)
    {
        lacks.push(format!(
            "the project has no remote {remote}: `git remote add {remote} ADDRESS` adds it"
        ));
    }
    Ok(lacks)
}

/// What the work needs in its worktree, and the project does not have.
fn uncarried(project: &Project, pipeline: &Pipeline) -> Result<Vec<String>, Failure> {
    let patterns = &pipeline.definition().placement.carry;
    if patterns.is_empty() || !project.is_git() {
        return Ok(Vec::new());
    }
    let missing = run_place::missing(project, patterns)?.into_iter();
    Ok(missing
        .map(|pattern| format!("nothing in the project matches `carry` {pattern}"))
        .collect())
}
