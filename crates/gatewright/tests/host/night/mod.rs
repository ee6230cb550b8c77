//! A night in fast motion: ten tasks in one repository, with the real Claude Code and Codex.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod belongings;
mod overnight;
mod tasks;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use belongings::Belongings;
use overnight::Overnight;
use tasks::{HELD, LIMITED, TASKS, Task};

/// What the person finds in the morning. The question and the budget are theirs; one task failed its check.
const MORNING: [(&str, &str); 3] = [
    ("r-ask", "waits_for_you"),
    ("r-frugal", "waits_for_you"),
    ("r-broken", "failed"),
];

#[test]
fn ten_tasks_left_alone_become_ten_branches_or_clear_reasons() {
    let night = Overnight::new();
    let base = night.git(&["rev-parse", "HEAD"]);
    TASKS.iter().for_each(|task| night.queue(task));

    // Before midnight: one run is done, one has asked, and three are in the middle of their work.
    let worker = night.begin_worker();
    HELD.iter()
        .for_each(|flag| night.world.model.wait_until_held(flag));
    night.until("one is done", || night.status("r-plain") == "completed");
    night.until("one has asked", || night.status("r-ask") == "waiting");

    // The person goes on working, and commits a line that a run changes, too.
    night.edit_as_the_person();
    let persons = Belongings::of(&night);
    night.crash(worker);
    persons.assert_same(&night, "after the crash");

    let held = HELD.iter().chain([&LIMITED]);
    held.for_each(|flag| night.world.model.release(flag));
    let summary = night.worker();
    persons.assert_same(&night, "after the night");
    assert_morning(&night, &summary);
    assert_limits_were_waited_for(&night);
    assert_killed_work_went_on(&night);
    assert_spending_was_ended_within_the_turn(&night);

    // The answer of the person lets the run go on that has asked.
    night.type_in(&["answer", "r-ask", "yes"]);
    let next = rows(&night.worker());
    assert_eq!(next["r-ask"]["result"], "done", "{next:?}");
    for task in &TASKS {
        assert_task(&night, task, &base);
    }
    persons.assert_same(&night, "in the end");
    assert_eq!(night.git(&["for-each-ref", "refs/gatewright"]), "");
    assert_merges(&night);
    assert_eq!(night.world.model.strangers().len(), 0);
    assert_eq!(night.world.left_over(), Vec::<String>::new());
}

/// The rows of a summary by their run.
fn rows(summary: &Value) -> BTreeMap<String, Value> {
    let rows = summary["runs"].as_array().unwrap().iter();
    rows.map(|row| (row["run"].as_str().unwrap().to_owned(), row.clone()))
        .collect()
}

/// The summary has every run once, with the result that `list` and `status` show.
#[track_caller]
fn assert_morning(night: &Overnight, summary: &Value) {
    let rows = rows(summary);
    assert_eq!(summary["runs"].as_array().unwrap().len(), TASKS.len());
    let expected: BTreeMap<_, _> = MORNING.into_iter().collect();
    let listed = night.json(&["list", "--all"]);
    for task in &TASKS {
        let row = &rows[task.run];
        let result = expected.get(task.run).copied().unwrap_or("done");
        assert_eq!(row["result"], result, "{row}");
        let status = match result {
            "done" => "completed",
            "waits_for_you" => "waiting",
            failed => failed,
        };
        let list = listed["runs"].as_array().unwrap().iter();
        let [in_list] = list.filter(|it| it["run"] == task.run).collect::<Vec<_>>()[..] else {
            panic!("{} is not once in the list", task.run);
        };
        assert_eq!(in_list["status"], status, "{in_list}");
        let shown = night.json(&["status", task.run]);
        assert_eq!(shown["status"], status, "{shown}");
        assert_eq!(shown["place"]["branch"], row["branch"]);
        assert_eq!(row["task"], task.text);
        assert_eq!(row["reason"].is_null(), result == "done", "{row}");
        let next = match result {
            "done" => "merge",
            "failed" => "why",
            _ => "next",
        };
        assert_eq!(row["command"], format!("gatewright {next} {}", task.run));
    }
    let counts = json!({
        "waits_for_you": 2, "failed": 1, "cancelled": 0, "not_done": 0, "not_delivered": 0, "done": 7,
    });
    assert_eq!(summary["counts"], counts);
    let reason = |run: &str| rows[run]["reason"].as_str().unwrap().to_owned();
    assert!(reason("r-ask").contains("Is it enough?"));
    assert!(
        reason("r-frugal").contains("budget"),
        "{}",
        reason("r-frugal")
    );
    assert!(
        reason("r-broken").contains("testing"),
        "{}",
        reason("r-broken")
    );
}

