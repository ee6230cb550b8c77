//! One line per event of one of several runs, sent to the thread that prints for all of them.

use engine::RunId;
use runner::progress::{Glance, Progress, Watcher};
use runner::prompt::Prompt;
use runtime::environment::Environment;

use super::plain::Teller;

pub struct Relay<'a> {
    run: RunId,
    teller: Teller,
    hand_on: &'a mut dyn FnMut(String),
}

impl<'a> Relay<'a> {
    pub fn new(run: &RunId, environment: &Environment, hand_on: &'a mut dyn FnMut(String)) -> Self {
        Self {
            run: run.clone(),
            teller: Teller::new(&environment.secrets),
            hand_on,
        }
    }
}

impl Watcher for Relay<'_> {
    fn tell(&mut self, at: &Glance<'_>, what: &Progress) {
        if let Some((_, text)) = self.teller.line(at, what) {
            (self.hand_on)(format!("{}: {text}", self.run));
        }
    }

    fn tick(&mut self, _: &Glance<'_>) {}

    fn remark(&mut self, text: &str) {
        (self.hand_on)(format!("{}: {text}", self.run));
    }

    fn prompt(&mut self) -> Option<Box<dyn Prompt>> {
        None
    }
}
