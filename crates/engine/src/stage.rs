//! A stage: a named place in a pipeline, of one of eight kinds.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::amount::Amount;
use crate::names::{
    AgentName, ArtifactName, CounterName, ParamName, RunnerName, Seconds, StageName, StepId,
};
use crate::outcome::{Fault, Outcome};
use crate::pattern::{AgentPattern, PathGlob};
use crate::route::RouteWork;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub name: StageName,
    pub about: Option<String>,
    /// Its name in views that know only the seed's phases.
    pub shown: Option<String>,
    pub work: Work,
    /// Where each outcome leads.
    pub on: BTreeMap<Outcome, Edge>,
    /// Text given with a person's prompt, or at session start, while the run is here.
    pub inject: Option<String>,
    pub stop: StopRule,
    pub writes: Writes,
    /// Tool names or globs that the session or the worker may not use here.
    pub tools_deny: Vec<AgentPattern>,
    /// `None`: two retries for faults that `on` does not handle, none for those it does.
    pub retry: Option<Retry>,
    pub timeout: Option<Seconds>,
    pub heartbeat: Option<Seconds>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    Agent(AgentWork),
    Open(OpenWork),
    Check(CheckWork),
    Ask(AskWork),
    Review(ReviewWork),
    Steps(StepsWork),
    Route(RouteWork),
    End(EndWork),
}

impl Work {
    pub fn as_open(&self) -> Option<&OpenWork> {
        if let Self::Open(open) = self {
            Some(open)
        } else {
            None
        }
    }

    pub fn as_check(&self) -> Option<&CheckWork> {
        if let Self::Check(check) = self {
            Some(check)
        } else {
            None
        }
    }

    pub fn as_ask(&self) -> Option<&AskWork> {
        if let Self::Ask(ask) = self {
            Some(ask)
        } else {
            None
        }
    }

    pub fn as_review(&self) -> Option<&ReviewWork> {
        if let Self::Review(review) = self {
            Some(review)
        } else {
            None
        }
    }

    pub fn as_steps(&self) -> Option<&StepsWork> {
        if let Self::Steps(steps) = self {
            Some(steps)
        } else {
            None
        }
    }

    pub fn as_route(&self) -> Option<&RouteWork> {
        if let Self::Route(route) = self {
            Some(route)
        } else {
            None
        }
    }

    pub fn as_end(&self) -> Option<&EndWork> {
        if let Self::End(end) = self {
            Some(end)
        } else {
            None
        }
    }
}

/// Work by one named agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentWork {
    pub worker: Worker,
    pub settings: WorkerSettings,
    pub reads: Reads,
    pub leaves: Leaves,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worker {
    /// The main session itself.
    Session,
    Agent(AgentName),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerSettings {
    pub runner: Option<RunnerName>,
    pub model: Option<String>,
    /// A file with the prompt, relative to the definition.
    pub prompt: Option<String>,
    pub conversation: Conversation,
    /// Who works while the first is limited or down, in this order.
    pub fallbacks: Vec<Fallback>,
}

/// Another program or model for the same work. What it does not name is as in the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fallback {
    pub runner: Option<RunnerName>,
    pub model: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Conversation {
    #[default]
    Fresh,
    /// The agent's earlier conversation continues.
    Same,
}

/// What a worker gets to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Every path to this stage must have written these.
    pub needed: Vec<ArtifactName>,
    /// Read if they exist; written with a question mark, such as `"fixed?"`.
    pub if_there: Vec<ArtifactName>,
}

impl Reads {
    pub fn all(&self) -> impl Iterator<Item = &ArtifactName> {
        self.needed.iter().chain(&self.if_there)
    }
}

/// What an agent must leave behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    pub always: Vec<ArtifactName>,
    /// Further ones that only this outcome needs.
    pub by_outcome: BTreeMap<Outcome, Vec<ArtifactName>>,
}

/// An open stage: the session may call any of these agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWork {
    pub allow: Vec<AgentPattern>,
    pub after: Vec<After>,
    /// What each agent (name, glob or group) must leave behind.
    pub leaves: Vec<(AgentPattern, Vec<ArtifactName>)>,
}

/// Where the run goes when this agent has ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    pub agent: AgentPattern,
    pub edge: Edge,
}

/// Commands that Gatewright runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckWork {
    pub commands: Commands,
    /// Text in the output that fails a command whose exit code was 0. Text never passes one.
    pub fails_on: Option<CheckText>,
    /// Text that the output of at least one command must have. Its absence fails the check, and its
    /// presence passes none.
    pub expects: Option<CheckText>,
    pub home: HomeFolder,
}

impl CheckWork {
    /// The texts that can fail it.
    pub fn texts(&self) -> impl Iterator<Item = &CheckText> {
        self.fails_on.iter().chain(&self.expects)
    }
}

/// The home folder that the commands of a check see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HomeFolder {
    /// The one of the run's environment.
    #[default]
    Own,
    /// An empty one, which goes when they have ended.
    Private,
}

