//! People: asked at the terminal or elsewhere, with several questions at once or in advance.

use serde_json::Value;
use testkit::Ran;

use super::fixture::{ONE, WRITES, World, says, until};

/// A person is asked, and `again` asks once more after more work.
const ASKED: &str = r#"
name  = "asked"
about = "Ask a person."
start = "agreeing"

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.agreeing]
ask      = "Is this what you want?"
on.yes   = "complete"
on.again = "writing"
on.no    = "stopped"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "agreeing"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// A worker that asks a question first.
pub(super) const QUESTIONS: &str = r#"
name  = "questions"
about = "Have a worker ask."
start = "writing"

[artifacts.signal]
path    = "signal.json"
format  = "json"
outcome = { field = "status", values = ["completed", "needs_input"] }

[artifacts.answers]
from = "answers"

[stages.writing]
agent          = "writer"
reads          = ["answers?"]
leaves         = ["signal"]
on.completed   = "complete"
on.needs_input = "asking"

[stages.asking]
ask         = "The worker has questions."
from        = "signal.questions"
leaves      = "answers"
on.answered = "@interrupted"

[stages.complete]
end = "completed"
"#;

pub(super) const ASKS_TWICE: &str = r#"
if [ "$count" = 1 ]; then
    echo '{"status": "needs_input", "questions": [{"id": "q1", "question": "Which colour?", "options": ["red", "blue"]}, {"id": "q2", "question": "How many?"}]}' > signal.json
else
    echo '{"status": "completed"}' > signal.json
fi
"#;

/// Who answered, and what, in the order of the history.
fn answers(world: &World) -> Vec<(String, String)> {
    let entries = world.history("answered").into_iter();
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let texts = entries.map(|entry| (text(&entry["by"]["name"]), text(&entry["fact"]["answer"])));
    texts.collect()
}

fn at_a_terminal(world: &World, more: &str, typed: &str) -> Ran {
    world.person(&world.line(more), typed)
}

#[test]
fn a_question_is_shown_at_the_terminal_with_its_choices_until_one_of_them_is_typed() {
    let world = World::with(ASKED, WRITES);
    let ran = at_a_terminal(&world, "", "perhaps\nyes\n").succeeds();
    says(&ran.stdout, "Is this what you want?");
    says(&ran.stdout, "again / no / yes");
    says(&ran.stdout, "'perhaps'");
    says(&ran.stdout, "r-test completed");
    let answers = answers(&world);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].1, "yes");
}

#[test]
fn whoever_leaves_the_terminal_leaves_the_run_as_it_is() {
    let world = World::with(ASKED, WRITES);
    // Ctrl-D is all that is typed.
    let ran = at_a_terminal(&world, "", "");
    says(&ran.stdout, "gatewright resume r-test");
    assert_eq!(world.status("r-test"), "waiting");
    world.gatewright("answer r-test yes").succeeds();
    assert_eq!(world.status("r-test"), "completed");
}

#[test]
fn a_workers_questions_are_one_pause_and_it_is_told_the_answers() {
    let world = World::with(QUESTIONS, ASKS_TWICE);
    let ran = at_a_terminal(&world, "", "blue\nseven of them\n").succeeds();
    says(&ran.stdout, "Which colour? (red, blue)");
    says(&ran.stdout, "How many?");
    assert_eq!(world.starts(), ["writing", "writing"]);
    let told = world.prompt(2);
    says(&told, "blue");
    says(&told, "seven of them");
    assert_eq!(world.history("answered").len(), 1);
}

#[test]
fn without_a_terminal_the_run_waits_and_goes_on_after_an_answer_from_elsewhere() {
    let world = World::with(QUESTIONS, ASKS_TWICE);
    let waits = world.run("").exits(6);
    says(&waits.stdout, "The worker has questions.");
    says(&waits.stderr, "gatewright resume r-test");
    let again = world.gatewright("resume r-test").exits(6);
    says(&again.stdout, "r-test");
    assert_eq!(world.starts(), ["writing"], "nobody works meanwhile");
    world
        .gatewright("answer r-test --answer q1=red --answer q2=2")
        .succeeds();
    world.gatewright("resume r-test").succeeds();
    says(&world.prompt(2), "red");
}

