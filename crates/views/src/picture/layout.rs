//! The places in pixels of boxes and arrows: heights first, then gutters, then points.

use std::collections::{BTreeMap, BTreeSet};

use super::content::Content;
use super::grid::Cell;
use super::lanes::{LaneKey, Lanes};
use super::ports::Ports;
use super::routes::{BoxSide, Route, Wish, routes, side};
use super::shape::{Area, Point, StageBox, TextLine, TextRole};

/// The distance between two lanes.
const LANE: i32 = 12;
/// Room for the tip of an arrow.
const TIP: i32 = 16;
const LABEL_LINE: i32 = 15;
/// What a gutter has besides labels and lanes.
const GUTTER: i32 = 12;
/// Boxes of two columns keep this distance, even if nothing runs between them.
const LEAST_GUTTER: i32 = 34;
const LEAST_GAP: i32 = 30;

/// A drawn arrow: its corners, and its label.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub points: Vec<Point>,
    pub label: Vec<TextLine>,
}

#[derive(Clone, Debug)]
pub(super) struct Laid {
    pub boxes: BTreeMap<Cell, StageBox>,
    pub arrows: Vec<Drawn>,
    pub width: i32,
    pub height: i32,
}

pub(super) fn laid(
    contents: &BTreeMap<Cell, Content>,
    widths: &BTreeMap<i32, i32>,
    start: Option<Cell>,
    wishes: &[Wish],
) -> Laid {
    let cells: BTreeSet<Cell> = contents.keys().copied().collect();
    let routes = routes(&cells, start, wishes);
    let ports = Ports::of(wishes, &routes);
    let mut frame = Frame {
        boxes: boxes(contents, widths, &ports),
        wishes,
        routes: &routes,
        ports: &ports,
        gutters: BTreeMap::new(),
        gaps: Vec::new(),
        channels: BTreeMap::new(),
    };
    let height = frame.place_rows();
    let width = frame.place_columns();
    let arrows = (0..wishes.len())
        .map(|number| frame.drawn(number))
        .collect();
    Laid {
        arrows,
        boxes: frame.boxes,
        width,
        height,
    }
}

fn boxes(
    contents: &BTreeMap<Cell, Content>,
    widths: &BTreeMap<i32, i32>,
    ports: &Ports,
) -> BTreeMap<Cell, StageBox> {
    let boxed = |(cell, content): (&Cell, &Content)| {
        let width = widths[&cell.column];
        (*cell, content.laid_out(width, ports.least_height(*cell)))
    };
    contents.iter().map(boxed).collect()
}

/// The lanes of a gutter, and where they begin.
#[derive(Clone, Debug, Default)]
struct Gutter {
    lanes: BTreeMap<LaneKey, i32>,
    count: i32,
    x: i32,
}

struct Frame<'a> {
    boxes: BTreeMap<Cell, StageBox>,
    wishes: &'a [Wish],
    routes: &'a [Route],
    ports: &'a Ports,
    gutters: BTreeMap<i32, Gutter>,
    /// Where the lines above each row begin.
    gaps: Vec<i32>,
    /// The line above its row that an arrow through two gutters takes.
    channels: BTreeMap<LaneKey, i32>,
}

