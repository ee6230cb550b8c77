//! Runs of a fleet: queued on one machine, driven on others, and nothing is lost when a machine dies.
//!
//! A machine is a home of its own; all share one real PostgreSQL and one bare repository.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use testkit::database::Server;
use testkit::pipelines::TWO;

use super::fixture::{ONE, World, says, until};
use super::owners::{ASKS, at_work, let_go, works_until_let_go};
use super::under_way::is_alive;

/// A check, and then a question at the very end: its answer is judged with the tree.
pub(crate) const ASKS_AT_THE_END: &str = r#"
name  = "asks-last"
about = "Write a note, check it, and ask."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "testing"

[stages.testing]
check     = ["grep -q note note.txt"]
on.passed = "asking"
on.failed = "stopped"

[stages.asking]
ask    = "Good?"
on.yes = "complete"
on.no  = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// The first stage is done at once; the second works until it is let go.
const SECOND_WAITS: &str = r#"
if [ "$GATEWRIGHT_STAGE" = writing ]; then echo "written" > note.txt; exit 0; fi
echo "half" > half.txt
echo "$$" >> "$here/workers"
while [ ! -e "$here/go" ]; do sleep 0.05; done
echo "ended after $(cat note.txt)" > end.txt
"#;

pub(crate) struct Fleet {
    pub server: Server,
    remote: TempDir,
    /// Where runs are started; its script plays the agents everywhere.
    pub laptop: World,
}

impl Fleet {
    pub(crate) fn new(pipeline: &str, script: &str) -> Self {
        let server = Server::start();
        let address = server.database("team");
        let laptop = World::with(pipeline, script);
        let remote = TempDir::new().unwrap();
        let fleet = Self {
            server,
            remote,
            laptop,
        };
        fleet.git(&["init", "--quiet", "--bare"]);
        let git = |line: &str| fleet.laptop.project.git(line.split(' ')).succeeds();
        git("config user.name Somebody");
        git("config user.email somebody@localhost");
        git("symbolic-ref HEAD refs/heads/main");
        fleet.laptop.project.write("a.txt", "first\n");
        git("add a.txt pipeline.toml");
        git("commit --quiet --message=one");
        git(&format!(
            "remote add origin {}",
            fleet.remote.path().display()
        ));
        fleet
            .laptop
            .gatewright(&format!("fleet setup {address}"))
            .succeeds();
        fleet.join(&fleet.laptop, "laptop", "");
        fleet
    }

    pub(crate) fn join(&self, world: &World, name: &str, more: &str) {
        let address = self.server.address("team");
        let line = format!("fleet join {address} --name {name} {more}");
        world.gatewright(&line).succeeds();
    }

    /// One more machine, with a home of its own.
    pub(crate) fn machine(&self, name: &str, more: &str) -> World {
        let world = World::new(testkit::Project::new(super::fixture::PROGRAM), "exit 1");
        self.join(&world, name, more);
        world
    }

    pub(crate) fn queue(&self, run: &str, more: &str) -> testkit::Ran {
        let agent = self.laptop.programs().join("agent");
        self.laptop.gatewright(&format!(
            "start pipeline.toml --queue --fleet --task change-{run} --id {run} --stand-in {} {more}",
            agent.display()
        ))
    }

    /// The remote takes nothing while this hook is there.
    pub(crate) fn close_remote(&self) -> PathBuf {
        let hook = self.remote.path().join("hooks/pre-receive");
        std::fs::write(&hook, "#!/bin/sh\necho closed >&2\nexit 1\n").unwrap();
        testkit::make_executable(&hook);
        hook
    }

    /// The remote takes what is pushed, and deletes nothing.
    pub(crate) fn remote_deletes_nothing(&self) {
        let hook = self.remote.path().join("hooks/pre-receive");
        let script =
            "#!/bin/sh\n! grep -q '^[0-9a-f]* 0000000000000000000000000000000000000000 '\n";
        std::fs::write(&hook, script).unwrap();
        testkit::make_executable(&hook);
    }

