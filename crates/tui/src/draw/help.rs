//! The help: every key and every command.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use views::Style;

use super::put;
use crate::screen::{COMMANDS, Piece, RunAreas};

const KEYS: [(&str, &str); 11] = [
    ("↑ ↓ j k", "move; PgUp PgDn g G move further"),
    (
        "→ ← l h",
        "into the run, from tab to tab, and back; Tab, too",
    ),
    (
        "1 … 6",
        "overview, journal, output, gates, artifacts, changes",
    ),
    ("Enter", "open: the run, a reason, an artifact, a diff"),
    ("a", "answer the question of the selected run"),
    ("f", "follow the journal or the output, until you move"),
    ("[ ]", "the output of the worker before or after"),
    ("/", "filter the list or the run; search in a text"),
    ("n N", "the next or the previous line with what you search"),
    ("w < >", "wrap long lines or not; scroll them sideways"),
    ("Esc q", "back; leave, and the runs continue"),
];

const MARKS: &str = "● live, here  ◌ quiet  ✗ lost, failed  ? waits  ○ queued, ahead  ✓ done";
const BARS: &str = "█▓ attempts  ░ waits for you  · nobody at work  ✓✗ checks  ▁▇ runs by time";

pub(super) fn draw(buffer: &mut Buffer, areas: &RunAreas) {
    let head = areas.head;
    let mut lines = vec![vec![Piece::new(Style::Strong, "KEYS")]];
    lines.extend(KEYS.iter().map(|(key, does)| line(key, does)));
    lines.push(Vec::new());
    lines.push(vec![Piece::new(Style::Strong, "COMMANDS, behind :")]);
    let commands = COMMANDS.iter();
    lines.extend(commands.map(|(command, does)| line(&format!(":{command}"), does)));
    lines.push(Vec::new());
    lines.push(vec![Piece::new(Style::Dim, MARKS)]);
    lines.push(vec![Piece::new(Style::Dim, BARS)]);
    let rows = usize::from(areas.document.bottom().saturating_sub(head.y));
    if lines.len() > rows {
        lines.retain(|line| !line.is_empty());
    }
    for (row, line) in (head.y..areas.document.bottom()).zip(&lines) {
        put(buffer, Rect::new(head.x, row, head.width, 1), line);
    }
}

fn line(key: &str, does: &str) -> Vec<Piece> {
    vec![
        Piece::new(Style::Strong, format!("  {}", views::pad(key, 24))),
        Piece::new(Style::Normal, does),
    ]
}
