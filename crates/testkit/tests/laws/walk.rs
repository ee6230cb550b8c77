//! The walk: every state that a built-in can come to, with two sessions and every accident.

use engine::{
    ArtifactName, DispatchId, Fact, MemberState, ParamName, Pipeline, Questions, Run, Time, Usage,
    Work,
};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::acts::{Act, Scope, acts, event};
use crate::alive::stays_alive;
use crate::hosted;
use crate::monitor::{Marks, Monitor, Scene};
use crate::world::{Judge, Params, World, begun, begun_with_steps, small_params};

/// What a walk has seen.
#[derive(Default)]
pub(crate) struct Walked {
    pub states: usize,
    pub decisions: usize,
    pub advances: usize,
    pub stages: BTreeSet<String>,
}

impl std::fmt::Display for Walked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            states,
            decisions,
            advances,
            ..
        } = self;
        write!(
            f,
            "{states} states, {decisions} decisions, {advances} advances, no law broken"
        )
    }
}

/// Two pieces of work at once: more of them add states, and no new kind of them.
const SLOTS: usize = 2;

/// A walk that grows past this has lost something that `normal` should have taken away.
const MOST_STATES: usize = 300_000;

/// Walks breadth first; the first law that breaks ends the walk with the way to it.
pub(crate) fn walk(
    pipeline: &Pipeline,
    params: &Params,
    scope: Scope,
    judge: Judge<'_>,
) -> Result<Walked, String> {
    let monitor = Monitor { pipeline };
    let (planned, _) = begun(pipeline, params);
    let mut walked = Walked::default();
    let mut seen = HashSet::new();
    let mut queue = VecDeque::new();
    for world in [Some(planned), begun_with_steps(pipeline, params)] {
        let Some(world) = world else { continue };
        let marks = monitor.start(&world);
        arrive(&mut seen, &mut queue, world, marks, Vec::new);
    }
    while let Some((world, marks, way)) = queue.pop_front() {
        walked.states += 1;
        walked.stages.insert(world.run.position.stage.to_string());
        if walked.states > MOST_STATES {
            return Err(format!("more than {MOST_STATES} states"));
        }
        if scope == Scope::Hosted {
            stays_alive(pipeline, &world, judge).map_err(|law| told(&way, &law))?;
        }
        for act in acts(pipeline, &world, scope) {
            let next = if act == Act::TreeChanges {
                Some((
                    World {
                        run: world.run.clone(),
                        tree: 3 - world.tree,
                    },
                    marks.clone(),
                ))
            } else {
                decide(pipeline, judge, &monitor, &world, &marks, &act, &mut walked)
                    .map_err(|law| format!("{}  {act:?}\n", told(&way, &law)))?
            };
            let is_longer = |after: &World| takes_longer_way(pipeline, &world, after);
            let next = next.filter(|(after, _)| scope != Scope::Shorter || !is_longer(after));
            if let Some((after, marks)) = next {
                let further = || way.iter().cloned().chain([act]).collect();
                let after = without_causes(pipeline, normal(after, scope));
                arrive(&mut seen, &mut queue, after, marks, further);
            }
        }
    }
    Ok(walked)
}

/// The shortest ways to the first states of the walk.
pub(crate) fn states(
    pipeline: &Pipeline,
    params: &Params,
    scope: Scope,
    most: usize,
) -> Vec<Vec<Act>> {
    let (world, _) = begun(pipeline, params);
    let mut seen = HashSet::new();
    let mut queue = VecDeque::new();
    let mut ways = Vec::new();
    arrive(&mut seen, &mut queue, world, Marks::default(), Vec::new);
    while let Some((world, marks, way)) = queue.pop_front() {
        for act in acts(pipeline, &world, scope) {
            let Some((event, evidence)) = event(pipeline, &world, &act) else {
                continue;
            };
            let decision = engine::decide(pipeline, &world.run, &event, &evidence);
            let further = || way.iter().cloned().chain([act]).collect();
            let after = without_causes(pipeline, normal(world.after(&decision), scope));
            arrive(&mut seen, &mut queue, after, marks.clone(), further);
        }
        ways.push(way);
        if ways.len() >= most {
            break;
        }
    }
    ways
}

