//! Where runs work, what comes along into their worktrees, and what they hand over.

use engine::{Deliver, Delivery, PlaceKind, Placement};

use super::host::{PathPattern, path_pattern};
use super::words::split;
use super::{Fields, Reader};
use crate::diagnostic::quote;
use crate::rule::LanguageRule;
use crate::tree::{Node, Value};
use crate::vocabulary::{self, DELIVERS, PLACES};

/// What can make a request to merge without further words.
const KNOWN_REQUESTS: [&str; 2] = ["gh", "glab"];

impl Reader<'_> {
    pub(super) fn placement(&mut self, fields: &Fields<'_>) -> Placement {
        let place = self.optional(fields, "place", |reader, node| {
            reader.word(node, PLACES, &[PlaceKind::Tree, PlaceKind::Branch])
        });
        let carry = self.list(fields, "carry", Self::carried);
        let carry_back = self.list(fields, "carry_back", Self::carried_back);
        let delivery = self.optional(fields, "deliver", Self::delivery);
        let delivers = delivery.as_ref().map(|it| it.deliver);
        if let (Some(PlaceKind::Tree), Some(Deliver::Branch | Deliver::PullRequest), Some(node)) =
            (place, delivers, fields.get("deliver"))
        {
            let message = String::from("a run in your own tree has no branch to deliver");
            let hint = "write place = \"branch\", or remove `deliver`";
            self.report(LanguageRule::NothingToDeliver, &node.span, message, hint);
        }
        Placement {
            place,
            carry,
            carry_back,
            delivery,
        }
    }

    /// A pattern for untracked files, as in an ignore file.
    fn carried(&mut self, node: &Node) -> Option<String> {
        let text = self.filled(node)?;
        let (message, hint) = match path_pattern(&text) {
            PathPattern::Some(_) => return Some(text),
            PathPattern::Everything => (
                format!("{} would carry everything", quote(&text)),
                "name what the work needs, such as `node_modules` or `.env`",
            ),
            PathPattern::Elsewhere => (
                format!("{} is not a path pattern in the project", quote(&text)),
                "write a path in the project, such as `node_modules` or `.env`",
            ),
        };
        self.report(LanguageRule::BadCarried, &node.span, message, hint);
        None
    }

    /// A plain path: what comes back takes a certain place.
    fn carried_back(&mut self, node: &Node) -> Option<String> {
        let text = self.carried(node)?;
        if text.contains(['*', '?', '[']) {
            let message = format!("{} is a pattern, not a path", quote(&text));
            let hint = "name each path that comes back";
            self.report(LanguageRule::BadCarried, &node.span, message, hint);
            return None;
        }
        Some(text)
    }

    fn delivery(&mut self, node: &Node) -> Option<Delivery> {
        let Value::Table(_) = &node.value else {
            let deliver = self.deliver(node)?;
            return Some(Delivery {
                deliver,
                remote: None,
                request: Vec::new(),
            });
        };
        let fields = &self.fields(node, &vocabulary::DELIVERY)?;
        let deliver = self.required(fields, "as", Self::deliver);
        let remote = self.optional(fields, "remote", Self::filled);
        let request = self.optional(fields, "request", Self::request);
        Some(Delivery {
            deliver: deliver?,
            remote,
            request: request.unwrap_or_default(),
        })
    }

    fn deliver(&mut self, node: &Node) -> Option<Deliver> {
        let meanings = [Deliver::Nothing, Deliver::Branch, Deliver::PullRequest];
        self.word(node, DELIVERS, &meanings)
    }

    fn request(&mut self, node: &Node) -> Option<Vec<String>> {
        let words = match &node.value {
            Value::List(_) => self.items(node, Self::filled)?,
            _ => split(&self.filled(node)?).unwrap_or_default(),
        };
        match words.as_slice() {
            [known] if KNOWN_REQUESTS.contains(&known.as_str()) => Some(words),
            [_, _, ..] => self.filled_request(node, words),
            [_] | [] => {
                let message = String::from("this does not make a request to merge");
                let hint = "write \"gh\", \"glab\", or a command, such as \
                            [\"tools/request\", \"{branch}\", \"{base}\", \"{title}\", \"{body}\"]";
                self.report(LanguageRule::BadRequest, &node.span, message, hint);
                None
            }
        }
    }

    /// A placeholder that nothing fills would reach the command as it stands.
    fn filled_request(&mut self, node: &Node, words: Vec<String>) -> Option<Vec<String>> {
        let Some(name) = Delivery::unknown_placeholder(&words) else {
            return Some(words);
        };
        let message = format!("nothing fills {{{name}}} in this request");
        let known = Delivery::PLACEHOLDERS.map(|it| format!("{{{it}}}"));
        let hint = format!("the placeholders are {}", known.join(", "));
        self.report(LanguageRule::BadRequest, &node.span, message, hint);
        None
    }
}
