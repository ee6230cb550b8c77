//! An ordinary day in every stage of the built-in pipelines: nothing of it is refused.

mod other_tools;
mod plan_mode;
mod way;

use serde_json::{Value, json};
use testkit::claude::Claude;
use testkit::model::{Actor, Model, Turn, agent_in_foreground, bash, call, hold, say};

use crate::stage::{Stage, program};
use way::{ANSIBLE, MULTI_AI, PHASES, Way, held};

/// Lines of shell that a session types every day.
const LINES: [&str; 56] = [
    "python3 -c \"print(2 * 3 > 5)\"",
    "python3 -c 'from math import *; print(pi)'",
    "python3 - <<'END'\nopen('notes.txt', 'w').write('* a bullet')\nEND",
    "awk 'BEGIN { if (2 * 3 > 5) print \"* \" }'",
    "perl -e 'print 2 * 3 > 5' || true",
    "node -e 'console.log([1, 2].map(x => x * 2) > 5)' || true",
    "echo 'select * from users where id > 3'",
    "echo '0 9 * * * backup' > crontab.txt",
    "printf '%s\\n' '* one' '* two' >> list.md",
    "find . -name '*.bak' -exec rm {} \\;",
    "find . -name '*.tmp' -delete",
    "rm -rf {dist,build}",
    "mkdir -p tpl && touch tpl/a.txt && cp -r tpl/* .",
    "touch *",
    "rm -f *.bak",
    "ls -la ~/.claude 2>/dev/null || true",
    "cat .claude/settings.json 2>/dev/null || true",
    "grep -rn settings.json . | head -3 || true",
    "git status --short",
    "git log --oneline | head -3 || true",
    "git diff HEAD --stat || true",
    "git add notes.txt 2>/dev/null || true",
    "git commit -qm 'notes: claude -p was tried, > 2 * faster' || true",
    "git stash list",
    "git checkout -q -b topic 2>/dev/null; git branch",
    "git checkout -- . || true",
    "mkdir -p src && echo 'fn main() {}' > src/main.rs",
    "sed -i 's/main/main/' src/main.rs 2>/dev/null || true",
    "sed -n 1,5p src/main.rs 2>/dev/null || true",
    "make -n 2>/dev/null || true",
    "cargo --version || true",
    "npm --version 2>/dev/null || true",
    "for f in a b c; do echo \"$f\" > \"$f.txt\"; done",
    "while read -r line; do echo \"$line\"; done < list.md || true",
    "if [ -e a.txt ]; then mv a.txt moved.txt; fi",
    "tar czf /tmp/ordinary-$$.tgz src 2>/dev/null; rm -f /tmp/ordinary-$$.tgz",
    "curl --version | head -1 || true",
    "which claude codex gemini || true",
    "command -v claude || true",
    "claude --version || true",
    "claude agents --help >/dev/null || true",
    "env | grep -c PATH",
    "export FOO=bar; echo $FOO",
    "cd src && ls && cd ..",
    "(cd src && pwd); pwd",
    "chmod u+x src/main.rs || true",
    "chmod -R u+w src || true",
    "ln -sf src/main.rs link.rs",
    "diff src/main.rs link.rs || true",
    "sort -u list.md -o sorted.md || true",
    "echo done | tee log.txt",
    "cat > big.txt <<'END'\nclaude -p hi\ngatewright reset\nrm -rf .claude\nEND",
    "sleep 0",
    "date +%s > stamp.txt",
    "head -c 70000 /dev/zero | tr '\\0' x > long.txt",
    "wc -c long.txt",
];

/// Our own commands that are everybody's.
const OURS: [&str; 6] = ["status", "next", "list --all", "why", "metrics", "lint"];

/// What is asked for with other tools.
fn others(stage: &Stage) -> Vec<Turn> {
    let path = |name: &str| stage.path(name).to_string_lossy().into_owned();
    vec![
        call("Read", json!({"file_path": path(".gitignore")})),
        call(
            "Write",
            json!({"file_path": path("hello.md"), "content": "rm -rf .claude\n"}),
        ),
        call("Glob", json!({"pattern": "**/*.rs"})),
        call("Grep", json!({"pattern": "claude", "path": path("")})),
        call(
            "TaskCreate",
            json!({"subject": "look", "description": "look around"}),
        ),
        call("WebSearch", json!({"query": "how to write a test"})),
        call(
            "mcp__notes__keep",
            json!({"name": "settings.json", "text": "claude -p hi > .claude/settings.json"}),
        ),
        call("mcp__notes__find", json!({"name": "settings.json"})),
        call("ListMcpResourcesTool", json!({"server": "notes"})),
        call(
            "ReadMcpResourceTool",
            json!({"server": "notes", "uri": "note:///settings.json"}),
        ),
        agent_in_foreground("Explore", "GO-EXPLORE: look around"),
    ]
}

/// How many lines of shell are typed in each stage.
const LINES_IN_A_STAGE: usize = 9;

/// A server of the Model Context Protocol that keeps notes in a folder. The host starts it.
const NOTES: &str = include_str!("ordinary/notes_server.py");

