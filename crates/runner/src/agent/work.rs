//! One piece of work of ours, from its first word to its end: begun, listened to, sent back, judged.

use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::{
    Dispatch, Duty, Ending, Event, Fact, Fault, Happening, Reply, Usage, Who, WorkEvent, WorkRef,
    WorkResult,
};
use hosts::UsageScope;
use hosts::agent_process::{Conversation, StartOptions};
use runtime::briefing;
use runtime::claim::Claim;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::watchdog::{MARK, START};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, ids};

use super::choice::Runner;
use super::conversation;
use super::listener::{Heard, Listener, Told};
use super::process::{self, Job, Limits};
use super::record::{self, Record};
use super::spawn_spec::SpawnSpec;
use super::verdict;

/// One piece of work, and all that it is done with.
pub struct Work<'w, 'd> {
    pub workspace: &'w mut Workspace<'d>,
    pub order: &'w SpawnSpec,
    pub claim: &'w Claim,
    pub dispatch: Dispatch,
    pub setting: Setting<'w>,
    pub record: Record,
}

/// What surrounds the work.
pub struct Setting<'w> {
    /// Somebody wants us to stop.
    pub stop: Arc<AtomicBool>,
    /// What becomes of the work then.
    pub stopped: Stopped,
    pub tell: &'w mut dyn FnMut(Told),
    /// How what was done in a folder of its own comes to the run's worktree.
    pub delivery: Option<&'w mut dyn Delivery>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It has crashed.
    Counts,
    /// It stays open, and whoever comes next goes on with it.
    StaysOpen,
}

pub trait Delivery {
    /// Invariant: doing it twice does it once.
    fn deliver(&mut self) -> Result<Delivered, Failure>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    Done,
    /// These files were changed by others, too.
    Conflict(Vec<String>),
    /// Somebody wants us to stop, and it was not done.
    Stopped,
}

/// From where the work goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    TheBeginning,
    /// Its process is gone and its conversation is there.
    Conversation(String),
    /// Its process has ended, and nobody has judged that yet.
    ItsEnd(record::Ended),
}

/// What came of it.
pub enum Finish {
    Judged(Box<Decided>),
    /// We were stopped: the work is still open.
    Open,
}

/// Which conversation a process is in.
enum Turn {
    New {
        id: String,
    },
    GoesOn {
        id: String,
    },
    /// One goes on in whose middle we were gone.
    Interrupted {
        id: String,
    },
}

/// What was used, counted over all processes of this work.
struct Meter {
    used: Usage,
    /// What its conversation had used before, where that is counted again.
    before: Usage,
}

impl Work<'_, '_> {
    /// Has the worker work until the engine takes its end. Whoever has not left what it must is
    /// sent back into the same conversation, as often as the engine says.
    pub fn run(mut self, opened: OpenRun, from: From) -> Result<Finish, Failure> {
        let deadline = Instant::now() + self.order.time;
        self.workspace
            .step_folder
            .clone_from(&self.record.step_folder);
        let (mut turn, mut meter) = self.first_turn(&opened, &from)?;
        let mut prompt = self.prompt(&opened, &from)?;
        let mut opened = opened;
        let mut ended = match from {
            From::ItsEnd(ended) => Some(ended),
            From::TheBeginning | From::Conversation(_) => None,
        };
        loop {
            let ended = match ended.take() {
                Some(ended) => ended,
                None => match self.work(&opened, (&turn, &prompt), deadline, &mut meter)? {
                    Some(ended) => ended,
                    None => return Ok(Finish::Open),
                },
            };
            let Some(decided) = self.judge(opened, ended)? else {
                return Ok(Finish::Open);
            };
            match (&decided.reply, self.record.conversation.clone()) {
                (Reply::Hold(refusal), Some(id)) => {
                    (self.setting.tell)(Told::SentBack(refusal.reason.clone()));
                    prompt = sent_back(&refusal.reason);
                    turn = Turn::GoesOn { id };
                    opened = decided.opened;
                }
                _ => return Ok(Finish::Judged(Box::new(decided))),
            }
        }
    }

    /// Runs one process to its end; nothing if we were stopped and the work stays open.
    fn work(
        &mut self,
        opened: &OpenRun,
        (turn, prompt): (&Turn, &str),
        deadline: Instant,
        meter: &mut Meter,
    ) -> Result<Option<record::Ended>, Failure> {
        self.record.ended = None;
        self.keep()?;
        let mut heard = self.listen(opened, (turn, prompt), deadline)?;
        if matches!(turn, Turn::Interrupted { .. }) && verdict::is_gone(&heard) {
            let anew = self.begin_anew(meter)?;
            heard = self.listen(opened, (&anew, prompt), deadline)?;
        }
        self.count(meter, &heard);
        if heard.was_stopped() && self.setting.stopped == Stopped::StaysOpen {
            return Ok(None);
        }
        if self.setting.stopped == Stopped::StaysOpen
            && let Some(failure) = verdict::outside(self.order.runner, &heard)
        {
            return Err(failure);
        }
        let secrets = &self.workspace.context.environment.secrets;
        let reply = heard.agent_output.reply.as_deref();
        let ended = record::Ended {
            ending: verdict::ending(self.order.runner, &heard),
            usage: meter.used,
            reply: reply.map(|reply| engine::redact(reply, secrets).into_owned()),
        };
        self.record.ended = Some(ended.clone());
        self.keep()?;
        Ok(Some(ended))
    }

