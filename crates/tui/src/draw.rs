//! Draws the screen. The same screen gives the same picture.

mod help;
mod keys;
mod list;
mod recent;

use std::ops::Range;

use engine::Status;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style as CellStyle};
use views::facts::{Inbox, Liveness};
use views::{Style, cut, width};

use crate::age::liveness_text;
use crate::screen::{
    DocLine, Focus, Mode, Pager, Piece, RunAreas, Screen, Tab, TextView, window_start,
};

/// With less room, the beginning of a text says nothing.
const LEAST_CUT: usize = 4;

/// The picture of the screen.
pub(crate) fn picture(screen: &Screen) -> Buffer {
    let area = Rect::new(0, 0, screen.size.columns, screen.size.rows);
    let mut buffer = Buffer::empty(area);
    draw(screen, &mut buffer);
    buffer
}

pub(crate) fn draw(screen: &Screen, buffer: &mut Buffer) {
    if buffer.area.height < 3 || buffer.area.width < 10 {
        put(buffer, buffer.area, &[Piece::new(Style::Wait, "too small")]);
        return;
    }
    let areas = screen.areas();
    put(buffer, areas.header, &header(screen));
    if let Some(area) = areas.list {
        list::draw(screen, buffer, area);
    }
    if let Some(rule) = areas.rule {
        draw_rule(buffer, rule);
    }
    if let Some(run) = areas.run {
        match (&screen.mode, screen.pager()) {
            (Mode::Help, _) => help::draw(buffer, &run),
            (_, Some(pager)) => draw_pager(screen, buffer, &run, pager),
            (_, None) => draw_run(screen, buffer, &run),
        }
    }
    if let Some(area) = areas.prompt {
        put(buffer, area, &keys::prompt(screen));
    }
    put(buffer, areas.keys, &keys::keys(screen, areas.keys.width));
}

/// How many wait, live and are lost: what one sees first.
fn header(screen: &Screen) -> Vec<Piece> {
    let mut pieces = all_of_header(screen);
    let columns: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
    // Where there is no room for all, that nothing waits is the least news.
    if columns > usize::from(screen.size.columns) && pieces.len() > 2 {
        pieces.retain(|piece| piece.text != NOTHING_WAITS);
    }
    pieces
}

const NOTHING_WAITS: &str = " nothing waits for you";

fn all_of_header(screen: &Screen) -> Vec<Piece> {
    let waiting = screen.runs.inbox.entries().len();
    let mut pieces = vec![Piece::new(Style::Strong, " gatewright ")];
    match Inbox::count_line(waiting) {
        Some(line) => pieces.push(Piece::new(Style::Wait, format!(" ? {line}"))),
        None if screen.is_loaded => pieces.push(Piece::new(Style::Dim, NOTHING_WAITS)),
        None => pieces.push(Piece::new(Style::Dim, " reading …")),
    }
    let count = |is: fn(Liveness) -> bool| {
        let rows = screen.runs.rows.iter();
        rows.filter(|row| row.liveness.is_some_and(is)).count()
    };
    let lost = count(|it| matches!(it, Liveness::OwnerLost { .. }));
    let quiet = count(|it| matches!(it, Liveness::Quiet { .. }));
    let live = count(|it| matches!(it, Liveness::Live { .. }));
    let rests = count(|it| matches!(it, Liveness::Rests { .. }));
    let queued = count(|it| matches!(it, Liveness::Queued));
    for (number, style, text) in [
        (lost, Style::Bad, "✗ {} lost"),
        (quiet, Style::Wait, "◌ {} quiet"),
        (live, Style::Good, "● {} live"),
        (rests, Style::Wait, "◔ {} rests"),
        (queued, Style::Dim, "○ {} queued"),
    ] {
        if number > 0 {
            pieces.push(Piece::new(Style::Dim, " · "));
            pieces.push(Piece::new(style, text.replace("{}", &number.to_string())));
        }
    }
    pieces
}

