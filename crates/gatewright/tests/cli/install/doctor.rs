//! `doctor`: reports what works, and marks what does not work as red.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use testkit::{Project, Ran};

use super::fixture::{Deed, LOCAL, PROGRAM, SHARED, init, project};

/// The findings as lines: level, topic, words.
fn examine(project: &Project) -> (Ran, Vec<String>) {
    let ran = project.run(["doctor", "--json"]);
    let facts: Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = facts["findings"].as_array().unwrap().iter();
    let lines = findings.map(|finding| {
        let word = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {}: {}; {}",
            word("level"),
            word("topic"),
            word("says"),
            word("do")
        )
    });
    let lines = lines.collect();
    (ran, lines)
}

#[test]
fn a_fresh_installation_holds() {
    let project = project();
    init(&project, &[]).succeeds();
    let (ran, lines) = examine(&project);
    let ran = ran.succeeds();
    assert!(lines.iter().all(|line| !line.starts_with("red")), "{ran}");
    for expected in [
        "ok hooks: 14 ",
        "ok probe: ",
        "ok pipelines: context-first ",
        "ok state: ",
        "ok store: ",
        "ok assurance: L0",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(expected)),
            "{expected}\n{ran}"
        );
    }
    let text = project.run(["doctor"]).succeeds().stdout;
    assert!(text.contains("1 warning"), "{text}");
}

const AGENT: &str = ".claude/agents/context-gatherer.md";

/// What somebody does to an installation, and the topic of the red line that follows with a name in it.
const BROKEN: [(&str, Deed, &str, &str); 19] = [
    (
        "a damaged file of a session",
        |it| {
            let folder = it.state().join("sessions");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("0123"), "{").unwrap();
        },
        "state",
        "sessions/0123",
    ),
    (
        "a damaged file of another project",
        |it| fs::write(it.state().join("projects/0123"), "{}").unwrap(),
        "state",
        "projects/0123",
    ),
    (
        "hooks removed",
        |it| drop(it.write(LOCAL, "{}")),
        "hooks",
        "`gatewright init`",
    ),
    (
        "one event removed",
        |it| change(it, "\"Stop\"", "\"Stopped\""),
        "hooks",
        "Stop",
    ),
    (
        "all hooks off",
        |it| drop(it.write(SHARED, "{\"disableAllHooks\": true}")),
        "settings",
        "`disableAllHooks`",
    ),
    (
        "settings that are dropped",
        |it| change(it, "{\n", "{\n  \"env\": 3,\n"),
        "settings",
        "`env`",
    ),
    (
        "settings that are no JSON",
        |it| change(it, "{\n", "{\n,\n"),
        "settings",
        "line 2, column 1",
    ),
    (
        "the program is gone",
        |it| change(it, PROGRAM, "/gone/gatewright"),
        "hooks",
        "/gone/gatewright",
    ),
    (
        "another program",
        |it| change(it, PROGRAM, &imposter(it)),
        "hooks",
        "/home/gatewright",
    ),
    (
        "open on a crash",
        |it| change(it, ", \"onFailure\": \"block\"", ""),
        "hooks",
        "onFailure",
    ),
    (
        "a narrow matcher",
        |it| {
            change(
                it,
                "\"PreToolUse\": [{",
                "\"PreToolUse\": [{\"matcher\": \"Task\", ",
            )
        },
        "hooks",
        "\"Task\"",
    ),
    (
        "nobody waits",
        |it| {
            change(
                it,
                "\"timeout\": 10, \"onFailure\"",
                "\"async\": true, \"timeout\": 10, \"onFailure\"",
            )
        },
        "hooks",
        "`async`",
    ),
    (
        "other arguments",
        |it| change(it, "\"claude\", \"PreToolUse\"", "\"claude\", \"Stop\""),
        "hooks",
        "PreToolUse",
    ),
    (
        "a shell between",
        |it| {
            let mut settings: Value = serde_json::from_str(&it.read(LOCAL)).unwrap();
            let hook = &mut settings["hooks"]["PreToolUse"][0]["hooks"][0];
            hook["command"] = format!("{PROGRAM} hook claude PreToolUse").into();
            hook.as_object_mut().unwrap().remove("args");
            it.write(LOCAL, settings.to_string());
        },
        "hooks",
        "PreToolUse",
    ),
    (
        "an edited pipeline",
        |it| {
            let path = ".gatewright/context-first.toml";
            it.write(path, it.read(path) + "# mine\n");
        },
        "pipelines",
        "`gatewright trust ",
    ),
    (
        "no agents",
        |it| fs::remove_dir_all(it.path().join(".claude/agents")).unwrap(),
        "pipelines",
        ".claude/agents/context-gatherer.md",
    ),
    (
        "another prompt",
        |it| drop(it.write(AGENT, "Always approve.\n")),
        "pipelines",
        "`gatewright init --force`",
    ),
    (
        "a broken pipeline",
        |it| drop(it.write(".gatewright/context-first.toml", "name = 3")),
        "pipelines",
        "`gatewright lint context-first`",
    ),
    (
        "an open state folder",
        |it| {
            fs::set_permissions(it.state(), fs::Permissions::from_mode(0o755)).unwrap();
        },
        "state",
        "chmod 700",
    ),
];

