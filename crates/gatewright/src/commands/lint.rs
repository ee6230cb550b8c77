//! `gatewright lint`: checks definitions and their proofs.

use engine::Severity;
use language::Diagnostic;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::group_members;
use runtime::start_run;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{Format, Output};

/// Check pipeline definitions. `start` accepts exactly what `lint` accepts
///
/// Checks every rule and every `prove`. For a proof that fails, prints the shortest path that
/// breaks it. Warnings do not change the exit code.
#[derive(Debug, clap::Args)]
pub(crate) struct Lint {
    /// Definition files, or pipelines by name; `-` reads a definition from stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

/// The result for one file.
struct Linted {
    file: String,
    text: String,
    problems: Vec<Diagnostic>,
}

impl Linted {
    fn is_accepted(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.severity != Severity::Error)
    }
}

impl Lint {
    /// Checks every file, even after one that cannot be read. The exit code is the worst of all.
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut exit = Exit::Success;
        let several = self.files.len() > 1;
        let mut found = Vec::new();
        for file in &self.files {
            match lint(file, context) {
                Ok(linted) => {
                    exit = exit.or_worse(if linted.is_accepted() {
                        Exit::Success
                    } else {
                        Exit::No
                    });
                    show(&linted, output)?;
                    if several && !linted.is_accepted() && output.format() == Format::Text {
                        output.text(&refused(&linted))?;
                    }
                    found.push(json_of(&linted));
                }
                Err(failure) => {
                    exit = exit.or_worse(Exit::from(&failure));
                    output.failure(&failure);
                }
            }
        }
        if output.format() == Format::Json {
            output.json(&json!({ "files": found }))?;
        }
        Ok(exit)
    }
}

fn lint(file: &str, context: &Context) -> Result<Linted, Failure> {
    let project = evidence::Project::find(&context.folder)?;
    let sources = match file {
        "-" => definition::read_input(std::io::stdin().lock(), &context.folder)
            .and_then(|read| Ok(group_members::with_members(read, &project.root)?)),
        word => start_run::sources(context, &project, word),
    };
    let compiled = sources.and_then(|sources| Ok((definition::compile(&sources)?, sources)));
    let file = file.to_owned();
    match compiled {
        Ok((compiled, sources)) => {
            let text = String::from_utf8_lossy(&sources.main.bytes).into_owned();
            Ok(Linted {
                file,
                text,
                problems: compiled.warnings,
            })
        }
        Err(DefinitionError::Rejected { text, problems }) => Ok(Linted {
            file,
            text,
            problems,
        }),
        Err(DefinitionError::Failed(failure)) => Err(failure),
    }
}

/// Problems go to stderr; the verdict about a file is a result.
fn show(linted: &Linted, output: &mut Output) -> Result<(), Failure> {
    if output.format() == Format::Json {
        return Ok(());
    }
    let paint = output.talk_paint();
    for problem in &linted.problems {
        let one = std::slice::from_ref(problem);
        output.mutter(&format!(
            "{}\n",
            definition::rendered(one, &linted.text, paint)
        ));
    }
    let warnings = linted.problems.len();
    match (linted.is_accepted(), warnings) {
        (true, 0) => output.text(&format!("{}: accepted\n", views::line(&linted.file))),
        (true, 1) => output.text(&format!(
            "{}: accepted, 1 warning\n",
            views::line(&linted.file)
        )),
        (true, _) => output.text(&format!(
            "{}: accepted, {warnings} warnings\n",
            views::line(&linted.file)
        )),
        (false, _) => Ok(()),
    }
}

/// With several files, prints a result for each.
fn refused(linted: &Linted) -> String {
    let is_error = |problem: &&Diagnostic| problem.severity == Severity::Error;
    let errors = match linted.problems.iter().filter(is_error).count() {
        1 => "1 error".to_owned(),
        errors => format!("{errors} errors"),
    };
    format!("{}: refused, {errors}\n", views::line(&linted.file))
}

fn json_of(linted: &Linted) -> Value {
    let problem = |problem: &Diagnostic| {
        let place = problem.line_column(&linted.text);
        json!({
            "code": problem.code,
            "severity": match problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            "line": place.map(|(line, _)| line),
            "column": place.map(|(_, column)| column),
            "message": problem.message,
            "hint": problem.hint,
        })
    };
    json!({
        "file": linted.file,
        "accepted": linted.is_accepted(),
        "problems": linted.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}