    pub(crate) fn remote_path(&self) -> &str {
        self.remote.path().to_str().unwrap()
    }

    /// What git says in the bare repository.
    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        let ended = command
            .arg("-C")
            .arg(self.remote.path())
            .args(words)
            .output();
        String::from_utf8(ended.unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned()
    }

    pub(crate) fn at_branch(&self, run: &str, file: &str) -> String {
        self.git(&["show", &format!("gatewright/{run}-change-{run}:{file}")])
    }

    /// Waits until nothing is left to do about a run.
    pub(crate) fn is_delivered(&self, run: &str) {
        let count = format!("SELECT count(*) FROM gatewright.queue WHERE run = '{run}'");
        until("the run is delivered", || {
            self.server.sql("team", &count) == "0"
        });
    }

    fn machines_of(&self, run: &str, kind: &str) -> Vec<String> {
        let found = self.laptop.history_of(run, kind);
        let names = found.iter().map(|entry| entry["fact"]["machine"].as_str());
        names.map(|name| name.unwrap().to_owned()).collect()
    }
}

#[test]
fn another_machine_drives_a_queued_run_and_everybody_sees_it() {
    let fleet = Fleet::new(TWO, "echo note > note.txt; echo end > end.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "queued");
    // A worker of the machine's own runs leaves it alone.
    fleet.laptop.gatewright("worker --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "queued");

    // What is only for runs at home says so, and changes nothing.
    for line in ["queue f-1 --first", "fork f-1 --at 1"] {
        fleet.laptop.gatewright(line).exits(1);
    }
    let ran = build.gatewright("worker --fleet --once").succeeds();
    says(&ran.stdout, "f-1");
    let refused = fleet.laptop.gatewright("check f-1");
    assert_ne!(refused.code, Some(0), "{refused}");
    for machine in [&fleet.laptop, &build] {
        assert_eq!(machine.status("f-1"), "completed");
        machine.gatewright("verify f-1").succeeds();
    }
    assert_eq!(fleet.machines_of("f-1", "placed"), ["build"]);
    assert_eq!(fleet.at_branch("f-1", "note.txt"), "note");
    assert_eq!(fleet.at_branch("f-1", "a.txt"), "first");
    // Nothing of it stays in the remote but the branch, and nothing of it is in the store at home.
    let refs = ["for-each-ref", "--format=%(refname)", "refs/gatewright"];
    assert_eq!(fleet.git(&refs), "");
    fleet.laptop.gatewright("fleet leave").succeeds();
    let runs = &fleet.laptop.facts("list --all")["runs"];
    assert_eq!(runs.as_array().unwrap().len(), 0);
    assert!(!fleet.laptop.is_there("note.txt"));
}

#[test]
fn a_run_goes_on_elsewhere_when_its_machine_dies() {
    let fleet = Fleet::new(TWO, SECOND_WAITS);
    let (one, two) = (fleet.machine("one", ""), fleet.machine("two", ""));
    fleet.queue("f-1", "").succeeds();
    let lost = one.begin("worker --fleet");
    at_work(&fleet.laptop, 1);
    lost.kill();
    let orphan = fleet.laptop.noted("workers")[0].clone();
    until("its agent has ended with it", || !is_alive(&orphan));

    let next = two.begin("worker --fleet");
    at_work(&fleet.laptop, 2);
    let_go(&fleet.laptop);
    fleet.is_delivered("f-1");
    next.interrupt();
    next.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    assert_eq!(fleet.machines_of("f-1", "relocated"), ["two"]);
    // The first stage was not done again, and what it left came along.
    assert_eq!(fleet.laptop.starts(), ["writing", "ending", "ending"]);
    assert_eq!(fleet.at_branch("f-1", "end.txt"), "ended after written");
    assert_eq!(fleet.at_branch("f-1", "note.txt"), "written");
    let admitted = fleet.laptop.history_of("f-1", "admitted");
    let attempts: Vec<_> = admitted
        .iter()
        .map(|it| it["fact"]["attempt"].clone())
        .collect();
    assert_eq!(attempts, [1, 1, 1]);
    let history = fleet.laptop.gatewright("history f-1").succeeds().stdout;
    assert!(!history.contains("a person moved"), "{history}");
    says(&history, "GW-R133");
    says(&history, "new conversation");
    fleet.laptop.gatewright("verify f-1").succeeds();
}

#[test]
fn a_machine_that_dies_after_the_push_of_a_tree_and_before_its_note_leaves_the_tree_before() {
    let fleet = Fleet::new(TWO, SECOND_WAITS);
    let (one, two) = (fleet.machine("one", ""), fleet.machine("two", ""));
    fleet.queue("f-1", "").succeeds();
    let lost = one.begin("worker --fleet");
    at_work(&fleet.laptop, 1);
    // The next push arrives, and then its machine is dead.
    let hook = fleet.remote.path().join("hooks/post-receive");
    std::fs::write(&hook, format!("#!/bin/sh\nkill -KILL {}\n", lost.id)).unwrap();
    testkit::make_executable(&hook);
    let_go(&fleet.laptop);
    lost.end();
    std::fs::remove_file(&hook).unwrap();

    let next = two.begin("worker --fleet");
    fleet.is_delivered("f-1");
    next.interrupt();
    next.end().exits(130);
    assert_eq!(fleet.machines_of("f-1", "relocated"), ["two"]);
    assert_eq!(fleet.laptop.starts(), ["writing", "ending", "ending"]);
    assert_eq!(fleet.at_branch("f-1", "end.txt"), "ended after written");
    fleet.laptop.gatewright("verify f-1").succeeds();
}

#[test]
fn a_machine_that_wakes_up_late_writes_nothing_and_ends_its_agents() {
    let fleet = Fleet::new(TWO, SECOND_WAITS);
    let (one, two) = (fleet.machine("one", ""), fleet.machine("two", ""));
    fleet.queue("f-1", "").succeeds();
    let asleep = one.begin("worker --fleet");
    at_work(&fleet.laptop, 1);
    asleep.signal(Signal::STOP);
    let next = two.begin("worker --fleet");
    at_work(&fleet.laptop, 2);
    asleep.signal(Signal::CONT);
    let late = fleet.laptop.noted("workers")[0].clone();
    until("the agent of the late one has ended", || !is_alive(&late));
    let_go(&fleet.laptop);
    fleet.is_delivered("f-1");
    next.interrupt();
    next.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    let ends = fleet.laptop.history_of("f-1", "ended");
    let results: Vec<_> = ends.iter().map(|it| it["fact"]["result"].clone()).collect();
    assert_eq!(ends.len(), 3, "{results:?}");
    asleep.interrupt();
    says(&asleep.end().stderr, "drives f-1 now");
    fleet.laptop.gatewright("verify f-1").succeeds();
}

#[test]
fn a_person_answers_and_cancels_from_any_machine() {
    let fleet = Fleet::new(ASKS_AT_THE_END, "echo note > note.txt");
    let (build, other) = (fleet.machine("build", ""), fleet.machine("other", ""));
    fleet.queue("f-1", "").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "waiting");
    // Nobody takes it until somebody answers.
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "waiting");
    // A copy of the tree that a kill left half-made is made again: otherwise the check would be stale.
    let copies = other.project.state().join("fleet-copies/f-1");
    let kept = fleet
        .server
        .sql("team", "SELECT tree FROM gatewright.queue");
    std::fs::create_dir_all(copies.join(&kept)).unwrap();
    std::fs::write(copies.join(&kept).join(".git"), "gitdir: nowhere").unwrap();
    other.gatewright("answer f-1 yes").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    // The machine that has the work delivers it.
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.at_branch("f-1", "note.txt"), "note");

    fleet.queue("f-2", "").succeeds();
    other.gatewright("cancel f-2 --reason over").succeeds();
    assert_eq!(build.status("f-2"), "cancelled");
}

