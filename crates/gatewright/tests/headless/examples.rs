//! The pipelines in `examples/`: each one is accepted, keeps its scenarios, and runs from start to `completed`.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::{Project, Ran};

use super::fixture::{PROGRAM, World, says};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The names of all examples: each is a folder with files of its name.
fn names() -> Vec<String> {
    let entries = fs::read_dir(examples()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn each_example_is_accepted_and_its_scenarios_pass() {
    let project = Project::new(PROGRAM);
    let all = [
        "docs-too",
        "plan-first",
        "small-change",
        "tdd",
        "two-vendors",
    ];
    assert_eq!(names(), all);
    for name in names() {
        let folder = examples().join(&name);
        let file = |ending: &str| {
            folder
                .join(format!("{name}.{ending}"))
                .display()
                .to_string()
        };
        let lint = project.run(["lint", &file("toml")]).succeeds();
        assert!(!lint.to_string().contains("warning"), "{lint}");
        let test = project.run(["test", &file("md")]).succeeds();
        says(&test.stdout, " 0 failed");
        // A copy of it is a pipeline of one's own.
        project
            .run(["new", &name, "--from", &file("toml")])
            .succeeds();
        project.run(["lint", &name]).succeeds();
        project.run(["test", &name]).succeeds();
    }
}

/// A git project in which this example is copied and trusted, and this script plays its agents.
fn world(name: &str, script: &str) -> World {
    let world = World::new(Project::with_git(PROGRAM), script);
    let file = examples().join(name).join(format!("{name}.toml"));
    let file = file.display().to_string();
    world.project.run(["new", name, "--from", &file]).succeeds();
    world.project.trust_by_hash(name);
    // The tests of the project: code and tests must say the same.
    world.program("make", "cmp -s src/code tests/code");
    world
}

fn run(world: &World, words: &str) -> Ran {
    let agent = world.programs().join("agent");
    world.gatewright(&format!(
        "run {words} --task try --id r-test --stand-in {}",
        agent.display()
    ))
}

fn verdicts(world: &World) -> Vec<String> {
    let checks = world.history("checked").into_iter();
    let verdicts = checks.map(|entry| entry["fact"]["verdict"].clone());
    verdicts
        .map(|verdict| verdict.as_str().unwrap().to_owned())
        .collect()
}

/// The places of the agents, without those of the tests that Gatewright runs.
fn worked(world: &World) -> Vec<String> {
    let starts = world.noted("starts").into_iter();
    starts.filter(|line| !line.starts_with(' ')).collect()
}

#[test]
fn tests_fail_first_and_then_the_code_makes_them_pass() {
    let world = world(
        "tdd",
        r#"mkdir -p src tests
case $GATEWRIGHT_AGENT in
tester) echo wanted > tests/code ;;
coder) [ -e "$here/tried" ] && echo wanted > src/code || { echo wrong > src/code; touch "$here/tried"; } ;;
esac"#,
    );
    run(&world, "tdd").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(verdicts(&world), ["failed", "failed", "passed"]);
    assert_eq!(
        worked(&world),
        ["testing tester", "coding coder", "coding coder"]
    );
}

#[test]
fn a_coder_that_edits_a_test_does_not_get_through() {
    let world = world(
        "tdd",
        r#"mkdir -p src tests
case $GATEWRIGHT_AGENT in
tester) echo wanted > tests/code ;;
coder) echo easy > src/code; echo easy > tests/code ;;
esac"#,
    );
    let waits = run(&world, "tdd").exits(6);
    says(&waits.stdout, "Put them back");
    assert_eq!(verdicts(&world), ["failed"]);
    let ended = world.history("ended");
    assert_eq!(ended[1]["fact"]["result"]["fault"], "strayed", "{ended:?}");
}

const PLANS: &str = r#"mkdir -p .work src tests
case $GATEWRIGHT_AGENT in
planner) printf -- '---\ngoal: %s\nfiles: src/code\ntests: they say the same\n---\n1. Write it.\n' "$count" > .work/plan.md ;;
builder) echo wanted > tests/code; echo wanted > src/code ;;
esac"#;

