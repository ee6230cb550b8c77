//! What stands in a box: who works there, what may go wrong, and how far a run is.

use std::collections::BTreeMap;

use engine::{Stage, StageName, Work};

use super::links::{Link, LinkKind, Links};
use super::marks::RunMarks;
use super::measure::{fitted, folded_lines};
use super::shape::{Area, Chip, Outline, Point, StageBox, StageProgress, TextLine, TextRole};
use super::summary::summary;
use crate::diagram::{Chart, artifact_specs, work};
use crate::safe::line;
use crate::words;

const PADDING: i32 = 12;
const LINE: i32 = 17;
const CHIP_HEIGHT: i32 = 20;
const CHIP_GAP: i32 = 5;
const CHIP_PADDING: i32 = 8;
const NARROWEST: i32 = 170;
/// How many lines one command, question or panel may take.
const MOST_LINES: usize = 2;
const MOST_TEXTS: usize = 3;

/// How wide the parts of a picture may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// A box, for the lines and chips in it.
    pub text: i32,
    /// A box, for its heading.
    pub heading: i32,
    /// A label.
    pub label: i32,
}

/// The words of a box before anybody knows how wide it is.
#[derive(Clone, Debug)]
pub(super) struct Content {
    stage: StageName,
    kind: &'static str,
    outline: Outline,
    progress: StageProgress,
    heading: String,
    corner: String,
    here: Option<String>,
    lines: Vec<String>,
    chips: Vec<ChipWords>,
    is_folded: bool,
    title: String,
}

#[derive(Clone, Debug)]
struct ChipWords {
    to: Option<StageName>,
    /// What leads there: it may be cut.
    ways: String,
    /// Where it leads: it stays whole, as far as there is room.
    target: String,
    taken: u32,
}

impl ChipWords {
    fn text(&self, room: i32) -> String {
        let role = TextRole::Plain;
        let target = fitted(&self.target, role.size(), role.weight(), room - 30);
        let left = room - role.width(&target) - 5;
        let ways = fitted(&self.ways, role.size(), role.weight(), left);
        format!("{ways} {target}")
    }
}

/// What every box is made from.
pub(super) struct BoxSource<'a> {
    pub chart: &'a Chart<'a>,
    pub links: &'a Links,
    pub marks: Option<&'a RunMarks<'a>>,
    /// The status of the run, in a word.
    pub status: Option<&'static str>,
}

