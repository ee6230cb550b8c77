//! The live view at a terminal: what happened scrolls away above a picture that is drawn in place.
//!
//! The cursor is hidden only while one picture is written, in one piece with it. So whatever ends us,
//! at whatever moment, there is nothing to restore; `keyboard` puts the keys back.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use engine::{Seconds, StageName};
use runner::progress::{AtWork, Progress, ProgressContext, Watcher, Wish};
use runner::prompt::Prompt;
use runtime::signals::Continued;
use runtime::state::State;
use runtime::worker_log::LogReader;
use views::progress::{self, LiveState, TerminalSize};
use views::{Style, Untrusted};

use super::StagesBefore;
use super::frame::{FrameStart, back, frame};
use super::plain::Teller;
use crate::keyboard::Keyboard;
use crate::output::Output;
use crate::terminal::Terminal;
use runtime::worker_output;

/// A picture is drawn at most this often.
const BETWEEN: Duration = Duration::from_millis(200);

/// The keys, as the last line of the picture shows them.
const KEYS: &str = "l look · a answer · s skip · q stop";

/// How many lines of each worker a closer look shows, where the screen has room for them.
const CLOSER_LINES: usize = 10;

/// The picture is not made lower than this for a closer look.
const LOWEST: usize = 8;

const ANY_KEY: &str = "(any key shows the whole display again)";

/// More than any screen has rows.
const MOST_HAPPENED: usize = 200;

pub(super) struct Live<'a> {
    output: &'a mut Output,
    teller: Teller,
    visited: Vec<StageName>,
    spent: BTreeMap<StageName, Seconds>,
    pause: Option<Untrusted>,
    /// How wide each line of the picture is that stands there now.
    drawn: Vec<usize>,
    last: Option<Instant>,
    /// The size of the terminal at that time.
    room: Option<TerminalSize>,
    /// What happened lately, to be shown again when the terminal has another size.
    happened: VecDeque<(Style, String)>,
    keys: Keys,
    /// What the last key asks of the orchestrator.
    wish: Option<Wish>,
    /// Where the output of workers is kept.
    state: Option<State>,
    /// Until the next key the picture is low, so that a closer look stays on the screen.
    is_looking: bool,
    continued: Continued,
    /// Others have written to the terminal.
    is_stale: bool,
}

/// The keys of the person at the terminal.
enum Keys {
    /// Nobody listens to them, here or for ever.
    Off,
    /// They are taken with the next picture.
    Waiting,
    On(Keyboard),
}

impl<'a> Live<'a> {
    /// Somebody else writes to the terminal now: what is drawn stays, and is drawn again below.
    pub(super) fn leave_drawing(&mut self) {
        self.drawn = Vec::new();
    }

    pub(super) fn new(output: &'a mut Output, teller: Teller, before: StagesBefore) -> Self {
        Self {
            output,
            teller,
            visited: before.visited,
            spent: before.spent,
            pause: None,
            drawn: Vec::new(),
            last: None,
            room: None,
            happened: VecDeque::new(),
            keys: Keys::Off,
            wish: None,
            state: None,
            is_looking: false,
            continued: Continued::watch(),
            is_stale: false,
        }
    }

    /// The same with keys.
    pub(super) fn with_keys(mut self, state: Option<State>) -> Self {
        self.keys = Keys::Waiting;
        self.state = state;
        self
    }

    /// The last lines of those who work, above a picture that is low enough for them.
    fn look_closer(&mut self, at: &ProgressContext<'_>) {
        let Some(state) = &self.state else { return };
        let room = self.output.talk_room();
        let whole = self.picture(at, room).0.len();
        let low = low(room).rows;
        self.is_looking = whole >= low;
        // The line below the picture is the cursor's, and one says how to go on.
        let free = room.rows.saturating_sub(whole.min(low) + 2);
        let each = (free / at.at_work.len().max(1)).clamp(1, CLOSER_LINES + 1);
        let mut lines = Vec::new();
        for mut reader in LogReader::all(state, &at.opened.run().id) {
            let dispatch = reader.head.dispatch;
            if at.at_work.iter().any(|it| it.worker.dispatch == dispatch) {
                let who = format!("{dispatch} '{}' lately:", reader.head.agent);
                let latest = worker_output::latest(&mut reader, (each - 1).max(1));
                lines.extend(look(who, latest, each));
            }
        }
        if lines.is_empty() {
            lines.push((Style::Normal, "nobody works now".to_owned()));
        }
        if self.is_looking {
            lines.push((Style::Dim, ANY_KEY.to_owned()));
        }
        self.draw(at, lines);
    }

