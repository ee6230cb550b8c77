//! The hooks inside a worker that we started: its tools are judged as its own, and nothing else is.
//!
//! Such a hook never begins, joins or guards the run of a session, whatever files say of its session:
//! the call in the environment tells whose work this is.

mod judged;
mod tools;

use std::cell::Cell;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Instant;

use engine::{CallId, Rule};
use hosts::{Answer, Bytes, Event, Stake, Verdict};

use super::input::Input;
use super::{DEADLINE, Known, guarded, told, watch};
use runner::agent::record::Record;
use runtime::claim;
use runtime::context::Context;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::state::State;

/// The work inside whose host this hook runs.
pub struct Worker {
    call: CallId,
    state: State,
}

/// The worker in which we run. Without its record it is none of ours, and the hook is like any other.
pub fn find(environment: &Environment) -> Option<Worker> {
    let call = environment.call.clone().filter(claim::is_ours)?;
    let state = State::find(environment).ok()?;
    let is_there = claim::beside(&state, &call, "json").exists();
    is_there.then_some(Worker { call, state })
}

impl Worker {
    /// Whatever happens now has an answer. A tool that nobody could judge is not used.
    pub fn answer(
        &self,
        named: Option<Event>,
        input: &Input,
        environment: Environment,
        known: &Known,
    ) -> Bytes {
        known.learn(|facts| {
            facts.promised = true;
            facts.stake = Some(Stake::Gate);
        });
        self.arrive();
        let (event, payload) = match input.payload(named) {
            Ok(read) => read,
            Err(unreadable) => return known.undecided(&unreadable.to_string()),
        };
        known.learn(|facts| facts.event = Some(event));
        let context = Context::at(environment, guarded::folder(input, &payload));
        let context = context.hurried(watched(known));
        if input.is_long() {
            context.expect_delay();
        }
        let asked = judged::Asked {
            event,
            payload: &payload,
            input,
        };
        let answer = match event {
            Event::PreToolUse => self.requested(&asked, &context),
            Event::PermissionRequest => self.permitted(&asked, &context),
            Event::PostToolUse | Event::PostToolUseFailure => self.used(&asked, &context),
            Event::ConfigChange => Ok(refused(Rule::OwnFiles, SETTLED)),
            _ => Ok(Answer::nothing()),
        };
        match answer {
            Ok(answer) => input.host.write_answer(event, &answer),
            Err(failure) => known.undecided(&told(&failure)),
        }
    }

    /// Leaves the proof that the hooks of this worker live. Whoever started it looks for that.
    fn arrive(&self) {
        let path = claim::beside(&self.state, &self.call, "arrived");
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        // It is there already, or the worker is ended for the want of it.
        drop(file);
    }

    fn record(&self) -> Result<Record, Failure> {
        Record::read(&self.state, &self.call).ok_or_else(|| {
            let path = claim::beside(&self.state, &self.call, "json");
            Failure::store(format!("cannot read {}", path.display()))
        })
    }
}

/// A worker goes on with the settings with which it was started.
const SETTLED: &str = "the settings of a worker cannot change while it works";

/// A no in one line, without what others may do next: that is not for a worker.
fn refused(rule: Rule, reason: &str) -> Answer {
    let line = format!("{} refused: {}", rule.code(), views::line(reason));
    Answer {
        verdict: Verdict::Refuse(line),
        ..Answer::nothing()
    }
}

/// Before what may take long: the host gets its answer before it loses its patience.
fn watched(known: &Known) -> impl Fn(&Environment) + use<> {
    let (known, since, is_watched) = (known.clone(), Instant::now(), Cell::new(false));
    move |_| {
        if !is_watched.replace(true) {
            let late = known.clone();
            watch::begin(since, DEADLINE, move || late.give_up(None));
        }
    }
}
