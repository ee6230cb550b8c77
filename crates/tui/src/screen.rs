//! The state of the screen: what it shows, where the cursor is, and what the keys mean now.

mod command;
mod document;
mod geometry;
mod keys;
mod list;
mod text_view;
mod update;

use engine::{DispatchId, RunId, StageName, Time};
use views::Style;

pub(crate) use command::COMMANDS;
pub(crate) use document::{DocLine, Piece};
pub(crate) use geometry::{RunAreas, window_start};
pub(crate) use list::{Item, ListLine, ListSection, QuestionLine, RepositoryRuns};
pub(crate) use text_view::{Pager, TextView};

use crate::event::{Notice, RunFacts, RunsFacts, Size, Wrapping};

/// Narrower than this, the list and the run are shown one after the other.
pub(crate) const WIDE: u16 = 110;

pub(crate) struct Screen {
    pub(crate) size: Size,
    pub(crate) now: Time,
    pub(crate) runs: RunsFacts,
    /// Has anything been read yet?
    pub(crate) is_loaded: bool,
    pub(crate) run: Option<RunFacts>,
    /// Where the cursor is in the list.
    pub(crate) selected: Option<Item>,
    pub(crate) focus: Focus,
    pub(crate) tab: Tab,
    /// The line of the document with the cursor.
    pub(crate) cursor: usize,
    /// Does the cursor stay at the end of what grows? Only a key says so.
    pub(crate) follows: bool,
    /// Whose output is shown; the latest worker's where there is none.
    pub(crate) worker: Option<DispatchId>,
    pub(crate) output_view: TextView,
    /// Only runs with this text are listed.
    pub(crate) list_filter: String,
    /// Only lines with this text are shown of the run.
    pub(crate) line_filter: String,
    pub(crate) mode: Mode,
    pub(crate) told: Option<Notice>,
    /// Why the store cannot be read now.
    pub(crate) trouble: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    List,
    Run,
}

/// What is shown of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    Journal,
    Output,
    Gates,
    Artifacts,
    Changes,
}

impl Tab {
    pub(crate) const ALL: [Self; 6] = [
        Self::Overview,
        Self::Journal,
        Self::Output,
        Self::Gates,
        Self::Artifacts,
        Self::Changes,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Journal => "journal",
            Self::Output => "output",
            Self::Gates => "gates",
            Self::Artifacts => "artifacts",
            Self::Changes => "changes",
        }
    }

    /// Its number and its title; on a narrow screen only the present one has its title.
    pub(crate) fn label(self, place: usize, present: Self, room: u16) -> String {
        let number = place + 1;
        let all: usize = Self::ALL.iter().map(|tab| tab.title().len() + 4).sum();
        if usize::from(room) >= all || self == present {
            format!("{number} {}", self.title())
        } else {
            number.to_string()
        }
    }

    /// Does it grow at its end?
    pub(crate) fn grows(self) -> bool {
        match self {
            Self::Journal | Self::Output => true,
            Self::Overview | Self::Gates | Self::Artifacts | Self::Changes => false,
        }
    }
}

/// What the keys mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Normal,
    Help,
    Filter,
    /// A person types what to search for: in the open text, or in the output.
    Search {
        typed: String,
        pager: Option<Box<Pager>>,
    },
    Command {
        typed: String,
    },
    /// A person answers the question of this run.
    Answer(AnswerDraft),
    /// A person types the run's id to cancel it.
    Confirm {
        run: RunId,
        reason: String,
        typed: String,
    },
    Reading(Pager),
}

impl Mode {
    /// The text that a person reads now, if the keys move in it.
    fn open_pager(&mut self) -> Option<&mut Pager> {
        match self {
            Self::Reading(pager) => Some(pager),
            Self::Normal
            | Self::Help
            | Self::Filter
            | Self::Search { .. }
            | Self::Command { .. }
            | Self::Answer { .. }
            | Self::Confirm { .. } => None,
        }
    }
}

/// An answer that a person is typing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerDraft {
    pub run: RunId,
    /// Whose question they saw when they began.
    pub stage: StageName,
    pub typed: String,
    /// The answers to a worker's questions so far.
    pub given: Vec<(String, String)>,
}

impl Screen {
    pub(crate) fn new(size: Size, now: Time, selected: Option<RunId>) -> Self {
        Self {
            size,
            now,
            runs: RunsFacts::default(),
            is_loaded: false,
            run: None,
            focus: selected.as_ref().map_or(Focus::List, |_| Focus::Run),
            selected: selected.map(|run| Item {
                section: ListSection::Runs,
                run,
            }),
            tab: Tab::Overview,
            cursor: 0,
            follows: false,
            worker: None,
            output_view: TextView::new(Wrapping::On),
            list_filter: String::new(),
            line_filter: String::new(),
            mode: Mode::Normal,
            told: None,
            trouble: None,
        }
    }

    /// Are the list and the run side by side?
    pub(crate) fn is_wide(&self) -> bool {
        self.size.columns >= WIDE
    }

    pub(crate) fn selected_run(&self) -> Option<&RunId> {
        self.selected.as_ref().map(|item| &item.run)
    }

    /// The selected run, if it was read.
    pub(crate) fn shown_run(&self) -> Option<&RunFacts> {
        let run = self.run.as_ref()?;
        (Some(&run.status.run) == self.selected_run()).then_some(run)
    }

    /// How many columns the document has.
    pub(crate) fn document_columns(&self) -> usize {
        let run = self.areas().run;
        run.map_or(0, |run| usize::from(run.document.width))
    }

    /// How many columns the list has beside the run.
    pub(crate) fn list_columns(&self) -> u16 {
        (self.size.columns * 2 / 5).clamp(44, 70)
    }

    /// The lines of the open text, or of the shown run.
    pub(crate) fn document(&self) -> Vec<DocLine> {
        let columns = self.document_columns();
        if let Some(pager) = self.pager() {
            return document::of_text(&pager.text.lines, columns, &pager.view);
        }
        match &self.mode {
            Mode::Answer(draft) => document::of_question(self, draft.given.len(), columns),
            Mode::Normal
            | Mode::Help
            | Mode::Filter
            | Mode::Search { .. }
            | Mode::Reading(_)
            | Mode::Command { .. }
            | Mode::Confirm { .. } => document::of_run(self, columns),
        }
    }

    pub(crate) fn tell(&mut self, style: Style, text: impl Into<String>) {
        let text = views::line(&text.into());
        self.told = Some(Notice { style, text });
    }
}