/// Has the run come to the longer way of a route?
fn takes_longer_way(pipeline: &Pipeline, before: &World, after: &World) -> bool {
    let here = &before.run.position.stage;
    let is_routed = !before.run.routes.is_empty()
        || pipeline
            .stage(here)
            .is_some_and(|stage| stage.work.as_route().is_some());
    is_routed && after.run.routes.is_empty() && after.run.position.stage != *here
}

type Queue = VecDeque<(World, Marks, Vec<Act>)>;

fn arrive(
    seen: &mut HashSet<(u64, u64)>,
    queue: &mut Queue,
    world: World,
    marks: Marks,
    way: impl FnOnce() -> Vec<Act>,
) {
    if seen.insert(fingerprint(&world, &marks)) {
        queue.push_back((world, marks, way()));
    }
}

/// Two hashes of 64 bits: among a million states the odds of taking two for one are below 10⁻²⁵.
pub(crate) fn fingerprint(world: &World, marks: &impl Hash) -> (u64, u64) {
    let one = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &world.run, world.tree, marks).hash(&mut hasher);
        hasher.finish()
    };
    (one(0), one(1))
}

fn decide(
    pipeline: &Pipeline,
    judge: Judge<'_>,
    monitor: &Monitor<'_>,
    world: &World,
    marks: &Marks,
    act: &Act,
    walked: &mut Walked,
) -> Result<Option<(World, Marks)>, String> {
    let full = world.run.dispatches.len() >= SLOTS;
    if full && matches!(act, Act::Request { .. }) {
        return Ok(None);
    }
    let Some((event, evidence)) = event(pipeline, world, act) else {
        return Ok(None);
    };
    let decision = judge(pipeline, &world.run, &event, &evidence);
    walked.decisions += 1;
    let after = world.after(&decision);
    let facts = decision.entries.iter().map(|entry| &entry.fact);
    walked.advances += facts.filter(|fact| matches!(fact, Fact::Moved(_))).count();
    let scene = Scene {
        before: world,
        event: &event,
        evidence: &evidence,
        decision: &decision,
        after: &after,
    };
    let marks = monitor.watch(marks, &scene)?;
    // A host asks for more as well, and is answered; it is not followed there.
    let further = !decision.entries.is_empty() && is_small(&after);
    Ok(further.then_some((after, marks)))
}

fn told(way: &[Act], law: &str) -> String {
    let mut text = format!("{law}\n");
    for act in way {
        let _ = writeln!(text, "  {act:?}");
    }
    text
}

/// What a run remembers of how it came here decides nothing, nor does what a person said with an answer
/// where no stage needs it.
pub(crate) fn without_causes(pipeline: &Pipeline, mut world: World) -> World {
    world.run.position.happened.clear();
    world.run.trail.clear();
    // Only the verdict of a classifier is asked for, and no pipeline that is walked has one.
    world.run.exits.clear();
    world
        .run
        .artifacts
        .retain(|name, _| !is_remark(pipeline, name));
    world
}

/// Is this what a person said with a choice, and read only where it is there?
fn is_remark(pipeline: &Pipeline, name: &ArtifactName) -> bool {
    let mut stages = pipeline.definition().stages.iter();
    let is_left = stages.any(|stage| match &stage.work {
        Work::Ask(ask) => {
            ask.questions
                == (Questions::Choice {
                    leaves: Some(name.clone()),
                })
        }
        _ => false,
    });
    let mut stages = pipeline.definition().stages.iter();
    let is_needed = stages.any(|stage| match &stage.work {
        Work::Agent(work) => work.reads.needed.contains(name),
        Work::Review(work) => work.reads.needed.contains(name) || work.of.as_ref() == Some(name),
        Work::Steps(work) => work.reads.needed.contains(name),
        Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => false,
    });
    is_left && !is_needed
}

/// Is so little open that the walk goes on from here?
pub(crate) fn is_small(world: &World) -> bool {
    world.run.dispatches.len() <= SLOTS
}

