//! What a definition asks of its runners: `lint` says what they do not give, and `start` refuses it.

use testkit::Project;

use crate::fixture::{PROGRAM, fact, start};

/// A stage with one agent; what is special about it stands in the place of `MORE`.
const ONE: &str = r#"
name  = "one"
about = "One agent, and what it is asked."
start = "working"
BUDGET

[artifacts.note]
path   = "note.md"
format = "text"

[stages.working]
agent   = "worker"
leaves  = ["note"]
MORE
on.done = "checking"

[stages.checking]
check     = ["test -s note.md"]
on.passed = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"

[[prove]]
name    = "nothing completes unchecked"
before  = "complete"
through = ["checking"]
"#;

fn with(budget: &str, more: &str) -> Project {
    let project = Project::new(PROGRAM);
    project.write("work.sh", "#!/bin/sh\necho done > note.md\n");
    project.write("words.md", "Work.\n");
    project.write(
        "one.toml",
        ONE.replace("BUDGET", budget).replace("MORE", more),
    );
    project
}

/// What `lint` finds, each with its code, its line and what it says.
fn found(project: &Project) -> Vec<(String, u64, String)> {
    let facts = fact(project, "lint one.toml");
    let problems = facts["files"][0]["problems"].as_array().unwrap().clone();
    let told = problems.iter().map(|problem| {
        let text = |key: &str| problem[key].as_str().unwrap().to_owned();
        let line = problem["line"].as_u64().unwrap_or_default();
        (
            text("code"),
            line,
            format!("{}; {}", text("message"), text("hint")),
        )
    });
    told.collect()
}

#[test]
fn a_runner_gives_what_its_stage_asks_or_the_definition_is_refused() {
    for (more, code, line, words) in [
        (
            "runner = 'qwen'",
            "GW-L265",
            14,
            &["`qwen`", "claude, codex, gemini, command"][..],
        ),
        ("runner = 'codx'", "GW-L265", 14, &["`codx`", "`codex`"]),
        (
            "runner = 'command'",
            "GW-L266",
            14,
            &["'worker'", "`command`", "`prompt`"],
        ),
        (
            "runner = 'command'\nprompt = 'words.md'",
            "GW-L266",
            15,
            &["words.md"],
        ),
        (
            "runner = 'command'\nprompt = 'work.sh'\ntools.deny = ['Bash']",
            "GW-L267",
            14,
            &["working", "'worker'", "`command`"],
        ),
        (
            "runner = 'command'\nprompt = 'work.sh'\nconversation = 'same'",
            "GW-L267",
            16,
            &["'worker'", "`command`"],
        ),
    ] {
        let project = with("", more);
        let problems = found(&project);
        let [(found_code, found_line, said)] = problems.as_slice() else {
            panic!("not one problem: {problems:?}");
        };
        assert_eq!((found_code.as_str(), *found_line), (code, line), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        let refused = start(&project, "one.toml").exits(1);
        assert!(refused.stderr.contains(code), "{refused}");
    }
}

#[test]
fn what_every_runner_gives_is_accepted() {
    for more in [
        "",
        "tools.deny = ['Bash']\nconversation = 'same'",
        "runner = 'codex'\ntools.deny = ['Bash']",
        "runner = 'gemini'\nconversation = 'same'",
        "runner = 'command'\nprompt = 'work.sh'",
    ] {
        let problems = found(&with("", more));
        assert!(problems.is_empty(), "{more}: {problems:?}");
    }
}

#[test]
fn a_budget_that_nobody_counts_is_no_budget() {
    let script = "runner = 'command'\nprompt = 'work.sh'";
    for (budget, more, code) in [
        ("budget = { cost = '5.00' }", "", None),
        ("budget = { time = '2h' }", script, None),
        ("budget = { tokens = 1000 }", "runner = 'codex'", None),
        (
            "budget = { cost = '5.00' }",
            "runner = 'codex'",
            Some("GW-L267"),
        ),
        ("budget = { turns = 40 }", script, Some("GW-L267")),
    ] {
        let project = with(budget, more);
        let codes: Vec<String> = found(&project).into_iter().map(|it| it.0).collect();
        let expected: Vec<&str> = code.into_iter().collect();
        assert_eq!(codes, expected, "{budget} {more}");
    }
}

#[test]
fn a_budget_that_is_counted_in_part_is_worth_a_warning() {
    let project = with("budget = { cost = '5.00' }", "");
    let text = project.read("one.toml").replace(
        "on.done = \"checking\"",
        "on.done = \"helping\"\n\n[stages.helping]\nagent = \"helper\"\nrunner = \"codex\"\n\
         on.done = \"polishing\"\n\n[stages.polishing]\nagent = \"polisher\"\nrunner = \"gemini\"\n\
         on.done = \"checking\"",
    );
    project.write("one.toml", text);
    let problems = found(&project);
    let [(code, line, said)] = problems.as_slice() else {
        panic!("not one problem: {problems:?}");
    };
    assert_eq!((code.as_str(), *line), ("GW-L277", 5));
    // Each with its own runner.
    for name in ["'helper' (codex)", "'polisher' (gemini)"] {
        assert!(said.contains(name), "{said}");
    }
    start(&project, "one.toml").succeeds();
}
