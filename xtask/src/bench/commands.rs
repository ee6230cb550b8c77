//! Our own program as people call it, on a run with a history.

use std::path::Path;
use std::rc::Rc;

use super::history;
use super::subject::{Act, Kind, Load, Process, Subject};
use crate::battery::{self, Stand};
use crate::failure::Failure;

/// `next` and `checkpoint` on a run with so many entries behind it.
pub(super) fn subjects(program: &Path, entries: usize) -> Result<Vec<Subject>, Failure> {
    let stand = battery::started(program)?;
    history::grow(&stand, battery::RUN, entries)?;
    let stand = Rc::new(stand);
    let (decide, advance) = (Decide(Rc::clone(&stand)), Advance(stand));
    Ok(vec![
        Subject::new(Kind::Decide, Load::Entries(entries), decide),
        Subject::new(Kind::Advance, Load::Entries(entries), advance),
    ])
}

struct Decide(Rc<Stand>);

impl Act for Decide {
    fn process(&self, starter: &[&str], _: usize) -> Process {
        let words = ["next", battery::RUN, "--json"];
        Process::without_input(self.0.under(starter, &words))
    }
}

struct Advance(Rc<Stand>);

impl Act for Advance {
    fn process(&self, starter: &[&str], round: usize) -> Process {
        let name = format!("round-{round}");
        let words = ["checkpoint", battery::RUN, &name];
        Process::without_input(self.0.under(starter, &words))
    }
}
