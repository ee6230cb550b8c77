//! The fifth law: the cause travels. Workers and people who are asked learn what led there.
//!
//! What they must learn is read from the entries of the decision that moved the run, not from what the run
//! remembers of it: so a cause that the engine forgets is found as well as one that a text leaves out.

use engine::{
    Change, CheckVerdict, Dispatch, Driver, Entry, Event, Evidence, Fact, Happening, LineCount,
    Member, MemberState, Next, PersonEvent, Pipeline, Routed, Rule, Run, StageName, Time, Work,
    WorkEvent, WorkResult,
};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use crate::acts::{Scope, acts, event};
use crate::random::wanderings;
use crate::small::routed;
use crate::walk::{fingerprint, is_small, normal, without_causes};
use crate::world::{Params, World, begun, begun_with_steps, session, small_params};

/// What somebody must find in a text: a kind, for the planted failures, and the words themselves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    kind: Kind,
    words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Stage,
    Outcome,
    Command,
    ExitCode,
    Output,
    Choice,
    Words,
    OverrideReason,
    ResetReason,
    Artifact,
    FaultReason,
    StepReason,
    RouteEvidence,
    RouteParam,
}

const KINDS: [Kind; 14] = [
    Kind::Stage,
    Kind::Outcome,
    Kind::Command,
    Kind::ExitCode,
    Kind::Output,
    Kind::Choice,
    Kind::Words,
    Kind::OverrideReason,
    Kind::ResetReason,
    Kind::Artifact,
    Kind::FaultReason,
    Kind::StepReason,
    Kind::RouteEvidence,
    Kind::RouteParam,
];

/// The readers of a run, each with a text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reader {
    Worker,
    Session,
    Next,
    Status,
}

const READERS: [Reader; 4] = [
    Reader::Worker,
    Reader::Session,
    Reader::Next,
    Reader::Status,
];

fn due(kind: Kind, words: impl Into<String>) -> Due {
    Due {
        kind,
        words: words.into(),
    }
}

/// What the entries of a decision say about why the run moved.
fn causes(run: &Run, entries: &[Entry]) -> Vec<Due> {
    let mut all = Vec::new();
    for entry in entries {
        match &entry.fact {
            Fact::Checked {
                verdict: CheckVerdict::Failed,
                results,
                ..
            } => {
                for result in results {
                    all.push(due(Kind::Command, result.argv.join(" ")));
                    if let engine::CheckEnd::Exit(code) = &result.ended {
                        all.push(due(Kind::ExitCode, format!("code {code}")));
                    }
                    all.push(due(Kind::Output, result.tail.clone()));
                }
            }
            Fact::Answered { answer, words, .. } => {
                all.push(due(Kind::Choice, format!("`{answer}`")));
                all.extend(words.iter().map(|words| due(Kind::Words, words.clone())));
            }
            // That a route still holds led nowhere.
            Fact::Routed(routed) if entry.rule != Rule::RouteKept => all.extend(routed_by(routed)),
            Fact::Overridden { reason, .. } => all.push(due(Kind::OverrideReason, reason.clone())),
            Fact::StepFailed { reason, .. } => all.push(due(Kind::StepReason, reason.clone())),
            Fact::Reset { reason, .. } => all.push(due(Kind::ResetReason, reason.clone())),
            Fact::Captured {
                artifact,
                dispatch: Some(_),
                step: None,
                ..
            } => all.push(due(Kind::Artifact, artifact.to_string())),
            Fact::Ended {
                result: WorkResult::Fault { reason, .. },
                ..
            } => all.push(due(Kind::FaultReason, reason.clone())),
            Fact::Moved(step) => {
                all.extend(failed_steps(run, &step.from));
                all.push(due(Kind::Stage, format!("`{}`", step.from)));
                all.push(due(Kind::Outcome, format!("`{}`", step.outcome)));
            }
            _ => {}
        }
    }
    all.retain(|due| !due.words.is_empty());
    all
}

/// The evidence of a route: how much has changed and where, and what the person had asked for.
fn routed_by(routed: &Routed) -> Vec<Due> {
    let mut all = Vec::new();
    match &routed.change {
        Some(Change::Seen {
            files,
            lines,
            paths,
        }) if *files > 0 => {
            all.push(due(Kind::RouteEvidence, format!("{files} files")));
            if let LineCount::Counted(lines) = lines {
                all.push(due(Kind::RouteEvidence, format!("{lines} lines")));
            }
            all.extend(
                paths
                    .first()
                    .map(|path| due(Kind::RouteEvidence, path.clone())),
            );
        }
        Some(Change::Seen { .. }) => all.push(due(Kind::RouteEvidence, "nothing has changed")),
        Some(Change::Unseen { reason }) => all.push(due(Kind::RouteEvidence, reason.clone())),
        None => {}
    }
    let params = routed.params.iter();
    all.extend(params.map(|(name, value)| due(Kind::RouteParam, format!("{name} is {value}"))));
    all
}