#[test]
fn a_fork_is_driven_as_the_run_that_it_comes_from() {
    let world = World::with(ASKED, WRITES);
    let notify = world.programs().join("told");
    world.program("told", r#"echo "$GATEWRIGHT_RUN" >> "$here/notices""#);
    let worked = || {
        let starts = world.starts().into_iter();
        starts.filter(|at| at == "writing").count()
    };
    let more = format!("--answer agreeing=again --notify {}", notify.display());
    world.run(&more).exits(6);
    assert_eq!(worked(), 1);
    world
        .person("fork r-test --at 1 --id r-fork", "")
        .succeeds();
    // The answer in advance sends it to the stand-in, and then it asks again.
    world.gatewright("resume r-fork").exits(6);
    assert_eq!(worked(), 2);
    assert_eq!(world.noted("notices"), ["r-test", "r-fork"]);
}

#[test]
fn who_stays_goes_on_when_somebody_answers_elsewhere() {
    let world = World::with(ASKED, WRITES);
    let staying = world.begin(&world.line("--wait"));
    until("it waits", || {
        let ran = world.gatewright("status r-test --json");
        ran.stdout.contains("\"waiting\"")
    });
    world.gatewright("answer r-test yes").succeeds();
    let ran = staying.end().succeeds();
    says(&ran.stdout, "r-test completed");
    assert_eq!(answers(&world).len(), 1);
}

#[test]
fn an_answer_in_advance_counts_once_and_stands_in_the_history_with_who_gave_it() {
    let world = World::with(ASKED, WRITES);
    // The first question is answered in advance; the second one is the same and is not.
    let ran = world.run("--answer agreeing=again").exits(6);
    says(&ran.stderr, "again");
    assert_eq!(world.starts(), ["writing"]);
    let answers = answers(&world);
    assert_eq!(answers.len(), 1);
    says(&answers[0].0, "in advance");
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.starts(), ["writing"], "it counts once");
}

#[test]
fn an_answer_in_advance_that_nobody_will_ask_for_is_refused_before_anything_begins() {
    let world = World::with(ASKED, WRITES);
    for (answer, because) in [
        ("elsewhere=yes", "elsewhere"),
        ("agreeing=perhaps", "'perhaps'"),
        ("writing=done", "'done'"),
        ("agreeing", "STAGE=CHOICE"),
        ("agreeing=yes --answer agreeing=no", "--answer agreeing"),
    ] {
        let ran = world.run(&format!("--answer {answer}")).exits(2);
        says(&ran.stderr, because);
    }
    let runs = world.facts("list --all");
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(0), "{runs}");
}

/// Nobody tries again by itself, and the worker of the first start fails.
fn failing_once() -> World {
    let definition = ONE.replace("on.done", "retry = 0\non.done");
    let script = format!("[ $count = 1 ] && exit 3\n{WRITES}");
    World::with(&definition, &script)
}

/// Who did what about it, of the facts of this kind.
fn decided(world: &World, kind: &str) -> Vec<Value> {
    let entries = world.history(kind);
    let by_a_person = |entry: &&Value| entry["by"]["kind"] == "person";
    entries.iter().filter(by_a_person).cloned().collect()
}

#[test]
fn a_run_that_is_stuck_offers_at_the_terminal_to_try_again() {
    let world = failing_once();
    let ran = at_a_terminal(&world, "", "perhaps\nretry\n").succeeds();
    says(&ran.stdout, "exit code 3");
    says(&ran.stdout, "retry / skip / cancel: ");
    says(&ran.stdout, "'perhaps'");
    assert_eq!(world.starts(), ["writing", "writing"]);
    assert_eq!(decided(&world, "unstuck").len(), 1);
}

#[test]
fn a_stuck_stage_is_skipped_at_the_terminal_with_a_reason_and_the_runs_id() {
    let world = failing_once();
    // A skip without a reason, and one without the id, are none.
    let typed = "skip\n\nskip\nit is there\nyes\nskip\nit is there\nr-test\n";
    let ran = at_a_terminal(&world, "", typed).succeeds();
    says(&ran.stdout, "Type r-test");
    let skipped = decided(&world, "overridden");
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    says(&skipped[0].to_string(), "it is there");
    assert_eq!(world.starts(), ["writing"]);
}

#[test]
fn a_stuck_run_is_cancelled_at_the_terminal() {
    let world = failing_once();
    let ran = at_a_terminal(&world, "", "cancel\nenough\nr-test\n").exits(1);
    says(&ran.stdout, "r-test cancelled");
    assert_eq!(decided(&world, "cancelled").len(), 1);
    assert_eq!(world.status("r-test"), "cancelled");
}

#[test]
fn a_stuck_run_waits_where_nobody_sits_at_a_terminal_or_whoever_sat_there_leaves() {
    let world = failing_once();
    world.run("").exits(6);
    world.person("resume r-test", "");
    assert_eq!(world.status("r-test"), "waiting");
    world.gatewright("retry r-test").succeeds();
    world.gatewright("resume r-test").succeeds();
}

/// A note is written, and a person is asked about it.
const NOTED: &str = r#"
name  = "noted"
about = "Ask about a note."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "agreeing"