    /// Acts on a key that only this view is about.
    fn heed_keys(&mut self, at: &ProgressContext<'_>) {
        if matches!(self.keys, Keys::Waiting) {
            self.keys = Keyboard::open().map_or(Keys::Off, Keys::On);
        }
        let Keys::On(keyboard) = &mut self.keys else {
            return;
        };
        let key = keyboard.key();
        self.is_looking &= key.is_none();
        match key {
            Some('l') => self.look_closer(at),
            Some('a') => self.wish = Some(Wish::Answer),
            Some('s') => self.wish = Some(Wish::Skip),
            Some('q') => self.wish = Some(Wish::Stop),
            Some(_) | None => {}
        }
    }

    /// After Ctrl-Z and `fg` the shell has written to the terminal, and has set it for itself.
    fn heed_return(&mut self) {
        if !self.continued.has_happened() {
            return;
        }
        if let Keys::On(keyboard) = &self.keys
            && !keyboard.take_keys()
        {
            // In the background: later.
            return;
        }
        self.continued.note();
        self.is_stale = true;
    }

    fn note(&mut self, at: &ProgressContext<'_>, what: &Progress) {
        let here = &at.opened.run().position.stage;
        if !self.visited.contains(here) {
            self.visited.push(here.clone());
        }
        if let Progress::Moved { spent, .. } = what {
            self.spent.clone_from(spent);
        }
        match what {
            Progress::Pausing { until, why } => {
                let until = views::time::moment(*until, at.now);
                self.pause = Some(Untrusted::new(format!("until {until}: {why}")));
            }
            Progress::AwaitingSlot { runner } => {
                self.pause = Some(Untrusted::new(format!("for a slot of {runner}")));
            }
            Progress::AskingVersion { program } => {
                self.pause = Some(Untrusted::new(format!("for the version of {program}")));
            }
            Progress::WorkerActed { .. }
            | Progress::WorkerSaid { .. }
            | Progress::WorkerRefused { .. }
            | Progress::WorkerUsed { .. } => {}
            Progress::Driving { .. }
            | Progress::Moved { .. }
            | Progress::WorkerBegan { .. }
            | Progress::WorkerSentBack { .. }
            | Progress::WorkerEnded { .. }
            | Progress::CheckBegan { .. }
            | Progress::CheckEnded { .. }
            | Progress::Asked { .. }
            | Progress::Answered { .. }
            | Progress::Remark { .. }
            | Progress::DriveEnded { .. } => self.pause = None,
        }
    }

    fn picture(&self, at: &ProgressContext<'_>, room: TerminalSize) -> (Vec<String>, Vec<usize>) {
        let live = LiveState {
            visited: self.visited.clone(),
            spent: self.spent.clone(),
            at_work: at.at_work.iter().map(|it| self.shown(it)).collect(),
            driven_ms: at.driven_ms,
            pause: self.pause.clone(),
            keys: matches!(self.keys, Keys::On(_)).then_some(KEYS),
        };
        let run = at.opened.run();
        let view = progress::progress(&at.opened.pipeline, run, at.now, live);
        let plain = view.lines(room, views::Paint::Plain);
        let widths = plain.iter().map(|line| progress::width(line)).collect();
        (view.lines(room, self.output.talk_paint()), widths)
    }

    fn shown(&self, at_work: &AtWork) -> progress::AtWork {
        let worker = &at_work.worker;
        let action = at_work.action.as_ref().map(|it| self.teller.clean(it));
        progress::AtWork {
            dispatch: worker.dispatch,
            agent: worker.agent.clone(),
            step: worker.step.clone(),
            runner: worker.runner.clone(),
            model: worker.model.as_ref().map(Untrusted::new),
            attempt: worker.attempt,
            elapsed: Seconds(at_work.since.elapsed().as_secs()),
            action: action.map(Untrusted::new),
            said: at_work
                .said
                .as_ref()
                .map(|it| Untrusted::new(self.teller.clean(it))),
            refused: at_work.refused,
            usage: at_work.usage,
        }
    }

