//! What a hook knows so far, and so what it answers when something goes wrong.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{Rule, SessionId};
use hosts::{Bytes, Event, Program, Stake};
use install::claims::Claims;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::state::State;

use super::spool::{self, Fate};
use super::watch::Voice;

/// After this long we answer with what we know. The host's own limit is longer, and the host decides
/// what follows from it.
pub(super) const DEADLINE: Duration = Duration::from_secs(hosts::hook::DEADLINE_SECONDS);

/// What the program does for its hook, which itself prints nothing and opens no network.
#[derive(Clone, Copy)]
pub struct Callbacks {
    /// Prints the answer and returns the exit code.
    pub print: fn(&Bytes) -> u8,
    /// Opens the fleet's store, for the agent of a fleet's run whose copy is missing here.
    pub in_fleet: fn(&Context) -> Result<Context, Failure>,
}

/// What is known when something goes wrong, and so what the answer must be.
#[derive(Clone)]
pub(super) struct Known {
    facts: Arc<Mutex<Facts>>,
    pub voice: Voice,
    pub program: Callbacks,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Facts {
    pub host: Option<Program>,
    pub event: Option<Event>,
    /// Was a gate promised here: does the session hold a run, or should it?
    pub promised: bool,
    pub stake: Option<Stake>,
}

impl Known {
    pub(super) fn new(program: Callbacks) -> Self {
        Self {
            facts: Arc::default(),
            voice: Voice::new(program.print),
            program,
        }
    }

    pub(super) fn learn(&self, learn: impl FnOnce(&mut Facts)) {
        learn(&mut self.facts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The one place where a fault becomes an answer.
    pub(super) fn undecided(&self, reason: &str) -> Bytes {
        let facts = *self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let event = facts.event.unwrap_or(Event::Other);
        let reason = format!("{} not judged: {reason}", Rule::Undecided.code());
        if facts.promised {
            let host = facts.host.unwrap_or(Program::DEFAULT);
            host.undecided(event, facts.stake.unwrap_or(Stake::Gate), &reason)
        } else {
            Bytes::nothing()
        }
    }

    /// Answers for a hook that is still at work when its time is over, and ends the process. The event
    /// is kept for the journal: nobody judged it in time.
    pub(super) fn give_up(&self, place: Option<(State, SessionId)>) {
        let late = "it took too long";
        let code = self.voice.answer(&self.undecided(late));
        if let Some((state, session)) = place {
            // Whatever the answer is, the host may have gone on before it heard it.
            spool::keep(&state, self.event(), &session, late, Fate::Continued);
        }
        process::exit(code.into());
    }

    fn event(&self) -> Event {
        let facts = *self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        facts.event.unwrap_or(Event::Other)
    }
}

/// The session that calls, and the state folder in which it may be enrolled.
pub(super) struct SessionAtHook<'a> {
    pub state: State,
    pub session: &'a SessionId,
    /// What the hook says about its installation.
    pub claims: Claims,
}

/// A failure in one line, with what a person can do about it.
pub(super) fn in_one_line(failure: &Failure) -> String {
    format!("{failure}; type `gatewright doctor` to find the cause")
}
