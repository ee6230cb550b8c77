//! The turn of a run in its tree: taken before anybody works there, given back while the run waits for a person.

use std::thread;

use engine::{EngineEvent, Happening, RunId, Who};
use runtime::failure::Failure;
use runtime::file_lock::LOCK_TIMEOUT;
use runtime::path_collision;
use runtime::transact;
use runtime::tree_turn::{self, HolderState, TreeHolder, TreeTurn, Turn};
use runtime::workspace::OpenRun;

use super::{Orchestrator, PERSON_POLL_INTERVAL};
use crate::due::{self, Due};
use crate::progress::Progress;
use crate::recent_journal::RecentJournal;
use crate::wait_note::WaitNote;
use crate::{place_gc, run_place};

impl Orchestrator<'_, '_> {
    /// Makes the worktree of a run with a branch of its own. One in a tree waits until the run that works
    /// there is over; `None` if we are stopped meanwhile.
    pub(super) fn taken_up(&mut self, opened: OpenRun) -> Result<Option<OpenRun>, Failure> {
        if !run_place::has_room(self.workspace, &opened)? {
            place_gc::collect(self.workspace)?;
        }
        let (opened, remarks) = run_place::make(self.workspace, opened)?;
        let mut opened = self.remark(opened, remarks)?;
        loop {
            if self.is_stopped() {
                return Ok(None);
            }
            self.is_ours()?;
            match self.tree_holder(&opened)? {
                Some(holder) => self.tell_turn(&opened, &holder.run, &waiting(&self.run, &holder)),
                None => match self.take_up(opened)? {
                    Ok(opened) => return Ok(Some(opened)),
                    Err(unchanged) => opened = unchanged,
                },
            }
            thread::sleep(PERSON_POLL_INTERVAL);
        }
    }

    /// Is something due that works in the tree?
    pub(super) fn needs_turn(&self, opened: &OpenRun) -> Result<bool, Failure> {
        if self.turn.is_some() {
            return Ok(false);
        }
        let recent = RecentJournal::of(self.workspace, opened)?;
        Ok(
            match due::due(opened, self.starter, recent.has_worked(opened))? {
                Due::Over(_) | Due::Person(_) | Due::Finish => false,
                Due::Check | Due::Workers(_) | Due::Nothing => true,
            },
        )
    }

    /// Has this run the turn in its tree? If not, says once who has it.
    pub(super) fn has_turn(&mut self, opened: &OpenRun) -> Result<bool, Failure> {
        if self.turn.is_some() {
            return Ok(true);
        }
        let worktree = opened.stored.worktree();
        match TreeTurn::take(&self.workspace.state, worktree, &self.run)? {
            Turn::Ours(turn) => self.turn = Some(turn),
            // A process that drove this run before us is frozen: the turn is the run's.
            Turn::Others(Some(run)) if run == self.run => {}
            Turn::Others(run) => {
                let at_work = tree_turn::at_work(self.workspace, &self.run, worktree)?;
                if let Some(run) = run.or(at_work) {
                    let holder = TreeHolder {
                        run,
                        state: HolderState::Driven,
                    };
                    self.tell_turn(opened, &holder.run, &waiting(&self.run, &holder));
                }
                return Ok(false);
            }
        }
        if self.reported_holder.take().is_some() {
            self.end_wait();
        }
        Ok(true)
    }

    /// Waits for the turn, before interrupted work goes on. `false` if we are stopped meanwhile.
    pub(super) fn wait_for_turn(&mut self, opened: &OpenRun) -> Result<bool, Failure> {
        while !self.has_turn(opened)? {
            if self.is_stopped() {
                return Ok(false);
            }
            self.is_ours()?;
            thread::sleep(PERSON_POLL_INTERVAL);
        }
        Ok(true)
    }

    /// Others may work in the tree while this run waits for a person: what its own workers left is
    /// compared before.
    pub(super) fn give_turn_back_if(
        &mut self,
        stays: bool,
        opened: OpenRun,
    ) -> Result<OpenRun, Failure> {
        if !stays || self.turn.is_none() || !self.pool.is_idle() {
            return Ok(opened);
        }
        let opened = self.compare_surroundings(opened)?;
        self.turn = None;
        Ok(opened)
    }

    fn tree_holder(&self, opened: &OpenRun) -> Result<Option<TreeHolder>, Failure> {
        match &opened.run().place {
            Some(_) => Ok(None),
            None => tree_turn::holder(self.workspace, &self.run, opened.stored.worktree()),
        }
    }

    /// Takes the run up, unless another one was faster: then it is returned as it was.
    ///
    /// Invariant: no other run starts between the collision check and the take-up.
    fn take_up(&mut self, opened: OpenRun) -> Result<Result<OpenRun, OpenRun>, Failure> {
        let _lock = self.workspace.state.lock_start(LOCK_TIMEOUT)?;
        if self.tree_holder(&opened)?.is_some() || !self.has_turn(&opened)? {
            return Ok(Err(opened));
        }
        let definition = opened.pipeline.definition();
        let worktree = opened.stored.worktree().to_owned();
        path_collision::refuse(self.workspace, definition, opened.run(), &worktree)?;
        transact::try_once(
            self.workspace,
            opened,
            &Who::Engine,
            Happening::Engine(EngineEvent::TakenUp),
        )
        .map(Ok)
    }

    fn tell_turn(&mut self, opened: &OpenRun, holder: &RunId, text: &str) {
        let now = (holder.clone(), text.to_owned());
        if self.reported_holder.as_ref() == Some(&now) {
            return;
        }
        let text = text.to_owned();
        self.bid.withdraw();
        self.note_wait(WaitNote::Tree {
            run: holder.clone(),
        });
        self.tell(opened, &Progress::Remark { text });
        self.reported_holder = Some(now);
    }
}

/// What a person can do, where the holder does not go on by itself.
fn waiting(run: &RunId, holder: &TreeHolder) -> String {
    let TreeHolder { run: other, state } = holder;
    match state {
        HolderState::Driven => format!(
            "{run} waits for {other}, which works in this tree; `gatewright run --branch` gives a run a branch of \
             its own"
        ),
        HolderState::Waiting => format!(
            "{run} waits for {other}, which has begun in this tree and waits for a person; `gatewright next {other}` \
             shows what you can do"
        ),
        HolderState::Rests => format!(
            "{run} waits for {other}, which has begun in this tree and rests; `gatewright status {other}` says until when"
        ),
        HolderState::Undriven => format!(
            "{run} waits for {other}, which has begun in this tree and which no process drives; `gatewright resume \
             {other}` continues it, `gatewright cancel {other} --reason WHY` ends it"
        ),
    }
}