/// Why the steps of a stage failed that the run leaves.
fn failed_steps(run: &Run, stage: &StageName) -> Vec<Due> {
    let members = run.graphs.get(stage).map(|graph| graph.members.iter());
    let failed = members.into_iter().flatten();
    let reason = |member: &Member| match &member.state {
        MemberState::Failed { reason, .. } => Some(due(Kind::StepReason, reason.clone())),
        MemberState::Pending | MemberState::Working { .. } | MemberState::Done => None,
    };
    failed.filter_map(reason).collect()
}

/// The edge into a stage, and what is due on it.
fn key(entries: &[Entry], after: &Run, due: &[Due]) -> Option<String> {
    let way = entries.iter().rev().find_map(|entry| match &entry.fact {
        Fact::Moved(step) => Some(format!("{} {} {:?}", step.from, step.outcome, step.along)),
        Fact::Reset { .. } => Some(String::from("reset")),
        _ => None,
    })?;
    let kinds: BTreeSet<Kind> = due.iter().map(|due| due.kind).collect();
    Some(format!("{way} {} {kinds:?}", after.position.stage))
}

/// Does somebody work here, or is somebody asked?
fn is_met(pipeline: &Pipeline, run: &Run) -> bool {
    let stage = pipeline.stage(&run.position.stage);
    stage.is_some_and(|stage| match &stage.work {
        Work::Agent(_) | Work::Open(_) | Work::Ask(_) | Work::Review(_) | Work::Steps(_) => true,
        Work::Check(_) | Work::Route(_) | Work::End(_) => false,
    })
}

/// A stage that somebody meets: what its readers get, and what they must find in it.
struct Arrival<'a> {
    pipeline: &'a Pipeline,
    run: &'a Run,
    due: Vec<Due>,
    texts: Vec<(Reader, String)>,
}

impl<'a> Arrival<'a> {
    fn new(pipeline: &'a Pipeline, due: Vec<Due>, after: &'a World) -> Self {
        Self {
            pipeline,
            run: &after.run,
            due,
            texts: texts(pipeline, after),
        }
    }

    /// Asks every reader for the causes.
    fn is_told(&self) -> Result<(), String> {
        match self.texts.iter().find_map(|(reader, text)| {
            let due = self.untold(*reader, text)?;
            Some((reader, due, text))
        }) {
            None => Ok(()),
            Some((reader, due, text)) => Err(format!(
                "{reader:?} in {} is not told {:?} {:?}:\n{text}",
                self.run.position.stage, due.kind, due.words
            )),
        }
    }

    /// A worker finds artifacts and the reasons of steps in what it reads; a session that only calls workers
    /// leaves the rest to their briefings.
    fn untold(&self, reader: Reader, text: &str) -> Option<&Due> {
        self.due.iter().find(|due| {
            is_for(reader, self.pipeline, self.run, due.kind) && !text.contains(&due.words)
        })
    }

    /// Would it be noticed if this reader were not told causes of this kind?
    fn notices_loss(&self, reader: Reader, kind: Kind) -> bool {
        let lost = || self.due.iter().filter(|due| due.kind == kind);
        let mut texts = self.texts.iter().filter(|(to, _)| *to == reader);
        texts.any(|(_, text)| {
            let less = lost().fold(text.clone(), |text, due| text.replace(&due.words, ""));
            self.untold(reader, &less).is_some()
        })
    }
}

fn is_for(reader: Reader, pipeline: &Pipeline, run: &Run, kind: Kind) -> bool {
    let short = reader == Reader::Session && !is_own_business(pipeline, run);
    match kind {
        Kind::Stage | Kind::Outcome | Kind::Choice | Kind::Words => true,
        Kind::Command | Kind::ExitCode | Kind::FaultReason => true,
        Kind::OverrideReason | Kind::ResetReason => true,
        Kind::RouteEvidence | Kind::RouteParam => true,
        Kind::Artifact | Kind::Output | Kind::StepReason => !short,
    }
}

