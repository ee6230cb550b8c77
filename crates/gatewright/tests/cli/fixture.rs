//! What the tests share: a project with a small pipeline, and short ways to say what happens in it.

use std::ffi::OsStr;

use serde_json::Value;
use testkit::{Project, Ran};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gatewright");

/// An agent, a check, a question and a review: all that a run by hand goes through.
pub(crate) const SMALL: &str = r#"
name  = "small"
about = "Write a note, test it, ask, and have it reviewed."
start = "writing"

[counters]
fixes = { max = 2, then = "stopped" }

[artifacts.note]
path   = "note.md"
format = "text"

[artifacts.verdict]
path    = "verdict.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes", "needs_clarification"] }

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "testing"

[stages.testing]
check     = ["grep -q Hello note.md"]
on.passed = "asking"
on.failed = { to = "writing", count = "fixes" }

[stages.asking]
ask    = "Shall it be reviewed?"
on.yes = "reviewing"
on.no  = "stopped"

[stages.reviewing]
review = "writer"
panel  = [{ agent = "reader", leaves = "verdict" }]
rounds = 3
reads  = ["note"]
fixes  = ["note"]
on.approved            = "complete"
on.needs_clarification = "asking"
on.exceeded            = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"

[[prove]]
name    = "nothing completes untested or unreviewed"
before  = "complete"
through = ["testing", "reviewing"]
"#;

/// The run that most tests are about.
pub(crate) const RUN: &str = "r-test";

/// A project with the small pipeline in it.
pub(crate) fn project() -> Project {
    let project = Project::new(PROGRAM);
    project.write("small.toml", SMALL);
    project
}

/// The same, trusted by a person.
pub(crate) fn trusted() -> Project {
    let project = project();
    project.trust("small.toml");
    project
}

/// The same with a run that has just been started.
pub(crate) fn started() -> Project {
    let project = project();
    start(&project, "small.toml").succeeds();
    project
}

/// A person trusts the pipeline, as far as it can be read, and starts it.
pub(crate) fn start(project: &Project, pipeline: &str) -> Ran {
    project.person(["trust", pipeline], "yes\n");
    project.run([
        "start",
        pipeline,
        "--task",
        "write a note",
        "--by-hand",
        "--id",
        RUN,
    ])
}

/// Runs a line of words; none of them holds a space.
pub(crate) fn run(project: &Project, line: &str) -> Ran {
    project.run(line.split_whitespace())
}

/// The facts that a command prints, which must be one JSON value and nothing else.
#[track_caller]
pub(crate) fn facts<A: AsRef<OsStr>>(
    project: &Project,
    arguments: impl IntoIterator<Item = A>,
) -> Value {
    let words = arguments.into_iter().map(|word| word.as_ref().to_owned());
    let ran = project.run(words.chain(["--json".into()]));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|problem| panic!("{problem}\n{ran}"))
}

#[track_caller]
pub(crate) fn fact(project: &Project, line: &str) -> Value {
    facts(project, line.split_whitespace())
}

/// The runs of every project, over or not.
#[track_caller]
pub(crate) fn number_of_runs(project: &Project) -> usize {
    let listed = fact(project, "list --all");
    listed["runs"].as_array().unwrap().len()
}

/// Waits until the clock has moved on since the run ended, so that `gc --older-than 0s` takes it.
#[track_caller]
pub(crate) fn until_old_enough(project: &Project) {
    testkit::until("the run is old enough", || {
        fact(project, "gc --older-than 0s --dry-run")["runs"] == 1
    });
}

/// Where the run is.
#[track_caller]
pub(crate) fn stage(project: &Project) -> String {
    let facts = facts(project, ["status", RUN]);
    let stage = facts["stage"]["name"].as_str().or(facts["stage"].as_str());
    stage
        .unwrap_or_else(|| panic!("no stage in {facts}"))
        .to_owned()
}

#[track_caller]
pub(crate) fn status(project: &Project) -> String {
    let facts = facts(project, ["status", RUN]);
    facts["status"]
        .as_str()
        .unwrap_or_else(|| panic!("no status in {facts}"))
        .to_owned()
}

/// How many entries the run has.
#[track_caller]
pub(crate) fn entries(project: &Project, run: &str) -> usize {
    let facts = facts(project, ["history", run]);
    facts["entries"]
        .as_array()
        .unwrap_or_else(|| panic!("no entries in {facts}"))
        .len()
}

/// Insists on one line of talk, which names these words, and on nothing else.
#[track_caller]
pub(crate) fn says_one_line(ran: Ran, code: i32, words: &[&str]) -> Ran {
    let ran = ran.exits(code);
    assert_eq!(ran.stderr.lines().count(), 1, "not one line\n{ran}");
    assert_eq!(ran.stdout, "", "facts where none were to be\n{ran}");
    for word in words {
        assert!(ran.stderr.contains(word), "does not say {word:?}\n{ran}");
    }
    ran
}

/// Goes from the start to the question.
pub(crate) fn to_the_question(project: &Project) {
    project.write("note.md", "Hello\n");
    run(project, "report").succeeds();
    run(project, "check").succeeds();
}

/// Goes from the question to the end.
pub(crate) fn to_the_end(project: &Project) {
    run(project, "answer yes").succeeds();
    project.write("verdict.json", r#"{"status": "approved"}"#);
    run(project, "report --agent reader").succeeds();
}
