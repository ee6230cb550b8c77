//! A pipeline with every kind of stage, target and counter, and runs of it made by hand.

use std::collections::BTreeMap;

use engine::*;

pub(crate) const START: Time = Time(1_787_392_800_000); // 2026-08-22T10:00:00Z

pub(crate) fn name<T>(parsed: Result<T, NameError>) -> T {
    parsed.unwrap()
}

macro_rules! names {
    ($($function:ident, $type:ident;)*) => {
        $(pub(crate) fn $function(text: &str) -> $type { name($type::parse(text)) })*
    };
}

names! {
    stage_name, StageName;
    agent_name, AgentName;
    artifact_name, ArtifactName;
    counter_name, CounterName;
    param_name, ParamName;
    outcome, Outcome;
    step_id, StepId;
    run_id, RunId;
    session_id, SessionId;
    worker_id, WorkerId;
}

pub(crate) const PROCESS: Process = Process {
    id: 4242,
    started: 987_654,
};

pub(crate) fn artifact_names(text: &str) -> Vec<ArtifactName> {
    text.split_whitespace().map(artifact_name).collect()
}

/// A hash that is easy to recognise: the same byte 32 times.
pub(crate) fn hash(byte: u8) -> Hash {
    Hash([byte; 32])
}

pub(crate) fn minutes(after_start: u64) -> Time {
    Time(START.0 + after_start * 60_000)
}

pub(crate) fn to(stage: &str) -> Edge {
    let to = Target::Stage(stage_name(stage));
    Edge {
        to,
        count: None,
        reset: Vec::new(),
        approves: Vec::new(),
        words: engine::WordsRule::default(),
    }
}

pub(crate) fn counted(stage: &str, counter: &str) -> Edge {
    Edge {
        count: Some(counter_name(counter)),
        ..to(stage)
    }
}

pub(crate) fn stage(name: &str, work: Work, on: Vec<(&str, Edge)>) -> Stage {
    Stage {
        name: stage_name(name),
        about: None,
        shown: None,
        work,
        on: on
            .into_iter()
            .map(|(word, edge)| (outcome(word), edge))
            .collect(),
        inject: None,
        stop: StopRule::Free,
        writes: Writes::Anything,
        tools_deny: Vec::new(),
        retry: None,
        timeout: None,
        heartbeat: None,
    }
}

pub(crate) fn works(agent: &str, reads: &str, leaves: &str) -> Work {
    let worker = match agent {
        "session" => Worker::Session,
        agent => Worker::Agent(agent_name(agent)),
    };
    let (if_there, needed) = reads
        .split_whitespace()
        .partition::<Vec<&str>, _>(|read| read.ends_with('?'));
    let named = |names: Vec<&str>| {
        names
            .into_iter()
            .map(|name| artifact_name(name.trim_end_matches('?')))
            .collect()
    };
    Work::Agent(AgentWork {
        worker,
        settings: WorkerSettings::default(),
        reads: Reads {
            needed: named(needed),
            if_there: named(if_there),
        },
        leaves: Leaves {
            always: artifact_names(leaves),
            by_outcome: BTreeMap::new(),
        },
    })
}

pub(crate) fn asks(question: &str) -> Work {
    Work::Ask(AskWork {
        question: question.to_owned(),
        questions: Questions::Choice { leaves: None },
    })
}

pub(crate) fn checks(commands: &[&[&str]]) -> Work {
    let words = |argv: &&[&str]| argv.iter().map(|word| (*word).to_owned()).collect();
    let commands = Commands::Fixed(commands.iter().map(words).collect());
    Work::Check(CheckWork {
        commands,
        fails_on: None,
        expects: None,
        home: engine::HomeFolder::Own,
    })
}

pub(crate) fn ends(end: End) -> Work {
    Work::End(EndWork {
        end,
        after: Vec::new(),
        leaves: Vec::new(),
    })
}

fn opens() -> Work {
    let pattern = AgentPattern::new;
    let after = After {
        agent: pattern("gatherer"),
        edge: to("planning"),
    };
    Work::Open(OpenWork {
        allow: vec![pattern("gatherer"), pattern("language")],
        after: vec![after],
        leaves: vec![(pattern("gatherer"), artifact_names("context"))],
    })
}

fn plans() -> Work {
    let Work::Agent(mut work) = works("planner", "context? answers?", "plan") else {
        unreachable!()
    };
    work.settings.model = Some("opus".to_owned());
    work.settings.runner = Some(name(RunnerName::parse("claude")));
    work.leaves
        .by_outcome
        .insert(outcome("unclear"), artifact_names("questions"));
    Work::Agent(work)
}

