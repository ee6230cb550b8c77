//! Starting: parameters and settings, steps, queues, and where a project is.

use serde_json::Value;
use testkit::pipelines::WAVES;
use testkit::{Project, Ran};

use crate::fixture::{
    PROGRAM, RUN, SMALL, fact, number_of_runs, project, run, says_one_line, start, started, status,
    trusted,
};

const WITH_PARAMS: &str = r#"
    name     = "loop"
    about    = "Try as often as the settings say."
    start    = "working"
    settings = "pipeline.config.json"

    [params]
    target = { about = "what is worked on", required = true }
    tries  = { about = "how often", default = 2, setting = "autonomy.tries" }
    mood   = { about = "how", default = "calm", choices = ["calm", "wild"], setting = "mood" }

    [counters]
    tries = { max = "{tries}", then = "over" }

    [stages.working]
    agent   = "worker"
    on.done = "checking"

    [stages.checking]
    check     = ["test -e {target}", "test {mood} = wild"]
    on.passed = "over"
    on.failed = { to = "working", count = "tries" }

    [stages.over]
    end = "completed"

    [[prove]]
    name    = "it is checked"
    before  = "over"
    through = "working"
"#;

fn params(project: &Project, typed: &str) -> Result<Value, Ran> {
    project.write("loop.toml", WITH_PARAMS);
    project.trust("loop.toml");
    let ran = run(
        project,
        &format!("start loop.toml --task x --by-hand --id {RUN} {typed}"),
    );
    match ran.code {
        Some(0) => Ok(fact(project, "status r-test")["params"].clone()),
        _ => Err(ran),
    }
}

