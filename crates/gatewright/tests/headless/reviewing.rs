//! What reviewers and people get to see: the change since the run began, and the results of checks.

use std::fs;

use serde_json::Value;

use testkit::pipelines::PANEL;
use testkit::terminal::Terminal;

use super::fixture::{PROGRAM, World, says};

/// One writes, the commands check, one looks at it, and a person decides.
const REVIEWED: &str = r#"
name  = "reviewed"
about = "Have a change looked at."
start = "writing"

[artifacts.review]
path    = "review.json"
format  = "json"
outcome = { field = "status", values = ["approved", "rejected"] }

[stages.writing]
agent   = "writer"
on.done = "testing"

[stages.testing]
check     = ["grep -q hello code.txt"]
on.passed = "reviewing"
on.failed = "stopped"

[stages.reviewing]
agent       = "critic"
writes      = []
leaves      = ["review"]
on.approved = "agreeing"
on.rejected = "stopped"

[stages.agreeing]
ask    = "Take it?"
on.yes = "complete"
on.no  = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

const WORKS: &str = r#"
case $GATEWRIGHT_AGENT in
writer) echo "hello world" >> code.txt; echo new > other.txt; eval "$EXTRA" ;;
critic) echo '{ "status": "approved" }' > review.json ;;
esac"#;

/// `ca` always objects, and `CB` stands for what `cb` says.
const PANEL_WORKS: &str = r#"
case $GATEWRIGHT_AGENT in
writer) echo "note $count" > note.txt ;;
ca) echo '{ "status": "needs_changes", "findings": ["the key is in the log", "'"$MORE"'"], "count": '$count' }' > ra.json ;;
cb) echo '{ "status": "CB", "findings": ["a test is missing"], "count": '$count' }' > rb.json ;;
esac"#;

fn world(script: &str) -> World {
    let world = World::with(REVIEWED, script);
    world.project.write("code.txt", "first\nlast\n");
    world.project.write("mine.txt", "of the person\n");
    let git = "git add code.txt && git -c user.name=a -c user.email=a@b commit -qm start";
    assert!(world.project.shell(git).status().unwrap().success());
    // What a person changed before the run began is not its change.
    world.project.write("mine.txt", "still of the person\n");
    world
}

#[test]
fn a_reviewer_gets_the_diff_the_files_and_the_results_of_checks() {
    let world = world(WORKS);
    world.run("").exits(6);
    let writer = world.prompt(1);
    assert!(!writer.contains("+hello"), "{writer}");
    let critic = world.prompt(2);
    for part in [
        "2 files changed since the run began",
        "code.txt (changed, +1 -0)",
        "other.txt (new, +1 -0)",
        "\n+hello world\n",
        " last\n",
        "testing passed",
        "$ grep -q hello code.txt: exit 0",
    ] {
        says(&critic, part);
    }
    assert!(!critic.contains("mine.txt"), "{critic}");
}

#[test]
fn on_a_branch_reviewers_and_people_see_the_change_also_what_the_worker_committed() {
    let commits = "git add other.txt && git -c user.name=w -c user.email=w@x commit -qm own";
    let world = world(&WORKS.replace("eval \"$EXTRA\"", commits));
    world.run("--branch").exits(6);
    let critic = world.prompt(2);
    for part in [
        "2 files changed since the run began",
        "code.txt (changed, +1 -0)",
        "other.txt (new, +1 -0)",
        "\n+hello world\n",
    ] {
        says(&critic, part);
    }
    let next = world.facts("next r-test");
    assert_eq!(next["change"]["all"], 2, "{next}");
    let diff = world.facts("diff r-test");
    assert_eq!(diff["since"], "start");
    assert_eq!(diff["all"], 2, "{diff}");
}

/// The work is an artifact, and so is the verdict.
const NOTED: &str = r#"
name  = "noted"
about = "Have a note written and looked at."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[artifacts.ticket]
path   = ".task/ticket.txt"
format = "text"

[artifacts.verdict]
path    = "verdict.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[stages.writing]
agent   = "writer"
leaves  = ["note", "ticket"]
on.done = "looking"

[stages.looking]
review      = "writer"
panel       = [{ agent = "critic", leaves = "verdict" }]
rounds      = 1
on.approved = "agreeing"
on.exceeded = "agreeing"

[stages.agreeing]
ask    = "Is this fine?"
on.yes = "complete"

