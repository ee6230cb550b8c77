//! What must be true after a step, and how it is written.

use std::fmt;

use engine::{
    AgentName, ArtifactName, CounterName, MemberState, Reply, Rule, SessionId, StageName, StepId,
};

use super::step::Subject;
use super::wording::quote;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    Stage(StageName),
    Status(&'static str),
    /// The run waits, and the reason contains this text.
    Waiting(String),
    Reply {
        reply: ReplyKind,
        rule: Option<Rule>,
        text: Option<String>,
    },
    Rule(Rule),
    /// Everything that may happen next, and nothing else.
    Next(Vec<String>),
    Counter(CounterName, u32),
    May {
        answer: May,
        subjects: Vec<Subject>,
    },
    Steps(Vec<(StepId, StepState)>),
    Round {
        stage: Option<StageName>,
        round: u32,
    },
    Retries(u32),
    Artifacts(Presence, Vec<ArtifactName>),
    Approved(Presence, Vec<ArtifactName>),
    Gates(Presence, Vec<StageName>),
    Overridden(Presence),
    Held(Option<SessionId>),
    AtWork(AtWork),
    Entries(Count),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    Allow,
    Refuse,
    Hold,
    Inject,
    Done,
}

impl ReplyKind {
    pub const ALL: [(&'static str, Self); 5] = [
        ("allow", Self::Allow),
        ("refuse", Self::Refuse),
        ("hold", Self::Hold),
        ("inject", Self::Inject),
        ("done", Self::Done),
    ];

    pub fn of(reply: &Reply) -> Self {
        match reply {
            Reply::Allow => Self::Allow,
            Reply::Refuse(_) => Self::Refuse,
            Reply::Hold(_) => Self::Hold,
            Reply::Inject(_) => Self::Inject,
            Reply::Done => Self::Done,
        }
    }

    fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("", |(word, _)| word)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    Allowed,
    Refused,
}

impl May {
    fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    There,
    Missing,
}

impl Presence {
    fn word<'a>(self, there: &'a str, missing: &'a str) -> &'a str {
        match self {
            Self::There => there,
            Self::Missing => missing,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    Pending,
    Working,
    Done,
    Failed,
}

impl StepState {
    pub const ALL: [(&'static str, Self); 4] = [
        ("pending", Self::Pending),
        ("working", Self::Working),
        ("done", Self::Done),
        ("failed", Self::Failed),
    ];

    pub fn of(state: &MemberState) -> Self {
        match state {
            MemberState::Pending => Self::Pending,
            MemberState::Working { .. } => Self::Working,
            MemberState::Done => Self::Done,
            MemberState::Failed { .. } => Self::Failed,
        }
    }

    pub fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, state)| *state == self)
            .map_or("", |(word, _)| word)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtWork {
    Nobody,
    /// These agents, each as often as it is at work.
    Agents(Vec<AgentName>),
    Number(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    All(usize),
    /// The entries that the step has added.
    Added(usize),
}

fn spaced<T: fmt::Display>(items: &[T]) -> String {
    items
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(stage) => write!(f, "stage {stage}"),
            Self::Status(word) => write!(f, "status {word}"),
            Self::Waiting(reason) if reason.is_empty() => f.write_str("waiting"),
            Self::Waiting(reason) => write!(f, "waiting {}", quote(reason)),
            Self::Reply { reply, rule, text } => {
                write!(f, "reply {}", reply.word())?;
                rule.iter()
                    .try_for_each(|rule| write!(f, " {}", rule.code()))?;
                text.iter()
                    .try_for_each(|text| write!(f, " {}", quote(text)))
            }
            Self::Rule(rule) => write!(f, "rule {}", rule.code()),
            Self::Next(things) => write!(f, "next {}", spaced(things)),
            Self::Counter(counter, value) => write!(f, "counter {counter} {value}"),
            Self::May { answer, subjects } => write!(f, "{} {}", answer.word(), spaced(subjects)),
            Self::Steps(states) => {
                f.write_str("steps")?;
                states
                    .iter()
                    .try_for_each(|(id, state)| write!(f, " {id}={}", state.word()))
            }
            Self::Round { stage: None, round } => write!(f, "round {round}"),
            Self::Round {
                stage: Some(stage),
                round,
            } => write!(f, "round {stage} {round}"),
            Self::Retries(retries) => write!(f, "retries {retries}"),
            Self::Artifacts(presence, names) => {
                write!(
                    f,
                    "{} {}",
                    presence.word("artifact", "no artifact"),
                    spaced(names)
                )
            }
            Self::Approved(presence, names) => {
                write!(
                    f,
                    "{} {}",
                    presence.word("approved", "not approved"),
                    spaced(names)
                )
            }
            Self::Gates(presence, stages) => {
                write!(f, "{} {}", presence.word("gate", "no gate"), spaced(stages))
            }
            Self::Overridden(presence) => {
                f.write_str(presence.word("overridden", "not overridden"))
            }
            Self::Held(Some(session)) => write!(f, "held by {session}"),
            Self::Held(None) => f.write_str("held by nobody"),
            Self::AtWork(AtWork::Nobody) => f.write_str("at work nobody"),
            Self::AtWork(AtWork::Agents(agents)) => write!(f, "at work {}", spaced(agents)),
            Self::AtWork(AtWork::Number(number)) => write!(f, "at work {number}"),
            Self::Entries(Count::All(number)) => write!(f, "entries {number}"),
            Self::Entries(Count::Added(number)) => write!(f, "entries +{number}"),
        }
    }
}
