//! The checks of `gatewright doctor`.

mod claims;
mod hooks;
mod host;
mod last_events;
mod live;
mod machine;
mod pipelines;
mod probe;

use evidence::Project;
use runtime::context::Context;
use runtime::enrolment::Installed;
use runtime::failure::Failure;
use runtime::state::State;
use serde_json::{Value, json};
use views::{Paint, Style};

use super::program::OurProgram;
use super::settings_files::{self, HostSettingsFile};

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub topic: CheckTopic,
    pub level: Level,
    pub says: String,
    /// What to do about it.
    pub advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Fine,
    Warning,
    /// It does not hold.
    Red,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckTopic {
    Program,
    Host,
    Settings,
    Hooks,
    Probe,
    Live,
    Pipelines,
    State,
    Store,
    Seen,
    Assurance,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Warning => "warn",
            Self::Red => "red",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Fine => Style::Good,
            Self::Warning => Style::Wait,
            Self::Red => Style::Bad,
        }
    }
}

impl CheckTopic {
    fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Host => "host",
            Self::Settings => "settings",
            Self::Hooks => "hooks",
            Self::Probe => "probe",
            Self::Live => "live",
            Self::Pipelines => "pipelines",
            Self::State => "state",
            Self::Store => "store",
            Self::Seen => "seen",
            Self::Assurance => "assurance",
        }
    }

    pub fn fine(self, says: impl Into<String>) -> Finding {
        self.finding(Level::Fine, says.into(), None)
    }

    pub fn warning(self, says: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Level::Warning, says.into(), Some(advice.into()))
    }

    pub fn red(self, says: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Level::Red, says.into(), Some(advice.into()))
    }

    fn finding(self, level: Level, says: String, advice: Option<String>) -> Finding {
        Finding {
            topic: self,
            level,
            says,
            advice,
        }
    }
}

impl Finding {
    fn text(&self, paint: Paint) -> String {
        let level = paint.on(self.level.style(), &format!("{:<4}", self.level.word()));
        let advice = self.advice.as_ref();
        let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
        let says = views::line(&format!("{}{advice}", self.says));
        format!("{level}  {:<9}  {says}\n", self.topic.word())
    }

    fn json(&self) -> Value {
        json!({
            "topic": self.topic.word(),
            "level": self.level.word(),
            "says": self.says,
            "do": self.advice,
        })
    }
}

/// Should the host itself be started?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostTrial {
    Without,
    WithHost,
}

/// What the checks need.
pub struct DoctorContext<'a> {
    pub context: &'a Context,
    pub state: State,
    pub program: OurProgram,
    pub project: Project,
    pub places: Vec<HostSettingsFile>,
    pub installed: Result<Option<Installed>, String>,
}

impl<'a> DoctorContext<'a> {
    pub fn new(context: &'a Context) -> Result<Self, Failure> {
        let state = context.state()?;
        let project = super::project(context, &state)?;
        Ok(Self {
            program: OurProgram::of_process(&context.environment)?,
            places: settings_files::look(&context.environment, &project),
            installed: super::installed(&state, &project).map_err(|it| it.to_string()),
            context,
            state,
            project,
        })
    }

    /// Looks at everything, in the order in which one thing rests on another.
    pub fn examine(&self, trial: HostTrial) -> DoctorReport {
        let host = super::host::find(&self.context.environment);
        let mut findings = vec![machine::program(self)];
        findings.push(host::finding(host.as_ref()));
        findings.extend(hooks::settings(self));
        findings.extend(hooks::hooks(self));
        findings.extend(probe::probe(self));
        if trial == HostTrial::WithHost {
            findings.push(live::finding(self, host.as_ref()));
        }
        findings.extend(pipelines::findings(self));
        findings.extend(machine::state(self));
        findings.push(machine::store(self));
        findings.extend(machine::spool(self));
        findings.extend(last_events::finding(self));
        findings.extend(machine::assurance(self));
        DoctorReport {
            findings,
            guards: matches!(&self.installed, Ok(Some(_))),
        }
    }
}

pub struct DoctorReport {
    findings: Vec<Finding>,
    /// Is there a pipeline that guards sessions of this project?
    guards: bool,
}

impl DoctorReport {
    pub fn worst(&self) -> Level {
        let levels = self.findings.iter().map(|finding| finding.level);
        levels.max().unwrap_or(Level::Fine)
    }

    fn count(&self, level: Level) -> usize {
        let same = self.findings.iter().filter(|it| it.level == level);
        same.count()
    }

    pub fn text(&self, paint: Paint) -> String {
        let lines: String = self.findings.iter().map(|it| it.text(paint)).collect();
        let (red, warnings) = (self.count(Level::Red), self.count(Level::Warning));
        let verdict = match (red, warnings) {
            (0, _) if !self.guards => "nothing is guarded in this project".to_owned(),
            (0, 0) => "the guard works".to_owned(),
            (0, 1) => "the guard works, with 1 warning".to_owned(),
            (0, warnings) => format!("the guard works, with {warnings} warnings"),
            (1, _) => "the guard does not work: 1 red line".to_owned(),
            (red, _) => format!("the guard does not work: {red} red lines"),
        };
        let verdict = paint.on(self.worst().style(), &verdict);
        format!("{lines}\n{verdict}\n")
    }

    pub fn json(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(Finding::json).collect();
        json!({
            "assurance": machine::LEVEL,
            "worst": self.worst().word(),
            "findings": findings,
        })
    }
}