/// A text in the output of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckText {
    Text(String),
    /// The texts in these fields, as far as they exist.
    From(Vec<FieldOf>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commands {
    /// Command lines of the definition, as words; parameters are filled in after the split.
    Fixed(Vec<Vec<String>>),
    /// The lists in these fields, one after another, as far as a person has approved them.
    Approved(Vec<FieldOf>),
}

/// A dotted field of an artifact, as `story.test_criteria.commands`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldOf {
    pub artifact: ArtifactName,
    pub field: String,
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskWork {
    pub question: String,
    pub questions: Questions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Questions {
    /// One question; the choices are the outcomes of `on`. What a person says with a choice becomes the
    /// artifact `leaves`, if it names one.
    Choice { leaves: Option<ArtifactName> },
    /// A worker's own questions; the answers become the artifact `leaves`.
    From {
        field: FieldOf,
        leaves: ArtifactName,
    },
}

/// A panel over one owner's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewWork {
    /// The agent that fixes what reviewers find, in its own conversation.
    pub owner: AgentName,
    pub owner_settings: WorkerSettings,
    pub panel: Vec<Reviewer>,
    pub rounds: Amount,
    /// The artifact that the panel judges (`of = "plan"`); the tree when absent.
    pub of: Option<ArtifactName>,
    pub reads: Reads,
    /// What the owner leaves when it has fixed.
    pub fixes: Vec<ArtifactName>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewer {
    pub agent: AgentName,
    pub settings: WorkerSettings,
    /// The artifact with its verdict.
    pub leaves: ArtifactName,
    /// Its findings restart the round.
    pub last_word: bool,
}

/// A task graph, run in waves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepsWork {
    pub source: StepsSource,
    /// How many may work at once; unlimited when absent.
    pub max_parallel: Option<Amount>,
    /// Agents that a step may name; any when empty.
    pub agents: Vec<AgentPattern>,
    pub settings: WorkerSettings,
    pub reads: Reads,
    /// What each step must leave behind; paths hold `{step}`.
    pub leaves: Vec<ArtifactName>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepsSource {
    Fixed(Vec<Step>),
    /// Given with `start --steps FILE`.
    Start,
    Artifact(FieldOf),
    /// Planned by an agent, or given with `start --steps FILE`: then the run starts at this stage.
    ArtifactOrStart(FieldOf),
}

impl StepsSource {
    /// The field of an artifact that holds the steps, where an agent may plan them.
    pub fn field(&self) -> Option<&FieldOf> {
        match self {
            Self::Artifact(field) | Self::ArtifactOrStart(field) => Some(field),
            Self::Fixed(_) | Self::Start => None,
        }
    }

    /// May the steps be given when a run starts?
    pub fn takes_given(&self) -> bool {
        match self {
            Self::Start | Self::ArtifactOrStart(_) => true,
            Self::Fixed(_) | Self::Artifact(_) => false,
        }
    }
}

/// One node of a task graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub id: StepId,
    pub title: String,
    pub agent: AgentName,
    pub needs: Vec<StepId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndWork {
    pub end: End,
    /// A finished run may start again, as seed 002 does from COMPLETE.
    pub after: Vec<After>,
    /// What such an agent must leave behind.
    pub leaves: Vec<(AgentPattern, Vec<ArtifactName>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Completed,
    Failed,
    Cancelled,
}

/// An edge out of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub to: Target,
    pub count: Option<CounterName>,
    /// Counters to reset: declared ones, or a review stage's name for its rounds.
    pub reset: Vec<CounterName>,
    /// Artifacts whose current content a person approves with this answer.
    pub approves: Vec<ArtifactName>,
    /// Must the person who takes it say something?
    pub words: WordsRule,
}

/// Must a person say something with a choice?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordsRule {
    #[default]
    Optional,
    Required,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Stage(StageName),
    /// Where the step that was interrupted was going.
    Interrupted,
    /// The stage that a parameter with choices names.
    Param(ParamName),
}

/// May the session stop while the run is here?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopRule {
    #[default]
    Free,
    Hold,
}

/// What the tree may differ in after a worker of this stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    #[default]
    Anything,
    Only(Vec<PathGlob>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    pub max: Amount,
    pub backoff: Option<Seconds>,
}

impl AskWork {
    /// Does it ask one question with choices?
    pub fn is_choice(&self) -> bool {
        match self.questions {
            Questions::Choice { .. } => true,
            Questions::From { .. } => false,
        }
    }

    /// The artifact that the person's answer becomes.
    pub fn leaves(&self) -> Option<&ArtifactName> {
        match &self.questions {
            Questions::Choice { leaves } => leaves.as_ref(),
            Questions::From { leaves, .. } => Some(leaves),
        }
    }
}

impl Stage {
    pub fn is_review(&self) -> bool {
        matches!(self.work, Work::Review(_))
    }

    /// Does a panel judge the tree here, and not an artifact?
    pub(crate) fn reviews_tree(&self) -> bool {
        let review = self.work.as_review();
        review.is_some_and(|review| review.of.is_none())
    }

    /// The choices of a question: what `on` handles, except the time limit, which nobody chooses.
    pub(crate) fn choices(&self) -> Vec<&Outcome> {
        self.on
            .keys()
            .filter(|outcome| **outcome != Outcome::Fault(Fault::Timeout))
            .collect()
    }

