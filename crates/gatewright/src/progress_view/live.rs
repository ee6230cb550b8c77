//! The live view at a terminal: what happened scrolls away above a picture that is drawn in place.
//!
//! The cursor is hidden only while one picture is written, in one piece with it. So whatever ends us,
//! at whatever moment, there is nothing to restore; `keyboard` puts the keys back.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use engine::{Seconds, StageName};
use runner::progress::{AtWork, Progress, ProgressContext, Watcher, Wish};
use runner::prompt::Prompt;
use runtime::state::State;
use runtime::worker_log::LogReader;
use views::progress::{self, LiveState, TerminalSize};
use views::{Style, Untrusted};

use super::StagesBefore;
use super::frame::{FrameStart, back, frame};
use super::plain::Teller;
use crate::keyboard::{Keyboard, TypedAhead};
use crate::output::Output;
use crate::terminal::Terminal;
use runtime::worker_output;

/// A picture is drawn at most this often.
const BETWEEN: Duration = Duration::from_millis(200);

/// The keys, as the last line of the picture shows them.
const KEYS: &str = "l look · a answer · s skip · q stop";

/// How many lines of each worker a closer look shows.
const CLOSER_LINES: usize = 10;

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
    /// Lines that were typed while keys were taken.
    ahead: TypedAhead,
    /// What the last key asks of the orchestrator.
    wish: Option<Wish>,
    /// Where the output of workers is kept.
    state: Option<State>,
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
            ahead: TypedAhead::default(),
            wish: None,
            state: None,
        }
    }

    /// The same with keys.
    pub(super) fn with_keys(mut self, state: Option<State>) -> Self {
        self.keys = Keys::Waiting;
        self.state = state;
        self
    }

    /// The last lines of those who work, above the picture.
    fn look_closer(&mut self, at: &ProgressContext<'_>) {
        let Some(state) = &self.state else { return };
        let mut lines = Vec::new();
        for mut reader in LogReader::all(state, &at.opened.run().id) {
            let dispatch = reader.head.dispatch;
            let is_at_work = at.at_work.iter().any(|it| it.worker.dispatch == dispatch);
            if is_at_work {
                let title = format!("{dispatch} '{}' lately:", reader.head.agent);
                lines.push((Style::Strong, title));
                let latest = worker_output::latest(&mut reader, CLOSER_LINES);
                lines.extend(
                    latest
                        .into_iter()
                        .map(|text| (Style::Dim, format!("  {text}"))),
                );
            }
        }
        if lines.is_empty() {
            lines.push((Style::Normal, "nobody works now".to_owned()));
        }
        for line in lines {
            self.draw(at, Some(line));
        }
    }

    /// Acts on a key that only this view is about.
    fn heed_keys(&mut self, at: &ProgressContext<'_>) {
        if matches!(self.keys, Keys::Waiting) {
            self.keys = Keyboard::open(&self.ahead).map_or(Keys::Off, Keys::On);
        }
        let Keys::On(keyboard) = &mut self.keys else {
            return;
        };
        match keyboard.key() {
            Some('l') => self.look_closer(at),
            Some('a') => self.wish = Some(Wish::Answer),
            Some('s') => self.wish = Some(Wish::Skip),
            Some('q') => self.wish = Some(Wish::Stop),
            Some(_) | None => {}
        }
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
    fn draw(&mut self, at: &ProgressContext<'_>, new: Option<(Style, String)>) {
        let room = self.output.talk_room();
        let (picture, widths) = self.picture(at, room);
        let has_changed = self.room.replace(room).is_some_and(|before| before != room);
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
        new: Option<(Style, String)>,
        room: TerminalSize,
        is_all: bool,
        picture: usize,
    ) -> Vec<String> {
        let count = usize::from(new.is_some());
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
        );
        match self.teller.line(at, what).filter(|_| stays) {
            Some(line) => self.draw(at, Some(line)),
            // The next thing may take seconds.
            None if matches!(what, Progress::AskingVersion { .. }) => self.draw(at, None),
            None => self.tick(at),
        }
        if matches!(what, Progress::DriveEnded { .. }) {
            // The last picture stays as it is.
            self.drawn = Vec::new();
        }
    }

    fn tick(&mut self, at: &ProgressContext<'_>) {
        self.heed_keys(at);
        if self.last.is_none_or(|last| last.elapsed() >= BETWEEN) {
            self.draw(at, None);
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
        Terminal::after(self.ahead.clone())
    }
}
