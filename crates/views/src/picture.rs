//! The picture of a pipeline: the main way straight down, loops beside it, escalations as chips, and the
//! place of a run drawn in. One layout for files, pages and reports.
//!
//! Invariant: every text of a definition or a run is escaped when the SVG is written.

mod cards;
mod content;
mod folding;
mod grid;
mod hatch;
mod labels;
mod lanes;
mod layout;
mod links;
mod marks;
mod measure;
mod order;
mod page;
mod plan;
mod ports;
mod routes;
mod shape;
mod style;
mod summary;
mod svg;

use engine::{Definition, Pipeline};

use self::content::BoxSource;
use self::links::Links;
use self::order::Order;
use self::plan::PicturePlan;
use crate::diagram::Chart;

pub(crate) use hatch::{falling, rising};
pub use marks::RunMarks;
pub(crate) use measure::fitted;
pub use page::page;
pub use shape::{
    Area, Chip, Outline, Point, StageBox, StageProgress, TextLine, TextRole, TextSide, WayLine,
};
pub use style::STYLE;
pub(crate) use svg::{Styled, begin_svg, draw_text};

/// The most that a laptop shows without scrolling sideways.
pub const WIDEST: i32 = 1340;

/// A picture with the place of everything in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// All that is drawn lies in here.
    pub canvas: Area,
    pub name: String,
    /// Every stage once: a box, or a card if it is folded.
    pub boxes: Vec<StageBox>,
    /// Every way between two boxes once; a line may stand for several.
    pub lines: Vec<WayLine>,
    /// Headings and the explanation of symbols.
    pub texts: Vec<TextLine>,
    /// Where a run begins: above the box of the start stage.
    pub start: Point,
}

impl Picture {
    /// The picture of a pipeline, with the place and the ways of a run.
    pub fn of(pipeline: &Pipeline, marks: Option<&RunMarks<'_>>) -> Self {
        let status = marks.map(|marks| engine::status(pipeline, marks.run));
        let status = status.as_ref().map(engine::Status::word);
        Self::drawn(pipeline.definition(), marks, status)
    }

    /// The picture of a definition that nobody has checked.
    pub fn of_definition(definition: &Definition) -> Self {
        Self::drawn(definition, None, None)
    }

    /// A whole SVG with its style, to be written to a file or put into a page.
    pub fn svg(&self) -> String {
        svg::render(self, svg::Styled::Inside)
    }

    /// The same for a page that has `STYLE` already.
    pub fn svg_without_style(&self) -> String {
        svg::render(self, svg::Styled::ByPage)
    }

    fn drawn(
        definition: &Definition,
        marks: Option<&RunMarks<'_>>,
        status: Option<&'static str>,
    ) -> Self {
        let chart = Chart::new(definition, None);
        let links = Links::of(&chart, marks.map(|marks| marks.run));
        let start = chart.place(&definition.start).unwrap_or(0);
        let order = Order::of(definition, start, &links.all);
        let folded = folding::folded(definition, &links, &order);
        let cells = grid::cells(&links.all, &order, &folded);
        let source = BoxSource {
            chart: &chart,
            links: &links,
            marks,
            status,
        };
        let plan = PicturePlan {
            contents: plan::contents(&source, &cells, &folded),
            cards: folded.iter().map(|place| source.card(*place)).collect(),
            start: cells.get(&start).copied(),
            cells: &cells,
            order: &order,
            source: &source,
        };
        plan.picture()
    }
}
