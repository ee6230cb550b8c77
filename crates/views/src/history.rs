//! A run's journal, one line per entry.

use engine::{Entry, Rule, Time, Who};
use serde_json::{Value, json};

use crate::fact::{AgentNames, fact_json, sentence, style};
use crate::layout::{Table, width};
use crate::paint::{Paint, Style};
use crate::safe::{Untrusted, line};
use crate::time::rfc3339;
use crate::words::who_json;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryView {
    pub lines: Vec<HistoryLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryLine {
    pub number: u64,
    pub at: Time,
    pub by: Who,
    pub rule: Rule,
    pub what: Untrusted,
    pub style: Style,
    pub fact: Value,
}

/// Describes numbered entries. Earlier entries name the agents behind the numbers of dispatches and
/// reviewers, so a whole journal reads better than its tail.
pub fn history<'a>(entries: impl IntoIterator<Item = (u64, &'a Entry)>) -> HistoryView {
    history_after([], entries)
}

/// Describes the end of a journal, with the names that earlier entries give.
pub fn history_after<'a>(
    before: impl IntoIterator<Item = (u64, &'a Entry)>,
    entries: impl IntoIterator<Item = (u64, &'a Entry)>,
) -> HistoryView {
    let entries: Vec<(u64, &Entry)> = entries.into_iter().collect();
    let before = before.into_iter().map(|(_, entry)| entry);
    let names = AgentNames::of(before.chain(entries.iter().map(|(_, entry)| *entry)));
    let lines = entries
        .into_iter()
        .map(|(number, entry)| HistoryLine::new(number, entry, &names));
    HistoryView {
        lines: lines.collect(),
    }
}

impl HistoryLine {
    pub(crate) fn new(number: u64, entry: &Entry, names: &AgentNames) -> Self {
        Self {
            number,
            at: entry.at,
            by: entry.by.clone(),
            rule: entry.rule,
            what: sentence(entry, names),
            style: style(&entry.fact),
            fact: fact_json(&entry.fact),
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "entry": self.number,
            "at": rfc3339(self.at),
            "by": who_json(&self.by),
            "rule": self.rule.code(),
            "text": self.what.raw(),
            "fact": self.fact,
        })
    }

    fn cells(&self, number_columns: usize) -> Vec<(Style, String)> {
        vec![
            (Style::Dim, format!("{:>number_columns$}", self.number)),
            (Style::Dim, rfc3339(self.at)),
            (Style::Normal, line(&self.by.name())),
            (Style::Dim, self.rule.code().to_owned()),
            (self.style, self.what.line()),
        ]
    }
}

impl HistoryView {
    pub fn text(&self, paint: Paint) -> String {
        let numbers = self
            .lines
            .iter()
            .map(|line| width(&line.number.to_string()));
        let columns = numbers.max().unwrap_or(1);
        let mut table = Table::new(&["#", "TIME", "WHO", "RULE", "WHAT"]);
        for line in &self.lines {
            table.row(line.cells(columns));
        }
        table.text(paint)
    }

    pub fn json(&self) -> Value {
        Value::Array(self.lines.iter().map(HistoryLine::json).collect())
    }
}

/// One entry in words, safe for a terminal.
pub fn entry_line(entry: &Entry, names: &AgentNames) -> String {
    crate::safe::line(sentence(entry, names).raw())
}
