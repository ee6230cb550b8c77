//! A picture as SVG: no script, no ids, nothing from elsewhere, every text escaped.

use std::fmt::Write as _;

use super::Picture;
use super::shape::{
    Area, Chip, Outline, Point, StageBox, StageProgress, TextLine, TextRole, TextSide, WayLine,
};
use super::style::STYLE;
use crate::html::escaped;

/// Who brings the style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Styled {
    Inside,
    ByPage,
}

pub(super) fn render(picture: &Picture, styled: Styled) -> String {
    let mut boxes = picture.boxes.iter();
    let class = if boxes.any(|boxed| boxed.progress != StageProgress::Unknown) {
        "of-run"
    } else {
        "of-pipeline"
    };
    let mut svg = begin_svg(class, &picture.name, picture.canvas, styled);
    start(&mut svg, picture.start);
    for line in &picture.lines {
        way(&mut svg, line);
    }
    for boxed in &picture.boxes {
        stage(&mut svg, boxed);
    }
    for line in &picture.lines {
        for label in &line.label {
            draw_text(&mut svg, label);
        }
    }
    for line in &picture.texts {
        draw_text(&mut svg, line);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The opening of an SVG of this class and name, with the style if it brings one.
pub(crate) fn begin_svg(class: &str, name: &str, canvas: Area, styled: Styled) -> String {
    let Area {
        x,
        y,
        width,
        height,
    } = canvas;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gw-picture {class}\" role=\"img\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">\n<title>{}</title>\n",
        escaped(name)
    );
    match styled {
        Styled::Inside => {
            let _ = writeln!(svg, "<style>{STYLE}</style>");
        }
        Styled::ByPage => {}
    }
    svg
}

fn start(svg: &mut String, at: Point) {
    let Point { x, y } = at;
    let _ = writeln!(
        svg,
        "<g class=\"way main\"><title>start</title><circle class=\"start\" cx=\"{x}\" cy=\"{}\" r=\"6\"/>\
         <path d=\"M{x} {}V{}\"/>{}</g>",
        y - 24,
        y - 20,
        y - 6,
        tip(at, Point { x, y: y - 20 })
    );
}

fn way(svg: &mut String, line: &WayLine) {
    let mut class = String::from("way");
    for (is_so, word) in [
        (line.is_main, " main"),
        (line.is_dashed, " dashed"),
        (line.taken > 0, " taken"),
    ] {
        if is_so {
            class.push_str(word);
        }
    }
    let title = format!("{} → {}: {}", line.from, line.to, line.ways.join(", "));
    let _ = writeln!(
        svg,
        "<g class=\"{class}\"><title>{}</title><path d=\"{}\"/>{}</g>",
        escaped(&title),
        path(&line.points),
        last_tip(&line.points)
    );
}

/// The corners are rounded, so that the eye follows a line around them.
fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (number, point) in points.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| points.get(before));
        let after = points.get(number + 1);
        match (before, after) {
            (None, _) => {
                let _ = write!(path, "M{} {}", point.x, point.y);
            }
            (Some(before), None) => {
                let end = toward(*point, *before, 6);
                let _ = write!(path, "L{} {}", end.x, end.y);
            }
            (Some(before), Some(after)) => {
                let radius = radius(*before, *point).min(radius(*point, *after));
                let (from, to) = (
                    toward(*point, *before, radius),
                    toward(*point, *after, radius),
                );
                let _ = write!(
                    path,
                    "L{} {}Q{} {} {} {}",
                    from.x, from.y, point.x, point.y, to.x, to.y
                );
            }
        }
    }
    path
}

fn radius(from: Point, to: Point) -> i32 {
    (((from.x - to.x).abs() + (from.y - to.y).abs()) / 2).min(7)
}

/// The point so far from the first towards the second; one of their coordinates is the same.
fn toward(from: Point, to: Point, by: i32) -> Point {
    Point {
        x: from.x + (to.x - from.x).signum() * by,
        y: from.y + (to.y - from.y).signum() * by,
    }
}

