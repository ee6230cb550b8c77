//! `gatewright test`: runs scenarios against their pipelines, without a model.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::PipelineName;
use hosts::Program;
use language::{MOST_BYTES, Sources};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::{project_files, start_run};
use scenario::{File, Folder, Generated, NoFolder, Report};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{Format, Output};

/// Test a pipeline with scenarios, without a model
///
/// A scenario file is Markdown. One block names the pipeline; the other blocks list events and what
/// must be true after each one. The real engine decides. Only agents, files and commands are
/// simulated.
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Scenario files, or pipelines by name. Built-in pipelines include their scenarios; a pipeline
    /// of the project keeps them in .gatewright/NAME.md [default: all built-in pipelines]
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Also run the scenarios of all built-in pipelines
    #[arg(long, conflicts_with = "generate")]
    builtin: bool,
    /// Print scenarios that cover every transition of this pipeline (a name or a path)
    #[arg(long, value_name = "PIPELINE", conflicts_with = "files")]
    generate: Option<String>,
}

impl Test {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        match &self.generate {
            Some(word) => generate(word, context, output),
            None => play(&self.words(), context, output),
        }
    }

    /// The scenarios to run: those in the arguments, and the built-in pipelines if requested.
    fn words(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.files.iter().map(String::as_str).collect();
        if self.builtin || self.files.is_empty() {
            words.extend(builtin_names());
        }
        words
    }
}

fn builtin_names<'a>() -> impl Iterator<Item = &'a str> {
    language::builtin::all().iter().map(|builtin| builtin.name)
}

/// Runs all scenarios, even after a file that cannot be read. The exit code is the worst of all.
fn play(words: &[&str], context: &Context, output: &mut Output) -> Result<Exit, Failure> {
    let mut report = Report::new(Program::DEFAULT.host_name());
    let mut exit = Exit::Success;
    for word in words {
        match find(word, context) {
            Ok((file, Where::OnDisk(folder))) => report.add(&file, &folder),
            Ok((file, Where::Program)) => report.add(&file, &NoFolder),
            Err(failure) => {
                output.failure(&failure);
                exit = exit.or_worse(Exit::from(&failure));
            }
        }
    }
    match output.format() {
        Format::Json => output.json(&report.json())?,
        Format::Text => {
            output.mutter(&report.mistakes(output.talk_paint()));
            output.text(&report.text(output.paint()))?;
        }
    }
    let played = if report.is_good() {
        Exit::Success
    } else {
        Exit::No
    };
    Ok(exit.or_worse(played))
}

/// Where a scenario file lies.
enum Where {
    OnDisk(OnDisk),
    Program,
}

/// The scenarios of an argument: a file, or else those of the pipeline with this name.
fn find(word: &str, context: &Context) -> Result<(File, Where), Failure> {
    let path = context.folder.join(word);
    if !path.is_file() {
        if let Some(file) = scenario::shipped(word) {
            return Ok((file, Where::Program));
        }
        if let Some((path, shown)) = own(word, context)? {
            return Ok((read(&path, &shown)?, Where::OnDisk(OnDisk::of(&path))));
        }
    }
    Ok((read(&path, word)?, Where::OnDisk(OnDisk::of(&path))))
}

/// The scenarios beside the project's own pipeline of this name.
fn own(word: &str, context: &Context) -> Result<Option<(PathBuf, String)>, Failure> {
    if PipelineName::parse(word).is_err() {
        return Ok(None);
    }
    let project = evidence::Project::find(&context.folder)?;
    let shown = format!("{}/{word}.md", project_files::PROJECT_FOLDER);
    let path = project.root.join(&shown);
    Ok(path.is_file().then_some((path, shown)))
}

/// Reads a scenario file, if it is a regular file of a reasonable size.
fn read(path: &Path, name: &str) -> Result<File, Failure> {
    let metadata = fs::metadata(path).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            let names: Vec<&str> = builtin_names().collect();
            let hint = format!("type a scenario file, or one of {}", names.join(", "));
            Failure::not_found(format!("there is no file {name}")).hint(hint)
        }
        _ => Failure::file("look at", path)(cause),
    })?;
    if !metadata.is_file() {
        return Err(
            Failure::not_found(format!("{name} is not a file")).hint("type the path of a file")
        );
    }
    if metadata.len() > MOST_BYTES as u64 {
        let size = metadata.len();
        let failure = Failure::refused(format!(
            "{name} has {size} bytes, and the limit is {MOST_BYTES}"
        ));
        return Err(failure.hint("split it into several files"));
    }
    let bytes = fs::read(path).map_err(Failure::file("read", path))?;
    let text = String::from_utf8(bytes).map_err(|problem| {
        let byte = problem.utf8_error().valid_up_to();
        let message = format!("{name} is not UTF-8 text from byte {byte} on");
        Failure::refused(message).hint("save it as UTF-8")
    })?;
    Ok(File {
        name: name.to_owned(),
        text: text.into(),
    })
}

/// The folder of a scenario file, in which its definitions lie.
struct OnDisk(PathBuf);

impl OnDisk {
    fn of(file: &Path) -> Self {
        Self(file.parent().unwrap_or(Path::new(".")).to_owned())
    }
}

impl Folder for OnDisk {
    fn file(&self, path: &str) -> Result<Sources, String> {
        definition::read(&self.0.join(path), path).map_err(reason)
    }

    fn text(&self, definition: &[u8]) -> Result<Sources, String> {
        definition::read_input(definition, &self.0).map_err(reason)
    }
}

/// Why a definition could not be read, in a few words.
fn reason(trouble: DefinitionError) -> String {
    match trouble {
        DefinitionError::Failed(failure) => failure.message,
        DefinitionError::Rejected { problems, .. } => problems
            .into_iter()
            .next()
            .map(|problem| problem.message)
            .unwrap_or_default(),
    }
}

/// Prints scenarios that cover every transition to stdout, and what they miss to stderr.
fn generate(word: &str, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
    let project = evidence::Project::find(&context.folder).map_err(Failure::from)?;
    let sources = start_run::sources(context, &project, word);
    let compiled = sources.and_then(|sources| Ok((definition::compile(&sources)?, sources)));
    let (compiled, sources) = match compiled {
        Ok(compiled) => compiled,
        Err(DefinitionError::Failed(failure)) => return Err(failure),
        Err(DefinitionError::Rejected { text, problems }) => {
            output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
            return Ok(Exit::No);
        }
    };
    let generated = scenario::generate(
        &compiled.pipeline,
        &reference(word, &sources),
        &Program::DEFAULT.host_name(),
    );
    for (transition, reason) in &generated.uncovered {
        output.say(&format!("not covered: {transition} ({reason})"));
    }
    output.facts(|_| generated.text.clone(), || json_of(&generated))?;
    Ok(Exit::Success)
}

/// How the file names its pipeline: by name, or by the file beside it.
fn reference(word: &str, sources: &Sources) -> String {
    match language::builtin::find(word) {
        Some(builtin) => builtin.name.to_owned(),
        None => {
            let name = Path::new(&sources.main.name).file_name();
            name.map_or_else(
                || word.to_owned(),
                |name| name.to_string_lossy().into_owned(),
            )
        }
    }
}

fn json_of(generated: &Generated) -> Value {
    let covered = generated.covered.iter().map(ToString::to_string);
    let uncovered = generated.uncovered.iter().map(
        |(transition, reason)| json!({ "transition": transition.to_string(), "reason": reason }),
    );
    json!({
        "text": generated.text,
        "covered": covered.collect::<Vec<_>>(),
        "uncovered": uncovered.collect::<Vec<_>>(),
    })
}
