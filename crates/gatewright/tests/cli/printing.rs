//! What is printed: JSON that is JSON, colour only where it is wanted, nothing that steers a terminal.

use std::fs::OpenOptions;
use std::process::Stdio;

use serde_json::Value;
use testkit::{Project, Ran};

use crate::fixture::{RUN, SMALL, project, run, start, started, trusted};

/// Where the drawing names the place of a stage: `s4[...` in Mermaid, `s4 [...` in DOT.
fn place(drawn: &str, stage: &str) -> String {
    let mut lines = drawn.lines().map(str::trim);
    let line = lines.find(|line| line.contains(&format!("\"{stage} · ")));
    let line = line.unwrap_or_else(|| panic!("{stage} is drawn: {drawn}"));
    let end = line.find(|c: char| !c.is_alphanumeric());
    line[..end.unwrap_or(line.len())].to_owned()
}

#[test]
fn every_picture_shows_where_a_run_that_outgrew_its_route_goes() {
    let project = project();
    let drawn = |format: &str| {
        let line = format!("graph multi-ai --format {format}");
        run(&project, &line).succeeds().stdout
    };
    let quick = ["quick_implementing", "quick_reviewing", "quick_testing"];
    let (text, mermaid, dot, html) = (drawn("text"), drawn("mermaid"), drawn("dot"), drawn("html"));
    for stage in quick {
        let mut blocks = text.split("\n\n");
        let block = blocks.find(|block| block.trim_start().starts_with(&format!("{stage} ")));
        let block = block.unwrap_or_else(|| panic!("{stage}: {text}"));
        let mut lines = block.lines();
        assert!(
            lines.any(|line| line.contains("outgrown") && line.contains("plan_drafting")),
            "{block}"
        );
        let goes = |drawn: &str, arrow: &str| {
            let (from, to) = (place(drawn, stage), place(drawn, "plan_drafting"));
            let found = drawn.lines().find(|line| {
                let line = line.trim();
                line.starts_with(&format!("{from} {arrow}")) && line.contains("outgrown sizing")
            });
            let found = found.unwrap_or_else(|| panic!("{stage} in {drawn}"));
            assert!(found.contains(&to), "{found}");
            found.to_owned()
        };
        assert!(goes(&mermaid, "-.->").ends_with(&place(&mermaid, "plan_drafting")));
        assert!(goes(&dot, "->").contains("style=dashed"));
        let line = format!("<title>{stage} → plan_drafting: outgrown sizing</title>");
        assert_eq!(html.matches(&line).count(), 1, "{stage}");
    }
    // Somebody who is asked there is a card, which tells of the same.
    let arrows = html.matches("→ plan_drafting: outgrown sizing<").count();
    let cards = html.matches(">outgrown sizing → plan_drafting<").count();
    assert_eq!(arrows + cards, mermaid.matches("outgrown sizing").count());
    // A pipeline without a route has no such way.
    let none = run(&project, "graph ansible").succeeds().stdout;
    assert!(!none.contains("outgrown"), "{none}");
}

#[test]
fn the_picture_of_a_run_shows_where_it_was() {
    let project = trusted();
    run(&project, "start small.toml --task x --by-hand --id r-test").succeeds();
    let drawn = |line: &str| run(&project, line).succeeds().stdout;
    let start = drawn("graph --run r-test --format svg");
    assert_eq!(start.matches(">here: ").count(), 1, "{start}");
    assert!(!start.contains(" taken\""), "{start}");
    run(&project, "skip --reason x").succeeds();
    let moved = drawn("graph --run r-test --format svg");
    assert_eq!(moved.matches(">here: ").count(), 1, "{moved}");
    assert_eq!(moved.matches(" taken\"").count(), 1, "{moved}");
    assert_eq!(moved.matches(" passed\"").count(), 1, "{moved}");
    // The page has the same picture, and the pipeline alone has no place.
    assert!(drawn("graph --run r-test --format html").contains(&moved));
    assert!(!drawn("graph small.toml --format svg").contains(">here: "));
}

#[test]
fn everything_that_prints_facts_prints_json() {
    let project = trusted();
    for (line, code) in [
        ("pipelines", 0),
        ("pipelines ansible", 0),
        ("lint small.toml", 0),
        ("graph small.toml", 0),
        ("graph ansible --format dot", 0),
        ("graph ansible --format html", 0),
        ("schema", 0),
        ("exit-codes", 0),
        ("list", 0),
        ("verify", 0),
        ("gc --dry-run", 0),
        ("trust small.toml --show", 0),
        ("trust --list", 0),
        ("start small.toml --task x --by-hand --id r-test", 0),
        ("list", 0),
        ("status", 0),
        ("next", 0),
        ("report --agent reader", 1),
        ("report --outcome crashed", 0),
        ("skip --reason x", 0),
        ("checkpoint r-test here", 0),
        ("check", 1),
        ("restore r-test here --reason x", 0),
        ("skip --as passed --reason x", 0),
        ("answer", 0),
        ("answer yes", 0),
        ("history", 0),
        ("why r-test", 0),
        ("graph --run r-test --format mermaid", 0),
        ("graph --run r-test --format svg", 0),
        ("fork r-test --at 1 --id r-fork", 0),
        ("reset r-test --reason x", 0),
        ("retry r-test", 1),
        ("finish r-test", 1),
        ("export r-test", 0),
        ("cancel r-test --reason x", 0),
        ("verify", 0),
        ("verify --repair", 0),
        ("gc", 0),
        ("demo", 0),
    ] {
        project.write("note.md", "Hallo\n");
        let ran = run(&project, &format!("{line} --json")).exits(code);
        let parsed = serde_json::from_str::<Value>(&ran.stdout);
        assert!(parsed.is_ok(), "{line}: {parsed:?}\n{ran}");
    }
}

