//! Reads the output of a worker, and records its conversation id as soon as it prints one.

use std::time::{Duration, Instant};

use engine::{CallId, DispatchId, Happening, InFlight, Usage, Who, WorkEvent};
use evidence::check::Tail;
use hosts::agent_process::AgentOutput;
use runtime::caps::{self, CapReached};
use runtime::claim;
use runtime::clock;
use runtime::failure::Failure;
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use super::choice::Runner;
use super::conversation;
use super::hooks::HooksOfWorker;
use super::meter::Meter;
use super::process::{Continue, OutputReader, ProcessEnd};
use crate::fleet_caps::FleetCapWatch;
use crate::spending::Spending;
use runtime::work_record::Record;
use runtime::worker_log::WorkerLog;

/// The record is not written more often than this because of its usage.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);

/// The most that a script may print: more than any artifact may have, and small enough for memory.
const MOST_PRINTED: usize = 16 * 1024 * 1024;

/// A script's words are reported at most this often.
const SAID_INTERVAL: Duration = Duration::from_millis(200);

/// A screen shows the last words in one line.
const LONGEST_SAID: usize = 200;

/// A longer line is not one that is written anew again and again.
const LONGEST_REWRITTEN: usize = 4 * 1024;

pub struct OutputListener<'l, 'd> {
    pub workspace: &'l mut Workspace<'d>,
    pub opened: &'l OpenRun,
    pub dispatch: DispatchId,
    pub call: CallId,
    pub runner: Runner,
    /// The id that its conversation must have.
    pub expected: Option<String>,
    pub record: &'l mut Record,
    pub updates: &'l mut dyn FnMut(WorkerUpdate),
    pub is_known: bool,
    pub unguarded: bool,
    pub over_budget: bool,
    pub capped: Option<CapReached>,
    /// A cap of the fleet that was reached within the turn.
    pub fleet_cap: Option<String>,
    pub fleet_caps: FleetCapWatch,
    pub meter: &'l mut Meter,
    /// What all workers of the run use together, if their turns end with the budget.
    pub spending: Option<&'l Spending>,
    pub counting: Counting,
    /// The last line of a script that nobody has been told, and when somebody was.
    pub unsaid: Unsaid,
    pub agent_output: AgentOutput,
    /// Keeps what its program prints, for people.
    pub log: WorkerLog,
    /// Its hooks, where they decide on a copy of the run.
    pub hooks: Option<HooksOfWorker>,
}

/// When the record of the work gets its usage.
#[derive(Default)]
pub struct Counting {
    /// The record on disk does not have the usage so far.
    is_due: bool,
    /// When it was last written because of its usage.
    written_at: Option<Instant>,
}

/// A script may print a million lines: a screen gets the last one, now and then.
#[derive(Default)]
pub struct Unsaid {
    line: Option<String>,
    told_at: Option<Instant>,
}

impl Unsaid {
    fn note(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(after_return(line));
        let line = line.trim();
        if !line.is_empty() {
            self.line = Some(line.chars().take(LONGEST_SAID).collect());
        }
    }

    /// A progress bar ends no line: it writes the same line anew after each carriage return.
    fn note_unfinished(&mut self, line: &[u8]) {
        let end = &line[line.len().saturating_sub(LONGEST_REWRITTEN)..];
        if end.contains(&b'\r') {
            self.note(end);
        }
    }

    /// The last line, if it is time to tell it.
    fn due(&mut self) -> Option<String> {
        let just_now = |at: Instant| at.elapsed() < SAID_INTERVAL;
        if self.told_at.is_some_and(just_now) {
            return None;
        }
        let line = self.line.take()?;
        self.told_at = Some(Instant::now());
        Some(line)
    }
}

/// What a terminal shows of a line: what came after the last carriage return that more was written after.
fn after_return(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii_end();
    let begin = line.iter().rposition(|byte| *byte == b'\r');
    &line[begin.map_or(0, |at| at + 1)..]
}

/// What a worker reports while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerUpdate {
    /// Its last action, in its program's words.
    Acted(String),
    /// The last line that it said.
    Said(String),
    /// A tool call was refused; the call as far as it is known.
    Refused(String),
    /// All that it has used and the journal does not have.
    Used(Usage),
    /// It tried to finish and the engine sent it back, with the reason.
    SentBack(String),
    /// Why the result does not count.
    Void(String),
}

/// What a watcher sees of the output.
struct Shown {
    doing: Option<String>,
    said: Option<String>,
    refusals: usize,
}

impl Shown {
    fn of(output: &AgentOutput) -> Self {
        let said = output.reply.as_deref().unwrap_or_default();
        let mut lines = said.lines().rev().map(str::trim);
        let last = lines.find(|line| !line.is_empty());
        Self {
            doing: output.activity.clone(),
            said: last.map(|line| line.chars().take(LONGEST_SAID).collect()),
            refusals: output.refusals(),
        }
    }
}

