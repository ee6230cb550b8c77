//! `gatewright trust`: a person reviews what a pipeline file may run, and trusts it or not.

pub(crate) mod vouch;

use std::path::Path;

use engine::{Definition, Hash, Held, Who};
use runtime::clock;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError, Place};
use runtime::enrolment;
use runtime::failure::Failure;
use runtime::group_members;
use runtime::person_only;
use runtime::trust::record::{self, TrustRecord};
use runtime::trust::summary::TrustSummary;
use runtime::trust::{self, Subject};
use runtime::workspace::Workspace;
use serde_json::{Value, json};

use crate::confirm::{self, Question};
use crate::exit::Exit;
use crate::output::{Format, Output};

/// Review what a pipeline file may run, and trust it
///
/// Built-in pipelines are trusted as shipped. Any other pipeline cannot start until a person trusts
/// it. When a byte changes in the definition, in a file it refers to or in a script its commands
/// name, a person must trust it again before the next start. A running run keeps the bytes it was
/// started with.
///
/// At a terminal, `trust` also captures the environment of checks: PATH, HOME and the variables of a
/// short list. Checks always run in it, and never in the environment of their caller.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    /// A pipeline of this project, or a path [default: every pipeline of this project]
    #[arg(value_name = "PIPELINE")]
    pipeline: Option<String>,
    /// Show what it may run and its hash, and change nothing
    #[arg(long, conflicts_with_all = ["list", "revoke", "hash"])]
    show: bool,
    /// For scripts: trust the pipeline without asking if it has this hash (see --show)
    #[arg(long, value_name = "HASH", requires = "pipeline", value_parser = parse_hash)]
    hash: Option<Hash>,
    /// List the trusted pipelines
    #[arg(long, conflicts_with_all = ["pipeline", "hash", "revoke"])]
    list: bool,
    /// Stop trusting this pipeline
    #[arg(long, value_name = "PIPELINE", conflicts_with_all = ["pipeline", "hash"])]
    revoke: Option<String>,
    /// Give the checks of this project, and of its active runs, the environment of this terminal
    #[arg(long, conflicts_with_all = ["pipeline", "show", "hash", "list", "revoke"])]
    environment: bool,
    /// Accept a program that your account can change, as it is now, for the checks of this project
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["pipeline", "show", "hash", "list", "revoke", "environment"]
    )]
    program: Option<String>,
}

fn parse_hash(text: &str) -> Result<Hash, String> {
    Hash::parse(text).ok_or_else(|| "type the 64 digits that --show prints".to_owned())
}

/// A definition, with what was trusted at its path before.
struct Candidate {
    subject: Subject,
    definition: Definition,
    earlier: Option<TrustRecord>,
}

impl Candidate {
    fn shown(&self) -> TrustSummary<'_> {
        TrustSummary {
            subject: &self.subject,
            definition: &self.definition,
            earlier: self.earlier.as_ref(),
        }
    }

    fn is_trusted(&self) -> bool {
        let hash = self.subject.hash();
        self.earlier
            .as_ref()
            .is_some_and(|earlier| earlier.hash == hash)
    }
}