fn last_tip(points: &[Point]) -> String {
    match points {
        [.., before, last] => tip(*last, *before),
        [_] | [] => String::new(),
    }
}

/// The tip of an arrow that arrives at a point from another one.
fn tip(at: Point, before: Point) -> String {
    let back = toward(at, before, 9);
    let (dx, dy) = ((at.x - back.x).signum() * 5, (at.y - back.y).signum() * 5);
    format!(
        "<path class=\"tip\" d=\"M{} {}L{} {}L{} {}z\"/>",
        at.x,
        at.y,
        back.x - dy,
        back.y + dx,
        back.x + dy,
        back.y - dx
    )
}

fn stage(svg: &mut String, boxed: &StageBox) {
    let progress = match boxed.progress {
        StageProgress::Unknown => "",
        StageProgress::Ahead => " ahead",
        StageProgress::Here => " here",
        StageProgress::Passed => " passed",
    };
    let folded = if boxed.is_folded { " folded" } else { "" };
    let _ = writeln!(
        svg,
        "<g class=\"stage {}{progress}{folded}\"><title>{}</title>{}",
        boxed.kind,
        escaped(&boxed.title),
        frame(boxed)
    );
    for line in &boxed.texts {
        draw_text(svg, line);
    }
    for chip in &boxed.chips {
        draw_chip(svg, chip);
    }
    svg.push_str("</g>\n");
}

/// The outline: its shape says the kind, as its word does.
fn frame(boxed: &StageBox) -> String {
    let area = boxed.area;
    match boxed.outline {
        Outline::Double => rect("box", area, 6) + &rect("inner", inset(area, 3), 4),
        Outline::Stacked => {
            let front = Area {
                width: area.width - 4,
                height: area.height - 4,
                ..area
            };
            rect("box", front.moved(Point { x: 4, y: 4 }), 6) + &rect("box", front, 6)
        }
        Outline::Barred => {
            let bar = Area { width: 5, ..area };
            rect("box", area, 2) + &rect("bar", bar, 1)
        }
        Outline::Hexagon => hexagon(area),
        Outline::Rounded => rect("box", area, 16),
        Outline::Plain => rect("box", area, 6),
    }
}

fn rect(class: &str, area: Area, radius: i32) -> String {
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    format!(
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>\n"
    )
}

fn inset(area: Area, by: i32) -> Area {
    Area {
        x: area.x + by,
        y: area.y + by,
        width: area.width - 2 * by,
        height: area.height - 2 * by,
    }
}

fn hexagon(area: Area) -> String {
    let (left, right) = (area.x, area.right());
    let (top, bottom) = (area.y, area.bottom());
    let middle = area.y + area.height / 2;
    format!(
        "<path class=\"box\" d=\"M{left} {middle}L{} {top}H{}L{right} {middle}L{} {bottom}H{}z\"/>\n",
        left + 9,
        right - 9,
        right - 9,
        left + 9
    )
}

fn draw_chip(svg: &mut String, chip: &Chip) {
    let class = if chip.taken > 0 { "chip taken" } else { "chip" };
    let _ = writeln!(svg, "<g class=\"{class}\">{}", rect("", chip.area, 10));
    draw_text(svg, &chip.text);
    svg.push_str("</g>\n");
}

pub(crate) fn draw_text(svg: &mut String, line: &TextLine) {
    let class = match line.role {
        TextRole::Heading => "heading",
        TextRole::Name => "name",
        TextRole::Plain => "plain",
        TextRole::Dim => "dim",
        TextRole::Here => "at",
    };
    let anchor = match line.side {
        TextSide::Left => "",
        TextSide::Right => " text-anchor=\"end\"",
    };
    let Point { x, y } = line.anchor();
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{}</text>",
        escaped(&line.text)
    );
}
