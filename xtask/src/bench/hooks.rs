//! Our own program as a host calls it: `gatewright hook` with one payload.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use super::payload::{Payload, Worker};
use super::seat::Seat;
use super::subject::{Act, Kind, Load, Process, Subject};
use crate::failure::Failure;

/// The payloads of a Write call that are compared, in bytes.
pub(super) const SMALL: usize = 2_000;
pub(super) const LARGE: usize = 2_000_000;

/// Agents that may work in the open stage as often as they like, and what they do moves nothing.
const ADMITTED: &str = "nix-writer";
pub(super) const ENDING: &str = "bash-writer";

/// A session that is none of our business.
pub(super) fn elsewhere(program: &Path) -> Result<Subject, Failure> {
    let seat = Rc::new(Seat::elsewhere(program)?);
    let told = Told {
        seat,
        payload: Payload::shell(),
    };
    let output = told.seat.send(&told.payload)?;
    if output.stdout.is_empty() {
        Ok(Subject::new(Kind::HookElsewhere, Load::Nothing, told))
    } else {
        Err(Failure::no("a hook spoke where nothing was promised"))
    }
}

/// A session that holds a run with so many entries.
pub(super) fn enrolled(program: &Path, entries: usize) -> Result<Vec<Subject>, Failure> {
    let seat = Rc::new(Seat::executing(program, entries)?);
    prove(&seat)?;
    let load = Load::Entries(entries);
    let decides = told(&seat, Payload::shell());
    Ok(vec![
        Subject::new(Kind::HookDecides, load, decides),
        Subject::new(Kind::HookAdmits, load, Admits::new(&seat)),
        Subject::new(Kind::HookAdvances, load, Advances(seat)),
    ])
}

/// A tool call and the end of an agent in this session.
pub(super) fn call_and_end(seat: &Rc<Seat>) -> Result<[Subject; 2], Failure> {
    prove(seat)?;
    let load = Load::Entries(10);
    Ok([
        Subject::new(Kind::HookDecides, load, told(seat, Payload::shell())),
        Subject::new(Kind::HookAdvances, load, Advances(Rc::clone(seat))),
    ])
}

/// The same call with a short and with a long payload.
pub(super) fn writes(program: &Path) -> Result<Vec<Subject>, Failure> {
    let seat = Rc::new(Seat::executing(program, 10)?);
    let subjects = [SMALL, LARGE].map(|bytes| {
        let payload = Payload::write(&seat.folder(), bytes);
        Subject::new(Kind::HookWrites, Load::Bytes(bytes), told(&seat, payload))
    });
    Ok(subjects.into())
}

fn told(seat: &Rc<Seat>, payload: Payload) -> Told {
    Told {
        seat: Rc::clone(seat),
        payload,
    }
}

/// What is timed must be what we say: a decision leaves no entry, an advance leaves some.
fn prove(seat: &Seat) -> Result<(), Failure> {
    let grows = |payload: &Payload| -> Result<bool, Failure> {
        let before = seat.version()?;
        seat.send(payload)?;
        Ok(seat.version()? > before)
    };
    let worker = worker(ENDING, 0);
    let found = [
        grows(&Payload::shell())?,
        grows(&Payload::agent_requested(&worker))?,
        grows(&Payload::agent_began(&worker))?,
        grows(&Payload::tool_requested(&worker))?,
        grows(&Payload::agent_stopping(&worker))?,
    ];
    let ended_well = seat.ended(1)?.len() == 1;
    if ended_well && found == [false, true, true, true, true] {
        Ok(())
    } else {
        Err(Failure::no(format!(
            "the hooks of the bench do not do what they should: {found:?}"
        )))
    }
}

fn worker(agent: &'static str, round: usize) -> Worker {
    // Each agent has numbers of its own, and the first ones belong to those who led the run here.
    let number = 1_000 + 2 * round + usize::from(agent == ADMITTED);
    Worker { agent, number }
}

/// The same payload in every round; it changes nothing.
struct Told {
    seat: Rc<Seat>,
    payload: Payload,
}

impl Act for Told {
    fn process(&self, starter: &[&str], _: usize) -> Process {
        self.seat.process(starter, &self.payload)
    }
}

/// An agent is asked for, which is an entry.
struct Admits {
    seat: Rc<Seat>,
    /// The round whose agent has not ended yet.
    open: Cell<Option<usize>>,
}

impl Admits {
    fn new(seat: &Rc<Seat>) -> Self {
        Self {
            seat: Rc::clone(seat),
            open: Cell::new(None),
        }
    }
}

impl Act for Admits {
    /// Nobody is left behind: the run would grow with them.
    fn prepare(&self, round: usize) -> Result<(), Failure> {
        if let Some(before) = self.open.replace(Some(round)) {
            let worker = worker(ADMITTED, before);
            self.seat.send(&Payload::agent_began(&worker))?;
            self.seat.send(&Payload::tool_requested(&worker))?;
            self.seat.send(&Payload::agent_stopping(&worker))?;
        }
        Ok(())
    }

    fn process(&self, starter: &[&str], round: usize) -> Process {
        let payload = Payload::agent_requested(&worker(ADMITTED, round));
        self.seat.process(starter, &payload)
    }
}

/// An agent ends, which is an entry.
struct Advances(Rc<Seat>);

impl Act for Advances {
    fn prepare(&self, round: usize) -> Result<(), Failure> {
        self.0.set_to_work(&worker(ENDING, round + 1))
    }

    fn process(&self, starter: &[&str], round: usize) -> Process {
        let payload = Payload::agent_stopping(&worker(ENDING, round + 1));
        self.0.process(starter, &payload)
    }
}
