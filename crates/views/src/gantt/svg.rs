//! A Gantt chart as SVG: no script, no ids, nothing from elsewhere, every text escaped.

use std::fmt::Write as _;

use super::{BarKind, Gantt, PlacedBar};
use crate::html::escaped;
use crate::picture::{Area, Styled, begin_svg, draw_text, falling, rising};

pub(super) fn render(gantt: &Gantt, styled: Styled) -> String {
    let mut svg = begin_svg("gw-gantt", "time", gantt.canvas, styled);
    let (top, bottom) = (gantt.plot.y - 8, gantt.plot.bottom());
    for x in &gantt.ticks {
        let _ = writeln!(svg, "<path class=\"tick\" d=\"M{x} {top}V{bottom}\"/>");
    }
    for area in &gantt.breaks {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        let _ = writeln!(
            svg,
            "<rect class=\"break\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }
    for bar in &gantt.bars {
        draw_bar(&mut svg, bar);
    }
    for text in &gantt.texts {
        draw_text(&mut svg, text);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_bar(svg: &mut String, bar: &PlacedBar) {
    let Area {
        x,
        y,
        width,
        height,
    } = bar.area;
    let (class, pattern) = match bar.kind {
        BarKind::Done => ("done", String::new()),
        BarKind::Failed => ("failed", rising(bar.area) + &falling(bar.area)),
        BarKind::Dropped => ("dropped", String::new()),
        BarKind::AtWork => ("working", String::new()),
        BarKind::Waiting => ("waiting", rising(bar.area)),
    };
    let _ = writeln!(
        svg,
        "<g class=\"bar {class}\"><title>{}</title>\
         <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>",
        escaped(&bar.title)
    );
    if !pattern.is_empty() {
        let _ = writeln!(svg, "<path class=\"hatch\" d=\"{pattern}\"/>");
        // Letters are read on a plain ground.
        let text = bar.text.area;
        let _ = writeln!(
            svg,
            "<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/>",
            text.x - 2,
            y + 2,
            text.width + 4,
            height - 4
        );
    }
    draw_text(svg, &bar.text);
    svg.push_str("</g>\n");
}
