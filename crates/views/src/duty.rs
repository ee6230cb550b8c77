//! What the next worker does, in words, and how it is started.

use engine::{NextDuty, Stage, Work, WorkerSettings};

/// What the agent does, after its name.
pub(crate) fn duty_words(duty: &NextDuty) -> String {
    match duty {
        NextDuty::Work => "works".to_owned(),
        NextDuty::Review {
            reviewer,
            round,
            rounds,
        } => {
            format!(
                "reviews as reviewer {} in round {round} of {rounds}",
                reviewer + 1
            )
        }
        NextDuty::Fix { findings_of } => format!("fixes what '{findings_of}' found"),
        NextDuty::Step { step, title } if title.trim().is_empty() => format!("does step {step}"),
        NextDuty::Step { step, title } => format!("does step {step}: {title}"),
    }
}

/// How the worker with this duty is started.
pub fn worker_settings<'a>(stage: &'a Stage, duty: &NextDuty) -> Option<&'a WorkerSettings> {
    match (&stage.work, duty) {
        (Work::Agent(work), _) => Some(&work.settings),
        (Work::Steps(work), _) => Some(&work.settings),
        (Work::Review(work), NextDuty::Review { reviewer, .. }) => work
            .panel
            .get(*reviewer as usize)
            .map(|member| &member.settings),
        (Work::Review(work), NextDuty::Fix { .. }) => Some(&work.owner_settings),
        _ => None,
    }
}