#[test]
fn a_plan_waits_for_a_person_and_is_built() {
    let world = world("plan-first", PLANS);
    let waits = run(&world, "plan-first").exits(6);
    says(&waits.stdout, "Approve it");
    assert_eq!(worked(&world), ["planning planner"]);
    world.project.run(["answer", "change"]).succeeds();
    world.gatewright("resume").exits(6);
    world.project.run(["answer", "approve"]).succeeds();
    world.gatewright("resume").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(
        worked(&world),
        ["planning planner", "planning planner", "building builder"]
    );
    assert_eq!(verdicts(&world), ["passed"]);
}

/// The second reviewer finds something once.
const REVIEWS: &str = r#"mkdir -p .work
review() { printf '{"status": "%s", "summary": "number %s"}' "$1" "$count" > ".work/review-$2.json"; }
case $GATEWRIGHT_AGENT in
author) echo "$count" > work.txt ;;
reviewer) review approved claude ;;
review-codex) [ -e "$here/found" ] && review approved codex || { review needs_changes codex; touch "$here/found"; } ;;
esac"#;

#[test]
fn both_vendors_approve_the_same_files() {
    let world = world("two-vendors", REVIEWS);
    run(&world, "two-vendors").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(
        worked(&world),
        [
            "working author",
            "reviewing reviewer",
            "reviewing review-codex",
            "reviewing author",
            "reviewing reviewer",
            "reviewing review-codex",
        ]
    );
}

/// The docs are wrong once.
const DOCUMENTS: &str = r#"mkdir -p .work docs src tests
case $GATEWRIGHT_AGENT in
developer) echo wanted > src/code; echo wanted > tests/code ;;
documenter) echo "version $count" > docs/use.md ;;
comparer) [ -e "$here/read" ] && status=same || { status=docs_are_wrong; touch "$here/read"; }
  printf '{"status": "%s", "summary": "number %s"}' "$status" "$count" > .work/comparison.json ;;
esac"#;

#[test]
fn work_is_complete_when_its_docs_agree_with_it() {
    let world = world("docs-too", DOCUMENTS);
    run(&world, "docs-too").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(
        worked(&world),
        [
            "coding developer",
            "documenting documenter",
            "comparing comparer",
            "documenting documenter",
            "comparing comparer",
        ]
    );
    assert_eq!(verdicts(&world), ["passed", "passed"]);
}

#[test]
fn who_documents_changes_no_code() {
    let script = DOCUMENTS.replace("documenter) ", "documenter) echo more >> src/code; ");
    let world = world("docs-too", &script);
    let waits = run(&world, "docs-too").exits(6);
    says(&waits.stdout, "Put them back");
    let ended = world.history("ended");
    assert_eq!(ended[1]["fact"]["result"]["fault"], "strayed", "{ended:?}");
}

const BUILDS: &str = r#"mkdir -p .work src tests
case $GATEWRIGHT_AGENT in
small-planner) printf -- '---\ngoal: it works\nfiles: src/code\ntests: they say the same\n---\n1. Write it.\n' > .work/plan.md ;;
small-builder) echo wanted > src/code; echo wanted > tests/code ;;
small-reviewer) echo '{"status": "approved", "summary": "as planned"}' > .work/review.json ;;
esac"#;

#[test]
fn a_small_change_needs_no_plan_if_a_person_says_so() {
    let world = world("small-change", BUILDS);
    run(&world, "small-change --param size=small").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(worked(&world), ["quick_building small-builder"]);
}

#[test]
fn a_change_that_is_not_small_is_planned_and_reviewed_whatever_a_person_said() {
    let script = BUILDS.replace(
        "small-builder) ",
        "small-builder) touch src/a src/b src/c; ",
    );
    let world = world("small-change", &script);
    run(&world, "small-change --param size=small").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(
        worked(&world),
        [
            "quick_building small-builder",
            "planning small-planner",
            "building small-builder",
            "reviewing small-reviewer",
        ]
    );
}
