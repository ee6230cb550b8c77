//! Stages: the kind, the keys that every kind has, and the keys that it should not have.

use engine::{Retry, Stage, StageName, StopRule, WordsRule, Work, Writes, nearest};

use super::{Fields, Reader};
use crate::diagnostic::{listed, quote};
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Value};
use crate::vocabulary::{self, Kind, STOPS};

/// Every choice of the question needs the person's words.
fn require_words(stage: &mut Stage) {
    let choices = stage.on.iter_mut();
    let choices = choices.filter(|(outcome, _)| !outcome.is_fault());
    choices.for_each(|(_, edge)| edge.words = WordsRule::Required);
}

impl Reader<'_> {
    pub(super) fn stage(&mut self, entry: &Entry) -> Option<Stage> {
        let name = self.key(entry, StageName::parse);
        self.entries(&entry.node)?;
        let kind = self.kind(entry)?;
        self.foreign_keys(entry, kind);
        let fields = &Fields {
            node: &entry.node,
            table: kind.table(),
        };
        let work = self.work(fields, kind);
        let stage = self.common(fields);
        let words = match kind {
            Kind::Ask => self.words_rule(fields),
            Kind::Agent
            | Kind::Open
            | Kind::Check
            | Kind::Review
            | Kind::Steps
            | Kind::Route
            | Kind::End => None,
        };
        let mut stage = stage(name?, work?);
        if words == Some(WordsRule::Required) {
            require_words(&mut stage);
        }
        Some(stage)
    }

    /// Everything but the name and the work, which may have failed.
    fn common(&mut self, fields: &Fields<'_>) -> impl FnOnce(StageName, Work) -> Stage + use<> {
        let about = self.optional(fields, "about", Self::owned_text);
        let shown = self.optional(fields, "shown", Self::filled);
        let on = self.on(fields);
        let inject = self.optional(fields, "inject", Self::filled);
        let stop = self.optional(fields, "stop", |reader, node| {
            reader.word(node, STOPS, &[StopRule::Free, StopRule::Hold])
        });
        let writes = self.optional(fields, "writes", |reader, node| {
            reader.items(node, Self::glob)
        });
        let tools_deny = self
            .optional(fields, "tools", Self::tools)
            .unwrap_or_default();
        let retry = self.optional(fields, "retry", Self::retry);
        let timeout = self.optional(fields, "timeout", Self::duration);
        let heartbeat = self.optional(fields, "heartbeat", Self::duration);
        let (stop, writes) = (
            stop.unwrap_or_default(),
            writes.map_or(Writes::Anything, Writes::Only),
        );
        move |name, work| Stage {
            name,
            about,
            shown,
            work,
            on,
            inject,
            stop,
            writes,
            tools_deny,
            retry,
            timeout,
            heartbeat,
        }
    }

    fn work(&mut self, fields: &Fields<'_>, kind: Kind) -> Option<Work> {
        match kind {
            Kind::Agent => self.agent_work(fields).map(Work::Agent),
            Kind::Open => self.open_work(fields).map(Work::Open),
            Kind::Check => self.check_work(fields).map(Work::Check),
            Kind::Ask => self.ask_work(fields).map(Work::Ask),
            Kind::Review => self.review_work(fields).map(Work::Review),
            Kind::Steps => self.steps_work(fields).map(Work::Steps),
            Kind::Route => self.route_work(fields).map(Work::Route),
            Kind::End => self.end_work(fields).map(Work::End),
        }
    }

    fn tools(&mut self, node: &Node) -> Option<Vec<engine::AgentPattern>> {
        let fields = self.fields(node, &vocabulary::TOOLS)?;
        Some(self.list(&fields, "deny", Self::pattern))
    }

    fn retry(&mut self, node: &Node) -> Option<Retry> {
        if !matches!(node.value, Value::Table(_)) {
            return self.amount(node).map(|max| Retry { max, backoff: None });
        }
        let fields = &self.fields(node, &vocabulary::RETRY)?;
        let max = self.required(fields, "max", Self::amount);
        let backoff = self.optional(fields, "backoff", Self::duration);
        Some(Retry { max: max?, backoff })
    }

    /// Exactly one key decides the kind.
    fn kind(&mut self, entry: &Entry) -> Option<Kind> {
        let told = Kind::ALL
            .into_iter()
            .filter(|kind| entry.node.get(kind.key()).is_some());
        match told.collect::<Vec<_>>().as_slice() {
            [kind] => Some(*kind),
            [] => self.no_kind(entry),
            kinds => self.two_kinds(entry, kinds),
        }
    }

    fn two_kinds(&mut self, entry: &Entry, kinds: &[Kind]) -> Option<Kind> {
        let keys = listed(kinds.iter().map(|kind| kind.key()), "and");
        let message = format!(
            "the stage {} has more than one kind: {keys}",
            quote(&entry.key)
        );
        let hint = "keep one of these keys, and move the other to its own stage";
        self.report(LanguageRule::TwoKinds, &entry.node.span, message, hint);
        None
    }

    /// A mistyped kind is reported as the mistyped key that it is, and not twice.
    fn no_kind(&mut self, entry: &Entry) -> Option<Kind> {
        let unknown = |member: &&Entry| Kind::ALL.iter().all(|kind| !kind.table().has(&member.key));
        let mut mistyped = false;
        for member in entry.node.entries().iter().filter(unknown) {
            let meant = nearest(&member.key, Kind::ALL.map(Kind::key));
            mistyped |= meant.is_some();
            let hint = match meant.or_else(|| nearest(&member.key, all_keys())) {
                Some(meant) => format!("did you mean {}?", quote(meant)),
                None => String::from("remove it; `gatewright schema` prints all keys"),
            };
            let message = format!("a stage has no key {}", quote(&member.key));
            self.report(LanguageRule::UnknownKey, &member.key_span, message, hint);
        }
        if !mistyped {
            let message = format!("the stage {} has no kind", quote(&entry.key));
            let hint = format!("add one of {}", listed(Kind::ALL.map(Kind::key), "or"));
            self.report(LanguageRule::NoKind, &entry.node.span, message, hint);
        }
        None
    }

    fn foreign_keys(&mut self, entry: &Entry, kind: Kind) {
        for member in entry.node.entries() {
            if kind.table().has(&member.key) {
                continue;
            }
            let owners: Vec<Kind> = Kind::ALL
                .into_iter()
                .filter(|other| other.table().has(&member.key))
                .collect();
            if owners.is_empty() {
                self.unknown_key(member, kind.table());
            } else {
                self.foreign_key(member, kind, &owners);
            }
        }
    }

    fn foreign_key(&mut self, member: &Entry, kind: Kind, owners: &[Kind]) {
        let names: Vec<&str> = owners.iter().map(|owner| owner.table().name).collect();
        let message = format!(
            "{} belongs to {}, and this is {}",
            quote(&member.key),
            names.join(" or "),
            kind.table().name
        );
        let hint = format!(
            "remove it; `{}` makes this {}",
            kind.key(),
            kind.table().name
        );
        self.report(LanguageRule::ForeignKey, &member.key_span, message, hint);
    }
}

fn all_keys() -> impl Iterator<Item = &'static str> {
    Kind::ALL
        .into_iter()
        .flat_map(|kind| kind.table().keys())
        .map(|key| key.name)
}
