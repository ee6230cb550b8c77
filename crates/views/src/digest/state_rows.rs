//! The history that `pipeline-state` shows, as it stands in the file: a view that is written after every
//! change adds a row to it, and does not make the others again.

use engine::Pipeline;

use super::{Item, ItemKind, MOST_ITEMS};
use crate::json::json_string;
use crate::time::rfc3339;
use crate::words::shown;

/// The latest rows, each on a line of its own. They are long, and are not copied when one comes or goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateRows {
    kept: String,
    /// Where the rows begin.
    from: usize,
    count: usize,
}

impl PartialEq for StateRows {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for StateRows {}

impl StateRows {
    pub(crate) fn text(&self) -> &str {
        self.kept.get(self.from..).unwrap_or_default()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// This many rows that were kept, behind this place of a text.
    pub(super) fn read(kept: String, from: usize, count: usize) -> Self {
        Self { kept, from, count }
    }

    /// The oldest make room.
    pub(super) fn push(&mut self, pipeline: &Pipeline, item: &Item) {
        if !self.text().is_empty() {
            self.kept.push_str(",\n");
        }
        push_row(&mut self.kept, pipeline, item);
        self.count += 1;
        while self.count > MOST_ITEMS {
            self.from += self.text().find('\n').map_or(0, |end| end + 1);
            self.count -= 1;
        }
    }
}

fn push_row(rows: &mut String, pipeline: &Pipeline, item: &Item) {
    let shown = |name| Some(shown(pipeline, name)).filter(|name| !name.is_empty());
    let agent = match item.kind {
        ItemKind::Agent => item.about.as_deref(),
        ItemKind::Engine => Some("gatewright"),
        kind @ (ItemKind::Person
        | ItemKind::Reset
        | ItemKind::Started
        | ItemKind::Cancelled
        | ItemKind::Note) => Some(kind.word()),
    };
    let before = item.from.as_ref().and_then(shown);
    let after = item.to.as_ref().and_then(shown).or(before);
    let at = rfc3339(item.at);
    for (key, value) in [
        ("    {\"agent\":", agent),
        (",\"timestamp\":", Some(at.as_str())),
        (",\"state_before\":", before),
        (",\"state_after\":", after),
    ] {
        rows.push_str(key);
        rows.push_str(&json(value));
    }
    if item.kind == ItemKind::Reset {
        rows.push_str(",\"reason\":");
        rows.push_str(&json(item.about.as_deref()));
    }
    rows.push('}');
}

fn json(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), json_string)
}
