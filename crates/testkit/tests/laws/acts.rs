//! Acts: everything that hosts, agents, people and accidents can do to a run.

use engine::{
    AgentName, Answer, ArtifactName, CheckEnd, CheckResult, Ending, EngineEvent, Event, Evidence,
    Fault, Happening, MemberState, Outcome, PersonEvent, Pipeline, Question, Seen, SessionEvent,
    StepId, Time, TreeAround, Unguarded, Usage, Who, Witness, Words, Work, WorkEvent, WorkRef,
    Worker, needs,
};
use std::collections::{BTreeMap, BTreeSet};

use crate::hosted::{Hosted, hosted, told};
use crate::world::{World, change, hash, session};

/// What a person says with every choice.
const PERSONS_WORDS: &str = "rather like this";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    Request {
        session: u8,
        agent: String,
        step: Option<String>,
    },
    End {
        session: u8,
        agent: String,
        step: Option<String>,
        how: How,
    },
    Check(CheckHow),
    Answer(String),
    Answers,
    Finish,
    Retry,
    Continue,
    /// What is pending is read: the steps of a task graph, or the evidence of a route.
    PlanRead,
    Stop {
        session: u8,
    },
    SessionStarts {
        session: u8,
    },
    SessionEnds {
        session: u8,
    },
    /// A host tells it with its own numbers.
    Hosted(Hosted),
    /// A witness shows work that no hook guarded. It may come at any time and leads nowhere, so only chance
    /// brings it.
    Unguarded,
    /// Somebody edits files meanwhile. We get no event for that.
    TreeChanges,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// Every artifact is there; the one with the verdict says this word.
    Well(String),
    /// The same, with a command in it that nobody has approved.
    Adds(String),
    Nothing,
    Invalid,
    Hollow,
    Crash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CheckHow {
    Passes,
    Fails,
    CannotStart,
    ChangesTree,
}

/// What a walk tries. Each of the four is exhaustive in its own directions; together they would only
/// multiply states that do not touch each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every agent ends in every way, a stranger's session speaks too, and the tree changes meanwhile.
    Work,
    /// The same on the shorter way of a route, until the run is on the longer way. There it holds no route any
    /// more, and only a route asks how it came: the walks without a shorter way know what follows, and a
    /// walk of sessions goes from the one way to the other.
    Shorter,
    /// Both sessions start, end, stop and work, in every order.
    Sessions,
    /// Calls and workers have a host's numbers, true and false ones; sessions die and are followed.
    Hosted,
}

/// Every act that makes sense to try here, whether it is allowed or not.
pub(crate) fn acts(pipeline: &Pipeline, world: &World, scope: Scope) -> Vec<Act> {
    let mut acts = vec![Act::Finish, Act::Retry, Act::Continue];
    acts.extend(
        [
            CheckHow::Passes,
            CheckHow::Fails,
            CheckHow::CannotStart,
            CheckHow::ChangesTree,
        ]
        .map(Act::Check),
    );
    acts.extend(answers(pipeline, world));
    if engine::pending(pipeline, &world.run).is_some() {
        acts.push(Act::PlanRead);
    }
    match scope {
        Scope::Work | Scope::Shorter => acts.push(Act::TreeChanges),
        Scope::Sessions => acts.extend([1, 2].into_iter().flat_map(|session| {
            [
                Act::Stop { session },
                Act::SessionStarts { session },
                Act::SessionEnds { session },
            ]
        })),
        Scope::Hosted => {
            acts.extend(hosted(pipeline, world).into_iter().map(Act::Hosted));
            return acts;
        }
    }
    for agent in agents(pipeline) {
        // A stranger's words change nothing, so one of each kind will do; a second holder's do.
        let sessions: &[u8] = match scope {
            Scope::Work | Scope::Shorter if agent != "stranger" => &[1],
            Scope::Work | Scope::Shorter | Scope::Sessions | Scope::Hosted => &[1, 2],
        };
        for session in sessions.iter().copied() {
            for step in steps(world, &agent) {
                let (agent, step) = (agent.clone(), step.clone());
                acts.push(Act::Request {
                    session,
                    agent: agent.clone(),
                    step: step.clone(),
                });
                let known = is_at_work(world, &agent);
                for how in hows(pipeline, world, scope)
                    .into_iter()
                    .take(if known { 99 } else { 1 })
                {
                    let (agent, step) = (agent.clone(), step.clone());
                    acts.push(Act::End {
                        session,
                        agent,
                        step,
                        how,
                    });
                }
            }
        }
    }
    acts
}

