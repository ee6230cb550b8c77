//! A worker that we start ourselves: what it is started with, and what its output has told.

use engine::{RunnerName, Usage};

use crate::{codex, gemini};

/// A longer complaint is cut: it becomes a reason in one line.
const LONGEST_COMPLAINT: usize = 500;

/// A UUID has 36 characters; the runner's name is put before it.
const LONGEST_ID: usize = 48;

/// A program that works on its own when it is given a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Codex,
    Gemini,
}

/// What a worker is started with. Its prompt comes on its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start<'a> {
    pub talk: Talk<'a>,
    pub model: Option<&'a str>,
    pub may: May,
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

impl Program {
    pub const ALL: [Self; 2] = [Self::Codex, Self::Gemini];

    pub fn of(runner: &RunnerName) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|program| program.word() == runner.as_str())
    }

    /// Its name as a runner and as a command.
    pub fn word(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    pub fn arguments(self, start: &Start<'_>) -> Vec<String> {
        match self {
            Self::Codex => codex::arguments(start),
            Self::Gemini => gemini::arguments(start),
        }
    }

    /// Variables that say where it finds its settings and its service.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Codex => &codex::SETTINGS,
            Self::Gemini => &gemini::SETTINGS,
        }
    }

    /// Variables with which it logs in.
    pub fn secrets(self) -> &'static [&'static str] {
        match self {
            Self::Codex => &codex::SECRETS,
            Self::Gemini => &gemini::SECRETS,
        }
    }

    /// May we choose the id of a new conversation?
    pub fn takes_an_id(self) -> bool {
        match self {
            Self::Codex => false,
            Self::Gemini => true,
        }
    }

    pub fn counting(self) -> Counting {
        match self {
            Self::Codex => Counting::Conversation,
            Self::Gemini => Counting::Process,
        }
    }

    /// Reads one line of its output. What is not understood tells nothing.
    pub fn read(self, line: &[u8], account: &mut Account) {
        match self {
            Self::Codex => codex::read(line, account),
            Self::Gemini => gemini::read(line, account),
        }
    }
}

/// What the output of one process has told so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The id of its conversation.
    pub began: Option<String>,
    /// It has used a tool.
    pub worked: bool,
    /// Its last message.
    pub reply: Option<String>,
    pub used: Usage,
    pub end: Option<End>,
    /// The last thing that it said went wrong.
    pub complaint: Option<String>,
    /// The message goes on with the next piece.
    pub(crate) speaking: bool,
}

/// What it said itself of its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Failed(String),
}

impl Account {
    pub(crate) fn begin(&mut self, id: &str) {
        match &self.began {
            _ if !is_usable(id) => self.fail("its conversation has no usable id"),
            Some(before) if before != id => {
                self.fail("it went over to another conversation");
            }
            Some(_) => {}
            None => self.began = Some(id.to_owned()),
        }
    }

    pub(crate) fn say(&mut self, message: &str) {
        self.speaking = false;
        self.reply = Some(message.to_owned());
    }

    /// A message that comes in pieces.
    pub(crate) fn say_on(&mut self, piece: &str) {
        match &mut self.reply {
            Some(reply) if self.speaking => reply.push_str(piece),
            reply => *reply = Some(piece.to_owned()),
        }
        self.speaking = true;
    }

    pub(crate) fn complain(&mut self, message: &str) {
        self.speaking = false;
        self.complaint = Some(short(message));
    }

    pub(crate) fn fail(&mut self, reason: &str) {
        self.end = Some(End::Failed(short(reason)));
    }

    /// A failure stays one, whatever is said after it.
    pub(crate) fn finish(&mut self) {
        if !matches!(self.end, Some(End::Failed(_))) {
            self.end = Some(End::Done);
        }
    }
}

/// An id goes into a command line later, where it must not be taken for an option.
fn is_usable(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id.len() <= LONGEST_ID
        && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn short(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_COMPLAINT) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
