//! `gatewright hook`: one payload of a host in, one answer out.
//!
//! Invariant: it ends with 0 or 2 and nothing else, and stdout is empty or one whole JSON object.
//! Where nothing was promised it says nothing; where a gate was promised and cannot be judged, the
//! answer follows from the event alone (`Program::undecided`).

mod agent_began;
mod agent_file;
mod agent_message;
mod answer;
mod arrival;
mod attach;
mod call;
mod command;
mod config_change;
mod edits;
mod event;
mod guarded;
mod guarded_session;
mod headless_agent;
mod held_run;
mod input;
mod installation;
mod known;
mod nested;
mod other_pipeline;
mod permission;
mod promise;
mod protected_paths;
mod question;
mod resolve;
mod run_end;
mod seen_events;
mod shell_paths;
mod skill;
mod spool;
mod stake;
mod told_text;
mod watch;
mod worker_record;

use std::cell::Cell;
use std::ffi::OsString;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use hosts::{Bytes, Event, Payload};
use runtime::context::Context;
use runtime::enrolment::{self, Enrolled, RecordState};
use runtime::environment::Environment;
use runtime::state::State;

use arrival::Arrived;
use call::HookCall;
use guarded::Judged;
use input::Input;
use install::claims::Claims;
use known::{DEADLINE, Known, SessionAtHook, in_one_line};
use spool::Fate;

pub use known::Callbacks;

/// What is said of a panic.
const FAULT: &str = "internal error in gatewright";

/// Answers the host that started this process.
pub fn run(arguments: &[OsString], program: Callbacks) -> ExitCode {
    panic::set_hook(Box::new(|_| {}));
    let known = Known::new(program);
    let bytes = answered(&known, || hook(arguments, &known));
    ExitCode::from(known.voice.answer(&bytes))
}

/// A panic is a fault of ours, and its answer is that of everything that cannot be judged.
fn answered(known: &Known, work: impl FnOnce() -> Bytes) -> Bytes {
    let answered = panic::catch_unwind(AssertUnwindSafe(work));
    answered.unwrap_or_else(|_| known.undecided(FAULT))
}

/// The way of one hook. It leads from the top to the bottom, and the first that has an answer ends it.
fn hook(arguments: &[OsString], known: &Known) -> Bytes {
    let (host, mut named) = input::named(arguments);
    known.learn(|facts| (facts.host, facts.event) = (Some(host), named));
    let mut environment = Environment::of_process();
    let input = Input::of_process(host, &environment);
    if let Some(agent) = headless_agent::find(host, &environment) {
        return agent.answer(named, &input, environment, known);
    }
    // The sessions of other hosts are not ours.
    if host.session_host().is_none() {
        return Bytes::nothing();
    }
    let claims = Claims::of_arguments(arguments);
    if let Some(folder) = claims.state_beside(&environment, input.project.as_deref()) {
        environment = environment.with_state_folder(folder);
    }
    let (Ok(state), Some(session)) = (State::find(&environment), &input.session) else {
        return Bytes::nothing();
    };
    if named == Some(Event::SessionStart) {
        nested::tell(&state, session, host, &environment);
    }
    let caller = SessionAtHook {
        state,
        session,
        claims,
    };
    let mut end = Bytes::nothing();
    let found = enrolment::look_up(&caller.state, session);
    if let Some(found) = found.transpose() {
        match enrolled(named, &input, environment, known, &caller, found) {
            Guard::Answered(bytes) => return bytes,
            // The run is over, or was never there: the session is as free as any other.
            Guard::Released(released) => {
                (named, environment) = (Some(released.event), *released.environment);
                end = released.end;
            }
        }
    }
    match arrival::unenrolled(named, &input, environment, known, &caller) {
        Arrived::Elsewhere => end,
        Arrived::Answered(bytes) => bytes,
        Arrived::Enrolled(event, environment) => {
            let found = enrolment::look_up(&caller.state, session);
            let Some(found) = found.transpose() else {
                return Bytes::nothing();
            };
            match enrolled(Some(event), &input, *environment, known, &caller, found) {
                Guard::Answered(bytes) => bytes,
                Guard::Released(released) => released.end,
            }
        }
    }
}

/// What became of a hook in a session that is enrolled.
enum Guard {
    Answered(Bytes),
    /// The session holds no run any more.
    Released(Released),
}

