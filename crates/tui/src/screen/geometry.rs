//! Where everything stands on the screen, for drawing and for the mouse.

use ratatui_core::layout::{Position, Rect};

use super::{Focus, Mode, Screen, Tab};
use crate::event::Spot;

/// The list keeps at least this much, and a preview below it needs as much.
const PREVIEW_ROWS: u16 = 9;

/// The rows above the document of a run: its name, its task and the tabs.
const HEAD_ROWS: u16 = 3;

/// What stands where.
pub(crate) struct Areas {
    pub header: Rect,
    pub list: Option<Rect>,
    /// The line between the list and the run.
    pub rule: Option<Rect>,
    pub run: Option<RunAreas>,
    pub prompt: Option<Rect>,
    pub keys: Rect,
}

pub(crate) struct RunAreas {
    pub head: Rect,
    pub tabs: Rect,
    pub document: Rect,
}

/// What a person clicked on.
pub(super) enum Region {
    List { line: usize },
    Tab(Tab),
    Document { line: usize },
}

/// The first line of a window of so many rows that shows this line.
pub(crate) fn window_start(line: usize, lines: usize, rows: u16) -> usize {
    let rows = usize::from(rows);
    let last = lines.saturating_sub(rows);
    line.saturating_sub(rows * 2 / 3).min(last)
}

impl Screen {
    pub(crate) fn areas(&self) -> Areas {
        let (columns, rows) = (self.size.columns, self.size.rows);
        let row = |y: u16| Rect::new(0, y.min(rows.saturating_sub(1)), columns, 1);
        let prompt = self.has_prompt().then(|| row(rows.saturating_sub(2)));
        let below = if prompt.is_some() { 2 } else { 1 };
        let body = Rect::new(0, 1, columns, rows.saturating_sub(1 + below));
        let (list, rule, run) = self.split(body);
        Areas {
            header: row(0),
            list,
            rule,
            run: run.map(run_areas),
            prompt,
            keys: row(rows.saturating_sub(1)),
        }
    }

    /// Is there a line above the keys?
    fn has_prompt(&self) -> bool {
        let has_input = match self.mode {
            Mode::Filter
            | Mode::Search { .. }
            | Mode::Command { .. }
            | Mode::Answer(_)
            | Mode::Confirm { .. } => true,
            Mode::Normal | Mode::Help | Mode::Reading(_) => false,
        };
        has_input || self.told.is_some() || self.trouble.is_some() || self.runs.fleet_away.is_some()
    }

    /// The list, the line between, and the run.
    fn split(&self, body: Rect) -> (Option<Rect>, Option<Rect>, Option<Rect>) {
        if self.pager().is_some() || self.mode == Mode::Help {
            return (None, None, Some(body));
        }
        if self.is_wide() {
            let list = self.list_columns();
            let rule = Rect::new(list, body.y, 1, body.height);
            let rest = body.width.saturating_sub(list + 1);
            let run = Rect::new(list + 1, body.y, rest, body.height);
            let list = Rect::new(0, body.y, list, body.height);
            return (Some(list), Some(rule), Some(run));
        }
        if self.focus == Focus::Run || matches!(self.mode, Mode::Answer(_)) {
            return (None, None, Some(body));
        }
        self.stacked(body)
    }

    /// On a narrow terminal the selected run stands below a short list.
    fn stacked(&self, body: Rect) -> (Option<Rect>, Option<Rect>, Option<Rect>) {
        let lines = u16::try_from(self.list_layout().lines()).unwrap_or(u16::MAX);
        let room = body.height.saturating_sub(PREVIEW_ROWS + 1);
        if room < PREVIEW_ROWS || self.selected.is_none() {
            return (Some(body), None, None);
        }
        let height = lines.saturating_add(1).min(room);
        let list = Rect::new(0, body.y, body.width, height);
        let rule = Rect::new(0, body.y + height, body.width, 1);
        let rest = body.height - height - 1;
        let run = Rect::new(0, body.y + height + 1, body.width, rest);
        (Some(list), Some(rule), Some(run))
    }

    pub(super) fn region(&self, spot: Spot) -> Option<Region> {
        let areas = self.areas();
        let position = Position::new(spot.column, spot.row);
        if let Some(list) = areas.list
            && list.contains(position)
        {
            let line = self.list_start(list.height) + usize::from(spot.row - list.y);
            return Some(Region::List { line });
        }
        let run = areas.run?;
        if run.tabs.contains(position) {
            let tab = self.tab_at(spot.column - run.tabs.x, run.tabs.width)?;
            return Some(Region::Tab(tab));
        }
        let lines = self.document().len();
        let start = window_start(self.cursor.min(lines), lines, run.document.height);
        run.document.contains(position).then(|| Region::Document {
            line: start + usize::from(spot.row - run.document.y),
        })
    }

    /// The tabs stand side by side, each with two spaces behind it.
    fn tab_at(&self, column: u16, room: u16) -> Option<Tab> {
        let mut end = 0;
        let mut tabs = Tab::ALL.into_iter().enumerate();
        let found = tabs.find(|(place, tab)| {
            end += tab.label(*place, self.tab, room).len() + 2;
            usize::from(column) < end
        });
        found.map(|(_, tab)| tab)
    }

    /// The first line of the list that is shown.
    pub(crate) fn list_start(&self, rows: u16) -> usize {
        let layout = self.list_layout();
        let selected = self.selected_place(&self.items()).unwrap_or(0);
        window_start(layout.line_of(selected), layout.lines(), rows)
    }
}

fn run_areas(area: Rect) -> RunAreas {
    let x = area.x + 1;
    let width = area.width.saturating_sub(2);
    let head = (HEAD_ROWS - 1).min(area.height);
    let tabs = 1.min(area.height - head);
    let rest = area.height - head - tabs;
    RunAreas {
        head: Rect::new(x, area.y, width, head),
        tabs: Rect::new(x, area.y + head, width, tabs),
        document: Rect::new(x, area.y + head + tabs, width, rest),
    }
}
