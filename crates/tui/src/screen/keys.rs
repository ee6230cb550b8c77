//! What each key does in each mode.

use views::Style;

use super::{DocLine, Focus, Mode, Screen, Tab};
use runtime::person_act::{PersonAct, PersonWish};

use crate::event::{Effect, Key, TextTarget};

/// Longer input is not taken.
const LONGEST_INPUT: usize = 8_000;

impl Screen {
    pub(super) fn key(&mut self, key: Key) -> Vec<Effect> {
        if key == Key::Interrupt {
            return vec![Effect::Quit];
        }
        match self.mode.clone() {
            Mode::Normal => {
                self.told = None;
                self.normal_key(key)
            }
            Mode::Help => {
                self.mode = Mode::Normal;
                Vec::new()
            }
            Mode::Reading(_) => self.reading_key(key),
            Mode::Filter => self.filter_key(key),
            Mode::Search { typed, pager } => self.search_key(key, typed, pager),
            Mode::Command { typed } => self.command_key(key, typed),
            Mode::Answer(draft) => self.answer_key(key, draft),
            Mode::Confirm { run, reason, typed } => self.confirm_key(key, run, reason, typed),
        }
    }

    fn normal_key(&mut self, key: Key) -> Vec<Effect> {
        if self.is_at_output() && self.text_key(key) {
            return Vec::new();
        }
        match key {
            Key::Char('q') => return vec![Effect::Quit],
            Key::Char('?') => self.mode = Mode::Help,
            Key::Char('/') => self.mode = Mode::Filter,
            Key::Char(':') => {
                self.mode = Mode::Command {
                    typed: String::new(),
                }
            }
            Key::Char('a') => self.begin_answer(),
            Key::Char('f') => return self.toggle_follow(),
            Key::Char(digit @ '1'..='6') => {
                let place = usize::from(digit as u8 - b'1');
                return self.open_tab(Tab::ALL[place]);
            }
            Key::Char('[') => return self.change_worker(-1),
            Key::Char(']') => return self.change_worker(1),
            Key::Tab | Key::BackTab => self.focus = self.other_focus(),
            Key::Escape => self.leave(),
            Key::Enter => return self.enter(),
            other => return self.movement_key(other),
        }
        Vec::new()
    }

    fn movement_key(&mut self, key: Key) -> Vec<Effect> {
        let page = isize::from(i16::try_from(self.size.rows.saturating_sub(8).max(1)).unwrap_or(1));
        let by = match key {
            Key::Up | Key::Char('k') => -1,
            Key::Down | Key::Char('j') => 1,
            Key::PageUp => -page,
            Key::PageDown | Key::Char(' ') => page,
            Key::Home | Key::Char('g') => isize::MIN + 1,
            Key::End | Key::Char('G') => isize::MAX,
            Key::Left | Key::Char('h') => return self.sideways(-1),
            Key::Right | Key::Char('l') => return self.sideways(1),
            Key::Char(_)
            | Key::Enter
            | Key::Escape
            | Key::Backspace
            | Key::Tab
            | Key::BackTab
            | Key::Interrupt
            | Key::Clear => return Vec::new(),
        };
        match (self.focus, &self.mode) {
            (Focus::List, Mode::Normal) => self.move_in_list(by),
            _ => {
                self.move_in_document(by);
                Vec::new()
            }
        }
    }

    /// From the list into the run; in the run, from tab to tab.
    fn sideways(&mut self, by: isize) -> Vec<Effect> {
        let place = Tab::ALL.iter().position(|tab| *tab == self.tab);
        match (self.focus, place) {
            (Focus::List, _) if by > 0 => {
                self.focus = Focus::Run;
                Vec::new()
            }
            (Focus::List, _) | (Focus::Run, None) => Vec::new(),
            (Focus::Run, Some(0)) if by < 0 => {
                self.focus = Focus::List;
                Vec::new()
            }
            (Focus::Run, Some(place)) => {
                let place = place.saturating_add_signed(by).min(Tab::ALL.len() - 1);
                self.open_tab(Tab::ALL[place])
            }
        }
    }

    pub(super) fn open_tab(&mut self, tab: Tab) -> Vec<Effect> {
        self.focus = Focus::Run;
        if self.tab == tab {
            return Vec::new();
        }
        self.tab = tab;
        self.follows = false;
        // The end of what grows is the news; where that is, is known when it is read.
        self.cursor = if tab.grows() { usize::MAX } else { 0 };
        vec![Effect::Read]
    }

    fn other_focus(&self) -> Focus {
        match self.focus {
            Focus::List => Focus::Run,
            Focus::Run => Focus::List,
        }
    }

    /// Escape undoes what is nearest: a filter, then the run.
    fn leave(&mut self) {
        match self.focus {
            Focus::Run if self.is_at_output() && !self.output_view.wanted.is_empty() => {
                self.output_view.wanted.clear();
            }
            Focus::Run if !self.line_filter.is_empty() => self.line_filter.clear(),
            Focus::Run => self.focus = Focus::List,
            Focus::List => self.list_filter.clear(),
        }
    }

