//! Runs with a branch and a worktree of their own, and what they hand over.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testkit::Project;
use testkit::pipelines::SIDES;

use super::fixture::{ONE, PROGRAM, World, says, until};

/// A check that the run's own text is there, so that another run's half-done work would fail it.
pub(crate) const CHECKED: &str = r#"
name  = "checked"
about = "Change a file and check it."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "testing"

[stages.testing]
check     = ["sh -c 'test \"$(cat a.txt)\" = \"$(cat note.txt)\"'"]
on.passed = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// Writes the run's name into both files.
pub(crate) const NAMES_ITSELF: &str =
    r#"echo "$GATEWRIGHT_RUN" > a.txt; echo "$GATEWRIGHT_RUN" > note.txt"#;

/// A repository with a commit, a stash, and changes that nobody committed.
pub(crate) fn repository(pipeline: &str, script: &str) -> World {
    let world = World::with(pipeline, script);
    let git = |line: &str| world.project.git(line.split(' ')).succeeds();
    git("config user.name Somebody");
    git("config user.email somebody@localhost");
    git("symbolic-ref HEAD refs/heads/main");
    world.project.write("a.txt", "first\n");
    world.project.write("b.txt", "first\n");
    git("add a.txt b.txt");
    git("commit --quiet --message=one");
    world.project.write("a.txt", "stashed\n");
    git("stash push --quiet");
    world.project.write("b.txt", "mine\n");
    world.project.write("new.txt", "mine\n");
    world
}

/// All that is the person's: files, index, branches, tags and stash.
fn belongings(world: &World) -> Vec<String> {
    let git = |words: &[&str]| world.project.git(words.iter().copied()).stdout;
    vec![
        world.project.read("a.txt"),
        world.project.read("b.txt"),
        git(&["status", "--porcelain"]),
        git(&["ls-files", "--stage"]),
        git(&["stash", "list", "--format=%H"]),
        git(&[
            "for-each-ref",
            "--format=%(refname) %(objectname)",
            "refs/heads/main",
            "refs/tags",
        ]),
        git(&["symbolic-ref", "HEAD"]),
    ]
}

fn queue(world: &World, run: &str, more: &str) {
    let agent = world.programs().join("agent");
    let line = format!(
        "start pipeline.toml --queue --task change-{run} --id {run} --stand-in {} {more}",
        agent.display()
    );
    world.gatewright(&line).succeeds();
}

/// The file of a branch.
fn at_branch(world: &World, run: &str, file: &str) -> String {
    let name = format!("{}:{file}", branch(run));
    world.project.git(["show", &name]).stdout
}

fn branch(run: &str) -> String {
    format!("gatewright/{run}-change-{run}")
}

/// Where the run works.
pub(crate) fn folder(world: &World, run: &str) -> PathBuf {
    let placed = world.history_of(run, "placed");
    PathBuf::from(placed[0]["fact"]["folder"].as_str().unwrap())
}

#[test]
fn queued_runs_have_branches_of_their_own_and_nothing_of_the_persons_changes() {
    let meet = format!(
        r#"mkdir -p "$here/now"; touch "$here/now/$count"
turns=0
while [ "$(ls "$here/now" | wc -l)" -lt 3 ] && [ $turns -lt 1200 ]; do sleep 0.05; turns=$((turns + 1)); done
{NAMES_ITSELF}"#
    );
    let world = repository(CHECKED, &meet);
    let before = belongings(&world);
    for run in ["r-x", "r-y", "r-z"] {
        queue(&world, run, "");
    }
    let ran = world.gatewright("worker --once").succeeds();
    for run in ["r-x", "r-y", "r-z"] {
        assert_eq!(world.status(run), "completed", "{ran}");
        assert_eq!(at_branch(&world, run, "a.txt"), format!("{run}\n"));
        assert_eq!(
            at_branch(&world, run, "b.txt"),
            "first\n",
            "uncommitted work stays out"
        );
        let log = world
            .project
            .git(["log", "-1", "--format=%s%n%(trailers)", &branch(run)]);
        says(&log.stdout, &format!("change-{run}\n"));
        says(&log.stdout, &format!("Gatewright-Run: {run}"));
        assert_eq!(world.history_of(run, "delivered").len(), 1);
    }
    assert_eq!(belongings(&world), before);
    assert!(!world.is_there("note.txt"));
}

