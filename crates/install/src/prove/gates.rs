//! The gates of a pipeline, each with cases for refusals, passes and faults.

mod agents;
mod bad_payloads;
mod bypasses;
mod files;
mod people;
mod questions;
mod reviews;
mod sessions;
mod stages;
mod steps;

use engine::{AgentName, Next, NextDuty, Rule, StageName, Work};
use hosts::Program;
use runtime::failure::Failure;
use scenario::{Route, Routes, examples};

use super::case_error::{CaseError, CaseOutcome, broken};
use super::exchange::{Exchange, Expected};
use super::host_reaction::HostReaction;
use super::payloads::{HookPayload, SimulatedWorker};
use super::play_route::{PlanSource, Snapshots};
use super::simulation::{Simulation, Snapshot};

/// One row of the table.
pub struct Gate {
    pub name: String,
    pub about: String,
    pub cases: Vec<Case>,
}

impl Gate {
    /// How many of its cases did not hold.
    pub fn failed(&self) -> usize {
        let held = |case: &&Case| case.result == CaseResult::Held;
        self.cases.len() - self.cases.iter().filter(held).count()
    }
}

/// What a case shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A forbidden call is refused.
    Refusal,
    /// An allowed call passes.
    Pass,
    /// A fault is noticed and does not move the run.
    Fault,
}

impl Column {
    pub const ALL: [Self; 3] = [Self::Refusal, Self::Pass, Self::Fault];

    pub fn word(self) -> &'static str {
        match self {
            Self::Refusal => "refusal",
            Self::Pass => "pass",
            Self::Fault => "fault",
        }
    }
}

pub struct Case {
    pub column: Column,
    pub what: String,
    pub result: CaseResult,
    pub exchanges: Vec<Exchange>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    Held,
    Broken(String),
    NotTested(String),
}

/// Runs the cases of one gate. Each starts from the same snapshot.
pub(super) struct GateTester<'a> {
    pub simulation: &'a mut Simulation,
    snapshot: Snapshot,
    cases: Vec<Case>,
}

impl<'a> GateTester<'a> {
    pub(super) fn new(simulation: &'a mut Simulation, snapshot: Snapshot) -> Self {
        Self {
            simulation,
            snapshot,
            cases: Vec::new(),
        }
    }

    pub(super) fn case(
        &mut self,
        column: Column,
        what: impl Into<String>,
        act: impl FnOnce(&mut Simulation) -> CaseOutcome<()>,
    ) -> Result<(), Failure> {
        self.simulation.restore(&self.snapshot)?;
        self.simulation.exchanges.clear();
        let result = result(act(self.simulation))?;
        self.cases.push(Case {
            column,
            what: what.into(),
            result,
            exchanges: std::mem::take(&mut self.simulation.exchanges),
        });
        Ok(())
    }

    /// Adds a case: one call, which one of these rules must refuse.
    pub(super) fn refuses(
        &mut self,
        what: impl Into<String>,
        rules: &'static [Rule],
        payload: impl FnOnce(&mut Simulation) -> HookPayload,
    ) -> Result<(), Failure> {
        self.answers(Column::Refusal, what, Expected::Refusal(rules), payload)
    }

    /// Adds a case: one call with this expected answer.
    pub(super) fn answers(
        &mut self,
        column: Column,
        what: impl Into<String>,
        expected: Expected,
        payload: impl FnOnce(&mut Simulation) -> HookPayload,
    ) -> Result<(), Failure> {
        self.case(column, what, |simulation| {
            let payload = payload(simulation);
            simulation.hook(payload, expected).map(drop)
        })
    }

    /// The simulation at the snapshot where every case starts.
    pub(super) fn fresh(&mut self) -> Result<&mut Simulation, Failure> {
        self.simulation.restore(&self.snapshot)?;
        Ok(self.simulation)
    }

    pub(super) fn gate(self, name: impl Into<String>, about: impl Into<String>) -> Gate {
        Gate {
            name: name.into(),
            about: about.into(),
            cases: self.cases,
        }
    }
}

fn result(tried: CaseOutcome<()>) -> Result<CaseResult, Failure> {
    match tried {
        Ok(()) => Ok(CaseResult::Held),
        Err(CaseError::Broken(why)) => Ok(CaseResult::Broken(why)),
        Err(CaseError::NotTested(why)) => Ok(CaseResult::NotTested(why)),
        Err(CaseError::Failed(failure)) => Err(failure),
    }
}

/// Hears of each gate as soon as its cases have run.
pub(super) type GateDone<'a> = &'a mut dyn FnMut(&Gate);

/// Runs the cases of every gate.
pub(super) fn all(simulation: &mut Simulation, done: GateDone<'_>) -> Result<Vec<Gate>, Failure> {
    let pipeline = simulation.pipeline.clone();
    let routes = Routes::find(&pipeline, &Program::DEFAULT.host_name());
    let mut snapshots = Snapshots::default();
    let mut gates = Vec::new();
    let mut home = None;
    for stage in &pipeline.definition().stages {
        // A run does not rest in a route, and nothing is guarded after its end.
        let is_over = matches!(&stage.work, Work::End(end) if end.after.is_empty());
        if is_over || matches!(stage.work, Work::Route(_)) {
            continue;
        }
        let stage_route = StageRoute {
            name: &stage.name,
            routes: &routes,
            route: routes.to(&stage.name),
        };
        let gate = stages::gate(simulation, &mut snapshots, &stage_route, &mut home)?;
        done(&gate);
        gates.push(gate);
    }
    gates.extend(general(simulation, home, done)?);
    Ok(gates)
}

