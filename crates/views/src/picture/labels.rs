//! The arrows between boxes, and the lines of their labels: ways between the same boxes share one.

use std::collections::BTreeMap;

use engine::StageName;

use super::content::{BoxSource, Content, Room};
use super::grid::Cell;
use super::links::{Link, LinkKind};
use super::measure::{fitted, folded_lines};
use super::order::Order;
use super::routes::Wish;
use super::shape::TextRole;

/// What a label below a box keeps free beside its line.
const BESIDE_LINE: i32 = 10;
const MOST_LINES: usize = 3;

/// What a drawn arrow stands for.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    pub from: StageName,
    pub to: StageName,
    /// In full.
    pub words: Vec<String>,
    pub taken: u32,
}

/// The width of each column: that of its widest box, or of the longest word below one.
pub(super) fn column_widths(
    links: &[Link],
    cells: &BTreeMap<usize, Cell>,
    contents: &BTreeMap<Cell, Content>,
    room: Room,
) -> BTreeMap<i32, i32> {
    let boxes = contents
        .iter()
        .map(|(cell, content)| (cell.column, content.natural_width(room)));
    let labels = links.iter().filter_map(|link| {
        let from = cells.get(&link.from)?;
        cells.get(&link.to)?;
        let words = link.words.iter().flat_map(|words| words.split(' '));
        let longest = words.map(|word| TextRole::Plain.width(word)).max()?;
        Some((from.column, 2 * (longest.min(room.label) + BESIDE_LINE)))
    });
    let mut widths: BTreeMap<i32, i32> = BTreeMap::new();
    for (column, width) in boxes.chain(labels) {
        let widest = widths.entry(column).or_insert(0);
        *widest = width.max(*widest);
    }
    widths
}

pub(super) fn merged(
    source: &BoxSource<'_>,
    cells: &BTreeMap<usize, Cell>,
    order: &Order,
    widths: &BTreeMap<i32, i32>,
    room: Room,
) -> Vec<(Wish, Ways)> {
    let mut groups: BTreeMap<(usize, usize, bool), Vec<&Link>> = BTreeMap::new();
    for link in &source.links.all {
        if cells.contains_key(&link.from) && cells.contains_key(&link.to) {
            let is_dashed = link.kind != LinkKind::Way;
            let group = groups.entry((link.from, link.to, is_dashed));
            group.or_default().push(link);
        }
    }
    let arrow = |((from, to, is_dashed), links): ((usize, usize, bool), Vec<&Link>)| {
        let stages = &source.chart.definition.stages;
        let (from_name, to_name) = (&stages[from].name, &stages[to].name);
        let taken = source
            .marks
            .map_or(0, |marks| marks.taken(from_name, to_name));
        let (from, to) = (cells[&from], cells[&to]);
        let room = (widths[&from.column] / 2 - BESIDE_LINE).min(room.label);
        let wish = Wish {
            from,
            to,
            is_dashed,
            is_main: is_main(order, &links),
            heads: heads(&links, room).len(),
            label: label(&links, taken, room),
        };
        let words = links.iter().map(|link| link.words.join(" · "));
        let ways = Ways {
            from: from_name.clone(),
            to: to_name.clone(),
            words: words.collect(),
            taken,
        };
        (wish, ways)
    };
    groups.into_iter().map(arrow).collect()
}

fn is_main(order: &Order, links: &[&Link]) -> bool {
    let mut pairs = order.main.windows(2);
    pairs.any(|pair| links.iter().any(|link| pair == [link.from, link.to]))
}

/// The outcomes, in lines.
fn heads(links: &[&Link], room: i32) -> Vec<String> {
    let heads = links.iter().filter_map(|link| link.words.first());
    let heads: Vec<&str> = heads.map(String::as_str).collect();
    let lines = packed(&heads, room).into_iter();
    lines
        .flat_map(|line| folded_lines(&line, TextRole::Plain.size(), room, 2))
        .collect()
}

/// The outcomes first, then what they count and do; each line cut to the room.
fn label(links: &[&Link], taken: u32, room: i32) -> Vec<String> {
    let mut lines = heads(links, room);
    let rest = links.iter().flat_map(|link| link.words.iter().skip(1));
    for words in rest {
        if !lines.contains(words) {
            lines.push(words.clone());
        }
    }
    if taken > 1 {
        lines.insert(lines.len().min(1), format!("taken {taken}×"));
    }
    let more = lines.len() > MOST_LINES;
    lines.truncate(MOST_LINES);
    if let Some(last) = lines.last_mut().filter(|_| more) {
        last.push_str(" …");
    }
    let role = TextRole::Plain;
    let lines = lines.iter();
    lines
        .map(|line| fitted(line, role.size(), role.weight(), room))
        .collect()
}

/// Words in as few lines as they need, with commas between them.
fn packed(words: &[&str], room: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let longer = lines.last().map(|line| format!("{line}, {word}"));
        match longer.filter(|line| TextRole::Plain.width(line) <= room) {
            Some(longer) => {
                lines.pop();
                lines.push(longer);
            }
            None => lines.push((*word).to_owned()),
        }
    }
    lines
}