#[test]
fn a_branch_can_begin_with_what_is_not_committed() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let before = belongings(&world);
    world.run("--branch --with-changes").succeeds();
    let name = "gatewright/r-test-try";
    let show = |file: &str| {
        world
            .project
            .git(["show", &format!("{name}:{file}")])
            .stdout
    };
    assert_eq!(show("a.txt"), "r-test\n");
    assert_eq!(
        (show("b.txt"), show("new.txt")),
        ("mine\n".to_owned(), "mine\n".to_owned())
    );
    assert_eq!(belongings(&world), before);
    assert_eq!(
        world.history("started")[0]["fact"]["branch"]["with_changes"],
        true
    );
}

/// What keeps the uncommitted work of queued runs.
fn kept_bases(world: &World) -> String {
    let listed = ["for-each-ref", "--format=%(refname)", "refs/gatewright"];
    world.project.git(listed).stdout
}

#[test]
fn uncommitted_work_of_a_queued_run_outlives_a_collection_of_git() {
    let world = repository(CHECKED, NAMES_ITSELF);
    queue(&world, "r-kept", "--with-changes");
    world.project.write("b.txt", "other\n");
    world.project.git(["gc", "--quiet", "--prune=now"]);
    world.gatewright("worker --once").succeeds();
    let shown = world
        .project
        .git(["show", "gatewright/r-kept-change-r-kept:b.txt"]);
    assert_eq!(shown.stdout, "mine\n");
    assert_eq!(kept_bases(&world), "");
    // A run that never began leaves nothing either.
    queue(&world, "r-cancelled", "--with-changes");
    says(&kept_bases(&world), "r-cancelled/");
    world
        .gatewright("cancel r-cancelled --reason changed")
        .succeeds();
    world.gatewright("gc").succeeds();
    assert_eq!(kept_bases(&world), "");
}

#[test]
fn one_run_at_a_terminal_works_in_the_tree_unless_the_pipeline_says_otherwise() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world.run("").succeeds();
    assert_eq!(world.project.read("a.txt"), "r-test\n");
    assert!(world.history("placed").is_empty());
    let world = repository(&format!("place = \"branch\"\n{CHECKED}"), NAMES_ITSELF);
    world.run("").succeeds();
    assert_eq!(world.project.read("a.txt"), "first\n");
    assert_eq!(world.history("placed").len(), 1);
    let world = repository(&format!("place = \"branch\"\n{CHECKED}"), NAMES_ITSELF);
    world.run("--in-place").succeeds();
    assert_eq!(world.project.read("a.txt"), "r-test\n");
}

#[test]
fn several_tasks_have_branches_and_a_second_run_in_the_tree_waits_its_turn() {
    let waits =
        r#"while [ ! -e "$here/go" ]; do sleep 0.05; done; echo n > note.txt; cp note.txt a.txt"#;
    let world = repository(CHECKED, waits);
    let first = world.begin(&world.line(""));
    until("the first works", || world.starts().len() == 1);
    let line = world.line("").replace("r-test", "r-second");
    let second = world.begin(&line);
    until("the second waits", || {
        second.said().contains("r-second waits for r-test")
    });
    assert_eq!(world.status("r-second"), "queued");
    assert_eq!(world.starts().len(), 1);
    fs::write(world.programs().join("go"), "").unwrap();
    first.end().succeeds();
    second.end().succeeds();
    assert_eq!(world.starts().len(), 2);
    let line = world.line("--task more").replace("--id r-test", "");
    world.gatewright(&line).succeeds();
    let branches = world
        .project
        .git(["branch", "--list", "gatewright/*"])
        .stdout;
    assert_eq!(branches.lines().count(), 2, "{branches}");
}

#[test]
fn without_a_commit_or_git_a_queued_run_works_in_the_tree_and_says_why() {
    for world in [without_git(), without_a_commit()] {
        let agent = world.programs().join("agent");
        let line = format!(
            "start pipeline.toml --queue --task try --id r-test --stand-in {}",
            agent.display()
        );
        let ran = world.gatewright(&line).succeeds();
        says(&ran.stderr, "in your tree, because");
        world.gatewright("worker --once").succeeds();
        assert!(world.is_there("note.txt"));
        let ran = world
            .gatewright(&world.line("--branch").replace("r-test", "r-b"))
            .exits(1);
        says(&ran.stderr, "--in-place");
    }
}

fn without_a_commit() -> World {
    let world = without_git();
    world.project.git(["init", "--quiet"]).succeeds();
    world
}

fn without_git() -> World {
    let world = World::new(Project::new(PROGRAM), "echo n > note.txt");
    world.pipeline(ONE);
    world
}

