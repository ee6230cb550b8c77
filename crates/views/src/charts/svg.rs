//! A chart as SVG: no script, no ids, nothing from elsewhere, every text escaped.

use std::fmt::Write as _;

use super::{PartKind, PlacedChart, PlacedPart};
use crate::html::escaped;
use crate::picture::{Area, Styled, begin_svg, draw_text, falling, rising};

pub(super) fn render(chart: &PlacedChart, styled: Styled) -> String {
    let mut svg = begin_svg("gw-chart", &chart.name, chart.canvas, styled);
    for part in &chart.parts {
        draw_part(&mut svg, part);
    }
    for text in &chart.texts {
        draw_text(&mut svg, text);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_part(svg: &mut String, part: &PlacedPart) {
    let Area {
        x,
        y,
        width,
        height,
    } = part.area;
    let (class, pattern) = match part.kind {
        PartKind::Plain => ("plain", String::new()),
        PartKind::Good => ("good", String::new()),
        PartKind::Bad => ("bad", rising(part.area) + &falling(part.area)),
        PartKind::Void => ("void", String::new()),
        PartKind::UpTo90 => ("upto", String::new()),
    };
    let shape = match part.kind {
        PartKind::UpTo90 => {
            let (middle, right) = (y + height / 2, x + width);
            format!(
                "<path d=\"M{x} {middle}H{right}M{right} {}V{}\"/>",
                y + 3,
                y + height - 3
            )
        }
        PartKind::Plain | PartKind::Good | PartKind::Bad | PartKind::Void => {
            format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
        }
    };
    let hatch = if pattern.is_empty() {
        String::new()
    } else {
        format!("<path class=\"hatch\" d=\"{pattern}\"/>")
    };
    let title = escaped(&part.title);
    let _ = writeln!(
        svg,
        "<g class=\"part {class}\"><title>{title}</title>{shape}{hatch}</g>"
    );
}
