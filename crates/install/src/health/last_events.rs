//! When each event last arrived: a hook that the host never calls fails silently.

use std::time::SystemTime;

use engine::Seconds;

use super::{CheckTopic, DoctorContext, Finding};
use crate::host::FORMAT;

/// Events that every guarded session sends.
const ALWAYS: [&str; 3] = ["SessionStart", "UserPromptSubmit", "Stop"];

/// Reports nothing before the first guarded session.
pub(super) fn finding(doctor: &DoctorContext<'_>) -> Option<Finding> {
    let folder = doctor.state.folder().join("seen");
    let age = |event: &str| {
        let seen = std::fs::metadata(folder.join(event))
            .ok()?
            .modified()
            .ok()?;
        Some(SystemTime::now().duration_since(seen).unwrap_or_default())
    };
    let seen: Vec<(&str, Option<u64>)> = FORMAT
        .registered
        .iter()
        .map(|it| (it.event, age(it.event).map(|age| age.as_secs())))
        .collect();
    if seen.iter().all(|(_, age)| age.is_none()) {
        return Some(CheckTopic::Seen.fine("no guarded session has run here yet"));
    }
    Some(told(&seen))
}

fn told(seen: &[(&str, Option<u64>)]) -> Finding {
    let ages = seen.iter().filter_map(|(event, age)| {
        let age = views::time::span(Seconds((*age)?));
        Some(format!("{event} {age} ago"))
    });
    let ages = ages.collect::<Vec<_>>().join(", ");
    let never = seen.iter().filter(|(_, age)| age.is_none());
    let never: Vec<&str> = never.map(|(event, _)| *event).collect();
    let says = if never.is_empty() {
        ages
    } else {
        format!("{ages}; never: {}", never.join(", "))
    };
    if never.iter().any(|event| ALWAYS.contains(event)) {
        CheckTopic::Seen.warning(
            says,
            "every session calls these hooks: start one, then look again",
        )
    } else {
        CheckTopic::Seen.fine(says)
    }
}
