//! Charts: what the figures of a run show, and the geometry of any rows.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::expect;

use super::example::minutes;
use super::metrics::{completed, counted};
use crate::charts::{BarChart, ChartPart, ChartRow, PartKind, PlacedChart, Unit, charts};
use crate::metrics::Metrics;
use crate::test_random::TestRandom;

fn told(charts: &[BarChart]) -> String {
    let mut told = String::new();
    for chart in charts {
        let _ = writeln!(told, "{}", chart.heading);
        let placed = chart.placed();
        for text in placed.texts.iter().skip(1) {
            let _ = writeln!(told, "  {}", text.text);
        }
    }
    told
}

#[test]
fn the_figures_of_a_run_are_bars_with_their_numbers() {
    let play = completed();
    let metrics = counted(&play.pipeline, &play.entries, minutes(play.minute));
    expect![[r#"
        How runs ended
          completed
          ✓ 1
        Work that ended well, by agent
          code-reviewer
          ✓ 2
          codex-reviewer
          ✓ 2
          debugger
          ✓ 2
          gatherer
          ✓ 1 · ✕ 1
          planner
          ✓ 1 · ✕ 1
          validator
          ✓ 2
          bash-tasks
          ✓ 1
          bash-tests
          ✓ 1
          session
          ✓ 1
        Checks, by stage
          showcase/linting
          ✓ 1 · ✕ 1
        Reviews, by stage
          showcase/reviewing
          ✓ 3 · ✕ 1
        Time of a visit, by stage (median)
          showcase/building
          11m
          showcase/reviewing
          11m
          showcase/gathering
          8m
          showcase/planning
          6m
          showcase/approving
          5m
          showcase/validating
          2m · p90 4m
          showcase/debugging
          3m
          showcase/tidying
          2m
          showcase/linting
          1m
        Time of a piece of work, by agent (median)
          bash-tests
          5m
          gatherer
          2m · p90 4m
          bash-tasks
          3m
          validator
          1m · p90 3m
          debugger
          2m
          planner
          1m · p90 2m
          code-reviewer
          1m
          codex-reviewer
          1m
          session
          1m
        Visits, by stage
          showcase/linting
          2
          showcase/validating
          2
          showcase/approving
          1
          showcase/building
          1
          showcase/complete
          1
          showcase/debugging
          1
          showcase/gathering
          1
          showcase/planning
          1
          showcase/reviewing
          1
          showcase/tidying
          1
        Work done again, by agent
          planner
          ✕ 1
        Cost, by agent
          code-reviewer
          0.50
          codex-reviewer
          0.50
          debugger
          0.50
          gatherer
          0.50
          planner
          0.50
          validator
          0.50
          bash-tasks
          0.25
          bash-tests
          0.25
          session
          0.25
        Waiting for people (in all)
          question
          5m
        Refusals, by rule
          GW-R11
          ✕ 1
    "#]]
    .assert_eq(&told(&charts(&metrics)));
    assert_eq!(charts(&Metrics::default()), []);
}

#[test]
fn more_rows_than_anybody_reads_are_counted() {
    let mut metrics = Metrics::default();
    for number in 0..50_u64 {
        metrics.refusals.insert(format!("GW-{number}"), number + 1);
    }
    let charts = charts(&metrics);
    let [chart] = charts.as_slice() else {
        panic!("{charts:?}");
    };
    assert_eq!(chart.rows.len(), 20);
    assert!(chart.heading.contains("30 more"), "{}", chart.heading);
    assert_eq!(chart.rows[0].name, "GW-49", "the largest comes first");
}

const KINDS: [PartKind; 5] = [
    PartKind::Plain,
    PartKind::Good,
    PartKind::Bad,
    PartKind::Void,
    PartKind::UpTo90,
];

fn chart(random: &mut TestRandom) -> BarChart {
    let most = [3, 1_000, usize::MAX >> 12][random.below(3)];
    let part = |random: &mut TestRandom| ChartPart {
        kind: KINDS[random.below(5)],
        value: random.below(most) as u64,
    };
    let row = |random: &mut TestRandom| ChartRow {
        name: random.hostile_text(80),
        parts: (0..random.below(4)).map(|_| part(random)).collect(),
    };
    BarChart {
        heading: random.hostile_text(120),
        unit: [Unit::Count, Unit::Milliseconds, Unit::Cents][random.below(3)],
        rows: (0..random.below(12)).map(|_| row(random)).collect(),
    }
}

fn faults(chart: &BarChart, placed: &PlacedChart) -> Vec<&'static str> {
    let parts = chart.rows.iter().flat_map(|row| &row.parts);
    let shown = parts.filter(|part| part.value > 0).count();
    let parts = || placed.parts.iter().map(|part| part.area);
    let texts = || placed.texts.iter().map(|text| text.area);
    let all: Vec<_> = parts().chain(texts()).collect();
    let overlap = all.iter().enumerate().any(|(number, area)| {
        let mut others = all.iter().skip(number + 1);
        others.any(|other| other.overlaps(*area))
    });
    let facts = [
        (
            placed.parts.len() == shown,
            "a part is missing or drawn twice",
        ),
        (!overlap, "things overlap"),
        (
            all.iter().all(|area| placed.canvas.contains(*area)),
            "something is outside",
        ),
        (
            placed.texts.iter().all(|text| text.role.size() >= 12),
            "a text is tiny",
        ),
        (
            placed.canvas.width <= 660,
            "two do not fit beside each other",
        ),
    ];
    facts
        .into_iter()
        .filter(|(holds, _)| !holds)
        .map(|(_, fault)| fault)
        .collect()
}

#[test]
fn any_rows_are_a_faultless_bar_chart() {
    let mut random = TestRandom::new(61);
    for _ in 0..2_000 {
        let chart = chart(&mut random);
        let placed = chart.placed();
        assert_eq!(faults(&chart, &placed), [""; 0], "{chart:#?}\n{placed:#?}");
    }
}

fn example() -> BarChart {
    let row = |name: &str, kind, value| ChartRow {
        name: name.to_owned(),
        parts: vec![ChartPart { kind, value }],
    };
    BarChart {
        heading: "Checks".to_owned(),
        unit: Unit::Count,
        rows: vec![
            row("one", PartKind::Good, 30),
            row("two", PartKind::Bad, 15),
        ],
    }
}

#[test]
fn a_spoilt_bar_chart_is_judged() {
    let whole = example().placed();
    assert_eq!(faults(&example(), &whole), [""; 0]);
    let spoil: [fn(&mut PlacedChart); 3] = [
        |chart| drop(chart.parts.pop()),
        |chart| chart.parts[1].area = chart.parts[0].area,
        |chart| chart.texts[0].area.x = 900,
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut placed = whole.clone();
        spoil(&mut placed);
        assert!(!faults(&example(), &placed).is_empty(), "{number}");
    }
}

#[test]
fn bars_are_in_proportion_and_differ_without_colour() {
    let placed = example().placed();
    let [good, bad] = [0, 1].map(|number| placed.parts[number].area.width);
    assert!((good - 2 * bad).abs() <= 1, "{good} and {bad}");
    let svg = example().svg();
    assert_eq!(svg.matches("class=\"hatch\"").count(), 1, "{svg}");
    assert!(svg.contains(">✓ 30<") && svg.contains(">✕ 15<"), "{svg}");
}

#[test]
fn no_text_adds_a_tag_to_a_bar_chart() {
    let tags = |svg: &str| -> BTreeSet<String> {
        let tags = svg
            .split('<')
            .skip(1)
            .map(|rest| rest.split([' ', '>']).next());
        tags.map(|tag| tag.unwrap_or_default().to_owned()).collect()
    };
    let plain = tags(&example().svg());
    let mut random = TestRandom::new(67);
    for _ in 0..300 {
        let mut chart = example();
        chart.heading = format!("{}</title><script>", random.hostile_text(9));
        chart.rows[0].name = format!("\"><b>{}", random.hostile_text(9));
        assert_eq!(tags(&chart.svg()), plain);
    }
}