#[test]
fn a_run_is_cancelled_while_another_machine_works_on_it() {
    let fleet = Fleet::new(ONE, &works_until_let_go(""));
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    let worker = build.begin("worker --fleet --once");
    at_work(&fleet.laptop, 1);
    let agent = fleet.laptop.noted("workers")[0].clone();
    fleet
        .laptop
        .gatewright("cancel f-1 --reason enough")
        .succeeds();
    worker.end().succeeds();
    assert!(!is_alive(&agent));
    assert_eq!(build.status("f-1"), "cancelled");
}

#[test]
fn a_question_is_answered_before_the_work() {
    let fleet = Fleet::new(ASKS, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    fleet.laptop.gatewright("answer f-1 yes").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
}

#[test]
fn labels_choose_the_machine() {
    let fleet = Fleet::new(ONE, "echo \"$HOME\" > note.txt");
    let (plain, gpu) = (
        fleet.machine("plain", ""),
        fleet.machine("gpu", "--label linux"),
    );
    let queued = fleet.queue("f-1", "--label gpu --label linux").succeeds();
    says(
        &queued.stderr,
        "no machine of the fleet has the labels gpu, linux",
    );
    plain.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "queued");
    gpu.gatewright("worker --fleet --once --label gpu")
        .succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    let home = gpu.project.home();
    assert_eq!(PathBuf::from(fleet.at_branch("f-1", "note.txt")), home);
}

