//! Text from outside, made to break a terminal, a table or a diagram, in every place that has any.

use std::collections::{BTreeMap, BTreeSet};

use engine::*;

use super::example::*;
use super::facts::{check_result, entry};
use super::runs::{AROUND, dispatch};
use crate::list::RunRow;
use crate::picture::RunMarks;
use crate::test_random::TestRandom;
use crate::{
    AgentNames, BriefingInputs, Paint, RunContext, Verification, briefing, diagram, history,
    is_forbidden, json_text, list, next, picture, refusal_in, session_prompt, status, summary, why,
};

/// A pipeline whose every free text is hostile.
fn hostile_pipeline(text: &mut impl FnMut() -> String) -> Pipeline {
    let mut definition = definition();
    definition.about = text();
    for proof in &mut definition.proofs {
        proof.name = text();
    }
    for stage in &mut definition.stages {
        stage.shown = Some(text());
        stage.about = Some(text());
        stage.writes = Writes::Only(vec![PathGlob::new(&text())]);
        stage.tools_deny = vec![AgentPattern::new(&text())];
        match &mut stage.work {
            Work::Agent(work) => work.settings.model = Some(text()),
            Work::Open(open) => open.allow.push(AgentPattern::new(&text())),
            Work::Check(check) => {
                check.commands = Commands::Fixed(vec![vec![text(), text()]]);
                check.fails_on = Some(engine::CheckText::Text(text()));
            }
            Work::Ask(ask) => ask.question = text(),
            Work::Review(review) => review.owner_settings.model = Some(text()),
            Work::Steps(steps) => steps.agents.push(AgentPattern::new(&text())),
            Work::Route(route) => {
                for rule in &mut route.rules {
                    rule.within.push(PathGlob::new(&text()));
                    rule.avoids.push(PathGlob::new(&text()));
                }
            }
            Work::End(end) => end.after.push(After {
                agent: AgentPattern::new(&text()),
                edge: to("planning"),
            }),
        }
    }
    for (name, artifact) in &mut definition.artifacts {
        if name.as_str() != "context" {
            artifact.source = Source::File(text());
        }
        artifact.require.push(text());
        let outcome = BTreeMap::from([(text(), outcome("passed"))]);
        artifact.outcome = Some(OutcomeField {
            field: text(),
            values: outcome,
            reason: None,
        });
    }
    Pipeline::from_cache(definition)
}

fn hostile_run(stage: &str, text: &mut impl FnMut() -> String) -> Run {
    let mut run = run_in(stage);
    run.task = text();
    run.params.insert(param_name("target"), text());
    let (reason, by) = (text(), text());
    run.overrides.push(Override {
        stage: stage_name("linting"),
        outcome: outcome("passed"),
        reason,
        by,
        at: START,
    });
    run.bypass = Some(Bypass {
        until: Time(u64::MAX),
        reason: text(),
        by: text(),
    });
    let captured = Captured {
        content: hash(0xc0),
        dispatch: None,
        commands: Vec::new(),
    };
    run.artifacts.insert(artifact_name("context"), captured);
    let step = Step {
        id: step_id("a"),
        title: text(),
        agent: agent_name("b"),
        needs: vec![],
    };
    let state = MemberState::Failed {
        fault: Fault::Crashed,
        reason: text(),
    };
    let member = Member {
        strayed_from: None,
        step,
        state,
        retries: 0,
        left: BTreeMap::new(),
        started_at: None,
        ended_at: None,
    };
    run.graphs.insert(
        stage_name(stage),
        Graph {
            members: vec![member],
        },
    );
    run
}

