//! The list: what waits for a person, then the runs.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style as CellStyle};
use views::facts::InboxEntry;
use views::list::{Integrity, RunRow};
use views::{Style, cut, pad, width};

use super::{cell_style, put, recent};
use crate::age::{age, liveness_text};
use crate::screen::{Focus, ListLine, Piece, QuestionLine, RepositoryRuns, Screen};

pub(super) fn draw(screen: &Screen, buffer: &mut Buffer, area: Rect) {
    let layout = screen.list_layout();
    let items = screen.items();
    let selected = screen.selected_place(&items);
    let repositories = screen.repositories();
    let rows = screen.listed();
    let start = screen.list_start(area.height);
    let room = usize::from(area.width).saturating_sub(2);
    let columns = Columns::of(&rows, repositories.len(), room);
    for (row, at) in (area.y..area.bottom()).zip(start..layout.lines()) {
        let line = layout.line(at);
        let here = Rect::new(area.x, row, area.width, 1);
        let pieces = match line {
            ListLine::Repository(place) => repository_title(repositories.get(place), &columns),
            other => pieces(screen, &rows, other, &columns),
        };
        put(buffer, here, &pieces);
        if selected.is_some() && layout.item_at(at) == selected {
            mark(screen, buffer, here);
        }
    }
}

/// The cursor: a bar at the side, and reversed where the keys go.
fn mark(screen: &Screen, buffer: &mut Buffer, area: Rect) {
    if screen.focus == Focus::List {
        buffer.set_style(area, CellStyle::new().add_modifier(Modifier::REVERSED));
    }
    let style = cell_style(Style::Strong);
    buffer.set_stringn(area.x, area.y, "▌", 1, style);
}

fn pieces(screen: &Screen, rows: &[&RunRow], line: ListLine, columns: &Columns) -> Vec<Piece> {
    let entries = screen.runs.inbox.entries();
    match line {
        ListLine::InboxTitle => title("INBOX", &inbox_count(entries.len())),
        ListLine::NothingWaits => vec![Piece::new(Style::Dim, "  nothing waits for you")],
        ListLine::Question(place, part) => entries
            .get(place)
            .map(|entry| match part {
                QuestionLine::Asks => asks(screen, entry, columns.room),
                QuestionLine::Where => place_of(entry),
            })
            .unwrap_or_default(),
        ListLine::Blank | ListLine::Repository(_) => Vec::new(),
        ListLine::RunsTitle => runs_title(screen, rows, columns),
        ListLine::Run(place) => rows
            .get(place)
            .map(|row| run_line(screen, row, columns))
            .unwrap_or_default(),
    }
}

fn title(word: &str, note: &str) -> Vec<Piece> {
    vec![
        Piece::new(Style::Strong, format!(" {word}")),
        Piece::new(Style::Dim, format!("  {note}")),
    ]
}

/// How many runs there are, and bars of the latest where they all are of one repository.
fn runs_title(screen: &Screen, rows: &[&RunRow], columns: &Columns) -> Vec<Piece> {
    let mut pieces = title("RUNS", &runs_count(screen, rows.len()));
    if columns.repositories < 2 {
        with_bars(&mut pieces, rows, columns);
    }
    pieces
}

/// The name of a repository, its folder, and bars of its latest runs.
fn repository_title(found: Option<&RepositoryRuns<'_>>, columns: &Columns) -> Vec<Piece> {
    let Some(found) = found else {
        return Vec::new();
    };
    let path = views::line(found.folder);
    let mut pieces = vec![
        Piece::new(Style::Strong, format!(" {}", folder(found.folder))),
        Piece::new(Style::Dim, format!("  {}", cut(&path, columns.room / 2))),
    ];
    with_bars(&mut pieces, &found.rows, columns);
    pieces
}

fn with_bars(pieces: &mut Vec<Piece>, rows: &[&RunRow], columns: &Columns) {
    let used: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
    let bars = recent::bars(rows, columns.room.saturating_sub(used + 2));
    if !bars.is_empty() {
        pieces.push(Piece::new(Style::Normal, "  "));
        pieces.extend(bars);
    }
}

fn inbox_count(waiting: usize) -> String {
    match waiting {
        0 => String::new(),
        waiting => format!("{waiting}, oldest first"),
    }
}

fn runs_count(screen: &Screen, listed: usize) -> String {
    let all = screen.runs.rows.len();
    let unreadable = match screen.runs.unreadable.len() {
        0 => String::new(),
        number => format!(" · {number} cannot be read: type `gatewright verify`"),
    };
    match screen.list_filter.as_str() {
        "" => format!("{all}{unreadable}"),
        filter => format!("{listed} of {all} with “{filter}”{unreadable}"),
    }
}