/// The host with the server of notes, whose tools the person has allowed.
fn with_notes(stage: &Stage, claude: Claude) -> Claude {
    let home = stage.project.home();
    let (server, notes) = (home.join("notes_server.py"), home.join("notes"));
    let servers = home.join("servers.json");
    std::fs::write(&server, NOTES).expect("the server can be written");
    let command = json!({"command": "python3", "args": [&server, notes]});
    let text = json!({"mcpServers": {"notes": command}}).to_string();
    std::fs::write(&servers, text).expect("the list of servers can be written");
    let tools = ["mcp__notes", "ListMcpResourcesTool", "ReadMcpResourceTool"];
    claude
        .allow(tools)
        .arguments(["--mcp-config".into(), servers.into_os_string()])
}

/// The calls of one stage, the next ones of the whole list each time.
fn batch(stage: &Stage, place: usize, helpers: bool) -> Vec<Turn> {
    let ours = OURS.map(|words| format!("{} {words} || true", program()));
    let lines = LINES.iter().copied().chain(ours.iter().map(String::as_str));
    let lines: Vec<&str> = lines.collect();
    let from = place * LINES_IN_A_STAGE;
    let picked = (from..from + LINES_IN_A_STAGE).map(|at| lines[at % lines.len()]);
    let mut calls: Vec<Turn> = picked.map(bash).collect();
    calls.extend(others(stage));
    if !helpers {
        calls.pop();
    }
    calls
}

fn explorer() -> Actor {
    Actor::new(
        "GO-EXPLORE",
        [bash("ls; git log --oneline | head -1"), say("SEEN")],
    )
}

/// Nothing was refused, and the calls were really made.
fn check(stage: &Stage, calls: usize) {
    let journal = stage.journal();
    let refused: Vec<&Value> = journal
        .iter()
        .filter(|entry| entry["fact"]["kind"] == "refused")
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let requests = stage.model.requests_of("GO-MAIN");
    let answered = requests.last().map_or(0, |last| last.tool_results().len());
    assert!(
        answered >= calls,
        "{answered} of {calls} calls were answered"
    );
    let told = stage.model.told("GO-MAIN");
    assert!(!told.contains("GW-R101"), "{told}");
    // The server of notes has answered.
    assert!(told.contains("KEPT settings.json"), "{told}");
    assert!(told.contains("note:///settings.json"), "{told}");
}

/// A run on this way, with a part of the list in each stage that it comes to.
fn a_day(way: &Way, start: &str) -> usize {
    let scene = Stage::builtin(way.pipeline, []);
    let mut turns = vec![bash(&start.replace("gatewright", program()))];
    turns.append(&mut batch(&scene, 0, true));
    for at in 0..way.legs.len() {
        let mut next = vec![bash("true")];
        if way.is_new(at) {
            next.append(&mut batch(&scene, at + 1, true));
        }
        let began = next.remove(0);
        turns.push(hold(&held(at), began));
        turns.append(&mut next);
    }
    let calls = turns.len();
    turns.extend((0..6).map(|_| say("END")));
    let stage = Stage {
        model: Model::start([Actor::new("GO-MAIN", turns), explorer()]),
        ..scene
    };
    let running = with_notes(&stage, stage.claude()).begin("GO-MAIN: begin");
    way.walk(&stage, |_| ());
    running.wait();
    check(&stage, calls);
    calls
}

#[test]
fn nothing_of_an_ordinary_day_is_refused_in_ansible() {
    let start = "gatewright start ansible --task 'a playbook' --param target=site.yml";
    assert!(a_day(&ANSIBLE, start) >= 140);
}

#[test]
fn nothing_of_an_ordinary_day_is_refused_in_multi_ai() {
    let start = "gatewright start multi-ai --task 'greet people' --param mode=simple";
    assert!(a_day(&MULTI_AI, start) >= 260);
}

#[test]
fn nothing_of_an_ordinary_day_is_refused_in_phases() {
    let start = "gatewright start phases --task 'greet people'";
    assert!(a_day(&PHASES, start) >= 80);
}

/// Its stages are left by agents, and in `IDLE` also helpers wait until context is there.
#[test]
fn nothing_of_an_ordinary_day_is_refused_in_context_first() {
    let scene = Stage::builtin("context-first", []);
    let mut turns = batch(&scene, 0, false);
    for (at, agent) in [
        "context-gatherer",
        "context-refiner",
        "strategic-orchestrator",
    ]
    .into_iter()
    .enumerate()
    {
        turns.push(agent_in_foreground(agent, "GO-WORKER: work"));
        turns.append(&mut batch(&scene, at + 1, true));
    }
    let calls = turns.len();
    turns.extend((0..6).map(|_| say("END")));
    let worker: Vec<Turn> = batch(&scene, 4, false)
        .into_iter()
        .chain([say("ALL SEEN")])
        .collect();
    let stage = Stage {
        model: Model::start([
            Actor::new("GO-MAIN", turns),
            explorer(),
            Actor::new("GO-WORKER", worker),
        ]),
        ..scene
    };
    with_notes(&stage, stage.claude()).ask("GO-MAIN: begin");
    check(&stage, calls);
}
