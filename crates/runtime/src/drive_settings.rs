//! How a headless run is driven. Stored with the run, so that `resume` does the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use engine::{Definition, Deliver, Driver, Run, RunId, Service, StageName, Time, Who};
use serde_json::{Value, json};

use crate::context::Context;
use crate::current_exe::is_executable;
use crate::failure::Failure;
use crate::run_branch::PlaceRequest;
use crate::runners;
use crate::state::{self, State};

/// How a new run is to be driven. Absent values mean the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveRequest {
    /// The program that starts agents without a runner.
    pub runner: Option<String>,
    /// A rehearsal: this program replaces every agent.
    pub stand_in: Option<PathBuf>,
    /// A person's answers in advance, each used once.
    pub answers: Vec<(StageName, String)>,
    /// The addresses and commands that get a notice when the run waits, fails or completes.
    pub notify: Vec<String>,
    /// The earliest time at which a worker takes a queued run.
    pub not_before: Option<Time>,
    /// Where the run works.
    pub place: PlaceRequest,
    /// What it hands over, if not what the definition says.
    pub deliver: DeliverRequest,
    /// Which machines may take it, where it is for a fleet.
    pub fleet: Option<FleetWish>,
}

/// Which machines of a fleet may take a run, and how many runs of its kind they drive at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetWish {
    /// A machine must have all of them.
    pub labels: Vec<String>,
    /// The model account that the run uses, and how many runs may use it at once.
    pub account: Option<(String, u32)>,
}

/// What a person wants to be handed over. Absent values mean what the definition says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliverRequest {
    pub deliver: Option<Deliver>,
    pub remote: Option<String>,
    pub request: Vec<String>,
}

/// How a run is driven, as stored with the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveSettings {
    /// The runner of agents without one.
    pub runner: String,
    /// The program that replaces every agent.
    pub stand_in: Option<PathBuf>,
    /// A person's answers from the start, by stage.
    pub answers: BTreeMap<StageName, String>,
    /// Who gave them.
    pub given_by: String,
    /// Who gets a notice when the run waits, fails or completes: addresses and command lines.
    pub notify: Vec<String>,
    /// The earliest time at which a worker takes it from the queue.
    pub not_before: Option<Time>,
    /// What it hands over, where it differs from the definition.
    pub deliver: DeliverRequest,
    /// Which machines may take it, where it is for a fleet.
    pub fleet: Option<FleetWish>,
}

impl Default for DriveSettings {
    fn default() -> Self {
        Self {
            runner: runners::DEFAULT.to_owned(),
            stand_in: None,
            answers: BTreeMap::new(),
            given_by: String::new(),
            notify: Vec::new(),
            not_before: None,
            deliver: DeliverRequest::default(),
            fleet: None,
        }
    }
}

impl DriveSettings {
    /// Invariant: durable before the run starts, so no run is driven in another way than requested.
    pub fn save(&self, state: &State, run: &RunId) -> Result<(), Failure> {
        let path = path(state, run);
        state::write_durably(&path, &self.json().to_string())
            .map_err(Failure::file("write to", &path))
    }

    /// Drives a fork as the run that it comes from, with the same agents, answers, notices and delivery.
    pub fn copy(state: &State, from: &RunId, to: &RunId) -> Result<(), Failure> {
        if path(state, from).exists() {
            Self::load(state, from)?.save(state, to)?;
        }
        Ok(())
    }

    /// As text for another machine.
    pub fn to_text(&self) -> String {
        self.json().to_string()
    }