fn draw_run(screen: &Screen, buffer: &mut Buffer, areas: &RunAreas) {
    let Some(run) = screen.shown_run() else {
        let text = match (&screen.selected, screen.is_loaded) {
            (Some(_), _) => "reading …",
            (None, true) => "no runs; `gatewright run PIPELINE --task TEXT` starts one",
            (None, false) => "",
        };
        put(buffer, areas.head, &[Piece::new(Style::Dim, text)]);
        return;
    };
    let status = &run.status;
    let mut title = vec![
        Piece::new(Style::Strong, format!("{} ", status.run)),
        Piece::new(Style::Normal, format!("· {} · ", status.pipeline)),
    ];
    title.push(match status.liveness {
        Some(Liveness::Over) | None => over_piece(&status.status),
        Some(it) => Piece::new(it.style(), format!("{} {}", it.mark(), liveness_text(it))),
    });
    let project = format!(" · {}", status.project.line());
    title.push(Piece::new(Style::Dim, project));
    put(buffer, areas.head, &title);
    if areas.head.height > 1 {
        let task = Rect::new(areas.head.x, areas.head.y + 1, areas.head.width, 1);
        put(
            buffer,
            task,
            &[Piece::new(Style::Normal, status.task.line())],
        );
    }
    draw_tabs(screen, buffer, areas.tabs);
    let has_cursor = screen.focus == Focus::Run && screen.mode == Mode::Normal;
    let lines = screen.document();
    draw_document(buffer, areas.document, &lines, screen.cursor, has_cursor);
}

fn draw_pager(screen: &Screen, buffer: &mut Buffer, areas: &RunAreas, pager: &Pager) {
    let title = [Piece::new(Style::Strong, pager.text.title.as_str())];
    put(buffer, areas.head, &title);
    if areas.head.height > 1 {
        let below = Rect::new(areas.head.x, areas.head.y + 1, areas.head.width, 1);
        let lines = count_of(pager.text.lines.len());
        let parts: Vec<String> = [lines].into_iter().chain(view_notes(&pager.view)).collect();
        put(buffer, below, &[Piece::new(Style::Dim, parts.join(" · "))]);
    }
    let lines = screen.document();
    draw_document(buffer, areas.document, &lines, pager.cursor, true);
}

fn count_of(lines: usize) -> String {
    match lines {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    }
}

/// How a long text is shown, and what is searched in it.
fn view_notes(view: &TextView) -> Vec<String> {
    let search = Some(view.wanted.as_str()).filter(|wanted| !wanted.is_empty());
    let search = search.map(|wanted| format!("/{}", views::line(wanted)));
    search.into_iter().chain(view.note()).collect()
}

fn over_piece(status: &Status) -> Piece {
    let (style, mark) = match status {
        Status::Completed => (Style::Good, "✓"),
        Status::Failed => (Style::Bad, "✗"),
        Status::Cancelled | Status::Queued | Status::Running | Status::Waiting(_) => {
            (Style::Dim, "·")
        }
    };
    Piece::new(style, format!("{mark} {}", status.word()))
}

fn draw_tabs(screen: &Screen, buffer: &mut Buffer, area: Rect) {
    if area.height == 0 {
        return;
    }
    let mut x = area.x;
    for (place, tab) in Tab::ALL.into_iter().enumerate() {
        let text = tab.label(place, screen.tab, area.width);
        let mut style = cell_style(Style::Dim);
        if tab == screen.tab {
            style = cell_style(Style::Strong).add_modifier(Modifier::UNDERLINED);
        }
        let room = usize::from(area.right().saturating_sub(x));
        buffer.set_stringn(x, area.y, &text, room, style);
        x = x.saturating_add(columns(&text) + 2).min(area.right());
    }
    let note = tab_note(screen);
    let room = usize::from(area.right().saturating_sub(x));
    buffer.set_stringn(x, area.y, cut(&note, room), room, cell_style(Style::Wait));
}

