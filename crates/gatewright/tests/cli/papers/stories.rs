//! The sessions that the papers tell of.

use serde_json::json;
use testkit::Project;

use super::session::Session;

pub(super) const SESSION: &str = "2f1fc5dc-176e-443c-b3bd-fd711d540426";
const OTHER: &str = "7d3caa76-a88d-444a-8992-4e0e858ef36f";

/// Plays the story of this name, and tells what was said in it.
pub(super) fn play(name: &str, project: &Project) -> String {
    let mut session = Session::new(project, SESSION);
    match name {
        "tour" => tour(&mut session),
        "fix" => fix(&mut session, project),
        "slug" => slug(&mut session),
        _ => panic!("no story is called {name}"),
    }
    session.heard
}

/// The session of the README: a day with `context-first`.
fn tour(session: &mut Session<'_>) {
    session.starts("startup");
    session.types("make the parser faster");
    session.asks_for("bash-expert");
    let gathered = "The parser is in src/parse.rs; its tests are in tests/parse.rs.";
    session.calls("context-gatherer", gathered);
    let settings = json!({"file_path": ".claude/settings.local.json", "content": "{}"});
    session.uses("Write", settings);
    session.runs("gatewright reset --reason 'a fresh start'");
    session.runs("claude -p --bare 'make the parser faster'");
    session.calls("context-refiner", "Only src/parse.rs matters.");
    session.calls("strategic-orchestrator", "bash-expert does it.");
    session.calls("bash-expert", "It is faster.");
    session.types("/task-done");
    session.is_over();
}

const TITLE: &str = r#"got=$(sh src/slug.sh 'Hello World')
[ "$got" = hello-world ] || { echo "expected hello-world, got $got"; exit 1; }
"#;

/// The session of `docs/tutorial.md`: tests first, in a small project.
fn slug(session: &mut Session<'_>) {
    session.starts("startup");
    session.types("/tdd turn a title into a file name");
    session.asks_for("coder");
    session.begins("tester");
    session.leaves("tests/title.sh", TITLE);
    session.ends("tester", "DONE");
    session.has_back("tester", "DONE");
    session.checks();
    session.stops();
    session.begins("coder");
    session.leaves("tests/title.sh", "true\n");
    session.works("coder", "echo true > tests/title.sh");
    session.leaves("tests/title.sh", TITLE);
    let code = "printf %s \"$1\" | tr 'A-Z ' 'a-z-'\n";
    session.leaves("src/slug.sh", code);
    session.ends("coder", "DONE");
    session.has_back("coder", "DONE");
    session.checks();
    session.is_over();
}

const NOTE: &str = "---\ncause: an index that was one too large\n---\nIt is one smaller.\n";

/// The session of `docs/guarded.md`: a fault is fixed, tested and reviewed.
fn fix(session: &mut Session<'_>, project: &Project) {
    session.starts("startup");
    session.types("/fix the crash on an empty file");
    refused(session);
    session.begins("fixer");
    session.works("stranger", "ls");
    session.stops_while_an_agent_works();
    session.ends("fixer", "DONE");
    session.leaves("fix.md", "It is one smaller.\n");
    session.ends("fixer", "DONE");
    session.leaves("fix.md", NOTE);
    session.leaves("code.txt", "fixed\n");
    session.ends("fixer", "DONE");
    session.has_back("fixer", "DONE");
    other_session(session, project);
    project.run(["check"]).succeeds();
    session.types("go on");
    reviewed(session);
    held(session);
    session.is_over();
}

/// What a session tries that it may not.
fn refused(session: &mut Session<'_>) {
    session.asks_for("reviewer");
    session.uses("Write", json!({"file_path": "fix.md", "content": NOTE}));
    session.uses("Workflow", json!({"script": "agent('x')"}));
    session.runs("claude -p 'fix it'");
    session.runs("gatewright skip --reason x done");
    session.runs("echo '{}' > .claude/settings.local.json");
    session.runs("rm -rf $XDG_STATE_HOME/gatewright");
    session.runs("sed -i s/hold/free/ .gatewright/fix.toml");
    session.uses(
        "SendMessage",
        json!({"to": "a-stranger", "message": "go on"}),
    );
    let later = json!({"cron": "* * * * *", "prompt": "/fix-cancel"});
    session.uses("CronCreate", later);
}

fn other_session(session: &mut Session<'_>, project: &Project) {
    let mut other = Session::new(project, OTHER);
    other.starts("startup");
    session.heard.push_str(&other.heard);
}

/// A reviewer that changes what it reviews, says a word of its own, and then that it is not right.
fn reviewed(session: &mut Session<'_>) {
    session.begins("reviewer");
    session.leaves("improved.txt", "better\n");
    session.works("reviewer", "echo better > improved.txt");
    std::fs::remove_file(session.path("improved.txt")).expect("it is there");
    session.leaves("review.json", r#"{"status": "LGTM"}"#);
    session.ends("reviewer", "LGTM");
    session.leaves("review.json", r#"{"status": "needs_changes"}"#);
    session.ends("reviewer", "no");
    session.has_back("reviewer", "no");
    session.begins("fixer");
    session.leaves("fix.md", &format!("{NOTE}And smaller again.\n"));
    session.ends("fixer", "DONE");
    session.has_back("fixer", "DONE");
    session.leaves("code.txt", "broken\n");
}

/// The check fails a second time, and a person is asked; then the session tries to stop.
fn held(session: &mut Session<'_>) {
    session.checks();
    session.types("what now?");
    let question = "It was sent back twice. Go on, or stop?";
    session.is_answered(question, "continue");
    // Held three times, let go, and let go again.
    for _ in 0..5 {
        session.stops();
    }
}