/// Everything known about one process after its end.
pub struct ProcessReport {
    /// `None` if it could not start.
    pub ended: Option<ProcessEnd>,
    pub expected: Option<String>,
    pub agent_output: AgentOutput,
    /// The last line on its stderr, or why it could not start.
    pub last_error_line: String,
    /// It used a tool before any of its hooks called us.
    pub unguarded: bool,
    /// Its turn passed the budget.
    pub over_budget: bool,
    /// It passed a cap for all runs.
    pub capped: Option<CapReached>,
    /// All machines of the fleet passed a cap.
    pub fleet_cap: Option<String>,
}

impl ProcessReport {
    /// Did this process get a stop signal and end the worker?
    pub fn was_stopped(&self) -> bool {
        self.ended == Some(ProcessEnd::Stopped)
    }
}

impl OutputListener<'_, '_> {
    pub fn finish(mut self, ran: Result<(ProcessEnd, Tail), String>) -> ProcessReport {
        self.log.end();
        let secrets = self.workspace.context.environment.secrets();
        let (ended, last_error_line) = match ran {
            Ok((ended, tail)) => (Some(ended), last_line(&tail.text(secrets))),
            Err(reason) => (None, reason),
        };
        let mut agent_output = self.agent_output;
        if let (Runner::Program(program), Some(ProcessEnd::Exit(code))) = (self.runner, ended) {
            program.exited(code, &last_error_line, &mut agent_output);
        }
        ProcessReport {
            ended,
            expected: self.expected,
            agent_output,
            last_error_line,
            unguarded: self.unguarded,
            over_budget: self.over_budget,
            capped: self.capped.filter(|_| self.over_budget),
            fleet_cap: self.fleet_cap,
        }
    }

    /// Reports what differs from before this line.
    fn send_changes(&mut self, before: &Shown) {
        let now = Shown::of(&self.agent_output);
        if let Some(said) = now.said.filter(|said| before.said.as_ref() != Some(said)) {
            (self.updates)(WorkerUpdate::Said(said));
        }
        if now.refusals > before.refusals {
            let call = now
                .doing
                .clone()
                .unwrap_or_else(|| "a tool call".to_owned());
            (self.updates)(WorkerUpdate::Refused(call));
        }
        if let Some(doing) = now
            .doing
            .filter(|doing| before.doing.as_ref() != Some(doing))
        {
            (self.updates)(WorkerUpdate::Acted(doing));
        }
    }

    /// Keeps what was used so far, so that it counts whatever ends the process. Does it fit into the budget?
    fn count(&mut self) -> Result<bool, Failure> {
        // Many messages may come at once: then the record is written at the next poll.
        let just_now = |at: Instant| at.elapsed() < COUNT_INTERVAL;
        self.counting.is_due = self.counting.written_at.is_some_and(just_now);
        if !self.counting.is_due {
            self.meter.look_up_rate(&self.workspace.state);
        }
        self.record.used = self.meter.so_far(&self.agent_output);
        (self.updates)(WorkerUpdate::Used(self.record.used));
        self.record.note_spending(&self.workspace.state)?;
        if !self.counting.is_due {
            self.counting.written_at = Some(Instant::now());
            self.keep()?;
        }
        let Some(spending) = self.spending else {
            return Ok(true);
        };
        let usage = spending.note(self.dispatch, self.record.used);
        let Some(stored) = self.workspace.store.run(&self.opened.run().id)? else {
            return Ok(true);
        };
        let more = InFlight {
            usage,
            driven_ms: 0,
        };
        let pipeline = &self.opened.pipeline;
        let spent = engine::overspent_within_turn(pipeline, &stored.run, clock::now(), more);
        self.capped = caps::reached(&self.workspace.state, clock::now())?;
        let is_unlimited = self.meter.is_unlimited(&self.agent_output);
        Ok(spent.is_none() && self.capped.is_none() && !is_unlimited)
    }

    /// Has a hook of this work called us? Without hooks nothing judges its tools.
    fn has_hook_arrived(&self) -> bool {
        claim::file_beside(&self.workspace.state, &self.call, "arrived").exists()
    }

