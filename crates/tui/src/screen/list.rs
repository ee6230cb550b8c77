//! The list: what waits for a person, then the runs, with one cursor over both.

use std::collections::BTreeMap;

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

/// The runs of one repository, in all of its worktrees.
pub(crate) struct RepositoryRuns<'a> {
    pub folder: &'a str,
    pub rows: Vec<&'a RunRow>,
}

/// Which line of the list belongs to what.
pub(crate) struct ListLayout {
    /// How many questions wait, each on two lines.
    inbox: usize,
    /// How many runs each repository has. One alone has no title.
    repositories: Vec<usize>,
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
    /// The title of this repository.
    Repository(usize),
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
        let titles = (0..self.repositories.len()).filter(|_| self.has_titles());
        self.inbox_lines() + 1 + self.runs() + titles.count()
    }

    fn runs(&self) -> usize {
        self.repositories.iter().sum()
    }

    fn has_titles(&self) -> bool {
        self.repositories.len() > 1
    }

    /// What stands on this line below the title of all runs.
    fn run_line(&self, at: usize) -> ListLine {
        if !self.has_titles() {
            return ListLine::Run(at);
        }
        let (mut first, mut left) = (0, at);
        for (place, runs) in self.repositories.iter().enumerate() {
            match left {
                0 => return ListLine::Repository(place),
                _ if left <= *runs => return ListLine::Run(first + left - 1),
                _ => (first, left) = (first + runs, left - runs - 1),
            }
        }
        ListLine::Blank
    }

    /// How many titles of repositories stand above this run.
    fn titles_above(&self, run: usize) -> usize {
        let mut ends = self.repositories.iter().scan(0, |sum, runs| {
            *sum += runs;
            Some(*sum)
        });
        let place = ends.position(|end| run < end);
        place
            .filter(|_| self.has_titles())
            .map_or(0, |place| place + 1)
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
            _ => self.run_line(at - inbox - 1),
        }
    }

    /// The first line of an item, by its place among all items.
    pub(crate) fn line_of(&self, item: usize) -> usize {
        if item < self.inbox {
            1 + 2 * item
        } else {
            let run = item - self.inbox;
            self.inbox_lines() + 1 + run + self.titles_above(run)
        }
    }

    /// The item to which a line belongs, by its place among all items.
    pub(crate) fn item_at(&self, line: usize) -> Option<usize> {
        match self.line(line) {
            ListLine::Question(place, _) => Some(place),
            ListLine::Run(place) if place < self.runs() => Some(self.inbox + place),
            ListLine::Run(_)
            | ListLine::InboxTitle
            | ListLine::NothingWaits
            | ListLine::Blank
            | ListLine::Repository(_)
            | ListLine::RunsTitle => None,
        }
    }
}

impl Screen {
    /// The runs that the filter lets through, under their repositories. The repository with the run that needs
    /// somebody most comes first, and such a run comes first in it.
    pub(crate) fn repositories(&self) -> Vec<RepositoryRuns<'_>> {
        let wanted = self.list_filter.to_lowercase();
        let rows = self.runs.rows.iter();
        let mut listed: Vec<&RunRow> = rows
            .filter(|row| wanted.is_empty() || matches(row, &wanted))
            .collect();
        listed.sort_by_key(|row| urgency(row));
        let mut places = BTreeMap::new();
        let mut repositories: Vec<RepositoryRuns<'_>> = Vec::new();
        for row in listed {
            let folder = row.repository.raw();
            let next = repositories.len();
            let place = *places.entry(folder).or_insert(next);
            if place == next {
                let rows = Vec::new();
                repositories.push(RepositoryRuns { folder, rows });
            }
            repositories[place].rows.push(row);
        }
        repositories
    }

    /// The same runs, in the order of the list.
    pub(crate) fn listed(&self) -> Vec<&RunRow> {
        let repositories = self.repositories().into_iter();
        repositories.flat_map(|it| it.rows).collect()
    }

    pub(crate) fn list_layout(&self) -> ListLayout {
        ListLayout {
            inbox: self.runs.inbox.entries().len(),
            repositories: self.repositories().iter().map(|it| it.rows.len()).collect(),
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
        Some(Liveness::Live { .. } | Liveness::Rests { .. }) | None => 3,
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