    /// No program keeps a conversation before something was said in it. Whoever was ended so early
    /// begins anew, in the same attempt.
    fn begin_anew(&mut self, meter: &mut Meter) -> Result<Turn, Failure> {
        self.record.conversation = None;
        self.record.restarts += 1;
        self.keep()?;
        meter.before = Usage::default();
        Ok(Turn::New { id: ids::uuid()? })
    }

    fn keep(&self) -> Result<(), Failure> {
        self.workspace.still_ours(&self.record.run)?;
        self.record.write(&self.workspace.state, self.claim.call())
    }

    /// Tells the engine of the end; nothing if we were stopped before what was done was delivered.
    /// What the worker did in a folder of its own is looked at there, and delivered before it counts.
    fn judge(&mut self, opened: OpenRun, ended: record::Ended) -> Result<Option<Decided>, Failure> {
        let record::Ended {
            mut ending,
            usage,
            reply,
        } = ended;
        let opened = self.workspace.read(&opened.run().id)?;
        if self.would_count(&opened, (&ending, usage), reply.as_deref())?
            && let Some(delivery) = &mut self.setting.delivery
        {
            self.workspace.still_ours(&self.record.run)?;
            match delivery.deliver()? {
                Delivered::Done => {}
                Delivered::Conflict(paths) => ending = conflict(&paths),
                Delivered::Stopped => return Ok(None),
            }
        }
        self.tell_end(opened, ending, (usage, reply)).map(Some)
    }

    /// Would the engine take this end as it is?
    fn would_count(
        &self,
        opened: &OpenRun,
        (ending, usage): (&Ending, Usage),
        reply: Option<&str>,
    ) -> Result<bool, Failure> {
        if self.setting.delivery.is_none() {
            return Ok(false);
        }
        let event = Event {
            at: clock::now(),
            by: Who::Engine,
            what: self.end(ending.clone(), usage),
        };
        let needs = engine::needs(&opened.pipeline, opened.run(), &event);
        let looked = self
            .workspace
            .look(opened, &needs, &Default::default(), reply)?;
        let decision = engine::decide(&opened.pipeline, opened.run(), &event, &looked.evidence);
        Ok(decision.entries.iter().any(|entry| {
            matches!(
                &entry.fact,
                Fact::Ended {
                    result: WorkResult::Outcome(_),
                    ..
                }
            )
        }))
    }

    fn end(&self, ending: Ending, usage: Usage) -> Happening {
        Happening::Work(WorkEvent::Ended {
            work: WorkRef::Dispatch(self.dispatch.id),
            ending,
            usage,
        })
    }

    fn first_turn(&mut self, opened: &OpenRun, from: &From) -> Result<(Turn, Meter), Failure> {
        let mut meter = Meter {
            used: Usage::default(),
            before: Usage::default(),
        };
        let Runner::Program(program) = self.order.runner else {
            return Ok((Turn::New { id: String::new() }, meter));
        };
        let earlier = match from {
            From::Conversation(id) => Some(id.clone()),
            From::TheBeginning | From::ItsEnd(_) => {
                conversation::earlier(opened, &self.dispatch, program)
            }
        };
        let turn = match earlier {
            Some(id) => {
                meter.before = conversation::used_before(self.workspace, opened, program, &id)?;
                match from {
                    From::Conversation(_) => Turn::Interrupted { id },
                    From::TheBeginning | From::ItsEnd(_) => Turn::GoesOn { id },
                }
            }
            None => Turn::New { id: ids::uuid()? },
        };
        Ok((turn, meter))
    }

    /// What is to be done, then the definition's own words.
    fn prompt(&self, opened: &OpenRun, from: &From) -> Result<String, Failure> {
        let briefing = briefing::text(self.workspace, opened, &self.dispatch)?;
        let briefing = match from {
            From::Conversation(_) => format!("{INTERRUPTED}\n\n{briefing}"),
            From::TheBeginning | From::ItsEnd(_) => briefing,
        };
        let advice = self.order.advice.map(|advice| format!("\n\n{advice}"));
        let briefing = format!("{briefing}{}", advice.unwrap_or_default());
        Ok(match &self.order.prompt {
            Some(own) => format!("{briefing}\n\n{own}"),
            None => format!("{briefing}\n"),
        })
    }