impl Trust {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let held = if self.show || self.list {
            Held::Nobody
        } else {
            self.held(context)?
        };
        person_only::require_person(context, "trust", held)?;
        if self.environment {
            return vouch::environment(context, output);
        }
        if let Some(word) = &self.program {
            return vouch::program(context, output, word);
        }
        match (&self.revoke, self.list) {
            (Some(word), _) => revoke(context, output, word),
            (None, true) => list(context, output),
            (None, false) => self.each(context, output),
        }
    }

    /// Who holds what the command is about. A path may lead out of the current folder.
    fn held(&self, context: &Context) -> Result<Held, Failure> {
        let root = evidence::Project::find(&context.folder)?.root;
        let word = self.pipeline.as_ref().or(self.revoke.as_ref());
        match word.map(|word| place(word, context, &root)) {
            Some(Ok(Place::File { path, .. })) => {
                person_only::session_holds_a_run_above(context, &path)
            }
            Some(Ok(Place::Builtin(_)) | Err(_)) | None => {
                person_only::session_holds_a_run(context)
            }
        }
    }

    fn each(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let root = evidence::Project::find(&context.folder)?.root;
        let words = match &self.pipeline {
            Some(word) => vec![word.clone()],
            None => definition::project_names(&root).into_iter().collect(),
        };
        if words.is_empty() {
            let failure = Failure::not_found("this project has no pipeline of its own");
            return Err(failure.hint("type `gatewright trust FILE`"));
        }
        let mut found = Vec::new();
        for word in words {
            match candidate(context, &word) {
                Ok(candidate) => found.push((word, candidate)),
                Err(DefinitionError::Failed(failure)) => return Err(failure),
                Err(DefinitionError::Rejected { text, problems }) => {
                    output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                    return Ok(Exit::No);
                }
            }
        }
        if let Format::Json = output.format() {
            output.json(&self.json(&found))?;
        }
        let project = evidence::Project::find(&context.folder)?;
        if !self.show {
            vouch::show(context, output, &project)?;
        }
        for (word, candidate) in &found {
            self.one(context, output, word, candidate.as_ref())?;
        }
        if !self.show {
            // What is kept of it lies beside the store.
            drop(Workspace::for_writing(context)?);
            vouch::give(context, output, &project)?;
        }
        Ok(Exit::Success)
    }

    /// One JSON value for all pipelines.
    fn json(&self, found: &[(String, Option<Candidate>)]) -> Value {
        let json = |(word, candidate): &(String, Option<Candidate>)| match candidate {
            Some(candidate) => candidate.shown().json(),
            None => json!({ "pipeline": word, "shipped": true }),
        };
        match (found, &self.pipeline) {
            ([only], Some(_)) => json(only),
            (all, _) => json!({ "pipelines": all.iter().map(json).collect::<Vec<_>>() }),
        }
    }

    fn one(
        &self,
        context: &Context,
        output: &mut Output,
        word: &str,
        candidate: Option<&Candidate>,
    ) -> Result<(), Failure> {
        let Some(candidate) = candidate else {
            output.say(&format!("{word} is built in and trusted as shipped"));
            return Ok(());
        };
        if let Format::Text = output.format() {
            output.text(&candidate.shown().text(output.paint()))?;
        }
        if self.show {
            return Ok(());
        }
        if candidate.is_trusted() {
            output.say(&format!("{word} is already trusted"));
            return Ok(());
        }
        self.agreed(context, word, candidate)?;
        let workspace = Workspace::for_writing(context)?;
        let (subject, now) = (&candidate.subject, clock::now());
        record::keep(&workspace.state, subject, now, &context.who())?;
        tell_hooks(&workspace, candidate)?;
        output.say(&format!("{word} is trusted"));
        Ok(())
    }

    /// Asks a person. A script must give the hash that a person has reviewed.
    fn agreed(&self, context: &Context, word: &str, candidate: &Candidate) -> Result<(), Failure> {
        let hash = candidate.subject.hash();
        if self.hash.is_some_and(|typed| typed != hash) {
            let failure = Failure::refused(format!("{word} has another hash"));
            return Err(failure.hint("read the changes with --show before you trust it"));
        }
        match (context.who(), self.hash) {
            (Who::Person(_), _) => confirm::ask(&Question {
                lost: "",
                word: "yes",
                action: &format!("trust {word}"),
            }),
            (_, Some(_)) => Ok(()),
            (_, None) => Err(Failure::refused(
                "only a person at a terminal can trust a pipeline, and this is not a terminal",
            )
            .hint("type the command at a terminal, or use --hash")),
        }
    }
}

/// The project's own pipeline comes first: a person who edits a copy of a built-in pipeline means the
/// copy.
fn place(word: &str, context: &Context, root: &Path) -> Result<Place, Failure> {
    match definition::own(word, root) {
        Some(own) => Ok(own),
        None => definition::place(word, &context.folder, root),
    }
}