/// Takes away what grows for ever and decides nothing: times, visits and numbers of dispatches.
pub(crate) fn normal(world: World, scope: Scope) -> World {
    let World { mut run, tree } = world;
    match (scope, &mut run.session) {
        (Scope::Hosted, _) => hosted::normal(&mut run),
        // Nobody looks for the process here.
        (_, Some(binding)) => binding.process = None,
        (_, None) => {}
    }
    let visit = run.position.visit;
    run.position.visit = 2;
    run.position.entered_at = Time(0);
    run.used = Usage::default();
    for captured in run.artifacts.values_mut() {
        captured.dispatch = None;
    }
    renumber(&mut run, visit);
    World { run, tree }
}

fn renumber(run: &mut Run, visit: u32) {
    let open = std::mem::take(&mut run.dispatches);
    for (number, (id, mut dispatch)) in (1..).zip(open) {
        dispatch.id = DispatchId(number);
        dispatch.visit = if dispatch.visit == visit { 2 } else { 1 };
        for graph in run.graphs.values_mut() {
            for member in &mut graph.members {
                if member.state == (MemberState::Working { dispatch: id }) {
                    member.state = MemberState::Working {
                        dispatch: DispatchId(number),
                    };
                }
            }
        }
        run.dispatches.insert(DispatchId(number), dispatch);
    }
    run.last_dispatch = DispatchId(u32::try_from(run.dispatches.len()).unwrap());
}

/// Walks with every value of every parameter that decides where an edge leads.
fn check_built_in(name: &str) {
    let builtin = language::builtin::find(name).expect("a built-in");
    let pipeline = language::compile(&builtin.sources())
        .expect("it passes lint")
        .pipeline;
    let stages: BTreeSet<String> = pipeline
        .definition()
        .stages
        .iter()
        .map(|stage| stage.name.to_string())
        .collect();
    let walked = at_once(variants(&pipeline), |(params, scope)| {
        let walked = walk(&pipeline, params, *scope, &engine::decide);
        let walked = walked.unwrap_or_else(|law| panic!("{name}: {law}"));
        println!("{name}, {scope:?}: {walked}");
        walked.stages
    });
    let seen: BTreeSet<String> = walked.into_iter().flatten().collect();
    assert_eq!(seen, stages, "the walks came to every stage");
}

/// Walks do not touch each other, so they share the cores.
pub(crate) fn at_once<T: Sync, R: Send>(
    all: impl IntoIterator<Item = T>,
    walk: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let all: Vec<T> = all.into_iter().collect();
    std::thread::scope(|scope| {
        let walk = &walk;
        let threads: Vec<_> = all
            .iter()
            .map(|one| scope.spawn(move || walk(one)))
            .collect();
        let ended = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(|walked| walked.expect("the walk ends")).collect()
    })
}

fn variants(pipeline: &Pipeline) -> Vec<(Params, Scope)> {
    let small = small_params(pipeline);
    let chosen = pipeline
        .definition()
        .params
        .iter()
        .filter(|(_, param)| !param.choices.is_empty());
    let mut variants = vec![
        (small.clone(), Scope::Work),
        (small.clone(), Scope::Sessions),
    ];
    for (name, param) in chosen {
        let others = param
            .choices
            .iter()
            .filter(|choice| param.default.as_ref() != Some(*choice));
        for choice in others {
            let mut params = small.clone();
            params.insert(name.clone(), choice.clone());
            if is_routed_by(pipeline, name) {
                variants.push((params.clone(), Scope::Shorter));
            }
            variants.push((params, Scope::Sessions));
        }
    }
    variants
}

/// Does a route ask for this parameter?
fn is_routed_by(pipeline: &Pipeline, name: &ParamName) -> bool {
    let stages = pipeline.definition().stages.iter();
    let routes = stages.filter_map(|stage| stage.work.as_route());
    let mut rules = routes.flat_map(|route| &route.rules);
    rules.any(|rule| rule.params.contains_key(name))
}

#[test]
fn every_state_of_ansible_keeps_the_laws() {
    check_built_in("ansible");
}

#[test]
fn every_state_of_context_first_keeps_the_laws() {
    check_built_in("context-first");
}

#[test]
fn every_state_of_phases_keeps_the_laws() {
    check_built_in("phases");
}

#[test]
fn every_state_of_multi_ai_keeps_the_laws() {
    check_built_in("multi-ai");
}