[stages.complete]
end = "completed"
"#;

const NOTES: &str = r#"
case $GATEWRIGHT_AGENT in
writer) echo "the real work" > note.txt; mkdir -p .task; echo "of the run" > .task/ticket.txt ;;
critic) echo '{ "status": "approved" }' > verdict.json ;;
esac"#;

#[test]
fn work_that_is_an_artifact_is_seen_by_reviewers_and_people_and_a_verdict_is_not() {
    for place in ["--in-place", "--branch"] {
        let world = World::with(NOTED, NOTES);
        world.project.write(".gitignore", ".task/\n");
        world.project.write("note.txt", "the old work\n");
        world.project.git(["add", "--all"]);
        world.project.git(["commit", "--quiet", "--message=start"]);
        world.run(place).exits(6);
        let critic = world.prompt(2);
        for part in [
            "1 file changed since the run began",
            "note.txt (changed, +1 -1)",
            "\n-the old work\n+the real work\n",
        ] {
            says(&critic, part);
        }
        let next = world.gatewright("next r-test").succeeds();
        says(&next.stdout, "+the real work");
        let diff = world.facts("diff r-test");
        assert_eq!(diff["all"], 1, "{place}: {diff}");
        assert_eq!(diff["files"][0]["path"], "note.txt", "{diff}");
    }
}

/// A note of each step, and then a question.
const STEPPED: &str = r#"
name  = "stepped"
about = "Have notes written at once."
start = "building"

[artifacts.note]
path   = "note-{step}.txt"
format = "text"

[stages.building]
steps = [
    { id = "left", title = "The left side", agent = "builder" },
    { id = "right", title = "The right side", agent = "builder" },
]
max_parallel = 2
leaves       = ["note"]
on.done      = "agreeing"
on.failed    = "complete"

[stages.agreeing]
ask    = "Is this fine?"
on.yes = "complete"

[stages.complete]
end = "completed"
"#;

