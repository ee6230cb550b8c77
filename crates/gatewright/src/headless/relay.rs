//! A line an event of one of several runs, handed to whoever prints for all of them.

use engine::RunId;

use super::plain::Teller;
use super::progress::{Glance, Progress, Watcher};
use crate::environment::Environment;
use crate::output::{Color, Format, Output};

pub struct Relay<'a> {
    run: RunId,
    teller: Teller,
    hand_on: &'a mut dyn FnMut(String),
    aside: Output,
}

impl<'a> Relay<'a> {
    pub fn new(run: &RunId, environment: &Environment, hand_on: &'a mut dyn FnMut(String)) -> Self {
        Self {
            run: run.clone(),
            teller: Teller::new(&environment.secrets),
            hand_on,
            aside: Output::standard(Format::Text, Color::Never, environment),
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

    fn aside(&mut self) -> &mut Output {
        &mut self.aside
    }
}