impl Frame<'_> {
    /// Gives every box its height, and returns that of all.
    fn place_rows(&mut self) -> i32 {
        let rows = self
            .boxes
            .keys()
            .map(|cell| cell.row + 1)
            .max()
            .unwrap_or(0);
        let mut top = 0;
        for row in 0..rows {
            let channels = self.channel_lanes(row);
            let labels = self.gap_labels(row);
            self.gaps.push(top + labels);
            top += labels + channels * LANE + TIP;
            let mut bottom = top;
            for (_, boxed) in self.boxes.iter_mut().filter(|(cell, _)| cell.row == row) {
                boxed.area.y = top;
                bottom = bottom.max(boxed.area.bottom());
            }
            top = bottom;
        }
        top
    }

    fn channel_lanes(&mut self, row: usize) -> i32 {
        let mut count = 0;
        for number in 0..self.wishes.len() {
            let wish = &self.wishes[number];
            if wish.to.row == row && matches!(self.routes[number], Route::Far { .. }) {
                let key = self.key(number);
                if let std::collections::btree_map::Entry::Vacant(free) = self.channels.entry(key) {
                    free.insert(count);
                    count += 1;
                }
            }
        }
        count
    }

    /// How much room the labels of arrows that leave downwards need above this row.
    fn gap_labels(&self, row: usize) -> i32 {
        let ways = self.wishes.iter().zip(self.routes);
        let lines = ways.filter_map(|(wish, route)| match route {
            Route::Down | Route::Join => (wish.from.row + 1 == row).then_some(wish.label.len()),
            Route::Branch | Route::Side { .. } | Route::Far { .. } => None,
        });
        let lines = i32::try_from(lines.max().unwrap_or(0)).unwrap_or(0);
        (lines * LABEL_LINE + 6).max(LEAST_GAP - TIP)
    }

    /// Gives every box its column, and returns the width of all.
    fn place_columns(&mut self) -> i32 {
        let widths: BTreeMap<i32, i32> = self
            .boxes
            .iter()
            .map(|(cell, boxed)| (cell.column, boxed.area.width))
            .collect();
        let mut x = 0;
        let last = widths.keys().max().copied().unwrap_or(0);
        for (column, width) in widths {
            x = self.place_gutter(column, x);
            for (_, boxed) in self
                .boxes
                .iter_mut()
                .filter(|(cell, _)| cell.column == column)
            {
                let by = Point { x, y: boxed.area.y };
                boxed.area.x = x;
                boxed.texts = boxed.texts.drain(..).map(|text| text.moved(by)).collect();
                for chip in &mut boxed.chips {
                    chip.area = chip.area.moved(by);
                    chip.text = chip.text.clone().moved(by);
                }
            }
            x += width;
        }
        self.place_gutter(last + 1, x)
    }

    /// Returns where the column to the right of the gutter begins.
    fn place_gutter(&mut self, number: i32, x: i32) -> i32 {
        let (lanes, count) = self.lanes(number).assigned();
        let left = self.label_width(number, BoxSide::Right);
        let right = self.label_width(number, BoxSide::Left);
        let gutter = Gutter {
            lanes,
            count,
            x: x + left,
        };
        self.gutters.insert(number, gutter);
        let is_between = self.has_column(number - 1) && self.has_column(number);
        let least = if is_between { LEAST_GUTTER } else { 0 };
        x + (left + right + count * LANE + GUTTER).max(least)
    }

    fn has_column(&self, column: i32) -> bool {
        self.boxes.keys().any(|cell| cell.column == column)
    }

    /// The widest label beside the boxes that have the gutter on this side.
    fn label_width(&self, gutter: i32, of: BoxSide) -> i32 {
        let ways = self.wishes.iter().zip(self.routes);
        let widths = ways.flat_map(|(wish, route)| {
            let exits = route.exit(wish) == Some(gutter) && side(gutter, wish.from.column) == of;
            let enters = route.entry(wish) == Some(gutter) && side(gutter, wish.to.column) == of;
            let labels = wish.label.iter().filter(move |_| exits);
            let labels = labels.map(|label| TextRole::Plain.width(label) + 14);
            labels.chain(enters.then_some(TIP))
        });
        widths.max().unwrap_or(0)
    }

    fn lanes(&self, gutter: i32) -> Lanes {
        let mut lanes = Lanes::default();
        for (number, route) in self.routes.iter().enumerate() {
            let key = self.key(number);
            match *route {
                Route::Side { gutter: at } if at == gutter => {
                    lanes.add(key, self.exit_y(number), self.entry_y(number));
                }
                Route::Far { out, into } => {
                    let channel = self.channel_y(number);
                    if out == gutter {
                        lanes.add(key, self.exit_y(number), channel);
                    }
                    if into == gutter {
                        lanes.add(key, channel, self.entry_y(number));
                    }
                }
                Route::Down | Route::Branch | Route::Join | Route::Side { .. } => {}
            }
        }
        lanes
    }

    /// Arrows to the same box share their lanes.
    fn key(&self, number: usize) -> LaneKey {
        let to = self.wishes[number].to;
        (to.row, to.column)
    }

    fn source_area(&self, number: usize) -> Area {
        self.boxes[&self.wishes[number].from].area
    }

    fn target_area(&self, number: usize) -> Area {
        self.boxes[&self.wishes[number].to].area
    }

    fn exit_y(&self, number: usize) -> i32 {
        let wish = &self.wishes[number];
        let area = self.source_area(number);
        let Some(gutter) = self.routes[number].exit(wish) else {
            return area.bottom();
        };
        let at = (wish.from, side(gutter, wish.from.column));
        area.y + self.ports.exit_height(number, at, area.height)
    }

    fn entry_y(&self, number: usize) -> i32 {
        let wish = &self.wishes[number];
        let area = self.target_area(number);
        let Some(gutter) = self.routes[number].entry(wish) else {
            return area.y;
        };
        let at = (wish.to, side(gutter, wish.to.column));
        let route = self.routes[number];
        area.y + self.ports.entry_height(number, route, at, area.height)
    }

    fn channel_y(&self, number: usize) -> i32 {
        let lane = self.channels.get(&self.key(number)).copied().unwrap_or(0);
        self.gaps[self.wishes[number].to.row] + lane * LANE
    }

    /// Lanes are counted from the main way outwards.
    fn lane_x(&self, number: usize, gutter: i32) -> i32 {
        let at = &self.gutters[&gutter];
        let lane = at.lanes.get(&self.key(number)).copied().unwrap_or(0);
        let lane = if gutter <= 0 {
            at.count - 1 - lane
        } else {
            lane
        };
        at.x + GUTTER / 2 + lane * LANE + LANE / 2
    }

    fn drawn(&self, number: usize) -> Drawn {
        let (from, to) = (self.source_area(number), self.target_area(number));
        let (out, into) = (self.exit_y(number), self.entry_y(number));
        let wish = &self.wishes[number];
        let route = self.routes[number];
        let start = route.exit(wish).map_or(from.x + from.width / 2, |gutter| {
            edge(from, side(gutter, wish.from.column))
        });
        let end = route.entry(wish).map_or(to.x + to.width / 2, |gutter| {
            edge(to, side(gutter, wish.to.column))
        });
        let mut points = vec![Point { x: start, y: out }];
        match route {
            Route::Down => {}
            Route::Branch => points.push(Point { x: end, y: out }),
            Route::Join => points.push(Point { x: start, y: into }),
            Route::Side { gutter } => {
                let x = self.lane_x(number, gutter);
                points.extend([Point { x, y: out }, Point { x, y: into }]);
            }
            Route::Far {
                out: first,
                into: second,
            } => {
                let y = self.channel_y(number);
                let (x, other) = (self.lane_x(number, first), self.lane_x(number, second));
                points.extend([Point { x, y: out }, Point { x, y }]);
                points.extend([Point { x: other, y }, Point { x: other, y: into }]);
            }
        }
        points.push(Point { x: end, y: into });
        let label = self.label(number, points[0]);
        Drawn { points, label }
    }

    fn label(&self, number: usize, start: Point) -> Vec<TextLine> {
        let wish = &self.wishes[number];
        let at_side = self.routes[number].exit(wish);
        let at_side = at_side.map(|gutter| side(gutter, wish.from.column));
        let lines = i32::try_from(wish.label.len()).unwrap_or(0);
        let heads = i32::try_from(wish.heads).unwrap_or(0);
        let texts = (0..).zip(&wish.label);
        let text = |(line, text): (i32, &String)| {
            let role = if line < heads {
                TextRole::Plain
            } else {
                TextRole::Dim
            };
            let above = start.y - 4 - (lines - 1 - line) * LABEL_LINE;
            let (text, x) = (text.clone(), start.x);
            match at_side {
                None => {
                    let y = start.y + 14 + line * LABEL_LINE;
                    TextLine::from_left(text, role, Point { x: x + 7, y })
                }
                Some(BoxSide::Right) => {
                    TextLine::from_left(text, role, Point { x: x + 6, y: above })
                }
                Some(BoxSide::Left) => {
                    TextLine::from_right(text, role, Point { x: x - 6, y: above })
                }
            }
        };
        texts.map(text).collect()
    }
}

fn edge(area: Area, side: BoxSide) -> i32 {
    match side {
        BoxSide::Left => area.x,
        BoxSide::Right => area.right(),
    }
}