fn answers(pipeline: &Pipeline, world: &World) -> Vec<Act> {
    let Some(stage) = pipeline.stage(&world.run.position.stage) else {
        return Vec::new();
    };
    match &stage.work {
        Work::Ask(ask) => match &ask.questions {
            engine::Questions::Choice { .. } => stage
                .on
                .keys()
                .map(|choice| Act::Answer(choice.to_string()))
                .collect(),
            engine::Questions::From { .. } => vec![Act::Answers],
        },
        _ => vec![Act::Answer(String::from("continue"))],
    }
}

/// One agent for each name and glob of the definition, and a stranger.
pub(crate) fn agents(pipeline: &Pipeline) -> BTreeSet<String> {
    let definition = pipeline.definition();
    let mut agents = BTreeSet::from([String::from("stranger"), String::from(engine::SESSION)]);
    let patterns = |list: &[engine::AgentPattern]| -> Vec<String> {
        let members = list.iter().flat_map(|pattern| {
            definition
                .group(pattern)
                .cloned()
                .unwrap_or_else(|| vec![pattern.clone()])
        });
        members
            .map(|pattern| pattern.as_str().replace('*', "one"))
            .collect()
    };
    for stage in &definition.stages {
        match &stage.work {
            Work::Agent(work) => match &work.worker {
                Worker::Agent(agent) => {
                    agents.insert(agent.to_string());
                }
                Worker::Session => {}
            },
            Work::Open(work) => agents.extend(patterns(&work.allow)),
            Work::Review(work) => {
                agents.extend(work.panel.iter().map(|member| member.agent.to_string()));
                agents.insert(work.owner.to_string());
            }
            Work::Steps(_) => {
                agents.insert(String::from("step-worker"));
            }
            Work::End(work) => {
                agents.extend(work.after.iter().map(|after| after.agent.to_string()))
            }
            Work::Check(_) | Work::Ask(_) | Work::Route(_) => {}
        }
    }
    agents
}

pub(crate) fn steps(world: &World, agent: &str) -> Vec<Option<String>> {
    let graph = world.run.graphs.get(&world.run.position.stage);
    let mut steps = vec![None];
    if agent == "step-worker"
        && let Some(graph) = graph
    {
        let members = graph
            .members
            .iter()
            .filter(|member| member.state != MemberState::Done);
        steps.extend(members.map(|member| Some(member.step.id.to_string())));
    }
    steps
}

/// The end of an agent that is not at work is one and the same accident, however it ends.
fn is_at_work(world: &World, agent: &str) -> bool {
    agent == engine::SESSION
        || world
            .run
            .dispatches
            .values()
            .any(|open| open.agent.as_str() == agent)
}

/// Every way to end: with each word, and the ways to fail.
fn hows(pipeline: &Pipeline, world: &World, scope: Scope) -> Vec<How> {
    let ways = words(pipeline, world).into_iter().map(How::Well);
    match scope {
        Scope::Work | Scope::Shorter => ways
            .chain(added(pipeline, world))
            .chain([How::Nothing, How::Invalid, How::Hollow, How::Crash])
            .collect(),
        Scope::Sessions | Scope::Hosted => ways.chain([How::Crash]).collect(),
    }
}

/// Work that leaves an artifact with commands may add one.
fn added(pipeline: &Pipeline, world: &World) -> Vec<How> {
    let artifacts = &pipeline.definition().artifacts;
    let asks = |name: &&ArtifactName| artifacts[*name].approved.is_some();
    let Some(stage) = pipeline.stage(&world.run.position.stage) else {
        return Vec::new();
    };
    let words = words(pipeline, world).into_iter();
    let telling = words.filter(|word| {
        let outcome = Outcome::parse(word).ok();
        stage.delivers(outcome.as_ref()).iter().any(asks)
    });
    telling.map(How::Adds).collect()
}