    fn enter(&mut self) -> Vec<Effect> {
        match self.focus {
            Focus::List if self.is_at_question() => {
                self.begin_answer();
                Vec::new()
            }
            Focus::List => {
                self.focus = Focus::Run;
                Vec::new()
            }
            Focus::Run => self.open_line(),
        }
    }

    fn open_line(&mut self) -> Vec<Effect> {
        let target = self.line_at_cursor().and_then(|line| line.target);
        target.map(Effect::Open).into_iter().collect()
    }

    fn line_at_cursor(&self) -> Option<DocLine> {
        let mut lines = self.document();
        let place = self.cursor.min(lines.len().checked_sub(1)?);
        Some(lines.swap_remove(place))
    }

    fn toggle_follow(&mut self) -> Vec<Effect> {
        if !self.tab.grows() {
            self.tell(Style::Dim, "only the journal (2) and the output (3) grow");
            return Vec::new();
        }
        self.follows = !self.follows;
        if self.follows {
            self.cursor = self.document().len().saturating_sub(1);
        }
        vec![Effect::Read]
    }

    fn change_worker(&mut self, by: isize) -> Vec<Effect> {
        let Some(run) = self.shown_run() else {
            return Vec::new();
        };
        let shown = run.output.as_ref().map(|output| output.dispatch);
        let place = run.workers.iter().position(|it| Some(it.dispatch) == shown);
        let last = run.workers.len().saturating_sub(1);
        let place = place.unwrap_or(last).saturating_add_signed(by).min(last);
        let chosen = run.workers.get(place).map(|it| it.dispatch);
        self.worker = chosen;
        self.output_view.shift = 0;
        self.cursor = 0;
        vec![Effect::Read]
    }

    fn reading_key(&mut self, key: Key) -> Vec<Effect> {
        self.told = None;
        match key {
            Key::Escape | Key::Enter | Key::Char('q') => self.mode = Mode::Normal,
            // There are no tabs in a text.
            Key::Left | Key::Char('h') => self.scroll_sideways(usize::saturating_sub),
            Key::Right | Key::Char('l') => self.scroll_sideways(usize::saturating_add),
            other if self.text_key(other) => {}
            other => return self.movement_key(other),
        }
        Vec::new()
    }

    fn filter_key(&mut self, key: Key) -> Vec<Effect> {
        let filter = match self.focus {
            Focus::List => &mut self.list_filter,
            Focus::Run => &mut self.line_filter,
        };
        match edit(key, filter) {
            Edited::Sent => self.mode = Mode::Normal,
            Edited::Left => {
                filter.clear();
                self.mode = Mode::Normal;
            }
            Edited::Typed => {}
        }
        self.cursor = 0;
        let items = self.items();
        match (self.focus, self.selected_place(&items)) {
            (Focus::List, None) => self.select(items.first().cloned()),
            _ => Vec::new(),
        }
    }

    fn confirm_key(
        &mut self,
        key: Key,
        run: engine::RunId,
        reason: String,
        mut typed: String,
    ) -> Vec<Effect> {
        let edited = edit(key, &mut typed);
        let is_meant = typed.trim() == run.as_str();
        match edited {
            Edited::Typed => {
                self.mode = Mode::Confirm { run, reason, typed };
                Vec::new()
            }
            Edited::Sent if is_meant => {
                self.mode = Mode::Normal;
                let what = PersonWish::Cancel { reason };
                vec![Effect::Act(PersonAct { run, what })]
            }
            Edited::Sent | Edited::Left => {
                self.mode = Mode::Normal;
                let text = format!("nothing was done, because you did not type {run}");
                self.tell(Style::Wait, text);
                Vec::new()
            }
        }
    }

    /// Opens why an entry was decided.
    pub(super) fn open_why(&mut self, entry: u64) -> Vec<Effect> {
        let Some(run) = self.selected_run().cloned() else {
            return Vec::new();
        };
        vec![Effect::Open(TextTarget::Why { run, entry })]
    }
}

/// What a key did to a line of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edited {
    Typed,
    Sent,
    Left,
}

pub(super) fn edit(key: Key, text: &mut String) -> Edited {
    match key {
        Key::Enter => return Edited::Sent,
        Key::Escape => return Edited::Left,
        Key::Char(letter) if text.len() < LONGEST_INPUT => text.push(letter),
        Key::Backspace => {
            text.pop();
        }
        Key::Clear => text.clear(),
        Key::Char(_)
        | Key::Tab
        | Key::BackTab
        | Key::Up
        | Key::Down
        | Key::Left
        | Key::Right
        | Key::Home
        | Key::End
        | Key::PageUp
        | Key::PageDown
        | Key::Interrupt => {}
    }
    Edited::Typed
}
