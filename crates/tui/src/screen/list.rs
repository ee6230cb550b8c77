//! The list: what waits for a person, then the runs, with one cursor over both.

use engine::RunId;
use views::facts::Liveness;
use views::list::RunRow;

use super::Screen;

/// Where the cursor can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub section: ListSection,
    pub run: RunId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListSection {
    Inbox,
    Runs,
}

/// Which line of the list belongs to what.
pub(crate) struct ListLayout {
    /// How many questions wait, each on two lines.
    inbox: usize,
    runs: usize,
}

/// One line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListLine {
    InboxTitle,
    NothingWaits,
    /// The first or the second line of this question.
    Question(usize, QuestionLine),
    Blank,
    RunsTitle,
    Run(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionLine {
    Asks,
    Where,
}

impl ListLayout {
    /// Title, the questions or one line, and a blank line.
    fn inbox_lines(&self) -> usize {
        1 + (2 * self.inbox).max(1) + 1
    }

    pub(crate) fn lines(&self) -> usize {
        self.inbox_lines() + 1 + self.runs
    }

    pub(crate) fn line(&self, at: usize) -> ListLine {
        let inbox = self.inbox_lines();
        match at {
            0 => ListLine::InboxTitle,
            _ if at + 1 == inbox => ListLine::Blank,
            _ if at < inbox && self.inbox == 0 => ListLine::NothingWaits,
            _ if at < inbox => {
                let part = match at % 2 {
                    1 => QuestionLine::Asks,
                    _ => QuestionLine::Where,
                };
                ListLine::Question((at - 1) / 2, part)
            }
            _ if at == inbox => ListLine::RunsTitle,
            _ => ListLine::Run(at - inbox - 1),
        }
    }

    /// The first line of an item, by its place among all items.
    pub(crate) fn line_of(&self, item: usize) -> usize {
        if item < self.inbox {
            1 + 2 * item
        } else {
            self.inbox_lines() + 1 + item - self.inbox
        }
    }

    /// The item to which a line belongs, by its place among all items.
    pub(crate) fn item_at(&self, line: usize) -> Option<usize> {
        match self.line(line) {
            ListLine::Question(place, _) => Some(place),
            ListLine::Run(place) if place < self.runs => Some(self.inbox + place),
            ListLine::Run(_)
            | ListLine::InboxTitle
            | ListLine::NothingWaits
            | ListLine::Blank
            | ListLine::RunsTitle => None,
        }
    }
}

impl Screen {
    /// The runs that the filter lets through, in the order of the list.
    pub(crate) fn listed(&self) -> Vec<&RunRow> {
        let wanted = self.list_filter.to_lowercase();
        let rows = self.runs.rows.iter();
        let mut listed: Vec<&RunRow> = rows
            .filter(|row| wanted.is_empty() || matches(row, &wanted))
            .collect();
        listed.sort_by_key(|row| urgency(row));
        listed
    }

    pub(crate) fn list_layout(&self) -> ListLayout {
        ListLayout {
            inbox: self.runs.inbox.entries().len(),
            runs: self.listed().len(),
        }
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        let item = |section, run: &RunId| Item {
            section,
            run: run.clone(),
        };
        let inbox = self.runs.inbox.entries().iter();
        let inbox = inbox.map(|entry| item(ListSection::Inbox, &entry.run));
        let runs = self.listed().into_iter();
        inbox
            .chain(runs.map(|row| item(ListSection::Runs, &row.run)))
            .collect()
    }

    /// The place of the cursor among all items.
    pub(crate) fn selected_place(&self, items: &[Item]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        let same = items.iter().position(|item| item == selected);
        same.or_else(|| items.iter().position(|item| item.run == selected.run))
    }
}

/// Those that need somebody come first, those that are over last.
fn urgency(row: &RunRow) -> u8 {
    match row.liveness {
        Some(Liveness::WaitsForYou { .. }) => 0,
        Some(Liveness::OwnerLost { .. }) => 1,
        Some(Liveness::Quiet { .. }) => 2,
        Some(Liveness::Live { .. }) | None => 3,
        Some(Liveness::Queued) => 4,
        Some(Liveness::Over) => 5,
    }
}

/// Does one of the columns contain this?
fn matches(row: &RunRow, wanted: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(wanted);
    has(row.run.as_str())
        || has(row.pipeline.as_str())
        || has(row.stage.as_str())
        || has(row.task.raw())
        || has(row.project.raw())
        || has(row.status.word())
        || row.liveness.is_some_and(|it| has(&it.text()))
}
