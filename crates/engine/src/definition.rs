//! A definition: what a pipeline file says, with every name parsed and nothing resolved yet.
//!
//! The language crate makes one from text; `Pipeline::new` checks it. All fields are public because
//! holding a definition promises nothing: only a `Pipeline` does.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::amount::Amount;
use crate::names::{
    AgentName, ArtifactName, CommandName, CounterName, GroupName, ParamName, PipelineName, Seconds,
    StageName,
};
use crate::outcome::Outcome;
use crate::pattern::{AgentPattern, PathGlob};
use crate::place::Placement;
use crate::stage::{Stage, Step, StepsSource};
use crate::view::View;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: PipelineName,
    pub about: String,
    pub begins: Begins,
    pub start: StageName,
    pub mode: Mode,
    pub ttl: Option<Seconds>,
    pub budget: Budget,
    /// The project's settings file from which parameters may take their values.
    pub settings: Option<String>,
    pub params: BTreeMap<ParamName, Param>,
    pub counters: BTreeMap<CounterName, Counter>,
    pub groups: BTreeMap<GroupName, Vec<AgentPattern>>,
    pub artifacts: BTreeMap<ArtifactName, Artifact>,
    /// In the order of the file, which is the order in which people read them.
    pub stages: Vec<Stage>,
    pub views: Vec<View>,
    /// Slash commands that a person types in a session, and what each does.
    pub commands: BTreeMap<CommandName, Act>,
    /// Read-only agents of the host that may help anybody in any stage. Their work counts for nothing.
    pub helpers: Vec<AgentPattern>,
    /// Files that `init` gives to the host: `agents/…`, `commands/…` and `skills/…` next to the
    /// definition.
    pub gives: Vec<String>,
    /// What git is to leave out, as lines of `.gitignore`.
    pub ignores: Vec<String>,
    /// Untracked files that tools leave behind: no gate is bound to them.
    pub litter: Vec<PathGlob>,
    /// The file next to the definition whose text `init` puts into the host's memory file.
    pub protocol: Option<String>,
    pub proofs: Vec<Proof>,
    /// Where runs work, and what they hand over.
    pub placement: Placement,
}

/// How a run of this pipeline starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Always on in its project: every session has a run.
    Session,
    /// A person or a slash command starts it.
    Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Enforced,
    /// Refusals are shown and recorded, but nothing is blocked; the run is shown as not enforced.
    Advisory,
}

/// What a whole run may use, resumes and parallel workers included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub turns: Option<Amount>,
    pub tokens: Option<Amount>,
    pub cost_cents: Option<Amount>,
    pub time: Option<Seconds>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    pub about: String,
    pub required: bool,
    pub default: Option<String>,
    /// The only values allowed, where the list is not empty.
    pub choices: Vec<String>,
    /// Other words for values.
    pub words: BTreeMap<String, String>,
    /// The dotted fields of the settings file that supply it, as `autonomy.planReviewLoopLimit`. The
    /// first that exists counts.
    pub settings: Vec<String>,
    pub meaning: Meaning,
}

/// What the value of a parameter is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    #[default]
    Text,
    /// A file or folder of the project: a plain path that stays inside it.
    Path,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    pub max: Amount,
    /// The target instead of a transition that would count past `max`.
    pub then: StageName,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    pub source: Source,
    pub format: Format,
    /// Front-matter or top-level JSON fields that must exist and not be empty.
    pub require: Vec<String>,
    /// Values that these fields must have. A value may contain `{agent}`, `{stage}`, `{run}`, `{step}` and
    /// parameters; a star at its end matches anything.
    pub equals: BTreeMap<String, String>,
    pub outcome: Option<OutcomeField>,
    /// Its commands, and the question about those that nobody has approved.
    pub approved: Option<ApprovedCommands>,
    pub strictness: Strictness,
    pub max_bytes: u64,
}

/// Is a missing or invalid artifact a fault?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strictness {
    Strict,
    /// It is a warning, and the run continues.
    Advisory,
    /// The start of the run decides: the value is one of `WORDS`.
    Param(ParamName),
}

impl Strictness {
    const STRICT: &'static str = "strict";
    /// What a parameter can say.
    pub const WORDS: [&'static str; 2] = [Self::STRICT, "advisory"];

    /// Is it a fault in a run with these parameters? The default is strict.
    pub fn is_strict(&self, params: &BTreeMap<ParamName, String>) -> bool {
        match self {
            Self::Strict => true,
            Self::Advisory => false,
            Self::Param(name) => params.get(name).is_none_or(|value| value == Self::STRICT),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file in the project. May contain `{run}`, `{step}` and parameters.
    File(String),
    /// The agent's last message; a message that is not JSON is wrapped.
    Reply,
    /// A person's answers to the questions of an `ask` stage.
    Answers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML front matter and Markdown.
    Bundle,
    /// JSON, with a JSON Schema (its text) where one is given.
    Json {
        schema: Option<String>,
    },
    Text,
}

/// The field of an artifact that holds the verdict, and what its words mean here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeField {
    pub field: String,
    pub values: BTreeMap<String, Outcome>,
    /// The field in which the worker says why, if it failed.
    pub reason: Option<String>,
}

/// Commands that an artifact may add: a person approves each one before the run continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedCommands {
    /// The dotted field with the list of commands.
    pub field: String,
    /// The question that follows if a command is not approved.
    pub then: StageName,
}

/// What a slash command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Starts a run; what follows the command is its task.
    Start,
    /// Answers the question of the current stage with this choice; without one, the word that
    /// follows the command is the choice.
    Answer(Option<Outcome>),
    Finish,
    Retry,
    /// What follows the command is the reason.
    Cancel,
    Reset,
}