fn is_own_business(pipeline: &Pipeline, run: &Run) -> bool {
    engine::next(pipeline, run).iter().any(|next| {
        matches!(
            next,
            Next::Session { .. } | Next::Answer { .. } | Next::Answers { .. } | Next::Decide { .. }
        )
    })
}

fn texts(pipeline: &Pipeline, world: &World) -> Vec<(Reader, String)> {
    let run = &world.run;
    let legal = engine::next(pipeline, run);
    let plain = views::Paint::Plain;
    let context = views::RunContext {
        project: "project",
        now: Time(0),
        freshness: views::Freshness::Fresh,
    };
    let mut texts = vec![
        (Reader::Session, views::session_prompt(pipeline, run)),
        (Reader::Next, views::next(pipeline, run, &legal).text(plain)),
        (
            Reader::Status,
            views::status(pipeline, run, context).text(plain),
        ),
    ];
    texts.extend(briefings(pipeline, world));
    texts
}

/// The briefings of all who may start now, in a session and headless.
fn briefings(pipeline: &Pipeline, world: &World) -> Vec<(Reader, String)> {
    let mut all = Vec::new();
    for agent in crate::acts::agents(pipeline) {
        for step in [None, Some("a"), Some("given")] {
            let Some(dispatch) = admitted(pipeline, world, &agent, step) else {
                continue;
            };
            for driver in [Driver::Guarded, Driver::Headless] {
                let run = Run {
                    driver,
                    ..world.run.clone()
                };
                let handed = views::BriefingInputs {
                    contents: &BTreeMap::new(),
                    altered: &[],
                    copies: &BTreeMap::new(),
                    change: None,
                };
                let text = views::briefing(pipeline, &run, &dispatch, &handed);
                all.push((Reader::Worker, text));
            }
        }
    }
    all
}

fn admitted(
    pipeline: &Pipeline,
    world: &World,
    agent: &str,
    step: Option<&str>,
) -> Option<Dispatch> {
    let what = Happening::Work(WorkEvent::Requested {
        agent: engine::AgentName::parse(agent).ok()?,
        step: step.and_then(|step| engine::StepId::parse(step).ok()),
        model: None,
        call: None,
        worker: None,
        service: None,
    });
    let event = Event {
        at: Time(0),
        by: engine::Who::Session(session(1)),
        what,
    };
    let decision = engine::decide(pipeline, &world.run, &event, &Evidence::default());
    decision
        .entries
        .into_iter()
        .find_map(|entry| match entry.fact {
            Fact::Admitted { dispatch } => Some(*dispatch),
            _ => None,
        })
}