#[test]
fn a_branch_that_exists_stops_the_run_and_nothing_is_lost() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world
        .project
        .git(["branch", "gatewright/r-test-try", "main"])
        .succeeds();
    let ran = world.run("--branch").exits(1);
    says(&ran.stderr, "git branch -m gatewright/r-test-try");
    assert_eq!(world.status("r-test"), "queued");
    // That branch is not the run's.
    let night = world.facts("worker --once");
    assert_eq!(night["runs"][0]["result"], "not_done", "{night}");
    assert_eq!(night["runs"][0]["branch"], Value::Null, "{night}");
    let status = world.gatewright("status r-test").succeeds();
    says(
        &status.stdout,
        "gatewright/r-test-try, which the run makes when it begins",
    );
    world
        .project
        .git(["branch", "-m", "gatewright/r-test-try", "older"])
        .succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.status("r-test"), "completed");
}

#[test]
fn the_summary_of_a_worker_counts_what_was_changed_outside() {
    let commits = r#"main=$(git worktree list --porcelain | sed -n '1s/^worktree //p')
git -C "$main" commit --quiet --allow-empty --message=stray"#;
    let world = repository(CHECKED, &format!("{NAMES_ITSELF}\n{commits}"));
    let line = world.line("--branch");
    let line = line.replacen("run", "start --queue", 1);
    world.gatewright(&line).succeeds();
    let ran = world.gatewright("worker --once").succeeds();
    let counted = "1 change outside a worker's folder: `gatewright history r-test`";
    says(&ran.stdout, counted);
    let subject = ["log", "-1", "--format=%s", "main"];
    assert_eq!(world.project.git(subject).stdout, "stray\n");
}

/// A crash of the machine kills git, too, and git never removes the lock of one that was killed.
#[test]
fn locks_that_a_killed_git_left_hold_nobody_up() {
    let leaves = format!(
        "{NAMES_ITSELF}\ntouch -d '1 minute ago' \"$(git rev-parse --git-dir)/index.lock\""
    );
    let world = repository(CHECKED, &leaves);
    queue(&world, "r-a", "");
    let git = world.project.path().join(".git");
    let lock = git.join(format!("refs/heads/{}.lock", branch("r-a")));
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    let persons = git.join("refs/heads/main.lock");
    fs::write(&persons, "").unwrap();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.status("r-a"), "completed");
    assert_eq!(world.history_of("r-a", "delivered").len(), 1);
    assert_eq!(at_branch(&world, "r-a", "a.txt"), "r-a\n");
    assert!(persons.exists(), "it may be the person's");
}

/// A git that was killed while it made a worktree breaks every other `git worktree` of the repository.
#[test]
fn a_worktree_that_a_killed_git_left_half_made_holds_nobody_up() {
    let world = repository(CHECKED, NAMES_ITSELF);
    queue(&world, "r-a", "");
    let places = world.project.state().join("places");
    fs::create_dir_all(places.join("r-other")).unwrap();
    let record = world.project.path().join(".git/worktrees/project");
    fs::create_dir_all(&record).unwrap();
    let place = places.join("r-other/project/.git");
    fs::write(record.join("gitdir"), format!("{}\n", place.display())).unwrap();
    fs::write(record.join("locked"), "initializing").unwrap();
    fs::write(record.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(record.join("commondir"), "").unwrap();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.status("r-a"), "completed");
    assert_eq!(at_branch(&world, "r-a", "a.txt"), "r-a\n");
    world.project.git(["worktree", "list"]).succeeds();
}

#[test]
fn ignored_files_come_along_by_the_lists_of_the_pipeline_and_the_project() {
    let pipeline = format!("carry = [\"vendor\", \"absent.txt\"]\n{CHECKED}");
    let script = format!(
        "cat vendor/deep/lib.txt settings.local > \"$here/seen\"; echo changed > vendor/deep/lib.txt\n{NAMES_ITSELF}"
    );
    let world = repository(&pipeline, &script);
    world
        .project
        .write(".gitignore", "vendor\nsettings.local\nsecret.txt\n");
    world.project.write(".worktreeinclude", "settings.local\n");
    world.project.write("vendor/deep/lib.txt", "library\n");
    world.project.write("settings.local", "settings\n");
    world.project.write("secret.txt", "secret\n");
    world.project.git(["add", ".gitignore"]).succeeds();
    world
        .project
        .git(["commit", "--quiet", "--message=ignore"])
        .succeeds();
    let ran = world.run("--branch").succeeds();
    assert_eq!(world.noted("seen"), ["library", "settings"]);
    assert_eq!(
        world.project.read("vendor/deep/lib.txt"),
        "library\n",
        "nothing comes back"
    );
    assert!(!folder(&world, "r-test").join("secret.txt").exists());
    says(&ran.stderr, "absent.txt");
    let listed = world
        .project
        .git(["ls-tree", "-r", "--name-only", "gatewright/r-test-try"])
        .stdout;
    assert!(!listed.contains("vendor"), "{listed}");
}