fn clarifies() -> Work {
    let field = FieldOf {
        artifact: artifact_name("questions"),
        field: "open".to_owned(),
    };
    let questions = Questions::From {
        field,
        leaves: artifact_name("answers"),
    };
    Work::Ask(AskWork {
        question: "The planner has questions.".to_owned(),
        questions,
    })
}

fn builds() -> Work {
    let field = FieldOf {
        artifact: artifact_name("plan"),
        field: "steps".to_owned(),
    };
    Work::Steps(StepsWork {
        source: StepsSource::Artifact(field),
        max_parallel: Some(Amount::Fixed(2)),
        agents: vec![AgentPattern::new("language")],
        settings: WorkerSettings::default(),
        reads: Reads {
            needed: artifact_names("plan"),
            if_there: Vec::new(),
        },
        leaves: artifact_names("built"),
    })
}

fn debugs() -> Work {
    let Work::Agent(mut work) = works("debugger", "validated", "fixed") else {
        unreachable!()
    };
    work.settings.conversation = Conversation::Same;
    Work::Agent(work)
}

fn reviews() -> Work {
    let reviewer = |agent: &str, leaves: &str| Reviewer {
        agent: agent_name(agent),
        settings: WorkerSettings::default(),
        leaves: artifact_name(leaves),
        last_word: false,
    };
    let codex = RunnerName::parse("codex");
    let settings = WorkerSettings {
        runner: Some(name(codex)),
        ..WorkerSettings::default()
    };
    let last = Reviewer {
        settings,
        last_word: true,
        ..reviewer("codex-reviewer", "second_verdict")
    };
    Work::Review(ReviewWork {
        owner: agent_name("debugger"),
        owner_settings: WorkerSettings::default(),
        panel: vec![reviewer("code-reviewer", "first_verdict"), last],
        rounds: Amount::Param(param_name("limit")),
        of: None,
        reads: Reads {
            needed: artifact_names("plan"),
            if_there: Vec::new(),
        },
        fixes: artifact_names("fixed"),
    })
}

#[rustfmt::skip]
fn stages() -> Vec<Stage> {
    let approves = Edge { approves: artifact_names("plan"), ..to("building") };
    let reset = vec![counter_name("fixes")];
    let interrupted = Edge { to: Target::Interrupted, reset, ..to("planning") };
    let chosen = Edge { to: Target::Param(param_name("finish")), ..to("planning") };
    let replan = || counted("planning", "replans");
    let debug = || counted("debugging", "fixes");
    let validates = works("validator", "plan fixed?", "validated");
    let lints = checks(&[&["ansible-lint", "{target}"], &["yamllint", "."]]);
    let linting = stage("linting", lints, vec![("passed", to("reviewing")), ("failed", debug())]);
    let again = After { agent: AgentPattern::new("gatherer"), edge: to("planning") };
    let completes = EndWork { end: End::Completed, after: vec![again], leaves: Vec::new() };
    let escalates = asks("It does not get better. Continue, or stop?");
    vec![
        stage("gathering", opens(), vec![("finish", to("planning"))]),
        stage("planning", plans(), vec![("done", to("approving")), ("unclear", to("clarifying"))]),
        stage("clarifying", clarifies(), vec![("answered", replan())]),
        stage("approving", asks("Is this the plan?"), vec![("yes", approves), ("no", replan())]),
        stage("building", builds(), vec![("done", to("validating")), ("failed", to("escalate"))]),
        stage("validating", validates, vec![("passed", to("linting")), ("failed", debug())]),
        stage("debugging", debugs(), vec![("done", to("validating"))]),
        Stage { shown: Some("validating".to_owned()), ..linting },
        stage("reviewing", reviews(), vec![
            ("approved", to("tidying")),
            ("needs_clarification", to("escalate")),
            ("exceeded", to("escalate")),
        ]),
        stage("tidying", works("session", "", ""), vec![("done", chosen)]),
        stage("escalate", escalates, vec![
            ("continue", interrupted),
            ("stop", to("abandoned")),
            ("give-up", to("broken")),
        ]),
        stage("complete", Work::End(completes), vec![]),
        stage("abandoned", ends(End::Cancelled), vec![]),
        stage("broken", ends(End::Failed), vec![]),
    ]
}

pub(crate) fn file(path: &str, format: Format) -> Artifact {
    Artifact {
        source: Source::File(path.to_owned()),
        format,
        require: Vec::new(),
        equals: BTreeMap::new(),
        outcome: None,
        approved: None,
        strictness: Strictness::Strict,
        max_bytes: 100_000,
    }
}

fn verdict(path: &str, words: &[(&str, &str)]) -> Artifact {
    let values = words
        .iter()
        .map(|(word, means)| ((*word).to_owned(), outcome(means)));
    let field = OutcomeField {
        field: "status".to_owned(),
        values: values.collect(),
        reason: None,
    };
    let require = vec!["source_agent".to_owned(), "timestamp".to_owned()];
    Artifact {
        outcome: Some(field),
        approved: None,
        require,
        equals: BTreeMap::new(),
        ..file(path, Format::Bundle)
    }
}

