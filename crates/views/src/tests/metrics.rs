//! Figures over runs that went through the real engine, to the last digit.

use engine::*;
use expect_test::expect;
use serde_json::{Value, json};

use super::example::*;
use super::facts::entry;
use super::play::{Play, ann};
use crate::Paint;
use crate::metrics::{Metrics, RunFold};

const USED: Usage = Usage {
    turns: 2,
    tokens: 1_200,
    cost_cents: 25,
    estimated_cents: None,
};

impl Play {
    /// An agent works for so many minutes and ends so.
    fn works(&mut self, agent: &str, took: u64, ending: Ending, left: &[(&str, Option<&str>)]) {
        let agent = agent_name(agent);
        let request = Happening::Work(WorkEvent::Requested {
            agent: agent.clone(),
            step: None,
            model: None,
            call: None,
            worker: None,
            service: None,
        });
        self.happen(Who::Engine, request, Evidence::default());
        self.minute += took - 1;
        let evidence = self.left(left);
        let end = Happening::Work(WorkEvent::Ended {
            work: WorkRef::Agent { agent, step: None },
            ending,
            usage: USED,
        });
        self.happen(Who::Engine, end, evidence);
    }

    fn done(&mut self, agent: &str, took: u64, left: &[(&str, Option<&str>)]) {
        self.works(agent, took, Ending::Finished { worked: true }, left);
    }

    fn metrics(&self) -> Metrics {
        counted(&self.pipeline, &self.entries, minutes(self.minute + 10))
    }
}

pub(super) fn counted(pipeline: &Pipeline, entries: &[Entry], now: Time) -> Metrics {
    let mut fold = RunFold::new(pipeline);
    for entry in entries {
        fold.add(entry).unwrap();
    }
    fold.end(now)
}

fn crashed() -> Ending {
    Ending::Fault {
        fault: Fault::Crashed,
        reason: "exit 1".to_owned(),
    }
}

/// A crash, a refusal, a failed check, a review with a finding, an answer after five minutes.
pub(crate) fn completed() -> Play {
    let mut play = Play::driven(Driver::Headless);
    play.works("gatherer", 2, crashed(), &[]);
    play.done("gatherer", 4, &[("context", None)]);
    let early = Happening::Work(WorkEvent::Requested {
        agent: agent_name("validator"),
        step: None,
        model: None,
        call: None,
        worker: None,
        service: None,
    });
    play.happen(Who::Engine, early, Evidence::default());
    play.works("planner", 2, crashed(), &[]);
    play.done(
        "planner",
        1,
        &[("plan", Some("ready")), ("questions", None)],
    );
    play.stands_in("approving");
    play.minute += 4;
    play.answer("yes");
    play.plan();
    play.done("bash-tasks", 3, &[("built", None)]);
    play.done("bash-tests", 5, &[("built", None)]);
    play.done("validator", 1, &[("validated", Some("PASS"))]);
    play.check(2, "1 failure\n");
    play.done("debugger", 2, &[("fixed", None)]);
    play.done("validator", 3, &[("validated", Some("PASS"))]);
    play.check(0, "");
    play.done("code-reviewer", 1, &[("first_verdict", Some("CHANGE"))]);
    play.done("debugger", 2, &[("fixed", None)]);
    play.done("codex-reviewer", 1, &[("second_verdict", Some("OK"))]);
    play.done("code-reviewer", 1, &[("first_verdict", Some("OK"))]);
    play.done("codex-reviewer", 1, &[("second_verdict", Some("OK"))]);
    play.done("session", 1, &[]);
    play.stands_in("complete");
    play
}

/// Cancelled by a person while a worker is at it.
fn cancelled() -> Play {
    let mut play = Play::driven(Driver::Headless);
    let request = Happening::Work(WorkEvent::Requested {
        agent: agent_name("gatherer"),
        step: None,
        model: None,
        call: None,
        worker: None,
        service: None,
    });
    play.happen(Who::Engine, request, Evidence::default());
    let cancel = Happening::Person(PersonEvent::CancelAsked {
        reason: "another way".to_owned(),
    });
    play.happen(ann(), cancel, Evidence::default());
    play
}

