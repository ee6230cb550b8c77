//! The live view at a terminal: what happened scrolls away above a picture that is drawn in place.
//!
//! The cursor is hidden only while one picture is written, in one piece with it. So whatever ends us,
//! at whatever moment, there is nothing to restore.

use std::time::{Duration, Instant};

use engine::{Seconds, StageName};
use runner::progress::{AtWork, Progress, ProgressContext, Watcher};
use runner::prompt::Prompt;
use views::Untrusted;
use views::progress::{self, LiveState, TerminalSize};

use super::plain::Teller;
use crate::output::Output;
use crate::terminal::Terminal;

/// A picture is drawn at most this often.
const BETWEEN: Duration = Duration::from_millis(200);

const HIDE: &str = "\u{1b}[?25l";
const SHOW: &str = "\u{1b}[?25h";
const ERASE_LINE: &str = "\u{1b}[2K";
const ERASE_BELOW: &str = "\u{1b}[J";

pub(super) struct Live<'a> {
    output: &'a mut Output,
    teller: Teller,
    visited: Vec<StageName>,
    pause: Option<Untrusted>,
    /// How wide each line of the picture is that stands there now.
    drawn: Vec<usize>,
    last: Option<Instant>,
}

impl<'a> Live<'a> {
    /// Somebody else writes to the terminal now: what is drawn stays, and is drawn again below.
    pub(super) fn leave_drawing(&mut self) {
        self.drawn = Vec::new();
    }

    pub(super) fn new(output: &'a mut Output, teller: Teller, visited: Vec<StageName>) -> Self {
        Self {
            output,
            teller,
            visited,
            pause: None,
            drawn: Vec::new(),
            last: None,
        }
    }

    fn note(&mut self, at: &ProgressContext<'_>, what: &Progress) {
        let here = &at.opened.run().position.stage;
        if !self.visited.contains(here) {
            self.visited.push(here.clone());
        }
        match what {
            Progress::Pausing { until, why } => {
                let until = views::time::moment(*until, at.now);
                self.pause = Some(Untrusted::new(format!("until {until}: {why}")));
            }
            Progress::WorkerActed { .. } | Progress::WorkerUsed { .. } => {}
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
            at_work: at.at_work.iter().map(|it| self.shown(it)).collect(),
            pause: self.pause.clone(),
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
            usage: at_work.usage,
        }
    }

    /// Draws the picture in the place of the last one, below these lines, which stay.
    fn draw(&mut self, at: &ProgressContext<'_>, above: &[String]) {
        let room = self.output.talk_room();
        let (picture, widths) = self.picture(at, room);
        let back = back(&self.drawn, room);
        let frame = frame(back, above, &picture);
        self.output.mutter(&frame);
        self.drawn = widths;
        self.last = Some(Instant::now());
    }
}

impl Watcher for Live<'_> {
    fn tell(&mut self, at: &ProgressContext<'_>, what: &Progress) {
        self.note(at, what);
        let stays = !matches!(
            what,
            Progress::WorkerActed { .. }
                | Progress::WorkerUsed { .. }
                | Progress::CheckBegan { .. }
        );
        match self.teller.line(at, what).filter(|_| stays) {
            Some((style, text)) => {
                let room = self.output.talk_room();
                let text = progress::short(&text, room.columns);
                let line = self.output.talk_paint().on(style, &text);
                self.draw(at, &[line]);
            }
            None => self.tick(at),
        }
        if matches!(what, Progress::DriveEnded { .. }) {
            // The last picture stays as it is.
            self.drawn = Vec::new();
        }
    }

    fn tick(&mut self, at: &ProgressContext<'_>) {
        if self.last.is_none_or(|last| last.elapsed() >= BETWEEN) {
            self.draw(at, &[]);
        }
    }

    fn remark(&mut self, text: &str) {
        self.leave_drawing();
        self.output.say(text);
    }

    fn prompt(&mut self) -> Option<Box<dyn Prompt>> {
        self.leave_drawing();
        Terminal::open()
    }
}

/// How many rows the cursor goes up: a terminal that was made narrower has wrapped what stood there.
fn back(drawn: &[usize], room: TerminalSize) -> usize {
    let rows = drawn
        .iter()
        .map(|width| width.div_ceil(room.columns).max(1));
    rows.sum::<usize>().min(room.rows.saturating_sub(1))
}

/// One picture in one piece: up, line over line, and nothing left below.
fn frame(back: usize, above: &[String], picture: &[String]) -> String {
    let mut frame = format!("{HIDE}\r");
    if back > 0 {
        frame.push_str(&format!("\u{1b}[{back}A"));
    }
    for line in above.iter().chain(picture) {
        frame.push_str(ERASE_LINE);
        frame.push_str(line);
        frame.push('\n');
    }
    frame.push_str(ERASE_BELOW);
    frame.push_str(SHOW);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_hidden_only_inside_a_frame() {
        let frame = frame(
            2,
            &["said".to_owned()],
            &["one".to_owned(), "two".to_owned()],
        );
        assert_eq!(
            frame,
            "\u{1b}[?25l\r\u{1b}[2A\u{1b}[2Ksaid\n\u{1b}[2Kone\n\u{1b}[2Ktwo\n\u{1b}[J\u{1b}[?25h"
        );
    }

    #[test]
    fn the_first_frame_goes_nowhere_up() {
        assert!(!frame(0, &[], &["one".to_owned()]).contains('A'));
    }

    #[test]
    fn lines_that_a_narrower_terminal_wrapped_are_counted() {
        let room = |columns, rows| TerminalSize { columns, rows };
        for (drawn, room, expected) in [
            (&[][..], room(80, 24), 0),
            (&[10, 0, 80], room(80, 24), 3),
            (&[10, 0, 80], room(40, 24), 4),
            (&[81], room(40, 24), 3),
            (&[10, 10, 10], room(40, 3), 2),
        ] {
            assert_eq!(back(drawn, room), expected, "{drawn:?} {room:?}");
        }
    }
}
