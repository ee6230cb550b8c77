//! A passage: a piece of work that ended well, a move from stage to stage, or both.

use engine::{AgentName, StageName, Time};

pub struct Passage {
    pub at: Time,
    pub by: By,
    pub outcome: String,
    pub from: StageName,
    /// Where it led; `None` when the run stayed.
    pub to: Option<StageName>,
}

/// Whose work or word it was.
pub enum By {
    Agent(AgentName),
    /// A check that our own side ran.
    Engine,
    /// A person, by name.
    Person(String),
    /// A person set the run back.
    Reset {
        reason: String,
    },
}