#[test]
fn what_is_typed_goes_before_the_settings_and_those_before_the_defaults() {
    for (settings, typed, tries, mood) in [
        (None, "", "2", "calm"),
        (
            Some(r#"{"autonomy": {"tries": 5}, "mood": "wild"}"#),
            "",
            "5",
            "wild",
        ),
        (
            Some(r#"{"autonomy": {"tries": 5}}"#),
            "--param tries=7",
            "7",
            "calm",
        ),
    ] {
        let project = project();
        if let Some(settings) = settings {
            project.write("pipeline.config.json", settings);
        }
        let params = params(&project, &format!("--param target=x {typed}")).unwrap();
        let text = params.to_string();
        assert!(
            text.contains(tries) && text.contains(mood),
            "{settings:?} {typed} {text}"
        );
    }
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    for (settings, typed, code, says) in [
        (None, "", 1, "'target'"),
        (None, "--param target=x --param colour=red", 1, "'colour'"),
        (None, "--param target=x --param mood=angry", 1, "calm, wild"),
        (None, "--param target=x --param tries=often", 1, "often"),
        (None, "--param target=x --param target=y", 2, "target"),
        (Some("{"), "--param target=x", 1, "pipeline.config.json"),
        (Some(r#"{"mood": ["wild"]}"#), "--param target=x", 1, "mood"),
    ] {
        let project = project();
        if let Some(settings) = settings {
            project.write("pipeline.config.json", settings);
        }
        let refused = params(&project, typed).unwrap_err();
        says_one_line(refused, code, &[says]);
        assert_eq!(number_of_runs(&project), 0);
    }
}

#[test]
fn parameters_reach_the_commands_as_whole_words() {
    let project = project();
    project.write("loop.toml", WITH_PARAMS);
    project.trust("loop.toml");
    project.write("a file; touch pwned", "x");
    let arguments = [
        "start",
        "loop.toml",
        "--task",
        "x",
        "--by-hand",
        "--id",
        RUN,
    ];
    let param = [
        "--param",
        "target=a file; touch pwned",
        "--param",
        "mood=wild",
    ];
    project.run(arguments.iter().chain(&param)).succeeds();
    run(&project, "report").succeeds();
    run(&project, "check").succeeds();
    assert!(!project.path().join("pwned").exists());
    assert_eq!(status(&project), "completed");
}

#[test]
fn a_guarded_run_wants_a_session_and_nothing_is_pretended() {
    let project = project();
    let ran = project.run(["start", "small.toml", "--task", "x"]);
    says_one_line(ran, 1, &["--by-hand"]);
    let ran = project.run(["start", "ansble", "--task", "x"]);
    says_one_line(ran, 3, &["'ansble'", "ansible"]);
    assert!(!project.state().exists());
}

#[test]
fn steps_are_given_at_the_start_and_done_in_waves() {
    let project = trusted();
    project.write("waves.toml", WAVES);
    says_one_line(start(&project, "waves.toml"), 1, &["--steps FILE"]);
    project.write(
        "steps.json",
        r#"[{"id": "a", "title": "first", "agent": "worker", "needs": []},
            {"id": "b", "title": "second", "agent": "worker", "needs": ["a"]}]"#,
    );
    let words = "--task x --by-hand --steps steps.json --id r-test";
    says_one_line(
        run(&project, &format!("start small.toml {words}")),
        1,
        &["--steps"],
    );
    run(&project, &format!("start waves.toml {words}")).succeeds();
    project.write("reports/b.md", "too early\n");
    says_one_line(
        run(&project, "report --agent worker --step b"),
        1,
        &["GW-R14"],
    );
    project.write("reports/a.md", "done\n");
    run(&project, "report --agent worker --step a").succeeds();
    project.write("reports/b.md", "done as well\n");
    says_one_line(run(&project, "report --step c"), 3, &["working", "'c'"]);
    run(&project, "report --step b").succeeds();
    assert_eq!(status(&project), "completed");
}

#[test]
fn a_queued_run_is_taken_up_by_whoever_drives_it() {
    let project = trusted();
    run(
        &project,
        "start small.toml --task x --by-hand --queue --id r-test",
    )
    .succeeds();
    assert_eq!(status(&project), "queued");
    let next = run(&project, "next").succeeds();
    for words in ["queued", "gatewright report r-test --agent writer"] {
        assert!(next.stdout.contains(words), "{words}\n{next}");
    }
    // What is refused takes nothing up.
    says_one_line(run(&project, "report --agent reader"), 1, &["GW-R11"]);
    says_one_line(run(&project, "report"), 1, &["GW-R34", "note.md"]);
    says_one_line(run(&project, "check"), 1, &["GW-R52", "writing"]);
    assert_eq!(status(&project), "queued");
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    assert_eq!(status(&project), "running");
}

#[test]
fn an_id_is_used_once() {
    let project = started();
    project.write(
        "other.toml",
        SMALL
            .replace("note.md", "n.md")
            .replace("verdict.json", "v.json"),
    );
    for pipeline in ["other.toml", "small.toml"] {
        says_one_line(start(&project, pipeline), 1, &["r-test"]);
    }
}

#[test]
fn the_project_is_found_from_every_subfolder_and_worktree() {
    let project = Project::with_git(PROGRAM);
    project.write("small.toml", SMALL);
    project.write("a/b/deep.txt", "x");
    project.git(["add", "."]);
    project.git(["commit", "--quiet", "--message=all"]);
    start(&project, "small.toml").succeeds();
    project.git(["worktree", "add", "--quiet", "../other", "-b", "other"]);
    for folder in ["a/b", "../other", "../other/a"] {
        let mut command = project.command(["status", "--json"]);
        command.current_dir(project.path().join(folder));
        let ran = Ran::from(command.output().unwrap()).succeeds();
        assert!(ran.stdout.contains(RUN), "{folder}\n{ran}");
    }
    // It looks for its files where it was started, wherever the command is typed.
    project.write("note.md", "Hello\n");
    let mut command = project.command(["report"]);
    command.current_dir(project.path().join("../other"));
    Ran::from(command.output().unwrap()).succeeds();
    // Trust does not follow into another worktree.
    let start = || {
        let mut command = project.command(["start", "small.toml", "--task", "x", "--by-hand"]);
        command.current_dir(project.path().join("../other"));
        Ran::from(command.output().unwrap())
    };
    says_one_line(start(), 1, &["gatewright trust small.toml"]);
    let trust = format!("cd ../other && {PROGRAM} trust small.toml");
    project.person_at(&trust, "yes\n").succeeds();
    // Another worktree has other files, so the same paths do not collide.
    start().succeeds();
    // Of two active runs the one of this worktree is meant.
    assert_eq!(fact(&project, "next")["run"], RUN);
}

#[test]
fn a_folder_without_git_is_found_from_below_once_it_has_a_run() {
    let project = started();
    project.write("a/b/deep.txt", "x");
    let mut command = project.command(["status"]);
    command.current_dir(project.path().join("a/b"));
    Ran::from(command.output().unwrap()).succeeds();
    // A folder that becomes a repository keeps its runs.
    project.git(["init", "--quiet"]);
    run(&project, "status").succeeds();
}

#[test]
fn a_foreign_folder_has_no_run() {
    let project = started();
    let mut command = project.command(["status"]);
    command.current_dir(project.home());
    says_one_line(
        Ran::from(command.output().unwrap()),
        3,
        &["`gatewright run PIPELINE"],
    );
}

#[test]
fn before_the_first_start_there_is_nothing() {
    let project = project();
    for line in [
        "status",
        "next",
        "history",
        "check",
        "export r-1",
        "why r-1",
    ] {
        let ran = run(&project, line).exits(3);
        assert_eq!(ran.stderr.lines().count(), 1, "{line}\n{ran}");
    }
    says_one_line(run(&project, "list"), 0, &["gatewright run"]);
}
