//! Steps share the person's repository: what they do to its refs and objects.

use serde_json::{Value, json};
use testkit::pipelines;

use super::fixture::{ONE, WRITES, World, says, until};

/// These steps, each with what it needs.
fn graph(steps: &[(&str, &str)]) -> String {
    let line = |(id, needs): &(&str, &str)| {
        format!(
            "    {{ id = \"{id}\", title = \"{id}\", agent = \"builder\", needs = [{needs}] }},\n"
        )
    };
    let lines: String = steps.iter().map(line).collect();
    pipelines::graph(&lines)
}

/// Builds its part and says so.
const BUILDS: &str = r#"
mkdir -p parts
echo "$GATEWRIGHT_STEP" > "$GATEWRIGHT_STEP.txt"
echo "{\"status\": \"done\", \"by\": $count}" > "parts/$GATEWRIGHT_STEP.json"
"#;

/// Where the person's checkout is, seen from a step's worktree.
const MAIN: &str = r#"main=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")"#;

/// One step that does this before it builds its part.
fn step(script: &str) -> World {
    repository(World::with(
        &graph(&[("left", "")]),
        &format!("set -e\n{MAIN}\n{script}\n{BUILDS}"),
    ))
}

/// Two commits, two branches and two tags at the first one, and two stashes.
fn repository(world: World) -> World {
    let git = |line: &str| world.project.git(line.split(' ')).succeeds();
    git("config user.name Somebody");
    git("config user.email somebody@localhost");
    world.project.write("a.txt", "1\n");
    git("add a.txt");
    git("commit --quiet --message=one");
    for line in [
        "branch topic",
        "branch old",
        "tag v1",
        "tag --annotate --message=two v2",
    ] {
        git(line);
    }
    for text in ["first", "second"] {
        world.project.write("a.txt", text);
        git("stash push --quiet");
    }
    world.project.write("a.txt", "2\n");
    git("commit --quiet --all --message=two");
    world
}

/// The person's refs, and what the stash holds.
fn refs(world: &World) -> String {
    let listed = [
        "for-each-ref",
        "refs/heads",
        "refs/tags",
        "--format=%(refname) %(objectname)",
    ];
    let stash = world.project.git(["stash", "list", "--format=%H"]).stdout;
    let mut stash: Vec<&str> = stash.lines().collect();
    stash.sort_unstable();
    let refs = world.project.git(listed).stdout;
    format!("{refs}{}", stash.join("\n"))
}

fn value(world: &World, name: &str) -> String {
    let found = world.project.git(["rev-parse", "--verify", name]);
    found.succeeds().stdout.trim().to_owned()
}

/// Every recorded change, without what differs from run to run.
fn changes(world: &World) -> Vec<Value> {
    let entries = world.history("changed_outside").into_iter();
    entries.map(|entry| entry["fact"].clone()).collect()
}

/// `name handling author` of each recorded ref, sorted.
fn moved(world: &World) -> Vec<String> {
    let changes = changes(world);
    let refs = changes.iter().filter(|change| change["what"] == "ref");
    let mut lines: Vec<String> = refs
        .map(|change| {
            let word = |key: &str| change[key].as_str().unwrap().to_owned();
            format!("{} {} {}", word("name"), word("handling"), word("author"))
        })
        .collect();
    lines.sort_unstable();
    lines
}

const MOVES: &str = r#"
echo 3 > a.txt
git commit --quiet --all --message=three
git branch --force topic HEAD
git branch --quiet -D old
git tag --force v1 HEAD
git tag --delete v2
git update-ref refs/heads/main HEAD
git stash clear
"#;

#[test]
fn what_a_step_moved_is_put_back_and_nothing_is_lost() {
    let world = step(MOVES);
    let (before, topic) = (refs(&world), value(&world, "topic"));
    let ran = world.run("").succeeds();
    assert_eq!(refs(&world), before);
    assert_eq!(
        moved(&world),
        [
            "refs/heads/main put_back worker",
            "refs/heads/old put_back worker",
            "refs/heads/topic put_back worker",
            "refs/stash put_back worker",
            "refs/stash put_back worker",
            "refs/tags/v1 put_back worker",
            "refs/tags/v2 put_back worker",
        ]
    );
    let changes = changes(&world);
    let found = changes.iter().find(|it| it["name"] == "refs/heads/topic");
    let found = found.unwrap();
    assert_eq!(found["during"], json!(["d1"]));
    assert_eq!(found["before"], topic);
    // The step's own commit is not lost, and its work is merged.
    let kept = found["kept"].as_str().unwrap();
    assert_eq!(value(&world, kept), found["after"]);
    assert_eq!(world.project.read("a.txt"), "3\n");
    assert_eq!(world.facts("status r-test")["outside"], 7);
    assert_eq!(world.facts("verify r-test")["runs"][0]["outside"], 7);
    says(&ran.stderr, "refs/heads/topic");
    let rules = world.history("changed_outside");
    assert!(
        rules.iter().all(|entry| entry["rule"] == "GW-R120"),
        "{rules:?}"
    );
}

