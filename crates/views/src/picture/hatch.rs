//! Hatching, as strokes: patterns would need ids, which a page with several pictures would have twice.

use std::fmt::Write as _;

use super::shape::Area;

/// The distance between two strokes.
const STROKES: i32 = 7;

/// Strokes from the lower left to the upper right, cut at the sides of the area.
pub(crate) fn rising(area: Area) -> String {
    let mut path = String::new();
    let mut at = STROKES - area.height;
    while at < area.width {
        let (from, until) = (at.max(0), (at + area.height).min(area.width));
        let _ = write!(
            path,
            "M{} {}L{} {}",
            area.x + from,
            area.bottom() - (from - at),
            area.x + until,
            area.bottom() - (until - at)
        );
        at += STROKES;
    }
    path
}

/// Strokes from the upper left to the lower right.
pub(crate) fn falling(area: Area) -> String {
    let mut path = String::new();
    let mut at = STROKES - area.height;
    while at < area.width {
        let (from, until) = (at.max(0), (at + area.height).min(area.width));
        let _ = write!(
            path,
            "M{} {}L{} {}",
            area.x + from,
            area.y + (from - at),
            area.x + until,
            area.y + (until - at)
        );
        at += STROKES;
    }
    path
}
