//! Check stages: commands as words, from the definition or from an approved artifact.

use engine::{CheckText, CheckWork, Commands, FieldOf, HomeFolder};

use super::words::{WordsError, split};
use super::{Fields, Reader};
use crate::rule::LanguageRule;
use crate::tree::{Node, Value};
use crate::vocabulary::{self, HOMES};

impl Reader<'_> {
    pub(super) fn check_work(&mut self, fields: &Fields<'_>) -> Option<CheckWork> {
        let commands = self.required(fields, "check", Self::commands);
        let fails_on = self.optional(fields, "fails_on", Self::check_text);
        let expects = self.optional(fields, "expects", Self::check_text);
        let home = self.optional(fields, "home", Self::home_folder);
        Some(CheckWork {
            commands: commands?,
            fails_on,
            expects,
            home: home.unwrap_or_default(),
        })
    }

    fn commands(&mut self, node: &Node) -> Option<Commands> {
        match &node.value {
            Value::List(_) => self.items(node, Self::command).map(Commands::Fixed),
            Value::Table(_) => {
                let fields = self.fields(node, &vocabulary::FROM)?;
                self.required(&fields, "from", Self::fields_of)
                    .map(Commands::Approved)
            }
            _ => {
                let hint = "write [\"program argument\"] or { from = \"artifact.field\" }";
                self.wrong_type(node, "a list of commands", hint)
            }
        }
    }

    fn check_text(&mut self, node: &Node) -> Option<CheckText> {
        match &node.value {
            Value::Table(_) => {
                let fields = self.fields(node, &vocabulary::FROM)?;
                self.required(&fields, "from", Self::fields_of)
                    .map(CheckText::From)
            }
            _ => self.filled(node).map(CheckText::Text),
        }
    }

    fn home_folder(&mut self, node: &Node) -> Option<HomeFolder> {
        self.word(node, HOMES, &[HomeFolder::Own, HomeFolder::Private])
    }

    /// One field of an artifact, or several.
    fn fields_of(&mut self, node: &Node) -> Option<Vec<FieldOf>> {
        match &node.value {
            Value::List(_) => self.items(node, Self::field_of),
            _ => self.field_of(node).map(|field| vec![field]),
        }
    }

    fn command(&mut self, node: &Node) -> Option<Vec<String>> {
        match &node.value {
            Value::Text(line) => self.command_line(node, line),
            Value::List(_) => self.items(node, Self::owned_text),
            _ => self.wrong_type(node, "a command", "write \"program argument\""),
        }
    }

    fn command_line(&mut self, node: &Node, line: &str) -> Option<Vec<String>> {
        match split(line) {
            Ok(words) => Some(words),
            Err(WordsError::Open(quote)) => {
                let message = format!("a {quote} in this command is not closed");
                let hint = "close the quote, or write the words as a list";
                self.report(LanguageRule::BadCommand, &node.span, message, hint);
                None
            }
            Err(WordsError::Shell(letter)) => {
                let message = format!("no shell runs this command, so `{letter}` has no effect");
                let hint = "write one command per entry, quote the character if you mean it \
                            literally, or write a list, such as [\"sh\", \"-c\", \"…\"]";
                self.report(LanguageRule::ShellSyntax, &node.span, message, hint);
                None
            }
        }
    }
}
