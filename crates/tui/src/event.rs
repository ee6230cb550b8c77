//! What happens to the screen, and what it asks of the shell.

use std::sync::Arc;

use engine::{AgentName, DispatchId, Hash, Outcome, RunId, StageName, Time};
use runtime::person_act::PersonAct;
use views::change::ChangeStat;
use views::facts::{Inbox, SpineStage};
use views::history::HistoryView;
use views::list::RunRow;
use views::progress::TerminalSize;
use views::status::StatusView;
use views::{Style, Untrusted};

/// Something that happened.
pub(crate) enum Event {
    Key(Key),
    /// A click of the first button.
    Click(Spot),
    Wheel(Turning),
    Resized(Size),
    Clock(Time),
    /// All runs, read anew.
    Runs(RunsFacts),
    /// One run, read anew.
    Run(Box<RunFacts>),
    /// A text that somebody asked for.
    Opened(OpenText),
    /// What became of an act, or of another request.
    Notice(Notice),
    /// The store cannot be read, and why; nothing if it can again.
    Trouble(Option<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Tab,
    BackTab,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-U: clears what was typed.
    Clear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub column: u16,
    pub row: u16,
}

/// The wheel of a mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turning {
    Up,
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub columns: u16,
    pub rows: u16,
}

impl Size {
    /// Larger ones are drawn only so far.
    const MOST: u16 = 1_000;

    pub(crate) fn of(room: TerminalSize) -> Self {
        let bounded =
            |number: usize| u16::try_from(number).map_or(Self::MOST, |it| it.min(Self::MOST));
        Self {
            columns: bounded(room.columns),
            rows: bounded(room.rows),
        }
    }
}

/// All runs, and what waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunsFacts {
    pub inbox: Inbox,
    pub rows: Vec<RunRow>,
    /// Why some runs show little.
    pub unreadable: Vec<String>,
    /// Why the runs of the fleet are not among them, on a machine that has joined one.
    pub fleet_away: Option<String>,
}

/// All that is shown of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunFacts {
    pub status: StatusView,
    pub spine: Vec<SpineStage>,
    /// The choices of its question.
    pub choices: Vec<Outcome>,
    /// The latest entries.
    pub entries: Arc<HistoryView>,
    /// Whose output can be read, in the order of the work.
    pub workers: Vec<WorkerName>,
    /// The output of one of them, where it is shown.
    pub output: Option<WorkerText>,
    /// What each piece of work changed, the latest last, where it is shown.
    pub changes: Vec<ChangeRow>,
}

/// One piece of work, and how much it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangeRow {
    pub dispatch: DispatchId,
    pub agent: AgentName,
    pub stage: StageName,
    /// Its number at the stage.
    pub attempt: u32,
    pub extent: ChangeExtent,
}

/// How much a piece of work changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeExtent {
    /// As it was kept at its end.
    Known(ChangeStat),
    /// It is at work.
    Open,
    /// Nothing was kept; the open text says why.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerName {
    pub dispatch: DispatchId,
    pub agent: String,
}

/// The latest lines of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerText {
    pub dispatch: DispatchId,
    pub lines: Vec<Untrusted>,
    /// How many earlier lines are not kept here.
    pub dropped: usize,
}

/// A text to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenText {
    pub title: String,
    pub lines: Vec<(Style, String)>,
    /// How it is shown first; a key changes it.
    pub wrapping: Wrapping,
}

/// Are long lines broken?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    On,
    Off,
}

/// One line for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub style: Style,
    pub text: String,
}

/// What the screen asks of the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Read the selected run anew.
    Read,
    Open(TextTarget),
    Act(PersonAct),
    Quit,
}

/// A text that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextTarget {
    Why {
        run: RunId,
        entry: u64,
    },
    Artifact {
        run: RunId,
        name: String,
        content: Hash,
    },
    /// What the run has changed since it began.
    Change {
        run: RunId,
    },
    /// What the work of a stage changed, or the work with a number (`d3`).
    WorkChange {
        run: RunId,
        of: String,
    },
}

impl TextTarget {
    pub(crate) fn run(&self) -> &RunId {
        match self {
            Self::Why { run, .. }
            | Self::Artifact { run, .. }
            | Self::Change { run }
            | Self::WorkChange { run, .. } => run,
        }
    }
}