/// Waits at its question.
pub(crate) fn waiting() -> Play {
    planned(Play::driven(Driver::Headless))
}

fn planned(mut play: Play) -> Play {
    play.done("gatherer", 7, &[("context", None)]);
    play.done(
        "planner",
        1,
        &[("plan", Some("ready")), ("questions", None)],
    );
    play.stands_in("approving");
    play
}

fn all() -> Metrics {
    let mut metrics = Metrics::default();
    for play in [completed(), cancelled(), waiting()] {
        metrics.add(play.metrics());
    }
    metrics
}

#[test]
fn figures_for_people() {
    expect![[r#"
        RUNS
        cancelled  1  ███
        completed  1  ███
        waiting    1  ███
        3 in total; 50.0 % of 2 that ended were completed; a completed run took 54m (p90 54m); turns 34,
        tokens 20400, cost 4.25

        STAGE                ENTERED  MEDIAN  P90  TIME              LEFT WITH
        showcase/approving   2        5m      5m   5m    ███         yes 1
        showcase/building    1        11m     11m  11m   ██████      done 1
        showcase/complete    1        –       –    –
        showcase/debugging   1        3m      3m   3m    █           done 1
        showcase/gathering   3        8m      8m   16m   ██████████  after gatherer 2
        showcase/linting     2        1m      1m   2m    █           failed 1, passed 1
        showcase/planning    2        2m      6m   8m    █████       done 2
        showcase/reviewing   1        11m     11m  11m   ██████      approved 1
        showcase/tidying     1        2m      2m   2m    █           done 1
        showcase/validating  2        2m      4m   6m    ███         passed 2

        AGENT           WORK  AGAIN  MEDIAN  P90  TIME              TURNS  TOKENS  COST  ENDED WITH
        bash-tasks      1     0      3m      3m   3m    ██          2      1200    0.25  done 1
        bash-tests      1     0      5m      5m   5m    ███         2      1200    0.25  done 1
        code-reviewer   2     0      1m      1m   2m    █           4      2400    0.50  approved 1, needs_changes 1
        codex-reviewer  2     0      1m      1m   2m    █           4      2400    0.50  approved 2
        debugger        2     0      2m      2m   4m    ███         4      2400    0.50  done 2
        gatherer        4     0      4m      7m   13m   ██████████  6      3600    0.75  crashed 1, done 2
        planner         3     1      1m      2m   4m    ███         6      3600    0.75  crashed 1, done 2
        session         1     0      1m      1m   1m    █           2      1200    0.25  done 1
        validator       2     0      1m      3m   4m    ███         4      2400    0.50  passed 2

        GATE                GOOD  BAD  WHAT
        showcase/linting    1     1    check
        showcase/reviewing  3     1    review: 2 rounds, 1 fixes, rounds used up 0 times
        GW-R11              0     1    refusals

        WAITED FOR A PERSON  OVER  MEDIAN  P90  TIME              OPEN
        question             1     5m      5m   5m    ██████████  1
        people: answer 1, approval 1, cancel 1
    "#]].assert_eq(&all().text(Paint::Plain));
}

#[test]
fn figures_for_programs() {
    let json = all().json();
    let minutes = |count: u64, total: u64, median: u64, p90: u64, longest: u64| {
        json!({
            "count": count,
            "total_ms": total * 60_000,
            "median_ms": median * 60_000,
            "p90_ms": p90 * 60_000,
            "longest_ms": longest * 60_000,
        })
    };
    let usage = |times: u64| json!({ "turns": 2 * times, "tokens": 1_200 * times, "cost_cents": 25 * times });
    assert_eq!(
        json["runs"],
        json!({
            "total": 3,
            "statuses": { "cancelled": 1, "completed": 1, "waiting": 1 },
            "overridden": 0,
            "success_permille": 500,
            "time": minutes(1, 54, 54, 54, 54),
            "usage": usage(17),
        })
    );
    let of = |list: &str, key: &str, name: &str| {
        let mut found = json[list].as_array().unwrap().iter();
        found.find(|one| one[key] == name).unwrap().clone()
    };
    assert_eq!(
        of("stages", "stage", "planning"),
        json!({
            "pipeline": "showcase",
            "stage": "planning",
            "entered": 2,
            "outcomes": { "done": 2 },
            "time": minutes(2, 8, 2, 6, 6),
        })
    );
    assert_eq!(
        of("agents", "agent", "planner"),
        json!({
            "agent": "planner",
            "dispatches": 3,
            "open": 0,
            "outcomes": { "crashed": 1, "done": 2 },
            "retries": 1,
            "sent_back": 0,
            "time": minutes(3, 4, 1, 2, 2),
            "usage": usage(3),
        })
    );
    assert_eq!(of("agents", "agent", "gatherer")["open"], 1);
    assert_eq!(
        json["checks"],
        json!([{
            "pipeline": "showcase", "stage": "linting", "passed": 1, "failed": 1, "void": 0,
        }])
    );
    assert_eq!(
        json["reviews"],
        json!([{
            "pipeline": "showcase",
            "stage": "reviewing",
            "rounds": 2,
            "approvals": 3,
            "findings": 1,
            "fixes": 1,
            "exceeded": 0,
        }])
    );
    assert_eq!(json["refusals"], json!({ "GW-R11": 1 }));
    assert_eq!(
        json["people"],
        json!({
            "acts": { "answer": 1, "approval": 1, "cancel": 1 },
            "waits": { "question": { "over": minutes(1, 5, 5, 5, 5), "open": minutes(1, 10, 10, 10, 10) } },
        })
    );
}

#[test]
fn the_time_in_the_queue_counts_nowhere() {
    let queued = planned(Play::queued_for_an_hour()).metrics();
    assert_eq!(queued.stages, waiting().metrics().stages);
}

#[test]
fn no_runs_have_no_figures() {
    let none = Metrics::default();
    assert_eq!(none.runs.success_permille(), None);
    assert_eq!(none.json()["runs"]["total"], 0);
    assert_eq!(none.json()["runs"]["success_permille"], Value::Null);
}

/// The figures of two runs are the same, in whatever order they are added.
#[test]
fn the_order_of_runs_does_not_matter() {
    let mut other = Metrics::default();
    for play in [waiting(), completed(), cancelled()] {
        other.add(play.metrics());
    }
    assert_eq!(other.json(), all().json());
}

#[test]
fn what_people_did_is_counted() {
    let play = completed();
    let mut entries = play.entries.clone();
    entries.extend(
        [
            Fact::Overridden {
                stage: stage_name("reviewing"),
                outcome: outcome("approved"),
                reason: "we know".to_owned(),
            },
            Fact::Bypassed {
                until: minutes(900),
                reason: "mending".to_owned(),
            },
            Fact::Reset {
                reason: "again".to_owned(),
                stage: stage_name("gathering"),
            },
        ]
        .map(entry),
    );
    let metrics = counted(&play.pipeline, &entries, minutes(900));
    let acts = json!({
        "answer": 1, "approval": 1, "bypass": 1, "override": 1, "reset": 1,
    });
    assert_eq!(metrics.json()["people"]["acts"], acts);
    assert_eq!(metrics.runs.overridden, 1);
    assert_eq!(metrics.runs.statuses["running"], 1);
}

/// A journal that does not fit is damage, and gives no figures.
#[test]
fn a_damaged_journal_is_told() {
    let play = completed();
    let mut fold = RunFold::new(&play.pipeline);
    assert!(fold.add(&play.entries[1]).is_err());
}