    fn listen(
        &mut self,
        opened: &OpenRun,
        (turn, prompt): (&Turn, &str),
        deadline: Instant,
    ) -> Result<Heard, Failure> {
        let (arguments, expected) = self.command_line(turn);
        let mut variables = self.order.variables.clone();
        let started = ids::key()?;
        variables.insert(MARK.into(), self.claim.call().as_str().into());
        variables.insert(START.into(), started.as_str().into());
        if let Duty::Step { step } = &self.dispatch.duty {
            variables.insert("GATEWRIGHT_STEP".into(), step.as_str().into());
        }
        let job = Job {
            program: &self.order.program,
            arguments: &arguments,
            variables: &variables,
            folder: &self.order.folder,
            input: self.input(prompt)?,
            start: started.as_str(),
        };
        let limits = Limits {
            deadline,
            silence: self.order.silence,
            stop: &self.setting.stop,
        };
        let mut listener = Listener::new(
            self.workspace,
            opened,
            (&self.dispatch, self.claim.call()),
            (self.order.runner, expected),
            (&mut self.record, self.setting.tell),
        );
        // Keeping the record took its time, in which we may have been asleep.
        listener.is_still_ours()?;
        let ran = process::run(job, &limits, &mut listener)?;
        Ok(listener.heard(ran))
    }

    /// The arguments, and the id that the conversation must have, where we know it before.
    fn command_line(&self, turn: &Turn) -> (Vec<String>, Option<String>) {
        let Runner::Program(program) = self.order.runner else {
            return (Vec::new(), None);
        };
        let (conversation, expected) = match turn {
            Turn::New { id } if program.takes_an_id() => (Conversation::New(id), Some(id.clone())),
            Turn::New { id } => (Conversation::New(id), None),
            Turn::GoesOn { id } | Turn::Interrupted { id } => {
                (Conversation::Resume(id), Some(id.clone()))
            }
        };
        let start = StartOptions {
            conversation,
            model: self.order.model.as_deref(),
            file_access: self.order.file_access(self.dispatch.reach),
            denied: &self.order.denied,
        };
        let guards = self.order.guard_setup.arguments.iter().cloned();
        let arguments = guards.chain(program.arguments(&start)).collect();
        (arguments, expected)
    }

    /// A file without a name: it may be as long as it likes, and nobody waits for its reader.
    fn input(&self, prompt: &str) -> Result<std::fs::File, Failure> {
        let folder = self.workspace.state.folder();
        let written = tempfile::tempfile_in(folder).and_then(|mut file| {
            file.write_all(prompt.as_bytes())?;
            file.rewind()?;
            Ok(file)
        });
        written.map_err(Failure::file("write to", folder))
    }

    fn count(&self, meter: &mut Meter, heard: &Heard) {
        let used = heard.agent_output.usage;
        let Runner::Program(program) = self.order.runner else {
            return;
        };
        let usage_scope = program.usage_scope();
        let Meter { used: sum, before } = meter;
        sum.turns += used.turns;
        sum.tokens = counted(usage_scope, (sum.tokens, used.tokens), before.tokens);
        sum.cost_cents = counted(
            usage_scope,
            (sum.cost_cents, used.cost_cents),
            before.cost_cents,
        );
    }

    fn tell_end(
        &mut self,
        opened: OpenRun,
        ending: Ending,
        (usage, reply): (Usage, Option<String>),
    ) -> Result<Decided, Failure> {
        let what = self.end(ending, usage);
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            Ok(Request {
                reply: reply.clone(),
                ..Request::from(what.clone())
            })
        };
        transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by: &Who::Engine,
                key: None,
            },
            &mut make,
        )
    }
}

/// What was used in all, when a process tells that it has used so much.
fn counted(usage_scope: UsageScope, (sum, now): (u64, u64), before: u64) -> u64 {
    match usage_scope {
        UsageScope::Process => sum.saturating_add(now),
        // It told nothing, so nothing is known to have been added.
        UsageScope::Conversation if now == 0 => sum,
        UsageScope::Conversation => now.saturating_sub(before),
    }
}

/// What a worker is told whose process was ended with ours.
const INTERRUPTED: &str = "You were interrupted in the middle of this work. Look at what is there \
                           already, then go on and finish it.";

fn sent_back(reason: &str) -> String {
    format!("You are not done: {reason}. Do what is missing, then end again.\n")
}

fn conflict(paths: &[String]) -> Ending {
    let paths: Vec<String> = paths.iter().map(|path| views::line(path)).collect();
    Ending::Fault {
        fault: Fault::Conflict,
        reason: format!("others changed the same places of {}", paths.join(", ")),
    }
}