/// Reads a definition; `None` for a built-in one or a copy of one.
fn candidate(context: &Context, word: &str) -> Result<Option<Candidate>, DefinitionError> {
    let root = evidence::Project::find(&context.folder)
        .map_err(Failure::from)?
        .root;
    let place = place(word, context, &root)?;
    let sources = match &place {
        Place::File { path, shown } => definition::read(path, shown)?,
        Place::Builtin(builtin) => builtin.sources(),
    };
    let sources = group_members::with_members(sources, &root)?;
    if trust::is_shipped(&sources) {
        return Ok(None);
    }
    let definition = definition::compile(&sources)?.pipeline.definition().clone();
    let path = trust::path(&place, &definition, &root);
    let subject = Subject::new(&path, &sources, &definition, &root)?;
    let earlier = record::of_path(&context.state()?, &subject.path).pop();
    Ok(Some(Candidate {
        subject,
        definition,
        earlier,
    }))
}

/// If the pipeline is installed, the hooks use its new content.
fn tell_hooks(workspace: &Workspace<'_>, candidate: &Candidate) -> Result<(), Failure> {
    let failed = || Failure::file("write to", workspace.state.folder());
    let installed = enrolment::of(&workspace.state, workspace.project()?).map_err(failed())?;
    let Some(mut installed) = installed else {
        return Ok(());
    };
    let root = &workspace.project()?.root;
    let is_this = |file: &String| {
        root.join(file)
            .canonicalize()
            .is_ok_and(|path| path == candidate.subject.path)
    };
    let mut pipelines = installed.pipelines.iter_mut();
    let Some(pipeline) = pipelines.find(|pipeline| pipeline.file.as_ref().is_some_and(is_this))
    else {
        return Ok(());
    };
    pipeline.begins = candidate.definition.begins;
    pipeline.commands = candidate.definition.commands.clone();
    enrolment::install(&workspace.state, &installed).map_err(failed())
}

fn list(context: &Context, output: &mut Output) -> Result<Exit, Failure> {
    let records = record::all(&context.state()?);
    match output.format() {
        Format::Json => {
            let records = records.iter().map(|record| {
                json!({
                    "path": record.path,
                    "hash": record.hash.to_string(),
                    "at": views::time::rfc3339(record.at),
                    "by": record.by,
                })
            });
            output.json(&json!({ "trusted": records.collect::<Vec<_>>() }))?;
        }
        Format::Text if records.is_empty() => {
            output.text("only the built-in pipelines are trusted\n")?;
        }
        Format::Text => {
            let lines = records.iter().map(|record| {
                let (path, by) = (views::line(&record.path), views::line(&record.by));
                format!("{}  {path}  {by}\n", views::time::rfc3339(record.at))
            });
            output.text(&lines.collect::<String>())?;
        }
    }
    Ok(Exit::Success)
}

/// The file may no longer exist, so its path is enough.
fn revoke(context: &Context, output: &mut Output, word: &str) -> Result<Exit, Failure> {
    let state = context.state()?;
    let root = evidence::Project::find(&context.folder)?.root;
    let path = match place(word, context, &root) {
        Ok(Place::File { path, .. }) => path.canonicalize().unwrap_or(path),
        Ok(Place::Builtin(_)) => {
            let failure = Failure::refused(format!("{word} is built in and always trusted"));
            return Err(failure.hint("type a pipeline of the project, or a path"));
        }
        Err(failure) => return Err(failure),
    };
    let records = record::of_path(&state, &path);
    if records.is_empty() {
        let failure = Failure::not_found(format!("{word} is not trusted"));
        return Err(failure.hint("`gatewright trust --list` shows the trusted pipelines"));
    }
    for record in &records {
        record::forget(&state, record)?;
    }
    output.say(&format!("{word} is no longer trusted"));
    Ok(Exit::Success)
}
