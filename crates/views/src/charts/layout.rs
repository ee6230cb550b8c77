//! The places of bars and their numbers.

use super::{BarChart, ChartPart, ChartRow, PartKind, PlacedChart, PlacedPart, Unit};
use crate::picture::{Area, Point, TextLine, TextRole, fitted};
use crate::safe::line;
use crate::time::duration;
use crate::words::cents;

/// Two charts stand beside each other on a laptop.
const WIDE: i32 = 640;
const MARGIN: i32 = 14;
const NAME: i32 = 220;
const NUMBERS: i32 = 230;
const HEADING: i32 = 34;
const ROW: i32 = 26;
const BAR: i32 = 16;
/// What is there at all has a bar.
const LEAST: i32 = 2;

pub(super) fn placed(chart: &BarChart) -> PlacedChart {
    let role = TextRole::Plain;
    let names = chart.rows.iter().map(|row| role.width(&line(&row.name)));
    let names = names.max().unwrap_or(0).min(NAME) + 12;
    let numbers = chart
        .rows
        .iter()
        .map(|row| role.width(&numbers(chart.unit, row)));
    let parts = chart.rows.iter().map(|row| row.parts.len()).max();
    let spare = LEAST * i32::try_from(parts.unwrap_or(0)).unwrap_or(0);
    let numbers = numbers.max().unwrap_or(0) + 10 + spare;
    let scale = ChartScale {
        left: names,
        width: WIDE - 2 * MARGIN - names - numbers,
        most: chart.rows.iter().map(ChartRow::sum).max().unwrap_or(0),
    };
    let room = WIDE - 2 * MARGIN;
    let heading = fitted(
        &line(&chart.heading),
        TextRole::Heading.size(),
        TextRole::Heading.weight(),
        room,
    );
    let mut parts = Vec::new();
    let mut texts = vec![TextLine::from_left(
        heading,
        TextRole::Heading,
        Point { x: 0, y: 20 },
    )];
    for (number, row) in chart.rows.iter().enumerate() {
        let top = HEADING + i32::try_from(number).unwrap_or(0) * ROW;
        let end = scale.row(number, row, top, chart.unit, &mut parts);
        let baseline = top + 13;
        let name = fitted(&line(&row.name), role.size(), role.weight(), NAME);
        texts.push(TextLine::from_left(name, role, Point { x: 0, y: baseline }));
        let at = Point {
            x: end + 6,
            y: baseline,
        };
        texts.push(TextLine::from_left(
            self::numbers(chart.unit, row),
            TextRole::Dim,
            at,
        ));
    }
    texts.retain(|text| !text.text.is_empty());
    let rows = i32::try_from(chart.rows.len()).unwrap_or(0);
    PlacedChart {
        name: chart.heading.clone(),
        canvas: Area {
            x: -MARGIN,
            y: 0,
            width: WIDE,
            height: HEADING + rows * ROW + MARGIN,
        },
        parts,
        texts,
    }
}

/// From numbers to pixels.
struct ChartScale {
    left: i32,
    width: i32,
    most: u64,
}

impl ChartScale {
    /// Adds the parts of a row, and returns where they end.
    fn row(
        &self,
        number: usize,
        row: &ChartRow,
        top: i32,
        unit: Unit,
        parts: &mut Vec<PlacedPart>,
    ) -> i32 {
        let mut x = self.left;
        let mut before: u64 = 0;
        for part in row.parts.iter().filter(|part| part.value > 0) {
            before = before.saturating_add(part.value);
            let width = (self.x(before) - x).max(LEAST);
            let area = Area {
                x,
                y: top,
                width,
                height: BAR,
            };
            parts.push(PlacedPart {
                row: number,
                kind: part.kind,
                area,
                title: format!("{}: {}", line(&row.name), number_of(unit, row, part)),
            });
            x += width;
        }
        x
    }

    fn x(&self, value: u64) -> i32 {
        let width = u128::try_from(self.width).unwrap_or(0);
        let pixels = (u128::from(value) * width).checked_div(u128::from(self.most));
        self.left + i32::try_from(pixels.unwrap_or(0)).unwrap_or(0)
    }
}

/// The numbers of a row, each with what it means.
fn numbers(unit: Unit, row: &ChartRow) -> String {
    let shown = row.parts.iter().filter(|part| part.value > 0);
    let each: Vec<String> = shown.map(|part| number_of(unit, row, part)).collect();
    let role = TextRole::Plain;
    fitted(&each.join(" · "), role.size(), role.weight(), NUMBERS)
}

fn number_of(unit: Unit, row: &ChartRow, part: &ChartPart) -> String {
    // A 90th percentile is counted from zero, although its line begins at the median.
    let value = match part.kind {
        PartKind::UpTo90 => row.sum(),
        PartKind::Plain | PartKind::Good | PartKind::Bad | PartKind::Void => part.value,
    };
    let value = match unit {
        Unit::Count => value.to_string(),
        Unit::Milliseconds => duration(value),
        Unit::Cents => cents(value),
    };
    format!("{}{value}", part.kind.symbol())
}
