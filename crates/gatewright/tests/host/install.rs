//! The real Claude Code reads what `init` writes, and does what it says.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::process::Command;

use testkit::claude::{self, Claude};
use testkit::model::{Actor, Model, bash, say};
use testkit::{Project, Ran};

use crate::stage;

const LOCAL: &str = ".claude/settings.local.json";

fn project() -> Project {
    Project::with_git(stage::program())
}

fn init(project: &Project, more: &[&str]) -> Ran {
    let arguments = ["init", "--yes"].iter().chain(more);
    project.run(arguments)
}

fn model() -> Model {
    Model::start([Actor::new(
        "GO-MAIN",
        [bash("echo ran > ran.txt"), say("DONE")],
    )])
}

/// Puts our program, or another in its place, on a search path of its own.
fn search_path(project: &Project, script: Option<&str>) -> String {
    let folder = project.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    if let Some(script) = script {
        let path = folder.join("gatewright");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        testkit::make_executable(&path);
    }
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn shared_hooks_lock_nobody_out_and_hold_where_the_program_is() {
    let deny = r#"cat >/dev/null; case "$3" in PreToolUse) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not now"}}';; esac"#;
    let rows: [(&str, Option<&str>, bool, &str); 5] = [
        ("missing", None, true, ""),
        ("nothing to say", Some("exit 0"), true, ""),
        ("a refusal", Some(deny), false, "not now"),
        (
            "exit 2",
            Some("cat >/dev/null; [ \"$3\" = PreToolUse ] || exit 0; echo because >&2; exit 2"),
            false,
            "because",
        ),
        (
            "a crash",
            Some("[ \"$3\" = PreToolUse ] || exit 0; kill -9 $$"),
            false,
            "onFailure",
        ),
    ];
    for (what, script, runs, told) in rows {
        let project = project();
        init(&project, &["--shared"]).succeeds();
        let model = model();
        let claude = Claude::new(&project, &model)
            .allow(["Bash"])
            .env("PATH", search_path(&project, script));
        claude.ask("GO-MAIN").succeeds();
        assert_eq!(project.path().join("ran.txt").exists(), runs, "{what}");
        assert!(
            model.told("GO-MAIN").contains(told),
            "{what}: {}",
            model.told("GO-MAIN")
        );
    }
}

#[test]
fn the_doctor_tries_the_host_itself() {
    let project = project();
    init(&project, &[]).succeeds();
    let folder = claude::program().parent().unwrap().to_owned();
    let doctor = || {
        let mut command = project.command(["doctor", "--live"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
        command.env("DISABLE_AUTOUPDATER", "1");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        Ran::from(command.output().unwrap())
    };
    let ran = doctor().succeeds();
    assert!(ran.stdout.contains("Claude Code"), "{ran}");
    assert!(
        !project.state().join("sessions").exists(),
        "the trial leaves nothing behind"
    );
    project.write(
        LOCAL,
        project
            .read(LOCAL)
            .replace("{\n", "{\n  \"cleanupPeriodDays\": [],\n"),
    );
    doctor().exits(1);
}

/// The doctor's judgement of a settings file, and what the host does with it: are its hooks called?
#[test]
fn the_doctor_and_the_host_agree_about_settings() {
    let project = project();
    init(&project, &[]).succeeds();
    let text = project.read(LOCAL);
    let folder = claude::program().parent().unwrap().to_owned();
    for (more, holds) in [
        (r#""model": "opus""#, true),
        (r#""model": 4"#, false),
        (r#""attribution": false"#, true),
        (r#""attribution": []"#, false),
        (r#""enabledMcpjsonServers": "x""#, true),
        (r#""permissions": {"allow": "Bash"}"#, false),
        (r#""permissions": {"allow": [1]}"#, true),
        (r#""cleanupPeriodDays": 0"#, false),
        (r#""spinnerVerbs": []"#, false),
        (r#""theme": 4, "somethingNew": null"#, true),
        (r#""verbose": "no""#, false),
    ] {
        project.write(LOCAL, text.replacen("{\n", &format!("{{\n  {more},\n"), 1));
        let mut command = project.command(["doctor", "--live", "--json"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
        command.env("DISABLE_AUTOUPDATER", "1");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        let ran = Ran::from(command.output().unwrap());
        let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let is_red = |topic: &str| {
            let mut findings = facts["findings"].as_array().unwrap().iter();
            findings.any(|it| it["topic"] == topic && it["level"] == "red")
        };
        assert_eq!(is_red("settings"), !holds, "{more}: {ran}");
        assert_eq!(is_red("live"), !holds, "{more}: {ran}");
    }
}

#[test]
fn claude_code_accepts_the_plugin_of_every_pipeline() {
    for builtin in language::builtin::all() {
        let project = project();
        let folder = project.home().join("plugin");
        let folder = folder.to_str().unwrap();
        init(&project, &[builtin.name, "--plugin", folder]).succeeds();
        let mut validate = Command::new(claude::program());
        let ran = validate
            .args(["plugin", "validate", "--strict", folder])
            .env_clear()
            .env("HOME", project.home())
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{}: {said}", builtin.name);
        assert!(
            said.contains("Validation passed"),
            "{}: {said}",
            builtin.name
        );
    }
}