    /// Records the exact id, so that this conversation can be resumed later.
    fn began(&mut self) -> Result<Continue, Failure> {
        let (Runner::Program(program), Some(id)) =
            (self.runner, &self.agent_output.conversation_id)
        else {
            return Ok(Continue::Yes);
        };
        if self
            .expected
            .as_ref()
            .is_some_and(|expected| expected != id)
        {
            return Ok(Continue::No);
        }
        let Some(worker) = conversation::worker(program, id).filter(|_| !self.is_known) else {
            return Ok(Continue::Yes);
        };
        self.is_known = true;
        self.record.conversation = Some(id.clone());
        self.keep()?;
        let opened = self.workspace.read(&self.opened.run().id)?;
        let call = self.call.clone();
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            let (call, worker) = (call.clone(), worker.clone());
            Ok(Request::from(Happening::Work(WorkEvent::Launched {
                call,
                worker,
            })))
        };
        transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by: &Who::Engine,
                key: None,
            },
            &mut make,
        )?;
        Ok(Continue::Yes)
    }

    /// Tells the run what its hooks have decided here since the last time.
    pub fn hear_hooks(&mut self) -> Result<(), Failure> {
        match &mut self.hooks {
            Some(hooks) => hooks.hear(self.workspace, &self.record.run, &self.call),
            None => Ok(()),
        }
    }

    /// A turn that has ended is judged: what it made counts.
    fn is_mid_turn(&self) -> bool {
        self.agent_output.end.is_none()
    }

    /// Fails if another process has taken the run over.
    pub fn is_still_ours(&self) -> Result<(), Failure> {
        self.workspace.check_lease(&self.record.run)
    }

    fn keep(&self) -> Result<(), Failure> {
        self.is_still_ours()?;
        self.record.write(&self.workspace.state, &self.call)
    }

    fn tell_said(&mut self) {
        if let Some(said) = self.unsaid.due() {
            (self.updates)(WorkerUpdate::Said(said));
        }
    }

    /// A script's reply is everything that it prints.
    fn printed(&mut self, line: &[u8]) {
        let printed = self.agent_output.reply.get_or_insert_default();
        if printed.len() + line.len() <= MOST_PRINTED {
            printed.push_str(&String::from_utf8_lossy(line));
            printed.push('\n');
        }
    }
}

impl OutputReader for OutputListener<'_, '_> {
    fn started(&mut self, id: u32) -> Result<(), Failure> {
        self.record.process = evidence::process::find(id);
        self.keep()
    }

    fn error(&mut self, bytes: &[u8]) {
        self.log.error(bytes);
    }

    fn line(&mut self, line: &[u8]) -> Result<Continue, Failure> {
        self.log.line(line);
        match self.runner {
            Runner::Command | Runner::StandIn => {
                self.printed(line);
                self.unsaid.note(line);
                self.tell_said();
                Ok(Continue::Yes)
            }
            Runner::Program(program) => {
                let (before, used) = (Shown::of(&self.agent_output), self.agent_output.usage);
                program.read_line(line, &mut self.agent_output);
                self.send_changes(&before);
                let has_used = self.agent_output.usage != used;
                if has_used && !self.count()? && self.is_mid_turn() {
                    self.over_budget = true;
                    return Ok(Continue::No);
                }
                if self.agent_output.used_a_tool && !self.has_hook_arrived() {
                    self.unguarded = true;
                    return Ok(Continue::No);
                }
                self.began()
            }
        }
    }

    fn unfinished(&mut self, line: &[u8]) {
        match self.runner {
            Runner::Command | Runner::StandIn => {
                self.unsaid.note_unfinished(line);
                self.tell_said();
            }
            // Its output is a stream of whole lines.
            Runner::Program(_) => {}
        }
    }

    fn is_still_needed(&mut self) -> Result<bool, Failure> {
        self.tell_said();
        if std::mem::take(&mut self.counting.is_due) {
            self.keep()?;
        }
        if self.spending.is_some_and(Spending::is_over) {
            self.over_budget = true;
            return Ok(false);
        }
        self.hear_hooks()?;
        let Some(stored) = self.workspace.store.run(&self.opened.run().id)? else {
            return Ok(false);
        };
        if let Some(hooks) = &mut self.hooks {
            hooks.renew(&stored)?;
        }
        if let Some(spending) = self.spending.filter(|_| self.is_mid_turn()) {
            self.fleet_cap = self.fleet_caps.look(self.workspace, &stored, spending)?;
            if self.fleet_cap.is_some() {
                return Ok(false);
            }
        }
        let (run, pipeline) = (&stored.run, &self.opened.pipeline);
        let open = run.dispatches.get(&self.dispatch);
        let is_due = open.is_some_and(|open| open.visit == run.position.visit);
        Ok(is_due && !engine::is_over(pipeline, run))
    }
}

fn last_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).rev();
    let last = lines.find(|line| !line.is_empty()).unwrap_or_default();
    last.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_line_that_is_written_anew_the_last_text_is_said() {
        for (line, said) in [
            (b"10%\r20%\r30%".as_slice(), Some("30%")),
            (b"10%\r20%\r", Some("20%")),
            (b"\r\r", None),
            // Its end is still to come.
            (b"half a line", None),
        ] {
            let mut unsaid = Unsaid::default();
            unsaid.note_unfinished(line);
            assert_eq!(unsaid.line.as_deref(), said);
        }
        let mut unsaid = Unsaid::default();
        unsaid.note(b"10%\r20%\r\r");
        assert_eq!(unsaid.line.as_deref(), Some("20%"));
        unsaid.note(b"a whole line");
        assert_eq!(unsaid.line.as_deref(), Some("a whole line"));
    }
}
