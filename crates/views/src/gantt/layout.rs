//! The places of rows, bars and the axis.

use engine::Seconds;

use super::scale::Scale;
use super::{BarKind, Gantt, GanttBar, GanttRow, PlacedBar};
use crate::picture::{Area, Point, TextLine, TextRole, WIDEST, fitted};
use crate::safe::line;
use crate::time::{duration, rfc3339, span};

const MARGIN: i32 = 18;
const BAR: i32 = 18;
const LANE: i32 = 22;
const ROW_GAP: i32 = 6;
/// Room for a symbol: no bar is narrower.
const LEAST_BAR: i32 = 20;
const NAME: i32 = 210;
const NOTE: i32 = 230;
const AXIS: i32 = 44;
/// Room for the time at which the chart begins.
const BEGINS: i32 = 226;

pub(super) fn laid(rows: &[GanttRow]) -> Gantt {
    let names = column(rows.iter().map(|row| &row.name), TextRole::Here, NAME);
    let notes = column(rows.iter().map(|row| &row.note), TextRole::Dim, NOTE);
    let left = (names + notes + 16).max(BEGINS);
    let plot = Area {
        x: left,
        y: AXIS,
        width: WIDEST - 2 * MARGIN - left - LEAST_BAR,
        height: 0,
    };
    let mut frame = GanttFrame {
        scale: Scale::of(rows, plot),
        bars: Vec::new(),
        texts: Vec::new(),
        top: AXIS,
    };
    for (number, row) in rows.iter().enumerate() {
        let is_same = number.checked_sub(1).and_then(|before| rows.get(before));
        let is_same = is_same.is_some_and(|before| before.name == row.name);
        frame.row(number, row, names, is_same);
    }
    frame.finish(rows, plot)
}

/// How wide the widest of these texts is, and the distance to the next column.
fn column<'a>(texts: impl Iterator<Item = &'a String>, role: TextRole, most: i32) -> i32 {
    let widest = texts.map(|text| role.width(&line(text))).max();
    match widest.unwrap_or(0).min(most) {
        0 => 0,
        width => width + 14,
    }
}

struct GanttFrame {
    scale: Scale,
    bars: Vec<PlacedBar>,
    texts: Vec<TextLine>,
    top: i32,
}

impl GanttFrame {
    fn row(&mut self, number: usize, row: &GanttRow, names: i32, is_same: bool) {
        let y = self.top + BAR - 4;
        if !is_same {
            self.text(&row.name, TextRole::Here, NAME, Point { x: 0, y });
        }
        self.text(&row.note, TextRole::Dim, NOTE, Point { x: names, y });
        let mut bars: Vec<&GanttBar> = row.bars.iter().collect();
        bars.sort_by_key(|bar| (bar.begin, bar.end));
        // Attempts that are too short to stand side by side stand below each other.
        let mut lanes: Vec<i32> = Vec::new();
        for bar in bars {
            let x = self.scale.x(bar.begin.0);
            let width = (self.scale.x(bar.end.0) - x).max(LEAST_BAR);
            let free = lanes.iter().position(|until| *until <= x);
            let lane = free.unwrap_or_else(|| {
                lanes.push(0);
                lanes.len() - 1
            });
            lanes[lane] = x + width;
            let down = i32::try_from(lane).unwrap_or(0) * LANE;
            let area = Area {
                x,
                y: self.top + down,
                width,
                height: BAR,
            };
            self.bars.push(placed(number, row, bar, area));
        }
        let lanes = i32::try_from(lanes.len().max(1)).unwrap_or(1);
        self.top += lanes * LANE + ROW_GAP;
    }

    fn text(&mut self, text: &str, role: TextRole, room: i32, at: Point) {
        let text = fitted(&line(text), role.size(), role.weight(), room);
        if !text.is_empty() {
            self.texts.push(TextLine::from_left(text, role, at));
        }
    }