/// A promise about the pipeline that `lint` proves or shows to be false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub name: String,
    pub claim: Claim,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// No path reaches `before` without passing every stage of `through`; with `after`, this holds
    /// again from each visit of that stage on.
    Passes {
        after: Option<StageName>,
        before: StageName,
        through: Vec<StageName>,
    },
    /// No stage admits these agents (a name or a group) before `only_after` has ended well.
    Admits {
        agents: AgentPattern,
        only_after: AgentName,
    },
}

impl Definition {
    /// Does this list, whose members may be group names, cover the agent?
    pub fn lists(&self, list: &[AgentPattern], agent: &str) -> bool {
        list.iter().any(|pattern| self.covers(pattern, agent))
    }

    /// Does this pattern, which may be a group's name, cover the agent?
    pub fn covers(&self, pattern: &AgentPattern, agent: &str) -> bool {
        match self.group(pattern) {
            Some(members) => members.iter().any(|member| member.covers(agent)),
            None => pattern.covers(agent),
        }
    }

    /// The group that this pattern names, if it names one.
    pub fn group(&self, pattern: &AgentPattern) -> Option<&Vec<AgentPattern>> {
        let name = GroupName::parse(pattern.as_str()).ok()?;
        self.groups.get(&name)
    }

    /// The same list with the members of each group in its place.
    pub fn members(&self, list: &[AgentPattern]) -> Vec<AgentPattern> {
        let each = list.iter().flat_map(|pattern| match self.group(pattern) {
            Some(members) => members.clone(),
            None => Vec::from([pattern.clone()]),
        });
        each.collect()
    }

    /// Is this a read-only agent that may help in any stage?
    pub fn is_helper(&self, agent: &AgentName) -> bool {
        self.lists(&self.helpers, agent.as_str())
    }

    /// Does a promise say that the run passes this stage before it reaches that end?
    pub fn promises(&self, stage: &StageName, end: &StageName) -> bool {
        self.proofs.iter().any(|proof| match &proof.claim {
            Claim::Passes {
                before, through, ..
            } => before == end && through.contains(stage),
            Claim::Admits { .. } => false,
        })
    }

    /// The stage at which a run with these given steps starts.
    pub fn start_with(&self, steps: &[Step]) -> &StageName {
        match self.begins_with_steps() {
            Some(stage) if !steps.is_empty() => &stage.name,
            Some(_) | None => &self.start,
        }
    }

    /// The stage at which a run with given steps starts, if that is not the start stage.
    pub fn begins_with_steps(&self) -> Option<&Stage> {
        self.stages.iter().find(|stage| {
            let steps = stage.work.as_steps();
            steps.is_some_and(|steps| matches!(steps.source, StepsSource::ArtifactOrStart(_)))
        })
    }

    /// The fields of this artifact whose commands are run, or approved to be run.
    pub fn command_fields(&self, artifact: &ArtifactName) -> BTreeSet<&str> {
        let checks = self.stages.iter().flat_map(Stage::command_fields);
        let run = checks.filter(|field| field.artifact == *artifact);
        let declared = self.artifacts.get(artifact);
        let approved = declared.and_then(|artifact| artifact.approved.as_ref());
        run.map(|field| field.field.as_str())
            .chain(approved.map(|approved| approved.field.as_str()))
            .collect()
    }

    /// Every limit that the definition sets.
    pub fn amounts(&self) -> Vec<&Amount> {
        let budget = [
            &self.budget.turns,
            &self.budget.tokens,
            &self.budget.cost_cents,
        ];
        let counters = self.counters.values().map(|counter| &counter.max);
        let stages = self.stages.iter().flat_map(Stage::amounts);
        budget
            .into_iter()
            .flatten()
            .chain(counters)
            .chain(stages)
            .collect()
    }

    /// Every counter that exists: the declared ones and each review stage's rounds, which go by the
    /// stage's name.
    pub fn resettable(&self) -> BTreeSet<&str> {
        let declared = self.counters.keys().map(CounterName::as_str);
        let rounds = self.stages.iter().filter(|stage| stage.is_review());
        declared
            .chain(rounds.map(|stage| stage.name.as_str()))
            .collect()
    }
}