    /// The settings that another machine wrote as text.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::parse(&serde_json::from_str(text).ok()?)
    }

    /// The settings of a run; the defaults if none are stored.
    pub fn load(state: &State, run: &RunId) -> Result<Self, Failure> {
        let path = path(state, run);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(Self::default());
        };
        let value: Option<Value> = serde_json::from_str(&text).ok();
        value.as_ref().and_then(Self::parse).ok_or_else(|| {
            Failure::store(format!("cannot read {}", path.display()))
                .hint("remove it to continue with the default settings")
        })
    }

    /// What differs from the defaults, for the history.
    pub fn summary(&self) -> Option<String> {
        let runner = (self.runner != runners::DEFAULT).then(|| format!("runner {}", self.runner));
        let stand_in = self.stand_in.iter();
        let stand_in = stand_in.map(|path| format!("{} replaces every agent", path.display()));
        let answers = self.answers.iter();
        let answers = answers.map(|(stage, choice)| {
            format!(
                "{} has answered {stage} with {choice} in advance",
                self.given_by
            )
        });
        let differences: Vec<String> = runner.into_iter().chain(stand_in).chain(answers).collect();
        (!differences.is_empty()).then(|| differences.join("; "))
    }

    fn json(&self) -> Value {
        let answers: BTreeMap<&str, &String> = self
            .answers
            .iter()
            .map(|(stage, answer)| (stage.as_str(), answer))
            .collect();
        // Earlier versions know one target, as `notify`.
        let (notify, more) = match self.notify.split_first() {
            Some((first, more)) => (Some(first), more),
            None => (None, &[][..]),
        };
        let mut settings = json!({
            "runner": self.runner,
            "stand_in": self.stand_in,
            "answers": answers,
            "given_by": self.given_by,
            "notify": notify,
            "notify_more": more,
            "not_before": self.not_before.map(|time| time.0),
            "deliver": self.deliver.json(),
        });
        if let Some(fleet) = &self.fleet {
            settings["fleet"] = fleet.json();
        }
        settings
    }

    fn parse(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let mut answers = BTreeMap::new();
        for (stage, answer) in value["answers"].as_object()? {
            answers.insert(StageName::parse(stage).ok()?, answer.as_str()?.to_owned());
        }
        let more = value["notify_more"].as_array().into_iter().flatten();
        let more = more.filter_map(|target| Some(target.as_str()?.to_owned()));
        Some(Self {
            runner: text("runner")?,
            stand_in: text("stand_in").map(PathBuf::from),
            answers,
            given_by: text("given_by")?,
            notify: text("notify").into_iter().chain(more).collect(),
            not_before: value["not_before"].as_u64().map(Time),
            deliver: DeliverRequest::parse(&value["deliver"])?,
            fleet: FleetWish::parse(&value["fleet"]),
        })
    }
}