    fn finish(mut self, rows: &[GanttRow], mut plot: Area) -> Gantt {
        plot.height = self.top - AXIS;
        let breaks = self.breaks(plot);
        let ticks = self.ticks(&breaks);
        let begins = rows.iter().flat_map(|row| &row.bars).map(|bar| bar.begin);
        let begins = begins.min().map(|begin| format!("from {}", rfc3339(begin)));
        self.text(
            &begins.unwrap_or_default(),
            TextRole::Dim,
            NAME,
            Point { x: 0, y: AXIS - 12 },
        );
        self.legend(rows);
        Gantt {
            canvas: Area {
                x: -MARGIN,
                y: 0,
                width: WIDEST,
                height: self.top + MARGIN,
            },
            plot: Area {
                width: plot.width + LEAST_BAR,
                ..plot
            },
            bars: self.bars,
            texts: self.texts,
            ticks,
            breaks,
        }
    }

    fn breaks(&mut self, plot: Area) -> Vec<Area> {
        let mut breaks = Vec::new();
        let mut free = i32::MIN;
        for (from, until, seconds) in self.scale.breaks() {
            breaks.push(Area {
                x: from,
                y: plot.y,
                width: until - from,
                height: plot.height,
            });
            let text = format!("⋯ {} ⋯", span(Seconds(seconds)));
            free = self.axis_label(
                &text,
                Point {
                    x: from,
                    y: AXIS - 28,
                },
                free,
            );
        }
        breaks
    }

    /// Writes a label of the axis where it has room, and returns where the next one may begin.
    fn axis_label(&mut self, label: &str, at: Point, free: i32) -> i32 {
        let text = TextLine::from_left(label.to_owned(), TextRole::Dim, at);
        if at.x < free || text.area.right() > WIDEST - 2 * MARGIN {
            return free;
        }
        let right = text.area.right();
        self.texts.push(text);
        right + 10
    }

    /// The lines of the axis that have room beside each other.
    fn ticks(&mut self, breaks: &[Area]) -> Vec<i32> {
        let mut ticks = Vec::new();
        let mut free = i32::MIN;
        for (seconds, x) in self.scale.ticks() {
            let is_inside = breaks.iter().any(|area| area.x < x && x < area.right());
            if x < free || is_inside {
                continue;
            }
            let label = match seconds {
                0 => "0".to_owned(),
                seconds => span(Seconds(seconds)),
            };
            let at = Point {
                x: x + 2,
                y: AXIS - 12,
            };
            free = self.axis_label(&label, at, free);
            ticks.push(x);
        }
        ticks
    }

    fn legend(&mut self, rows: &[GanttRow]) {
        let mut at = Point {
            x: 0,
            y: self.top + 18,
        };
        for kind in BarKind::ALL {
            let mut bars = rows.iter().flat_map(|row| &row.bars);
            if bars.any(|bar| bar.kind == kind) {
                let words = format!("{} {}", kind.symbol(), kind.word());
                let text = TextLine::from_left(words, TextRole::Dim, at);
                at.x = text.area.right() + 22;
                self.texts.push(text);
            }
        }
        self.top += 30;
    }
}

fn placed(number: usize, row: &GanttRow, bar: &GanttBar, area: Area) -> PlacedBar {
    let took = duration(bar.end.0.saturating_sub(bar.begin.0));
    let symbol = bar.kind.symbol();
    let label = line(&bar.label);
    let texts = [
        format!("{symbol} {label} · {took}"),
        format!("{symbol} {took}"),
        symbol.to_owned(),
    ];
    let fits = |text: &&String| TextRole::Plain.width(text) <= area.width - 8;
    let text = texts
        .iter()
        .find(fits)
        .cloned()
        .unwrap_or_else(|| symbol.to_owned());
    let at = Point {
        x: area.x + 4,
        y: area.y + 13,
    };
    let who = [&row.name, &row.note].map(|text| line(text)).join(" ");
    let title = format!(
        "{who}: {label} ({}), {took}, from {}",
        bar.kind.word(),
        rfc3339(bar.begin)
    );
    PlacedBar {
        row: number,
        kind: bar.kind,
        area,
        text: TextLine::from_left(text, TextRole::Plain, at),
        title,
    }
}