/// A stage, and a route to it.
pub(super) struct StageRoute<'a> {
    pub name: &'a StageName,
    pub routes: &'a Routes<'a>,
    pub route: Option<Route>,
}

/// The guards that apply in every stage, tested in one where an agent may work.
fn general(
    simulation: &mut Simulation,
    home: Option<Snapshot>,
    done: GateDone<'_>,
) -> Result<Vec<Gate>, Failure> {
    let Some(home) = home else {
        return Ok(Vec::new());
    };
    let tries: [fn(GateTester<'_>) -> Result<Gate, Failure>; 8] = [
        bypasses::unadmitted,
        bypasses::other_ways,
        files::own_files,
        files::artifacts,
        people::commands,
        people::settings,
        sessions::sessions,
        bad_payloads::bad_payloads,
    ];
    let mut gates = Vec::new();
    for gate in tries {
        let gate = gate(GateTester::new(simulation, home.clone()))?;
        if !gate.cases.is_empty() {
            done(&gate);
            gates.push(gate);
        }
    }
    Ok(gates)
}

/// A gate whose stage the simulation could not reach: no column has a result.
fn unreached(
    name: &str,
    about: &str,
    trouble: CaseError,
    simulation: &mut Simulation,
) -> Result<Gate, Failure> {
    let result = result(Err(trouble))?;
    let last = simulation.exchanges.pop();
    let case = |column| Case {
        column,
        what: "the run reaches the stage".to_owned(),
        result: result.clone(),
        exchanges: last.clone().into_iter().collect(),
    };
    Ok(Gate {
        name: name.to_owned(),
        about: about.to_owned(),
        cases: Column::ALL.map(case).into(),
    })
}

impl Simulation {
    /// The agent that may work now. If there are several, one that must leave an artifact.
    pub(super) fn next_agent(&self) -> CaseOutcome<Option<AgentName>> {
        let run = self.now()?;
        let definition = self.pipeline.definition();
        let next = engine::next(&self.pipeline, &run);
        let welcome: Vec<AgentName> = next
            .into_iter()
            .flat_map(|next| match next {
                Next::Agent { agent, .. } => vec![agent],
                Next::AnyOf { agents } => {
                    let known = agents
                        .iter()
                        .flat_map(|pattern| examples(definition, pattern));
                    known.collect()
                }
                Next::Session { .. }
                | Next::Under { .. }
                | Next::Check { .. }
                | Next::Plan { .. }
                | Next::Route { .. }
                | Next::Answer { .. }
                | Next::Answers { .. }
                | Next::Finish
                | Next::Decide { .. }
                | Next::TakeUp
                | Next::Nothing => Vec::new(),
            })
            .collect();
        let leaves =
            |agent: &&AgentName| self.must_leave(&run, &self.leaves_of(&run, agent.as_str()));
        let chosen = welcome.iter().find(leaves).or(welcome.first());
        Ok(chosen.cloned())
    }

    /// Starts the agent that may work now, with its step if it has one.
    pub(super) fn start_next_worker(&mut self) -> CaseOutcome<Option<SimulatedWorker>> {
        let run = self.now()?;
        let next = engine::next(&self.pipeline, &run).into_iter();
        let step = next.into_iter().find_map(|next| {
            let Next::Agent {
                agent,
                duty: NextDuty::Step { step, .. },
                ..
            } = next
            else {
                return None;
            };
            Some((agent, step))
        });
        match (step, self.next_agent()?) {
            (Some((agent, step)), _) => self.begins(&agent, Some(&step)).map(Some),
            (None, Some(agent)) => self.begins(&agent, None).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Requires a refusal that also names the next step.
    pub(super) fn refused(
        &mut self,
        payload: HookPayload,
        rules: &'static [Rule],
    ) -> CaseOutcome<()> {
        let reaction = self.hook(payload, Expected::Refusal(rules))?;
        if let HostReaction::Refusal(reason) = reaction
            && !reason.contains("next: ")
        {
            broken(format!("the refusal does not name the next step: {reason}"))
        } else {
            Ok(())
        }
    }

    /// Requires that an action does not move the run.
    pub(super) fn must_not_move(
        &mut self,
        act: impl FnOnce(&mut Self) -> CaseOutcome<()>,
    ) -> CaseOutcome<()> {
        let before = self.now()?.position;
        act(self)?;
        let after = self.now()?.position;
        if (&before.stage, before.visit) == (&after.stage, after.visit) {
            Ok(())
        } else {
            broken(format!(
                "the run went from {} to {}",
                before.stage, after.stage
            ))
        }
    }
}

/// Plays the route to a stage.
fn reach(
    simulation: &mut Simulation,
    snapshots: &mut Snapshots,
    stage_route: &StageRoute<'_>,
    plan: PlanSource<'_>,
) -> CaseOutcome<Snapshot> {
    simulation.exchanges.clear();
    match &stage_route.route {
        Some(route) => simulation.play_route(snapshots, route, plan),
        None => super::case_error::not_tested("no path that can be simulated leads there"),
    }
}
