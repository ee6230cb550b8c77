//! The scripted workers of the demo: they read their prompt and really change files.
//!
//! Nobody tells them what to fix. What a reviewer found and what a check printed reaches them in their prompt
//! alone, and they work with that text.

mod artifacts;
mod code;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use runtime::current_exe;
use runtime::failure::Failure;

use super::folder::SCRIPT;

/// How long the implementer works at first. The demo kills its orchestrator long before.
const LONG_WORK: Duration = Duration::from_secs(120);

/// What one worker is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Gather,
    DraftPlan,
    RefinePlan,
    ReviewPlan { reviewer: String, model: String },
    Implement,
    ReviewCode { reviewer: String, model: String },
    FixFindings,
}

impl Part {
    /// The part of this agent in this stage of `multi-ai`.
    pub(crate) fn parse(stage: &str, agent: &str, model: &str) -> Option<Self> {
        let (reviewer, model) = (agent.to_owned(), model.to_owned());
        match (stage, agent) {
            ("requirements_gathering", _) => Some(Self::Gather),
            ("plan_drafting", _) => Some(Self::DraftPlan),
            ("plan_refining", _) => Some(Self::RefinePlan),
            ("plan_reviewing", _) => Some(Self::ReviewPlan { reviewer, model }),
            ("implementing_loop", _) => Some(Self::Implement),
            ("code_reviewing", "implementer") => Some(Self::FixFindings),
            ("code_reviewing", _) => Some(Self::ReviewCode { reviewer, model }),
            _ => None,
        }
    }
}

/// A worker in the folder of the project.
pub(crate) struct ScriptedWorker<'a> {
    pub project: &'a Path,
    pub prompt: &'a str,
}