#[test]
fn what_cannot_be_queued_is_said_in_one_line_and_stores_nothing() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let count = || {
        fleet
            .server
            .sql("team", "SELECT count(*) FROM gatewright.runs")
    };
    let git = |line: &str| fleet.laptop.project.git(line.split(' ')).succeeds();
    let hook = fleet.close_remote();
    let refused = fleet.queue("f-1", "").exits(4);
    says(&refused.stderr, "does not take the tree of f-1");
    std::fs::remove_file(&hook).unwrap();

    let refused = fleet.queue("r-1", "");
    says(&refused.stderr, "must begin with `f-`");
    git("remote set-url origin https://ada:secret@localhost/shop.git");
    let refused = fleet.queue("f-1", "");
    says(&refused.stderr, "has a password");
    git("remote remove origin");
    let refused = fleet.queue("f-1", "");
    says(&refused.stderr, "has no remote origin");
    assert_eq!(count(), "0");

    let alone = World::with(ONE, "exit 1");
    let refused = alone.gatewright("start pipeline.toml --queue --fleet --task x");
    says(&refused.stderr, "has not joined a fleet");
    says(
        &alone.gatewright("status f-1").stderr,
        "has not joined a fleet",
    );
}

#[test]
fn a_run_that_no_machine_can_drive_is_set_aside_and_can_be_put_back() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    fleet
        .server
        .sql("team", "UPDATE gatewright.queue SET settings = 'x'");
    for _ in 0..5 {
        fleet
            .server
            .sql("team", "UPDATE gatewright.queue SET not_before = 0");
        build.gatewright("worker --fleet --once").exits(1);
    }
    fleet
        .server
        .sql("team", "UPDATE gatewright.queue SET not_before = 0");
    build.gatewright("worker --fleet --once").succeeds();
    let aside = fleet
        .server
        .sql("team", "SELECT set_aside FROM gatewright.queue");
    says(&aside, "cannot read the settings of f-1");
    for screen in ["fleet status", "queue"] {
        let shown = fleet.laptop.gatewright(screen).succeeds();
        says(&shown.stdout, "gatewright resume f-1");
    }
    fleet
        .server
        .sql("team", "UPDATE gatewright.queue SET settings = '{}'");
    fleet.laptop.gatewright("resume f-1").succeeds();
    let tries = "SELECT tries FROM gatewright.queue WHERE set_aside IS NULL";
    assert_eq!(fleet.server.sql("team", tries), "0");
}

