//! The cards of folded stages beside or below the picture, and the explanation of its symbols.

use super::content::Content;
use super::shape::{Area, Point, TextLine, TextRole};
use super::{Picture, WIDEST};

const CARD: i32 = 290;
const GAP: i32 = 16;
/// Between the picture and its cards.
const BESIDE: i32 = 44;
const MARGIN: i32 = 18;

/// Adds the cards: to the right where there is room, else in rows below.
pub(super) fn add(picture: &mut Picture, cards: &[Content]) {
    if cards.is_empty() {
        return;
    }
    let wide = picture.canvas.width;
    let is_beside = wide + BESIDE + CARD + 2 * MARGIN <= WIDEST;
    let origin = if is_beside {
        Point {
            x: wide + BESIDE,
            y: 14,
        }
    } else {
        Point {
            x: 0,
            y: picture.canvas.height + BESIDE,
        }
    };
    let columns = if is_beside {
        1
    } else {
        (wide.max(WIDEST - 2 * MARGIN) + GAP) / (CARD + GAP)
    };
    let heading = TextLine::from_left("Where the chips lead".to_owned(), TextRole::Heading, origin);
    picture.texts.push(heading);
    let mut bottoms = vec![origin.y + 12; usize::try_from(columns).unwrap_or(1)];
    for card in cards {
        let shortest = bottoms
            .iter()
            .copied()
            .enumerate()
            .min_by_key(|(_, bottom)| *bottom);
        let (column, top) = shortest.unwrap_or((0, origin.y));
        let column_x = i32::try_from(column).unwrap_or(0) * (CARD + GAP);
        let by = Point {
            x: origin.x + column_x,
            y: top,
        };
        let boxed = card.laid_out(CARD, 0).moved(by);
        bottoms[column] = boxed.area.bottom() + GAP;
        widen(picture, boxed.area);
        picture.boxes.push(boxed);
    }
}

/// One line that says what the symbols mean.
pub(super) fn add_legend(picture: &mut Picture, has_run: bool) {
    let mut words: Vec<&str> = Vec::new();
    if has_run {
        words.extend(["✓ passed", "● here", "○ ahead", "thick line: taken"]);
    }
    let has_chips = picture.boxes.iter().any(|boxed| !boxed.chips.is_empty());
    if has_chips {
        words.extend(["⚑ asks a person", "■ ends"]);
    }
    let mut at = Point {
        x: 0,
        y: picture.canvas.bottom() + 30,
    };
    for word in words {
        let text = TextLine::from_left(word.to_owned(), TextRole::Dim, at);
        at.x = text.area.right() + 22;
        widen(picture, text.area);
        picture.texts.push(text);
    }
}

fn widen(picture: &mut Picture, area: Area) {
    let canvas = &mut picture.canvas;
    canvas.width = canvas.width.max(area.right());
    canvas.height = canvas.height.max(area.bottom());
}

pub(super) fn with_margin(canvas: Area) -> Area {
    Area {
        x: canvas.x - MARGIN,
        y: canvas.y - MARGIN,
        width: canvas.width + 2 * MARGIN,
        height: canvas.height + 2 * MARGIN,
    }
}