    /// The one choice that needs a person's words: who answers in words of their own means it.
    pub fn choice_in_words(&self) -> Option<&Outcome> {
        let mut needing = self
            .on
            .iter()
            .filter(|(_, edge)| edge.words == WordsRule::Required);
        match (needing.next(), needing.next()) {
            (Some((only, _)), None) => Some(only),
            (Some(_), Some(_)) | (None, _) => None,
        }
    }

    /// The outcomes with which a person may end the stage; faults are not among them.
    pub(crate) fn own_outcomes(&self) -> Vec<&Outcome> {
        self.on
            .keys()
            .filter(|outcome| !outcome.is_fault())
            .collect()
    }

    /// The fields from which a check takes its commands.
    pub fn command_fields(&self) -> &[FieldOf] {
        match self.work.as_check().map(|check| &check.commands) {
            Some(Commands::Approved(fields)) => fields,
            Some(Commands::Fixed(_)) | None => &[],
        }
    }

    /// Every field that a check reads.
    pub fn check_fields(&self) -> impl Iterator<Item = &FieldOf> {
        let check = self.work.as_check();
        let check = check.filter(|check| check.home == HomeFolder::Own);
        let texts = check.into_iter().flat_map(CheckWork::texts);
        let fields = texts.flat_map(|text| match text {
            CheckText::From(fields) => fields.as_slice(),
            CheckText::Text(_) => &[],
        });
        self.command_fields().iter().chain(fields)
    }

    /// The limit of rounds or workers, which is at least one.
    pub fn least_one(&self) -> Option<&Amount> {
        match &self.work {
            Work::Review(review) => Some(&review.rounds),
            Work::Steps(steps) => steps.max_parallel.as_ref(),
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Route(_)
            | Work::End(_) => None,
        }
    }

    /// Every limit that the stage sets.
    pub fn amounts(&self) -> Vec<&Amount> {
        self.least_one()
            .into_iter()
            .chain(self.retry.as_ref().map(|retry| &retry.max))
            .collect()
    }

    /// Every edge out of this stage with the word that takes it.
    pub fn edges(&self) -> Vec<(Way<'_>, &Edge)> {
        let on = self
            .on
            .iter()
            .map(|(outcome, edge)| (Way::Outcome(outcome), edge));
        let after = self
            .after()
            .iter()
            .map(|after| (Way::After(&after.agent), &after.edge));
        on.chain(after).collect()
    }

    /// The `after` edges of an open or end stage.
    pub fn after(&self) -> &[After] {
        match &self.work {
            Work::Open(open) => &open.after,
            Work::End(end) => &end.after,
            Work::Agent(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Review(_)
            | Work::Steps(_)
            | Work::Route(_) => &[],
        }
    }

    /// Does leaving the stage in this way count as having passed it? A failed check, a rejected work
    /// and an exceeded review were visited, and passed nothing.
    pub fn passes(&self, way: &Way<'_>) -> bool {
        let Way::Outcome(outcome) = way else {
            return true;
        };
        let is_good = |outcome: &Outcome| {
            matches!(outcome, Outcome::Done | Outcome::Passed | Outcome::Approved)
        };
        match &self.work {
            Work::Check(_) => **outcome == Outcome::Passed,
            Work::Review(_) => **outcome == Outcome::Approved,
            Work::Steps(_) => **outcome == Outcome::Done,
            Work::Agent(_) if self.on.keys().any(is_good) => is_good(outcome),
            Work::Agent(_) | Work::Open(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => {
                !outcome.is_fault()
            }
        }
    }

    /// Where a route leads if none of its rules holds.
    pub fn longer_way(&self) -> Option<&StageName> {
        self.work.as_route()?;
        match &self.on.get(&Outcome::Otherwise)?.to {
            Target::Stage(stage) => Some(stage),
            Target::Interrupted | Target::Param(_) => None,
        }
    }

    /// Does the run prove something here: a check, a review, or the verdict of a worker that may
    /// change nothing?
    pub fn is_gate(&self) -> bool {
        match &self.work {
            Work::Check(_) | Work::Review(_) => true,
            Work::Agent(_) => matches!(&self.writes, Writes::Only(globs) if globs.is_empty()),
            Work::Open(_) | Work::Ask(_) | Work::Steps(_) | Work::Route(_) | Work::End(_) => false,
        }
    }

    /// Can this stage send a run back to where it was interrupted?
    pub fn resumes(&self) -> bool {
        self.edges()
            .iter()
            .any(|(_, edge)| edge.to == Target::Interrupted)
    }
}

/// The word that takes an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way<'a> {
    Outcome(&'a Outcome),
    After(&'a AgentPattern),
}

impl<'a> Way<'a> {
    /// The outcome, where the edge is taken with one.
    pub fn outcome(&self) -> Option<&'a Outcome> {
        match self {
            Self::Outcome(outcome) => Some(outcome),
            Self::After(_) => None,
        }
    }
}

impl core::fmt::Display for Way<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Outcome(outcome) => write!(f, "{outcome}"),
            Self::After(agent) => write!(f, "after {agent}"),
        }
    }
}
