//! A completed run whose work was not handed over says so everywhere, and its delivery can be repeated.

use std::fs;

use serde_json::Value;

use super::delivery::{GH, in_remote, remote, stand_in};
use super::fixture::{World, says};
use super::places::{CHECKED, NAMES_ITSELF, folder, repository};

/// Queues a run on a branch, with a pull request as its delivery.
fn queue(world: &World, run: &str, more: &str) {
    let agent = world.programs().join("agent");
    let line = format!(
        "start pipeline.toml --queue --task change-{run} --id {run} --stand-in {} --deliver pull-request {more}",
        agent.display()
    );
    world.gatewright(&line).succeeds();
}

fn log_in(world: &World) {
    fs::write(world.programs().join("logged-in"), "").unwrap();
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// The commands in the inbox, by run.
fn inbox(world: &World) -> Vec<(String, Vec<String>)> {
    let found = world.facts("inbox");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entries = found["inbox"].as_array().unwrap().iter();
    let entries = entries.map(|entry| {
        let commands = entry["commands"].as_array().unwrap().iter().map(text);
        (text(&entry["run"]), commands.collect())
    });
    entries.collect()
}

fn listed(world: &World, more: &str) -> Vec<Value> {
    world.facts(&format!("list {more}"))["runs"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn a_delivery_that_failed_in_the_night_is_told_in_the_morning() {
    let world = repository(CHECKED, NAMES_ITSELF);
    remote(&world);
    stand_in(&world, "gh", GH);
    let notify = world.programs().join("notify");
    fs::write(
        &notify,
        "#!/bin/sh\ncat >> \"$(dirname \"$0\")/notices\"\necho >> \"$(dirname \"$0\")/notices\"\n",
    )
    .unwrap();
    testkit::make_executable(&notify);
    let more = format!("--notify {}", notify.display());
    queue(&world, "r-b", &more);
    queue(&world, "r-a", "");
    let ran = world.gatewright("worker --once --json").exits(1);
    let night = json(&ran.stdout);
    assert_eq!(night["counts"]["not_delivered"], 2, "{night}");
    assert_eq!(night["counts"]["done"], 0, "{night}");
    for (row, run) in night["runs"].as_array().unwrap().iter().zip(["r-b", "r-a"]) {
        assert_eq!(row["run"], run, "in the order of the queue");
        assert_eq!(row["result"], "not_delivered");
        assert_eq!(row["command"], format!("gatewright deliver {run}"));
        says(row["reason"].as_str().unwrap(), "gh auth login");
    }
    let notice = json(&world.noted("notices")[0]);
    assert_eq!(notice["status"], "completed");
    says(notice["reason"].as_str().unwrap(), "gatewright deliver r-b");
    let rows = listed(&world, "");
    assert_eq!(rows.len(), 2, "{rows:?}");
    says(
        rows[0]["undelivered"]["reason"].as_str().unwrap(),
        "gh auth login",
    );
    says(&world.gatewright("list").stdout, "NOT DELIVERED");
    let deliver = |run: &str| (run.to_owned(), vec![format!("gatewright deliver {run}")]);
    let mut asked = inbox(&world);
    asked.sort();
    assert_eq!(asked, [deliver("r-a"), deliver("r-b")]);
    assert_eq!(world.facts("list")["waiting_runs"], 2);
    says(
        &world.gatewright("worker --once").stderr,
        "2 runs wait for you",
    );
    assert!(world.facts("status r-a")["undelivered"]["reason"].is_string());

    log_in(&world);
    world.gatewright("deliver r-a").succeeds();
    assert_eq!(inbox(&world), [deliver("r-b")]);
    world.gatewright("deliver r-b").succeeds();
    assert!(inbox(&world).is_empty() && listed(&world, "").is_empty());
    assert!(listed(&world, "--all")[0]["undelivered"].is_null());
    assert!(world.facts("status r-a")["undelivered"].is_null());
}

#[test]
fn work_that_is_delivered_or_wanted_by_nobody_is_not_called_undelivered() {
    let world = repository(CHECKED, NAMES_ITSELF);
    for (run, more) in [
        ("r-a", "--branch"),
        ("r-b", "--branch --deliver none"),
        ("r-c", "--in-place"),
    ] {
        world
            .gatewright(&world.line(more).replace("r-test", run))
            .succeeds();
        assert!(
            world.facts(&format!("status {run}"))["undelivered"].is_null(),
            "{run}"
        );
    }
    assert!(inbox(&world).is_empty() && listed(&world, "").is_empty());
    world.gatewright("worker --once").succeeds();
}

/// Asks before it is completed.
fn asking() -> String {
    let ask = "[stages.asking]\nask = \"Good?\"\non.yes = \"complete\"\non.no = \"stopped\"\n\n[stages.complete]";
    CHECKED
        .replace("on.passed = \"complete\"", "on.passed = \"asking\"")
        .replace("[stages.complete]", ask)
}

#[test]
fn an_answer_that_completes_a_run_names_the_delivery() {
    let world = repository(&asking(), NAMES_ITSELF);
    world.run("--branch").exits(6);
    assert_eq!(inbox(&world).len(), 1, "its question");
    let answered = world.gatewright("answer r-test yes --json").succeeds();
    let deliver = "gatewright deliver r-test";
    assert_eq!(
        json(&answered.stdout)["next"][0]["commands"][0],
        deliver,
        "{answered}"
    );
    assert_eq!(
        world.facts("next r-test")["next"][0]["commands"][0],
        deliver
    );
    says(&world.gatewright("status r-test").stdout, deliver);
    assert_eq!(inbox(&world)[0].1, [deliver]);
    world
        .gatewright(deliver.trim_start_matches("gatewright "))
        .succeeds();
    assert_eq!(
        world.facts("next r-test")["next"][0]["who"]["kind"],
        "nobody"
    );
    assert!(inbox(&world).is_empty());
}

#[test]
fn a_failed_delivery_is_repeated_from_the_branch_when_the_worktree_is_gone() {
    for removes in ["gc", "merge"] {
        let world = repository(CHECKED, NAMES_ITSELF);
        let remote = remote(&world);
        world.run("--push nosuch --deliver branch").exits(1);
        let place = folder(&world, "r-test");
        match removes {
            "gc" => world.person("gc", "").succeeds(),
            _ => world.gatewright("merge r-test").succeeds(),
        };
        assert!(!place.exists(), "{removes}");
        let history = world.gatewright("history r-test").succeeds().stdout;
        assert!(
            !history.contains("without effect"),
            "a merge has one\n{history}"
        );
        let is_asked = removes == "gc";
        assert_eq!(
            inbox(&world).len(),
            usize::from(is_asked),
            "who merged has the work"
        );
        world.person("gc", "").succeeds();
        assert_eq!(inbox(&world).len(), usize::from(is_asked));
        // A person opens a conversation there.
        fs::create_dir_all(&place).unwrap();
        let bare = remote.to_str().unwrap();
        world
            .project
            .git(["remote", "add", "nosuch", bare])
            .succeeds();
        world.gatewright("deliver r-test").succeeds();
        assert!(
            in_remote(&remote, &world, "gatewright/r-test-try"),
            "{removes}"
        );
        assert_eq!(world.history("delivered").len(), 1);
        assert!(inbox(&world).is_empty());
    }
}

#[test]
fn a_branch_that_is_gone_with_its_worktree_is_named() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world.run("--push nosuch").exits(1);
    world.person("gc", "").succeeds();
    world
        .project
        .git(["branch", "-D", "gatewright/r-test-try"])
        .succeeds();
    let ran = world.gatewright("deliver r-test").exits(1);
    says(&ran.stderr, "gatewright/r-test-try is gone");
    world.person("gc", "").succeeds();
    assert!(inbox(&world).is_empty(), "there is nothing left to deliver");
}

#[test]
fn a_task_longer_than_an_argument_is_delivered_and_stands_in_the_commit_once() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let long = "x".repeat(100_000);
    let task = format!("# Add a login\n\n## Why\n#12 wants it.\n{long}\n{long}\n");
    let agent = world.programs().join("agent");
    world.project.write("tasks.md", format!("{task}---\n"));
    let line = format!(
        "start pipeline.toml --queue --tasks tasks.md --branch --stand-in {}",
        agent.display()
    );
    world.gatewright(&line).succeeds();
    let ran = world.gatewright("worker --once --json").succeeds();
    let night = json(&ran.stdout);
    let run = night["runs"][0]["run"].as_str().unwrap();
    let branch = night["runs"][0]["branch"].as_str().unwrap();
    let log = ["log", "-1", "--format=%B", branch];
    let message = world.project.git(log).stdout;
    assert!(
        message.starts_with("Add a login\n\nWhy\n12 wants it.\n"),
        "{ran}"
    );
    assert_eq!(message.matches(&long).count(), 2);
    assert_eq!(message.matches("Add a login").count(), 1);
    assert!(!message.lines().any(|line| line.starts_with('#')));
    says(&message, "completed");
    let ends = format!("\nGatewright-Run: {run}\nGatewright-Pipeline: checked");
    assert!(message.trim_end().ends_with(&ends));
}

#[test]
fn the_work_of_a_failed_or_cancelled_run_is_on_its_branch() {
    let kept = |world: &World, name: &str| {
        let shown = world
            .project
            .git(["show", &format!("gatewright/{name}:a.txt")]);
        shown.stdout
    };
    // It fails by itself.
    let world = repository(CHECKED, &format!("{NAMES_ITSELF}; echo other > note.txt"));
    world.run("--branch").exits(1);
    assert_eq!(kept(&world, "r-test-try"), "r-test\n");
    // A person ends it, while nobody drives it.
    for ends in ["answer r-test no", "cancel r-test --reason enough"] {
        let world = repository(&asking(), NAMES_ITSELF);
        world.run("--branch").exits(6);
        assert_eq!(kept(&world, "r-test-try"), "first\n", "it goes on");
        world.person(ends, "r-test\n").succeeds();
        assert_eq!(kept(&world, "r-test-try"), "r-test\n", "{ends}");
        assert!(inbox(&world).is_empty());
    }
}

#[test]
fn ignored_files_of_a_run_are_named_and_come_back_as_the_pipeline_says() {
    let pipeline = format!("carry_back = [\"out/report.json\"]\n{CHECKED}");
    let script = format!(
        "{NAMES_ITSELF}\nmkdir -p out\necho made > out/report.json\necho x > out/other\necho y > .env"
    );
    for is_collected in [false, true] {
        let world = repository(&pipeline, &script);
        world.project.write(".gitignore", ".env\nout/*\n");
        world.project.git(["add", ".gitignore"]).succeeds();
        world
            .project
            .git(["commit", "--quiet", "--message=two", ".gitignore"])
            .succeeds();
        let ran = world.run("--branch").succeeds();
        says(&ran.stderr, "carry_back");
        let mut remarks = world.history("noted");
        remarks.retain(|it| {
            it["fact"]["message"]
                .as_str()
                .unwrap()
                .contains("carry_back")
        });
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        let said = remarks[0]["fact"]["message"].as_str().unwrap();
        for (path, is_named) in [(".env", true), ("out/other", true), ("report.json", false)] {
            assert_eq!(said.contains(path), is_named, "{said}");
        }
        assert!(
            !world.is_there("out/report.json"),
            "the person's tree is theirs"
        );
        if is_collected {
            world.person("gc", "").succeeds();
            assert!(!folder(&world, "r-test").exists());
        }
        let merged = world.facts("merge r-test");
        assert_eq!(
            merged["brought_back"],
            serde_json::json!(["out/report.json"]),
            "{merged}"
        );
        assert_eq!(world.project.read("out/report.json"), "made\n");
        assert!(!world.is_there(".env") && !world.is_there("out/other"));
        assert!(!world.project.state().join("places/r-test").exists());
    }
}

/// Git does not track it, so nobody else has what the person wrote there.
#[test]
fn what_the_person_changed_meanwhile_is_not_overwritten_by_what_comes_back() {
    let pipeline = format!("carry = [\"out\"]\ncarry_back = [\"out\"]\n{CHECKED}");
    let script =
        format!("{NAMES_ITSELF}\nfor name in new edited same; do echo run > out/$name; done");
    let world = repository(&pipeline, &script);
    world.project.write(".git/info/exclude", "out\n");
    world.project.write("out/edited", "before\n");
    world.project.write("out/same", "before\n");
    world.run("--branch").succeeds();
    world.project.write("out/edited", "three hours of mine\n");
    let ran = world.gatewright("merge r-test").succeeds();
    assert_eq!(world.project.read("out/edited"), "three hours of mine\n");
    assert_eq!(world.project.read("out/same"), "run\n");
    assert_eq!(world.project.read("out/new"), "run\n");
    says(&ran.stderr, "out/edited");
    let kept = world.project.state().join("places/r-test/back");
    says(&ran.stderr, kept.to_str().unwrap());
    assert_eq!(
        fs::read_to_string(kept.join("out/edited")).unwrap(),
        "run\n"
    );
    assert!(inbox(&world).is_empty());
    // When it is moved away, the other one still comes.
    fs::remove_file(world.project.path().join("out/edited")).unwrap();
    let merged = world.facts("merge r-test");
    assert_eq!(merged["left_as_yours"], serde_json::json!([]), "{merged}");
    assert_eq!(world.project.read("out/edited"), "run\n");
    assert!(!kept.exists());
}

#[test]
fn several_runs_that_could_be_meant_are_named_and_none_is_taken() {
    let world = repository(CHECKED, NAMES_ITSELF);
    for run in ["r-a", "r-b"] {
        let line = world.line("--push nosuch").replace("r-test", run);
        world.gatewright(&line).exits(1);
    }
    for command in ["merge", "deliver"] {
        let ran = world.gatewright(command).exits(3);
        says(&ran.stderr, "r-b, r-a");
    }
    assert_eq!(world.history_of("r-b", "delivery_failed").len(), 1);
    world
        .project
        .git(["merge", "--quiet", "gatewright/r-b-try"])
        .succeeds();
    says(
        &world.gatewright("merge").exits(1).stderr,
        "gatewright/r-a-try",
    );
    remote(&world);
    let bare = world.project.home().join("remote.git");
    world
        .project
        .git(["remote", "add", "nosuch", bare.to_str().unwrap()])
        .succeeds();
    world.gatewright("deliver r-b").succeeds();
    world.gatewright("deliver").succeeds();
    assert_eq!(world.history_of("r-a", "delivered").len(), 1);
}

#[test]
fn where_no_run_can_be_merged_or_delivered_no_active_one_is_proposed() {
    let world = repository(CHECKED, NAMES_ITSELF);
    for run in ["r-a", "r-b"] {
        queue(&world, run, "");
    }
    for command in ["merge", "deliver"] {
        let ran = world.gatewright(command).exits(3);
        assert!(!ran.stderr.contains("r-a"), "{ran}");
    }
}

#[test]
fn gc_deletes_no_run_whose_work_is_still_to_be_delivered() {
    let world = repository(CHECKED, NAMES_ITSELF);
    for (run, more) in [
        ("r-a", "--push nosuch"),
        ("r-b", "--push nosuch"),
        ("r-c", "--branch"),
        ("r-d", "--push nosuch --deliver none"),
    ] {
        world.gatewright(&world.line(more).replace("r-test", run));
    }
    let announced = world.facts("gc --older-than 0s --dry-run");
    assert_eq!(announced["ids"].as_array().map(Vec::len), Some(2));
    let ran = world.person("gc --older-than 0s", "delete\n").succeeds();
    for (run, code) in [("r-a", 0), ("r-b", 0), ("r-c", 3), ("r-d", 3)] {
        world.gatewright(&format!("status {run}")).exits(code);
    }
    for named in [
        "r-a",
        "r-b",
        "gatewright deliver RUN",
        "gatewright merge RUN",
    ] {
        says(&format!("{}{}", ran.stdout, ran.stderr), named);
    }
    // Its remote is there at last, and the other is given up.
    remote(&world);
    let bare = world.project.home().join("remote.git");
    world
        .project
        .git(["remote", "add", "nosuch", bare.to_str().unwrap()])
        .succeeds();
    world.gatewright("deliver r-a").succeeds();
    world
        .project
        .git(["checkout", "--quiet", "--", "b.txt"])
        .succeeds();
    world.gatewright("merge r-b").succeeds();
    let announced = world.facts("gc --older-than 0s --dry-run");
    assert_eq!(announced["undelivered"], serde_json::json!([]));
    world.person("gc --older-than 0s", "delete\n").succeeds();
    for run in ["r-a", "r-b"] {
        world.gatewright(&format!("status {run}")).exits(3);
    }
}

#[test]
fn a_program_that_is_missing_is_named_and_a_folder_that_is_gone_is_another_thing() {
    let world = repository(CHECKED, NAMES_ITSELF);
    remote(&world);
    let own = "--deliver pull-request --request";
    let line = world.line("--deliver pull-request");
    let words = line
        .split_whitespace()
        .chain(["--request", "no-such-program {branch}"]);
    let ran = world.project.run(words).exits(1);
    says(&ran.stderr, "it is not installed; install it");
    let script = "rm -rf \"$PWD\"; exit 1";
    stand_in(&world, "glab", script);
    let line = world
        .line(&format!("{own} glab"))
        .replace("r-test", "r-other");
    let ran = world.gatewright(&line).exits(1);
    says(&ran.stderr, "is gone");
    assert!(!ran.stderr.contains("install it"), "{ran}");
}

#[test]
fn a_merge_that_a_person_made_with_git_is_noted() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world.run("--push nosuch").exits(1);
    let git = |line: &str| world.project.git(line.split(' '));
    git("checkout --quiet -- b.txt").succeeds();
    world.project.write("a.txt", "ours\n");
    git("commit --quiet --message=ours a.txt").succeeds();
    let ran = world.gatewright("merge r-test").exits(1);
    says(&ran.stderr, "git merge gatewright/r-test-try");
    let mut merge = world
        .project
        .shell("! git merge --quiet gatewright/r-test-try");
    assert!(merge.status().unwrap().success(), "both changed it");
    git("checkout --quiet --theirs a.txt").succeeds();
    git("commit --quiet --all --no-edit").succeeds();
    assert_eq!(inbox(&world).len(), 1);
    for _ in 0..2 {
        assert_eq!(world.facts("merge r-test")["merged"], false);
        assert!(inbox(&world).is_empty());
        let history = world.gatewright("history r-test").succeeds().stdout;
        assert_eq!(history.matches("merged").count(), 1, "{history}");
    }
    assert!(!world.project.state().join("places/r-test").exists());
    world.person("gc --older-than 0s", "delete\n").succeeds();
    world.gatewright("status r-test").exits(3);
}

#[test]
fn a_run_whose_branch_and_worktree_are_gone_is_deleted_at_once() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world.run("--push nosuch").exits(1);
    world.person("gc", "").succeeds();
    let announced = world.facts("gc --older-than 0s --dry-run");
    assert_eq!(announced["undelivered"], serde_json::json!(["r-test"]));
    world
        .project
        .git(["branch", "-D", "gatewright/r-test-try"])
        .succeeds();
    let announced = world.facts("gc --older-than 0s --dry-run");
    assert_eq!(announced["undelivered"], serde_json::json!([]));
    assert_eq!(announced["ids"], serde_json::json!(["r-test"]));
    let ran = world.person("gc --older-than 0s", "delete\n").succeeds();
    assert!(!ran.stdout.contains("gatewright deliver"), "{ran}");
    world.gatewright("status r-test").exits(3);
}
