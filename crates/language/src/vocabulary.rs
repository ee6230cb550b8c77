//! Every key of the language, once: the reader knows unknown keys by these tables, and the JSON
//! Schema is made from them.

mod pipeline;
mod stages;
mod views;

pub(crate) use pipeline::*;
pub(crate) use stages::*;
pub(crate) use views::*;

/// What a value looks like. The reader gives it meaning; the schema describes it to editors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text,
    /// A text that is not empty.
    Filled,
    Name,
    /// A name that the definition itself declares.
    NameOf(Declared),
    Agent,
    /// An artifact's name, with a question mark if it is optional.
    Read,
    /// An agent's name, a glob over names, or a group.
    AgentPattern,
    StepId,
    /// A dotted field, as `status`.
    Field,
    /// A dotted field with its artifact in front.
    FieldOf,
    /// A file next to the definition or below it.
    Reference,
    Duration,
    /// A whole number.
    Whole,
    /// A whole number, or a parameter in braces.
    Amount,
    Bytes,
    Cost,
    Flag,
    /// A flag, or a parameter in braces.
    Choice,
    /// A text, a whole number or a flag, kept as text.
    Scalar,
    Target,
    Word(&'static [&'static str]),
    List(&'static Shape),
    /// A list with at least one member.
    FilledList(&'static Shape),
    Map {
        keys: &'static Shape,
        values: &'static Shape,
    },
    Table(&'static Table),
    Either(&'static [Shape]),
    /// One table of keys for each kind of stage.
    Stage,
    /// What a slash command does.
    Act,
    /// A file for the host.
    Given,
    /// A line of an ignore file.
    Ignored,
    /// A glob for files that tools leave behind.
    Litter,
    /// An inline JSON Schema.
    Schema,
}

/// In which table of the file a name is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Declared {
    Stage,
    Artifact,
    Counter,
    /// A counter, or a review stage, which counts its rounds.
    CounterOrStage,
    Param,
}

#[derive(Debug)]
pub(crate) struct Table {
    /// With its article, as messages name it.
    pub name: &'static str,
    pub parts: &'static [&'static [Key]],
    /// Sets of keys of which exactly one must be there, where there is a choice.
    pub choice: &'static [&'static [&'static str]],
}

impl Table {
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.keys().any(|key| key.name == name)
    }
}

#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub presence: Presence,
    pub shape: Shape,
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    /// Required, unless the definition extends another one, which may supply it.
    OwnOrExtended,
    Optional,
}

const fn required(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key {
        name,
        presence: Presence::Required,
        shape,
        about,
    }
}

const fn own_or_extended(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key {
        name,
        presence: Presence::OwnOrExtended,
        shape,
        about,
    }
}

const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key {
        name,
        presence: Presence::Optional,
        shape,
        about,
    }
}

/// A kind of stage, decided by one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Agent,
    Open,
    Check,
    Ask,
    Review,
    Steps,
    Route,
    End,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Agent,
        Self::Open,
        Self::Check,
        Self::Ask,
        Self::Review,
        Self::Steps,
        Self::Route,
        Self::End,
    ];

    /// The key that makes a stage one of this kind.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Open => "allow",
            Self::Check => "check",
            Self::Ask => "ask",
            Self::Review => "review",
            Self::Steps => "steps",
            Self::Route => "route",
            Self::End => "end",
        }
    }

    pub(crate) fn table(self) -> &'static Table {
        match self {
            Self::Agent => &AGENT_STAGE,
            Self::Open => &OPEN_STAGE,
            Self::Check => &CHECK_STAGE,
            Self::Ask => &ASK_STAGE,
            Self::Review => &REVIEW_STAGE,
            Self::Steps => &STEPS_STAGE,
            Self::Route => &ROUTE_STAGE,
            Self::End => &END_STAGE,
        }
    }
}

/// What slash commands can do.
pub(crate) const ACTS: &[&str] = &["start", "answer", "finish", "retry", "cancel", "reset"];
pub(crate) const BEGINS: &[&str] = &["command", "session"];
pub(crate) const MEANINGS: &[&str] = &["text", "path"];
pub(crate) const MODES: &[&str] = &["enforced", "advisory"];

pub(crate) const PLACES: &[&str] = &["tree", "branch"];

pub(crate) const DELIVERS: &[&str] = &["none", "branch", "pull-request"];
pub(crate) const FORMATS: &[&str] = &["bundle", "json", "text"];
pub(crate) const SOURCES: &[&str] = &["reply", "answers"];
pub(crate) const STOPS: &[&str] = &["free", "hold"];
pub(crate) const ENDS: &[&str] = &["completed", "failed", "cancelled"];
pub(crate) const REMOVED: &[&str] = &["render", "wait"];
pub(crate) const READERS: &[&str] = &["owner", "all"];
pub(crate) const CONVERSATIONS: &[&str] = &["fresh", "same"];
pub(crate) const WORDS_RULES: &[&str] = &["optional", "required"];
pub(crate) const HOMES: &[&str] = &["own", "private"];

const fn named(values: &'static Shape) -> Shape {
    Shape::Map {
        keys: &Shape::Name,
        values,
    }
}

const STAGE: Shape = Shape::NameOf(Declared::Stage);
const ARTIFACT_NAME: Shape = Shape::NameOf(Declared::Artifact);
const ARTIFACT_NAMES: Shape = Shape::List(&ARTIFACT_NAME);
const COUNTER_NAME: Shape = Shape::NameOf(Declared::Counter);
const AGENTS: Shape = Shape::List(&Shape::AgentPattern);
const TEXTS: Shape = Shape::List(&Shape::Filled);
const EDGES: Shape = Shape::Either(&[Shape::Target, Shape::Table(&EDGE)]);
const RETRIES: Shape = Shape::Either(&[Shape::Amount, Shape::Table(&RETRY)]);