fn artifacts() -> BTreeMap<ArtifactName, Artifact> {
    let json = Format::Json { schema: None };
    let reviewer = [("OK", "approved"), ("CHANGE", "needs_changes")];
    let reply = Artifact {
        source: Source::Reply,
        strictness: Strictness::Advisory,
        ..file("", Format::Text)
    };
    let answers = Artifact {
        source: Source::Answers,
        ..file("", json.clone())
    };
    let planned = Artifact {
        outcome: Some(OutcomeField {
            field: "state".to_owned(),
            values: BTreeMap::from([
                ("ready".to_owned(), outcome("done")),
                ("open".to_owned(), outcome("unclear")),
            ]),
            reason: None,
        }),
        ..file(".work/{run}/plan.json", json.clone())
    };
    let all = [
        ("context", reply),
        ("plan", planned),
        (
            "questions",
            file(".work/{run}/questions.json", json.clone()),
        ),
        ("answers", answers),
        ("built", file(".work/{run}/{step}.md", Format::Bundle)),
        (
            "validated",
            verdict(
                ".work/{run}/validated.md",
                &[("PASS", "passed"), ("FAIL", "failed")],
            ),
        ),
        ("fixed", file(".work/{run}/fixed.md", Format::Text)),
        ("first_verdict", verdict(".work/first.md", &reviewer)),
        ("second_verdict", verdict(".work/second.md", &reviewer)),
    ];
    all.into_iter()
        .map(|(name, artifact)| (artifact_name(name), artifact))
        .collect()
}

pub(crate) fn definition() -> Definition {
    let param = |default: Option<&str>, choices: &[&str]| Param {
        default: default.map(str::to_owned),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        ..Param::default()
    };
    let counter = |max| Counter {
        max,
        then: stage_name("escalate"),
    };
    Definition {
        name: name(PipelineName::parse("showcase")),
        about: "Every kind of stage in one pipeline.".to_owned(),
        begins: Begins::Command,
        start: stage_name("gathering"),
        mode: Mode::Enforced,
        ttl: None,
        budget: Budget {
            turns: Some(Amount::Fixed(40)),
            cost_cents: Some(Amount::Fixed(500)),
            ..Budget::default()
        },
        settings: None,
        params: BTreeMap::from([
            (
                param_name("target"),
                Param {
                    required: true,
                    ..Param::default()
                },
            ),
            (param_name("limit"), param(Some("3"), &[])),
            (
                param_name("finish"),
                param(Some("complete"), &["complete", "abandoned"]),
            ),
        ]),
        counters: BTreeMap::from([
            (counter_name("fixes"), counter(Amount::Fixed(2))),
            (
                counter_name("replans"),
                counter(Amount::Param(param_name("limit"))),
            ),
        ]),
        groups: BTreeMap::from([(
            name(GroupName::parse("language")),
            vec![AgentPattern::new("bash-*"), AgentPattern::new("python-*")],
        )]),
        artifacts: artifacts(),
        stages: stages(),
        views: Vec::new(),
        commands: BTreeMap::new(),
        helpers: Vec::new(),
        gives: Vec::new(),
        ignores: Vec::new(),
        placement: engine::Placement::default(),
        litter: Vec::new(),
        protocol: None,
        proofs: vec![Proof {
            name: "nothing completes unreviewed".to_owned(),
            claim: Claim::Passes {
                after: None,
                before: stage_name("complete"),
                through: vec![stage_name("reviewing")],
            },
        }],
    }
}

pub(crate) fn pipeline() -> Pipeline {
    Pipeline::from_cache(definition())
}

/// A run of `pipeline`, just arrived in this stage.
pub(crate) fn run_in(stage: &str) -> Run {
    let entry = Entry {
        at: START,
        by: Who::Person("ann".to_owned()),
        rule: Rule::Begin,
        fact: Fact::Started(Box::new(Started {
            branch: None,
            id: run_id("r-7f3"),
            definition: hash(0xd0),
            task: "Write the role web".to_owned(),
            params: BTreeMap::from([
                (param_name("target"), "roles/web".to_owned()),
                (param_name("limit"), "3".to_owned()),
                (param_name("finish"), "complete".to_owned()),
            ]),
            driver: Driver::ByHand,
            host: HostName::listed("claude"),
            stage: stage_name(stage),
            session: None,
            process: None,
            steps: Vec::new(),
            before: BTreeMap::new(),
            queued: false,
            environment: None,
            base: None,
            commit: None,
        })),
    };
    apply(None, &entry).unwrap()
}