impl ScriptedWorker<'_> {
    /// Does the work, and says in one line what it did.
    pub(crate) fn work(&self, part: &Part) -> Result<String, Failure> {
        match part {
            Part::Gather => self.gather(),
            Part::DraftPlan => self.draft(),
            Part::RefinePlan => self.refine(),
            Part::ReviewPlan { reviewer, model } => {
                let verdict = artifacts::approval(reviewer, model, "the plan covers the story");
                self.write(&format!(".task/plan-review-{model}.json"), &verdict)?;
                said("I approve the plan.")
            }
            Part::Implement => self.implement(),
            Part::ReviewCode { reviewer, model } => self.review_code(reviewer, model),
            Part::FixFindings => self.fix_findings(),
        }
    }

    /// Asks what only a person knows; with the answer it writes the requirements.
    fn gather(&self) -> Result<String, Failure> {
        let Some(separator) = code::answer(self.prompt) else {
            self.write(artifacts::SIGNAL, &artifacts::question())?;
            return said("I need to know what replaces a space.");
        };
        self.write(artifacts::STORY, &artifacts::story(&separator))?;
        self.write(
            artifacts::SIGNAL,
            &artifacts::done("requirements-gatherer", "requirements_gathering"),
        )?;
        said(&format!("A space becomes {separator}."))
    }

    /// Misbehaves at first: it asks for a way past the gates, and writes code before its time.
    fn draft(&self) -> Result<String, Failure> {
        let told = match code::forbidden(self.prompt) {
            Some(path) => {
                let path = self.project.join(path);
                fs::remove_file(&path).map_err(Failure::file("remove", &path))?;
                "I removed what I may not write yet."
            }
            None => {
                self.try_to_skip()?;
                self.write(SCRIPT, code::HASTY)?;
                "I wrote the code at once."
            }
        };
        self.write(artifacts::DRAFT, &artifacts::plan("draft"))?;
        self.write(
            artifacts::SIGNAL,
            &artifacts::done("planner", "plan_drafting"),
        )?;
        said(told)
    }

    /// Types what an impatient agent types: `gatewright skip`.
    fn try_to_skip(&self) -> Result<(), Failure> {
        let program = current_exe::program().map_err(no_program)?;
        let words = ["skip", super::RUN, "--as", "completed", "--reason", "done"];
        let tried = Command::new(program)
            .args(words)
            .current_dir(self.project)
            .stdin(Stdio::null())
            .output();
        tried.map(drop).map_err(no_program)
    }

    fn refine(&self) -> Result<String, Failure> {
        self.write(artifacts::PLAN, &artifacts::plan("plan"))?;
        self.write(
            artifacts::SIGNAL,
            &artifacts::done("planner", "plan_refining"),
        )?;
        said("The plan is ready.")
    }

    /// Writes the script, or fixes it by what the failed check printed.
    fn implement(&self) -> Result<String, Failure> {
        let script = fs::read_to_string(self.project.join(SCRIPT)).ok();
        let (script, told) = match script {
            Some(script) if script != code::HALF => {
                match code::fix_by_check(&script, self.prompt) {
                    Some(fixed) => (fixed, "I fixed what the check printed."),
                    None => (script, "I found nothing to fix."),
                }
            }
            Some(_) => (
                code::script(self.prompt),
                "I finished the half-written script.",
            ),
            None => {
                self.write(SCRIPT, code::HALF)?;
                thread::sleep(LONG_WORK);
                (code::script(self.prompt), "I wrote the script.")
            }
        };
        self.write(SCRIPT, &script)?;
        // It says so without having run them: a claim is not evidence.
        self.write(artifacts::RESULT, &artifacts::result())?;
        said(told)
    }

    /// One reviewer tries the script out; the others believe it.
    fn review_code(&self, reviewer: &str, model: &str) -> Result<String, Failure> {
        let path = format!(".task/code-review-{model}.json");
        let looks_closely = model == "opus";
        if looks_closely && self.takes_no_title()? {
            self.write(&path, &artifacts::finding(reviewer, model, code::GUARD))?;
            return said("`sh slug.sh` without a title succeeds: I ask for a change.");
        }
        self.write(
            &path,
            &artifacts::approval(reviewer, model, "the script follows the plan"),
        )?;
        said("I approve the code.")
    }

    /// Does the script succeed without a title?
    fn takes_no_title(&self) -> Result<bool, Failure> {
        let tried = Command::new("sh")
            .args([SCRIPT, ""])
            .current_dir(self.project)
            .output();
        let tried = tried.map_err(|cause| {
            Failure::environment(format!("cannot start sh ({cause})")).hint("install a shell")
        })?;
        Ok(tried.status.success())
    }

    fn fix_findings(&self) -> Result<String, Failure> {
        let path = self.project.join(SCRIPT);
        let script = fs::read_to_string(&path).map_err(Failure::file("read", &path))?;
        let fixed = code::fix_by_finding(&script, self.prompt).unwrap_or(script);
        self.write(SCRIPT, &fixed)?;
        self.write(artifacts::RESULT, &artifacts::result())?;
        said("I added the line that the reviewer asks for.")
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let path = self.project.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Failure::file("make", folder))?;
        }
        fs::write(&path, text).map_err(Failure::file("write", &path))
    }
}

fn said(text: &str) -> Result<String, Failure> {
    Ok(text.to_owned())
}

fn no_program(cause: std::io::Error) -> Failure {
    Failure::environment(format!("cannot start gatewright itself ({cause})")).hint("retry")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_of_the_whole_way_has_a_part() {
        for (stage, agent, model) in [
            ("requirements_gathering", "requirements-gatherer", "opus"),
            ("plan_drafting", "planner", "opus"),
            ("plan_refining", "planner", "opus"),
            ("plan_reviewing", "plan-reviewer", "sonnet"),
            ("implementing_loop", "implementer", "sonnet"),
            ("code_reviewing", "code-reviewer", "opus"),
        ] {
            assert!(Part::parse(stage, agent, model).is_some(), "{stage}");
        }
        assert_eq!(
            Part::parse("code_reviewing", "implementer", ""),
            Some(Part::FixFindings)
        );
        assert_eq!(Part::parse("approval", "anybody", ""), None);
    }
}
