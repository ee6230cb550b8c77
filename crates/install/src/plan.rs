//! A plan: every file that will change, before and after. It is shown before anything is written.

use std::path::Path;

use runtime::trust::diff;
use serde_json::{Value, json};
use views::{Paint, Style};

use super::disk::BaseFolder;
use super::record::FileKind;

/// What will be done below one folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub base: BaseFolder,
    pub changes: Vec<Change>,
    /// What people should know, whether something changes or not.
    pub notes: Vec<String>,
    /// Files of ours that somebody edited, and that are not as they were before `init`.
    pub edited: Vec<String>,
    /// The rules that we add to what the settings allow.
    pub allowed: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub path: String,
    pub kind: FileKind,
    /// Its current content; `None` if it does not exist.
    pub before: Option<Vec<u8>>,
    /// What it will hold; nothing if it will be removed.
    pub after: Option<Vec<u8>>,
}

impl Plan {
    pub fn new(root: &Path) -> Self {
        Self {
            base: BaseFolder::new(root.to_owned()),
            changes: Vec::new(),
            notes: Vec::new(),
            edited: Vec::new(),
            allowed: Vec::new(),
        }
    }

    /// Notes a file that was edited, and of which something stays.
    pub fn keep(&mut self, path: &str, why: &str) {
        self.edited.push(path.to_owned());
        self.note(format!("{path} was edited after `init`{why}"));
    }

    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Drops a change without effect.
    pub fn push(&mut self, change: Change) {
        if change.before != change.after {
            self.changes.push(change);
        }
    }

    /// The changes as people read them: files that are there line by line, others by their size.
    pub fn text(&self, paint: Paint) -> String {
        self.changes
            .iter()
            .map(|change| change.text(paint))
            .collect()
    }

    pub fn json(&self) -> Value {
        let changes: Vec<Value> = self.changes.iter().map(Change::json).collect();
        json!({
            "root": self.base.root().display().to_string(),
            "changes": changes,
            "notes": self.notes,
        })
    }
}

impl Change {
    fn text(&self, paint: Paint) -> String {
        let path = views::line(&self.path);
        match (&self.before, &self.after) {
            (None, Some(after)) if self.kind == FileKind::Made => {
                let line = format!("new      {path} ({})", lines(after));
                format!("{}\n", paint.on(Style::Good, &line))
            }
            (Some(_), None) => format!("{}\n", paint.on(Style::Bad, &format!("removed  {path}"))),
            (before, after) => {
                let word = if before.is_none() { "new" } else { "changed" };
                let head = paint.on(Style::Strong, &format!("{word:<8} {path}"));
                let before = text(before.as_deref().unwrap_or_default());
                let after = text(after.as_deref().unwrap_or_default());
                let changed = diff::unified(&before, &after);
                format!("{head}\n{}", coloured(&views::safe(&changed), paint))
            }
        }
    }

    fn json(&self) -> Value {
        let action = match (&self.before, &self.after) {
            (None, _) => "new",
            (Some(_), None) => "removed",
            (Some(_), Some(_)) => "changed",
        };
        json!({ "path": self.path, "action": action })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn lines(bytes: &[u8]) -> String {
    match text(bytes).lines().count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

fn coloured(changes: &str, paint: Paint) -> String {
    let painted = changes.lines().map(|line| {
        let style = match line.as_bytes().first() {
            Some(b'+') => Style::Good,
            Some(b'-') => Style::Bad,
            Some(b'@') => Style::Dim,
            _ => Style::Normal,
        };
        format!("  {}\n", paint.on(style, line))
    });
    painted.collect()
}
