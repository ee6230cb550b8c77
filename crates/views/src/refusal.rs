//! A refusal in one line: a stable code, the reason, the legal next step, never the way around.

use engine::{Driver, Next, NextDuty, Pipeline, Refusal, Run, Stage};

use crate::duty::worker_settings;
use crate::owner::Owner;
use crate::safe::line;

/// `GW-R11 refused: 'ansible-reviewer' may not work in validating; next: 'ansible-validator'`.
pub fn refusal(refusal: &Refusal) -> String {
    let nowhere = Command {
        run: None,
        stage: None,
        resume: None,
    };
    one_line(refusal, "refused", "", &nowhere)
}

/// The same with the run and its place, and with commands that name the run.
pub fn refusal_in(pipeline: &Pipeline, run: &Run, refusal: &Refusal) -> String {
    refusal_by(pipeline, run, refusal, Owner::There)
}

/// The same, with what to type where nobody drives the run.
pub fn refusal_by(pipeline: &Pipeline, run: &Run, refusal: &Refusal, owner: Owner) -> String {
    in_run(pipeline, run, refusal, "refused", owner)
}

/// The same for a stop that is held back. Hosts show it to the person as the error of a hook.
pub fn hold_in(pipeline: &Pipeline, run: &Run, refusal: &Refusal) -> String {
    let word = "held back on purpose, not an error";
    in_run(pipeline, run, refusal, word, Owner::There)
}

fn in_run(pipeline: &Pipeline, run: &Run, refusal: &Refusal, word: &str, owner: Owner) -> String {
    let place = format!("; run {} is in {}", run.id, run.position.stage);
    let here = Command {
        run: Some(run),
        // A headless run starts every worker itself.
        stage: pipeline
            .stage(&run.position.stage)
            .filter(|_| run.driver != Driver::Headless),
        resume: owner.resume(run),
    };
    one_line(refusal, word, &place, &here)
}

fn one_line(refusal: &Refusal, word: &str, place: &str, command: &Command<'_>) -> String {
    let own = refusal.own_work.then(|| "your own work".to_owned());
    let legal = refusal.next.iter().map(|next| step(next, command));
    let steps: Vec<_> = own.into_iter().chain(legal).collect();
    let next = if steps.is_empty() {
        String::new()
    } else {
        format!("; next: {}", steps.join(", or "))
    };
    format!(
        "{} {word}: {}{place}{next}",
        refusal.rule.code(),
        line(&refusal.reason)
    )
}

struct Command<'a> {
    run: Option<&'a Run>,
    stage: Option<&'a Stage>,
    /// What to type if nobody drives a headless run.
    resume: Option<String>,
}

impl Command<'_> {
    fn named(&self, word: &str) -> String {
        match self.run {
            Some(run) => format!("`gatewright {word} {}`", run.id),
            None => format!("`gatewright {word}`"),
        }
    }

    /// How the worker with this duty starts, where the session does not call it.
    fn elsewhere(&self, duty: &NextDuty) -> Option<String> {
        if let Some(resume) = &self.resume {
            return Some(format!(", by `{resume}`"));
        }
        let settings = self.stage.and_then(|stage| worker_settings(stage, duty))?;
        let runner = settings.runner.as_ref()?;
        let step = match duty {
            NextDuty::Step { step, .. } => format!(" --step {step}"),
            NextDuty::Work | NextDuty::Review { .. } | NextDuty::Fix { .. } => String::new(),
        };
        let run = self.run.filter(|run| !run.session_starts(Some(runner)))?;
        Some(format!(", by `gatewright step {}{step}`", run.id))
    }
}

/// One legal step in a phrase. It does not list what a person may decide about a stuck run: the
/// reader of a refusal is usually an agent, and would try it.
fn step(next: &Next, command: &Command<'_>) -> String {
    match next {
        Next::Agent { agent, duty, .. } => {
            let elsewhere = command.elsewhere(duty).unwrap_or_default();
            format!("'{agent}'{}{elsewhere}", duty_phrase(duty))
        }
        Next::Session { .. } => "the session itself".to_owned(),
        Next::AnyOf { agents } => {
            let names: Vec<_> = agents
                .iter()
                .map(|agent| format!("'{}'", line(agent.as_str())))
                .collect();
            format!("any of {}", names.join(", "))
        }
        Next::Under { agent, step } => {
            let step = step
                .as_ref()
                .map(|step| format!(" on step {step}"))
                .unwrap_or_default();
            match &command.resume {
                Some(resume) => format!("`{resume}`, since no process drives the run"),
                None => format!("wait for '{agent}', which is working{step}"),
            }
        }
        Next::Check { .. } => command.named("check"),
        Next::Plan { stage } => format!(
            "{}, which plans the steps of {stage}",
            command.named("next")
        ),
        Next::Route { stage } => {
            format!("{}, which decides the route {stage}", command.named("next"))
        }
        Next::Answer { .. } | Next::Answers { .. } => "a person answers".to_owned(),
        Next::Finish => "a person ends the stage".to_owned(),
        Next::Decide { .. } => format!(
            "a person decides ({} shows the choices)",
            command.named("next")
        ),
        Next::TakeUp => "wait until a worker picks up the run".to_owned(),
        Next::Nothing => "nothing, the run is over".to_owned(),
    }
}

fn duty_phrase(duty: &NextDuty) -> String {
    match duty {
        NextDuty::Work => String::new(),
        NextDuty::Review { round, rounds, .. } => format!(" reviews (round {round} of {rounds})"),
        NextDuty::Fix { findings_of } => format!(" fixes what '{findings_of}' found"),
        NextDuty::Step { step, .. } => format!(" for step {step}"),
    }
}