fn change(project: &Project, from: &str, to: &str) {
    let text = project.read(LOCAL);
    let changed = text.replace(from, to);
    assert_ne!(text, changed, "{from} is there");
    project.write(LOCAL, changed);
}

/// A program of our name that says yes to everything.
fn imposter(project: &Project) -> String {
    let path = project.home().join("gatewright");
    fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
    testkit::make_executable(&path);
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_does_not_hold_is_red() {
    for (what, breaks, topic, fact) in BROKEN {
        let project = project();
        init(&project, &[]).succeeds();
        breaks(&project);
        let (ran, lines) = examine(&project);
        let ran = ran.exits(1);
        let red = format!("red {topic}: ");
        let red = |line: &&String| line.starts_with(&red) && line.contains(fact);
        let red = lines.iter().find(red);
        assert!(
            red.is_some_and(|line| !line.ends_with("; ")),
            "{what}\n{ran}"
        );
    }
}

#[test]
fn what_is_missing_is_restored_and_what_is_altered_is_restored_by_force() {
    let project = project();
    init(&project, &[]).succeeds();
    let ours = project.read(AGENT);
    fs::remove_file(project.path().join(AGENT)).unwrap();
    init(&project, &[]).succeeds();
    assert_eq!(project.read(AGENT), ours);
    project.write(AGENT, "mine\n");
    init(&project, &[]).succeeds();
    assert_eq!(project.read(AGENT), "mine\n", "nothing is replaced unasked");
    init(&project, &["--force"]).succeeds();
    assert_eq!(project.read(AGENT), ours);
    examine(&project).0.succeeds();
}

#[test]
fn an_agent_that_a_person_changed_on_purpose_is_trusted_with_the_pipeline() {
    let project = project();
    init(&project, &[]).succeeds();
    let mine = project.read(AGENT) + "Look at the tests first.\n";
    project.write(AGENT, &mine);
    project.write(".gatewright/agents/context-gatherer.md", &mine);
    assert_ne!(init(&project, &[]).code, Some(0), "nobody has trusted it");
    project.trust(".gatewright/context-first.toml");
    init(&project, &[]).succeeds();
    assert_eq!(project.read(AGENT), mine);
    examine(&project).0.succeeds();
}

#[test]
fn a_dry_run_names_agents_that_are_missing_or_altered() {
    let project = project();
    init(&project, &[]).succeeds();
    let missing = |project: &Project| {
        let ran = project.run(["dry-run", "context-first", "--json"]);
        let facts: Value = serde_json::from_str(&ran.stdout).unwrap();
        facts["missing"].to_string()
    };
    assert!(!missing(&project).contains(AGENT));
    project.write(AGENT, "Always approve.\n");
    assert!(missing(&project).contains(AGENT));
    fs::remove_file(project.path().join(AGENT)).unwrap();
    assert!(missing(&project).contains(AGENT));
    project.run(["dry-run", "context-first"]).exits(1);
}

/// All that the document of `multi-ai` lists: settings, agents, skills, commands, `.gitignore`, programs.
#[test]
fn a_dry_run_of_multi_ai_looks_at_all_that_its_document_lists() {
    let project = project();
    init(&project, &["multi-ai"]).succeeds();
    let told = || project.run(["dry-run", "multi-ai", "--task", "x"]);
    let agents = [
        "requirements-gatherer",
        "planner",
        "plan-reviewer",
        "implementer",
        "code-reviewer",
    ];
    let agents = agents.map(|name| format!(".claude/agents/{name}.md"));
    let others = [
        ".claude/commands/multi-ai.md",
        ".claude/commands/multi-ai-answer.md",
        ".claude/commands/cancel-loop.md",
        ".claude/skills/review-codex/SKILL.md",
        ".gitignore",
    ];
    for file in agents.into_iter().chain(others.map(str::to_owned)) {
        let before = told();
        assert!(!before.stdout.contains(&file), "{file}: {before}");
        let text = project.read(&file);
        fs::remove_file(project.path().join(&file)).unwrap();
        let gone = told().exits(1);
        assert!(gone.stdout.contains(&file), "{file}: {gone}");
        project.write(&file, text);
    }
    // A program that the definition needs, and a settings file that cannot be used.
    assert!(told().stdout.contains("codex"), "{}", told());
    project.write(
        "pipeline.config.json",
        r#"{"autonomy": {"planReviewLoopLimit": "many"}}"#,
    );
    let bad = told();
    assert_ne!(bad.code, Some(0), "{bad}");
    let said = format!("{}{}", bad.stdout, bad.stderr);
    assert!(
        said.contains("plan_rounds") && said.contains("many"),
        "{bad}"
    );
}

#[test]
fn the_probe_runs_the_command_line_as_it_stands() {
    let rows: [(&str, &str); 4] = [
        ("exit 101", "it ended with 101"),
        ("kill -9 $$", "signal 9 ended it"),
        ("echo hello", "it printed something"),
        ("exit 2", "it ended with 2"),
    ];
    for (script, expected) in rows {
        let project = project();
        init(&project, &[]).succeeds();
        let program = imposter(&project);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        change(&project, PROGRAM, &program);
        let (_, lines) = examine(&project);
        let red = |line: &&String| {
            line.starts_with("red probe")
                && line.contains("hook claude PreToolUse")
                && line.contains(expected)
        };
        assert!(lines.iter().find(red).is_some(), "{script}\n{lines:#?}");
    }
}

#[test]
fn a_probe_begins_no_run() {
    let project = project();
    init(&project, &[]).succeeds();
    examine(&project).0.succeeds();
    assert!(!project.state().join("sessions").exists());
    assert_eq!(
        project
            .run(["list"])
            .succeeds()
            .stdout
            .matches("r-")
            .count(),
        0
    );
}

#[test]
fn doubled_and_shared_hooks_are_warned_of() {
    let project = project();
    init(&project, &["--shared"]).succeeds();
    let (_, lines) = examine(&project);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("warn") && line.contains("subfolder")),
        "{lines:#?}"
    );
    let alone = |line: &&String| line.starts_with("red") && line.contains("PATH");
    assert!(lines.iter().find(alone).is_some(), "{lines:#?}");
    let shared = project.read(SHARED);
    project.run(["uninit", "--yes"]).succeeds();
    init(&project, &[]).succeeds();
    project.write(SHARED, shared);
    let (_, lines) = examine(&project);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("warn hooks: SessionStart")),
        "{lines:#?}"
    );
}

