//! The monitor: an independent reader of decisions that knows the laws and not the engine's rules.

use engine::{
    Change, CheckVerdict, Claim, Decision, Dispatch, Entry, Event, Evidence, Fact, Fault, Gate,
    Happening, Move, MoveReason, Pipeline, Reply, Seen, SessionEvent, Stage, StageName, Status,
    Target, Who, Work, WorkEvent, WorkResult, Worker, status,
};
use std::collections::BTreeSet;

use crate::ties;
use crate::world::{World, hash};

pub(crate) struct Monitor<'a> {
    pub pipeline: &'a Pipeline,
}

/// What the monitor remembers of the way so far, for each claim of the definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Marks {
    /// Claims that are in force.
    armed: BTreeSet<usize>,
    /// Stages that were passed since the claim came into force.
    passed: BTreeSet<(usize, StageName)>,
    /// Claims whose agent has ended well.
    ended: BTreeSet<usize>,
}

/// One decision with all that led to it.
pub(crate) struct Scene<'a> {
    pub before: &'a World,
    pub event: &'a Event,
    pub evidence: &'a Evidence,
    pub decision: &'a Decision,
    pub after: &'a World,
}

impl Monitor<'_> {
    pub(crate) fn start(&self, world: &World) -> Marks {
        let mut marks = Marks::default();
        for (at, claim) in self.claims() {
            if let Claim::Passes { after: None, .. } = claim {
                marks.armed.insert(at);
            }
        }
        self.entered(&mut marks, &world.run.position.stage)
            .expect("the start keeps every claim");
        marks
    }

    fn claims(&self) -> impl Iterator<Item = (usize, &Claim)> {
        self.pipeline
            .definition()
            .proofs
            .iter()
            .map(|proof| &proof.claim)
            .enumerate()
    }

    /// What is remembered after this decision, or the law that it breaks.
    pub(crate) fn watch(&self, marks: &Marks, scene: &Scene<'_>) -> Result<Marks, String> {
        self.strangers_write_nothing(scene)?;
        self.refusals_help(scene)?;
        self.evidence_was_seen(scene)?;
        ties::hold(self.pipeline, scene)?;
        let mut marks = marks.clone();
        for entry in &scene.decision.entries {
            match &entry.fact {
                Fact::Moved(step) => {
                    self.move_is_legal(scene, step)?;
                    self.move_has_a_cause(scene, step)?;
                    self.left(&mut marks, step);
                    self.entered(&mut marks, &step.to)?;
                }
                Fact::Checked {
                    stage,
                    verdict: CheckVerdict::Passed,
                    ..
                } => self.commands_were_approved(scene, stage)?,
                Fact::Admitted { dispatch } => {
                    self.agent_has_a_part(scene, dispatch)?;
                    self.admitted(&marks, dispatch)?;
                }
                Fact::Ended {
                    dispatch,
                    result: WorkResult::Outcome(_),
                    ..
                } => {
                    let open = scene.before.run.dispatches.get(dispatch);
                    self.agent_ended(&mut marks, open);
                }
                _ => {}
            }
        }
        self.counters_hold(scene.after)?;
        self.completion_is_fresh(scene)?;
        self.passes_its_audit(scene)?;
        Ok(marks)
    }

    /// A journal that the engine wrote is never called damaged.
    fn passes_its_audit(&self, scene: &Scene<'_>) -> Result<(), String> {
        let mut audit = engine::Audit::from(self.pipeline, scene.before.run.clone());
        for entry in &scene.decision.entries {
            let passed = audit.entry(entry);
            passed.map_err(|damage| format!("the audit refuses it: {damage}"))?;
        }
        Ok(())
    }

    fn strangers_write_nothing(&self, scene: &Scene<'_>) -> Result<(), String> {
        let Who::Session(by) = &scene.event.by else {
            return Ok(());
        };
        let holds = scene.before.run.session.as_ref().is_some_and(|binding| {
            binding.session == *by && binding.state == engine::BindingState::Active
        });
        let attaches = matches!(
            scene.event.what,
            Happening::Session(SessionEvent::Started { .. })
        );
        if holds || attaches || scene.decision.entries.is_empty() {
            Ok(())
        } else {
            Err(format!("{by} does not hold the run and wrote to it"))
        }
    }

    fn refusals_help(&self, scene: &Scene<'_>) -> Result<(), String> {
        match &scene.decision.reply {
            Reply::Refuse(refusal) | Reply::Hold(refusal) => {
                let over = engine::is_over(self.pipeline, &scene.after.run);
                if refusal.reason.is_empty() || (refusal.next.is_empty() && !over) {
                    Err(format!(
                        "a refusal without reason or next step: {refusal:?}"
                    ))
                } else {
                    Ok(())
                }
            }
            Reply::Allow | Reply::Inject(_) | Reply::Done => Ok(()),
        }
    }

    /// Nothing is captured but what a look has shown to be valid.
    fn evidence_was_seen(&self, scene: &Scene<'_>) -> Result<(), String> {
        for entry in &scene.decision.entries {
            let Fact::Captured {
                artifact,
                content,
                dispatch: Some(_),
                ..
            } = &entry.fact
            else {
                continue;
            };
            match scene.evidence.artifacts.get(artifact) {
                Some(Seen::Valid { content: seen, .. }) if seen == content => {}
                other => return Err(format!("{artifact} was captured and seen as {other:?}")),
            }
        }
        Ok(())
    }

    /// No check passes on commands that no person has seen.
    fn commands_were_approved(&self, scene: &Scene<'_>, stage: &StageName) -> Result<(), String> {
        let run = &scene.before.run;
        let mut fields = self.stage(stage)?.command_fields().iter();
        match fields.find(|field| !run.new_commands(&field.artifact).is_empty()) {
            Some(field) => Err(format!("{} has commands that nobody saw", field.artifact)),
            None => Ok(()),
        }
    }

    fn move_is_legal(&self, scene: &Scene<'_>, step: &Move) -> Result<(), String> {
        let definition = self.pipeline.definition();
        let stage = self.stage(&step.from)?;
        let edges = stage.edges();
        let legal = edges.iter().any(|(_, edge)| {
            let straight = match &edge.to {
                Target::Stage(to) => *to == step.to,
                Target::Interrupted => scene
                    .before
                    .run
                    .position
                    .resume
                    .as_ref()
                    .is_some_and(|r| r.to == step.to),
                Target::Param(name) => definition.params[name]
                    .choices
                    .contains(&step.to.to_string()),
            };
            let full = edge
                .count
                .as_ref()
                .is_some_and(|name| definition.counters[name].then == step.to);
            straight || (full && matches!(step.along, MoveReason::Full(_)))
        });
        let asked = match &step.along {
            MoveReason::Unapproved(name) => {
                let approved = definition.artifacts[name].approved.as_ref();
                approved.is_some_and(|approved| approved.then == step.to)
            }
            _ => false,
        };
        let back =
            step.along == MoveReason::StaleGate && scene.before.run.gates.contains_key(&step.to);
        let longer = match &step.along {
            MoveReason::Outgrown(route) => {
                let held = scene.before.run.routes.get(route);
                held.is_some_and(|held| held.longer == step.to)
                    && self.stage(route)?.longer_way() == Some(&step.to)
            }
            _ => false,
        };
        if legal || back || asked || longer {
            Ok(())
        } else {
            Err(format!("no edge leads from {} to {}", step.from, step.to))
        }
    }

    /// A run advances only on a checked outcome: something in the same decision must have shown it.
    fn move_has_a_cause(&self, scene: &Scene<'_>, step: &Move) -> Result<(), String> {
        let facts = || {
            scene
                .decision
                .entries
                .iter()
                .map(|entry: &Entry| &entry.fact)
        };
        let caused = match &self.stage(&step.from)?.work {
            Work::Ask(_) => {
                scene.event.by.is_human()
                    && facts().any(|fact| matches!(fact, Fact::Answered { .. }))
            }
            Work::Check(_) => facts().any(|fact| matches!(fact, Fact::Checked { .. })),
            Work::Route(_) => {
                let by_engine = scene.event.by == Who::Engine;
                let told = facts().any(|fact| matches!(fact, Fact::Routed(_)));
                by_engine && told
            }
            Work::Open(_) if step.outcome == "finish" => scene.event.by.is_human(),
            // A person let a run go on that was stopped at its end, and a gate is stale.
            Work::End(_)
                if matches!(step.along, MoveReason::StaleGate | MoveReason::Outgrown(_)) =>
            {
                scene.event.by.is_human()
            }
            Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Steps(_) | Work::End(_) => {
                facts().any(|fact| self.ends_open_work(scene, fact))
            }
        };
        if caused {
            Ok(())
        } else {
            Err(format!(
                "the run left {} without a checked outcome",
                step.from
            ))
        }
    }

    /// The end of a piece of work that this session had begun in this visit.
    fn ends_open_work(&self, scene: &Scene<'_>, fact: &Fact) -> bool {
        let Fact::Ended { dispatch, .. } = fact else {
            return false;
        };
        let run = &scene.before.run;
        match run.dispatches.get(dispatch) {
            Some(open) => {
                let mine = open.session.clone().map_or(Who::Engine, Who::Session);
                open.visit == run.position.visit && mine == scene.event.by
            }
            // Only the session's own work is admitted when it ends.
            None => matches!(&scene.event.what, Happening::Work(WorkEvent::Ended {
                work: engine::WorkRef::Agent { agent, .. }, ..
            }) if agent.as_str() == engine::SESSION),
        }
    }

    fn left(&self, marks: &mut Marks, step: &Move) {
        let Ok(stage) = self.stage(&step.from) else {
            return;
        };
        if !passes(stage, &step.outcome) {
            return;
        }
        let claims: Vec<usize> = self
            .claims()
            .filter(|(_, claim)| match claim {
                Claim::Passes { through, .. } => through.contains(&step.from),
                Claim::Admits { .. } => false,
            })
            .map(|(at, _)| at)
            .collect();
        marks
            .passed
            .extend(claims.into_iter().map(|at| (at, step.from.clone())));
    }

    fn entered(&self, marks: &mut Marks, stage: &StageName) -> Result<(), String> {
        for (at, claim) in self.claims() {
            let Claim::Passes {
                after,
                before,
                through,
            } = claim
            else {
                continue;
            };
            let missed = through
                .iter()
                .find(|one| !marks.passed.contains(&(at, (*one).clone())));
            if before == stage
                && marks.armed.contains(&at)
                && let Some(missed) = missed
            {
                return Err(format!("claim {at}: {stage} was reached without {missed}"));
            }
            if after.as_ref() == Some(stage) {
                marks.armed.insert(at);
                marks.passed.retain(|(claim, _)| *claim != at);
            }
        }
        Ok(())
    }

    /// Only agents that the stage names are let in.
    fn agent_has_a_part(&self, scene: &Scene<'_>, dispatch: &Dispatch) -> Result<(), String> {
        let stage = self.stage(&scene.before.run.position.stage)?;
        let definition = self.pipeline.definition();
        let agent = dispatch.agent.as_str();
        let named = match &stage.work {
            Work::Agent(work) => match &work.worker {
                Worker::Agent(name) => name.as_str() == agent,
                Worker::Session => agent == engine::SESSION,
            },
            Work::Open(work) => definition.lists(&work.allow, agent),
            Work::Review(work) => {
                let panel = work.panel.iter().map(|member| &member.agent);
                panel
                    .chain([&work.owner])
                    .any(|name| name.as_str() == agent)
            }
            Work::Steps(_) => agent == "step-worker",
            Work::End(work) => work
                .after
                .iter()
                .any(|after| definition.covers(&after.agent, agent)),
            Work::Check(_) | Work::Ask(_) | Work::Route(_) => false,
        };
        if named {
            Ok(())
        } else {
            Err(format!(
                "{agent} was admitted and has no part in {}",
                stage.name
            ))
        }
    }

    fn admitted(&self, marks: &Marks, dispatch: &Dispatch) -> Result<(), String> {
        let definition = self.pipeline.definition();
        for (at, claim) in self.claims() {
            let Claim::Admits { agents, only_after } = claim else {
                continue;
            };
            if definition.covers(agents, dispatch.agent.as_str()) && !marks.ended.contains(&at) {
                return Err(format!(
                    "{} was admitted before {only_after} had ended",
                    dispatch.agent
                ));
            }
        }
        Ok(())
    }

    fn agent_ended(&self, marks: &mut Marks, open: Option<&Dispatch>) {
        let Some(open) = open else { return };
        for (at, claim) in self.claims() {
            if matches!(claim, Claim::Admits { only_after, .. } if *only_after == open.agent) {
                marks.ended.insert(at);
            }
        }
    }

    fn counters_hold(&self, world: &World) -> Result<(), String> {
        for (name, value) in &world.run.counters {
            let limit = engine::counter_limit(self.pipeline, &world.run, name);
            if *value > limit {
                return Err(format!("{name} is {value}, over its limit {limit}"));
            }
        }
        Ok(())
    }

    /// What is completed was checked and approved on the tree that is there.
    fn completion_is_fresh(&self, scene: &Scene<'_>) -> Result<(), String> {
        let world = scene.after;
        let completed = |world: &World| status(self.pipeline, &world.run) == Status::Completed;
        if completed(scene.before) || !completed(world) {
            return Ok(());
        }
        if let Some(open) = world.run.open_unguarded().next() {
            return Err(format!("completed although nobody accepted: {}", open.what));
        }
        let stale = world.run.gates.iter().find(|(_, gate)| match gate {
            Gate::Tree(tree) => *tree != hash(world.tree),
            Gate::Superseded(_) => false,
            Gate::Artifact { artifact, content } => world
                .run
                .artifacts
                .get(artifact)
                .is_none_or(|now| now.content != *content),
        });
        let trees = world.run.gates.values().filter_map(|gate| match gate {
            Gate::Tree(tree) | Gate::Superseded(tree) => Some(*tree),
            Gate::Artifact { .. } => None,
        });
        let trees: Vec<_> = trees.collect();
        if !trees.is_empty() && !trees.contains(&hash(world.tree)) {
            return Err(String::from(
                "completed although every gate looked at another tree",
            ));
        }
        if let Some((stage, _)) = stale {
            return Err(format!("completed although {stage} looked at another tree"));
        }
        self.routes_are_kept(scene)?;
        self.promises_are_kept(world)
    }

    /// What went a shorter way because it was small is small when it completes.
    fn routes_are_kept(&self, scene: &Scene<'_>) -> Result<(), String> {
        let is_large = scene.evidence.change != Some(Change::none());
        let mut held = scene.after.run.routes.iter();
        let outgrown = held.find(|(route, held)| {
            let stage = self.pipeline.stage(route);
            let rule = stage.and_then(|stage| stage.work.as_route()?.rule(&held.outcome));
            is_large && rule.is_some_and(engine::RouteRule::asks_for_change)
        });
        match outgrown {
            Some((route, _)) => Err(format!("completed although it has outgrown {route}")),
            None => Ok(()),
        }
    }

    /// A gate that a promise names has passed on the tree that completes.
    fn promises_are_kept(&self, world: &World) -> Result<(), String> {
        let end = &world.run.position.stage;
        let promised = self.claims().flat_map(|(_, claim)| match claim {
            Claim::Passes {
                before, through, ..
            } if before == end => through.as_slice(),
            Claim::Passes { .. } | Claim::Admits { .. } => &[],
        });
        let unkept = promised.into_iter().find(|stage| {
            world.run.gates.get(*stage).is_some_and(|gate| match gate {
                Gate::Tree(tree) | Gate::Superseded(tree) => *tree != hash(world.tree),
                Gate::Artifact { .. } => false,
            })
        });
        match unkept {
            Some(stage) => Err(format!(
                "completed although the promised {stage} did not pass on this tree"
            )),
            None => Ok(()),
        }
    }

    fn stage(&self, name: &StageName) -> Result<&Stage, String> {
        self.pipeline
            .stage(name)
            .ok_or_else(|| format!("{name} is no stage"))
    }
}

/// Leaving a stage with this word means that its work was done well.
fn passes(stage: &Stage, word: &str) -> bool {
    const GOOD: [&str; 3] = ["done", "passed", "approved"];
    let knows_good = stage
        .on
        .keys()
        .any(|outcome| GOOD.contains(&outcome.as_str()));
    match &stage.work {
        Work::Check(_) => word == "passed",
        Work::Review(_) => word == "approved",
        Work::Steps(_) => word == "done",
        Work::Agent(_) if knows_good => GOOD.contains(&word),
        Work::Agent(_) | Work::Open(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => {
            Fault::parse(word).is_none()
        }
    }
}
