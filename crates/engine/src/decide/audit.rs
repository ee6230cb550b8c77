//! The audit: could `decide` have written this journal? Every decision is judged again on the run
//! before it, with what its own entries say as the evidence.

mod routes;

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::checks::{has_passed, may_check};
use super::graph::{JoinResult, join_result};
use super::moving::{Exit, Gates, take_with};
use super::{Draft, panel};
use crate::apply::{Damage, apply};
use crate::assign::assign;
use crate::cause::MoveReason;
use crate::change::{Change, Routed};
use crate::check_result::{CheckVerdict, TreeAround};
use crate::definition::Definition;
use crate::duty::leaves_of;
use crate::entry::{Entry, Fact, Move, Started, WorkResult};
use crate::evidence::Evidence;
use crate::names::{AgentName, ArtifactName, DispatchId, Hash, StageName};
use crate::outcome::{Fault, Outcome};
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::run::{Dispatch, Duty, Gate, Run, TreeAccess};
use crate::stage::{Edge, Stage, Way, Work};
use crate::status::{is_completed, is_unused};

/// Folds a journal from its first entry on, and asks of each whether a rule gives it.
///
/// It is more patient than `decide`: an earlier version may have judged more mildly. What no version
/// ever wrote is found: a move without its cause, a gate that nothing passed, work that was not due.
pub struct Audit<'a> {
    pipeline: &'a Pipeline,
    run: Option<Run>,
    since: Since,
}

/// What the current decision has recorded since the run last moved: the causes of the next move.
#[derive(Default)]
struct Since {
    ended: Vec<(Dispatch, WorkResult)>,
    captured: BTreeSet<(Option<DispatchId>, ArtifactName)>,
    checked: Option<(CheckVerdict, TreeAround)>,
    answered: Option<Outcome>,
    overridden: Option<Outcome>,
    gate_passed: bool,
    rounds_spent: bool,
    routed: Vec<(Rule, Routed)>,
}

impl Since {
    /// The route whose rule no longer held.
    fn outgrown(&self) -> Option<&Routed> {
        self.routed(Rule::Outgrown)
    }

    fn routed(&self, by: Rule) -> Option<&Routed> {
        let mut routed = self.routed.iter();
        routed
            .find(|(rule, _)| *rule == by)
            .map(|(_, routed)| routed)
    }
}

fn damage<T>(what: impl Into<String>) -> Result<T, Damage> {
    Err(Damage { what: what.into() })
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), Damage> {
    if holds { Ok(()) } else { damage(what()) }
}

impl<'a> Audit<'a> {
    pub fn new(pipeline: &'a Pipeline) -> Self {
        Self {
            pipeline,
            run: None,
            since: Since::default(),
        }
    }

    /// An audit that goes on from here.
    pub fn from(pipeline: &'a Pipeline, run: Run) -> Self {
        Self {
            run: Some(run),
            ..Self::new(pipeline)
        }
    }

    /// A decision begins with the next entry: only its own entries may cause what follows.
    pub fn decision(&mut self) {
        self.since = Since::default();
    }

    /// The next entry. After damage the audit ends.
    pub fn entry(&mut self, entry: &Entry) -> Result<(), Damage> {
        match &self.run {
            Some(run) => self.judge(run, entry)?,
            None => self.began(entry)?,
        }
        self.note(entry);
        self.run = Some(apply(self.run.take(), entry)?);
        Ok(())
    }