fn hostile_entries(text: &mut impl FnMut() -> String) -> Vec<Entry> {
    let results = vec![
        CheckResult {
            argv: vec![text(), text()],
            ..check_result(CheckEnd::Exit(1), &text())
        },
        check_result(CheckEnd::CouldNotStart(text()), &text()),
    ];
    let tree = TreeAround {
        before: hash(1),
        after: hash(2),
        made: BTreeMap::new(),
    };
    let stage = || stage_name("linting");
    let given = BTreeMap::from([(text(), text())]);
    let facts = vec![
        Fact::Warned { message: text() },
        Fact::Noted { message: text() },
        Fact::Refused {
            what: text(),
            reason: text(),
        },
        Fact::Stuck {
            fault: Fault::Crashed,
            reason: text(),
        },
        Fact::Checked {
            stage: stage(),
            verdict: CheckVerdict::Failed,
            results,
            tree,
        },
        Fact::Answered {
            stage: stage(),
            answer: outcome("yes"),
            given,
            words: Some(text()),
        },
        Fact::Overridden {
            stage: stage(),
            outcome: outcome("passed"),
            reason: text(),
        },
        Fact::Cancelled { reason: text() },
        Fact::OverBudget { what: text() },
        Fact::Halted { reason: text() },
        Fact::SentBack {
            dispatch: DispatchId(1),
            reason: text(),
        },
        Fact::Unevaluated { what: text() },
        Fact::Unguarded(Unguarded {
            witness: Witness::Files,
            what: text(),
            from: START,
            until: START,
        }),
        Fact::ChangedOutside(Box::new(OutsideChange {
            during: vec![DispatchId(1)],
            author: Author::Worker,
            what: Outside::Ref(MovedRef {
                name: text(),
                before: Some(text()),
                after: Some(text()),
                handling: RefHandling::Left,
                kept: Some(text()),
            }),
        })),
        Fact::ChangedOutside(Box::new(OutsideChange {
            during: vec![DispatchId(1)],
            author: Author::Worker,
            what: Outside::Elsewhere {
                tool: text(),
                paths: vec![text(), text()],
            },
        })),
        Fact::Bypassed {
            until: START,
            reason: text(),
        },
    ];
    facts
        .into_iter()
        .map(|fact| Entry {
            by: Who::Person(text()),
            ..entry(fact)
        })
        .collect()
}

/// The briefing of a worker in the run's stage, with this text handed on and this reason.
fn briefed(pipeline: &Pipeline, run: &Run, text: &str) -> String {
    let stage = run.position.stage.as_str();
    let duty = match &pipeline.stage(&run.position.stage).unwrap().work {
        Work::Steps(_) => Duty::Step { step: step_id("a") },
        Work::Open(_) | Work::End(_) => Duty::Open,
        Work::Review(_) => Duty::Fix { reviewer: 0 },
        Work::Agent(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) => Duty::Work,
    };
    let contents = BTreeMap::from([(hash(0xc0), text.to_owned())]);
    let handed = BriefingInputs {
        contents: &contents,
        altered: &[],
        copies: &BTreeMap::new(),
        change: None,
    };
    briefing(
        pipeline,
        run,
        &dispatch(1, "gatherer", stage, duty),
        &handed,
    )
}

/// The run with this text in everything that led it here.
fn led_by(run: &Run, text: &str) -> Run {
    let text = || text.to_owned();
    let command = CommandEnd {
        argv: vec![text()],
        ended: CheckEnd::CouldNotStart(text()),
        matched_failure: false,
        lacks: None,
        tail: text(),
    };
    let happened = vec![
        Happened::Failed {
            agent: None,
            step: None,
            fault: Fault::Crashed,
            reason: text(),
        },
        Happened::Checked {
            verdict: CheckVerdict::Failed,
            commands: vec![command],
        },
        Happened::Answered {
            by: text(),
            choice: outcome("yes"),
            words: Some(text()),
        },
        Happened::Reset {
            by: text(),
            reason: text(),
        },
    ];
    let mut run = run.clone();
    run.trail = vec![Passage {
        stage: stage_name("validating"),
        outcome: text(),
        along: MoveReason::Edge,
        happened: happened.clone(),
    }];
    run.position.happened = happened;
    run
}

/// Everything that this crate can show of a pipeline, a run and its journal.
fn everything(
    pipeline: &Pipeline,
    run: &Run,
    entries: &[Entry],
    context: RunContext<'_>,
) -> Vec<String> {
    let legal = engine::next(pipeline, run);
    let numbered: Vec<(u64, &Entry)> = (1..).zip(entries).collect();
    let (state, steps) = (status(pipeline, run, context), next(pipeline, run, &legal));
    let (rows, told) = (
        list(vec![RunRow::new(pipeline, run, context)]),
        history(numbered.iter().copied()),
    );
    let reason = why(5, &numbered, &AgentNames::of(entries)).unwrap();
    let refused = Refusal {
        rule: Rule::RunWaits,
        reason: run.task.clone(),
        next: legal,
        own_work: false,
        artifact: None,
    };
    vec![
        diagram::text(pipeline, Some(run)),
        diagram::mermaid(pipeline, Some(run)),
        diagram::dot(pipeline, Some(run)),
        picture::page(pipeline, Some(&RunMarks::of_place(run))),
        state.text(Paint::Plain),
        json_text(&state.json()),
        steps.text(Paint::Plain),
        json_text(&steps.json()),
        rows.text(Paint::Plain),
        json_text(&rows.json()),
        told.text(Paint::Plain),
        json_text(&told.json()),
        reason.text(Paint::Plain),
        json_text(&reason.json()),
        refusal_in(pipeline, run, &refused),
        session_prompt(pipeline, run),
        briefed(pipeline, run, &run.task),
        summary(
            pipeline,
            run,
            &numbered,
            context,
            Verification::Result(&run.task),
        ),
    ]
}