#[test]
fn a_branch_is_merged_or_its_conflicts_are_told() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world.run("--branch").succeeds();
    let place = folder(&world, "r-test");
    world.gatewright("merge r-test").succeeds();
    assert_eq!(world.project.read("a.txt"), "r-test\n");
    assert_eq!(
        world.project.read("b.txt"),
        "mine\n",
        "uncommitted work stays"
    );
    assert!(!place.exists(), "its worktree is not needed any more");
    world.gatewright("merge r-test").succeeds();
    for show in ["status r-test", "history r-test", "verify r-test"] {
        world.gatewright(show).succeeds();
    }

    let world = repository(CHECKED, NAMES_ITSELF);
    world.run("--branch").succeeds();
    world.project.write("a.txt", "other\n");
    world
        .project
        .git(["commit", "--quiet", "--message=other", "a.txt"])
        .succeeds();
    let before = belongings(&world);
    let facts = world.facts("merge r-test");
    assert_eq!(facts["conflicts"], serde_json::json!(["a.txt"]));
    assert_eq!(belongings(&world), before);
    let ran = world.gatewright("merge r-test").exits(1);
    says(&ran.stderr, "git merge gatewright/r-test-try");
    says(&ran.stderr, "conflict; nothing was merged");
}

#[test]
fn the_change_of_a_run_that_is_over_is_that_of_its_branch_and_it_cannot_go_on_without_a_worktree() {
    let commits = "git add note.txt && git -c user.name=w -c user.email=w@x commit -qm own";
    let world = repository(CHECKED, &format!("{NAMES_ITSELF}; {commits}"));
    world.run("--branch").succeeds();
    let changed = |when: &str| {
        let diff = world.facts("diff r-test");
        assert_eq!(diff["since"], "start", "{when}: {diff}");
        assert_eq!(diff["all"], 2, "{when}: {diff}");
        let diff = diff["diff"].as_str().unwrap();
        assert!(diff.contains("-first\n+r-test\n"), "{when}: {diff}");
        assert!(diff.contains("+++ b/note.txt"), "{when}: {diff}");
    };
    changed("delivered");
    world.gatewright("merge r-test").succeeds();
    changed("merged");
    world
        .project
        .git(["branch", "--delete", "gatewright/r-test-try"])
        .succeeds();
    changed("its branch is gone, and its commit is not");

    let entries = || {
        let history = world.facts("history r-test");
        history["entries"].as_array().unwrap().len()
    };
    let before = entries();
    for refused in [
        "restore r-test 2 --reason again",
        "reset r-test --reason again",
        "fork r-test --at 2 --id r-other",
    ] {
        let ran = world.person(refused, "r-test\n").exits(1);
        assert!(!ran.stdout.contains("cancel the run"), "{ran}");
        assert!(ran.stdout.contains("gatewright/r-test-try"), "{ran}");
    }
    assert_eq!(entries(), before);
    world.gatewright("status r-other").exits(3);
}

#[test]
fn gc_removes_the_worktrees_of_finished_runs_and_keeps_their_work() {
    let world = repository(CHECKED, &format!("{NAMES_ITSELF}; echo other > note.txt"));
    world.run("--branch").exits(1);
    assert_eq!(world.status("r-test"), "failed");
    let place = folder(&world, "r-test");
    assert!(place.exists());
    world.person("gc", "").succeeds();
    assert!(!place.exists());
    let left = world
        .project
        .git(["show", "gatewright/r-test-try:a.txt"])
        .stdout;
    assert_eq!(left, "r-test\n", "what it left is on its branch");
    let known = world.project.git(["worktree", "list"]).stdout;
    assert_eq!(known.lines().count(), 1, "{known}");
}