    /// The run so far.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    fn definition(&self) -> &'a Definition {
        self.pipeline.definition()
    }

    fn began(&self, entry: &Entry) -> Result<(), Damage> {
        let Fact::Started(started) = &entry.fact else {
            return Ok(());
        };
        let Started { stage, steps, .. } = &**started;
        require(self.definition().start_with(steps) == stage, || {
            format!("no run of this pipeline begins in {stage}")
        })
    }

    fn judge(&self, run: &Run, entry: &Entry) -> Result<(), Damage> {
        let unused = entry.rule == Rule::Unused && is_unused(self.pipeline, run);
        if is_a_persons(entry) && !entry.by.is_human() && !unused {
            return damage(format!(
                "{} decided what only a person can",
                entry.by.name()
            ));
        }
        self.judge_fact(run, entry)
    }

    /// Every fact is named, so that a new one is either judged or knowingly let pass.
    fn judge_fact(&self, run: &Run, entry: &Entry) -> Result<(), Damage> {
        match &entry.fact {
            Fact::Moved(step) => self.moved(run, entry, step),
            Fact::GatePassed { stage, gate } => self.gate(run, stage, gate),
            Fact::Checked { stage, .. } => self.checked(run, stage, &entry.fact),
            Fact::Admitted { dispatch } => self.admitted(run, dispatch),
            Fact::Ended {
                dispatch,
                result: WorkResult::Outcome(outcome),
                ..
            } => self.ended(run, *dispatch, outcome),
            Fact::ReviewerApproved {
                stage, reviewer, ..
            } => self.approved(run, stage, *reviewer),
            Fact::Answered { stage, answer, .. } => self.answered(run, stage, answer),
            Fact::Routed(routed) => require(
                routes::follows(self.pipeline, run, entry.rule, routed),
                || {
                    format!(
                        "the route {} does not follow from its evidence",
                        routed.route
                    )
                },
            ),
            Fact::Reset { stage, .. } => {
                let start = self.definition().start_with(&run.given_steps);
                require(start == stage, || {
                    format!("a reset does not lead to {stage}")
                })
            }
            Fact::Started(_)
            | Fact::Forked { .. }
            | Fact::TakenUp
            | Fact::Placed(_)
            | Fact::Relocated(_)
            | Fact::Delivered(_)
            | Fact::DeliveryFailed { .. }
            | Fact::TaskGiven { .. }
            | Fact::NextTaskGiven { .. }
            | Fact::TaskBegan { .. }
            | Fact::Attached { .. }
            | Fact::Detached { .. }
            | Fact::Began { .. }
            | Fact::Worked { .. }
            | Fact::SentBack { .. }
            | Fact::Ended { .. }
            | Fact::CutShort { .. }
            | Fact::Limited(_)
            | Fact::WentOn { .. }
            | Fact::Captured { .. }
            | Fact::Warned { .. }
            | Fact::Noted { .. }
            | Fact::Unevaluated { .. }
            | Fact::Unguarded(_)
            | Fact::AcceptedUnguarded { .. }
            | Fact::ChangedOutside(_)
            | Fact::Refused { .. }
            | Fact::Retried { .. }
            | Fact::StepRetried { .. }
            | Fact::StepFailed { .. }
            | Fact::Stuck { .. }
            | Fact::Unstuck
            | Fact::ReviewerFound { .. }
            | Fact::Fixed { .. }
            | Fact::RoundStarted { .. }
            | Fact::RoundsSpent { .. }
            | Fact::Planned { .. }
            | Fact::StepsRevived { .. }
            | Fact::Approved { .. }
            | Fact::Overridden { .. }
            | Fact::Held { .. }
            | Fact::Abandoned
            | Fact::WentStale
            | Fact::Driven { .. }
            | Fact::OverBudget { .. }
            | Fact::Halted { .. }
            | Fact::Continued { .. }
            | Fact::Cancelled { .. }
            | Fact::Bypassed { .. }
            | Fact::Checkpointed { .. }
            | Fact::Vouched { .. }
            | Fact::Restored { .. }
            | Fact::Adopted { .. } => Ok(()),
        }
    }

    fn moved(&self, run: &Run, entry: &Entry, step: &Move) -> Result<(), Damage> {
        let Move {
            from, outcome, to, ..
        } = step;
        let Some(stage) = self.pipeline.stage(&run.position.stage) else {
            return damage(format!("the pipeline has no stage {from}"));
        };
        if self.returns_from_end(run, entry, step) {
            return Ok(());
        }
        let Some(way) = self.way(stage, outcome) else {
            return damage(format!("{from} has no edge for '{outcome}'"));
        };
        require(self.has_cause(run, entry, stage, &way), || {
            format!("{from} did not end with '{outcome}'")
        })?;
        require(self.leads_there(run, entry, &way, step), || {
            format!("'{outcome}' does not lead from {from} to {to}")
        })
    }

    /// A person let a run go on that was stopped at its end, and a gate was stale.
    fn returns_from_end(&self, run: &Run, entry: &Entry, step: &Move) -> bool {
        is_completed(self.pipeline, &step.from)
            && step.outcome == Exit::Continued.to_string()
            && entry.by.is_human()
            && match self.since.outgrown() {
                Some(routed) => routes::leads(self.pipeline, run, routed, step),
                None => step.along == MoveReason::StaleGate && run.gates.contains_key(&step.to),
            }
    }

    /// The edge that an exit in the journal names.
    fn way(&self, stage: &'a Stage, outcome: &str) -> Option<WayOut<'a>> {
        if let Some(agent) = outcome.strip_prefix("after ") {
            let agent = AgentName::parse(agent).ok()?;
            let covers = |pattern| self.definition().covers(pattern, agent.as_str());
            let mut after = stage.after().iter();
            let edge = &after.find(|after| covers(&after.agent))?.edge;
            return Some(WayOut::After { agent, edge });
        }
        let outcome = Outcome::parse(outcome).ok()?;
        let edge = stage.on.get(&outcome)?;
        Some(WayOut::Outcome { outcome, edge })
    }

    fn has_cause(&self, run: &Run, entry: &Entry, stage: &Stage, way: &WayOut<'_>) -> bool {
        let outcome = match way {
            WayOut::After { agent, .. } => return self.has_ended_open(stage, agent),
            WayOut::Outcome { outcome, .. } => outcome,
        };
        let since = &self.since;
        if since.overridden.as_ref() == Some(outcome) {
            return true;
        }
        if let Outcome::Fault(fault) = outcome {
            return self.has_failed(run, entry, stage, *fault);
        }
        let verdict = since.checked.as_ref().map(|(verdict, _)| *verdict);
        match &stage.work {
            Work::Agent(_) => self.has_ended(stage, &Duty::Work, outcome),
            Work::Check(_) if *outcome == Outcome::Passed => {
                verdict == Some(CheckVerdict::Passed) && since.gate_passed
            }
            Work::Check(_) => *outcome == Outcome::Failed && verdict == Some(CheckVerdict::Failed),
            Work::Ask(_) => since.answered.as_ref() == Some(outcome),
            Work::Open(_) => *outcome == Outcome::Finish && entry.by.is_human(),
            Work::Review(_) => match outcome {
                Outcome::Approved => since.gate_passed,
                Outcome::Exceeded => since.rounds_spent,
                _ => since.ended.iter().any(|(work, result)| {
                    matches!(work.duty, Duty::Review { .. })
                        && *result == WorkResult::Outcome(outcome.clone())
                }),
            },
            Work::Steps(_) => match join_result(run) {
                JoinResult::Done => *outcome == Outcome::Done,
                JoinResult::Failed => *outcome == Outcome::Failed,
                JoinResult::GoesOn => false,
            },
            Work::Route(_) => [Rule::Routed, Rule::RouteUnseen].into_iter().any(|rule| {
                let routed = since.routed(rule);
                routed.is_some_and(|it| it.route == stage.name && it.outcome == *outcome)
            }),
            Work::End(_) => false,
        }
    }

    fn has_ended(&self, stage: &Stage, duty: &Duty, outcome: &Outcome) -> bool {
        self.since.ended.iter().any(|(work, result)| {
            work.stage == stage.name
                && work.duty == *duty
                && *result == WorkResult::Outcome(outcome.clone())
        })
    }

    fn has_ended_open(&self, stage: &Stage, agent: &AgentName) -> bool {
        self.since.ended.iter().any(|(work, result)| {
            work.stage == stage.name
                && work.duty == Duty::Open
                && work.agent == *agent
                && matches!(result, WorkResult::Outcome(_))
        })
    }

    /// A fault of work, of a check without a verdict, or of a question that nobody answered in time.
    fn has_failed(&self, run: &Run, entry: &Entry, stage: &Stage, fault: Fault) -> bool {
        let of_work = self.since.ended.iter().any(|(work, result)| {
            let failed =
                matches!(result, WorkResult::Fault { fault: found, .. } if *found == fault);
            work.stage == stage.name && failed
        });
        let void = matches!(self.since.checked, Some((CheckVerdict::Void, _)));
        let waited = entry.at.since(run.position.entered_at);
        let unanswered = matches!(stage.work, Work::Ask(_))
            && fault == Fault::Timeout
            && stage.timeout.is_some_and(|limit| waited > limit);
        of_work || void || unanswered
    }

    /// Takes the edge again. The tree is not in the journal, so any that fits will do.
    fn leads_there(&self, run: &Run, entry: &Entry, way: &WayOut<'_>, step: &Move) -> bool {
        let trees = run.gates.values().filter_map(|gate| match gate {
            Gate::Tree(tree) | Gate::Superseded(tree) => Some(Some(*tree)),
            Gate::Artifact { .. } => None,
        });
        let mut trees: Vec<Option<Hash>> = trees.chain([None]).collect();
        trees.dedup();
        let leads = |tree, gates| self.taken(run, entry, way, tree, gates).as_ref() == Some(step);
        if self.since.overridden.is_some() {
            return leads(None, Gates::Overridden);
        }
        if let Some(routed) = self.since.outgrown() {
            return routes::leads(self.pipeline, run, routed, step);
        }
        if !routes::was_looked_at(self.pipeline, run, step, self.since.routed(Rule::RouteKept)) {
            return false;
        }
        trees
            .into_iter()
            .any(|tree| leads(tree, Gates::Compared) || leads(tree, Gates::ComparedMildly))
    }

    /// The move that this edge gives on this tree.
    fn taken(
        &self,
        run: &Run,
        entry: &Entry,
        way: &WayOut<'_>,
        tree: Option<Hash>,
        gates: Gates,
    ) -> Option<Move> {
        // A route that no longer held was told before the move.
        let evidence = Evidence {
            change: Some(Change::none()),
            ..Evidence::default()
        };
        let mut draft = Draft {
            pipeline: self.pipeline,
            run: Cow::Borrowed(run),
            at: entry.at,
            by: entry.by.clone(),
            tree,
            evidence: &evidence,
            entries: Vec::new(),
        };
        match way {
            WayOut::Outcome { outcome, edge } => {
                take_with(&mut draft, Exit::Outcome(outcome), edge, gates);
            }
            WayOut::After { agent, edge } => {
                take_with(&mut draft, Exit::After(agent), edge, gates);
            }
        }
        draft.entries.into_iter().find_map(|entry| {
            if let Fact::Moved(step) = entry.fact {
                Some(*step)
            } else {
                None
            }
        })
    }

    fn gate(&self, run: &Run, stage: &StageName, gate: &Gate) -> Result<(), Damage> {
        let here = self
            .pipeline
            .stage(stage)
            .filter(|_| run.position.stage == *stage);
        let passed = here.is_some_and(|here| match &here.work {
            Work::Check(_) => matches!(
                &self.since.checked,
                Some((CheckVerdict::Passed, tree)) if *gate == Gate::Tree(tree.after)
            ),
            Work::Review(work) => panel::agreed(run, stage, work).as_ref() == Some(gate),
            Work::Agent(_) => self.since.ended.iter().any(|(work, result)| {
                matches!(result, WorkResult::Outcome(outcome) if here.passes(&Way::Outcome(outcome)))
                    && work.reach == TreeAccess::ReadsOnly
            }),
            Work::Open(_) | Work::Ask(_) | Work::Steps(_) | Work::Route(_) | Work::End(_) => false,
        });
        require(passed, || format!("nothing passed the gate {stage}"))
    }

    fn checked(&self, run: &Run, stage: &StageName, fact: &Fact) -> Result<(), Damage> {
        require(run.position.stage == *stage, || {
            format!(
                "{stage} was checked while the run was in {}",
                run.position.stage
            )
        })?;
        let Fact::Checked {
            verdict: CheckVerdict::Passed,
            results,
            tree,
            ..
        } = fact
        else {
            return Ok(());
        };
        require(has_passed(results, tree), || {
            format!("the commands of {stage} did not pass")
        })?;
        match may_check(self.pipeline, run) {
            Ok(_) => Ok(()),
            Err(refusal) if refusal.rule == Rule::RunWaits => Ok(()),
            Err(refusal) => damage(refusal.reason),
        }
    }

    fn admitted(&self, run: &Run, dispatch: &Dispatch) -> Result<(), Damage> {
        let Dispatch { agent, stage, .. } = dispatch;
        let here = run.position.stage == *stage && run.position.visit == dispatch.visit;
        require(here, || {
            format!("'{agent}' was admitted to {stage}, where the run was not")
        })?;
        match assign(self.pipeline, run, agent, dispatch.duty.step()) {
            Ok(assignment) => require(assignment.duty == dispatch.duty, || {
                format!("'{agent}' was admitted for other work than {stage} has")
            }),
            Err(obstacle) if matches!(obstacle.rule, Rule::AgentOutOfTurn | Rule::RunIsOver) => {
                damage(obstacle.reason)
            }
            // Earlier versions counted open work and waiting runs in other ways.
            Err(_) => Ok(()),
        }
    }

    /// Work that counts has left every artifact that the run insists on.
    fn ended(&self, run: &Run, id: DispatchId, outcome: &Outcome) -> Result<(), Damage> {
        let Some(dispatch) = run.dispatches.get(&id) else {
            return Ok(());
        };
        let leaves = leaves_of(self.pipeline, dispatch);
        let extra = leaves.by_outcome.get(outcome).into_iter().flatten();
        let mut owed = leaves.always.iter().chain(extra);
        let artifacts = &self.definition().artifacts;
        let is_missing = |name: &&ArtifactName| {
            let declared = artifacts.get(*name);
            let strict = declared.is_none_or(|it| it.strictness.is_strict(&run.params));
            let key = (Some(id), (*name).clone());
            strict && !self.since.captured.contains(&key)
        };
        match owed.find(is_missing) {
            Some(name) => damage(format!("{id} ended with '{outcome}' but left no `{name}`")),
            None => Ok(()),
        }
    }

    fn approved(&self, run: &Run, stage: &StageName, reviewer: u32) -> Result<(), Damage> {
        let approves = self.since.ended.iter().any(|(work, result)| {
            work.duty == Duty::Review { reviewer }
                && *result == WorkResult::Outcome(Outcome::Approved)
        });
        require(approves && run.position.stage == *stage, || {
            format!("reviewer {} of {stage} did not approve", reviewer + 1)
        })
    }

    fn answered(&self, run: &Run, stage: &StageName, answer: &Outcome) -> Result<(), Damage> {
        let asks = self
            .pipeline
            .stage(stage)
            .filter(|_| run.position.stage == *stage)
            .is_some_and(|here| matches!(here.work, Work::Ask(_)) && here.on.contains_key(answer));
        require(asks, || format!("{stage} does not ask for '{answer}'"))
    }

    /// Remembers what may be the cause of the next move.
    fn note(&mut self, entry: &Entry) {
        let since = &mut self.since;
        match &entry.fact {
            Fact::Moved(_) | Fact::Reset { .. } | Fact::Restored { .. } => {
                *since = Since::default()
            }
            Fact::Ended {
                dispatch, result, ..
            } => {
                let open = self
                    .run
                    .as_ref()
                    .and_then(|run| run.dispatches.get(dispatch));
                since
                    .ended
                    .extend(open.cloned().map(|open| (open, result.clone())));
            }
            Fact::Captured {
                artifact, dispatch, ..
            } => {
                since.captured.insert((*dispatch, artifact.clone()));
            }
            Fact::Checked { verdict, tree, .. } => since.checked = Some((*verdict, tree.clone())),
            Fact::Answered { answer, .. } => since.answered = Some(answer.clone()),
            Fact::Overridden { outcome, .. } => since.overridden = Some(outcome.clone()),
            Fact::GatePassed { .. } => since.gate_passed = true,
            Fact::RoundsSpent { .. } => since.rounds_spent = true,
            Fact::Routed(routed) => since.routed.push((entry.rule, (**routed).clone())),
            _ => {}
        }
    }
}

/// The edge out of a stage that a move names.
enum WayOut<'a> {
    Outcome { outcome: Outcome, edge: &'a Edge },
    After { agent: AgentName, edge: &'a Edge },
}

/// Does only a person decide this?
fn is_a_persons(entry: &Entry) -> bool {
    matches!(
        entry.fact,
        Fact::Answered { .. }
            | Fact::Approved { .. }
            | Fact::Overridden { .. }
            | Fact::Bypassed { .. }
            | Fact::Vouched { .. }
            | Fact::AcceptedUnguarded { .. }
            | Fact::Reset { .. }
            | Fact::Restored { .. }
            | Fact::Adopted { .. }
            | Fact::Cancelled { .. }
    )
}

/// Is the run that a restore names the one that the journal had there? Texts may have been redacted
/// since, so only what decides is compared.
pub fn is_same_point(restored: &Run, then: &Run) -> bool {
    let decides = |run: &Run| {
        (
            run.definition,
            run.position.stage.clone(),
            run.counters.clone(),
            run.gates.clone(),
            run.artifacts.clone(),
            run.approved.clone(),
        )
    };
    decides(restored) == decides(then)
}