/// One run with a branch of its own, whose worker does this.
fn on_branch(script: &str) -> World {
    let script = format!("set -e\n{MAIN}\n{script}\n{WRITES}");
    let world = repository(World::with(ONE, &script));
    world.project.git(["branch", "-M", "main"]).succeeds();
    world
}

/// The refs without the branch of the run.
fn others(world: &World) -> String {
    let refs = refs(world);
    let refs = refs.lines().filter(|line| !line.contains("gatewright/"));
    refs.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_run_on_its_own_branch_moved_is_put_back() {
    let world = on_branch(MOVES);
    let before = others(&world);
    let index = world
        .project
        .git(["diff", "--cached", "--name-only"])
        .stdout;
    world.run("--branch").succeeds();
    assert_eq!(others(&world), before);
    assert_eq!(
        moved(&world),
        [
            "refs/heads/main put_back worker",
            "refs/heads/old put_back worker",
            "refs/heads/topic put_back worker",
            "refs/stash put_back worker",
            "refs/stash put_back worker",
            "refs/tags/v1 put_back worker",
            "refs/tags/v2 put_back worker",
        ]
    );
    let now = world
        .project
        .git(["diff", "--cached", "--name-only"])
        .stdout;
    assert_eq!(now, index);
    let work = ["log", "-1", "--format=%s", "HEAD"];
    assert_eq!(world.project.git(work).stdout, "two\n");
}

#[test]
fn a_run_on_its_own_branch_may_commit_there_and_make_branches() {
    let world = on_branch(
        r#"
echo 3 > a.txt
git commit --quiet --all --message=three
git branch mine
git tag made-here"#,
    );
    world.run("--branch").succeeds();
    assert_eq!(moved(&world), Vec::<String>::new());
    let subject = ["log", "-1", "--format=%s", "mine"];
    assert_eq!(world.project.git(subject).stdout, "three\n");
}

#[test]
fn a_person_s_stash_and_commits_during_a_run_on_a_branch_stay() {
    let waits = r#"touch "$here/waits"; while [ ! -e "$here/go" ]; do sleep 0.02; done"#;
    let world = on_branch(waits);
    let run = world.begin(&world.line("--branch"));
    until("the worker waits", || {
        world.programs().join("waits").exists()
    });
    let git = |line: &str| world.project.git(line.split(' ')).succeeds();
    git("commit --quiet --allow-empty --message=person");
    git("stash drop --quiet");
    let before = others(&world);
    std::fs::write(world.programs().join("go"), "").unwrap();
    run.end().succeeds();
    assert_eq!(others(&world), before);
    assert_eq!(moved(&world), Vec::<String>::new());
}

/// Takes the person's latest work out of the stash, which fits on the first commit alone.
const POPS: &str =
    "git checkout --quiet --detach HEAD~1\ngit stash pop --quiet\ngit checkout --quiet --force -";

#[test]
fn who_takes_work_out_of_the_common_stash_is_named() {
    let world = on_branch(POPS);
    let before = others(&world);
    world.run("--branch").succeeds();
    assert_eq!(others(&world), before);
    assert_eq!(moved(&world), ["refs/stash put_back worker"]);
    assert_eq!(remarks(&world, "stash"), 1);
    let told = world.prompt(1);
    for fact in ["worktree", "git stash", "branch or tag"] {
        says(&told, fact);
    }
}

#[test]
fn the_stash_of_a_worker_in_the_person_s_tree_is_not_remarked() {
    let world = on_branch(POPS);
    world.run("").succeeds();
    assert_eq!(remarks(&world, "stash"), 0);
    assert!(!world.prompt(1).contains("git stash"));
}

/// The remarks in the history of the run that name this.
fn remarks(world: &World, part: &str) -> usize {
    let remarks = world.history("noted");
    let texts = remarks
        .iter()
        .filter_map(|it| it["fact"]["message"].as_str());
    texts.filter(|text| text.contains(part)).count()
}

#[test]
fn settings_and_hooks_that_change_during_work_are_named() {
    let world = on_branch(
        r#"
git config core.hooksPath /elsewhere
mkdir -p "$main/.git/hooks"
echo "true" > "$main/.git/hooks/post-commit""#,
    );
    world.run("--branch").succeeds();
    assert_eq!(remarks(&world, "core.hookspath, hooks/post-commit"), 1);
    // What git writes by itself is not worth a word.
    let world = on_branch("git checkout --quiet -b mine --track main; git checkout --quiet -");
    world.run("--branch").succeeds();
    assert_eq!(remarks(&world, "settings of the git repository"), 0);
}

#[test]
fn garbage_collection_does_not_take_what_a_step_deleted() {
    let sweep = "git reflog expire --expire=now --all\ngit gc --quiet --prune=now";
    // Nothing else keeps it.
    let only = "git update-ref refs/heads/main topic";
    let world = step(&format!("{only}\n{MOVES}\n{only}\n{sweep}"));
    let before = refs(&world);
    world.run("").succeeds();
    assert_eq!(refs(&world), before);
    world
        .project
        .git(["fsck", "--connectivity-only"])
        .succeeds();
    assert_eq!(moved(&world).len(), 7);
}

#[test]
fn a_ref_that_is_written_past_git_is_put_back() {
    let world = step(r#"git rev-parse HEAD > "$main/.git/refs/heads/topic""#);
    let before = refs(&world);
    world.run("").succeeds();
    assert_eq!(refs(&world), before);
    assert_eq!(moved(&world), ["refs/heads/topic put_back worker"]);
}

/// Git's own account of its commands is gone then, and it may have been the person.
#[test]
fn a_move_that_nobody_can_explain_is_left_and_recorded() {
    let world = step(r#"env -i PATH="$PATH" git branch --force topic main"#);
    world.run("").succeeds();
    assert_eq!(value(&world, "topic"), value(&world, "main"));
    assert_eq!(moved(&world), ["refs/heads/topic left unknown"]);
}

#[test]
fn a_step_may_commit_in_its_worktree_and_make_branches_of_its_own() {
    let world = step(
        r#"
echo 3 > a.txt
git commit --quiet --all --message=three
git switch --quiet --create mine
git commit --quiet --allow-empty --message=four
git tag made-here
git branch short-lived; git branch -D short-lived"#,
    );
    let before = refs(&world);
    world.run("").succeeds();
    let subject = ["log", "-1", "--format=%s", "mine"];
    assert_eq!(world.project.git(subject).stdout, "four\n");
    let gone = world.project.git(["branch", "--quiet", "-D", "mine"]);
    gone.succeeds();
    world
        .project
        .git(["tag", "--delete", "made-here"])
        .succeeds();
    assert_eq!(refs(&world), before);
    assert_eq!(changes(&world), Vec::<Value>::new());
}

/// The step waits while a person does this.
fn meanwhile(script: &str, person: impl FnOnce(&World)) -> World {
    let waits = r#"touch "$here/waits"; while [ ! -e "$here/go" ]; do sleep 0.02; done"#;
    let world = step(&format!("{script}\n{waits}"));
    let run = world.begin(&world.line(""));
    until("the step waits", || world.programs().join("waits").exists());
    person(&world);
    std::fs::write(world.programs().join("go"), "").unwrap();
    run.end().succeeds();
    world
}

#[test]
fn a_person_s_commits_while_a_step_works_are_never_undone() {
    let world = meanwhile("git commit --quiet --allow-empty --message=step", |world| {
        let git = |line: &str| world.project.git(line.split(' ')).succeeds();
        git("commit --quiet --allow-empty --message=person");
        git("switch --quiet topic");
        git("commit --quiet --allow-empty --message=topic");
        git("switch --quiet main");
        git("stash drop --quiet");
    });
    let subject = |name| world.project.git(["log", "-1", "--format=%s", name]).stdout;
    assert_eq!(
        (subject("main"), subject("topic")),
        ("person\n".into(), "topic\n".into())
    );
    assert_eq!(moved(&world), Vec::<String>::new());
}

#[test]
fn what_a_person_moves_without_a_checkout_is_left_and_recorded() {
    let world = meanwhile("git commit --quiet --allow-empty --message=step", |world| {
        let git = |line: &str| world.project.git(line.split(' ')).succeeds();
        git("branch --force topic main");
        git("branch --quiet -D old");
        git("tag --delete v1");
    });
    assert_eq!(value(&world, "topic"), value(&world, "main"));
    assert!(!refs(&world).contains("refs/heads/old"));
    assert_eq!(
        moved(&world),
        [
            "refs/heads/old left unknown",
            "refs/heads/topic left unknown",
            "refs/tags/v1 left unknown",
        ]
    );
}

#[test]
fn a_step_that_commits_in_the_person_s_checkout_is_named_and_nothing_is_undone() {
    let world = step(
        r#"git -C "$main" commit --quiet --allow-empty --message=stray
git -C "$main" switch --quiet --create elsewhere"#,
    );
    world.run("").succeeds();
    let subject = ["log", "-1", "--format=%s", "main"];
    assert_eq!(world.project.git(subject).stdout, "stray\n");
    assert_eq!(
        moved(&world),
        ["HEAD left worker", "refs/heads/main left worker"]
    );
}

#[test]
fn files_that_change_in_the_project_are_recorded_and_left() {
    // What a merge leaves that is killed while it writes is nobody's change.
    let write = r#"echo stray > "$main/stray.txt"
echo half > "$main/.gatewright-new-0123456789abcdef"
echo other > "$main/.gatewright-new-other""#;
    let world = meanwhile(write, |world| {
        world.project.write("edited.txt", "by a person\n");
        // Nor is what tools leave, or what the pipeline declares.
        world.project.write("target/debug/out", "built");
        world.project.write("parts/other.json", "{}");
    });
    assert_eq!(world.project.read("stray.txt"), "stray\n");
    assert_eq!(world.project.read("edited.txt"), "by a person\n");
    let changes = changes(&world);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["what"], "project");
    assert_eq!(changes[0]["author"], "unknown");
    assert_eq!(changes[0]["during"], json!(["d1"]));
    assert_eq!(
        changes[0]["paths"],
        json!([".gatewright-new-other", "edited.txt", "stray.txt"])
    );
    let entries = world.history("changed_outside");
    assert_eq!(entries[0]["rule"], "GW-R121");
}

#[test]
fn a_merged_file_that_somebody_edits_later_is_recorded() {
    let waits = r#"if [ $GATEWRIGHT_STEP = b ]; then
  touch "$here/waits"; while [ ! -e "$here/go" ]; do sleep 0.02; done
fi"#;
    let steps = graph(&[("a", ""), ("b", "\"a\"")]);
    let world = repository(World::with(&steps, &format!("set -e\n{BUILDS}\n{waits}")));
    let run = world.begin(&world.line(""));
    until("b waits", || world.programs().join("waits").exists());
    world.project.write("a.txt", "by a person\n");
    std::fs::write(world.programs().join("go"), "").unwrap();
    run.end().succeeds();
    let changes = changes(&world);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["paths"], json!(["a.txt"]));
    assert_eq!(changes[0]["during"], json!(["d2"]));
    assert_eq!(world.project.read("a.txt"), "by a person\n");
    assert_eq!(world.project.read("b.txt"), "b\n");
}

#[test]
fn what_is_merged_is_nobody_s_stray_change() {
    let steps = [("a", ""), ("b", ""), ("c", "\"a\""), ("d", "\"b\"")];
    let world = repository(World::with(&graph(&steps), BUILDS));
    world.run("").succeeds();
    assert_eq!(changes(&world), Vec::<Value>::new());
    let left = world
        .project
        .git(["for-each-ref", "refs/gatewright"])
        .stdout;
    assert_eq!(left, "");
}

#[test]
fn a_killed_orchestrator_s_steps_are_compared_by_resume() {
    let waits = r#"touch "$here/moved"; while [ ! -e "$here/go" ]; do sleep 0.02; done"#;
    let script = format!(r#"[ -e "$here/go" ] || {{ {MOVES} {waits}; }}"#);
    let world = step(&script);
    let before = refs(&world);
    let run = world.begin(&world.line(""));
    until("the step has moved refs", || {
        world.programs().join("moved").exists()
    });
    run.kill();
    assert_ne!(refs(&world), before);
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(refs(&world), before);
    assert_eq!(moved(&world).len(), 7);
}

#[test]
fn a_stopped_run_has_put_everything_back() {
    let waits = r#"touch "$here/moved"; while :; do sleep 0.02; done"#;
    let world = step(&format!("{MOVES} {waits}"));
    let before = refs(&world);
    let run = world.begin(&world.line(""));
    until("the step has moved refs", || {
        world.programs().join("moved").exists()
    });
    run.interrupt();
    run.end().exits(130);
    assert_eq!(refs(&world), before);
    assert_eq!(moved(&world).len(), 7);
}

/// It works in the person's checkout, as the person does: nothing is undone.
#[test]
fn a_worker_in_the_project_may_commit_and_what_else_it_moves_is_recorded() {
    let world = repository(World::with(
        ONE,
        r#"
set -e
echo "note $count" > note.txt
git add note.txt
git commit --quiet --message=note
git switch --quiet --create mine
git branch --quiet -D old"#,
    ));
    world.run("").succeeds();
    let subject = ["log", "-1", "--format=%s", "main"];
    assert_eq!(world.project.git(subject).stdout, "note\n");
    assert!(!refs(&world).contains("refs/heads/old"));
    assert_eq!(moved(&world), ["refs/heads/old left worker"]);
}

#[test]
fn a_step_that_collects_garbage_breaks_no_work() {
    // The others end while it is at it, and more begin.
    let script = format!(
        r#"
case $GATEWRIGHT_STEP in
sweep)
    while [ "$(ls "$here/done" 2>/dev/null | wc -l)" -lt 6 ]; do
        git reflog expire --expire=now --all
        git gc --quiet --prune=now >> "$here/gc" 2>&1
        echo x >> "$here/swept"
    done ;;
*)
    while [ ! -e "$here/swept" ]; do sleep 0.02; done
    seq 1 200 > "$GATEWRIGHT_STEP-list"; mkdir -p "$here/done"; touch "$here/done/$GATEWRIGHT_STEP" ;;
esac
{BUILDS}"#
    );
    let steps = [
        ("a", ""),
        ("b", ""),
        ("c", ""),
        ("d", "\"a\""),
        ("e", "\"d\""),
        ("f", "\"e\""),
        ("sweep", ""),
    ];
    let world = World::with(&graph(&steps), &script);
    world.run("").succeeds();
    for (step, _) in steps {
        assert_eq!(
            world.project.read(format!("{step}.txt")),
            format!("{step}\n")
        );
    }
    world
        .project
        .git(["fsck", "--connectivity-only"])
        .succeeds();
}

