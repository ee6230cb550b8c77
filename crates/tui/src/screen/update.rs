//! How the screen changes with what happens.

use super::geometry::Region;
use super::{Focus, Item, ListSection, Mode, Pager, Screen, TextView};
use crate::event::{Effect, Event, RunFacts, RunsFacts, Spot, Turning};

/// How many lines a turn of the wheel moves.
const WHEEL_LINES: isize = 3;

impl Screen {
    /// Takes what happened, and says what the shell is to do.
    pub(crate) fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) => self.key(key),
            Event::Click(spot) => self.click(spot),
            Event::Wheel(turning) => self.wheel(turning),
            Event::Resized(size) => {
                self.size = size;
                Vec::new()
            }
            Event::Clock(now) => {
                self.now = now;
                Vec::new()
            }
            Event::Runs(runs) => self.take_runs(runs),
            Event::Run(run) => {
                self.take_run(*run);
                Vec::new()
            }
            Event::Opened(text) => {
                self.mode = Mode::Reading(Pager::new(text));
                Vec::new()
            }
            Event::Notice(told) => {
                self.tell(told.style, told.text);
                vec![Effect::Read]
            }
            Event::Trouble(trouble) => {
                self.trouble = trouble;
                Vec::new()
            }
        }
    }

    fn take_runs(&mut self, runs: RunsFacts) -> Vec<Effect> {
        self.runs = runs;
        self.is_loaded = true;
        let items = self.items();
        match self.selected_place(&items) {
            // The question of the run was answered, or it has a new one.
            Some(place) => {
                self.selected = items.get(place).cloned();
                Vec::new()
            }
            None if self.selected.is_none() || self.list_filter.is_empty() => {
                self.select(items.first().cloned())
            }
            None => Vec::new(),
        }
    }

    fn take_run(&mut self, run: RunFacts) {
        self.run = Some(run);
        let last = self.document().len().saturating_sub(1);
        self.cursor = if self.follows {
            last
        } else {
            self.cursor.min(last)
        };
    }

    /// Moves the cursor of the list to this item.
    pub(super) fn select(&mut self, item: Option<Item>) -> Vec<Effect> {
        let before = self.selected_run().cloned();
        self.selected = item;
        if self.selected_run() == before.as_ref() {
            return Vec::new();
        }
        self.cursor = 0;
        self.follows = false;
        self.worker = None;
        self.output_view = TextView::new(self.output_view.wrapping);
        self.line_filter.clear();
        vec![Effect::Read]
    }

    pub(super) fn move_in_list(&mut self, by: isize) -> Vec<Effect> {
        let items = self.items();
        let Some(last) = items.len().checked_sub(1) else {
            return Vec::new();
        };
        let place = self.selected_place(&items).unwrap_or(0);
        let place = place.saturating_add_signed(by).min(last);
        self.select(items.get(place).cloned())
    }

    /// Moves the cursor of the document, or of the text that is read. After a move it does not follow.
    pub(super) fn move_in_document(&mut self, by: isize) {
        self.follows = false;
        let last = self.document().len().saturating_sub(1);
        let cursor = self.document_cursor();
        *cursor = (*cursor).min(last).saturating_add_signed(by).min(last);
    }

    fn wheel(&mut self, turning: Turning) -> Vec<Effect> {
        let by = match turning {
            Turning::Up => -WHEEL_LINES,
            Turning::Down => WHEEL_LINES,
        };
        match (&self.mode, self.focus) {
            (Mode::Normal, Focus::List) => self.move_in_list(by.signum()),
            (Mode::Normal | Mode::Reading(_), _) => {
                self.move_in_document(by);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn click(&mut self, spot: Spot) -> Vec<Effect> {
        if self.mode != Mode::Normal {
            return Vec::new();
        }
        match self.region(spot) {
            Some(Region::List { line }) => {
                self.focus = Focus::List;
                let item = self.list_layout().item_at(line);
                let items = self.items();
                match item.and_then(|place| items.get(place)) {
                    Some(item) => self.select(Some(item.clone())),
                    None => Vec::new(),
                }
            }
            Some(Region::Tab(tab)) => self.open_tab(tab),
            Some(Region::Document { line }) => {
                self.focus = Focus::Run;
                self.follows = false;
                let last = self.document().len().saturating_sub(1);
                self.cursor = line.min(last);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Is the cursor on a question?
    pub(crate) fn is_at_question(&self) -> bool {
        self.selected
            .as_ref()
            .is_some_and(|item| item.section == ListSection::Inbox)
    }
}
