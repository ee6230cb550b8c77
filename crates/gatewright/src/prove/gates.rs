//! The gates of a pipeline, each with cases that must be refused, must pass, and must be noticed.

mod agents;
mod bypasses;
mod files;
mod payloads;
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

use super::exchange::{Exchange, Expected};
use super::heard::Heard;
use super::scene::{Moment, Scene};
use super::travel::{Moments, Plan};
use super::trouble::{Tried, Trouble, broken};
use super::wire::{Sent, Worker};

/// One row of the proof.
pub struct Gate {
    pub name: String,
    pub about: String,
    pub cases: Vec<Case>,
}

/// What a case shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// What must not be is refused.
    Refusal,
    /// What may be is let through.
    Pass,
    /// What goes wrong is noticed, and moves nothing.
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
    NotShown(String),
}

/// Where the cases of one gate are tried: each begins at the same moment.
pub struct Bench<'a> {
    pub scene: &'a mut Scene,
    moment: Moment,
    cases: Vec<Case>,
}

impl<'a> Bench<'a> {
    pub fn new(scene: &'a mut Scene, moment: Moment) -> Self {
        Self {
            scene,
            moment,
            cases: Vec::new(),
        }
    }

    pub fn case(
        &mut self,
        column: Column,
        what: impl Into<String>,
        act: impl FnOnce(&mut Scene) -> Tried<()>,
    ) -> Result<(), Failure> {
        self.scene.restore(&self.moment)?;
        self.scene.exchanges.clear();
        let result = result(act(self.scene))?;
        self.cases.push(Case {
            column,
            what: what.into(),
            result,
            exchanges: std::mem::take(&mut self.scene.exchanges),
        });
        Ok(())
    }

    /// One call, which must be refused by one of these rules.
    pub fn refuses(
        &mut self,
        what: impl Into<String>,
        rules: &'static [Rule],
        sent: impl FnOnce(&mut Scene) -> Sent,
    ) -> Result<(), Failure> {
        self.answers(Column::Refusal, what, Expected::Refusal(rules), sent)
    }

    /// One call, which must be answered so.
    pub fn answers(
        &mut self,
        column: Column,
        what: impl Into<String>,
        expected: Expected,
        sent: impl FnOnce(&mut Scene) -> Sent,
    ) -> Result<(), Failure> {
        self.case(column, what, |scene| {
            let sent = sent(scene);
            scene.hook(sent, expected).map(drop)
        })
    }

    /// The scene as every case finds it.
    pub fn fresh(&mut self) -> Result<&mut Scene, Failure> {
        self.scene.restore(&self.moment)?;
        Ok(self.scene)
    }

    pub fn gate(self, name: impl Into<String>, about: impl Into<String>) -> Gate {
        Gate {
            name: name.into(),
            about: about.into(),
            cases: self.cases,
        }
    }
}

fn result(tried: Tried<()>) -> Result<CaseResult, Failure> {
    match tried {
        Ok(()) => Ok(CaseResult::Held),
        Err(Trouble::Broken(why)) => Ok(CaseResult::Broken(why)),
        Err(Trouble::NotShown(why)) => Ok(CaseResult::NotShown(why)),
        Err(Trouble::Failed(failure)) => Err(failure),
    }
}

/// Tries every gate of the scene's pipeline.
pub fn all(scene: &mut Scene) -> Result<Vec<Gate>, Failure> {
    let pipeline = scene.pipeline.clone();
    let routes = Routes::find(&pipeline, &Program::DEFAULT.host_name());
    let mut moments = Moments::default();
    let mut gates = Vec::new();
    let mut home = None;
    for stage in &pipeline.definition().stages {
        if matches!(&stage.work, Work::End(end) if end.after.is_empty()) {
            continue;
        }
        let there = There {
            name: &stage.name,
            routes: &routes,
            route: routes.to(&stage.name),
        };
        gates.push(stages::gate(scene, &mut moments, &there, &mut home)?);
    }
    gates.extend(general(scene, home)?);
    Ok(gates)
}

/// A stage, and how to get there.
pub struct There<'a> {
    pub name: &'a StageName,
    pub routes: &'a Routes<'a>,
    pub route: Option<Route>,
}

/// The guards that hold in every stage, shown in one where an agent may work.
fn general(scene: &mut Scene, home: Option<Moment>) -> Result<Vec<Gate>, Failure> {
    let Some(home) = home else {
        return Ok(Vec::new());
    };
    let tries: [fn(Bench<'_>) -> Result<Gate, Failure>; 8] = [
        bypasses::unadmitted,
        bypasses::other_ways,
        files::own_files,
        files::artifacts,
        people::commands,
        people::settings,
        sessions::sessions,
        payloads::payloads,
    ];
    let gates = tries
        .into_iter()
        .map(|gate| gate(Bench::new(scene, home.clone())));
    let gates = gates.collect::<Result<Vec<_>, _>>()?;
    Ok(gates
        .into_iter()
        .filter(|gate| !gate.cases.is_empty())
        .collect())
}

/// A gate to which the run could not be brought, which shows nothing in any column.
fn unreached(
    name: &str,
    about: &str,
    trouble: Trouble,
    scene: &mut Scene,
) -> Result<Gate, Failure> {
    let result = result(Err(trouble))?;
    let last = scene.exchanges.pop();
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

impl Scene {
    /// The agent that may work now: of several, one that must leave something.
    pub fn in_turn(&self) -> Tried<Option<AgentName>> {
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
                _ => Vec::new(),
            })
            .collect();
        let leaves =
            |agent: &&AgentName| self.must_leave(&run, &self.leaves_of(&run, agent.as_str()));
        let chosen = welcome.iter().find(leaves).or(welcome.first());
        Ok(chosen.cloned())
    }

    /// The agent that may work now begins, with its step where it has one.
    pub fn begins_in_turn(&mut self) -> Tried<Option<Worker>> {
        let run = self.now()?;
        let next = engine::next(&self.pipeline, &run).into_iter();
        let step = next.into_iter().find_map(|next| match next {
            Next::Agent {
                agent,
                duty: NextDuty::Step { step, .. },
                ..
            } => Some((agent, step)),
            _ => None,
        });
        match (step, self.in_turn()?) {
            (Some((agent, step)), _) => self.begins(&agent, Some(&step)).map(Some),
            (None, Some(agent)) => self.begins(&agent, None).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Insists on a refusal that also says what comes next.
    pub fn refused(&mut self, sent: Sent, rules: &'static [Rule]) -> Tried<()> {
        match self.hook(sent, Expected::Refusal(rules))? {
            Heard::Refusal(reason) if !reason.contains("next: ") => {
                broken(format!("the refusal does not name the next step: {reason}"))
            }
            _ => Ok(()),
        }
    }

    /// Plays something, and insists that it has moved nothing.
    pub fn stays(&mut self, act: impl FnOnce(&mut Self) -> Tried<()>) -> Tried<()> {
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

/// Travels to a stage with the plan of its route.
fn reach(
    scene: &mut Scene,
    moments: &mut Moments,
    there: &There<'_>,
    plan: Plan<'_>,
) -> Tried<Moment> {
    scene.exchanges.clear();
    match &there.route {
        Some(route) => scene.travel(moments, route, plan),
        None => super::trouble::not_shown("no path that can be simulated leads there"),
    }
}
