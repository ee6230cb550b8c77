//! A definition with something in every field.

use std::collections::BTreeMap;

use engine::*;

macro_rules! name {
    ($type:ident, $text:literal) => {
        $type::parse($text).unwrap()
    };
}

fn stage_name() -> StageName {
    name!(StageName, "validating")
}

fn step() -> Step {
    Step {
        id: name!(StepId, "S.1"),
        title: "the first".to_owned(),
        agent: name!(AgentName, "plugin:agent"),
        needs: vec![name!(StepId, "S.0")],
    }
}

fn edge(to: Target) -> Edge {
    Edge {
        to,
        count: Some(name!(CounterName, "fixes")),
        reset: vec![name!(CounterName, "reviewing")],
        approves: vec![name!(ArtifactName, "plan")],
        words: engine::WordsRule::Required,
    }
}

fn settings() -> WorkerSettings {
    WorkerSettings {
        runner: Some(name!(RunnerName, "codex")),
        model: Some("opus".to_owned()),
        prompt: Some("prompts/review.md".to_owned()),
        conversation: Conversation::Same,
        fallbacks: vec![engine::Fallback {
            runner: None,
            model: Some("sonnet".into()),
        }],
    }
}

fn artifact() -> ArtifactName {
    name!(ArtifactName, "plan")
}

fn pattern() -> AgentPattern {
    AgentPattern::new("bash-*")
}

fn field() -> FieldOf {
    let field = "story.commands".to_owned();
    FieldOf {
        artifact: artifact(),
        field,
    }
}

fn reads() -> Reads {
    Reads {
        needed: vec![artifact()],
        if_there: vec![artifact()],
    }
}

fn agent_work(worker: Worker) -> Work {
    let by_outcome = BTreeMap::from([(name!(Outcome, "passed"), vec![artifact()])]);
    let leaves = Leaves {
        always: vec![artifact()],
        by_outcome,
    };
    Work::Agent(AgentWork {
        worker,
        settings: settings(),
        reads: reads(),
        leaves,
    })
}

fn review() -> Work {
    let agent = name!(AgentName, "writer");
    let (settings, leaves) = (settings(), artifact());
    let reviewer = Reviewer {
        agent: agent.clone(),
        settings,
        leaves,
        last_word: true,
    };
    Work::Review(ReviewWork {
        owner: agent,
        owner_settings: self::settings(),
        panel: vec![reviewer],
        rounds: Amount::Fixed(3),
        of: Some(artifact()),
        reads: reads(),
        fixes: vec![artifact()],
    })
}

fn steps(source: StepsSource) -> Work {
    Work::Steps(StepsWork {
        source,
        max_parallel: Some(Amount::Param(name!(ParamName, "jobs"))),
        agents: vec![pattern()],
        settings: settings(),
        reads: reads(),
        leaves: vec![artifact()],
    })
}

fn works() -> Vec<Work> {
    let check = |commands, fails_on| {
        Work::Check(CheckWork {
            commands,
            expects: Some(CheckText::Text("passed".to_owned())),
            fails_on: Some(fails_on),
            home: engine::HomeFolder::Own,
        })
    };
    let text = || CheckText::Text("FAILED".to_owned());
    let question = || "Continue?".to_owned();
    let ask = |questions| {
        Work::Ask(AskWork {
            question: question(),
            questions,
        })
    };
    let after = || {
        vec![After {
            agent: pattern(),
            edge: edge(Target::Interrupted),
        }]
    };
    let leaves = || vec![(pattern(), vec![artifact()])];
    vec![
        agent_work(Worker::Session),
        agent_work(Worker::Agent(name!(AgentName, "writer"))),
        Work::Open(OpenWork {
            allow: vec![pattern()],
            after: after(),
            leaves: leaves(),
        }),
        check(
            Commands::Fixed(vec![vec!["make".to_owned(), "test".to_owned()]]),
            text(),
        ),
        check(
            Commands::Approved(vec![field()]),
            CheckText::From(vec![field()]),
        ),
        ask(Questions::Choice { leaves: None }),
        ask(Questions::Choice {
            leaves: Some(artifact()),
        }),
        ask(Questions::From {
            field: field(),
            leaves: artifact(),
        }),
        review(),
        steps(StepsSource::Fixed(vec![step()])),
        steps(StepsSource::Start),
        steps(StepsSource::Artifact(field())),
        steps(StepsSource::ArtifactOrStart(field())),
        Work::End(EndWork {
            end: End::Failed,
            after: after(),
            leaves: leaves(),
        }),
    ]
}

fn stage(work: Work) -> Stage {
    Stage {
        name: stage_name(),
        about: Some("It validates.".to_owned()),
        shown: Some("validating".to_owned()),
        work,
        on: BTreeMap::from([
            (name!(Outcome, "passed"), edge(Target::Stage(stage_name()))),
            (
                name!(Outcome, "failed"),
                edge(Target::Param(name!(ParamName, "target"))),
            ),
        ]),
        inject: Some("Keep to the plan.".to_owned()),
        stop: StopRule::Hold,
        writes: Writes::Only(vec![PathGlob::new("roles/**")]),
        tools_deny: vec![AgentPattern::new("Web*")],
        retry: Some(Retry {
            max: Amount::Fixed(2),
            backoff: Some(Seconds(30)),
        }),
        timeout: Some(Seconds(600)),
        heartbeat: Some(Seconds(60)),
    }
}