impl BoxSource<'_> {
    /// The box of a stage from which these links lead to folded stages.
    pub(super) fn boxed(&self, place: usize, folded: &[&Link]) -> Content {
        let stage = &self.chart.definition.stages[place];
        let run = self.marks.map(|marks| marks.run);
        let mut content = self.plain(stage);
        content.lines = summary(self.chart, run, stage);
        content.chips = self.chips(place, stage, folded);
        content
    }

    /// The card of a folded stage: its question, and where each answer leads.
    pub(super) fn card(&self, place: usize) -> Content {
        let stage = &self.chart.definition.stages[place];
        let mut content = self.plain(stage);
        content.is_folded = true;
        content.heading = match progress_symbol(content.progress) {
            None => named(stage),
            Some(symbol) => format!("{symbol} {}", named(stage)),
        };
        content.lines = match &stage.work {
            Work::Ask(ask) => vec![format!("“{}”", line(&ask.question))],
            Work::End(_)
            | Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Review(_)
            | Work::Steps(_)
            | Work::Route(_) => Vec::new(),
        };
        let back = self.links.back.iter().filter(|way| way.from == place);
        let back = back.map(|way| answer(&way.words, "↩ back to where it was"));
        let onward = self.links.all.iter().filter(|link| link.from == place);
        let onward = onward.map(|link| {
            let to = &self.chart.definition.stages[link.to];
            answer(&link.words, &format!("→ {}", named(to)))
        });
        content.lines.extend(back.chain(onward));
        content
    }

    fn plain(&self, stage: &Stage) -> Content {
        let kind = words::stage_kind(stage);
        let progress = self.progress(stage);
        let passed = self.marks.map_or(0, |marks| marks.passed(&stage.name));
        let what = match stage.work.as_end() {
            Some(end) => words::end(end.end),
            None => kind,
        };
        let corner = match passed {
            0 | 1 => what.to_owned(),
            often => format!("{often}× · {what}"),
        };
        let here = match progress {
            StageProgress::Here => Some(format!("here: {}", self.status.unwrap_or("running"))),
            StageProgress::Unknown | StageProgress::Ahead | StageProgress::Passed => None,
        };
        Content {
            stage: stage.name.clone(),
            kind: what,
            outline: outline(stage),
            progress,
            heading: heading(stage, progress),
            corner,
            here,
            lines: Vec::new(),
            chips: Vec::new(),
            is_folded: false,
            title: title(self.chart, stage),
        }
    }

    fn progress(&self, stage: &Stage) -> StageProgress {
        match self.marks {
            None => StageProgress::Unknown,
            Some(marks) if marks.is_here(&stage.name) => StageProgress::Here,
            Some(marks) if marks.passed(&stage.name) > 0 => StageProgress::Passed,
            Some(_) => StageProgress::Ahead,
        }
    }

    fn chips(&self, place: usize, stage: &Stage, folded: &[&Link]) -> Vec<ChipWords> {
        let mut by_target: BTreeMap<usize, Vec<&Link>> = BTreeMap::new();
        for link in folded {
            by_target.entry(link.to).or_default().push(link);
        }
        let mut chips: Vec<ChipWords> = by_target
            .into_iter()
            .map(|(to, links)| self.chip(stage, to, &links))
            .collect();
        let back = self.links.back.iter().filter(|way| way.from == place);
        chips.extend(back.map(|way| ChipWords {
            to: None,
            ways: way.words.join(" · "),
            target: "↩ back".to_owned(),
            taken: 0,
        }));
        if self.chart.start_with_steps() == Some(place) {
            chips.push(ChipWords {
                to: None,
                ways: "▶".to_owned(),
                target: "starts here with steps".to_owned(),
                taken: 0,
            });
        }
        chips
    }

    fn chip(&self, from: &Stage, to: usize, links: &[&Link]) -> ChipWords {
        let to = &self.chart.definition.stages[to];
        let ways: Vec<String> = links.iter().map(|link| chip_way(link)).collect();
        let taken = self
            .marks
            .map_or(0, |marks| marks.taken(&from.name, &to.name));
        let often = match taken {
            0 | 1 => String::new(),
            often => format!(" {often}×"),
        };
        ChipWords {
            to: Some(to.name.clone()),
            ways: ways.join(", "),
            target: format!("{}{often}", named(to)),
            taken,
        }
    }
}

fn outline(stage: &Stage) -> Outline {
    match &stage.work {
        Work::Agent(_) | Work::Ask(_) => Outline::Plain,
        Work::Open(_) | Work::End(_) => Outline::Rounded,
        Work::Check(_) => Outline::Barred,
        Work::Review(_) => Outline::Double,
        Work::Steps(_) => Outline::Stacked,
        Work::Route(_) => Outline::Hexagon,
    }
}

fn chip_way(link: &Link) -> String {
    match link.kind {
        LinkKind::Way | LinkKind::Full | LinkKind::Commands => link.words.join(" · "),
        LinkKind::Outgrown => "outgrown".to_owned(),
    }
}

/// An answer, where it leads, and what it does on the way.
fn answer(words: &[String], leads: &str) -> String {
    let head = words.first().map_or("", String::as_str);
    let rest = words.iter().skip(1).map(|word| format!(" · {word}"));
    format!("{head} {leads}{}", rest.collect::<String>())
}

/// The name of a stage, marked if a person is asked there or the run ends.
fn named(stage: &Stage) -> String {
    match &stage.work {
        Work::End(_) => format!("■ {}", stage.name),
        Work::Ask(_) => format!("⚑ {}", stage.name),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_) => stage.name.to_string(),
    }
}

fn heading(stage: &Stage, progress: StageProgress) -> String {
    match progress_symbol(progress) {
        None => stage.name.to_string(),
        Some(symbol) => format!("{symbol} {}", stage.name),
    }
}

fn progress_symbol(progress: StageProgress) -> Option<&'static str> {
    match progress {
        StageProgress::Unknown => None,
        StageProgress::Ahead => Some("○"),
        StageProgress::Here => Some("●"),
        StageProgress::Passed => Some("✓"),
    }
}