/// Walks every state, and looks at the arrival of every new edge until that fails. Returns the edges.
fn walk_edges(
    pipeline: &Pipeline,
    params: &Params,
    look: &mut dyn FnMut(&Arrival<'_>) -> Result<(), String>,
) -> Result<BTreeSet<String>, String> {
    let mut seen = HashSet::new();
    let mut edges = BTreeSet::new();
    let mut queue = VecDeque::new();
    let (planned, _) = begun(pipeline, params);
    for world in [Some(planned), begun_with_steps(pipeline, params)] {
        queue.extend(world.filter(|world| seen.insert(place(pipeline, world))));
    }
    while let Some(world) = queue.pop_front() {
        let mut ask = |event: &Event, evidence: &Evidence| -> Result<Option<World>, String> {
            let decision = engine::decide(pipeline, &world.run, event, evidence);
            let after = world.after(&decision);
            let due = causes(&world.run, &decision.entries);
            let edge = key(&decision.entries, &after.run, &due);
            let edge = edge.filter(|_| is_met(pipeline, &after.run));
            if edge.is_some_and(|edge| edges.insert(edge)) {
                look(&Arrival::new(pipeline, due, &after))?;
            }
            Ok((!decision.entries.is_empty() && is_small(&after)).then_some(after))
        };
        // An override and a reset mark a run for ever: what comes after them is not walked again.
        for (event, evidence) in persons(pipeline, &world) {
            ask(&event, &evidence)?;
        }
        if is_watched(pipeline, &world.run) {
            let grown = World {
                run: world.run.clone(),
                tree: 3 - world.tree,
            };
            queue.extend(seen.insert(place(pipeline, &grown)).then_some(grown));
        }
        let acts = acts(pipeline, &world, Scope::Work);
        for (event, evidence) in acts.iter().filter_map(|act| event(pipeline, &world, act)) {
            let after = ask(&event, &evidence)?.map(|after| normal(after, Scope::Work));
            queue.extend(after.filter(|after| seen.insert(place(pipeline, after))));
        }
    }
    Ok(edges)
}

/// Does a route look at the tree here, so that it matters which one is there?
fn is_watched(pipeline: &Pipeline, run: &Run) -> bool {
    let stage = pipeline.stage(&run.position.stage);
    let decides = stage.is_some_and(|stage| matches!(stage.work, Work::Route(_)));
    let asked = run.params.values().any(|value| value == "small");
    asked && (decides || !run.routes.is_empty())
}

/// What a person may do about a stage besides answering.
fn persons(pipeline: &Pipeline, world: &World) -> Vec<(Event, Evidence)> {
    let stage = pipeline.stage(&world.run.position.stage);
    let outcomes = stage.into_iter().flat_map(|stage| stage.on.keys());
    let skips = outcomes.map(|outcome| PersonEvent::SkipAsked {
        outcome: Some(outcome.clone()),
        reason: String::from("I looked at it myself"),
    });
    let reset = PersonEvent::ResetAsked {
        reason: String::from("the task was another one"),
    };
    let event = |what| Event {
        at: Time(0),
        by: engine::Who::Person(String::from("pat")),
        what: Happening::Person(what),
    };
    skips
        .chain([reset])
        .map(|what| (event(what), Evidence::default()))
        .collect()
}

/// Where a run is, however it came there: the first way to it is walked on.
fn place(pipeline: &Pipeline, world: &World) -> (u64, u64) {
    fingerprint(&without_causes(pipeline, world.clone()), &())
}

fn built_in(name: &str) -> Pipeline {
    let builtin = language::builtin::find(name).expect("a built-in");
    let compiled = language::compile(&builtin.sources()).expect("it passes lint");
    compiled.pipeline
}

fn check(name: &str) {
    let pipeline = built_in(name);
    let edges = walk_edges(&pipeline, &small_params(&pipeline), &mut |it| it.is_told());
    let edges = edges.unwrap_or_else(|law| panic!("{name}: {law}"));
    println!("{name}: the cause is told on {} edges", edges.len());
    assert!(!edges.is_empty());
}

#[test]
fn every_cause_in_ansible_is_told() {
    check("ansible");
}

#[test]
fn every_cause_in_context_first_is_told() {
    check("context-first");
}

#[test]
fn every_cause_in_phases_is_told() {
    check("phases");
}

#[test]
fn every_cause_in_multi_ai_is_told() {
    check("multi-ai");
}

#[test]
fn every_cause_of_a_route_is_told() {
    let (pipeline, small) = routed();
    let edges = walk_edges(&pipeline, &small, &mut |it| it.is_told());
    let edges = edges.unwrap_or_else(|law| panic!("{law}"));
    for way in ["sizing small Edge", "sizing otherwise Edge", "Outgrown"] {
        let is_walked = |edge: &String| edge.contains(way) && edge.contains("RouteEvidence");
        assert!(edges.iter().any(is_walked), "{way}: {edges:#?}");
    }
}

#[test]
fn every_cause_in_random_definitions_is_told() {
    let mut edges = 0;
    wanderings(1_200, &mut |pipeline, before, entries, after| {
        let due = causes(&before.run, entries);
        if key(entries, &after.run, &due).is_some() && is_met(pipeline, &after.run) {
            edges += 1;
            Arrival::new(pipeline, due, after).is_told()?;
        }
        Ok(())
    });
    println!("random definitions: the cause is told on {edges} arrivals");
    assert!(edges > 1_000, "{edges}");
}

#[test]
fn the_walk_notices_every_kind_of_cause_that_a_text_leaves_out() {
    let built_ins = ["ansible", "phases", "multi-ai"].map(built_in);
    let with_params = |pipeline: Pipeline| {
        let params = small_params(&pipeline);
        (pipeline, params)
    };
    let pipelines = [routed()].into_iter().chain(built_ins.map(with_params));
    let planted = READERS
        .into_iter()
        .flat_map(|reader| KINDS.map(|kind| (reader, kind)));
    let mut missed: Vec<(Reader, Kind)> = planted.collect();
    for (pipeline, params) in pipelines {
        // The largest is walked only until nothing is missed any more.
        let walked = walk_edges(&pipeline, &params, &mut |arrival| {
            missed.retain(|(reader, kind)| !arrival.notices_loss(*reader, *kind));
            match missed.len() {
                0 => Err(String::from("everything is noticed")),
                _ => Ok(()),
            }
        });
        if walked.is_err() {
            return;
        }
    }
    assert_eq!(missed, Vec::new());
}