/// Each word that some artifact of this stage knows, and one that none knows.
pub(crate) fn words(pipeline: &Pipeline, world: &World) -> BTreeSet<String> {
    let mut words = BTreeSet::from([String::from("NOT APPROVED")]);
    if let Some(stage) = pipeline.stage(&world.run.position.stage) {
        let left: Vec<&ArtifactName> = match &stage.work {
            Work::Agent(work) => work.leaves.all(),
            Work::Review(work) => work.panel.iter().map(|member| &member.leaves).collect(),
            Work::Steps(work) => work.leaves.iter().collect(),
            Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => {
                Vec::new()
            }
        };
        for artifact in left
            .into_iter()
            .filter_map(|name| pipeline.definition().artifacts.get(name))
        {
            words.extend(
                artifact
                    .outcome
                    .iter()
                    .flat_map(|field| field.values.keys().cloned()),
            );
        }
    }
    words
}

/// Is this reviewer run by another program than the session? Then `step` begins and ends its work.
fn runs_elsewhere(pipeline: &Pipeline, world: &World, agent: &str) -> bool {
    let stages = pipeline.definition().stages.iter();
    let mut panels = stages.filter_map(|stage| match &stage.work {
        Work::Review(work) => Some(&work.panel),
        _ => None,
    });
    panels.any(|panel| {
        panel.iter().any(|member| {
            let runner = member.settings.runner.as_ref();
            member.agent.as_str() == agent && !world.run.session_starts(runner)
        })
    })
}

/// The event of an act with its evidence; `None` if the act causes no event.
pub(crate) fn event(pipeline: &Pipeline, world: &World, act: &Act) -> Option<(Event, Evidence)> {
    if let Act::Hosted(hosted) = act {
        return Some(told(pipeline, world, hosted));
    }
    let what = match act {
        Act::PlanRead => engine::pending(pipeline, &world.run)?,
        act => happening(world, act)?,
    };
    let by = match act {
        Act::Request { agent, .. } | Act::End { agent, .. }
            if runs_elsewhere(pipeline, world, agent) =>
        {
            Who::Engine
        }
        Act::Request {
            session: number, ..
        }
        | Act::End {
            session: number, ..
        }
        | Act::Stop { session: number }
        | Act::SessionStarts { session: number }
        | Act::SessionEnds { session: number } => Who::Session(session(*number)),
        Act::Check(_) | Act::PlanRead | Act::Unguarded => Who::Engine,
        Act::Answer(_) | Act::Answers | Act::Finish | Act::Retry | Act::Continue => {
            Who::Person(String::from("ada"))
        }
        Act::Hosted(_) | Act::TreeChanges => return None,
    };
    let event = Event {
        at: Time(0),
        by,
        what,
    };
    let evidence = look(pipeline, world, act, &event);
    Some((event, evidence))
}

fn happening(world: &World, act: &Act) -> Option<Happening> {
    let name = |agent: &str| AgentName::parse(agent).expect("an agent's name");
    let id = |step: &Option<String>| {
        step.as_ref()
            .map(|step| StepId::parse(step).expect("a step"))
    };
    Some(match act {
        Act::Request { agent, step, .. } => Happening::Work(WorkEvent::Requested {
            agent: name(agent),
            step: id(step),
            model: None,
            call: None,
            worker: None,
            service: None,
        }),
        Act::End {
            agent, step, how, ..
        } => Happening::Work(WorkEvent::Ended {
            work: WorkRef::Agent {
                agent: name(agent),
                step: id(step),
            },
            ending: match how {
                How::Crash => Ending::Fault {
                    fault: Fault::Crashed,
                    reason: "it died".into(),
                },
                How::Hollow => Ending::Finished { worked: false },
                How::Well(_) | How::Adds(_) | How::Nothing | How::Invalid => {
                    Ending::Finished { worked: true }
                }
            },
            usage: Usage::default(),
        }),
        Act::Check(how) => checks(world, *how),
        Act::Answer(choice) => Happening::Person(PersonEvent::Answered(Answer::Choice {
            choice: Outcome::parse(choice).ok()?,
            words: Some(Words {
                text: String::from(PERSONS_WORDS),
                content: hash(9),
            }),
        })),
        Act::Answers => {
            let given = BTreeMap::from([(String::from("q1"), String::from("yes"))]);
            Happening::Person(PersonEvent::Answered(Answer::Answers {
                given,
                content: hash(9),
            }))
        }
        Act::Finish => Happening::Person(PersonEvent::FinishAsked),
        Act::Retry => Happening::Person(PersonEvent::RetryAsked),
        Act::Continue => Happening::Person(PersonEvent::Answered(Answer::Continue { words: None })),
        Act::Unguarded => Happening::Session(SessionEvent::Unguarded(Unguarded {
            witness: Witness::Transcript,
            what: String::from("a call that no hook saw"),
            from: Time(0),
            until: Time(0),
        })),
        Act::Stop { .. } => Happening::Session(SessionEvent::StopRequested {
            background_work: false,
        }),
        Act::SessionStarts { session: number } => Happening::Session(SessionEvent::Started {
            session: session(*number),
            process: None,
            heir_of: None,
            unverified_host: None,
        }),
        Act::SessionEnds { session: number } => Happening::Session(SessionEvent::Ended {
            session: session(*number),
        }),
        Act::Hosted(_) | Act::TreeChanges | Act::PlanRead => return None,
    })
}

