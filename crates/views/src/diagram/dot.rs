//! Graphviz DOT.
//!
//! Invariant: every id is a number of ours, and every label is a quoted string in which backslash,
//! quote and ampersand are escaped. No text of a definition can end its label.

use engine::{End, Stage, Work};

use super::caption;
use super::chart::{Arrow, Chart, LineStyle};
use crate::safe::line;

pub(super) fn render(chart: &Chart<'_>) -> String {
    let mut text = format!("digraph {} {{\n", quoted(chart.definition.name.as_str()));
    text.push_str(
        "  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n",
    );
    text.push_str("  begin [shape=point, width=0.2, xlabel=\"start\"];\n");
    for (place, stage) in chart.stages() {
        text.push_str(&node(chart, place, stage));
    }
    if let Some(start) = chart.place(&chart.definition.start) {
        text.push_str(&format!("  begin -> s{start};\n"));
    }
    if let Some(start) = chart.start_with_steps() {
        text.push_str(&format!("  begin -> s{start} [label=\"with steps\"];\n"));
    }
    for arrow in chart.arrows() {
        text.push_str(&edge(&arrow));
    }
    text.push_str("}\n");
    text
}

fn node(chart: &Chart<'_>, place: usize, stage: &Stage) -> String {
    let lines: Vec<_> = caption::label(chart, stage)
        .iter()
        .map(|line| escaped(line))
        .collect();
    let label = lines.join("\\n");
    let marked = if chart.is_here(stage) {
        ", penwidth=3, color=\"#ef6c00\""
    } else {
        ""
    };
    format!(
        "  s{place} [label=\"{label}\", {}{marked}];\n",
        shape(stage)
    )
}

fn shape(stage: &Stage) -> &'static str {
    match &stage.work {
        Work::Agent(_) => "shape=box",
        Work::Open(_) => "shape=box, style=rounded",
        Work::Check(_) => "shape=hexagon",
        Work::Ask(_) => "shape=parallelogram",
        Work::Review(_) => "shape=box, peripheries=2",
        Work::Steps(_) => "shape=box3d",
        Work::Route(_) => "shape=diamond",
        Work::End(end) => match end.end {
            End::Completed => "shape=doubleoctagon, color=\"#2e7d32\"",
            End::Failed => "shape=doubleoctagon, color=\"#c62828\"",
            End::Cancelled => "shape=doubleoctagon, color=\"#757575\"",
        },
    }
}

fn edge(arrow: &Arrow) -> String {
    let Arrow {
        from,
        to,
        label,
        line: _,
    } = arrow;
    let style = match arrow.line {
        LineStyle::Solid => "",
        LineStyle::Dashed => ", style=dashed",
    };
    format!("  s{from} -> s{to} [label={}{style}];\n", quoted(label))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A backslash would begin an escape (`\N` is the node's name), an ampersand an entity.
fn escaped(text: &str) -> String {
    line(text)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('&', "&amp;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::TestRandom;

    /// Reads a quoted string as Graphviz does, and says what follows its end.
    fn after_string(text: &str) -> &str {
        let mut places = text.char_indices().skip(1);
        while let Some((place, found)) = places.next() {
            match found {
                '\\' => drop(places.next()),
                '"' => return &text[place + 1..],
                _ => {}
            }
        }
        panic!("the string {text} never ends")
    }

    #[test]
    fn no_label_can_end_its_quotes() {
        let mut random = TestRandom::new(23);
        for _ in 0..5_000 {
            let label = quoted(&random.hostile_text(40));
            assert_eq!(after_string(&label), "", "{label:?}");
            assert!(!label.contains('\n'));
        }
    }

    #[test]
    fn what_means_something_to_graphviz_is_escaped() {
        assert_eq!(quoted("a\"]; b -> c [\"x"), "\"a\\\"]; b -> c [\\\"x\"");
        assert_eq!(quoted("ends with \\"), "\"ends with \\\\\"");
        assert_eq!(quoted("&lt; \\N"), "\"&amp;lt; \\\\N\"");
    }
}
