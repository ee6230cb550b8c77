//! Figures for people: tables, with small bars to compare by eye.

use engine::Usage;

use super::{Counts, Durations, Metrics, StageKey};
use crate::layout::{Table, TextBuilder, cut};
use crate::paint::{Paint, Style};
use crate::safe::line;
use crate::time::duration;
use crate::words;

/// How long a bar is at most.
const BAR_COLUMNS: u64 = 10;
const NAME_COLUMNS: usize = 34;
const WORDS_COLUMNS: usize = 36;

impl Metrics {
    pub fn text(&self, paint: Paint) -> String {
        let parts = [
            self.runs_text(paint),
            self.stages_text(paint),
            self.agents_text(paint),
            self.gates_text(paint),
            self.people_text(paint),
        ];
        let told = parts.into_iter().filter(|part| !part.is_empty());
        told.collect::<Vec<_>>().join("\n")
    }

    fn runs_text(&self, paint: Paint) -> String {
        let runs = &self.runs;
        let mut table = Table::new(&["RUNS", "", ""]);
        for (word, count) in &runs.statuses {
            table.row(vec![
                (style(word), word.clone()),
                (Style::Normal, count.to_string()),
                (style(word), bar(*count, runs.total())),
            ]);
        }
        let mut builder = TextBuilder::new(paint);
        builder.push(table.text(paint).trim_end());
        let success = match runs.success_permille() {
            Some(rate) => {
                let (whole, tenth) = (rate / 10, rate % 10);
                format!(
                    "{whole}.{tenth} % of {} that ended were completed",
                    runs.ended()
                )
            }
            None => "none has ended yet".to_owned(),
        };
        let mut words = vec![format!("{} in total", runs.total()), success];
        if let (Some(median), Some(most)) = (runs.time.median(), runs.time.p90()) {
            let (median, most) = (duration(median), duration(most));
            words.push(format!("a completed run took {median} (p90 {most})"));
        }
        if runs.overridden > 0 {
            words.push(format!("{} overridden by a person", runs.overridden));
        }
        words.extend(used(runs.usage));
        builder.line(Style::Normal, &words.join("; "));
        builder.finish()
    }

    fn stages_text(&self, paint: Paint) -> String {
        let most = self.stages.values().map(|stage| stage.time.total()).max();
        let mut table = Table::new(&["STAGE", "ENTERED", "MEDIAN", "P90", "TIME", "", "LEFT WITH"]);
        for (place, stage) in &self.stages {
            let mut cells = vec![name(place), number(stage.entered)];
            cells.extend(times(&stage.time, most));
            cells.push(words(&stage.outcomes));
            table.row(cells);
        }
        told(&table, self.stages.is_empty(), paint)
    }

    fn agents_text(&self, paint: Paint) -> String {
        let most = self.agents.values().map(|agent| agent.time.total()).max();
        let mut table = Table::new(&[
            "AGENT",
            "WORK",
            "AGAIN",
            "MEDIAN",
            "P90",
            "TIME",
            "",
            "TURNS",
            "TOKENS",
            "COST",
            "ENDED WITH",
        ]);
        for (agent, figures) in &self.agents {
            let mut cells = vec![
                (Style::Strong, cut(&line(agent.as_str()), NAME_COLUMNS)),
                number(figures.dispatches),
                number(figures.retries + figures.sent_back),
            ];
            cells.extend(times(&figures.time, most));
            cells.extend([
                number(figures.usage.turns),
                number(figures.usage.tokens),
                (Style::Normal, engine::cost_text(&figures.usage)),
            ]);
            cells.push(words(&figures.outcomes));
            table.row(cells);
        }
        told(&table, self.agents.is_empty(), paint)
    }

    /// Checks, reviews and refusals.
    fn gates_text(&self, paint: Paint) -> String {
        let mut table = Table::new(&["GATE", "GOOD", "BAD", "WHAT"]);
        for (place, check) in &self.checks {
            let void = match check.void {
                0 => String::new(),
                void => format!(", {void} without a verdict"),
            };
            let what = format!("check{void}");
            table.row(gate(name(place), check.passed, check.failed, what));
        }
        for (place, review) in &self.reviews {
            let what = format!(
                "review: {} rounds, {} fixes, rounds used up {} times",
                review.rounds, review.fixes, review.exceeded
            );
            table.row(gate(name(place), review.approvals, review.findings, what));
        }
        for (rule, count) in &self.refusals {
            let rule = (Style::Strong, rule.clone());
            table.row(gate(rule, 0, *count, "refusals".to_owned()));
        }
        let none = self.checks.is_empty() && self.reviews.is_empty() && self.refusals.is_empty();
        told(&table, none, paint)
    }

    fn people_text(&self, paint: Paint) -> String {
        let people = &self.people;
        let most = people.waits.values().map(|wait| wait.time.total()).max();
        let mut table = Table::new(&[
            "WAITED FOR A PERSON",
            "OVER",
            "MEDIAN",
            "P90",
            "TIME",
            "",
            "OPEN",
        ]);
        for (wait, figures) in &people.waits {
            let mut cells = vec![
                (Style::Wait, wait.word().to_owned()),
                number(figures.time.count()),
            ];
            cells.extend(times(&figures.time, most));
            cells.push(number(figures.open.count()));
            table.row(cells);
        }
        let mut text = told(&table, people.waits.is_empty(), paint);
        if !people.acts.is_empty() {
            let acts = said(&people.acts);
            text.push_str(&format!("people: {acts}\n"));
        }
        text
    }
}

fn told(table: &Table, is_empty: bool, paint: Paint) -> String {
    if is_empty {
        String::new()
    } else {
        table.text(paint)
    }
}

fn style(status: &str) -> Style {
    match status {
        "completed" => Style::Good,
        "failed" => Style::Bad,
        "waiting" => Style::Wait,
        _ => Style::Normal,
    }
}

fn name(key: &StageKey) -> (Style, String) {
    let StageKey { pipeline, stage } = key;
    (
        Style::Strong,
        cut(&format!("{pipeline}/{stage}"), NAME_COLUMNS),
    )
}

fn number(number: u64) -> (Style, String) {
    (Style::Normal, number.to_string())
}

fn gate(name: (Style, String), good: u64, bad: u64, what: String) -> Vec<(Style, String)> {
    vec![name, number(good), number(bad), (Style::Dim, what)]
}

/// Median, p90, sum, and a bar for the sum.
fn times(spread: &Durations, most: Option<u64>) -> [(Style, String); 4] {
    let shown = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), duration);
    let total = spread.total();
    let sum = (spread.count() > 0).then_some(total);
    [
        (Style::Normal, shown(spread.median())),
        (Style::Normal, shown(spread.p90())),
        (Style::Normal, shown(sum)),
        (Style::Dim, bar(total, most.unwrap_or(0))),
    ]
}

/// What is there at all has a bar.
fn bar(value: u64, most: u64) -> String {
    let full = u128::from(value) * u128::from(BAR_COLUMNS);
    let columns = full.checked_div(u128::from(most)).unwrap_or(0);
    let columns = usize::try_from(columns).unwrap_or(0);
    "█".repeat(columns.max(usize::from(value > 0)))
}

fn words(counts: &Counts) -> (Style, String) {
    (Style::Dim, cut(&said(counts), WORDS_COLUMNS))
}

fn said(counts: &Counts) -> String {
    let each = counts.iter();
    let each = each.map(|(word, count)| format!("{} {count}", line(word)));
    each.collect::<Vec<_>>().join(", ")
}

fn used(usage: Usage) -> Option<String> {
    (usage != Usage::default()).then(|| words::usage(&usage))
}