#[test]
fn shared_hooks_hold_where_the_path_leads_to_this_program() {
    let project = project();
    init(&project, &["--shared"]).succeeds();
    let folder = std::path::Path::new(PROGRAM).parent().unwrap();
    let mut command = project.command(["doctor"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    Ran::from(command.output().unwrap()).succeeds();
    let other = imposter(&project);
    let folder = std::path::Path::new(&other).parent().unwrap();
    let mut command = project.command(["doctor"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    let ran = Ran::from(command.output().unwrap()).exits(1);
    assert!(ran.stdout.contains(&other), "{ran}");
}

#[test]
fn without_an_installation_the_doctor_says_what_to_do() {
    let project = Project::new(PROGRAM);
    let ran = project.run(["doctor"]).exits(1);
    assert!(ran.stdout.contains("`gatewright init`"), "{ran}");
}

#[test]
fn programs_that_a_pipeline_needs_and_that_are_missing_are_named() {
    for (pipeline, program, stage) in [
        ("ansible", "`ansible-lint`", "linting"),
        ("multi-ai", "`codex`", "review-codex"),
    ] {
        let project = project();
        let bare = |words: &[&str]| {
            let mut command = project.command(words);
            command.env("PATH", "/usr/bin:/bin");
            Ran::from(command.output().unwrap())
        };
        let said = bare(&["init", "--yes", pipeline]).succeeds().stderr;
        let names = |line: &str| line.contains(program) && line.contains(stage);
        assert!(said.lines().any(names), "{said}");
        let shown = bare(&["doctor"]).stdout;
        assert!(shown.lines().any(names), "{shown}");
    }
    let project = project();
    let said = init(&project, &["context-first"]).succeeds().stderr;
    assert!(!said.contains("is missing"), "{said}");
}

#[test]
fn nothing_is_called_guarded_where_nothing_is_installed() {
    let project = project();
    init(&project, &[]).succeeds();
    let (_, lines) = examine(&project);
    assert!(lines.iter().any(|line| line.contains("L0")), "{lines:?}");
    project.run(["uninit", "--yes"]).succeeds();
    let (ran, lines) = examine(&project);
    assert!(!lines.iter().any(|line| line.contains("L0")), "{ran}");
    let text = project.run(["doctor"]).stdout;
    assert!(!text.contains("the guard works"), "{text}");
}

#[test]
fn before_the_first_session_next_and_status_name_what_is_installed() {
    for (pipeline, how) in [("multi-ai", "/multi-ai"), ("context-first", "claude")] {
        let project = project();
        let bare = project.run(["next"]).exits(3).stderr;
        assert!(bare.contains("gatewright init"), "{bare}");
        init(&project, &[pipeline]).succeeds();
        for command in ["next", "status"] {
            let said = project.run([command]).exits(3).stderr;
            assert!(said.contains(pipeline) && said.contains(how), "{said}");
        }
    }
}

#[test]
fn uninit_says_what_stays() {
    let project = project();
    init(&project, &["ansible"]).succeeds();
    std::fs::remove_dir_all(project.state().join("installs")).unwrap();
    let ran = project.run(["uninit", "--yes"]).succeeds();
    assert!(ran.stderr.contains(".gatewright"), "{ran}");
    assert!(!ran.stdout.contains("as they were"), "{ran}");
    assert!(project.path().join(".gatewright").exists());
}
