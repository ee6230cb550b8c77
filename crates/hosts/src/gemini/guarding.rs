//! Our hooks in one process of Gemini CLI: a home of its own, with the person's settings and ours.
//!
//! The file that its variable for system settings names would do, but it takes that only from root,
//! in folders that nobody else may write to, and says nothing but a warning otherwise.

use std::path::{Path, PathBuf};

use super::wire;
use crate::agent_process::{Guard, Guarding, Own, OwnPlace, Unguardable};
use crate::shell::shell_word;

pub const OWN: OwnPlace = OwnPlace {
    variable: "GEMINI_CLI_HOME",
    below_variable: ".gemini",
    below_home: ".gemini",
    file: "settings.json",
};

/// The events, and the time for an answer.
const EVENTS: [(&str, u64); 5] = [
    ("SessionStart", 10_000),
    ("BeforeTool", 10_000),
    ("AfterTool", 10_000),
    ("AfterAgent", 10_000),
    ("SessionEnd", 5_000),
];

/// With what a person has logged in, and what they have taught it. Conversations are not among them:
/// those of a run are its own.
const SHARED: [&str; 16] = [
    ".env",
    "GEMINI.md",
    "a2a-oauth-tokens.json",
    "acknowledgments",
    "agents",
    "commands",
    "extensions",
    "gemini-credentials.json",
    "google_accounts.json",
    "installation_id",
    "mcp-oauth-tokens.json",
    "oauth_creds.json",
    "policies",
    "policy_integrity.json",
    "skills",
    "trustedFolders.json",
];

pub fn guarding(guard: &Guard<'_>) -> Result<Guarding, Unguardable> {
    let home = guard.folder.join("gemini");
    let variable = home
        .to_str()
        .ok_or_else(|| Unguardable::NotText(home.clone()))?;
    not_switched_off(guard.ground.settings)?;
    let folder = home.join(OWN.below_variable);
    let program = shell_word(guard.program);
    let hooks = EVENTS.map(|(event, timeout)| {
        let command = format!("{program} hook gemini {event}");
        (event, command, timeout)
    });
    let settings = settings(guard.own.as_ref())?;
    Ok(Guarding {
        arguments: Vec::new(),
        variables: vec![(OWN.variable.to_owned(), variable.to_owned())],
        files: vec![(folder.join(OWN.file), wire::with_hooks(settings, &hooks))],
        links: guard
            .own
            .map(|own| links(&folder, own.folder))
            .unwrap_or_default(),
    })
}

/// The project's own settings win over those of the home.
fn not_switched_off(project: Option<(&Path, &str)>) -> Result<(), Unguardable> {
    let Some((file, text)) = project else {
        return Ok(());
    };
    // What cannot be read Gemini CLI does not read either, and says so.
    match serde_json::from_str(&without_comments(text)) {
        Ok(settings) if wire::switches_off(&settings) => {
            Err(Unguardable::SwitchedOff(file.to_owned()))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn links(folder: &Path, own: &Path) -> Vec<(PathBuf, PathBuf)> {
    SHARED
        .iter()
        .map(|name| (folder.join(name), own.join(name)))
        .collect()
}

fn settings(own: Option<&Own<'_>>) -> Result<wire::Settings, Unguardable> {
    let Some((own, text)) = own.and_then(|own| Some((own, own.settings?))) else {
        return Ok(wire::Settings::new());
    };
    let file = || own.folder.join(OWN.file);
    let plain = without_comments(text);
    if plain.trim().is_empty() {
        return Ok(wire::Settings::new());
    }
    match serde_json::from_str(&plain) {
        Ok(serde_json::Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(Unguardable::NotAnObject(file())),
        Err(error) => Err(Unguardable::Settings {
            file: file(),
            line: error.line(),
            column: error.column(),
        }),
    }
}

/// The text with spaces where its comments were, as Gemini CLI reads it.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_comment) = match first {
            '"' => (text_end(rest), false),
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), true),
            '/' if rest.starts_with("/*") => {
                (rest.find("*/").map_or(rest.len(), |at| at + 2), true)
            }
            first => (first.len_utf8(), false),
        };
        let (piece, after) = rest.split_at(length);
        if is_comment {
            // Lines are kept, so that an error is found where it is.
            plain.extend(piece.chars().map(|c| if c == '\n' { c } else { ' ' }))
        } else {
            plain.push_str(piece)
        }
        rest = after;
    }
    plain
}

/// Where the text that begins here ends.
fn text_end(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_settings_and_texts_are_no_comments() {
        for (text, expected) in [
            ("{} // x", "{}     "),
            ("{ /* x\n */ }", "{     \n    }"),
            (r#"{"a": "b // c"}"#, r#"{"a": "b // c"}"#),
            (r#"{"a\"//": 1}"#, r#"{"a\"//": 1}"#),
            (r#"{"a\\"//x"#, r#"{"a\\"   "#),
            ("/* never ends", "             "),
            ("\"never ends //", "\"never ends //"),
        ] {
            assert_eq!(without_comments(text), expected);
        }
    }
}
