//! What an agent process has printed so far, and how it says that it ended.

use std::collections::{BTreeMap, BTreeSet};

use engine::Usage;

use super::reset_time::{self, ResetTime};
use super::service_failure::{self, ServiceFailure};
use super::token_counts::TokenCounts;

/// A longer error message is cut: it becomes a reason in one line.
const LONGEST_ERROR: usize = 500;

/// A screen shows the activity in one line.
const LONGEST_ACTIVITY: usize = 120;

/// A UUID has 36 characters, and the runner's name goes before it.
const LONGEST_ID: usize = 48;

/// What we know from the output of one agent process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOutput {
    pub conversation_id: Option<String>,
    pub used_a_tool: bool,
    /// The last tool call with its main argument, in one short line.
    pub activity: Option<String>,
    /// The last message of the agent.
    pub reply: Option<String>,
    /// So far, with what the program has told of the turn that is under way.
    pub usage: Usage,
    pub end: Option<ReportedEnd>,
    pub last_error: Option<String>,
    /// Calls that the program itself refused to its agent, with their tools. Nobody was there to allow them.
    pub(crate) refused_calls: BTreeMap<String, String>,
    /// Calls that our own hooks refused.
    pub(crate) refused_by_us: BTreeSet<String>,
    /// The turns that have ended.
    pub(crate) ended: EndedTurns,
    /// The tokens of each message since then, and their weight. The same message may come in several lines.
    pub(crate) messages: BTreeMap<String, (u64, u64)>,
    /// When the service works again, as it was told beside the messages.
    pub(crate) resets: Option<ResetTime>,
    /// The next piece of text belongs to the same message.
    pub(crate) reply_is_partial: bool,
    /// The turn that is under way has used a tool or said something, of which its program tells no tokens yet.
    has_answered: bool,
    /// The turn that ended last used no tokens: if its service refused it, nobody answered its prompt.
    is_unanswered: bool,
}

impl AgentOutput {
    /// How many tool calls were refused so far, by the program or by our hooks. Not every program shows them.
    pub fn refusals(&self) -> usize {
        self.refused_calls.len() + self.refused_by_us.len()
    }

    /// The tools that the program itself refused to its agent, as `Write (3 times), Bash`.
    pub fn refused_tools(&self) -> Option<String> {
        let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in self.refused_calls.values() {
            *tools.entry(tool).or_default() += 1;
        }
        let named = tools.into_iter().map(|(tool, times)| match times {
            1 => tool.to_owned(),
            times => format!("{tool} ({times} times)"),
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| named.join(", "))
    }
}

/// What the turns of a process used that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedTurns {
    pub tokens: u64,
    /// The tokens, each with the price of its kind.
    pub weight: u64,
    /// What they cost, in millionths.
    pub cost_micros: u64,
}

/// How the agent says that it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedEnd {
    Done,
    /// A retry may fail again.
    Failed(String),
    /// The service asks to wait, or is down: a rate limit, an overload, a usage limit. The worker did
    /// nothing wrong.
    Limited(ReportedLimit),
    /// Nobody has logged in, or the key is wrong. Only a person can fix that.
    NotLoggedIn(String),
    /// The program ended its turn, because it has cost what we allowed. The worker did nothing wrong.
    OverBudget(String),
    /// The message that cost what we allowed was its last one: it was done.
    DoneOverBudget,
}

/// What a service said when it asked to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedLimit {
    pub reason: String,
    /// When it works again, if it said that in a form that we know.
    pub resets: Option<ResetTime>,
}

impl ReportedEnd {
    /// Has the service answered to the end?
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done | Self::DoneOverBudget)
    }

    /// Why the agent failed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Done | Self::DoneOverBudget => None,
            Self::Failed(reason) | Self::NotLoggedIn(reason) | Self::OverBudget(reason) => {
                Some(reason)
            }
            Self::Limited(limit) => Some(&limit.reason),
        }
    }
}

impl AgentOutput {
    pub(crate) fn set_conversation(&mut self, id: &str) {
        match &self.conversation_id {
            _ if !is_usable(id) => self.fail("its conversation has no usable id"),
            Some(before) if before != id => {
                self.fail("it went over to another conversation");
            }
            Some(_) => {}
            None => self.conversation_id = Some(id.to_owned()),
        }
    }

    pub(crate) fn set_activity(&mut self, tool: &str, argument: Option<&str>) {
        let activity = match argument {
            Some(argument) => format!("{tool}: {argument}"),
            None => tool.to_owned(),
        };
        self.activity = Some(cut(&activity, LONGEST_ACTIVITY));
    }

    pub(crate) fn set_reply(&mut self, message: &str) {
        self.reply_is_partial = false;
        self.reply = Some(message.to_owned());
    }

