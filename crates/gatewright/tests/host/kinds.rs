//! The other kinds of stages: steps, checks, reviews, and the session's own work.

use serde_json::json;
use testkit::model::{Actor, Turn, agent_in_foreground, bash, call, make, say, send_message};

use crate::stage::{Stage, is_refused, program};

fn start() -> Turn {
    bash(&format!("{} start story --task 'a story'", program()))
}

fn leave(path: &str, text: &str) -> Turn {
    bash(&format!(
        "mkdir -p parts; cat > {path} <<'END'\n{text}\nEND"
    ))
}

const STEPS: &str = r#"
name   = "story"
about  = "Build two parts and join them."
begins = "command"
start  = "building"

[artifacts.part]
path   = "parts/{step}.txt"
format = "text"

[stages.building]
steps   = [
  { id = "left",  title = "the left part",  agent = "writer" },
  { id = "right", title = "the right part", agent = "writer" },
  { id = "join",  title = "join them",      agent = "critic", needs = ["left", "right"] },
]
leaves    = ["part"]
stop      = "hold"
on.done   = "complete"
on.failed = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

#[test]
fn steps_of_one_agent_are_named_and_begin_in_one_message() {
    let both = agent_in_foreground("writer", "step: left\nGO-LEFT")
        .and_also(agent_in_foreground("writer", "step: right\nGO-RIGHT"));
    let stage = Stage::with(
        STEPS,
        [
            Actor::new(
                "GO-MAIN",
                [
                    start(),
                    agent_in_foreground("writer", "GO-UNNAMED"),
                    agent_in_foreground("critic", "step: join\nGO-EARLY"),
                    both,
                    agent_in_foreground("critic", "step: join\nGO-JOIN"),
                    say("END"),
                ],
            ),
            Actor::new("GO-UNNAMED", [say("NEVER")]),
            Actor::new("GO-EARLY", [say("NEVER")]),
            Actor::new("GO-LEFT", [leave("parts/left.txt", "left"), say("LEFT")]),
            Actor::new(
                "GO-RIGHT",
                [leave("parts/right.txt", "right"), say("RIGHT")],
            ),
            Actor::new(
                "GO-JOIN",
                [leave("parts/join.txt", "joined"), say("JOINED")],
            ),
        ],
    );
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R13", "'writer'"), "{told}");
    assert!(is_refused(&told, "GW-R14", "left, right"), "{told}");
    assert!(stage.model.requests_of("GO-UNNAMED").is_empty());
    assert!(stage.model.requests_of("GO-EARLY").is_empty());
    assert!(!told.contains("GW-R27"), "{told}");
    // Each reads what its own step leaves, whichever of the two the host started first.
    for (worker, path) in [
        ("GO-LEFT", "parts/left.txt"),
        ("GO-RIGHT", "parts/right.txt"),
    ] {
        let told = stage.model.told(worker);
        assert!(told.contains(path), "{told}");
    }
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
}

#[test]
fn a_list_of_the_host_cannot_run_ahead_of_the_steps() {
    let made = |subject: &str| {
        call(
            "TaskCreate",
            json!({"subject": subject, "description": "d"}),
        )
    };
    let done = |id: &str| call("TaskUpdate", json!({"taskId": id, "status": "completed"}));
    let stage = Stage::with(
        STEPS,
        [
            Actor::new(
                "GO-MAIN",
                [
                    start(),
                    made("left: the left part"),
                    made("lunch: something else"),
                    done("1"),
                    done("2"),
                    agent_in_foreground("writer", "step: left\nGO-LEFT"),
                    done("1"),
                    say("END"),
                ],
            ),
            Actor::new("GO-LEFT", [leave("parts/left.txt", "left"), say("LEFT")]),
        ],
    );
    let claude = stage.claude().env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    claude.ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R28", "left"), "{told}");
    assert_eq!(stage.count("GW-R28"), 1, "{}", stage.history());
}

const CHECKED: &str = r#"
name   = "story"
about  = "Write something, and have it checked by a command."
begins = "command"
start  = "writing"

[counters]
repairs = { max = 2, then = "given_up" }

[artifacts.notes]
path   = "notes.md"
format = "text"