fn title(chart: &Chart<'_>, stage: &Stage) -> String {
    let mut lines = vec![format!("{} · {}", stage.name, words::stage_kind(stage))];
    lines.extend(stage.about.as_deref().map(line));
    lines.extend(work(chart, stage));
    lines.extend(artifact_specs(stage));
    lines.join(" — ")
}

impl Content {
    /// How wide the box would like to be, within reason.
    pub(super) fn natural_width(&self, room: Room) -> i32 {
        let heading = TextRole::Name.width(&self.heading) + 12 + TextRole::Dim.width(&self.corner);
        let lines = self.lines.iter().map(|line| TextRole::Plain.width(line));
        let chips = self.chips.iter();
        let chips =
            chips.map(|chip| TextRole::Plain.width(&chip.text(i32::MAX)) + 2 * CHIP_PADDING);
        let widest = lines
            .chain(chips)
            .max()
            .unwrap_or(0)
            .min(room.text - 2 * PADDING);
        (widest.max(heading) + 2 * PADDING).clamp(NARROWEST, room.heading)
    }

    /// The box at the origin, so wide and at least so high.
    pub(super) fn laid_out(&self, width: i32, least_height: i32) -> StageBox {
        let room = width - 2 * PADDING;
        let mut texts = self.heading_texts(width);
        let mut baseline = 21;
        let here = self.here.iter().map(|here| (here.clone(), TextRole::Here));
        let lines = self
            .lines
            .iter()
            .take(MOST_TEXTS + usize::from(self.is_folded) * 10);
        let lines = lines.flat_map(|line| {
            folded_lines(
                line,
                TextRole::Plain.size(),
                room,
                MOST_LINES + usize::from(self.is_folded),
            )
        });
        for (text, role) in here.chain(lines.map(|line| (line, TextRole::Plain))) {
            baseline += LINE;
            let at = Point {
                x: PADDING,
                y: baseline,
            };
            texts.push(TextLine::from_left(text, role, at));
        }
        let (chips, bottom) = self.chip_row(room, baseline + 10);
        let area = Area {
            x: 0,
            y: 0,
            width,
            height: bottom.max(least_height),
        };
        StageBox {
            stage: self.stage.clone(),
            kind: self.kind,
            outline: self.outline,
            is_folded: self.is_folded,
            progress: self.progress,
            area,
            texts,
            chips,
            title: self.title.clone(),
        }
    }

    fn heading_texts(&self, width: i32) -> Vec<TextLine> {
        let corner = Point {
            x: width - PADDING,
            y: 21,
        };
        let corner = TextLine::from_right(self.corner.clone(), TextRole::Dim, corner);
        let room = corner.area.x - PADDING - 8;
        let role = TextRole::Name;
        let heading = fitted(&self.heading, role.size(), role.weight(), room);
        let at = Point { x: PADDING, y: 21 };
        vec![TextLine::from_left(heading, role, at), corner]
    }

    /// The chips below this height, in rows, and where they end.
    fn chip_row(&self, room: i32, top: i32) -> (Vec<Chip>, i32) {
        let mut at = Point { x: PADDING, y: top };
        let mut chips = Vec::new();
        for words in &self.chips {
            let role = TextRole::Plain;
            let text = words.text(room - 2 * CHIP_PADDING);
            let width = role.width(&text) + 2 * CHIP_PADDING;
            if at.x > PADDING && at.x + width > PADDING + room {
                at = Point {
                    x: PADDING,
                    y: at.y + CHIP_HEIGHT + CHIP_GAP,
                };
            }
            let baseline = Point {
                x: at.x + CHIP_PADDING,
                y: at.y + 14,
            };
            chips.push(Chip {
                to: words.to.clone(),
                area: Area {
                    x: at.x,
                    y: at.y,
                    width,
                    height: CHIP_HEIGHT,
                },
                text: TextLine::from_left(text, role, baseline),
                taken: words.taken,
            });
            at.x += width + CHIP_GAP;
        }
        let bottom = if chips.is_empty() {
            top
        } else {
            at.y + CHIP_HEIGHT + 10
        };
        (chips, bottom)
    }
}