#[test]
fn a_question_after_steps_shows_what_each_left() {
    let world = World::with(STEPPED, r#"echo "same" > note-$GATEWRIGHT_STEP.txt"#);
    world.run("").exits(6);
    let next = world.gatewright("next r-test").succeeds();
    for part in [
        "note, from step left:\n    same",
        "note, from step right:\n    same",
        "2 files changed since the run began",
        "note-left.txt (new, +1 -0)",
        "note-right.txt (new, +1 -0)",
    ] {
        says(&next.stdout, part);
    }
    let about = &world.facts("next r-test")["about"];
    assert_eq!(about[0]["step"], "left", "{about}");
    assert_eq!(about[1]["step"], "right", "{about}");
}

#[test]
fn a_long_diff_is_cut_in_the_prompt_and_complete_in_a_file() {
    let many = "i=0; while [ $i -lt 60000 ]; do echo \"line $i\"; i=$((i + 1)); done >> code.txt";
    let world = world(&WORKS.replace("eval \"$EXTRA\"", many));
    world.run("").exits(6);
    let critic = world.prompt(2);
    says(&critic, "cut here");
    assert!(critic.len() < 300_000, "{}", critic.len());
    let (_, rest) = critic.split_once("complete in `").unwrap();
    let whole = fs::read_to_string(rest.split('`').next().unwrap()).unwrap();
    says(&whole, "+line 59999\n");
}

#[test]
fn what_is_secret_is_in_no_diff() {
    let world = world(&WORKS.replace(
        "eval \"$EXTRA\"",
        "echo token ghp_0123456789abcdefghijklmnopqrstuvwxyz >> code.txt",
    ));
    world.run("").exits(6);
    let critic = world.prompt(2);
    says(&critic, "+token");
    assert!(!critic.contains("ghp_0123"), "{critic}");
}

#[test]
fn a_question_shows_what_it_asks_about() {
    let world = world(WORKS);
    world.run("").exits(6);
    for line in ["next r-test", "answer r-test"] {
        let ran = world.gatewright(line).succeeds();
        says(&ran.stdout, "other.txt (new");
        says(&ran.stdout, "+hello world");
        says(&ran.stdout, "approved");
        says(&ran.stdout, "testing passed\n      $ ");
    }
    let next = world.facts("next r-test");
    assert_eq!(next["change"]["all"], 2, "{next}");
    let diff = world.facts("diff r-test");
    assert_eq!(diff["since"], "start");
    assert_eq!(diff["checks"][0]["stage"], "testing");
    says(diff["diff"].as_str().unwrap(), "+hello world");
    // At the prompt of a terminal, too.
    let ran = world.person("resume r-test", "no\n");
    says(&ran.stdout, "+hello world");
    assert_eq!(world.status("r-test"), "failed");
}

#[test]
fn without_git_nothing_is_compared_and_the_run_goes_on() {
    let world = World::new(testkit::Project::new(PROGRAM), WORKS);
    world.pipeline(REVIEWED);
    world.project.write("code.txt", "first\n");
    world.run("").exits(6);
    assert_eq!(world.facts("next r-test")["change"], Value::Null);
    says(&world.gatewright("diff r-test").exits(1).stderr, "git");
}

#[test]
fn a_question_after_a_review_shows_what_each_reviewer_said() {
    let world = World::with(PANEL, &PANEL_WORKS.replace("CB", "approved"));
    world.run("").exits(6);
    let shown = |text: &str| {
        let objects = text.find("ra, from 'ca' (needs_changes):");
        let approves = text.find("rb, from 'cb' (approved):");
        assert!(objects.is_some() && objects < approves, "{text}");
        says(text, "the key is in the log");
    };
    for line in ["next r-test", "answer r-test"] {
        shown(&world.gatewright(line).succeeds().stdout);
    }
    let next = world.facts("next r-test");
    let about = next["about"].as_array().unwrap();
    let said: Vec<_> = about
        .iter()
        .map(|it| (it["reviewer"].as_str(), it["verdict"].as_str()))
        .collect();
    let ca = (Some("ca"), Some("needs_changes"));
    assert_eq!(said, [ca, (Some("cb"), Some("approved"))], "{next}");
    let inbox = world.gatewright("inbox").succeeds().stdout;
    says(&inbox, "ra, from 'ca' (needs_changes)");
    // At the prompt of a terminal, too.
    let ran = world.person("resume r-test", "stop\n");
    shown(&ran.stdout);
    assert_eq!(world.status("r-test"), "failed");
}

#[test]
fn a_question_shows_all_findings_although_the_owner_fixed_last() {
    let world = World::with(PANEL, &PANEL_WORKS.replace("CB", "needs_changes"));
    world.run("").exits(6);
    assert_eq!(world.noted("starts").last().unwrap(), "reviewing writer");
    let next = world.facts("next r-test");
    let about = next["about"].as_array().unwrap();
    let names: Vec<&str> = about
        .iter()
        .map(|it| it["artifact"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ra", "rb", "note"], "{next}");
    // The latest of each, and the command beside it prints the same.
    for shown in about {
        let command = shown["shown_by"].as_str().unwrap();
        let line = command.strip_prefix("gatewright ").unwrap();
        let exported = world.gatewright(line).succeeds().stdout;
        assert_eq!(shown["text"].as_str().unwrap(), exported, "{command}");
    }
    says(about[0]["text"].as_str().unwrap(), "\"count\": 6");
    let text = world.gatewright("next r-test").succeeds().stdout;
    for finding in ["the key is in the log", "a test is missing"] {
        says(&text, finding);
    }
    // Where `watch` asks, too.
    let mut command = world.project.at_home(PROGRAM);
    command.arg("watch");
    let terminal = Terminal::open(&command);
    terminal.resize(100, 60);
    says(
        &terminal.wait_for("press a to answer"),
        "ra, from 'ca' (needs_changes)",
    );
    terminal.type_text("a");
    let screen = terminal.wait_for("a test is missing");
    says(&screen, "the key is in the log");
}

#[test]
fn a_long_review_names_the_command_that_prints_all_of_it() {
    let more = r#"MORE="$(head -c 9000 /dev/zero | tr '\0' x)the end""#;
    let script = format!("{more}\n{}", PANEL_WORKS.replace("CB", "approved"));
    let world = World::with(PANEL, &script);
    world.run("").exits(6);
    let text = world.gatewright("next r-test").succeeds().stdout;
    says(&text, "the key is in the log");
    assert!(!text.contains("the end"), "{text}");
    says(&text, "`gatewright export r-test --artifact ra`");
    let whole = world.gatewright("export r-test --artifact ra").succeeds();
    says(&whole.stdout, "the end");
}