/// Each vendor named the time at which its limit ends, and no attempt was lost.
#[track_caller]
fn assert_limits_were_waited_for(night: &Overnight) {
    for run in ["r-limit-claude", "r-limit-codex"] {
        let limits = night.facts(run, "limited");
        assert_eq!(limits.len(), 1, "{run} {limits:?}");
        assert_eq!(limits[0]["named"], true, "{limits:?}");
        assert_eq!(night.facts(run, "admitted").len(), 1, "{run}");
        assert_eq!(night.facts(run, "retried").len(), 0, "{run}");
    }
}

/// What was at work when the machine crashed went on in its conversation, and did nothing twice.
#[track_caller]
fn assert_killed_work_went_on(night: &Overnight) {
    for run in ["r-crash-claude", "r-crash-codex"] {
        let shown = night.json(&["status", run]);
        let branch = shown["place"]["branch"].as_str().unwrap();
        let trace = night.git(&["show", &format!("{branch}:trace.txt")]);
        assert_eq!(trace, "once", "{run}");
        let actor = format!("maker of {run}");
        assert_eq!(night.world.conversations(&actor).len(), 1, "{run}");
        assert_eq!(night.facts(run, "admitted").len(), 1, "{run}");
    }
}

/// Its model still thinks about the fourth message of the turn.
#[track_caller]
fn assert_spending_was_ended_within_the_turn(night: &Overnight) {
    assert_eq!(night.facts("r-frugal", "ended").len(), 0);
    let shown = night.json(&["status", "r-frugal"]);
    let lines = shown["budget"].as_array().unwrap().iter();
    let tokens = lines.filter(|line| line["what"] == "tokens");
    let [tokens] = tokens.collect::<Vec<_>>()[..] else {
        panic!("{shown}");
    };
    assert!(tokens["used"].as_u64().unwrap() > 100_000, "{tokens}");
    let answered = night.world.model.requests_of(tasks::FRUGAL);
    assert!(answered.len() <= 5, "{} requests", answered.len());
}

/// A run stands where it should, its journal holds, and its worker was told its task.
#[track_caller]
fn assert_task(night: &Overnight, task: &Task, base: &str) {
    let run = task.run;
    night.type_in(&["verify", run]);
    for worker in task.workers {
        let name = task.actor(worker);
        let requests = night.world.model.requests_of(&name);
        let first = requests
            .first()
            .unwrap_or_else(|| panic!("{name} never worked"));
        let told = first.first_message();
        assert!(told.contains(task.text), "{name}: {told}");
    }
    let shown = night.json(&["status", run]);
    let branch = shown["place"]["branch"].as_str().unwrap();
    assert!(
        branch.starts_with(&format!("gatewright/{run}-")),
        "{branch}"
    );
    if !task.is_done_at_last() {
        return;
    }
    assert_eq!(shown["status"], "completed", "{run}");
    let trailer = "--format=%(trailers:key=Gatewright-Run,valueonly)%P %s";
    let commit = night.git(&["log", &format!("{base}..{branch}"), trailer]);
    assert_eq!(commit, format!("{run}\n{base} {}", task.text), "{run}");
    let changed = night.git(&["diff", "--name-only", base, branch]);
    assert_eq!(changed, task.changes.join("\n"), "{run}");
}

/// What nobody else touched comes into the person's tree; what both changed is named, and nothing happens.
#[track_caller]
fn assert_merges(night: &Overnight) {
    let before = Belongings::of(night);
    let told = night.refused(&["merge", "r-edit"]);
    assert_eq!(told["conflicts"], json!(["heading.txt"]), "{told}");
    before.assert_same(night, "after a conflict");
    // Git merges nothing into a tree in which something is staged.
    night.git(&["commit", "--quiet", "--message=three"]);
    night.type_in(&["merge", "r-plain"]);
    assert!(night.world.project.path().join("made/r-plain.txt").exists());
    for (name, text) in [
        ("heading.txt", "The person's heading\n"),
        ("edited.txt", "edited in the night\n"),
        ("staged.txt", "staged, and edited again\n"),
    ] {
        assert_eq!(night.world.project.read(name), text);
    }
}
