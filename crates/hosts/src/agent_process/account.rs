//! What the output of one process has told so far, and how it said that it ended.

use engine::Usage;

use super::trouble::{self, Trouble};

/// A longer complaint is cut: it becomes a reason in one line.
const LONGEST_COMPLAINT: usize = 500;

/// What it does now is shown in one line of a screen.
const LONGEST_DEED: usize = 120;

/// A UUID has 36 characters; the runner's name is put before it.
const LONGEST_ID: usize = 48;

/// What the output of one process has told so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The id of its conversation.
    pub began: Option<String>,
    /// It has used a tool.
    pub worked: bool,
    /// The last tool that it called, with what, in one short line.
    pub doing: Option<String>,
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
    /// It failed, and may do so again.
    Failed(String),
    /// Its service says to wait: a rate, an overload, a limit of use. The worker did nothing wrong.
    Limited(String),
    /// Nobody has logged in, or the key is wrong. Only a person can mend that.
    NotLoggedIn(String),
}

impl End {
    /// Why it did not end well.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Done => None,
            Self::Failed(reason) | Self::Limited(reason) | Self::NotLoggedIn(reason) => {
                Some(reason)
            }
        }
    }
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

    /// It calls this tool with this, if that says anything.
    pub(crate) fn does(&mut self, tool: &str, with: Option<&str>) {
        let deed = match with {
            Some(with) => format!("{tool}: {with}"),
            None => tool.to_owned(),
        };
        self.doing = Some(cut(&deed, LONGEST_DEED));
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

    /// It failed, for a reason in words. They may be those of its service.
    pub(crate) fn fail(&mut self, reason: &str) {
        self.fail_by(trouble::in_words(reason), reason);
    }

    pub(crate) fn fail_by(&mut self, trouble: Option<Trouble>, reason: &str) {
        let reason = short(reason);
        self.end = Some(match trouble {
            Some(Trouble::Limit) => End::Limited(reason),
            Some(Trouble::Login) => End::NotLoggedIn(reason),
            None => End::Failed(reason),
        });
    }

    /// Its exit code or its last words tell more of a failure than its output did.
    pub(crate) fn fail_rather_by(&mut self, trouble: Trouble, last_words: &str) {
        match &self.end {
            Some(End::Failed(reason)) => self.fail_by(Some(trouble), &reason.clone()),
            None => self.fail_by(Some(trouble), last_words),
            Some(End::Done | End::Limited(_) | End::NotLoggedIn(_)) => {}
        }
    }

    /// A failure stays one, whatever is said after it.
    pub(crate) fn finish(&mut self) {
        self.end.get_or_insert(End::Done);
    }
}

/// An id goes into a command line later, where it must not be taken for an option.
fn is_usable(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id.len() <= LONGEST_ID
        && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn short(message: &str) -> String {
    cut(message, LONGEST_COMPLAINT)
}

/// The message in one line that is not too long.
fn cut(message: &str, longest: usize) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
