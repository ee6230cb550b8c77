//! Every fact in words and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use engine::*;
use expect_test::expect;

use super::example::*;
use crate::fact::{AgentNames, fact_json, sentence};
use crate::{Paint, history};

pub(crate) fn check_result(ended: CheckEnd, tail: &str) -> CheckResult {
    let argv = vec!["ansible-lint".to_owned(), "roles/web".to_owned()];
    CheckResult {
        argv,
        ended,
        duration_ms: 3_449,
        tail: tail.to_owned(),
        matched_failure: false,
        lacks: None,
        programs: Vec::new(),
    }
}

fn dispatch(duty: Duty) -> Fact {
    Fact::Admitted {
        dispatch: Box::new(Dispatch {
            id: DispatchId(3),
            duty,
            agent: agent_name("validator"),
            stage: stage_name("validating"),
            visit: 4,
            attempt: 2,
            session: Some(session_id("s-1")),
            call: Some(name(CallId::parse("toolu_1"))),
            worker: None,
            worked: false,
            sent_back: 0,
            started_at: START,
            paused_at: None,
            service: None,
            conversation: Conversation::Fresh,
            reach: TreeAccess::MayWrite,
            tree: Some(hash(0x77)),
            before: BTreeMap::new(),
        }),
    }
}

fn ended(result: WorkResult) -> Fact {
    Fact::Ended {
        dispatch: DispatchId(3),
        result,
        usage: Usage::default(),
    }
}

fn checked(verdict: CheckVerdict, ended: CheckEnd) -> Fact {
    let results = vec![
        check_result(CheckEnd::Exit(0), ""),
        check_result(ended, "boom"),
    ];
    let tree = TreeAround {
        before: hash(1),
        after: hash(1),
        made: BTreeMap::new(),
    };
    Fact::Checked {
        stage: stage_name("linting"),
        verdict,
        results,
        tree,
    }
}

fn moved(along: MoveReason, counted: Option<u32>, reset: &[&str]) -> Fact {
    Fact::Moved(Box::new(Move {
        from: stage_name("validating"),
        outcome: "failed".to_owned(),
        to: stage_name("debugging"),
        along,
        counted: counted.map(|value| (counter_name("fixes"), value)),
        reset: reset.iter().map(|name| counter_name(name)).collect(),
        resume: None,
    }))
}

/// At least one of every kind.
pub(crate) fn every_fact() -> Vec<Fact> {
    [
        beginnings(),
        works(),
        faults(),
        outside_changes(),
        gates(),
        people(),
    ]
    .concat()
}

fn validating() -> StageName {
    stage_name("validating")
}

fn started(queued: bool) -> Fact {
    Fact::Started(Box::new(Started {
        branch: None,
        id: run_id("r-7f3"),
        definition: hash(0xd0),
        task: "Write the role web".to_owned(),
        params: BTreeMap::new(),
        driver: if queued {
            Driver::Headless
        } else {
            Driver::ByHand
        },
        host: HostName::listed("claude"),
        stage: validating(),
        session: None,
        process: None,
        steps: Vec::new(),
        before: BTreeMap::new(),
        queued,
        environment: None,
        base: None,
        commit: None,
    }))
}

#[rustfmt::skip]
fn beginnings() -> Vec<Fact> {
    vec![
        started(false),
        started(true),
        Fact::Forked { from: run_id("r-1"), entry: 12, state: Box::new(run_in("planning")) },
        Fact::TakenUp,
        Fact::Placed(Box::new(engine::Placed { folder: "/state/places/r-1/p".to_owned(), on: None, before: BTreeMap::new(), base: None })),
        Fact::Relocated(Box::new(engine::Relocation { folder: "/state/places/f-1/p".to_owned(), on: engine::OnMachine { machine: "m".to_owned(), name: "box".to_owned(), environment: engine::Hash([0; 32]) }, commit: "0123456789abcdef".to_owned() })),
        Fact::Delivered(Box::new(engine::Delivered { commit: "0123456789abcdef".to_owned(), pushed: Some("origin".to_owned()), request: Some("https://host/1".to_owned()) })),
        Fact::DeliveryFailed { reason: "not logged in".to_owned() },
        Fact::Attached { session: session_id("s-1"), process: None },
        Fact::Attached { session: session_id("s-1"), process: Some(PROCESS) },
        Fact::Detached { session: session_id("s-1") },
    ]
}

