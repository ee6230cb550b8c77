//! What a scripted model says: actors, each with its turns in order.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Request;

/// One part in the play: the conversation in which its marker stands, and what the model says in it.
///
/// A marker is looked for in the first message of the person (a subagent's prompt is one) and in the
/// system prompt (a subagent's file becomes one). The first actor of the script that fits plays.
pub struct Actor {
    pub(super) name: String,
    pub(super) part: Part,
    pub(super) turns: Vec<Turn>,
}

type Judge = Arc<dyn Fn(&Request) -> bool + Send + Sync>;

/// How an actor knows its conversation.
#[derive(Clone)]
pub(super) enum Part {
    Marked,
    Judged(Judge),
}

impl Actor {
    /// Plays where `marker` stands. The marker is its name, too.
    pub fn new(marker: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        Self {
            name: marker.to_owned(),
            part: Part::Marked,
            turns: turns.into_iter().collect(),
        }
    }

    /// Plays where this holds. For conversations that begin with another's first message, like a fork.
    pub fn when(
        name: &str,
        holds: impl Fn(&Request) -> bool + Send + Sync + 'static,
        turns: impl IntoIterator<Item = Turn>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            part: Part::Judged(Arc::new(holds)),
            turns: turns.into_iter().collect(),
        }
    }

    pub(super) fn plays(&self, request: &Request) -> bool {
        match &self.part {
            Part::Marked => request.opening().contains(&self.name),
            Part::Judged(holds) => holds(request),
        }
    }
}

/// What the model answers at one place of a conversation.
///
/// The place is the number of answers that the conversation already has, so a request that is
/// repeated gets the same turn again, and a resumed session goes on where it was.
#[derive(Clone)]
pub struct Turn(pub(super) Act);

type Maker = Arc<dyn Fn(&Request) -> Turn + Send + Sync>;

#[derive(Clone)]
pub(super) enum Act {
    Speak(Speech),
    Fail {
        status: u16,
    },
    FailFirst {
        status: u16,
        times: usize,
        then: Box<Turn>,
    },
    LimitFirst {
        seconds: u64,
        times: usize,
        then: Box<Turn>,
    },
    Hold {
        flag: String,
        then: Box<Turn>,
    },
    Make(Maker),
}

/// One message of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Speech {
    pub blocks: Vec<Block>,
    /// How many tokens it claims to have read. A large number makes the host compact.
    pub input_tokens: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Text(String),
    Call { tool: String, input: Value },
}

impl Turn {
    /// The same message with one more tool call: calls of one message run in parallel.
    ///
    /// # Panics
    /// Panics if this turn is not a message.
    pub fn and_call(self, tool: &str, input: Value) -> Self {
        self.and(Block::Call {
            tool: tool.to_owned(),
            input,
        })
    }

    /// The same message with the blocks of another one behind its own.
    ///
    /// # Panics
    /// Panics if one of the two is not a message.
    pub fn and_also(self, other: Self) -> Self {
        let Act::Speak(speech) = other.0 else {
            panic!("only a message can be part of a message");
        };
        speech.blocks.into_iter().fold(self, Self::and)
    }

    /// The same message, which claims to have read this many tokens.
    ///
    /// # Panics
    /// Panics if this turn is not a message.
    pub fn having_read(mut self, input_tokens: u64) -> Self {
        self.speech().input_tokens = input_tokens;
        self
    }

    fn and(mut self, block: Block) -> Self {
        self.speech().blocks.push(block);
        self
    }

    fn speech(&mut self) -> &mut Speech {
        match &mut self.0 {
            Act::Speak(speech) => speech,
            Act::Fail { .. }
            | Act::FailFirst { .. }
            | Act::LimitFirst { .. }
            | Act::Hold { .. }
            | Act::Make(_) => {
                panic!("only a message can have blocks and tokens")
            }
        }
    }
}

fn speak(block: Block) -> Turn {
    Turn(Act::Speak(Speech {
        blocks: vec![block],
        input_tokens: 10,
    }))
}

/// The model says this and calls no tool: its turn ends.
pub fn say(text: &str) -> Turn {
    speak(Block::Text(text.to_owned()))
}

/// The model calls one tool.
pub fn call(tool: &str, input: Value) -> Turn {
    speak(Block::Call {
        tool: tool.to_owned(),
        input,
    })
}

/// The model runs a line of shell.
pub fn bash(line: &str) -> Turn {
    call("Bash", json!({ "command": line, "description": "a line" }))
}

/// The model writes a new file. The host would require that it reads an existing one first.
pub fn write(path: impl AsRef<std::path::Path>, content: &str) -> Turn {
    let path = path.as_ref().to_string_lossy();
    call("Write", json!({ "file_path": path, "content": content }))
}

/// The model calls an agent as it would by default, which means in the background.
pub fn agent(subagent_type: &str, prompt: &str) -> Turn {
    call("Agent", agent_input(subagent_type, prompt))
}

/// The model calls an agent and waits for it. An interactive session does not offer this: there it
/// runs in the background all the same.
pub fn agent_in_foreground(subagent_type: &str, prompt: &str) -> Turn {
    let mut input = agent_input(subagent_type, prompt);
    input["run_in_background"] = json!(false);
    call("Agent", input)
}

fn agent_input(subagent_type: &str, prompt: &str) -> Value {
    json!({ "description": "a piece of work", "prompt": prompt, "subagent_type": subagent_type })
}

/// The model goes on with an agent that has ended, by its id.
pub fn send_message(agent_id: &str, message: &str) -> Turn {
    let input = json!({ "to": agent_id, "summary": "a message", "message": message });
    call("SendMessage", input)
}

/// The model's server answers with this status, however often it is asked. The host asks once more
/// for most, and several times for a 400, with one extension less each time.
pub fn fail(status: u16) -> Turn {
    Turn(Act::Fail { status })
}

/// The model's server answers so often with this status, and with `then` afterwards.
pub fn fail_first(status: u16, times: usize, then: Turn) -> Turn {
    Turn(Act::FailFirst {
        status,
        times,
        then: Box::new(then),
    })
}

/// The model's server says so often that a limit is reached, which ends in so many seconds, each in the words
/// of its vendor. It answers with `then` afterwards.
pub fn limit_first(seconds: u64, times: usize, then: Turn) -> Turn {
    Turn(Act::LimitFirst {
        seconds,
        times,
        then: Box::new(then),
    })
}

/// The model thinks until the test calls [`release`](super::Model::release) with this flag.
pub fn hold(flag: &str, then: Turn) -> Turn {
    Turn(Act::Hold {
        flag: flag.to_owned(),
        then: Box::new(then),
    })
}

/// The model decides when it is asked, for instance with the id of an agent that it was told.
pub fn make(turn: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> Turn {
    Turn(Act::Make(Arc::new(turn)))
}