fn artifacts() -> BTreeMap<ArtifactName, Artifact> {
    let artifact = |source, format| Artifact {
        source,
        format,
        require: vec!["status".to_owned()],
        equals: [("phase".to_owned(), "{stage}".to_owned())].into(),
        approved: Some(ApprovedCommands {
            field: "test_plan.commands".to_owned(),
            then: stage_name(),
        }),
        outcome: Some(OutcomeField {
            field: "status".to_owned(),
            values: BTreeMap::from([("PASS".to_owned(), name!(Outcome, "passed"))]),
            reason: Some("error".to_owned()),
        }),
        strictness: Strictness::Strict,
        max_bytes: 1 << 20,
    };
    BTreeMap::from([
        (
            name!(ArtifactName, "plan"),
            artifact(Source::File("plan.md".to_owned()), Format::Bundle),
        ),
        (
            name!(ArtifactName, "code"),
            artifact(Source::Reply, Format::Text),
        ),
        (
            name!(ArtifactName, "answers"),
            artifact(
                Source::Answers,
                Format::Json {
                    schema: Some("{}".to_owned()),
                },
            ),
        ),
    ])
}

fn proofs() -> Vec<Proof> {
    let passes = Claim::Passes {
        after: Some(stage_name()),
        before: name!(StageName, "complete"),
        through: vec![stage_name()],
    };
    let admits = Claim::Admits {
        agents: AgentPattern::new("language"),
        only_after: name!(AgentName, "strategist"),
    };
    [passes, admits]
        .map(|claim| Proof {
            name: "a promise".to_owned(),
            claim,
        })
        .to_vec()
}

fn commands() -> BTreeMap<CommandName, Act> {
    BTreeMap::from([
        (name!(CommandName, "ansible"), Act::Start),
        (name!(CommandName, "plugin:answer"), Act::Answer(None)),
        (
            name!(CommandName, "go-on"),
            Act::Answer(Some(name!(Outcome, "continue"))),
        ),
        (name!(CommandName, "finish"), Act::Finish),
        (name!(CommandName, "again"), Act::Retry),
        (name!(CommandName, "cancel-loop"), Act::Cancel),
        (name!(CommandName, "restart"), Act::Reset),
    ])
}

pub(super) fn definition() -> Definition {
    let amount = || Some(Amount::Fixed(7));
    let param = Param {
        about: "the target".to_owned(),
        required: true,
        default: Some("site.yml".to_owned()),
        choices: vec!["site.yml".to_owned()],
        words: [("site".to_owned(), "site.yml".to_owned())].into(),
        settings: vec!["autonomy.limit".to_owned()],
        meaning: Meaning::Path,
    };
    let counter = Counter {
        max: Amount::Param(name!(ParamName, "jobs")),
        then: stage_name(),
    };
    Definition {
        name: name!(PipelineName, "ansible"),
        about: "Writes a playbook.".to_owned(),
        begins: Begins::Session,
        start: stage_name(),
        mode: Mode::Advisory,
        ttl: Some(Seconds(86_400)),
        budget: Budget {
            turns: amount(),
            tokens: amount(),
            cost_cents: amount(),
            time: Some(Seconds(1)),
        },
        settings: Some("pipeline.config.json".to_owned()),
        params: BTreeMap::from([(name!(ParamName, "target"), param)]),
        counters: BTreeMap::from([(name!(CounterName, "fixes"), counter)]),
        groups: BTreeMap::from([(name!(GroupName, "language"), vec![AgentPattern::new("a*")])]),
        artifacts: artifacts(),
        stages: works().into_iter().map(stage).collect(),
        views: views(),
        commands: commands(),
        helpers: vec![AgentPattern::new("Explore")],
        gives: vec!["agents/writer.md".to_owned()],
        ignores: vec!["*.bundle.md".to_owned()],
        placement: engine::Placement::default(),
        litter: vec![PathGlob::new("out/**")],
        protocol: Some("protocol.md".to_owned()),
        proofs: proofs(),
    }
}

fn views() -> Vec<View> {
    let view = |format, removed| View {
        format,
        path: "STATE.md".to_owned(),
        removed,
        readers: match removed {
            Removed::Rendered => Readers::Owner,
            Removed::Waits => Readers::All,
        },
    };
    let looped = |promise| {
        let counter = name!(CounterName, "fixes");
        ViewFormat::LoopState(LoopView { counter, promise })
    };
    let plain = ViewFormat::WORDS.iter();
    let plain = plain.filter_map(|word| ViewFormat::parse(word));
    let promised = looped(TextOrParam::Fixed("done".to_owned()));
    let given = looped(TextOrParam::Param(name!(ParamName, "target")));
    let template = ViewFormat::Template(ViewTemplate {
        file: "board.md.j2".to_owned(),
        text: "# {{ run.task }}\n".to_owned(),
    });
    plain
        .chain([template])
        .map(|format| view(format, Removed::Rendered))
        .chain([view(promised, Removed::Waits), view(given, Removed::Waits)])
        .collect()
}
