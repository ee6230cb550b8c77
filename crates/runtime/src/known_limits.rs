//! The limits that services have named to the runs of a project: what uses the same account would hit them, too.
//!
//! Only information, of this machine: what cannot be written or read is asked of the service again.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Entry, Fact, RunnerName, Service, ServiceLimit, Time};
use serde_json::{Value, json};

use crate::state::{self, State};

/// The limits of this project that are still to end.
pub fn of(state: &State, project: &str, now: Time) -> Vec<ServiceLimit> {
    let listed = fs::read_dir(folder(state)).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in listed.map(|entry| entry.path()) {
        match read(&path) {
            Some((_, limit)) if limit.until <= now => drop(fs::remove_file(&path)),
            Some((of, limit)) if of == project => found.push(limit),
            Some(_) | None => {}
        }
    }
    found
}

/// The service has answered: it works.
pub fn forget(state: &State, project: &str, service: &Service) {
    let _ = fs::remove_file(path(state, project, service));
}

/// Notes what a run of the project has recorded. `before` are the limits that it had.
pub(crate) fn follow<'e>(
    state: &State,
    project: &str,
    before: &[ServiceLimit],
    entries: impl Iterator<Item = &'e Entry>,
) {
    for entry in entries {
        match &entry.fact {
            Fact::Limited(limit) if limit.named => write(state, project, limit),
            // The person knows more about their account than its service said.
            Fact::Unstuck => before
                .iter()
                .for_each(|limit| forget(state, project, &limit.service)),
            _ => {}
        }
    }
}

fn write(state: &State, project: &str, limit: &ServiceLimit) {
    let value = json!({
        "project": project,
        "runner": limit.service.runner.as_str(),
        "model": limit.service.model,
        "until": limit.until.0,
        "reason": limit.reason,
    });
    let path = path(state, project, &limit.service);
    let _ = state::write_quickly(&path, value.to_string().as_bytes());
}

fn read(path: &Path) -> Option<(String, ServiceLimit)> {
    let value: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let limit = ServiceLimit {
        service: Service {
            runner: RunnerName::parse(value["runner"].as_str()?).ok()?,
            model: text("model"),
        },
        until: Time(value["until"].as_u64()?),
        reason: text("reason")?,
        named: true,
        times: 1,
    };
    Some((text("project")?, limit))
}

fn path(state: &State, project: &str, service: &Service) -> PathBuf {
    let name = evidence::hash(format!("{service}\n{project}").as_bytes());
    folder(state).join(name.to_string())
}

fn folder(state: &State) -> PathBuf {
    state.folder().join("limits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(model: &str, until: u64) -> ServiceLimit {
        ServiceLimit {
            service: Service {
                runner: RunnerName::parse("claude").unwrap(),
                model: Some(model.to_owned()),
            },
            until: Time(until),
            reason: "You have hit your limit".to_owned(),
            named: true,
            times: 1,
        }
    }

    #[test]
    fn a_limit_is_known_in_its_project_until_it_ends_or_its_service_works() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        write(&state, "here", &limit("opus", 9));
        write(&state, "here", &limit("sonnet", 7));
        assert!(of(&state, "there", Time(6)).is_empty());
        assert_eq!(of(&state, "here", Time(6)).len(), 2);
        assert_eq!(of(&state, "here", Time(7)), [limit("opus", 9)]);
        forget(&state, "there", &limit("opus", 9).service);
        assert_eq!(of(&state, "here", Time(8)), [limit("opus", 9)]);
        forget(&state, "here", &limit("opus", 9).service);
        assert!(of(&state, "here", Time(8)).is_empty());
    }

    #[test]
    fn what_is_not_a_limit_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        write(&state, "here", &limit("opus", 9));
        for (name, text) in [("a", ""), ("b", "{}"), ("c", r#"{"project":"here"}"#)] {
            fs::write(super::folder(&state).join(name), text).unwrap();
        }
        assert_eq!(of(&state, "here", Time(1)), [limit("opus", 9)]);
    }
}