/// Does it follow, what is filtered, and whose output it is.
fn tab_note(screen: &Screen) -> String {
    let mut parts = Vec::new();
    if screen.follows {
        parts.push("follows".to_owned());
    }
    if screen.tab == Tab::Output {
        parts.extend(view_notes(&screen.output_view));
    } else if !screen.line_filter.is_empty() {
        parts.push(format!("/{}", screen.line_filter));
    }
    let output = screen.shown_run().and_then(|run| {
        let shown = run.output.as_ref()?;
        let mut workers = run.workers.iter();
        workers.find(|worker| worker.dispatch == shown.dispatch)
    });
    if let Some(worker) = output.filter(|_| screen.tab == Tab::Output) {
        parts.push(format!("{} '{}'", worker.dispatch, worker.agent));
    }
    parts.join(" · ")
}

/// The part of the document around the cursor.
fn draw_document(
    buffer: &mut Buffer,
    area: Rect,
    lines: &[DocLine],
    cursor: usize,
    has_cursor: bool,
) {
    let cursor = cursor.min(lines.len().saturating_sub(1));
    let start = window_start(cursor, lines.len(), area.height);
    let shown = lines.iter().enumerate().skip(start);
    for (row, (place, line)) in (area.y..area.bottom()).zip(shown) {
        let here = Rect::new(area.x, row, area.width, 1);
        put(buffer, here, &line.pieces);
        for mark in &line.marks {
            buffer.set_style(marked(here, mark), CellStyle::new().add_modifier(FOUND));
        }
        if has_cursor && place == cursor {
            buffer.set_style(here, CellStyle::new().add_modifier(Modifier::REVERSED));
            // What can be opened has a mark.
            if line.target.is_some() {
                let before = area.x.saturating_sub(1);
                buffer.set_stringn(before, row, "▸", 1, cell_style(Style::Strong));
            }
        }
    }
}

/// What was found.
const FOUND: Modifier = Modifier::BOLD.union(Modifier::UNDERLINED);

/// These columns of a line, as far as they are shown.
fn marked(line: Rect, columns: &Range<usize>) -> Rect {
    let column = |at: usize| {
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        line.x.saturating_add(at).min(line.right())
    };
    let (from, to) = (column(columns.start), column(columns.end));
    Rect::new(from, line.y, to - from, 1)
}

fn draw_rule(buffer: &mut Buffer, area: Rect) {
    let sign = if area.width > 1 { "─" } else { "│" };
    for position in area.positions() {
        let style = cell_style(Style::Dim);
        buffer.set_stringn(position.x, position.y, sign, 1, style);
    }
}

/// One line, cut where there is no more room.
fn put(buffer: &mut Buffer, area: Rect, pieces: &[Piece]) {
    if area.height == 0 {
        return;
    }
    let mut x = area.x;
    for piece in pieces {
        let room = usize::from(area.right().saturating_sub(x));
        let fits = width(&piece.text) <= room;
        if !fits && room < LEAST_CUT {
            return;
        }
        let text = cut(&piece.text, room);
        let (end, _) = buffer.set_stringn(x, area.y, text, room, cell_style(piece.style));
        if !fits {
            return;
        }
        x = end;
    }
}

fn columns(text: &str) -> u16 {
    u16::try_from(width(text)).unwrap_or(u16::MAX)
}

/// Each meaning has a weight besides its colour, and marks and words say the same.
fn cell_style(style: Style) -> CellStyle {
    let plain = CellStyle::new();
    match style {
        Style::Normal => plain,
        Style::Good => plain.fg(Color::Green),
        Style::Bad => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
        Style::Wait => plain.fg(Color::Yellow),
        Style::Dim => plain.add_modifier(Modifier::DIM),
        Style::Strong => plain.add_modifier(Modifier::BOLD),
    }
}
