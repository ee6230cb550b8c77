//! `gatewright verify`: recomputes the hash chain of every run, judges its decisions again, and
//! locates damage.

mod copies;
mod repair;

use engine::Held;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;
use runtime::workspace::Workspace;

use crate::exit::Exit;
use crate::output::Output;
use crate::verification::{Comparison, Findings, verify};

/// Verify the hash chains: finds altered, removed, reordered and truncated entries
///
/// Every decision is also judged again, by the pinned bytes of the pipeline: an entry that no rule
/// gives is unfounded. Caches and lists are compared with the result.
///
/// Unguarded work that witnesses show and no entry has yet is listed, and the exit code is 1.
///
/// The chain is tamper-evident, not tamper-proof. Entries shown as anchored are also confirmed by a
/// second file.
///
/// On a machine of a fleet the journals of guarded runs are also compared with their copies in the database.
/// A journal that was rewritten or rolled back since it was shipped gives the exit code 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Runs, by id or its first characters [default: all runs]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Copy the intact part of a damaged store into a new one, and keep the damaged files
    #[arg(long)]
    repair: bool,
}

impl Verify {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "verify", Held::Nobody)?;
        if self.repair {
            return repair::repair(context, output);
        }
        let findings = match Workspace::if_exists(context)? {
            Some(mut workspace) => {
                let mut findings = verify(&mut workspace, &self.runs)?;
                copies::compare(&workspace, &mut findings);
                findings
            }
            None if self.runs.is_empty() => Findings::default(),
            None => return Err(Failure::not_found("there are no runs yet").hint("start one")),
        };
        output.facts(|paint| findings.text(paint), || findings.json())?;
        if !findings.is_intact() {
            output.say(
                "the store is now read-only; `gatewright verify --repair` saves the intact part",
            );
        }
        if let Comparison::NotCompared { why } = &findings.comparison {
            output.say(&format!(
                "the copies in the fleet's database were not compared: {why}"
            ));
        }
        if findings.has_other_copies() {
            output.say(
                "a journal is not the one that this machine has shipped: the copy in the fleet's database shows what it was",
            );
        }
        if findings.has_news() {
            output.say(
                "some work was not guarded; the run records it at the session's next event, and \
                 then completes only after `gatewright answer continue`",
            );
        }
        if findings.is_intact() && !findings.has_news() && !findings.has_other_copies() {
            Ok(Exit::Success)
        } else {
            Ok(Exit::No)
        }
    }
}
