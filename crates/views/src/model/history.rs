//! The route of a run from stage to stage, and other events that people look for.

use std::sync::Arc;

use engine::StageName;
use minijinja::Value;
use minijinja::value::{Enumerator, Object};

use crate::digest::{Item, ItemKind};
use crate::time::rfc3339;
use crate::view_input::ViewInput;
use crate::words::shown;

/// The kept lines as items that all have the same keys.
pub(super) fn items(input: &ViewInput<'_>, lines: &[String]) -> Value {
    let items = lines.iter().filter_map(|line| Item::read(line));
    let items = items.map(|item| {
        let shown = |name: &Option<StageName>| {
            let name = name.as_ref()?;
            Some(shown(input.pipeline, name).to_owned())
        };
        let (from_shown, to_shown) = (shown(&item.from), shown(&item.to));
        Value::from_object(HistoryItem {
            item,
            from_shown,
            to_shown,
        })
    });
    items.collect()
}

/// An item as templates see it. There may be hundreds, so a value is made when it is asked for.
#[derive(Debug)]
struct HistoryItem {
    item: Item,
    from_shown: Option<String>,
    to_shown: Option<String>,
}

const KEYS: &[&str] = &[
    "at",
    "kind",
    "name",
    "outcome",
    "from",
    "from_shown",
    "to",
    "to_shown",
    "reason",
    "text",
];

impl Object for HistoryItem {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let item = &self.item;
        let stage = |name: &Option<StageName>| Value::from(name.as_ref().map(StageName::as_str));
        Some(match key.as_str()? {
            "at" => Value::from(rfc3339(item.at)),
            "kind" => Value::from(item.kind.word()),
            "name" => self.about(&[ItemKind::Agent, ItemKind::Person]),
            "outcome" => Value::from(&item.outcome),
            "from" => stage(&item.from),
            "from_shown" => Value::from(&self.from_shown),
            "to" => stage(&item.to),
            "to_shown" => Value::from(&self.to_shown),
            "reason" => self.about(&[ItemKind::Reset, ItemKind::Cancelled]),
            "text" => self.about(&[ItemKind::Note]),
            _ => return None,
        })
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(KEYS)
    }
}

impl HistoryItem {
    /// What the item is about, if it is of one of these kinds.
    fn about(&self, kinds: &[ItemKind]) -> Value {
        let about = self.item.about.as_ref();
        Value::from(about.filter(|_| kinds.contains(&self.item.kind)))
    }
}