impl FleetWish {
    fn json(&self) -> Value {
        let account = self.account.as_ref();
        json!({
            "labels": self.labels,
            "account": account.map(|(name, _)| name),
            "at_most": account.map(|(_, most)| most),
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        let labels = value["labels"].as_array()?.iter();
        let labels = labels.map(|label| label.as_str().map(str::to_owned));
        let name = value["account"].as_str().map(str::to_owned);
        let most = value["at_most"]
            .as_u64()
            .and_then(|most| most.try_into().ok());
        Some(Self {
            labels: labels.collect::<Option<_>>()?,
            account: name.zip(most),
        })
    }
}

impl DeliverRequest {
    fn words(&self) -> Vec<String> {
        let deliver = self.deliver.iter();
        let deliver = deliver.map(|deliver| format!("delivered as {}", deliver.word()));
        let remote = self.remote.iter();
        let remote = remote.map(|remote| format!("pushed to {remote}"));
        let request = Some(self.request.join(" ")).filter(|words| !words.is_empty());
        let request = request.map(|words| format!("requested with {words}"));
        deliver.chain(remote).chain(request).collect()
    }

    fn json(&self) -> Value {
        json!({
            "as": self.deliver.map(Deliver::word),
            "remote": self.remote,
            "request": self.request,
        })
    }

    /// Settings of earlier versions say nothing about it.
    fn parse(value: &Value) -> Option<Self> {
        if value.is_null() {
            return Some(Self::default());
        }
        let deliver = match value["as"].as_str() {
            Some(word) => Some(Deliver::parse(word)?),
            None => None,
        };
        let request = value["request"].as_array()?.iter();
        let request = request.map(|word| word.as_str().map(str::to_owned));
        Some(Self {
            deliver,
            remote: value["remote"].as_str().map(str::to_owned),
            request: request.collect::<Option<Vec<String>>>()?,
        })
    }
}

/// Does a stand-in play the agents of this run? What cannot be read is not claimed; the journal tells it, too.
pub fn is_rehearsal(state: &State, run: &Run) -> bool {
    let settings = match run.driver {
        Driver::Headless => DriveSettings::load(state, &run.id).ok(),
        Driver::Guarded | Driver::ByHand => None,
    };
    // The machine that drives a run of a fleet has the settings; the run itself has what is at work.
    let mut services = run.dispatches.values().filter_map(|it| it.service.as_ref());
    settings.is_some_and(|settings| settings.stand_in.is_some())
        || services.any(Service::is_stand_in)
}

fn path(state: &State, run: &RunId) -> PathBuf {
    state.folder().join("headless").join(format!("{run}.json"))
}

impl DriveRequest {
    pub fn is_empty(&self) -> bool {
        self.words().is_empty()
    }

    /// The typed options in words: they identify a repeated command and appear in the history.
    pub fn words(&self) -> Vec<String> {
        let runner = self.runner.iter().map(|runner| format!("runner {runner}"));
        let stand_in = self.stand_in.iter();
        let stand_in = stand_in.map(|path| format!("{} replaces every agent", path.display()));
        let answers = self.answers.iter();
        let answers = answers.map(|(stage, choice)| format!("{stage} is answered with {choice}"));
        let notify = self.notify.iter().map(|_| "notices are sent".to_owned());
        let not_before = self.not_before.iter();
        let not_before = not_before.map(|time| format!("not before {}", time.0));
        runner
            .chain(stand_in)
            .chain(answers)
            .chain(notify)
            .chain(self.place.words())
            .chain(self.deliver.words())
            .chain(not_before)
            .collect()
    }

    /// The runner of agents without one, for the check of the definition.
    pub fn default_runner(&self) -> &str {
        self.runner.as_deref().unwrap_or(runners::DEFAULT)
    }

    /// The settings to store. Refuses answers that no stage asks for.
    pub fn settings(
        &self,
        context: &Context,
        definition: &Definition,
    ) -> Result<DriveSettings, Failure> {
        let mut answers = BTreeMap::new();
        for (stage, choice) in &self.answers {
            may_be_answered(definition, stage, choice)?;
            if answers.insert(stage.clone(), choice.clone()).is_some() {
                let message = format!("--answer {stage} is given twice");
                return Err(Failure::usage(message).hint("write it once"));
            }
        }
        let given_by = match context.who() {
            Who::Person(name) | Who::Unattended(name) => name,
            other => other.name(),
        };
        Ok(DriveSettings {
            runner: self.default_runner().to_owned(),
            stand_in: self.stand_in(context)?,
            answers,
            given_by,
            notify: self.notify.clone(),
            not_before: self.not_before,
            deliver: self.deliver.clone(),
            fleet: self.fleet.clone(),
        })
    }

    fn stand_in(&self, context: &Context) -> Result<Option<PathBuf>, Failure> {
        let Some(path) = &self.stand_in else {
            return Ok(None);
        };
        let path = context.folder.join(path);
        let found = path.canonicalize().ok().filter(|path| path.is_file());
        match found {
            Some(path) if is_executable(&path) => Ok(Some(path)),
            Some(path) => Err(
                Failure::usage(format!("{} is not executable", path.display()))
                    .hint("make it executable with `chmod +x`"),
            ),
            None => Err(Failure::not_found(format!(
                "the program {} does not exist",
                path.display()
            ))
            .hint("type the path of a program")),
        }
    }
}

fn may_be_answered(definition: &Definition, name: &StageName, choice: &str) -> Result<(), Failure> {
    let stage = definition.stages.iter().find(|stage| stage.name == *name);
    let Some(stage) = stage else {
        return Err(Failure::usage(format!("unknown stage {name} in --answer"))
            .hint("`gatewright graph PIPELINE` shows the stages"));
    };
    let asks = match &stage.work {
        engine::Work::Ask(ask) => ask.is_choice(),
        engine::Work::Open(_) => choice == "finish",
        engine::Work::Agent(_)
        | engine::Work::Check(_)
        | engine::Work::Review(_)
        | engine::Work::Steps(_)
        | engine::Work::Route(_)
        | engine::Work::End(_) => false,
    };
    let known = stage.on.keys().any(|outcome| outcome.as_str() == choice);
    if asks && known {
        Ok(())
    } else {
        let choices: Vec<&str> = stage.on.keys().map(|outcome| outcome.as_str()).collect();
        Err(
            Failure::usage(format!("{name} cannot be answered with '{choice}'"))
                .hint(format!("its outcomes are {}", choices.join(", "))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_again_and_nothing_is_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        assert_eq!(
            DriveSettings::load(&state, &run).unwrap(),
            DriveSettings::default()
        );
        let settings = DriveSettings {
            runner: "codex".to_owned(),
            stand_in: Some(PathBuf::from("/bin/agent")),
            answers: BTreeMap::from([(
                StageName::parse("approval").unwrap(),
                "approve".to_owned(),
            )]),
            given_by: "ada".to_owned(),
            notify: vec!["say done".to_owned(), "http://127.0.0.1/".to_owned()],
            not_before: Some(Time(7)),
            deliver: DeliverRequest {
                deliver: Some(Deliver::PullRequest),
                remote: Some("fork".to_owned()),
                request: vec!["make".to_owned(), "{branch}".to_owned()],
            },
            fleet: Some(FleetWish {
                labels: vec!["gpu".to_owned()],
                account: Some(("team".to_owned(), 4)),
            }),
        };
        settings.save(&state, &run).unwrap();
        assert_eq!(DriveSettings::load(&state, &run).unwrap(), settings);
        // What an earlier version has written.
        let earlier =
            r#"{"runner":"claude","stand_in":null,"answers":{},"given_by":"ada","notify":"say"}"#;
        fs::write(path(&state, &run), earlier).unwrap();
        let earlier = DriveSettings::load(&state, &run).unwrap();
        assert_eq!(
            (earlier.notify, earlier.not_before),
            (vec!["say".to_owned()], None)
        );
        fs::write(path(&state, &run), "{").unwrap();
        assert!(DriveSettings::load(&state, &run).is_err());
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let stored = r#"{"runner":"codex","stand_in":"/bin/agent","answers":{"approval":"approve"},"given_by":"ada","notify":"say","notify_more":["tell"],"not_before":7,"deliver":{"as":"pull-request","remote":"fork","request":["make"]}}"#;
        let settings = DriveSettings::from_text(stored).unwrap();
        assert_eq!(settings.notify, ["say", "tell"]);
        assert_eq!(settings.deliver.deliver, Some(Deliver::PullRequest));
        assert_eq!(settings.to_text(), stored);
        let defaults = r#"{"runner":"claude","stand_in":null,"answers":{},"given_by":"","notify":null,"notify_more":[],"not_before":null,"deliver":{"as":null,"remote":null,"request":[]}}"#;
        assert_eq!(DriveSettings::default().to_text(), defaults);
        assert_eq!(
            DriveSettings::from_text(defaults),
            Some(DriveSettings::default())
        );
        let more = defaults
            .replace('{', r#"{"more":1,"#)
            .replace(r#"{"more":1,}"#, "{}");
        assert_eq!(
            DriveSettings::from_text(&more),
            Some(DriveSettings::default())
        );
        for (old, new) in [
            ("approval", "../x"),
            (r#""approve""#, "1"),
            ("given_by", "by"),
            ("pull-request", "letter"),
            (r#""make""#, "1"),
            ("{", "["),
        ] {
            let damaged = stored.replace(old, new);
            assert_eq!(DriveSettings::from_text(&damaged), None, "{damaged}");
        }
    }
}
