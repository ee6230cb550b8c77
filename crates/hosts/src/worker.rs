//! A worker that we start ourselves: what it is started with, and what its output has told.

mod account;
mod guarding;
pub(crate) mod trouble;
mod version;

use engine::{HostName, RunnerName};

pub use account::{Account, End};
pub use guarding::{Ground, Guard, Guarding, Own, OwnPlace, Unguardable};
pub use version::{Familiarity, Version};

use crate::{Host, claude, codex, gemini};

/// A program that works on its own when it is given a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Claude,
    Codex,
    Gemini,
}

/// What a worker is started with. Its prompt comes on its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start<'a> {
    pub talk: Talk<'a>,
    pub model: Option<&'a str>,
    pub may: May,
    /// Tools that it may not use, by the names of [`Program::denies_tools`].
    pub denied: &'a [String],
}

/// Which conversation it is. Never «the last one»: that may be somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk<'a> {
    /// A new one, under this id where the program lets us choose.
    New(&'a str),
    /// The one of this id goes on.
    GoesOn(&'a str),
}

/// What a worker may do to files, as far as the program can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    Read,
    /// Change nothing but write what it leaves.
    Leave,
    Change,
}

/// How a program counts what it has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// From the beginning of the process.
    Process,
    /// From the beginning of the conversation, through all processes that went on with it.
    Conversation,
}

/// How a program counts the tokens, and how the cost. Where it tells none, the word means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub tokens: Counting,
    pub cost: Counting,
}

/// What a program can do when we start it. A pipeline that needs more is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an answer of its own, and all are looked at by name"
)]
pub struct Abilities {
    /// A tool call can be refused before it happens, by a hook for its process alone.
    pub blocks_tools: bool,
    /// A conversation goes on by its exact id, in another process.
    pub resumes_exactly: bool,
    /// It holds its last message to a schema by itself. None does: what they were seen to hand back
    /// was something else at times, with exit code 0. We check.
    pub enforces_schema: bool,
    /// It tells the tokens that it used.
    pub reports_usage: bool,
    /// It tells what that cost.
    pub reports_cost: bool,
}

impl Program {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Starts workers of which the definition says nothing; its sessions hold guarded runs.
    pub const DEFAULT: Self = Self::Claude;

    pub fn of(runner: &RunnerName) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|program| program.word() == runner.as_str())
    }

    /// Its name as a runner and as a command.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    pub fn host_name(self) -> HostName {
        HostName::listed(self.word())
    }

    /// The names of the tool with which its agents start others.
    pub fn agent_tools(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["Agent", "Task"],
            Self::Codex => &["spawn_agent"],
            Self::Gemini => &["invoke_agent"],
        }
    }

    pub fn arguments(self, start: &Start<'_>) -> Vec<String> {
        match self {
            Self::Claude => claude::worker::arguments(start),
            Self::Codex => codex::arguments(start),
            Self::Gemini => gemini::arguments(start),
        }
    }

    /// Variables that say where it finds its settings and its service.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &claude::worker::SETTINGS,
            Self::Codex => &codex::SETTINGS,
            Self::Gemini => &gemini::SETTINGS,
        }
    }

    /// Variables with which it logs in.
    pub fn secrets(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &claude::worker::SECRETS,
            Self::Codex => &codex::SECRETS,
            Self::Gemini => &gemini::SECRETS,
        }
    }

    /// May we choose the id of a new conversation?
    pub fn takes_an_id(self) -> bool {
        match self {
            Self::Codex => false,
            Self::Claude | Self::Gemini => true,
        }
    }

    /// How it counts tokens.
    pub fn counting(self) -> Counting {
        self.counts().tokens
    }

    pub fn counts(self) -> Counts {
        let all = |counting| Counts {
            tokens: counting,
            cost: counting,
        };
        match self {
            Self::Claude | Self::Codex => all(Counting::Conversation),
            Self::Gemini => all(Counting::Process),
        }
    }

    pub fn abilities(self) -> Abilities {
        Abilities {
            blocks_tools: true,
            resumes_exactly: true,
            enforces_schema: false,
            reports_usage: true,
            reports_cost: match self {
                Self::Claude => true,
                Self::Codex | Self::Gemini => false,
            },
        }
    }

    /// Does its command line forbid tools, by the names that `tools.deny` has? The hooks of all can.
    pub fn denies_tools(self) -> bool {
        match self {
            Self::Claude => true,
            Self::Codex | Self::Gemini => false,
        }
    }

    /// The host whose hooks it calls.
    pub fn host(self) -> Host {
        match self {
            Self::Claude => Host::Claude,
            Self::Codex => Host::Codex,
            Self::Gemini => Host::Gemini,
        }
    }

    /// Settings of the person that guarding must know: it does not find them any more, or would
    /// write to them.
    pub fn own(self) -> Option<OwnPlace> {
        match self {
            Self::Claude => None,
            Self::Codex => Some(codex::guarding::OWN),
            Self::Gemini => Some(gemini::guarding::OWN),
        }
    }

    /// What makes its hooks call us, in its process alone.
    pub fn guarding(self, guard: &Guard<'_>) -> Result<Guarding, Unguardable> {
        match self {
            Self::Claude => Ok(claude::worker::guarding(guard)),
            Self::Codex => Ok(codex::guarding::guarding(guard)),
            Self::Gemini => gemini::guarding::guarding(guard),
        }
    }

    /// Reads one line of its output. What is not understood tells nothing.
    pub fn read(self, line: &[u8], account: &mut Account) {
        match self {
            Self::Claude => claude::worker::read(line, account),
            Self::Codex => codex::read(line, account),
            Self::Gemini => gemini::read(line, account),
        }
    }

    /// It has exited with this code, and this was the last that it said on its standard error output.
    /// Some troubles are told by these alone.
    pub fn exited(self, code: i32, last_words: &str, account: &mut Account) {
        let by_code = match self {
            Self::Claude | Self::Codex => None,
            Self::Gemini => gemini::trouble(code),
        };
        let trouble = by_code.or_else(|| trouble::in_words(last_words));
        if let Some(trouble) = trouble.filter(|_| code != 0) {
            account.fail_rather_by(trouble, last_words);
        }
    }
}