#[test]
fn problems_of_a_definition_are_json_too() {
    let project = project();
    project.write("bad.toml", "name = 3\n");
    let ran = run(&project, "lint bad.toml --json").exits(1);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let problem = &found["files"][0]["problems"][0];
    assert_eq!(
        (
            found["files"][0]["accepted"].as_bool(),
            problem["line"].as_u64()
        ),
        (Some(false), Some(1))
    );
    assert!(
        problem["code"].as_str().unwrap().starts_with("GW-L"),
        "{found}"
    );
}

fn colourful(ran: &Ran) -> bool {
    ran.stdout.contains('\u{1b}') || ran.stderr.contains('\u{1b}')
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let project = started();
    assert!(!colourful(&run(&project, "status")));
    assert!(!colourful(&run(&project, "report --agent reader")));
    assert!(colourful(&run(&project, "status --color always")));
    assert!(colourful(&run(
        &project,
        "report --agent reader --color always"
    )));
    assert!(!colourful(&run(&project, "status --color never")));
    let mut command = project.command(["status", "--color", "always"]);
    command.env("NO_COLOR", "1");
    assert!(
        colourful(&Ran::from(command.output().unwrap())),
        "who asks, gets it"
    );
}

/// The program on a terminal of its own, which `script` makes.
fn on_a_terminal(project: &Project, line: &str, no_color: bool) -> String {
    let program = crate::fixture::PROGRAM;
    let shell = format!("{program} {line}");
    let mut command = project.at_home("script");
    command.args(["-qec", &shell, "/dev/null"]);
    command.env("TERM", "xterm");
    if no_color {
        command.env("NO_COLOR", "1");
    }
    let output = command
        .output()
        .expect("script (of util-linux) is installed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_terminal_gets_colour_unless_no_color_is_set() {
    let project = started();
    assert!(on_a_terminal(&project, "status", false).contains("\u{1b}["));
    assert!(!on_a_terminal(&project, "status", true).contains('\u{1b}'));
}

/// What attackers put into texts: colours, window titles, the clipboard, direction marks.
const HOSTILE: &str = "evil\u{1b}[31m\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}1m\u{202e}\r\u{8}\u{e0041}text";

/// A run whose pipeline, task, artifact, check and reasons are all hostile.
fn hostile() -> Project {
    let project = project();
    let pipeline = SMALL
        .replace(
            "Shall it be reviewed?",
            "Shall\\u001b[31m it\\u009b1m be reviewed?",
        )
        .replace("grep -q Hello note.md", "grep -c Hello note.md missing.md")
        .replace("Write a note", "Write\\u001b[31m a note");
    project.write("small.toml", pipeline);
    let arguments = [
        "start",
        "small.toml",
        "--task",
        HOSTILE,
        "--by-hand",
        "--id",
        RUN,
    ];
    project.trust("small.toml");
    project.run(arguments).succeeds();
    project.write("note.md", format!("Hello {HOSTILE}\n"));
    run(&project, "report").succeeds();
    run(&project, "check").exits(1);
    for outcome in ["done", "passed"] {
        project
            .run(["skip", "--as", outcome, "--reason", HOSTILE])
            .succeeds();
    }
    project
}

#[test]
fn no_text_of_others_steers_the_terminal() {
    let project = hostile();
    for line in [
        "list",
        "status",
        "next",
        "history",
        "why r-test 2",
        "why r-test",
        "answer",
        "verify",
        "export r-test --format md",
        "export r-test --format json",
        "list --json",
        "status --json",
        "history --json",
        "graph small.toml",
        "graph small.toml --format dot",
        "graph small.toml --format mermaid",
        "graph small.toml --format html",
        "graph small.toml --format svg",
        "graph --run r-test",
        "graph --run r-test --format svg",
        "pipelines ./small.toml",
        "trust small.toml --show",
        "trust --list",
        "lint small.toml",
    ] {
        let ran = run(&project, line).succeeds();
        steers_nothing(line, &ran);
        assert!(!ran.stdout.is_empty(), "{line}");
    }
    let shown = on_a_terminal(&project, "export r-test", true);
    assert!(shown.contains("\\u009b"), "{shown}");
    assert!(!shown.contains(['\u{9b}', '\u{202e}']), "{shown}");
}

#[test]
fn no_complaint_steers_the_terminal() {
    let project = hostile();
    for arguments in [
        vec!["answer", "r-test", HOSTILE],
        vec![HOSTILE],
        vec!["status", HOSTILE],
        vec!["start", HOSTILE, "--task", "x", "--by-hand"],
        vec!["lint", HOSTILE],
        vec!["restore", "r-test", HOSTILE, "--reason", "x"],
        vec!["report", "--artifact", HOSTILE],
        vec!["cancel", "r-test", "--reason", HOSTILE],
    ] {
        steers_nothing(arguments[0], &project.run(&arguments));
    }
    let bad = format!("# {HOSTILE}\nname = 3 # {HOSTILE}\n\"{HOSTILE}\" = 1\n");
    project.write("bad.toml", bad);
    project.write(
        "worse.toml",
        SMALL.replace("writer", "wri\\u001b[31mter\\u202e"),
    );
    for line in [
        "lint bad.toml",
        "lint worse.toml",
        "start bad.toml --task x --by-hand",
    ] {
        steers_nothing(line, &run(&project, line).exits(1));
    }
}

#[track_caller]
fn steers_nothing(what: &str, ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let found = text
            .chars()
            .find(|c| (c.is_control() && !"\n\t".contains(*c)) || "\u{202e}\u{e0041}".contains(*c));
        assert_eq!(found, None, "{what}\n{ran:?}");
    }
}

