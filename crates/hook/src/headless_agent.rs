//! The hook of an agent that we started headless: its tool calls are judged as its own, and nothing else is.
//!
//! Such a hook never begins, joins or guards the run of a session, whatever files say about its
//! session: the call id in the environment says whose work this is.

mod denied_tools;
mod tool_calls;

use std::cell::Cell;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Instant;

use engine::{CallId, Rule};
use hosts::{Answer, Bytes, Event, Program, Stake};
use runtime::claim;
use runtime::context::Context;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::hook_copy;
use runtime::ids;
use runtime::state::State;
use runtime::work_record::Record;
use store::RunCopy;

use super::call::HookCall;
use super::input::Input;
use super::known::{DEADLINE, Known, in_one_line};
use super::watch;

/// The agent in whose program this hook runs.
pub(super) struct HeadlessAgent {
    /// The program that calls the hook.
    host: Program,
    call: CallId,
    state: State,
}

/// The agent in whose program we run. Without its record it is not one of ours, and the hook is like
/// any other.
pub(super) fn find(host: Program, environment: &Environment) -> Option<HeadlessAgent> {
    let call = environment.call.clone().filter(claim::is_ours)?;
    let state = State::find(environment).ok()?;
    // What cannot be looked at may be there: then its calls are refused, and not let through.
    let record = claim::file_beside(&state, &call, "json");
    let is_there = record.try_exists().unwrap_or(true);
    is_there.then_some(HeadlessAgent { host, call, state })
}

impl HeadlessAgent {
    /// Invariant: every way out of here has an answer. A tool call that nobody could judge is refused.
    pub(super) fn answer(
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
        let context = Context::at(environment, input.folder(&payload));
        let context = context.with_delay_hook(watched(known));
        if input.is_long() {
            context.expect_delay();
        }
        let call = HookCall::of_headless_agent(event, &payload, input.digest());
        let judged = self.in_its_store(context, known);
        match judged.and_then(|context| self.judge(&call, &context)) {
            Ok(answer) => input.host.write_answer(event, &answer),
            Err(failure) => known.undecided(&in_one_line(&failure)),
        }
    }

    /// The run of a fleet is in the fleet's store, which may be far away. Its orchestrator leaves a copy here, and only
    /// without one that this version can read the store is asked.
    fn in_its_store(&self, context: Context, known: &Known) -> Result<Context, Failure> {
        let record = Record::read(&self.state, &self.call);
        let is_of_fleet = record.is_some_and(|record| ids::is_of_fleet(&record.run));
        if !is_of_fleet || self.copy().is_some() {
            return Ok(context);
        }
        context.expect_delay();
        (known.program.in_fleet)(&context)
    }

    /// The copy of a fleet's run that was left for this work.
    fn copy(&self) -> Option<RunCopy> {
        hook_copy::read(&self.state, &self.call)
    }

    fn judge(&self, call: &HookCall<'_>, context: &Context) -> Result<Answer, Failure> {
        match call.event {
            Event::PreToolUse => self.requested(call, context),
            Event::PermissionRequest => self.permitted(call, context),
            Event::PostToolUse | Event::PostToolUseFailure => self.used(call, context),
            Event::ConfigChange => Ok(refused(Rule::OwnFiles, SETTLED)),
            Event::SessionStart
            | Event::SessionEnd
            | Event::UserPromptSubmit
            | Event::UserPromptExpansion
            | Event::SubagentStart
            | Event::SubagentStop
            | Event::Stop
            | Event::StopFailure
            | Event::TaskCompleted
            | Event::PreCompact
            | Event::Other => Ok(Answer::nothing()),
        }
    }

    /// Leaves the proof that the hooks of this agent run. The runner that started it looks for that.
    fn arrive(&self) {
        let path = claim::file_beside(&self.state, &self.call, "arrived");
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        // It is there already, or the runner ends the agent because it is missing.
        drop(file);
    }

    fn record(&self) -> Result<Record, Failure> {
        Record::read(&self.state, &self.call).ok_or_else(|| {
            let path = claim::file_beside(&self.state, &self.call, "json");
            Failure::store(format!("cannot read {}", path.display()))
        })
    }
}

/// An agent goes on with the settings with which it was started.
const SETTLED: &str = "the settings of a worker cannot change while it works";

/// A no in one line, without what others may do next: an agent that we started cannot do that.
fn refused(rule: Rule, reason: &str) -> Answer {
    let line = format!("{} refused: {}", rule.code(), views::line(reason));
    Answer::refuse(line)
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
