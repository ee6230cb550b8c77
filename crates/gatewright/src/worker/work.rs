//! One piece of work of ours, from its first word to its end: begun, listened to, sent back, judged.

use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::{Dispatch, Duty, Ending, Happening, Reply, Usage, Who, WorkRef};
use hosts::worker::{Counting, Start, Talk};

use super::choice::Runner;
use super::claim::Claim;
use super::conversation;
use super::listener::{Heard, Listener};
use super::order::Order;
use super::process::{self, Job, Limits};
use super::verdict;
use crate::chance;
use crate::commands::check::stop_on_signals;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Deed, Driven};
use crate::failure::Failure;
use crate::hook::briefing;

pub struct Work<'w, 'd> {
    desk: &'w mut Desk<'d>,
    order: &'w Order,
    claim: &'w Claim,
    dispatch: Dispatch,
    deadline: Instant,
    stop: Arc<AtomicBool>,
    used: Usage,
    /// What its conversation had used before, where that is counted again.
    before: u64,
}

/// Which conversation a process is in.
enum Turn {
    New { id: String },
    GoesOn { id: String },
}

impl<'w, 'd> Work<'w, 'd> {
    pub fn new(
        desk: &'w mut Desk<'d>,
        order: &'w Order,
        claim: &'w Claim,
        dispatch: Dispatch,
    ) -> Result<Self, Failure> {
        Ok(Self {
            desk,
            order,
            claim,
            dispatch,
            deadline: Instant::now() + order.time,
            stop: stop_on_signals()?,
            used: Usage::default(),
            before: 0,
        })
    }

    /// Has the worker work until the engine takes its end. Whoever has not left what it must is
    /// sent back into the same conversation, as often as the engine says.
    pub fn run(mut self, opened: Opened) -> Result<Driven, Failure> {
        let mut turn = self.first_turn(&opened)?;
        let mut prompt = self.prompt(&opened)?;
        let mut opened = opened;
        loop {
            let heard = self.listen(&opened, &turn, &prompt)?;
            self.count(&heard);
            let ending = verdict::ending(self.order.runner, &heard);
            let driven = self.tell_end(opened, ending, heard.account.reply)?;
            match (&driven.reply, heard.account.began) {
                (Reply::Hold(refusal), Some(id)) => {
                    prompt = sent_back(&refusal.reason);
                    turn = Turn::GoesOn { id };
                    opened = driven.opened;
                }
                _ => return Ok(driven),
            }
        }
    }

    fn first_turn(&mut self, opened: &Opened) -> Result<Turn, Failure> {
        let Runner::Program(program) = self.order.runner else {
            return Ok(Turn::New { id: String::new() });
        };
        match conversation::earlier(opened, &self.dispatch, program) {
            Some(id) => {
                self.before = conversation::used_before(self.desk, opened, program, &id)?;
                Ok(Turn::GoesOn { id })
            }
            None => Ok(Turn::New {
                id: chance::uuid()?,
            }),
        }
    }

    /// What is to be done, then the definition's own words.
    fn prompt(&self, opened: &Opened) -> Result<String, Failure> {
        let briefing = briefing::text(self.desk, opened, &self.dispatch)?;
        Ok(match &self.order.prompt {
            Some(own) => format!("{briefing}\n\n{own}"),
            None => format!("{briefing}\n"),
        })
    }

    fn listen(&mut self, opened: &Opened, turn: &Turn, prompt: &str) -> Result<Heard, Failure> {
        let (arguments, expected) = self.command_line(turn);
        let mut variables = self.order.variables.clone();
        if let Duty::Step { step } = &self.dispatch.duty {
            variables.insert("GATEWRIGHT_STEP".into(), step.as_str().into());
        }
        let job = Job {
            program: &self.order.program,
            arguments: &arguments,
            variables: &variables,
            folder: &self.order.folder,
            input: self.input(prompt)?,
        };
        let limits = Limits {
            deadline: self.deadline,
            silence: self.order.silence,
            stop: &self.stop,
        };
        let mut listener = Listener::new(
            self.desk,
            opened,
            &self.dispatch,
            (self.claim.call(), self.order.runner),
            expected,
        );
        let ran = process::run(job, &limits, &mut listener)?;
        Ok(listener.heard(ran))
    }

    /// The arguments, and the id that the conversation must have, where we know it before.
    fn command_line(&self, turn: &Turn) -> (Vec<String>, Option<String>) {
        let Runner::Program(program) = self.order.runner else {
            return (Vec::new(), None);
        };
        let (talk, expected) = match turn {
            Turn::New { id } if program.takes_an_id() => (Talk::New(id), Some(id.clone())),
            Turn::New { id } => (Talk::New(id), None),
            Turn::GoesOn { id } => (Talk::GoesOn(id), Some(id.clone())),
        };
        let start = Start {
            talk,
            model: self.order.model.as_deref(),
            may: self.order.may(self.dispatch.reach),
        };
        (program.arguments(&start), expected)
    }

    /// A file without a name: it may be as long as it likes, and nobody waits for its reader.
    fn input(&self, prompt: &str) -> Result<std::fs::File, Failure> {
        let folder = self.desk.state.folder();
        let written = tempfile::tempfile_in(folder).and_then(|mut file| {
            file.write_all(prompt.as_bytes())?;
            file.rewind()?;
            Ok(file)
        });
        written.map_err(Failure::file("write to", folder))
    }

    fn count(&mut self, heard: &Heard) {
        let used = heard.account.used;
        let counting = match self.order.runner {
            Runner::Program(program) => program.counting(),
            Runner::Command => Counting::Process,
        };
        self.used.turns += used.turns;
        self.used.tokens = match counting {
            Counting::Process => self.used.tokens.saturating_add(used.tokens),
            Counting::Conversation if used.tokens == 0 => self.used.tokens,
            Counting::Conversation => used.tokens.saturating_sub(self.before),
        };
    }

    fn tell_end(
        &mut self,
        opened: Opened,
        ending: Ending,
        reply: Option<String>,
    ) -> Result<Driven, Failure> {
        let what = Happening::AgentEnded {
            work: WorkRef::Dispatch(self.dispatch.id),
            ending,
            usage: self.used,
        };
        let opened = self.desk.read(&opened.run().id)?;
        let mut make = |_: &Desk<'_>, _: &Opened, _| {
            Ok(Deed {
                reply: reply.clone(),
                ..Deed::from(what.clone())
            })
        };
        drive::witness(self.desk, opened, (&Who::Engine, None), &mut make)
    }
}

fn sent_back(reason: &str) -> String {
    format!("You are not done: {reason}. Do what is missing, then end again.\n")
}