fn asks(screen: &Screen, entry: &InboxEntry, room: usize) -> Vec<Piece> {
    let age = age(screen.now.since(entry.since));
    let text_room = room.saturating_sub(width(&age) + 3);
    let text = pad(&cut(&entry.asks.line(), text_room), text_room);
    vec![
        Piece::new(Style::Wait, format!("  ? {text} ")),
        Piece::new(Style::Dim, age),
    ]
}

fn place_of(entry: &InboxEntry) -> Vec<Piece> {
    let InboxEntry {
        run,
        pipeline,
        stage,
        ..
    } = entry;
    vec![
        Piece::new(Style::Normal, format!("    {run}")),
        Piece::new(
            Style::Dim,
            format!(" · {pipeline} · {stage} · {}", folder(entry.project.raw())),
        ),
    ]
}

/// The last part of a path.
fn folder(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next();
    views::line(name.unwrap_or_default())
}

/// How wide the columns are.
struct Columns {
    room: usize,
    run: usize,
    pipeline: usize,
    stage: usize,
    alive: usize,
    /// The worktree, where it is not the repository's own folder.
    worktree: usize,
    repositories: usize,
}

/// The widest of the words that say how alive a run is, without hours.
const ALIVE_COLUMNS: usize = 15;

impl Columns {
    /// Columns as wide as what is in them, and only as many as there is room for.
    fn of(rows: &[&RunRow], repositories: usize, room: usize) -> Self {
        let widest = |text: fn(&RunRow) -> String, most: usize| {
            let rows = rows.iter().take(2_000);
            rows.map(|row| width(&text(row)))
                .max()
                .unwrap_or(0)
                .min(most)
        };
        let run = widest(|row| row.run.to_string(), 14);
        let stage = widest(|row| row.stage.to_string(), 16);
        // Mark, run, stage and age are always there.
        let mut left = room.saturating_sub(2 + run + 1 + stage + 1 + 4);
        let mut take = |columns: usize, is_useful: bool| {
            let fits = is_useful && left > columns;
            left -= if fits { columns + 1 } else { 0 };
            if fits { columns } else { 0 }
        };
        let alive = take(ALIVE_COLUMNS, true);
        let pipeline = take(widest(|row| row.pipeline.to_string(), 12), true);
        let worktree = widest(worktree, 14);
        let worktree = take(worktree, worktree > 0);
        Self {
            room,
            run,
            pipeline,
            stage,
            alive,
            worktree,
            repositories,
        }
    }
}

/// The name of the worktree, where it is not the repository's own folder.
fn worktree(row: &RunRow) -> String {
    if row.project == row.repository {
        String::new()
    } else {
        folder(row.project.raw())
    }
}

fn run_line(screen: &Screen, row: &RunRow, columns: &Columns) -> Vec<Piece> {
    let (style, mark, alive) = alive(row);
    let cell = |style: Style, text: &str, columns: usize| {
        let text = match columns {
            0 => String::new(),
            columns => format!("{} ", pad(&cut(text, columns), columns)),
        };
        Piece::new(style, text)
    };
    let loud = if row.is_loud() { " !" } else { "" };
    let age = age(screen.now.since(row.touched_at));
    vec![
        Piece::new(style, format!("  {mark} ")),
        cell(Style::Strong, row.run.as_str(), columns.run),
        cell(style, &alive, columns.alive),
        cell(Style::Normal, row.stage.as_str(), columns.stage),
        cell(Style::Dim, row.pipeline.as_str(), columns.pipeline),
        cell(Style::Dim, &worktree(row), columns.worktree),
        Piece::new(Style::Dim, format!("{age:>4}")),
        Piece::new(Style::Bad, loud),
        Piece::new(Style::Dim, format!(" {}", row.task.line())),
    ]
}

/// How a run stands: a mark, and the same in words.
fn alive(row: &RunRow) -> (Style, &'static str, String) {
    use views::facts::Liveness;
    match (row.integrity, row.liveness) {
        (Integrity::Damaged, _) => (Style::Bad, "!", "damaged".to_owned()),
        (Integrity::Intact, Some(Liveness::Over)) => over(row),
        (Integrity::Intact, Some(it)) => (it.style(), it.mark(), liveness_text(it)),
        (Integrity::Intact, None) => (Style::Dim, "–", row.status.word().to_owned()),
    }
}

fn over(row: &RunRow) -> (Style, &'static str, String) {
    use engine::Status;
    let word = row.status.word().to_owned();
    match row.status {
        Status::Completed => (Style::Good, "✓", word),
        Status::Failed => (Style::Bad, "✗", word),
        Status::Cancelled | Status::Queued | Status::Running | Status::Waiting(_) => {
            (Style::Dim, "·", word)
        }
    }
}