    /// Draws the picture in the place of the last one, below these lines, which stay.
    fn draw(&mut self, at: &ProgressContext<'_>, new: Vec<(Style, String)>) {
        let room = self.output.talk_room();
        let for_picture = if self.is_looking { low(room) } else { room };
        let (picture, widths) = self.picture(at, for_picture);
        let is_resized = self.room.replace(room).is_some_and(|before| before != room);
        let has_changed = std::mem::take(&mut self.is_stale) || is_resized;
        let above = self.above(new, room, has_changed, picture.len());
        let back = if has_changed && !self.drawn.is_empty() {
            // Each terminal moves what stands there in its own way: nothing of it can be found again.
            FrameStart::Everything
        } else {
            FrameStart::Rows(back(&self.drawn, room))
        };
        self.output.mutter(&frame(back, &above, &picture));
        self.drawn = widths;
        self.last = Some(Instant::now());
    }

    /// The lines above the picture: the new one, or all that fit where everything is drawn again.
    fn above(
        &mut self,
        new: Vec<(Style, String)>,
        room: TerminalSize,
        is_all: bool,
        picture: usize,
    ) -> Vec<String> {
        let count = new.len();
        self.happened.extend(new);
        while self.happened.len() > MOST_HAPPENED {
            self.happened.pop_front();
        }
        let most = if is_all && !self.drawn.is_empty() {
            room.rows.saturating_sub(picture + 1)
        } else {
            count
        };
        let first = self.happened.len().saturating_sub(most);
        let paint = self.output.talk_paint();
        let lines = self.happened.iter().skip(first);
        let lines = lines.flat_map(|(style, text)| {
            let parts = above_parts(*style, text, room.columns).into_iter();
            parts.map(move |part| paint.on(*style, &part))
        });
        let mut lines: Vec<String> = lines.collect();
        if is_all {
            lines.drain(..lines.len().saturating_sub(most));
        }
        lines
    }
}

/// How high the picture is while somebody looks closer.
fn low(room: TerminalSize) -> TerminalSize {
    TerminalSize {
        rows: (room.rows / 3).max(LOWEST).min(room.rows),
        ..room
    }
}

/// What a worker printed last, under its name, or beside it where it has only one line.
fn look(who: String, latest: Vec<String>, most: usize) -> Vec<(Style, String)> {
    if most == 1 {
        let last = latest.last().map(String::as_str).unwrap_or_default();
        return vec![(Style::Normal, format!("{who} {}", last.trim()))];
    }
    let latest = latest.into_iter();
    let latest = latest.map(|text| (Style::Dim, format!("  {text}")));
    std::iter::once((Style::Strong, who))
        .chain(latest)
        .collect()
}

/// What needs somebody is never cut: its last words say what to type.
pub(super) fn above_parts(style: Style, text: &str, columns: usize) -> Vec<String> {
    match style {
        Style::Wait => views::wrap(&views::line(text), columns),
        Style::Normal | Style::Good | Style::Bad | Style::Dim | Style::Strong => {
            vec![progress::short(text, columns)]
        }
    }
}

impl Watcher for Live<'_> {
    fn tell(&mut self, at: &ProgressContext<'_>, what: &Progress) {
        if matches!(what, Progress::DriveEnded { .. }) {
            self.keys = Keys::Off;
        }
        self.note(at, what);
        let stays = !matches!(
            what,
            Progress::WorkerActed { .. }
                | Progress::WorkerSaid { .. }
                | Progress::WorkerUsed { .. }
                | Progress::CheckBegan { .. }
                | Progress::AskingVersion { .. }
        );
        match self.teller.line(at, what).filter(|_| stays) {
            Some(line) => self.draw(at, vec![line]),
            None => self.tick(at),
        }
        if matches!(what, Progress::DriveEnded { .. }) {
            // The last picture stays as it is.
            self.drawn = Vec::new();
        }
    }

    fn tick(&mut self, at: &ProgressContext<'_>) {
        self.heed_return();
        self.heed_keys(at);
        if self.last.is_none_or(|last| last.elapsed() >= BETWEEN) {
            self.draw(at, Vec::new());
        }
    }

    fn remark(&mut self, text: &str) {
        self.leave_drawing();
        self.output.say(text);
    }

    fn wish(&mut self) -> Option<Wish> {
        self.wish.take()
    }

    fn prompt(&mut self) -> Option<Box<dyn Prompt>> {
        self.leave_drawing();
        // The person types a line now, and sees it.
        if matches!(self.keys, Keys::On(_)) {
            self.keys = Keys::Waiting;
        }
        self.is_looking = false;
        Terminal::open()
    }
}
