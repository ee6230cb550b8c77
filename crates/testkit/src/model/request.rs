//! What the host sent to the model: one request, and what stands in it.

use serde_json::Value;

use super::protocol::Protocol;

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The next message of a conversation.
    Conversation,
    /// A summary of the conversation, to go on with in its place.
    Compaction,
    /// A small question of the host's own, with no tools: a title, a suggestion.
    Aside,
    /// The number of tokens.
    Count,
    /// Anything except a message.
    Other,
}

/// One request of the host.
#[derive(Clone, Debug)]
pub struct Request {
    pub kind: Kind,
    /// The actor that answers; none when the script has nobody for it.
    pub actor: Option<String>,
    /// `POST /v1/messages`, without the query.
    pub line: String,
    /// The host's session, of a subagent the parent's.
    pub session: Option<String>,
    /// As the Messages API has it, whichever the program speaks.
    pub body: Value,
    pub(super) protocol: Protocol,
}

/// What a tool gave back to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub tool_use_id: String,
    pub text: String,
    pub is_error: bool,
}

/// How a summary of ours says whose it is and how far it had come: the marker, then this, then a number.
pub(super) const TURNS_TAKEN: &str = " turns taken: ";

/// How the host asks for a summary.
const ASKS_FOR_A_SUMMARY: [&str; 2] = [
    "create a detailed summary of the conversation",
    "create a detailed summary of the RECENT portion",
];

/// The host writes this text for the model when it got no answer. It does not count as a turn.
const SYNTHETIC: [&str; 1] = ["No response requested."];

impl Request {
    pub(super) fn new(line: String, session: Option<String>, body: Value) -> Self {
        let protocol = Protocol::of(&line);
        let mut request = Self {
            kind: Kind::Other,
            actor: None,
            line,
            session,
            body: protocol.translated(body),
            protocol,
        };
        request.kind = request.judge();
        request
    }

    fn judge(&self) -> Kind {
        let line = self.line.as_str();
        let is_message = line == "POST /v1/messages" || self.protocol != Protocol::Messages;
        match line {
            "POST /v1/messages/count_tokens" => Kind::Count,
            _ if line.ends_with(":countTokens") => Kind::Count,
            _ if !is_message => Kind::Other,
            _ if self.asks_for_a_summary() => Kind::Compaction,
            _ if self.tools().is_empty() => Kind::Aside,
            _ => Kind::Conversation,
        }
    }

    fn asks_for_a_summary(&self) -> bool {
        let last = self
            .messages()
            .iter()
            .rfind(|message| is_from(message, "user"));
        let last = last.map(text_of).unwrap_or_default();
        ASKS_FOR_A_SUMMARY.iter().any(|words| last.contains(words))
    }

    /// Every message of the conversation so far, as the API has it.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The names of the tools that the model was offered.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect()
    }

    /// The system prompt. A subagent's file is in it.
    pub fn system(&self) -> String {
        text_of_content(&self.body["system"])
    }

    /// The first message of the person: the prompt, or after a compaction the summary.
    pub fn first_message(&self) -> String {
        let mut messages = self.messages().iter();
        let first = messages.find(|message| is_from(message, "user"));
        first.map(text_of).unwrap_or_default()
    }

    /// Where a marker is looked for.
    pub(super) fn opening(&self) -> String {
        self.first_message() + "\n" + &self.system()
    }

    /// All that came since the model last spoke: prompts, results of tools, reminders, context.
    pub fn news(&self) -> String {
        let messages = self.messages();
        let spoken = messages
            .iter()
            .rposition(|message| is_from(message, "assistant"));
        let news = &messages[spoken.map_or(0, |at| at + 1)..];
        news.iter().map(text_of).collect::<Vec<_>>().join("\n")
    }

    /// Every result of a tool in the conversation, in order.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let blocks = self
            .messages()
            .iter()
            .filter_map(|message| message["content"].as_array());
        let results = blocks
            .flatten()
            .filter(|block| block["type"] == "tool_result");
        results
            .map(|block| ToolResult {
                tool_use_id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
                text: text_of_content(&block["content"]),
                is_error: block["is_error"] == true,
            })
            .collect()
    }

    /// The ids of the agents that the results of tools have named, in order.
    pub fn agent_ids(&self) -> Vec<String> {
        let results = self.tool_results().into_iter();
        results
            .filter_map(|result| word_after(&result.text, "agentId: "))
            .collect()
    }

    /// The id of the agent that was named last.
    ///
    /// # Panics
    /// When none was.
    pub fn agent_id(&self) -> String {
        let mut ids = self.agent_ids();
        ids.pop().expect("a result of a tool names an agent")
    }

    /// How many turns the model has taken, with those that a summary has swallowed.
    pub fn turns_taken(&self, actor: &str) -> usize {
        let own = self
            .messages()
            .iter()
            .filter(|message| is_from(message, "assistant"));
        let own = own.filter(|message| !SYNTHETIC.contains(&text_of(message).trim()));
        let mark = format!("{actor}{TURNS_TAKEN}");
        let before = word_after(&self.first_message(), &mark);
        let before = before.and_then(|number| number.parse().ok()).unwrap_or(0);
        before + own.count()
    }
}

fn is_from(message: &Value, role: &str) -> bool {
    message["role"] == role
}

fn text_of(message: &Value) -> String {
    text_of_content(&message["content"])
}

/// The text of a content, which is a text or a list of blocks. A tool's result has a content of its own.
fn text_of_content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => text_of_content(&block["content"]),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// The letters and digits that follow these words where they first stand.
fn word_after(text: &str, words: &str) -> Option<String> {
    let (_, after) = text.split_once(words)?;
    let word: String = after.chars().take_while(|c| c.is_alphanumeric()).collect();
    (!word.is_empty()).then_some(word)
}
