//! One line per event of one of several runs, sent to the thread that prints for all of them.

use engine::RunId;
use runner::progress::{Progress, ProgressContext, Watcher};
use runner::prompt::Prompt;
use runtime::clock;
use runtime::environment::Environment;

use super::plain::Teller;

pub(crate) struct Relay<'a> {
    run: RunId,
    teller: Teller,
    hand_on: &'a mut dyn FnMut(String),
}

impl<'a> Relay<'a> {
    pub(crate) fn new(
        run: &RunId,
        environment: &Environment,
        hand_on: &'a mut dyn FnMut(String),
    ) -> Self {
        Self {
            run: run.clone(),
            teller: Teller::new(environment.secrets()),
            hand_on,
        }
    }
}

impl Watcher for Relay<'_> {
    fn tell(&mut self, at: &ProgressContext<'_>, what: &Progress) {
        if let Some((_, text)) = self.teller.line(at, what) {
            let at = views::time::rfc3339(at.now);
            (self.hand_on)(format!("{at} {}: {text}", self.run));
        }
    }

    fn tick(&mut self, _: &ProgressContext<'_>) {}

    fn remark(&mut self, text: &str) {
        let at = views::time::rfc3339(clock::now());
        (self.hand_on)(format!("{at} {}: {text}", self.run));
    }

    fn prompt(&mut self) -> Option<Box<dyn Prompt>> {
        None
    }
}