    /// Adds a piece of a message that comes in several.
    pub(crate) fn append_to_reply(&mut self, piece: &str) {
        match &mut self.reply {
            Some(reply) if self.reply_is_partial => reply.push_str(piece),
            reply => *reply = Some(piece.to_owned()),
        }
        self.reply_is_partial = true;
    }

    /// Counts a message of the turn that is under way. Each line of a message repeats what the message had
    /// used so far.
    pub(crate) fn count_message(&mut self, id: &str, used: TokenCounts) {
        let (tokens, weight) = self.messages.entry(id.to_owned()).or_default();
        *tokens = used.total().max(*tokens);
        *weight = used.weight().max(*weight);
        self.usage.tokens = self.so_far();
    }

    /// The service has answered the prompt of the turn that is under way.
    pub(crate) fn note_answer(&mut self) {
        self.has_answered = true;
    }

    /// Has the service begun to answer a prompt whose turn has not ended?
    pub fn is_turn_open(&self) -> bool {
        self.has_answered || self.open_tokens() > 0
    }

    /// A turn has ended, and the program says what it used and cost.
    pub(crate) fn count_turn(&mut self, turn: EndedTurns) {
        self.is_unanswered = turn.tokens == 0 && !self.is_turn_open();
        self.has_answered = false;
        self.messages.clear();
        let ended = &mut self.ended;
        ended.tokens = ended.tokens.saturating_add(turn.tokens);
        ended.weight = ended.weight.saturating_add(turn.weight);
        ended.cost_micros = ended.cost_micros.saturating_add(turn.cost_micros);
        // Rounds up once, over all turns.
        self.usage.cost_cents = ended.cost_micros.div_ceil(10_000);
        self.usage.turns += 1;
        self.usage.tokens = self.so_far();
    }

    /// The turns that have ended.
    pub fn ended_turns(&self) -> EndedTurns {
        self.ended
    }

    /// The tokens of the turn that is under way, of which the program has not told the cost.
    pub fn open_tokens(&self) -> u64 {
        let open = self.messages.values().map(|(tokens, _)| *tokens);
        open.fold(0, u64::saturating_add)
    }

    /// The same, each token with the price of its kind.
    pub fn open_weight(&self) -> u64 {
        let open = self.messages.values().map(|(_, weight)| *weight);
        open.fold(0, u64::saturating_add)
    }

    /// The turn that is under way. Its cost is not known.
    pub fn open_turn(&self) -> EndedTurns {
        EndedTurns {
            tokens: self.open_tokens(),
            weight: self.open_weight(),
            cost_micros: 0,
        }
    }

    fn so_far(&self) -> u64 {
        self.ended.tokens.saturating_add(self.open_tokens())
    }

    pub(crate) fn note_error(&mut self, message: &str) {
        self.reply_is_partial = false;
        self.last_error = Some(short(message));
    }

    /// Records a failure. The reason may be the text of a service, which tells the kind of failure.
    pub(crate) fn fail(&mut self, reason: &str) {
        self.fail_with(service_failure::of_message(reason), reason);
    }

    pub(crate) fn fail_with(&mut self, failure: Option<ServiceFailure>, reason: &str) {
        let named = reset_time::of_message(reason);
        let reason = short(reason);
        self.end = Some(match failure {
            Some(ServiceFailure::Limited | ServiceFailure::Down) => {
                self.forget_unanswered_turn();
                let resets = self.resets.clone().or(named);
                ReportedEnd::Limited(ReportedLimit { reason, resets })
            }
            Some(ServiceFailure::NotLoggedIn) => ReportedEnd::NotLoggedIn(reason),
            None => ReportedEnd::Failed(reason),
        });
    }

    /// A prompt that the service refused does not count as a turn.
    fn forget_unanswered_turn(&mut self) {
        let unanswered = u64::from(std::mem::take(&mut self.is_unanswered));
        self.usage.turns = self.usage.turns.saturating_sub(unanswered);
    }

    /// The exit code or the last line of stderr says more about a failure than the output did.
    pub(crate) fn refine_failure(&mut self, failure: ServiceFailure, last_words: &str) {
        match &self.end {
            Some(ReportedEnd::Failed(reason)) => self.fail_with(Some(failure), &reason.clone()),
            None => self.fail_with(Some(failure), last_words),
            Some(
                ReportedEnd::Done
                | ReportedEnd::Limited(_)
                | ReportedEnd::NotLoggedIn(_)
                | ReportedEnd::OverBudget(_)
                | ReportedEnd::DoneOverBudget,
            ) => {}
        }
    }

    /// Records success. An earlier failure stays.
    pub(crate) fn finish(&mut self) {
        self.end.get_or_insert(ReportedEnd::Done);
    }
}

/// The id becomes a command-line argument later, and must not look like an option.
fn is_usable(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id.len() <= LONGEST_ID
        && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn short(message: &str) -> String {
    cut(message, LONGEST_ERROR)
}

/// The message on one line of limited length.
fn cut(message: &str, longest: usize) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
