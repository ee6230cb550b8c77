//! `diff RUN STAGE`: what each piece of work changed, and no more than is known.

use serde_json::Value;
use testkit::pipelines::SIDES;

use super::fixture::{World, says, until};

/// One writes, the commands fail once, and the same one fixes it; a reader looks at it.
const FIXED: &str = r#"
name  = "fixed"
about = "Write, check, fix, read."
start = "writing"

[artifacts.review]
path   = "review.txt"
format = "text"

[counters.fixes]
max  = 2
then = "stopped"

[stages.writing]
agent   = "writer"
on.done = "testing"

[stages.testing]
check     = ["grep -q hello code.txt"]
on.passed = "reading"
on.failed = { to = "fixing", count = "fixes" }

[stages.fixing]
agent   = "writer"
on.done = "testing"

[stages.reading]
agent   = "reader"
writes  = []
leaves  = ["review"]
on.done = "complete"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

const WORKS: &str = r#"
case $GATEWRIGHT_STAGE in
writing)
    printf 'token ghp_0123456789abcdefghijklmnopqrstuvwxyz\n' >> code.txt
    printf 'an \033[31mescape\n' > other.txt
    echo $$ >> "$here/workers"
    eval "$WAITS" ;;
fixing) echo hello >> code.txt; rm -f gone.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm fix ;;
reading) echo fine > review.txt ;;
esac"#;

fn world(script: &str) -> World {
    let world = World::with(FIXED, script);
    world.project.write("code.txt", "first\n");
    world.project.write("gone.txt", "soon gone\n");
    world.project.write("mine.txt", "of the person\n");
    let git = "git add code.txt gone.txt mine.txt && git -c user.name=a -c user.email=a@b commit -qm start";
    assert!(world.project.shell(git).status().unwrap().success());
    // What a person changed before the work began is not its change.
    world.project.write("mine.txt", "still of the person\n");
    world
}

fn work(world: &World, wanted: &str) -> Vec<Value> {
    let facts = world.facts(&format!("diff r-test {wanted}"));
    facts["work"].as_array().expect("a list").clone()
}

/// The files of a change with their lines.
fn files(work: &Value) -> Vec<String> {
    let files = work["files"].as_array().unwrap().iter();
    files
        .map(|file| {
            let path = file["path"].as_str().unwrap();
            let change = file["change"].as_str().unwrap();
            format!("{path} {change} +{} -{}", file["added"], file["removed"])
        })
        .collect()
}

#[test]
fn each_piece_of_work_has_its_own_change_without_secrets_and_escapes() {
    let world = world(WORKS);
    world.run("").succeeds();
    let writing = work(&world, "writing");
    assert_eq!(writing.len(), 1);
    assert_eq!(
        files(&writing[0]),
        ["code.txt changed +1 -0", "other.txt new +1 -0"]
    );
    let diff = writing[0]["diff"].as_str().unwrap();
    says(diff, "+token");
    assert!(!diff.contains("ghp_0123"), "{diff}");
    // It committed what it did, and that is its change all the same; the secret of the earlier work is not.
    let fixing = work(&world, "fixing");
    assert_eq!(
        files(&fixing[0]),
        ["code.txt changed +1 -0", "gone.txt removed +0 -1"]
    );
    assert_eq!(work(&world, "d2"), fixing);
    let changes = world.facts("show r-test")["report"]["changes"].clone();
    assert_eq!(changes[0]["dispatch"], "d1");
    assert_eq!(changes[0]["added"], 2);
    let shown = world.gatewright("diff r-test writing").succeeds().stdout;
    says(&shown, "'writer' in writing");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn what_is_not_known_is_not_claimed_and_a_bad_name_is_told() {
    let world = world(WORKS);
    world.run("").succeeds();
    let reading = work(&world, "reading");
    assert!(reading[0]["unknown"].is_string(), "{reading:?}");
    assert_eq!(reading[0]["diff"], Value::Null);
    let ran = world.gatewright("diff r-test writting").exits(3);
    says(&ran.stderr, "did you mean writing?");
    world.gatewright("diff r-test testing").exits(3);
    world.gatewright("diff r-test d99").exits(3);
    // A kept change that somebody broke is not known either.
    let kept = world.project.state().join("changes/r-test.d1");
    std::fs::write(kept, "{").unwrap();
    assert!(work(&world, "writing")[0]["unknown"].is_string());
}

#[test]
fn a_change_so_far_counts_from_the_start_also_after_a_kill() {
    let script = WORKS.replace(
        "eval \"$WAITS\"",
        "while [ ! -e \"$here/go\" ]; do sleep 0.05; done",
    );
    let world = world(&script);
    let run = world.begin(&world.line(""));
    until("it works", || world.noted("workers").len() == 1);
    let so_far = work(&world, "writing");
    assert_eq!(so_far[0]["so_far"], true);
    assert_eq!(files(&so_far[0])[0], "code.txt changed +1 -0");
    run.kill();
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("resume r-test").succeeds();
    // It began once, and wrote its line twice.
    let whole = work(&world, "writing");
    assert_eq!(whole[0]["so_far"], false);
    assert_eq!(files(&whole[0])[0], "code.txt changed +2 -0");
}

/// The left one commits half of its work, as agents do.
const BUILDS: &str = r#"
echo "$GATEWRIGHT_STEP token ghp_0123456789abcdefghijklmnopqrstuvwxyz" > "$GATEWRIGHT_STEP.txt"
if [ "$GATEWRIGHT_STEP" = left ]; then
    git add -A; git -c user.name=a -c user.email=a@b commit -qm half
    echo more >> code.txt
fi
echo $$ >> "$here/workers"
while [ ! -e "$here/go" ]; do sleep 0.05; done
"#;

#[test]
fn each_parallel_step_has_its_own_change_also_while_it_works() {
    let world = World::with(SIDES, BUILDS);
    world.project.write("code.txt", "first\n");
    let git = "git add code.txt && git -c user.name=a -c user.email=a@b commit -qm start";
    assert!(world.project.shell(git).status().unwrap().success());
    world.project.write("mine.txt", "of the person\n");
    let run = world.begin(&world.line(""));
    until("both work", || world.noted("workers").len() == 2);
    let expected = [
        vec!["code.txt changed +1 -0", "left.txt new +1 -0"],
        vec!["right.txt new +1 -0"],
    ];
    let all = |so_far: bool| {
        let mut found = work(&world, "building");
        assert_eq!(found.len(), 2, "{found:?}");
        found.sort_by_key(|work| std::cmp::Reverse(work["all"].as_u64()));
        for (work, expected) in found.iter().zip(&expected) {
            assert_eq!(work["so_far"], so_far, "{work}");
            assert_eq!(files(work), *expected, "{work}");
            let diff = work["diff"].as_str().unwrap();
            assert!(!diff.contains("ghp_0123"), "{diff}");
        }
    };
    all(true);
    std::fs::write(world.programs().join("go"), "").unwrap();
    run.end().succeeds();
    all(false);
    let shown = world.gatewright("diff r-test d1").succeeds().stdout;
    says(&shown, "'builder' in building");
}
