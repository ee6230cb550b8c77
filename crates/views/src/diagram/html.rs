//! One HTML page with the picture in it: no script, nothing from elsewhere.
//!
//! The stages are a column in the order of the file. Each arrow leaves its box to the right, goes up or
//! down in its own lane, and comes back, so that labels do not overlap.
//!
//! Invariant: every text of a definition or a run passes `escaped`.

use std::fmt::Write as _;

use engine::{End, Stage};

use super::caption;
use super::chart::{Arrow, Chart, LineStyle};
use crate::html::escaped;
use crate::layout::width;
use crate::words;

const MARGIN: usize = 24;
const BOX_WIDTH: usize = 330;
const ROW: usize = 19;
const GAP: usize = 26;
const LANE: usize = 12;
/// How wide a character of a label is at most, about.
const CHARACTER: usize = 7;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1f2328; --spec: #ffffff; --dim: #6e7781; --fill: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --spec: #0d1117; --dim: #8b949e; --fill: #161b22; } }
body { background: var(--spec); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2em; }
svg { font: 12px system-ui, sans-serif; max-width: none; }
svg text { fill: var(--ink); }
svg .label { fill: var(--dim); font-size: 11px; }
svg .name { font-weight: 600; }
svg rect { fill: var(--fill); stroke: var(--dim); }
svg .completed { stroke: #2e7d32; stroke-width: 2; }
svg .failed { stroke: #c62828; stroke-width: 2; }
svg .here { stroke: #ef6c00; stroke-width: 4; }
svg path { fill: none; stroke: var(--dim); }
svg .dashed { stroke-dasharray: 4 3; }
svg marker path { fill: var(--dim); }
";

pub(super) fn render(chart: &Chart<'_>, status: Option<&str>) -> String {
    let name = escaped(chart.definition.name.as_str());
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n");
    page.push_str("<meta charset=\"utf-8\">\n");
    page.push_str("<meta http-equiv=\"Content-Security-Policy\" ");
    page.push_str("content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    let _ = writeln!(
        page,
        "<title>{name}</title>\n<style>{STYLE}</style>\n</head>"
    );
    let _ = writeln!(page, "<body>\n<h1>{name}</h1>");
    let _ = writeln!(page, "<p>{}</p>", escaped(&chart.definition.about));
    if let Some(run) = chart.run {
        let _ = writeln!(
            page,
            "<p>Run <strong>{}</strong> is in <strong>{}</strong>{}.</p>",
            escaped(run.id.as_str()),
            escaped(run.position.stage.as_str()),
            status.map_or_else(String::new, |status| format!(" ({})", escaped(status)))
        );
    }
    page.push_str(&Picture::new(chart).svg());
    page.push_str("</body>\n</html>\n");
    page
}

/// An arrow whose label names its target, because long lines are hard to follow.
fn told(chart: &Chart<'_>, arrow: Arrow) -> Arrow {
    let to = chart.definition.stages.get(arrow.to);
    let to = to.map_or_else(String::new, |stage| format!(" → {}", stage.name));
    Arrow {
        label: format!("{}{to}", arrow.label),
        ..arrow
    }
}

/// A box with the rows that its arrows have on its right side.
struct Shape {
    top: usize,
    height: usize,
    lines: Vec<String>,
    class: &'static str,
    /// The rows that are taken already.
    taken: usize,
}

struct Picture {
    shapes: Vec<Shape>,
    arrows: Vec<Arrow>,
    /// Where the lanes begin.
    lanes: usize,
}

impl Picture {
    fn new(chart: &Chart<'_>) -> Self {
        let arrows: Vec<Arrow> = chart
            .arrows()
            .into_iter()
            .map(|it| told(chart, it))
            .collect();
        let mut top = MARGIN;
        let mut shapes = Vec::new();
        for (place, stage) in chart.stages() {
            let touching = |arrow: &&Arrow| arrow.from == place || arrow.to == place;
            let both = arrows
                .iter()
                .filter(|it| it.from == place && it.to == place);
            let rows = arrows.iter().filter(touching).count() + both.count();
            let lines = caption::label(chart, stage);
            let height = (rows.max(lines.len()) + 1) * ROW;
            shapes.push(Shape {
                top,
                height,
                lines,
                class: class(chart, stage),
                taken: 0,
            });
            top += height + GAP;
        }
        let widest = arrows.iter().map(|arrow| width(&arrow.label)).max();
        let lanes = MARGIN + BOX_WIDTH + widest.unwrap_or(0) * CHARACTER + GAP;
        Self {
            shapes,
            arrows,
            lanes,
        }
    }

    fn svg(mut self) -> String {
        let wide = self.lanes + self.arrows.len() * LANE + MARGIN;
        let last = self.shapes.last();
        let high = last.map_or(0, |shape| shape.top + shape.height) + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" role=\"img\">\n"
        );
        svg.push_str(
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        );
        let arrows = std::mem::take(&mut self.arrows);
        for (number, arrow) in arrows.iter().enumerate() {
            svg.push_str(&self.arrow(arrow, self.lanes + number * LANE));
        }
        for shape in &self.shapes {
            svg.push_str(&shape.svg());
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The middle of the next free row of a box.
    fn row(&mut self, place: usize) -> usize {
        self.shapes.get_mut(place).map_or(0, |shape| {
            shape.taken += 1;
            shape.top + shape.taken * ROW
        })
    }

    fn arrow(&mut self, arrow: &Arrow, lane: usize) -> String {
        let (out, back) = (self.row(arrow.from), self.row(arrow.to));
        let edge = MARGIN + BOX_WIDTH;
        let class = match arrow.line {
            LineStyle::Solid => "",
            LineStyle::Dashed => " class=\"dashed\"",
        };
        let (label, text) = (escaped(&arrow.label), edge + 6);
        format!(
            "<path{class} d=\"M{edge} {out}H{lane}V{back}H{edge}\" marker-end=\"url(#tip)\"/>\n\
             <text class=\"label\" x=\"{text}\" y=\"{}\">{label}</text>\n",
            out - 3
        )
    }
}

impl Shape {
    fn svg(&self) -> String {
        let (top, height, class) = (self.top, self.height, self.class);
        let mut svg = format!(
            "<rect class=\"{class}\" x=\"{MARGIN}\" y=\"{top}\" width=\"{BOX_WIDTH}\" \
             height=\"{height}\" rx=\"6\"/>\n"
        );
        for (row, text) in self.lines.iter().enumerate() {
            let class = match row {
                0 => " class=\"name\"",
                _ => "",
            };
            let (x, y) = (MARGIN + 12, top + (row + 1) * ROW);
            let _ = writeln!(
                svg,
                "<text{class} x=\"{x}\" y=\"{y}\">{}</text>",
                escaped(text)
            );
        }
        svg
    }
}

fn class(chart: &Chart<'_>, stage: &Stage) -> &'static str {
    if chart.is_here(stage) {
        return "here";
    }
    match stage.work.as_end().map(|end| end.end) {
        Some(End::Completed) => "completed",
        Some(End::Failed) => "failed",
        Some(End::Cancelled) => "cancelled",
        None => words::stage_kind(stage),
    }
}