/// A hook whose session holds no run any more.
struct Released {
    event: Event,
    /// For what comes next.
    environment: Box<Environment>,
    /// How the run ended, where the session has to hear it.
    end: Bytes,
}

/// Invariant: every way out of here has an answer, or releases the session.
fn enrolled(
    named: Option<Event>,
    input: &Input,
    environment: Environment,
    known: &Known,
    caller: &SessionAtHook<'_>,
    found: io::Result<(Enrolled, RecordState)>,
) -> Guard {
    known.learn(|facts| facts.promised = true);
    let (event, payload) = match input.payload(named) {
        Ok(read) => read,
        Err(unreadable) => {
            // Nobody judged what could not be read, so that is kept for the journal, too.
            let (reason, event) = (unreadable.to_string(), named.unwrap_or(Event::Other));
            let answer = known.undecided(&reason);
            let fate = Fate::of(&answer);
            spool::keep(&caller.state, event, caller.session, &reason, fate);
            return Guard::Answered(answer);
        }
    };
    known.learn(|facts| facts.event = Some(event));
    let payload = Rc::new(payload);
    let context = Context::at(environment, input.folder(&payload));
    let context = context.with_delay_hook(watched(known, caller, &payload));
    if input.is_long() {
        context.expect_delay();
    }
    let call = HookCall::of_session(input.host, event, &payload, caller.session);
    let work = || guarded::answer(&call, caller.session, found, &context, input.host);
    let reason = match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(Judged::Answered(answer))) => {
            return Guard::Answered(input.host.write_answer(event, &answer));
        }
        Ok(Ok(Judged::Free(end))) => {
            known.learn(|facts| facts.promised = false);
            return Guard::Released(Released {
                event,
                environment: Box::new(context.environment),
                end: end.map_or_else(Bytes::nothing, |end| input.host.write_answer(event, &end)),
            });
        }
        Ok(Err(failure)) => in_one_line(&failure),
        Err(_) => FAULT.to_owned(),
    };
    known.learn(|facts| facts.stake = Some(stake::stake(&payload, &context.environment)));
    Guard::Answered(known.undecided(&reason))
}

/// Before what may take long: a session that holds a run gets its answer before the host loses its
/// patience. A tree may be large, a command long, and others may be at work on the same run.
fn watched(
    known: &Known,
    caller: &SessionAtHook<'_>,
    payload: &Rc<Payload>,
) -> impl Fn(&Environment) + use<> {
    let (known, payload) = (known.clone(), Rc::clone(payload));
    let (state, session) = (caller.state.clone(), caller.session.clone());
    let (since, is_watched) = (Instant::now(), Cell::new(false));
    move |environment| {
        if !is_watched.replace(true) {
            let (late, place) = (known.clone(), (state.clone(), session.clone()));
            watch::begin(since, DEADLINE, move || late.give_up(Some(place)));
            known.learn(|facts| facts.stake = Some(stake::stake(&payload, environment)));
        }
    }
}

#[cfg(test)]
mod tests {
    use hosts::Stake;
    use runtime::failure::Failure;

    use super::known::Facts;
    use super::*;

    #[test]
    fn a_panic_is_answered_as_the_policy_says() {
        for (event, promised, stake, code) in [
            (Event::PreToolUse, true, Some(Stake::Gate), 2),
            (Event::PreToolUse, true, None, 2),
            (Event::PreToolUse, true, Some(Stake::Ordinary), 0),
            (Event::ConfigChange, true, None, 2),
            (Event::Stop, true, None, 0),
            (Event::PreToolUse, false, None, 0),
        ] {
            let known = Known::new(Callbacks {
                print: |bytes| bytes.code,
                in_fleet: |_| Err(Failure::bug("a test has no fleet")),
            });
            let bytes = answered(&known, || {
                known.learn(|facts| {
                    *facts = Facts {
                        host: None,
                        event: Some(event),
                        promised,
                        stake,
                    };
                });
                panic!("a planted fault")
            });
            assert_eq!(bytes.code, code, "{event:?} {promised} {stake:?}");
            let told = [bytes.stdout, bytes.stderr].concat();
            let told = String::from_utf8_lossy(&told).contains("GW-R101 not judged");
            assert_eq!(told, promised, "{event:?}");
        }
    }
}