/// Whatever its folder is then, only that try has failed.
#[test]
fn a_step_that_removes_its_worktree_or_replaces_it_by_a_link_begins_again() {
    for damage in [
        r#"rm -rf "$worktree""#,
        r#"rm -rf "$worktree"; ln -s "$here/private" "$worktree""#,
    ] {
        let script = format!(
            r#"worktree=$(pwd)
            if [ $count = 1 ]; then
                mkdir -p "$here/private/parts"
                echo private > "$here/private/diary.txt"
                echo '{{"status": "done", "by": 1}}' > "$here/private/parts/left.json"
                cd /; {damage}; exit 0
            fi"#
        );
        let world = step(&script);
        world.run("").succeeds();
        assert_eq!(world.project.read("left.txt"), "left\n", "{damage}");
        assert!(
            world.is_there("a.txt") && !world.is_there("diary.txt"),
            "{damage}"
        );
        let faults = world.history("ended");
        assert_eq!(
            faults[0]["fact"]["result"]["fault"], "crashed",
            "{faults:?}"
        );
        let listed = ["rev-list", "--all", "--objects"];
        let objects = world.project.git(listed).succeeds().stdout;
        assert!(!objects.contains("diary.txt"), "{objects}");
        assert!(world.programs().join("private/diary.txt").exists());
    }
}

/// Nobody can look for ignored files there, but the work counts.
#[test]
fn a_step_that_removes_git_s_file_of_its_worktree_is_merged() {
    let world = step("rm .git");
    world.run("").succeeds();
    assert_eq!(world.project.read("left.txt"), "left\n");
}
