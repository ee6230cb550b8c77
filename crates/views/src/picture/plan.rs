//! A picture in the making: what is to be drawn, in as much room as there is.

use std::collections::{BTreeMap, BTreeSet};

use super::content::{BoxSource, Content, Room};
use super::grid::Cell;
use super::labels;
use super::layout::{Laid, laid};
use super::links::Link;
use super::order::Order;
use super::routes::Wish;
use super::shape::{Area, Point, WayLine};
use super::{Picture, WIDEST, cards};

/// From the most generous to the tightest; the first with which the picture fits is taken.
const ROOMS: [Room; 3] = [
    Room {
        text: 270,
        heading: 330,
        label: 150,
    },
    Room {
        text: 250,
        heading: 300,
        label: 120,
    },
    Room {
        text: 220,
        heading: 250,
        label: 100,
    },
];

/// What is to be drawn, before anything has its place.
pub(super) struct PicturePlan<'a> {
    pub contents: BTreeMap<Cell, Content>,
    pub cards: Vec<Content>,
    pub start: Option<Cell>,
    pub cells: &'a BTreeMap<usize, Cell>,
    pub order: &'a Order,
    pub source: &'a BoxSource<'a>,
}

impl PicturePlan<'_> {
    pub(super) fn picture(&self) -> Picture {
        let [generous, others @ ..] = ROOMS;
        let mut picture = self.within(generous);
        for room in others {
            if picture.canvas.width > WIDEST {
                picture = self.within(room);
            }
        }
        picture
    }

    fn within(&self, room: Room) -> Picture {
        let links = &self.source.links.all;
        let widths = labels::column_widths(links, self.cells, &self.contents, room);
        let merged = labels::merged(self.source, self.cells, self.order, &widths, room);
        let wishes: Vec<_> = merged.iter().map(|(wish, _)| wish.clone()).collect();
        let laid = laid(&self.contents, &widths, self.start, &wishes);
        self.assembled(laid, merged)
    }

    fn assembled(&self, laid: Laid, merged: Vec<(Wish, labels::Ways)>) -> Picture {
        let start = self.start.and_then(|cell| laid.boxes.get(&cell));
        let start = start.map_or(Point::default(), |boxed| Point {
            x: boxed.area.x + boxed.area.width / 2,
            y: boxed.area.y,
        });
        let lines = merged.into_iter().zip(laid.arrows);
        let lines = lines.map(|((wish, ways), drawn)| WayLine {
            from: ways.from,
            to: ways.to,
            ways: ways.words,
            points: drawn.points,
            label: drawn.label,
            is_dashed: wish.is_dashed,
            is_main: wish.is_main,
            taken: ways.taken,
        });
        let mut picture = Picture {
            canvas: Area {
                x: 0,
                y: 0,
                width: laid.width,
                height: laid.height,
            },
            name: self.source.chart.definition.name.to_string(),
            boxes: laid.boxes.into_values().collect(),
            lines: lines.collect(),
            texts: Vec::new(),
            start,
        };
        cards::add(&mut picture, &self.cards);
        cards::add_legend(&mut picture, self.source.marks.is_some());
        picture.canvas = cards::with_margin(picture.canvas);
        picture
    }
}

/// The words of every box, by its cell.
pub(super) fn contents(
    source: &BoxSource<'_>,
    cells: &BTreeMap<usize, Cell>,
    folded: &BTreeSet<usize>,
) -> BTreeMap<Cell, Content> {
    let boxed = |(place, cell): (&usize, &Cell)| {
        let links = source.links.all.iter();
        let to_folded = |link: &&Link| link.from == *place && folded.contains(&link.to);
        let links: Vec<&Link> = links.filter(to_folded).collect();
        (*cell, source.boxed(*place, &links))
    };
    cells.iter().map(boxed).collect()
}
