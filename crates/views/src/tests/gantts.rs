//! Gantt charts: the rows of a run, and the geometry of any rows.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use engine::Time;
use expect_test::expect;

use super::example::minutes;
use super::metrics::completed;
use crate::facts::{Timeline, WaitSpan};
use crate::gantt::{self, BarKind, Gantt, GanttBar, GanttFold, GanttRow, Lasting};
use crate::picture::{TextLine, WIDEST};
use crate::test_random::TestRandom;

fn told(rows: &[GanttRow]) -> String {
    let mut told = String::new();
    for row in rows {
        let _ = writeln!(told, "{} ({})", row.name, row.note);
        for bar in &row.bars {
            let minute = |time: Time| time.since(minutes(0)).0 / 60;
            let (from, until) = (minute(bar.begin), minute(bar.end));
            let _ = writeln!(told, "  {from}–{until} {} {}", bar.kind.symbol(), bar.label);
        }
    }
    told
}

#[test]
fn every_attempt_and_every_wait_of_a_run_is_a_bar() {
    let play = completed();
    let rows = |entries: usize| {
        let mut fold = GanttFold::new(&play.pipeline);
        for entry in &play.entries[..entries] {
            fold.add(entry).unwrap();
        }
        fold.end(minutes(play.minute))
    };
    expect![[r#"
        gathering (gatherer)
          1–3 ✕ attempt 1: crashed
          4–8 ✓ attempt 1: done
        planning (planner)
          10–12 ✕ attempt 1: crashed
          13–14 ✓ attempt 2: done
        approving (a person)
          14–19 ⚑ question
        building (tasks · bash-tasks)
          21–24 ✓ attempt 1: done
        building (tests · bash-tests)
          25–30 ✓ attempt 1: done
        validating (validator)
          31–32 ✓ attempt 1: passed
          37–40 ✓ attempt 1: passed
        linting (check)
          32–33 ✕ failed
          40–41 ✓ passed
        debugging (debugger)
          34–36 ✓ attempt 1: done
        reviewing (code-reviewer reviews)
          42–43 ✓ attempt 1: needs_changes
          49–50 ✓ attempt 1: approved
        reviewing (debugger fixes)
          44–46 ✓ attempt 1: done
        reviewing (codex-reviewer reviews)
          47–48 ✓ attempt 1: approved
          51–52 ✓ attempt 1: approved
        tidying (session)
          53–54 ✓ attempt 1: done
    "#]]
    .assert_eq(&told(&rows(play.entries.len())));
    // While it works, the last bar is open.
    let admitted = |entry: &engine::Entry| matches!(entry.fact, engine::Fact::Admitted { .. });
    let first = play.entries.iter().position(admitted).unwrap();
    let open = rows(first + 1);
    assert_eq!(open.last().unwrap().bars[0].kind, BarKind::AtWork);
    assert_eq!(open.last().unwrap().bars[0].end, minutes(play.minute));
}

/// What stops a run stands in the row of a person, in the stage in which it stopped.
#[test]
fn a_wait_other_than_a_question_is_a_bar_and_what_is_open_ends_with_the_run() {
    let play = completed();
    let mut timeline = Timeline::default();
    let admitted = |entry: &engine::Entry| matches!(entry.fact, engine::Fact::Admitted { .. });
    let first = play.entries.iter().position(admitted).unwrap();
    for (number, entry) in play.numbered().into_iter().take(first + 1) {
        timeline.add(&play.pipeline, number, entry);
    }
    let stop = WaitSpan {
        why: "budget",
        from: minutes(2),
        to: None,
    };
    let rows = |lasting| {
        gantt::rows(
            &play.pipeline,
            timeline.visits(),
            std::slice::from_ref(&stop),
            lasting,
        )
    };
    expect![[r#"
        gathering (gatherer)
          1–9 ● attempt 1
        gathering (a person)
          2–9 ⚑ budget
    "#]]
    .assert_eq(&told(&rows(Lasting::Now(minutes(9)))));
    expect![[r#"
        gathering (gatherer)
          1–5 – attempt 1
        gathering (a person)
          2–5 ⚑ budget
    "#]]
    .assert_eq(&told(&rows(Lasting::Over(minutes(5)))));
}

/// A run may have worked a thousand times: the latest bars are drawn.
#[test]
fn a_chart_has_a_bounded_number_of_bars() {
    let play = completed();
    let mut timeline = Timeline::default();
    for (number, entry) in play.numbered() {
        timeline.add(&play.pipeline, number, entry);
    }
    let visits: Vec<_> = timeline.visits().cloned().collect();
    let many = std::iter::repeat_n(&visits, 100).flatten();
    let rows = gantt::rows(&play.pipeline, many, &[], Lasting::Now(minutes(90)));
    let bars = rows.iter().map(|row| row.bars.len()).sum::<usize>();
    assert_eq!(bars, 240);
}

#[test]
fn a_damaged_journal_is_an_error() {
    let play = completed();
    let mut fold = GanttFold::new(&play.pipeline);
    assert!(fold.add(&play.entries[1]).is_err());
}

/// Rows of any kind: long, short, at the same time, with long pauses, with hostile names.
fn rows(random: &mut TestRandom) -> Vec<GanttRow> {
    let scale = [1, 1_000, 60_000, 3_600_000][random.below(4)];
    let mut begin = 1_787_392_800_000 + random.below(1_000) as u64;
    let mut rows = Vec::new();
    for _ in 0..random.below(12) {
        let mut bars = Vec::new();
        for _ in 0..random.below(7) {
            let end = begin + random.below(500) as u64 * scale;
            bars.push(GanttBar {
                begin: Time(begin),
                end: Time(end),
                kind: BarKind::ALL[random.below(5)],
                label: random.hostile_text(30),
            });
            if random.below(3) > 0 {
                begin =
                    end + random.below(900) as u64 * scale * (random.below(9) / 8 * 50 + 1) as u64;
            }
        }
        let name = random.hostile_text(60);
        let note = random.hostile_text(60);
        rows.push(GanttRow { name, note, bars });
    }
    rows
}

fn overlapping(texts: &[TextLine]) -> Option<&TextLine> {
    let mut numbered = texts.iter().enumerate();
    let found = numbered.find(|(number, text)| {
        let mut others = texts.iter().skip(number + 1);
        others.any(|other| other.area.overlaps(text.area))
    });
    found.map(|(_, text)| text)
}

fn faults(rows: &[GanttRow], gantt: &Gantt) -> Vec<&'static str> {
    let all = rows.iter().flat_map(|row| &row.bars).count();
    let pairs = |overlap: fn(&crate::gantt::PlacedBar, &crate::gantt::PlacedBar) -> bool| {
        let mut bars = gantt.bars.iter().enumerate();
        bars.any(|(number, bar)| {
            gantt
                .bars
                .iter()
                .skip(number + 1)
                .any(|other| overlap(bar, other))
        })
    };
    let facts = [
        (gantt.bars.len() == all, "a bar is missing or drawn twice"),
        (
            !pairs(|one, other| one.area.overlaps(other.area)),
            "bars overlap",
        ),
        (
            gantt.bars.iter().all(|bar| gantt.plot.contains(bar.area)),
            "a bar is outside",
        ),
        (
            gantt
                .bars
                .iter()
                .all(|bar| bar.area.contains(bar.text.area)),
            "a text leaves its bar",
        ),
        (
            gantt
                .bars
                .iter()
                .all(|bar| bar.text.text.starts_with(bar.kind.symbol())),
            "a bar has no symbol",
        ),
        (
            gantt
                .texts
                .iter()
                .all(|text| gantt.canvas.contains(text.area)),
            "a text is outside",
        ),
        (
            gantt.texts.iter().all(|text| text.role.size() >= 12),
            "a text is tiny",
        ),
        (overlapping(&gantt.texts).is_none(), "texts overlap"),
        (
            gantt
                .texts
                .iter()
                .all(|text| !gantt.bars.iter().any(|bar| bar.area.overlaps(text.area))),
            "a text is on a bar",
        ),
        (gantt.canvas.contains(gantt.plot), "the plot is outside"),
        (gantt.canvas.width <= WIDEST, "it is too wide"),
        (
            is_in_order(rows, gantt),
            "what began later stands further left",
        ),
    ];
    facts
        .into_iter()
        .filter(|(holds, _)| !holds)
        .map(|(_, fault)| fault)
        .collect()
}

/// Bars of all rows, by the time at which they begin, go from left to right.
fn is_in_order(rows: &[GanttRow], gantt: &Gantt) -> bool {
    let mut places = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let mut begins: Vec<Time> = row.bars.iter().map(|bar| bar.begin).collect();
        begins.sort();
        let bars = gantt.bars.iter().filter(|bar| bar.row == number);
        places.extend(begins.into_iter().zip(bars.map(|bar| bar.area.x)));
    }
    places.sort();
    places.windows(2).all(|pair| pair[0].1 <= pair[1].1)
}

#[test]
fn any_rows_are_a_faultless_chart() {
    let mut random = TestRandom::new(51);
    for _ in 0..1_500 {
        let rows = rows(&mut random);
        let gantt = Gantt::of(&rows);
        assert_eq!(faults(&rows, &gantt), [""; 0], "{rows:#?}\n{gantt:#?}");
    }
}

#[test]
fn a_spoilt_chart_is_judged() {
    let rows = example();
    let whole = Gantt::of(&rows);
    assert_eq!(faults(&rows, &whole), [""; 0]);
    let spoil: [fn(&mut Gantt); 6] = [
        |gantt| drop(gantt.bars.pop()),
        |gantt| gantt.bars[1].area = gantt.bars[0].area,
        |gantt| gantt.bars[0].area.x = -9,
        |gantt| gantt.texts[0].area.x = -99,
        |gantt| gantt.bars[0].text.text.clear(),
        |gantt| gantt.texts.push(gantt.texts[0].clone()),
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut gantt = whole.clone();
        spoil(&mut gantt);
        assert!(!faults(&rows, &gantt).is_empty(), "{number}");
    }
}

fn bar(from: u64, until: u64, kind: BarKind) -> GanttBar {
    GanttBar {
        begin: minutes(from),
        end: minutes(until),
        kind,
        label: "attempt 1".to_owned(),
    }
}

fn example() -> Vec<GanttRow> {
    let row = |name: &str, bars| GanttRow {
        name: name.to_owned(),
        note: "somebody".to_owned(),
        bars,
    };
    vec![
        row(
            "planning",
            vec![bar(0, 10, BarKind::Failed), bar(10, 20, BarKind::Done)],
        ),
        row("approving", vec![bar(20, 700, BarKind::Waiting)]),
        row("building", vec![bar(700, 710, BarKind::AtWork)]),
    ]
}

#[test]
fn a_night_of_waiting_does_not_squash_the_work() {
    let gantt = Gantt::of(&example());
    assert_eq!(gantt.breaks.len(), 1);
    let [failed, done, waiting, working] = [0, 1, 2, 3].map(|number| gantt.bars[number].area.width);
    assert!((failed - done).abs() <= 1 && (done - working).abs() <= 1);
    assert!(waiting < done, "{gantt:#?}");
    // A short wait stays in proportion.
    let mut rows = example();
    rows[1].bars = vec![bar(20, 25, BarKind::Waiting)];
    rows[2].bars = vec![bar(25, 35, BarKind::AtWork)];
    let gantt = Gantt::of(&rows);
    assert_eq!(gantt.breaks, []);
    assert!((gantt.bars[2].area.width * 2 - gantt.bars[1].area.width).abs() <= 2);
}

#[test]
fn waiting_and_failing_have_patterns_of_their_own() {
    let svg = Gantt::of(&example()).svg();
    for (class, strokes) in [("failed", 1), ("waiting", 1), ("done", 0), ("working", 0)] {
        let start = svg.find(&format!("class=\"bar {class}\"")).unwrap();
        let group = svg[start..].split("</g>").next().unwrap();
        assert_eq!(group.matches("class=\"hatch\"").count(), strokes, "{group}");
    }
}

#[test]
fn no_text_adds_a_tag_to_a_chart() {
    let mut random = TestRandom::new(53);
    let tags = |svg: &str| -> BTreeSet<String> {
        let tags = svg
            .split('<')
            .skip(1)
            .map(|rest| rest.split([' ', '>']).next());
        tags.map(|tag| tag.unwrap_or_default().to_owned()).collect()
    };
    let plain = tags(&Gantt::of(&example()).svg());
    for _ in 0..300 {
        let mut rows = example();
        for row in &mut rows {
            row.name = format!("{}\"><script>", random.hostile_text(9));
            row.note = format!("{}'><b>", random.hostile_text(9));
            row.bars[0].label = "</title></g><i>".to_owned();
        }
        assert_eq!(tags(&Gantt::of(&rows).svg()), plain);
    }
}