#[test]
fn no_forbidden_character_reaches_any_view() {
    let mut random = TestRandom::new(29);
    let stages: Vec<_> = definition()
        .stages
        .into_iter()
        .map(|stage| stage.name)
        .collect();
    for turn in 0..300 {
        let mut text = || random.hostile_text(30);
        let pipeline = hostile_pipeline(&mut text);
        let run = hostile_run(stages[turn % stages.len()].as_str(), &mut text);
        let run = led_by(&run, &text());
        let entries = hostile_entries(&mut text);
        let project = text();
        let context = RunContext {
            project: &project,
            ..AROUND
        };
        for (place, shown) in everything(&pipeline, &run, &entries, context)
            .iter()
            .enumerate()
        {
            assert!(!shown.chars().any(is_forbidden), "view {place}: {shown:?}");
        }
    }
}

#[test]
fn no_text_makes_a_line_where_we_promise_one() {
    let mut random = TestRandom::new(31);
    for _ in 0..300 {
        let mut text = || format!("{}\n{}", random.hostile_text(10), random.hostile_text(10));
        let pipeline = hostile_pipeline(&mut text);
        let run = hostile_run("escalate", &mut text);
        let entries = hostile_entries(&mut text);
        let told = history((1..).zip(&entries)).text(Paint::Plain);
        assert_eq!(told.lines().count(), entries.len() + 1, "{told}");
        let rows = list(vec![RunRow::new(&pipeline, &run, AROUND)]).text(Paint::Plain);
        assert_eq!(rows.lines().count(), 2, "{rows}");
        let refused = Refusal {
            rule: Rule::RunWaits,
            reason: text(),
            next: engine::next(&pipeline, &run),
            own_work: false,
            artifact: None,
        };
        assert_eq!(refusal_in(&pipeline, &run, &refused).lines().count(), 1);
        // Two of them are the steps, which are all done.
        assert_eq!(session_prompt(&pipeline, &run).lines().count(), 4 + 2);
    }
}

/// Statements, without what stands inside quotes.
fn skeleton(picture: &str) -> Vec<String> {
    let unescaped = picture.replace("\\\\", "").replace("\\\"", "");
    let outside = |line: &str| line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    unescaped.lines().map(outside).collect()
}

/// The tags of a page, each with its attributes' names.
fn tags(page: &str) -> BTreeSet<String> {
    let tags = page.split('<').skip(1).map(|rest| rest.split('>').next());
    let names = |tag: &str| {
        let words = tag.split('"').step_by(2).collect::<Vec<_>>().join("");
        words.replace('/', "")
    };
    tags.map(|tag| names(tag.unwrap_or_default())).collect()
}

#[test]
fn no_text_adds_a_tag_to_a_page() {
    let run = run_in("linting");
    let marks = RunMarks::of_place(&run);
    let marks = Some(&marks);
    let mut harmless = || "words".to_owned();
    let plain = tags(&picture::page(&hostile_pipeline(&mut harmless), marks));
    let mut random = TestRandom::new(41);
    for _ in 0..300 {
        let mut text = || format!("{}'\"><script src=x><b onload=", random.hostile_text(20));
        let hostile = picture::page(&hostile_pipeline(&mut text), marks);
        assert!(tags(&hostile).is_subset(&plain), "{hostile}");
    }
}

#[test]
fn no_label_adds_a_statement_to_a_picture() {
    let run = run_in("linting");
    let mut harmless = || "words".to_owned();
    let plain = hostile_pipeline(&mut harmless);
    let mut random = TestRandom::new(37);
    for _ in 0..300 {
        let mut text = || format!("{}\"] \n x -> y; \\", random.hostile_text(20));
        let hostile = hostile_pipeline(&mut text);
        for picture in [diagram::mermaid, diagram::dot] {
            assert_eq!(
                skeleton(&picture(&hostile, Some(&run))),
                skeleton(&picture(&plain, Some(&run)))
            );
        }
    }
}
