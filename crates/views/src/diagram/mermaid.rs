//! Mermaid: a flowchart, because only there a shape can show the kind of a stage.
//!
//! Invariant: every id is a number of ours, and every label is in quotes with all but a few
//! harmless characters written as entities. No text of a definition can end its label.

use engine::{End, Stage, Work};

use super::caption;
use super::chart::{Arrow, Chart, LineStyle};
use crate::safe::line;

/// Besides letters and digits, all characters that need no escape in a label.
const HARMLESS: &str = " _-.,/=+'?(){}·≤→“”◀…";

const CLASSES: &str = "  classDef person stroke-dasharray:4 3
  classDef completed stroke:#2e7d32,stroke-width:2px
  classDef failed stroke:#c62828,stroke-width:2px
  classDef cancelled stroke:#757575,stroke-width:2px
  classDef here stroke:#ef6c00,stroke-width:4px
";

pub(super) fn render(chart: &Chart<'_>) -> String {
    let mut text = format!(
        "---\ntitle: \"{}\"\n---\nflowchart TD\n",
        chart.definition.name
    );
    text.push_str("  begin((start))\n");
    for (place, stage) in chart.stages() {
        text.push_str(&node(chart, place, stage));
    }
    if let Some(start) = chart.place(&chart.definition.start) {
        text.push_str(&format!("  begin --> s{start}\n"));
    }
    if let Some(start) = chart.start_with_steps() {
        text.push_str(&format!("  begin -->|\"with steps\"| s{start}\n"));
    }
    for arrow in chart.arrows() {
        text.push_str(&edge(&arrow));
    }
    text.push_str(CLASSES);
    text.push_str(&classes(chart));
    text
}

fn node(chart: &Chart<'_>, place: usize, stage: &Stage) -> String {
    let (open, close) = shape(stage);
    let label: Vec<_> = caption::label(chart, stage)
        .iter()
        .map(|line| quoted(line))
        .collect();
    format!("  s{place}{open}\"{}\"{close}\n", label.join("<br/>"))
}

fn shape(stage: &Stage) -> (&'static str, &'static str) {
    match &stage.work {
        Work::Agent(_) => ("[", "]"),
        Work::Open(_) => ("([", "])"),
        Work::Check(_) => ("{{", "}}"),
        Work::Ask(_) => ("[/", "/]"),
        Work::Review(_) => ("[[", "]]"),
        Work::Steps(_) => ("[(", ")]"),
        Work::Route(_) => ("{", "}"),
        Work::End(_) => ("(((", ")))"),
    }
}

fn edge(arrow: &Arrow) -> String {
    let Arrow {
        from,
        to,
        label,
        line: _,
    } = arrow;
    let label = quoted(label);
    match arrow.line {
        LineStyle::Solid => format!("  s{from} -->|\"{label}\"| s{to}\n"),
        LineStyle::Dashed => format!("  s{from} -.->|\"{label}\"| s{to}\n"),
    }
}

fn classes(chart: &Chart<'_>) -> String {
    let mut text = String::new();
    for (place, stage) in chart.stages() {
        if let Some(class) = class(stage) {
            text.push_str(&format!("  class s{place} {class}\n"));
        }
        if chart.is_here(stage) {
            text.push_str(&format!("  class s{place} here\n"));
        }
    }
    text
}

fn class(stage: &Stage) -> Option<&'static str> {
    match &stage.work {
        Work::Ask(_) => Some("person"),
        Work::End(end) => Some(match end.end {
            End::Completed => "completed",
            End::Failed => "failed",
            End::Cancelled => "cancelled",
        }),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_) => None,
    }
}

/// Mermaid has no escape inside quotes but its own entities, `#35;`. They are used for everything
/// that is not a letter, a digit or plainly harmless: quotes, brackets, `#`, `;`, `%%`, `<`.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for found in line(text).chars() {
        if found.is_alphanumeric() || HARMLESS.contains(found) {
            quoted.push(found)
        } else {
            quoted.push_str(&format!("#{};", u32::from(found)))
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::TestRandom;

    #[test]
    fn no_label_can_end_its_quotes() {
        let mut random = TestRandom::new(17);
        for _ in 0..5_000 {
            let label = quoted(&random.hostile_text(40));
            assert!(
                !label.contains(['"', '`', '<', '>', '&', '%', '\\', '\n', '$', ':']),
                "{label}"
            );
            let rest = label
                .split('#')
                .skip(1)
                .filter_map(|part| part.split_once(';'));
            assert_eq!(rest.clone().count(), label.matches('#').count(), "{label}");
            assert_eq!(rest.clone().count(), label.matches(';').count(), "{label}");
            assert!(
                rest.clone().all(|(code, _)| code.parse::<u32>().is_ok()),
                "{label}"
            );
        }
    }

    #[test]
    fn what_means_something_to_mermaid_becomes_an_entity() {
        assert_eq!(quoted("a\"] --> b[\"x"), "a#34;#93; --#62; b#91;#34;x");
        assert_eq!(
            quoted("#quot; %%{init}%%"),
            "#35;quot#59; #37;#37;{init}#37;#37;"
        );
        assert_eq!(quoted("two\nlines`"), "two lines#96;");
    }
}
