//! How a headless run is decided, kept with the run so that whoever goes on with it does the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use engine::{RunId, StageName};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::runners;
use crate::state::{self, State};
use crate::worker::choice::{Runner, Starter};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who starts agents that have no runner.
    pub runner: String,
    /// The program that stands in for every agent.
    pub stand_in: Option<PathBuf>,
    /// A person's answers that were given at the start, by stage.
    pub answers: BTreeMap<StageName, String>,
    /// Who gave them.
    pub given_by: String,
    /// Who is told when the run waits, fails or completes: an address or a command line.
    pub notify: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            runner: runners::DEFAULT.to_owned(),
            stand_in: None,
            answers: BTreeMap::new(),
            given_by: String::new(),
            notify: None,
        }
    }
}

impl Settings {
    /// Invariant: durable before the run begins, so no run is decided in another way than was asked.
    pub fn keep(&self, state: &State, run: &RunId) -> Result<(), Failure> {
        let path = path(state, run);
        state::write_durably(&path, &self.json().to_string())
            .map_err(Failure::file("write to", &path))
    }

    /// The settings of a run; the usual ones where none were kept.
    pub fn of(state: &State, run: &RunId) -> Result<Self, Failure> {
        let path = path(state, run);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(Self::default());
        };
        let value: Option<Value> = serde_json::from_str(&text).ok();
        value.as_ref().and_then(Self::parse).ok_or_else(|| {
            Failure::store(format!("{} cannot be read", path.display()))
                .hint("remove it to go on with the usual settings")
        })
    }

    pub fn starter(&self) -> Result<Starter, Failure> {
        if self.stand_in.is_some() {
            return Ok(Starter::Rehearsal);
        }
        match Runner::parse(&self.runner) {
            Some(usual) => Ok(Starter::Headless { usual }),
            None => Err(Failure::settings(format!(
                "there is no runner '{}'",
                self.runner
            ))),
        }
    }

    /// What differs from the usual way, for the history.
    pub fn told(&self) -> Option<String> {
        let runner = (self.runner != runners::DEFAULT).then(|| format!("runner {}", self.runner));
        let stand_in = self.stand_in.iter();
        let stand_in = stand_in.map(|path| format!("{} stands in for every agent", path.display()));
        let answers = self.answers.iter();
        let answers = answers.map(|(stage, choice)| {
            format!(
                "{} has answered {stage} with {choice} in advance",
                self.given_by
            )
        });
        let told: Vec<String> = runner.into_iter().chain(stand_in).chain(answers).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    fn json(&self) -> Value {
        let answers: BTreeMap<&str, &String> = self
            .answers
            .iter()
            .map(|(stage, answer)| (stage.as_str(), answer))
            .collect();
        json!({
            "runner": self.runner,
            "stand_in": self.stand_in,
            "answers": answers,
            "given_by": self.given_by,
            "notify": self.notify,
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let mut answers = BTreeMap::new();
        for (stage, answer) in value["answers"].as_object()? {
            answers.insert(StageName::parse(stage).ok()?, answer.as_str()?.to_owned());
        }
        Some(Self {
            runner: text("runner")?,
            stand_in: text("stand_in").map(PathBuf::from),
            answers,
            given_by: text("given_by")?,
            notify: text("notify"),
        })
    }
}

fn path(state: &State, run: &RunId) -> PathBuf {
    state.folder().join("headless").join(format!("{run}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_again_and_nothing_is_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        assert_eq!(Settings::of(&state, &run).unwrap(), Settings::default());
        let settings = Settings {
            runner: "codex".to_owned(),
            stand_in: Some(PathBuf::from("/bin/agent")),
            answers: BTreeMap::from([(
                StageName::parse("approval").unwrap(),
                "approve".to_owned(),
            )]),
            given_by: "ada".to_owned(),
            notify: Some("say done".to_owned()),
        };
        settings.keep(&state, &run).unwrap();
        assert_eq!(Settings::of(&state, &run).unwrap(), settings);
        fs::write(path(&state, &run), "{").unwrap();
        assert!(Settings::of(&state, &run).is_err());
    }
}