#[rustfmt::skip]
fn works() -> Vec<Fact> {
    let (plan, content) = (artifact_name("plan"), hash(0xa1));
    let usage = Usage { turns: 1, tokens: 200, cost_cents: 105, estimated_cents: None };
    let (step, fault) = (step_id("tasks"), Fault::Crashed);
    vec![
        dispatch(Duty::Work),
        dispatch(Duty::Open),
        dispatch(Duty::Review { reviewer: 1 }),
        dispatch(Duty::Fix { reviewer: 1 }),
        dispatch(Duty::Step { step: step.clone() }),
        Fact::Began { dispatch: DispatchId(3), worker: worker_id("a1b2") },
        Fact::Worked { dispatch: DispatchId(3) },
        Fact::SentBack { dispatch: DispatchId(3), reason: "validated.md is not there".to_owned() },
        ended(WorkResult::Outcome(outcome("passed"))),
        ended(WorkResult::Fault { fault, reason: "it broke".to_owned() }),
        ended(WorkResult::Late),
        ended(WorkResult::Dropped),
        Fact::Ended { dispatch: DispatchId(9), result: WorkResult::Late, usage },
        Fact::Captured { artifact: plan, content, dispatch: Some(DispatchId(3)), step: Some(step), commands: Vec::new() },
        Fact::Captured { artifact: artifact_name("answers"), content, dispatch: None, step: None, commands: Vec::new() },
        Fact::Warned { message: "context is missing".to_owned() },
        Fact::Noted { message: "an end without a beginning".to_owned() },
        Fact::Unevaluated { what: "use 'Read': the store was locked".to_owned() },
        Fact::Refused { what: "begin 'reviewer'".to_owned(), reason: "not in validating".to_owned() },
    ]
}

fn unguarded() -> Unguarded {
    Unguarded {
        witness: Witness::Transcript,
        what: "3 calls of Bash that no hook saw".to_owned(),
        from: START,
        until: Time(START.0 + 61_000),
    }
}

fn outside(author: Author, what: Outside) -> Fact {
    let during = vec![DispatchId(3), DispatchId(9)];
    Fact::ChangedOutside(Box::new(OutsideChange {
        during,
        author,
        what,
    }))
}