#[test]
fn a_reader_who_has_gone_is_no_failure() {
    let project = started();
    for line in [
        "status",
        "list --json",
        "history",
        "schema",
        "demo",
        "--help",
        "checkpoint r-test here",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = project.command(line.split_whitespace());
        let output = command.stdout(Stdio::from(writer)).output().unwrap();
        let ran = Ran::from(output);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(0), ""),
            "{line}\n{ran}"
        );
    }
    assert_eq!(
        crate::fixture::entries(&project, RUN),
        2,
        "what was done stays done"
    );
}

#[test]
fn an_output_that_cannot_be_written_is_told() {
    let project = started();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = project
        .command(["status"])
        .stdout(Stdio::from(full))
        .output()
        .unwrap();
    crate::fixture::says_one_line(Ran::from(output), 4, &["gatewright: "]);
}

#[test]
fn secrets_are_neither_kept_nor_shown() {
    let project = trusted();
    let secret = "hunter2hunter2";
    let mut command = project.command(["start", "small.toml", "--by-hand", "--id", RUN, "--task"]);
    command.arg(format!(
        "use {secret} and ghp_0123456789abcdefghijklmnopqrstuvwxyz"
    ));
    Ran::from(command.env("SERVICE_TOKEN", secret).output().unwrap()).succeeds();
    project.write("note.md", format!("Hello {secret}\n"));
    let mut command = project.command(["report"]);
    Ran::from(command.env("SERVICE_TOKEN", secret).output().unwrap()).succeeds();
    let mut command = project.command(["check"]);
    Ran::from(command.env("SERVICE_TOKEN", secret).output().unwrap()).succeeds();
    let export = run(&project, "export r-test").succeeds().stdout;
    assert!(
        !export.contains(secret) && !export.contains("ghp_0123456789"),
        "{export}"
    );
    assert!(export.contains("redacted"), "{export}");
}

#[test]
fn help_is_there_for_every_command() {
    let project = project();
    let help = run(&project, "--help").succeeds();
    for exit in ["Exit codes:", "  70  "] {
        assert!(help.stdout.contains(exit), "{help}");
    }
    let codes = run(&project, "help exit-codes").succeeds().stdout;
    for code in ["0  ", "1  ", "2  ", "3  ", "4  ", "5  ", "70  "] {
        assert!(codes.contains(code), "{code}\n{codes}");
    }
    let start = run(&project, "help start").succeeds().stdout;
    assert!(start.contains("--by-hand"), "{start}");
    // A topic is a page of the documentation; a command of the same name is shown before it.
    let rules = run(&project, "help rules").succeeds().stdout;
    assert!(rules.contains("GW-R01") && rules.contains("GW-L201"));
    let doctor = run(&project, "help doctor").succeeds().stdout;
    assert!(doctor.contains("--live") && doctor.contains("| `probe` |"));
    let topics = run(&project, "help").succeeds().stdout;
    for part in ["Everyday:", "Set up:", "prove-guards", "reliability"] {
        assert!(topics.contains(part), "{part}\n{topics}");
    }
    run(&project, "help no-such-word").exits(2);
    run(&project, "--version").succeeds();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            !run(&project, &format!("completions {shell}"))
                .succeeds()
                .stdout
                .is_empty()
        );
    }
}

#[test]
fn a_failed_check_shows_what_the_command_said() {
    let project = project();
    project.write(
        "loud.toml",
        SMALL.replace("grep -q Hello note.md", "sh loud.sh"),
    );
    project.write("loud.sh", "echo the third line is wrong\nexit 3\n");
    start(&project, "loud.toml").succeeds();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let ran = run(&project, "check").exits(1);
    assert!(
        ran.stdout.contains("exit 3") && ran.stdout.contains("  the third line is wrong"),
        "{ran}"
    );
}