#[test]
fn lists_and_questions_of_fleet_and_home_are_shown_together() {
    let fleet = Fleet::new(ASKS, "echo note > note.txt");
    let build = fleet.machine("build", "");
    let agent = fleet.laptop.programs().join("agent");
    let here = format!(
        "run pipeline.toml --task try --id r-1 --stand-in {}",
        agent.display()
    );
    fleet.laptop.gatewright(&here).exits(6);
    fleet.queue("f-1", "").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    fleet.queue("f-2", "--label gpu").succeeds();

    let runs = |facts: &Value| -> Vec<String> {
        let rows = facts.as_array().unwrap().iter();
        rows.map(|row| row["run"].as_str().unwrap().to_owned())
            .collect()
    };
    let listed = fleet.laptop.facts("list");
    assert_eq!(runs(&listed["runs"]), ["r-1", "f-2", "f-1"]);
    assert_eq!(listed["waiting_runs"], 2);
    assert_eq!(runs(&fleet.laptop.facts("inbox")["inbox"]), ["r-1", "f-1"]);
    assert_eq!(runs(&build.facts("inbox")["inbox"]), ["f-1"]);
    let queue = fleet.laptop.facts("queue");
    let reasons = queue.as_array().unwrap().iter();
    let reasons: Vec<_> = reasons
        .map(|row| (row["run"].clone(), row["waits"]["for"].clone()))
        .collect();
    let expected = [("r-1", "person"), ("f-1", "person"), ("f-2", "machine")];
    assert_eq!(
        reasons,
        expected.map(|(run, waits)| (Value::from(run), Value::from(waits)))
    );

    // Without the database the machine's own runs are shown, and one line says what is missing.
    fleet.server.crash();
    let listed = fleet.laptop.gatewright("list --json").succeeds();
    assert_eq!(
        runs(&serde_json::from_str::<Value>(&listed.stdout).unwrap()["runs"]),
        ["r-1"]
    );
    says(&listed.stderr, "the fleet is not shown");
}

#[test]
fn what_a_worker_printed_is_read_on_every_machine() {
    let fleet = Fleet::new(ONE, &works_until_let_go("echo hello from the worker"));
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    let worker = build.begin("worker --fleet --once");
    at_work(&fleet.laptop, 1);
    let logs = || fleet.laptop.gatewright("logs f-1 --raw");
    until("the output is there", || {
        logs().stdout.contains("hello from the worker")
    });
    let_go(&fleet.laptop);
    worker.end().succeeds();
    // What was there is not there twice, and the machine's own output stays as it is.
    assert_eq!(logs().succeeds().stdout.matches("hello from").count(), 1);
    let own = build.gatewright("logs f-1 --raw").succeeds();
    assert_eq!(own.stdout.matches("hello from").count(), 1);
}

#[test]
fn a_cap_of_the_fleet_holds_up_the_next_run() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "--account team=2").succeeds();
    fleet
        .laptop
        .gatewright("caps --fleet --account team --day cost=5.00")
        .succeeds();
    fleet.server.sql(
        "team",
        "SELECT gatewright.note_spending('f-1', 500, 9000, 200, NULL, NULL, NULL)",
    );
    let caps = fleet.laptop.facts("caps --fleet");
    assert_eq!(caps["today"][0]["cost_cents"], 500);
    assert_eq!(caps["today"][0]["estimated_cents"], 200);
    assert_eq!(caps["caps"][0]["reached"], true);
    let text = fleet.laptop.gatewright("caps --fleet").succeeds();
    says(&text.stdout, "today  estimated cost 5.00");
    says(&text.stdout, "estimated cost 5.00 of 5.00");
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "queued");
    let waits = &fleet.laptop.facts("queue")[0]["waits"];
    assert_eq!(waits["for"], "cap");
    assert_eq!(waits["used"]["estimated_cents"], 200, "{waits}");
    let text = fleet.laptop.gatewright("queue").succeeds();
    says(&text.stdout, "estimated cost 5.00 of 5.00");
    fleet
        .laptop
        .gatewright("caps --fleet --account team --day none")
        .succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
}
