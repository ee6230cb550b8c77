//! What everyone in a run has read, as a page that people can read: `docs/transcripts/`.
//!
//! Made from the requests that the model received, without what the host tells every model.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;
use testkit::model::Request;
use testkit::transcript::{fenced, settled, without_colours};

use super::program_folder;
use crate::stage::Stage;

/// A page about one run.
pub(super) struct Transcript {
    page: String,
}

impl Transcript {
    /// `pipeline` is the built-in that the run is of, and `about` says what happens in it.
    pub(super) fn new(pipeline: &str, about: &str) -> Self {
        let page = format!(
            "# What everyone reads in a run of `{pipeline}`\n\n{about}\n\nMade from a run in the real Claude Code, with a model that \
             follows a script. It shows what Gatewright and its prompts say to the session, to each worker and to the person, and \
             leaves out what the host says by itself. A word such as `GO-PLAN` is what the scripted session wrote: real sessions \
             write a prompt of their own there.\n"
        );
        Self { page }
    }

    /// What a person saw at a terminal.
    pub(super) fn person(&mut self, command: &str, shown: &str) {
        let _ = write!(
            self.page,
            "\n## The person, at a terminal\n\n{}",
            fenced(&format!("$ {command}\n{}", without_colours(shown).trim()))
        );
    }

    /// The conversations of these actors. Each is the name of its part, and the marker of its prompt.
    pub(super) fn conversations(&mut self, stage: &Stage, actors: &[(&str, &str)]) {
        for (name, marker) in actors {
            let requests = stage.model.requests_of(marker);
            let last = requests.last().expect("it was asked");
            let _ = write!(self.page, "\n## {name}\n");
            self.own_instructions(stage, name);
            conversation(&mut self.page, last);
        }
    }

    /// The file of an agent, which the host gives to it. `name` begins with the agent's.
    fn own_instructions(&mut self, stage: &Stage, name: &str) {
        let agent = name.split('`').nth(1).unwrap_or_default();
        let path = format!(".claude/agents/{agent}.md");
        if !agent.is_empty() && stage.path(&path).exists() {
            let text = stage.project.read(&path);
            let _ = write!(self.page, "\nIts file, `{path}`:\n\n{}", fenced(&text));
        }
    }

    /// The page, without what is different in every run.
    pub(super) fn finished(self, stage: &Stage, run: &str) -> String {
        let folder = stage.project.path().display().to_string();
        settled(
            &self.page,
            &[
                (&folder, "PROJECT"),
                (&program_folder(), "BIN"),
                (run, "r-RUN"),
            ],
        )
    }
}

fn conversation(page: &mut String, request: &Request) {
    let mut calls: HashMap<String, String> = HashMap::new();
    for message in request.messages() {
        let is_own = message["role"] == "assistant";
        for block in blocks(&message["content"]) {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    let call = call(&block);
                    let _ = write!(page, "\nIt calls {call}.\n");
                    calls.insert(id, call);
                }
                Some("tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    let text = text(&block["content"]);
                    let is_ours = calls
                        .get(id)
                        .is_some_and(|call| call.contains("gatewright"));
                    if is_ours || block["is_error"] == true {
                        let _ = write!(page, "\nThe result:\n\n{}", fenced(&text));
                    }
                }
                _ if !is_own => {
                    for told in told(block["text"].as_str().unwrap_or_default()) {
                        let _ = write!(page, "\nIt reads:\n\n{}", fenced(&told));
                    }
                }
                _ => {}
            }
        }
    }
}

/// A message has blocks, or is a text.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks.clone(),
        text => vec![serde_json::json!({ "type": "text", "text": text })],
    }
}

fn text(content: &Value) -> String {
    let texts = blocks(content).into_iter();
    let texts = texts.filter_map(|block| block["text"].as_str().map(str::to_owned));
    texts.collect::<Vec<_>>().join("\n")
}

fn call(block: &Value) -> String {
    let input = &block["input"];
    let field = |name: &str| input[name].as_str().unwrap_or_default();
    match block["name"].as_str().unwrap_or_default() {
        "Bash" => format!("Bash: `{}`", field("command")),
        "Write" => format!("Write: `{}`", field("file_path")),
        "Read" => format!("Read: `{}`", field("file_path")),
        "Agent" => format!("Agent: `{}`", field("subagent_type")),
        tool => tool.to_owned(),
    }
}

/// What the host puts around a message to an agent.
const SENT: &str = "The coordinator sent a message while you were working:\n";
const ADDRESS: &str = "\n\nAddress this before completing your current task.";

/// The texts of a block that are ours, or a prompt. The rest is the host's.
fn told(text: &str) -> Vec<String> {
    const CONTEXT: &str = "hook additional context: ";
    const HOSTS: [&str; 9] = [
        "\nThe user hasn't heard from you",
        "\n# Environment\n",
        "\nYou are powered by",
        "\nThe following deferred tools",
        "\nAvailable agent types",
        "\nThe following skills",
        "\nToday's date is",
        "\n</system-reminder>",
        "\n[SYSTEM NOTIFICATION",
    ];
    let parts: Vec<&str> = text.split(CONTEXT).collect();
    let until_host = |part: &str| {
        let end = HOSTS.iter().filter_map(|word| part.find(word)).min();
        // The name of the next hook stands before its context.
        let part = part[..end.unwrap_or(part.len())].trim_end();
        part.trim_start().to_owned()
    };
    let is_hosts = |part: &str| {
        let part = part.trim_start();
        part.is_empty()
            || part.starts_with("<system-reminder>")
            || HOSTS.iter().any(|word| part.starts_with(word.trim()))
    };
    match parts.as_slice() {
        [only] => {
            let only = only.replace(SENT, "").replace(ADDRESS, "");
            let told = (!is_hosts(&only)).then(|| until_host(&only));
            told.into_iter().collect()
        }
        [_, contexts @ ..] => contexts.iter().map(|part| until_host(part)).collect(),
        [] => Vec::new(),
    }
}
