//! What a picture consists of: areas, texts, boxes, chips and lines, with their places in pixels.

use engine::StageName;

use super::measure::{Weight, text_width};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

impl Area {
    pub fn right(self) -> i32 {
        self.x + self.width
    }

    pub fn bottom(self) -> i32 {
        self.y + self.height
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }

    pub fn contains(self, other: Self) -> bool {
        self.x <= other.x
            && self.y <= other.y
            && other.right() <= self.right()
            && other.bottom() <= self.bottom()
    }

    pub(crate) fn moved(self, by: Point) -> Self {
        Self {
            x: self.x + by.x,
            y: self.y + by.y,
            ..self
        }
    }
}

/// What a text is in a picture, and so how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    Heading,
    Name,
    Plain,
    Dim,
    /// Where the run is.
    Here,
}

impl TextRole {
    pub fn size(self) -> i32 {
        match self {
            Self::Heading | Self::Name => 14,
            Self::Plain | Self::Dim | Self::Here => 12,
        }
    }

    pub(crate) fn weight(self) -> Weight {
        match self {
            Self::Heading | Self::Name | Self::Here => Weight::Bold,
            Self::Plain | Self::Dim => Weight::Normal,
        }
    }

    pub(crate) fn width(self, text: &str) -> i32 {
        text_width(text, self.size(), self.weight())
    }
}

/// One line of text and the area that it takes at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    pub text: String,
    pub role: TextRole,
    pub area: Area,
    pub side: TextSide,
}

/// On which side of its area a text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSide {
    Left,
    Right,
}

impl TextLine {
    /// Text that begins at this point of its baseline.
    pub(crate) fn from_left(text: String, role: TextRole, baseline: Point) -> Self {
        Self::at(text, role, baseline, TextSide::Left)
    }

    /// Text that ends at this point of its baseline.
    pub(crate) fn from_right(text: String, role: TextRole, baseline: Point) -> Self {
        Self::at(text, role, baseline, TextSide::Right)
    }

    fn at(text: String, role: TextRole, baseline: Point, side: TextSide) -> Self {
        let width = role.width(&text);
        let x = match side {
            TextSide::Left => baseline.x,
            TextSide::Right => baseline.x - width,
        };
        let area = Area {
            x,
            y: baseline.y - role.size() + 2,
            width,
            height: role.size() + 1,
        };
        Self {
            text,
            role,
            area,
            side,
        }
    }

    /// Where its baseline begins, or ends.
    pub(crate) fn anchor(&self) -> Point {
        let x = match self.side {
            TextSide::Left => self.area.x,
            TextSide::Right => self.area.right(),
        };
        Point {
            x,
            y: self.area.y + self.role.size() - 2,
        }
    }

    pub(crate) fn moved(mut self, by: Point) -> Self {
        self.area = self.area.moved(by);
        self
    }
}

/// How far a run is with a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageProgress {
    /// There is no run in the picture.
    Unknown,
    Ahead,
    Here,
    Passed,
}

/// The outline of a box, by the kind of its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    Plain,
    /// Anybody may work here, or the run ends here.
    Rounded,
    /// Several look at the same.
    Double,
    /// Several work at once.
    Stacked,
    /// A command is run.
    Barred,
    /// The engine chooses the way.
    Hexagon,
}

/// A way to a folded stage, or back from one, drawn on the stage from which it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// `None` for the way back to where an escalation interrupted.
    pub to: Option<StageName>,
    pub area: Area,
    pub text: TextLine,
    /// How often the run went this way.
    pub taken: u32,
}

/// A stage: a box of the picture, or a card beside it if the stage is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageBox {
    pub stage: StageName,
    pub kind: &'static str,
    pub outline: Outline,
    pub is_folded: bool,
    pub progress: StageProgress,
    pub area: Area,
    pub texts: Vec<TextLine>,
    pub chips: Vec<Chip>,
    /// All that is known of the stage, in lines.
    pub title: String,
}

/// An arrow between two boxes, with all the ways that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayLine {
    pub from: StageName,
    pub to: StageName,
    /// The outcomes and counters, in full.
    pub ways: Vec<String>,
    pub points: Vec<Point>,
    pub label: Vec<TextLine>,
    pub is_dashed: bool,
    /// Is it a part of the main way?
    pub is_main: bool,
    /// How often the run went this way.
    pub taken: u32,
}

impl StageBox {
    pub(crate) fn moved(mut self, by: Point) -> Self {
        self.area = self.area.moved(by);
        self.texts = self.texts.into_iter().map(|text| text.moved(by)).collect();
        for chip in &mut self.chips {
            chip.area = chip.area.moved(by);
            chip.text = chip.text.clone().moved(by);
        }
        self
    }
}
