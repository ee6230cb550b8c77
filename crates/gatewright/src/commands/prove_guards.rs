//! `gatewright prove-guards`: tests every gate of a pipeline, and prints the results.

use engine::Held;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::person_only;

use crate::exit::Exit;
use crate::output::{Format, Output};
use install::prove::{self, Detail, Gate, Proof};

/// Test every gate of a pipeline: one refusal, one pass and one fault for each
///
/// Runs the hook as Claude Code runs it, with the command line from the project's settings, in a
/// temporary copy of the project. Uses no model and runs no command of the pipeline: in check
/// stages a stand-in replaces the commands. Takes a few seconds.
#[derive(Debug, clap::Args)]
pub(crate) struct ProveGuards {
    /// A pipeline's name or path [default: the pipelines installed in this project]
    #[arg(value_name = "PIPELINE")]
    pipeline: Option<String>,
    /// Show what each case sent and what the hook answered
    #[arg(long)]
    verbose: bool,
}

impl ProveGuards {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "prove-guards", Held::Nobody)?;
        let words = self.words(context)?;
        let mut proofs = Vec::new();
        for word in &words {
            output.say(&format!(
                "{word}: each gate gets cases with the real hook, which takes some seconds"
            ));
            let mut done = |gate: &Gate| output.say(&progress(gate));
            match prove::prove(context, word, &mut done) {
                Ok(proof) => {
                    self.tell(&proof, output)?;
                    proofs.push(proof);
                }
                Err(DefinitionError::Failed(failure)) => return Err(failure),
                Err(DefinitionError::Rejected { text, problems }) => {
                    output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                    return Ok(Exit::No);
                }
            }
        }
        if let Format::Json = output.format() {
            let proofs: Vec<_> = proofs.iter().map(prove::json).collect();
            output.json(&serde_json::json!({ "proofs": proofs }))?;
        }
        if proofs.iter().all(Proof::holds) {
            Ok(Exit::Success)
        } else {
            Ok(Exit::No)
        }
    }

    fn tell(&self, proof: &Proof, output: &mut Output) -> Result<(), Failure> {
        let detail = if self.verbose {
            Detail::Long
        } else {
            Detail::Short
        };
        match output.format() {
            Format::Text => output.text(&prove::text(proof, detail, output.paint())),
            Format::Json => Ok(()),
        }
    }

    fn words(&self, context: &Context) -> Result<Vec<String>, Failure> {
        if let Some(pipeline) = &self.pipeline {
            return Ok(vec![pipeline.clone()]);
        }
        let installed = prove::installed(context)?;
        if installed.is_empty() {
            Err(
                Failure::not_found("no pipeline is installed in this project")
                    .hint("type `gatewright init`, or `gatewright prove-guards PIPELINE`"),
            )
        } else {
            Ok(installed)
        }
    }
}

/// One line for a gate whose cases have run.
fn progress(gate: &Gate) -> String {
    let (name, cases) = (&gate.name, gate.cases.len());
    match (cases, gate.failed()) {
        (1, 0) => format!("  {name}: 1 case holds"),
        (cases, 0) => format!("  {name}: {cases} cases hold"),
        (cases, failed) => format!("  {name}: {failed} of {cases} cases failed"),
    }
}