fn moved_ref(before: Option<&str>, after: Option<&str>, handling: RefHandling) -> Outside {
    Outside::Ref(MovedRef {
        name: "refs/heads/topic".to_owned(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        handling,
        kept: after.map(|after| format!("refs/gatewright/r-1/moved.{after}")),
    })
}

#[rustfmt::skip]
fn outside_changes() -> Vec<Fact> {
    let (a, b) = (Some("aaaaaaaaaaaaaaaa"), Some("bbbbbbbbbbbbbbbb"));
    let paths: Vec<String> = (1..=7).map(|number| format!("file{number}")).collect();
    vec![
        outside(Author::Worker, moved_ref(a, b, RefHandling::PutBack)),
        outside(Author::Unknown, moved_ref(a, None, RefHandling::Left)),
        outside(Author::Worker, moved_ref(None, b, RefHandling::Failed)),
        outside(Author::Unknown, Outside::Project { paths: paths.clone() }),
        outside(Author::Worker, Outside::Elsewhere { tool: "Write".to_owned(), paths: paths[..1].to_vec() }),
    ]
}

#[rustfmt::skip]
fn faults() -> Vec<Fact> {
    let (fault, step) = (Fault::Crashed, || step_id("tasks"));
    let (stage, reason) = (validating, || "it broke".to_owned());
    vec![
        Fact::Retried { stage: stage(), fault, reason: reason() },
        Fact::StepRetried { stage: stage(), step: step(), fault, reason: reason() },
        Fact::StepFailed { stage: stage(), step: step(), fault, reason: reason() },
        Fact::Stuck { fault, reason: reason() },
        Fact::Unstuck,
        Fact::Held { holds: 2 },
        Fact::Abandoned,
        Fact::WentStale,
        Fact::OverBudget { what: "turns 40 of 40".to_owned() },
        Fact::Halted { reason: "somebody removed `loop.json`".to_owned() },
        Fact::Unguarded(unguarded()),
        Fact::AcceptedUnguarded { number: 2 },
    ]
}

#[rustfmt::skip]
fn gates() -> Vec<Fact> {
    let (stage, artifact, content) = (validating, || artifact_name("plan"), hash(0xa1));
    let (id, title, agent) = (step_id("tasks"), "Tasks".to_owned(), agent_name("bash-writer"));
    let steps = vec![Step { id, title, agent, needs: vec![] }];
    let missing = CheckEnd::CouldNotStart("no such program".to_owned());
    vec![
        checked(CheckVerdict::Passed, CheckEnd::Exit(0)),
        checked(CheckVerdict::Failed, CheckEnd::Exit(2)),
        checked(CheckVerdict::Failed, CheckEnd::Signal(9)),
        checked(CheckVerdict::Failed, CheckEnd::TimedOut),
        checked(CheckVerdict::Void, missing),
        Fact::GatePassed { stage: stage(), gate: Gate::Tree(hash(0x77)) },
        Fact::GatePassed { stage: stage(), gate: Gate::Artifact { artifact: artifact(), content } },
        Fact::ReviewerApproved { stage: stage(), reviewer: 1, subject: hash(0x77) },
        Fact::ReviewerFound { stage: stage(), reviewer: 0 },
        Fact::Fixed { stage: stage(), reviewer: 0 },
        Fact::RoundStarted { stage: stage(), round: 2 },
        Fact::RoundsSpent { stage: stage() },
        Fact::Planned { stage: stage(), steps },
        Fact::StepsRevived { stage: stage() },
        Fact::Approved { artifact: artifact(), content },
        moved(MoveReason::Edge, Some(1), &[]),
        moved(MoveReason::Full(counter_name("fixes")), None, &[]),
        moved(MoveReason::Interrupted, Some(1), &["fixes"]),
        moved(MoveReason::StaleGate, None, &[]),
    ]
}

#[rustfmt::skip]
fn people() -> Vec<Fact> {
    let (stage, state) = (validating, Box::new(run_in("planning")));
    let given = BTreeMap::from([("q1".to_owned(), "yes".to_owned())]);
    let because = |reason: &str| reason.to_owned();
    vec![
        Fact::Answered { stage: stage(), answer: outcome("continue"), given: BTreeMap::new(), words: Some("add a log".to_owned()) },
        Fact::Answered { stage: stage(), answer: outcome("answered"), given, words: None },
        Fact::Overridden { stage: stage(), outcome: outcome("passed"), reason: because("we are late") },
        Fact::Continued { budget_again: false, words: None },
        Fact::Continued { budget_again: true, words: Some("go on".to_owned()) },
        Fact::Cancelled { reason: because("not wanted any more") },
        Fact::Reset { reason: because("begin again"), stage: stage() },
        Fact::Bypassed { until: minutes(30), reason: because("the hook is being mended") },
        Fact::Checkpointed { name: name(CheckpointName::parse("before-lunch")) },
        Fact::Restored { entry: 7, state, reason: because("a wrong turn") },
        Fact::Adopted { machine: "build-1".to_owned(), entry: 7 },
    ]
}

pub(crate) fn entry(fact: Fact) -> Entry {
    Entry {
        at: START,
        by: Who::Session(session_id("s-1")),
        rule: Rule::OutcomeTaken,
        fact,
    }
}

/// After a kill and a resumption no person has moved the run.
#[test]
fn work_that_ended_with_its_session_is_nobodys_decision() {
    for (rule, is_a_persons) in [
        (Rule::SessionOver, false),
        (Rule::NeverBegan, false),
        (Rule::Relocated, false),
        (Rule::WorkerInterrupted, false),
        (Rule::Reset, true),
    ] {
        let entries = [
            entry(dispatch(Duty::Work)),
            Entry {
                rule,
                ..entry(ended(WorkResult::Dropped))
            },
        ];
        let names = AgentNames::of(&entries);
        let said = sentence(&entries[1], &names).line();
        assert_eq!(said.contains("a person moved"), is_a_persons, "{said}");
    }
}

#[test]
fn every_fact_has_its_sentence() {
    let entries: Vec<_> = every_fact().into_iter().map(entry).collect();
    let names = AgentNames::of(&entries);
    let sentences: Vec<_> = entries
        .iter()
        .map(|entry| sentence(entry, &names).line())
        .collect();
    expect![[r#"
        the run started at validating (by hand, unwitnessed): Write the role web
        the run was queued, to start at validating (headless): Write the role web
        the run continues from entry 12 of r-1, in planning
        a worker picked up the queued run
        the run works in its own worktree /state/places/r-1/p
        box continues the run from the tree in commit 0123456789ab; work that was under way restarts
        delivered as commit 0123456789ab, pushed to origin, request https://host/1
        the work could not be delivered: not logged in
        session s-1 holds the run
        session s-1 holds the run
        session s-1 ended and released the run
        'validator' (d3) was admitted to validating, attempt 2
        'validator' (d3) was admitted to validating, attempt 2
        'validator' (d3) was admitted to validating as reviewer 2, attempt 2
        'validator' (d3) was admitted to validating to fix what reviewer 2 found, attempt 2
        'validator' (d3) was admitted to validating for step tasks
        'validator' (d3) started as worker a1b2
        'validator' (d3) used a tool
        'validator' (d3) was sent back to work: validated.md is not there
        'validator' (d3) ended: passed
        'validator' (d3) ended with crashed: it broke
        'validator' (d3) ended after the run had left its stage, without effect
        'validator' (d3) was dropped, because a person moved the run
        the work d9 ended after the run had left its stage, without effect (turns 1, tokens 200, cost 1.05)
        captured plan for step tasks as a1a1a1a1, written by 'validator' (d3)
        captured answers as a1a1a1a1
        warning: context is missing
        noted without effect: an end without a beginning
        NOT JUDGED, the host continued: use 'Read': the store was locked
        refused to begin 'reviewer': not in validating
        validating is retried after crashed: it broke
        step tasks of validating is retried after crashed: it broke
        step tasks of validating failed with crashed: it broke
        a person is needed: the work failed with crashed: it broke
        the run can continue
        the session tried to stop and was held (hold 2)
        the session stopped before the work was done
        nothing happened for longer than the time to live
        the budget is used up: turns 40 of 40
        the run was stopped: somebody removed `loop.json`
        UNGUARDED from 2026-08-22T10:00:00Z to 2026-08-22T10:01:01Z: 3 calls of Bash that no hook saw
        a person accepted 2 pieces of unguarded work
        'validator' (d3) and the work d9 moved refs/heads/topic from aaaaaaaaaa to bbbbbbbbbb: it is put back, and refs/gatewright/r-1/moved.bbbbbbbbbbbbbbbb keeps the other value
        while 'validator' (d3) and the work d9 worked, somebody deleted refs/heads/topic, which was at aaaaaaaaaa: it stays so
        'validator' (d3) and the work d9 made refs/heads/topic at bbbbbbbbbb: it could not be put back, and refs/gatewright/r-1/moved.bbbbbbbbbbbbbbbb keeps the other value
        files of the project changed while 'validator' (d3) and the work d9 worked in a worktree: file1, file2, file3, file4, file5 and 2 more; gatewright does not know who changed them, and leaves them
        'validator' (d3) and the work d9 asked to write outside the project with Write, and was not stopped: file1
        the check linting passed (2 commands)
        the check linting failed (2 commands): ansible-lint roles/web: exit 2 after 3.4 s
        the check linting failed (2 commands): ansible-lint roles/web: killed by signal 9 after 3.4 s
        the check linting failed (2 commands): ansible-lint roles/web: timed out after 3.4 s
        the check linting gave no verdict (2 commands)
        validating passed on tree 77777777
        validating passed on plan a1a1a1a1
        reviewer 2 ('validator') approved 77777777
        reviewer 1 found problems
        the owner fixed what reviewer 1 found
        round 2 of validating started
        the rounds of validating are used up
        1 step of validating planned: tasks
        the failed steps of validating can be retried
        approved plan as a1a1a1a1
        validating → debugging: failed; fixes is now 1
        validating → debugging: failed; fixes is full
        validating → debugging: failed; back to where it was interrupted; fixes is reset; fixes is now 1
        validating → debugging: failed; what debugging had checked has changed
        validating was answered: continue: "add a log"
        validating was answered: answered, 1 answer
        OVERRIDDEN: validating skipped as passed because: we are late
        a person let the run continue
        a person let the run continue and renewed its budget: "go on"
        the run was cancelled because: not wanted any more
        the run was reset to validating because: begin again
        NOT GUARDED until 2026-08-22T10:30:00Z because: the hook is being mended
        checkpoint before-lunch
        restored to entry 7, in planning, because: a wrong turn
        the run was adopted from build-1 at entry 7; what came later there is unknown"#]].assert_eq(&sentences.join("\n"));
}

#[test]
fn every_fact_has_its_kind_and_all_that_it_says() {
    let lines: Vec<_> = every_fact()
        .iter()
        .map(|fact| fact_json(fact).to_string())
        .collect();
    expect![[r#"
        {"kind":"started","run":"r-7f3","definition":"d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0","task":"Write the role web","params":{},"driver":"by_hand","stage":"validating","session":null,"process":null,"steps":[],"queued":false}
        {"kind":"started","run":"r-7f3","definition":"d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0","task":"Write the role web","params":{},"driver":"headless","stage":"validating","session":null,"process":null,"steps":[],"queued":true}
        {"kind":"forked","from":"r-1","entry":12,"stage":"planning"}
        {"kind":"taken_up"}
        {"kind":"placed","folder":"/state/places/r-1/p","machine":null}
        {"kind":"relocated","folder":"/state/places/f-1/p","machine":"box","commit":"0123456789abcdef"}
        {"kind":"delivered","commit":"0123456789abcdef","pushed":"origin","request":"https://host/1"}
        {"kind":"delivery_failed","reason":"not logged in"}
        {"kind":"attached","session":"s-1","process":null}
        {"kind":"attached","session":"s-1","process":{"id":4242,"started":987654}}
        {"kind":"detached","session":"s-1"}
        {"kind":"admitted","dispatch":"d3","agent":"validator","duty":{"kind":"work"},"stage":"validating","visit":4,"attempt":2,"session":"s-1","call":"toolu_1","worker":null,"conversation":"fresh","reach":"may_write","started_at":"2026-08-22T10:00:00Z","tree":"7777777777777777777777777777777777777777777777777777777777777777","before":{}}
        {"kind":"admitted","dispatch":"d3","agent":"validator","duty":{"kind":"open"},"stage":"validating","visit":4,"attempt":2,"session":"s-1","call":"toolu_1","worker":null,"conversation":"fresh","reach":"may_write","started_at":"2026-08-22T10:00:00Z","tree":"7777777777777777777777777777777777777777777777777777777777777777","before":{}}
        {"kind":"admitted","dispatch":"d3","agent":"validator","duty":{"kind":"review","reviewer":2},"stage":"validating","visit":4,"attempt":2,"session":"s-1","call":"toolu_1","worker":null,"conversation":"fresh","reach":"may_write","started_at":"2026-08-22T10:00:00Z","tree":"7777777777777777777777777777777777777777777777777777777777777777","before":{}}
        {"kind":"admitted","dispatch":"d3","agent":"validator","duty":{"kind":"fix","reviewer":2},"stage":"validating","visit":4,"attempt":2,"session":"s-1","call":"toolu_1","worker":null,"conversation":"fresh","reach":"may_write","started_at":"2026-08-22T10:00:00Z","tree":"7777777777777777777777777777777777777777777777777777777777777777","before":{}}
        {"kind":"admitted","dispatch":"d3","agent":"validator","duty":{"kind":"step","step":"tasks"},"stage":"validating","visit":4,"attempt":2,"session":"s-1","call":"toolu_1","worker":null,"conversation":"fresh","reach":"may_write","started_at":"2026-08-22T10:00:00Z","tree":"7777777777777777777777777777777777777777777777777777777777777777","before":{}}
        {"kind":"began","dispatch":"d3","worker":"a1b2"}
        {"kind":"worked","dispatch":"d3"}
        {"kind":"sent_back","dispatch":"d3","reason":"validated.md is not there"}
        {"kind":"ended","dispatch":"d3","result":{"kind":"outcome","outcome":"passed"},"used":{"turns":0,"tokens":0,"cost_cents":0}}
        {"kind":"ended","dispatch":"d3","result":{"kind":"fault","fault":"crashed","reason":"it broke"},"used":{"turns":0,"tokens":0,"cost_cents":0}}
        {"kind":"ended","dispatch":"d3","result":{"kind":"late"},"used":{"turns":0,"tokens":0,"cost_cents":0}}
        {"kind":"ended","dispatch":"d3","result":{"kind":"dropped"},"used":{"turns":0,"tokens":0,"cost_cents":0}}
        {"kind":"ended","dispatch":"d9","result":{"kind":"late"},"used":{"turns":1,"tokens":200,"cost_cents":105}}
        {"kind":"captured","artifact":"plan","content":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","dispatch":"d3","step":"tasks","commands":[]}
        {"kind":"captured","artifact":"answers","content":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","dispatch":null,"step":null,"commands":[]}
        {"kind":"warned","message":"context is missing"}
        {"kind":"noted","message":"an end without a beginning"}
        {"kind":"unevaluated","what":"use 'Read': the store was locked"}
        {"kind":"refused","what":"begin 'reviewer'","reason":"not in validating"}
        {"kind":"retried","stage":"validating","fault":"crashed","reason":"it broke"}
        {"kind":"step_retried","stage":"validating","step":"tasks","fault":"crashed","reason":"it broke"}
        {"kind":"step_failed","stage":"validating","step":"tasks","fault":"crashed","reason":"it broke"}
        {"kind":"stuck","fault":"crashed","reason":"it broke"}
        {"kind":"unstuck"}
        {"kind":"held","holds":2}
        {"kind":"abandoned"}
        {"kind":"went_stale"}
        {"kind":"over_budget","what":"turns 40 of 40"}
        {"kind":"halted","reason":"somebody removed `loop.json`"}
        {"kind":"unguarded","witness":"transcript","what":"3 calls of Bash that no hook saw","from":"2026-08-22T10:00:00Z","until":"2026-08-22T10:01:01Z"}
        {"kind":"accepted_unguarded","number":2}
        {"kind":"changed_outside","during":["d3","d9"],"author":"worker","what":"ref","name":"refs/heads/topic","before":"aaaaaaaaaaaaaaaa","after":"bbbbbbbbbbbbbbbb","handling":"put_back","kept":"refs/gatewright/r-1/moved.bbbbbbbbbbbbbbbb"}
        {"kind":"changed_outside","during":["d3","d9"],"author":"unknown","what":"ref","name":"refs/heads/topic","before":"aaaaaaaaaaaaaaaa","after":null,"handling":"left","kept":null}
        {"kind":"changed_outside","during":["d3","d9"],"author":"worker","what":"ref","name":"refs/heads/topic","before":null,"after":"bbbbbbbbbbbbbbbb","handling":"failed","kept":"refs/gatewright/r-1/moved.bbbbbbbbbbbbbbbb"}
        {"kind":"changed_outside","during":["d3","d9"],"author":"unknown","what":"project","paths":["file1","file2","file3","file4","file5","file6","file7"]}
        {"kind":"changed_outside","during":["d3","d9"],"author":"worker","what":"elsewhere","tool":"Write","paths":["file1"]}
        {"kind":"checked","stage":"linting","verdict":"passed","results":[{"argv":["ansible-lint","roles/web"],"ended":"exit","code":0,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"","programs":[]},{"argv":["ansible-lint","roles/web"],"ended":"exit","code":0,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"boom","programs":[]}],"tree_before":"0101010101010101010101010101010101010101010101010101010101010101","tree_after":"0101010101010101010101010101010101010101010101010101010101010101","made":[]}
        {"kind":"checked","stage":"linting","verdict":"failed","results":[{"argv":["ansible-lint","roles/web"],"ended":"exit","code":0,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"","programs":[]},{"argv":["ansible-lint","roles/web"],"ended":"exit","code":2,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"boom","programs":[]}],"tree_before":"0101010101010101010101010101010101010101010101010101010101010101","tree_after":"0101010101010101010101010101010101010101010101010101010101010101","made":[]}
        {"kind":"checked","stage":"linting","verdict":"failed","results":[{"argv":["ansible-lint","roles/web"],"ended":"exit","code":0,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"","programs":[]},{"argv":["ansible-lint","roles/web"],"ended":"signal","code":9,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"boom","programs":[]}],"tree_before":"0101010101010101010101010101010101010101010101010101010101010101","tree_after":"0101010101010101010101010101010101010101010101010101010101010101","made":[]}
        {"kind":"checked","stage":"linting","verdict":"failed","results":[{"argv":["ansible-lint","roles/web"],"ended":"exit","code":0,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"","programs":[]},{"argv":["ansible-lint","roles/web"],"ended":"timed_out","code":null,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"boom","programs":[]}],"tree_before":"0101010101010101010101010101010101010101010101010101010101010101","tree_after":"0101010101010101010101010101010101010101010101010101010101010101","made":[]}
        {"kind":"checked","stage":"linting","verdict":"void","results":[{"argv":["ansible-lint","roles/web"],"ended":"exit","code":0,"reason":null,"duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"","programs":[]},{"argv":["ansible-lint","roles/web"],"ended":"could_not_start","code":null,"reason":"no such program","duration_ms":3449,"matched_failure":false,"lacks":null,"tail":"boom","programs":[]}],"tree_before":"0101010101010101010101010101010101010101010101010101010101010101","tree_after":"0101010101010101010101010101010101010101010101010101010101010101","made":[]}
        {"kind":"gate_passed","stage":"validating","passed_on":{"tree":"7777777777777777777777777777777777777777777777777777777777777777"}}
        {"kind":"gate_passed","stage":"validating","passed_on":{"artifact":"plan","content":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"}}
        {"kind":"reviewer_approved","stage":"validating","reviewer":2,"subject":"7777777777777777777777777777777777777777777777777777777777777777"}
        {"kind":"reviewer_found","stage":"validating","reviewer":1}
        {"kind":"fixed","stage":"validating","reviewer":1}
        {"kind":"round_started","stage":"validating","round":2}
        {"kind":"rounds_spent","stage":"validating"}
        {"kind":"planned","stage":"validating","steps":[{"id":"tasks","title":"Tasks","agent":"bash-writer","needs":[]}]}
        {"kind":"steps_revived","stage":"validating"}
        {"kind":"approved","artifact":"plan","content":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"}
        {"kind":"moved","from":"validating","outcome":"failed","to":"debugging","along":"edge","full":null,"counted":{"counter":"fixes","value":1},"reset":[],"resume":null}
        {"kind":"moved","from":"validating","outcome":"failed","to":"debugging","along":"full","full":"fixes","counted":null,"reset":[],"resume":null}
        {"kind":"moved","from":"validating","outcome":"failed","to":"debugging","along":"interrupted","full":null,"counted":{"counter":"fixes","value":1},"reset":["fixes"],"resume":null}
        {"kind":"moved","from":"validating","outcome":"failed","to":"debugging","along":"stale_gate","full":null,"counted":null,"reset":[],"resume":null}
        {"kind":"answered","stage":"validating","answer":"continue","given":{},"words":"add a log"}
        {"kind":"answered","stage":"validating","answer":"answered","given":{"q1":"yes"}}
        {"kind":"overridden","stage":"validating","outcome":"passed","reason":"we are late"}
        {"kind":"continued","budget_again":false}
        {"kind":"continued","budget_again":true,"words":"go on"}
        {"kind":"cancelled","reason":"not wanted any more"}
        {"kind":"reset","stage":"validating","reason":"begin again"}
        {"kind":"bypassed","until":"2026-08-22T10:30:00Z","reason":"the hook is being mended"}
        {"kind":"checkpointed","name":"before-lunch"}
        {"kind":"restored","entry":7,"stage":"planning","reason":"a wrong turn"}
        {"kind":"adopted","machine":"build-1","entry":7}"#]].assert_eq(&lines.join("\n"));
    let facts = every_fact();
    let kinds: BTreeSet<_> = facts
        .iter()
        .map(|fact| fact_json(fact)["kind"].to_string())
        .collect();
    let variants: BTreeSet<_> = facts
        .iter()
        .map(|fact| format!("{:?}", std::mem::discriminant(fact)))
        .collect();
    assert_eq!(kinds.len(), variants.len());
}

#[test]
fn a_history_has_a_line_for_each_entry() {
    let people = [
        Who::Person("ann".to_owned()),
        Who::Unattended("ci".to_owned()),
        Who::Session(session_id("s-1")),
        Who::Engine,
        Who::Agent("CLAUDECODE is set".to_owned()),
        Who::Through(session_id("s-1")),
    ];
    let facts = [
        Fact::TakenUp,
        Fact::Unstuck,
        Fact::Abandoned,
        Fact::WentStale,
        Fact::TakenUp,
        Fact::Unstuck,
    ];
    let entries: Vec<_> = people
        .into_iter()
        .zip(facts)
        .enumerate()
        .map(|(minute, (by, fact))| Entry {
            at: minutes(minute as u64),
            by,
            rule: Rule::Quiet,
            fact,
        })
        .collect();
    let view = history((8..).zip(&entries));
    expect![[r#"
        #   TIME                  WHO                           RULE    WHAT
         8  2026-08-22T10:00:00Z  ann                           GW-R94  a worker picked up the queued run
         9  2026-08-22T10:01:00Z  ci (unattended)               GW-R94  the run can continue
        10  2026-08-22T10:02:00Z  session s-1                   GW-R94  the session stopped before the work was done
        11  2026-08-22T10:03:00Z  gatewright                    GW-R94  nothing happened for longer than the time to live
        12  2026-08-22T10:04:00Z  an agent (CLAUDECODE is set)  GW-R94  a worker picked up the queued run
        13  2026-08-22T10:05:00Z  a person in session s-1       GW-R94  the run can continue
    "#]].assert_eq(&view.text(Paint::Plain));
    assert_eq!(view.json()[2]["entry"], 10);
    assert_eq!(view.json()[1]["by"]["kind"], "unattended");
    assert_eq!(view.json()[4]["by"]["kind"], "agent");
    assert_eq!(view.json()[5]["by"]["kind"], "through");
    assert_eq!(view.json()[0]["rule"], "GW-R94");
}