[stages.writing]
agent   = "session"
leaves  = ["notes"]
stop    = "hold"
on.done = "checking"

[stages.checking]
check     = ["grep -q done notes.md"]
stop      = "hold"
on.passed = "complete"
on.failed = { to = "mending", count = "repairs" }

[stages.mending]
agent   = "writer"
leaves  = ["notes"]
stop    = "hold"
on.done = "checking"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

#[test]
fn the_session_works_itself_and_the_engine_runs_the_check() {
    let check = || bash(&format!("{} check", program()));
    let stage = Stage::with(
        CHECKED,
        [
            Actor::new(
                "GO-MAIN",
                [
                    start(),
                    say("I HAVE WRITTEN IT"),
                    call(
                        "Write",
                        json!({"file_path": "notes.md", "content": "to do\n"}),
                    ),
                    say("NOW I HAVE"),
                    bash("echo ALL TESTS PASSED"),
                    check(),
                    agent_in_foreground("writer", "GO-WRITER"),
                    check(),
                    say("END"),
                ],
            ),
            Actor::new("GO-WRITER", [bash("echo done > notes.md"), say("MENDED")]),
        ],
    );
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("notes"), "{told}");
    assert!(told.contains("gatewright check"), "{told}");
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    let journal = stage.journal();
    let checks = journal
        .iter()
        .filter(|entry| entry["fact"]["kind"] == "checked")
        .count();
    assert_eq!(checks, 2, "{}", stage.history());
}

const REVIEWED: &str = r#"
name   = "story"
about  = "Write something, and have it reviewed by two."
begins = "command"
start  = "writing"

[artifacts.first]
path    = "first.json"
format  = "json"
outcome = { field = "verdict", values = { yes = "approved", no = "needs_changes" } }

[artifacts.second]
path    = "second.json"
format  = "json"
outcome = { field = "verdict", values = { yes = "approved", no = "needs_changes" } }

[stages.writing]
agent   = "writer"
on.done = "reviewing"

[stages.reviewing]
review      = "writer"
panel       = [
  { agent = "critic", leaves = "first" },
  { agent = "helper", leaves = "second" },
]
rounds      = 3
stop        = "hold"
on.approved = "complete"
on.exceeded = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

#[test]
fn a_review_finds_something_and_the_owner_mends_it_in_its_own_conversation() {
    let yes = r#"{"verdict": "yes"}"#;
    let stage = Stage::with(
        REVIEWED,
        [
            Actor::new(
                "GO-MAIN",
                [
                    start(),
                    agent_in_foreground("writer", "GO-WRITER"),
                    agent_in_foreground("helper", "GO-EARLY"),
                    agent_in_foreground("critic", "GO-CRITIC-1"),
                    make(|request| {
                        let ids = request.agent_ids();
                        send_message(ids.first().map_or("", String::as_str), "GO ON: mend it")
                    }),
                    say("WAITING"),
                    agent_in_foreground("helper", "GO-HELPER-1"),
                    agent_in_foreground("critic", "GO-CRITIC-2"),
                    agent_in_foreground("helper", "GO-HELPER-2"),
                    say("END"),
                    say("END"),
                    say("END"),
                    say("END"),
                ],
            ),
            Actor::new(
                "GO-WRITER",
                [
                    bash("echo text > text.txt"),
                    say("WRITTEN"),
                    bash("echo better >> text.txt"),
                    say("MENDED"),
                ],
            ),
            Actor::new("GO-EARLY", [say("NEVER")]),
            Actor::new(
                "GO-CRITIC-1",
                [leave("first.json", r#"{"verdict": "no"}"#), say("NO")],
            ),
            Actor::new("GO-HELPER-1", [leave("second.json", yes), say("YES")]),
            Actor::new("GO-CRITIC-2", [leave("first.json", yes), say("YES")]),
            Actor::new(
                "GO-HELPER-2",
                [leave("second.json", &format!("{yes} ")), say("YES")],
            ),
        ],
    );
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R11", "'helper'"), "{told}");
    assert_eq!(
        stage.project.read("text.txt"),
        "text\nbetter\n",
        "{}",
        stage.history()
    );
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
}