/// What a run needed for a delivery goes when nobody can deliver or merge it any more.
#[test]
fn nothing_stays_of_the_place_of_a_run_that_is_gone() {
    let carry = "carry = [\"lock.json\"]\ncarry_back = [\"lock.json\"]";
    let pipeline = format!("{carry}\n{CHECKED}");
    let world = repository(&pipeline, &format!("{NAMES_ITSELF}; echo 2 > lock.json"));
    world.project.write(".gitignore", "lock.json\n");
    world.project.write("lock.json", "1\n");
    world.run("--branch").succeeds();
    let place = folder(&world, "r-test");
    let place = place.parent().unwrap();
    world.person("gc", "").succeeds();
    let left = || {
        let listed = fs::read_dir(place).into_iter().flatten().flatten();
        let names = listed.map(|entry| entry.file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    // It is delivered, and a merge still brings this back.
    assert_eq!(left(), ["back"]);
    world.person("gc --older-than 0s", "delete\n").succeeds();
    world.gatewright("status r-test").exits(3);
    world.person("gc", "").succeeds();
    assert!(!place.exists(), "{:?}", left());

    // A failed run has nothing to deliver.
    let world = repository(
        &format!("carry = [\"lock.json\"]\n{CHECKED}"),
        &format!("{NAMES_ITSELF}; echo other > note.txt"),
    );
    world.project.write(".gitignore", "lock.json\n");
    world.project.write("lock.json", "1\n");
    world.run("--branch").exits(1);
    let place = folder(&world, "r-test");
    world.person("gc", "").succeeds();
    assert!(!place.parent().unwrap().exists());
}

/// Every entry of a placed run verifies, and the branch is shown.
#[test]
fn the_branch_is_shown_and_the_history_verifies() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world.run("--branch").succeeds();
    let facts: Value = world.facts("status r-test");
    assert_eq!(facts["place"]["branch"], "gatewright/r-test-try");
    assert_eq!(
        facts["place"]["folder"],
        folder(&world, "r-test").to_str().unwrap()
    );
    says(
        &world.gatewright("status r-test").stdout,
        "gatewright/r-test-try",
    );
    world.gatewright("verify r-test").succeeds();
}

#[test]
fn steps_get_ignored_files_and_what_they_leave_in_others_is_said() {
    let script = r#"cat vendor/lib.txt >> "$here/seen"
echo "$GATEWRIGHT_STEP" > "$GATEWRIGHT_STEP.txt"
if [ "$GATEWRIGHT_STEP" = left ]; then mkdir -p out cache; echo x > out/kept.txt; echo x > out/lost.txt; fi
mkdir -p __pycache__; echo x > __pycache__/x"#;
    let carried = "carry = [\"vendor\"]\ncarry_back = [\"out/kept.txt\"]";
    let world = repository(&format!("{carried}\n{SIDES}"), script);
    world
        .project
        .write(".gitignore", "vendor\nout\n__pycache__\n");
    world.project.write("vendor/lib.txt", "library\n");
    world.run("").succeeds();
    assert_eq!(world.noted("seen"), ["library", "library"]);
    assert!(world.is_there("out/kept.txt"));
    assert!(!world.is_there("out/lost.txt"));
    let remarks = world.history("noted");
    let remarks: Vec<&str> = remarks
        .iter()
        .filter_map(|it| it["fact"]["message"].as_str())
        .collect();
    let about = remarks
        .iter()
        .filter(|it| it.contains("carry_back"))
        .count();
    assert_eq!(about, 1, "{remarks:?}");
    says(&remarks.join("\n"), "out");
}

#[test]
fn trust_shows_what_reaches_out_and_a_dry_run_what_is_missing() {
    let pipeline = format!("deliver = \"pull-request\"\ncarry = [\"vendor\"]\n{CHECKED}");
    let world = repository(&pipeline, NAMES_ITSELF);
    let facts = world.facts("trust pipeline.toml --show");
    says(&facts["commands"].to_string(), r#"["git","push","origin"]"#);
    let plan = world.facts("dry-run pipeline.toml --task try");
    says(&plan["remarks"].to_string(), "vendor");
    world.project.write("vendor/x", "x");
    let plan = world.facts("dry-run pipeline.toml --task try");
    assert!(!plan["remarks"].to_string().contains("vendor"), "{plan}");
}

#[test]
fn a_worktree_that_another_git_makes_at_the_same_time_is_waited_for() {
    let world = repository(ONE, super::fixture::WRITES);
    let record = world.project.path().join(".git/worktrees/half");
    let write_half = || {
        fs::create_dir_all(&record).unwrap();
        fs::write(record.join("gitdir"), "/nowhere/half/.git\n").unwrap();
        fs::write(record.join("HEAD"), "ref: refs/heads/half\n").unwrap();
        fs::write(record.join("commondir"), "").unwrap();
    };
    write_half();
    let child = world.begin(&world.line("--branch"));
    // There is nothing to watch: git fails without a trace until the record is whole.
    std::thread::sleep(std::time::Duration::from_millis(1_000));
    fs::remove_dir_all(&record).unwrap();
    child.end().succeeds();
    write_half();
    let ran = world.gatewright(&world.line("--branch").replace("r-test", "r-second"));
    says(&ran.exits(4).stderr, "commondir");
}