fn checks(world: &World, how: CheckHow) -> Happening {
    let ended = match how {
        CheckHow::Passes | CheckHow::ChangesTree => CheckEnd::Exit(0),
        CheckHow::Fails => CheckEnd::Exit(1),
        CheckHow::CannotStart => CheckEnd::CouldNotStart("not found".into()),
    };
    let before = if how == CheckHow::ChangesTree {
        7
    } else {
        world.tree
    };
    Happening::Engine(EngineEvent::ChecksRan {
        stage: world.run.position.stage.clone(),
        visit: world.run.position.visit,
        results: vec![CheckResult {
            argv: vec!["true".into()],
            ended,
            duration_ms: 1,
            tail: if how == CheckHow::Fails {
                String::from("2 of 7 tests failed")
            } else {
                String::new()
            },
            matched_failure: false,
            lacks: None,
            programs: Vec::new(),
        }],
        tree: TreeAround {
            before: hash(before),
            after: hash(world.tree),
            made: BTreeMap::new(),
        },
    })
}

/// Looks at what `needs` names, and at nothing else.
fn look(pipeline: &Pipeline, world: &World, act: &Act, event: &Event) -> Evidence {
    let needs = needs(pipeline, &world.run, event);
    let seen = |name: &ArtifactName| match act {
        Act::End {
            how: How::Well(word) | How::Adds(word),
            ..
        } => {
            let artifact = pipeline.definition().artifacts.get(name);
            let told = artifact.is_some_and(|artifact| artifact.outcome.is_some());
            Seen::Valid {
                content: fresh(world, name),
                word: told.then(|| word.clone()),
            }
        }
        Act::End {
            how: How::Invalid, ..
        } => Seen::Invalid {
            content: hash(8),
            reason: "it is not JSON".into(),
        },
        _ => Seen::Absent,
    };
    let question = Question {
        id: "q1".into(),
        text: "Really?".into(),
        options: Vec::new(),
        context: None,
    };
    let step = |id: &str, needs: &[&str]| engine::Step {
        id: StepId::parse(id).unwrap(),
        title: id.into(),
        agent: AgentName::parse("step-worker").unwrap(),
        needs: needs
            .iter()
            .map(|need| StepId::parse(need).unwrap())
            .collect(),
    };
    let adds = matches!(
        act,
        Act::End {
            how: How::Adds(_),
            ..
        }
    );
    let brings = |name: &ArtifactName| pipeline.definition().artifacts[name].approved.is_some();
    let brought = needs.artifacts.iter().map(|need| &need.artifact);
    let brought = brought.filter(|name| adds && brings(name));
    let commands = brought.map(|name| (name.clone(), vec![vec!["lint".into()]]));
    Evidence {
        commands: commands.collect(),
        artifacts: needs
            .artifacts
            .iter()
            .map(|need| (need.artifact.clone(), seen(&need.artifact)))
            .collect(),
        tree: needs.tree.then(|| hash(world.tree)),
        changed: needs.changed_since.map(|_| Vec::new()),
        questions: needs.questions.map(|_| Ok(vec![question])),
        steps: needs
            .steps
            .map(|_| Ok(vec![step("a", &[]), step("b", &["a"])])),
        change: needs.change.map(|_| change(world)),
        ..Evidence::default()
    }
}

/// New content differs from what was captured before where a person or a panel has judged that.
pub(crate) fn fresh(world: &World, name: &ArtifactName) -> engine::Hash {
    let judged = world.run.approved.contains_key(name);
    match world.run.artifacts.get(name) {
        Some(captured) if judged && captured.content == hash(10) => hash(11),
        _ => hash(10),
    }
}