[stages.agreeing]
ask    = "Is the note right?"
on.yes = { to = "complete", approves = ["note"] }
on.no  = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// A run that asks about the note, which the person changes before they come to the terminal.
fn edited() -> World {
    let world = World::with(NOTED, WRITES);
    world.run("").exits(6);
    world.project.write("note.txt", "as I want it\n");
    world
}

fn note(world: &World) -> String {
    let kept = world.gatewright("export r-test --artifact note").succeeds();
    kept.stdout
}

#[test]
fn whoever_changed_an_artifact_is_asked_at_the_terminal_whether_it_counts() {
    let world = edited();
    let ran = world.person("resume r-test", "yes\nyes\n").succeeds();
    says(&ran.stdout, "GW-R125");
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(note(&world), "as I want it\n");
    // Or they say it at once.
    let world = edited();
    let ran = world
        .person("resume r-test", "yes --with-edits\n")
        .succeeds();
    assert!(!ran.stdout.contains("GW-R125"), "{ran}");
    assert_eq!(note(&world), "as I want it\n");
}

#[test]
fn an_edit_that_its_person_does_not_take_at_the_terminal_is_not_taken() {
    let world = edited();
    world.person("resume r-test", "yes\nno\n");
    assert_eq!(world.status("r-test"), "waiting");
    assert_ne!(note(&world), "as I want it\n");
    assert!(answers(&world).is_empty());
}

/// One agent that may change nothing, in the person's own tree. It waits until somebody lets it go on.
fn reading() -> World {
    let reads = r#"touch "$here/reads"
while [ ! -e "$here/go" ]; do sleep 0.02; done
echo "note $count" > note.txt"#;
    World::with(&ONE.replace("on.done", "writes = []\non.done"), reads)
}

/// Nobody can tell who changed a file in a tree that a person and a worker share.
#[test]
fn a_person_s_own_edit_while_a_worker_reads_is_asked_about_and_never_undone() {
    let world = reading();
    world.project.write("mine.txt", "before\n");
    let run = world.begin(&world.line(""));
    until("it reads", || world.programs().join("reads").exists());
    world.project.write("mine.txt", "the person's\n");
    std::fs::write(world.programs().join("go"), "").unwrap();
    let ran = run.end().exits(6);
    assert_eq!(
        world.starts().len(),
        1,
        "no worker is told to undo it\n{ran}"
    );
    says(&ran.stdout, "mine.txt");
    assert_eq!(world.history("retried").len(), 0);
    assert_eq!(world.project.read("mine.txt"), "the person's\n");
    let inbox = &world.facts("inbox")["inbox"];
    let asks = inbox[0]["asks"].as_str().unwrap();
    says(
        asks,
        "mine.txt changed while 'writer' worked, which may change nothing",
    );
    says(asks, "`retry` keeps your edit");
    for screen in ["inbox", "next r-test", "status r-test"] {
        let said = world.gatewright(screen).succeeds().stdout;
        assert!(
            !said.contains("undo only"),
            "{screen} speaks to an agent: {said}"
        );
    }
    // The person has seen it, and goes on with the files as they are.
    world.gatewright("retry r-test").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert!(!world.prompt(2).contains("undo"), "{}", world.prompt(2));
    assert_eq!(world.project.read("mine.txt"), "the person's\n");
    world.gatewright("verify r-test").succeeds();
}

/// Nor is one that could be sent back into its conversation.
#[test]
fn no_conversation_goes_on_to_undo_what_may_be_the_person_s_edit() {
    let one = ONE.replace("on.done", "runner = \"codex\"\nwrites = []\non.done");
    let world = World::with(&one, "");
    world.program(
        "codex",
        r#"touch "$here/reads"
while [ ! -e "$here/go" ]; do sleep 0.02; done
echo "note $count" > note.txt
echo '{"type":"thread.started","thread_id":"01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4"}'
echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":990,"output_tokens":10}}'"#,
    );
    world.project.write("mine.txt", "before\n");
    let run = world.begin("run pipeline.toml --task try --id r-test");
    until("it reads", || world.programs().join("reads").exists());
    world.project.write("mine.txt", "the person's\n");
    std::fs::write(world.programs().join("go"), "").unwrap();
    let ran = run.end().exits(6);
    assert_eq!(world.starts().len(), 1, "{ran}");
    assert_eq!(world.project.read("mine.txt"), "the person's\n");
}

/// On a branch of its own only the worker can have changed it.
#[test]
fn a_worker_alone_in_its_worktree_is_told_to_undo_its_change() {
    let script = r#"echo "note $count" > note.txt
if [ "$count" = 1 ]; then echo weaker > test.txt; else rm test.txt; fi"#;
    let world = World::with(&ONE.replace("on.done", "writes = []\non.done"), script);
    world.run("--branch").succeeds();
    assert_eq!(world.starts().len(), 2);
    says(&world.prompt(2), "test.txt");
}
