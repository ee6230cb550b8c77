//! People's commands: agents are refused and it is recorded, scripts are recorded as unattended, and
//! people type a word where something cannot be undone.

use std::fs;

use testkit::{Project, Ran};

use crate::fixture::{
    PROGRAM, RUN, SMALL, entries, fact, project, run, says_one_line, start, started, status,
    to_the_question, trusted,
};

/// The program as an agent's tool would start it.
fn by_agent(project: &Project, line: &str) -> Ran {
    let mut command = project.command(line.split_whitespace());
    Ran::from(command.env("CLAUDECODE", "1").output().unwrap())
}

/// A project with a run that a guarded session holds.
fn held() -> Project {
    let project = trusted();
    let words = ["start", "small.toml", "--task", "x", "--id", RUN];
    let mut command = project.command(words);
    command.env("CLAUDECODE", "1");
    command.env("CLAUDE_CODE_SESSION_ID", "session-1");
    Ran::from(command.output().unwrap()).succeeds();
    project
}

/// The texts of the run's history, one entry a line.
fn history(project: &Project) -> String {
    run(project, &format!("history {RUN}")).succeeds().stdout
}

#[test]
fn every_command_is_a_persons_or_anybodys() {
    let project = started();
    to_the_question(&project);
    project.write("other.md", "x");
    let persons = [
        "adopt r-test",
        "answer r-test yes",
        "answer r-test",
        "bypass r-test --for 30m --reason x",
        "bypass r-test --end",
        "cancel r-test --reason x",
        "caps --day none",
        "checkpoint r-test here",
        "deliver r-test",
        "doctor",
        "export r-test",
        "finish r-test",
        "fleet status",
        "fleet leave",
        "fleet join postgres://ada@127.0.0.1:1/team",
        "fleet setup postgres://ada@127.0.0.1:1/team",
        "fork r-test --at 1",
        "gc",
        "gc --dry-run",
        "import other.md",
        "merge r-test",
        "prove-guards",
        "recover",
        "report",
        "reset r-test --reason x",
        "restore r-test 1 --reason x",
        "resume r-test",
        "queue r-test --first",
        "retry r-test",
        "run small.toml --task x",
        "serve",
        "skip r-test --reason x",
        "start small.toml --task x --by-hand",
        "start ansible --task x --queue --param target=site.yml --param bundles=advisory",
        "start multi-ai --task x --queue --param size=small",
        "trust small.toml",
        "trust small.toml --show",
        "trust --list",
        "trust --revoke small.toml",
        "uninit --yes",
        "verify",
        "worker --once",
    ];
    let anybodys = [
        "check",
        "completions bash",
        "demo",
        "diff r-test",
        "dry-run small.toml",
        "exit-codes",
        "fleet ship --once",
        "graph small.toml",
        "history",
        "hook",
        "inbox",
        "init --yes",
        "lint small.toml",
        "list",
        "logs r-test",
        "man",
        "metrics",
        "new x",
        "next",
        "pipelines",
        "queue",
        "schema",
        "show",
        "start ansible --task x --queue --param target=site.yml --param bundles=strict",
        "start multi-ai --task x --queue --param size=full",
        "status",
        "statusline",
        "step",
        "test",
        "watch --once",
        "why r-test",
    ];
    for line in persons {
        says_one_line(by_agent(&project, line), 1, &["GW-R66"]);
    }
    for line in anybodys {
        let ran = by_agent(&project, line);
        assert!(!ran.stderr.contains("GW-R66"), "{line}\n{ran}");
    }
    let manual = run(&project, "man --markdown").succeeds().stdout;
    let named = manual
        .lines()
        .filter_map(|line| line.strip_prefix("## gatewright "));
    for command in named {
        let mut lines = persons.iter().chain(&anybodys);
        let known = lines.any(|line| line.split_whitespace().next() == Some(command));
        assert!(known, "nobody says whose `{command}` is");
    }
}

#[test]
fn what_an_agent_tried_stands_in_the_history() {
    let project = started();
    for (line, says) in [
        ("skip --reason x", "skip"),
        ("cancel --reason x", "cancel"),
        ("reset --reason x", "reset"),
        ("gc", "`gatewright gc`"),
        ("trust small.toml", "`gatewright trust`"),
        ("fork r-test --at 1", "`gatewright fork`"),
        ("bypass --for 1h --reason x", "bypass"),
    ] {
        let before = entries(&project, RUN);
        let ran = by_agent(&project, line);
        says_one_line(ran, 1, &["GW-R66"]);
        assert_eq!(entries(&project, RUN), before + 1, "{line}");
        let history = history(&project);
        let last = history.trim_end().lines().last().unwrap();
        assert!(
            last.contains(says) && last.contains("agent"),
            "{line}\n{history}"
        );
    }
    assert_eq!(status(&project), "running");
    assert!(
        !project.state().join("backups").exists(),
        "a backup for nothing"
    );
}

#[test]
fn a_session_that_holds_a_run_begins_no_second_one() {
    let project = held();
    for more in ["", " --queue"] {
        let line = format!("start small.toml --task x{more}");
        let mut command = project.command(line.split_whitespace());
        command.env("CLAUDECODE", "1");
        command.env("CLAUDE_CODE_SESSION_ID", "session-1");
        let ran = Ran::from(command.output().unwrap());
        says_one_line(ran, 1, &[RUN]);
    }
    // Another session and a script begin their own.
    let mut command = project.command("start small.toml --task x".split_whitespace());
    command.env("CLAUDECODE", "1");
    command.env("CLAUDE_CODE_SESSION_ID", "session-2");
    let ran = Ran::from(command.output().unwrap());
    assert!(!ran.stderr.contains("one run at a time"), "{ran}");
    run(&project, "start small.toml --task x --queue").succeeds();
}

#[test]
fn a_refused_try_makes_nothing_where_nothing_was() {
    let project = project();
    for line in ["gc", "verify", "trust small.toml", "trust --list"] {
        says_one_line(by_agent(&project, line), 1, &["GW-R66"]);
    }
    assert!(!project.state().exists());
}

#[test]
fn what_no_session_holds_is_a_scripts_too_and_recorded_as_such() {
    let project = started();
    run(&project, "skip --reason haste").succeeds();
    assert!(history(&project).contains("(unattended)"));
    run(&project, "cancel --reason enough").succeeds();
    assert_eq!(status(&project), "cancelled");
}

/// Wherever it is typed, and whatever repository is made around the file.
#[test]
fn what_a_session_holds_is_not_trusted_from_another_folder() {
    let project = held();
    let path = project.path();
    let hash = |file: &str| {
        let shown = fact(&project, &format!("trust {file} --show"));
        shown["hash"].as_str().expect("a hash").to_owned()
    };
    project.write("small.toml", SMALL.replace("Hello", "Anything"));
    project.write("nested/small.toml", SMALL.replace("Hello", "Anything"));
    project.write("nested/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(path.join("nested/.git/objects")).unwrap();
    fs::create_dir_all(path.join("nested/.git/refs")).unwrap();
    let elsewhere = project.home();
    for (folder, file) in [
        (elsewhere.clone(), path.join("small.toml")),
        (path.join("nested"), path.join("small.toml")),
        (path.join("nested"), path.join("nested/small.toml")),
    ] {
        let word = file.to_str().unwrap();
        let hash = hash(word);
        for words in [
            ["trust", word, "--hash", &hash],
            ["trust", "--revoke", word, "--json"],
        ] {
            let mut command = project.command(words);
            let ran = Ran::from(command.current_dir(&folder).output().unwrap());
            says_one_line(ran, 1, &["GW-R66"]);
        }
    }
    // A file of another project, typed there, is nobody's business here.
    let other = elsewhere.join("other.toml");
    fs::write(&other, SMALL).unwrap();
    let hash = hash(other.to_str().unwrap());
    let mut command = project.command(["trust", "other.toml", "--hash", &hash]);
    Ran::from(command.current_dir(&elsewhere).output().unwrap()).succeeds();
}

#[test]
fn what_a_session_holds_is_a_persons_at_a_terminal() {
    let project = held();
    for line in [
        "cancel --reason x",
        "skip --reason x",
        "reset --reason x",
        "bypass --for 1h --reason x",
        "fork r-test --at 1",
        "trust small.toml",
    ] {
        says_one_line(run(&project, line), 1, &["GW-R66"]);
    }
    assert!(history(&project).contains("(unattended)"));
    // Reading hinders nobody.
    run(&project, "status").succeeds();
    run(&project, "gc").succeeds();
    let ran = project.person(["cancel", "--reason", "enough"], "r-test\n");
    assert!(ran.stdout.contains("Type r-test"), "{ran}");
    ran.succeeds();
    assert_eq!(status(&project), "cancelled");
    let last = history(&project);
    let last = last.trim_end().lines().last().unwrap();
    assert!(
        !last.contains("(unattended)") && last.contains("enough"),
        "{last}"
    );
}

#[test]
fn what_cannot_be_undone_wants_a_typed_word_and_no_other() {
    for line in [
        "cancel --reason x",
        "skip --reason x",
        "reset --reason x",
        "restore r-test 1 --reason x",
        "bypass --for 30m --reason x",
    ] {
        let project = started();
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = entries(&project, RUN);
        for typed in ["\n", "y\n", "yes\n", "r-tes\n", "R-TEST\n", ""] {
            let ran = project.person(&words, typed).exits(1);
            assert!(ran.stdout.contains("Type r-test"), "{line}\n{ran}");
            assert_eq!(entries(&project, RUN), before, "{line} {typed:?}");
        }
        project.person(&words, "r-test\n").succeeds();
        assert!(entries(&project, RUN) > before, "{line}");
    }
}

#[test]
fn what_can_be_undone_is_not_asked_about() {
    let project = started();
    project.person(["checkpoint", RUN, "here"], "").succeeds();
    to_the_question(&project);
    let ran = project.person(["answer", "yes"], "").succeeds();
    assert!(!ran.stdout.contains("Type"), "{ran}");
}

#[test]
fn a_key_that_was_there_is_not_asked_about_again() {
    let project = started();
    let words = ["cancel", "--reason", "x", "--key", "once", RUN];
    project.person(words, "r-test\n").succeeds();
    let before = entries(&project, RUN);
    let ran = project.person(words, "").succeeds();
    assert_eq!(entries(&project, RUN), before, "{ran}");
    assert!(!ran.stdout.contains("Type"), "{ran}");
}

#[test]
fn runs_are_deleted_after_the_word_and_not_before() {
    let project = started();
    run(&project, "cancel --reason x").succeeds();
    let words = ["gc", "--older-than", "0s"];
    let ran = project.person(words, "r-test\n").exits(1);
    for says in ["1 run", "r-test", "Type delete"] {
        assert!(ran.stdout.contains(says), "{says}\n{ran}");
    }
    assert_eq!(status(&project), "cancelled");
    project.person(words, "delete\n").succeeds();
    run(&project, "status r-test").exits(3);
    // Nothing goes, so nothing is asked.
    let ran = project.person(words, "").succeeds();
    assert!(!ran.stdout.contains("Type"), "{ran}");
}

#[test]
fn a_bypass_has_its_time_and_its_reason_and_can_be_ended() {
    let project = started();
    for line in [
        "bypass",
        "bypass --reason x",
        "bypass --for 30m",
        "bypass --for 29s --reason x",
        "bypass --for 25h --reason x",
        "bypass --for 30m --end --reason x",
    ] {
        run(&project, line).exits(2);
    }
    says_one_line(
        project.run(["bypass", "--for", "30m", "--reason", " "]),
        1,
        &["--reason"],
    );
    project
        .person(
            ["bypass", "--for", "30m", "--reason", "the gate is wrong"],
            "r-test\n",
        )
        .succeeds();
    assert!(history(&project).contains("the gate is wrong"));
    run(&project, "bypass --end").succeeds();
    let facts = fact(&project, &format!("history {RUN}"));
    let bypassed = facts["entries"].as_array().unwrap().iter();
    let bypassed = bypassed.filter(|entry| entry["rule"] == "GW-R78").count();
    assert_eq!(bypassed, 2, "{facts}");
    let told = history(&project);
    assert_eq!(told.matches("NOT GUARDED").count(), 1, "{told}");
}

/// What agents do to look like somebody else. `GATEWRIGHT` is the program, and the shell that runs
/// this is called `claude`, with the variables of Claude Code around it.
const TRIES: [(&str, &str); 12] = [
    ("plainly", r#""$GATEWRIGHT" cancel r-test --reason x"#),
    (
        "without its variable",
        r#"env -u CLAUDECODE "$GATEWRIGHT" cancel r-test --reason x"#,
    ),
    (
        "with an empty environment",
        r#"clean "$GATEWRIGHT" cancel r-test --reason x"#,
    ),
    (
        "in a session of its own",
        r#"clean setsid -w "$GATEWRIGHT" cancel r-test --reason x"#,
    ),
    (
        "immune to hangups",
        r#"clean nohup "$GATEWRIGHT" cancel r-test --reason x"#,
    ),
    (
        "at a terminal of its own",
        r#"clean script -qec "$GATEWRIGHT cancel r-test --reason x" /dev/null"#,
    ),
    (
        "as a copy with another name",
        r#"cp "$GATEWRIGHT" person && clean ./person cancel r-test --reason x"#,
    ),
    (
        "by a link with another name",
        r#"ln -s "$GATEWRIGHT" link && clean ./link cancel r-test --reason x"#,
    ),
    (
        "through another shell",
        r#"clean bash -c 'exec -a person "$0" cancel r-test --reason x' "$GATEWRIGHT""#,
    ),
    (
        "through a list of words",
        r#"echo cancel r-test --reason x | clean xargs "$GATEWRIGHT""#,
    ),
    (
        "with its parents gone",
        r#"orphan "$GATEWRIGHT" cancel r-test --reason x"#,
    ),
    (
        "with its parents gone and an empty environment",
        r#"orphan env -i HOME="$HOME" XDG_STATE_HOME="$XDG_STATE_HOME" "$GATEWRIGHT" cancel r-test --reason x"#,
    ),
];

/// A shell between the agent and what it starts, as agents have one. What it starts outlives it.
const SHELL: &str = r#"
    clean() { env -i PATH="$PATH" HOME="$HOME" XDG_STATE_HOME="$XDG_STATE_HOME" "$@"; }
    orphan() {
        sh -c '
            {
                while read -r _ _ _ now _ </proc/self/stat && [ "$now" = $$ ]; do :; done
                "$@"
                echo $? >written && mv written code
            } &
        ' sh "$@"
        while [ ! -e code ]; do sleep 0.01; done
        return "$(cat code)"
    }
"#;

/// Runs a line in a shell that is called `claude`.
fn in_an_agent(project: &Project, line: &str) -> Ran {
    let claude = project.home().join("claude");
    if !claude.exists() {
        let shell = fs::canonicalize("/bin/sh").unwrap();
        fs::copy(shell, &claude).unwrap();
        testkit::make_executable(&claude);
    }
    // What follows keeps the shell from putting the last command into its own place.
    let script = format!("{SHELL}\n{line}\ncode=$?\nexit $code\n");
    let mut command = project.at_home(&claude);
    command.args(["-c", &script]);
    command.env("CLAUDECODE", "1").env("GATEWRIGHT", PROGRAM);
    Ran::from(command.output().unwrap())
}

#[test]
fn whatever_an_agent_does_to_look_like_a_person_is_refused_and_recorded() {
    for (how, line) in TRIES {
        let project = held();
        let before = entries(&project, RUN);
        let ran = in_an_agent(&project, line);
        assert_ne!(ran.code, Some(0), "{how}\n{ran}");
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains("GW-R66"),
            "{how}\n{ran}"
        );
        assert_eq!(status(&project), "running", "{how}");
        assert_eq!(entries(&project, RUN), before + 1, "{how}");
        let who = match how {
            "with its parents gone and an empty environment" => "(unattended)",
            _ => "an agent",
        };
        let history = history(&project);
        let last = history.trim_end().lines().last().unwrap();
        assert!(last.contains(who), "{how}\n{history}");
    }
}

#[test]
fn what_gets_through_where_no_session_holds_the_run_is_recorded_as_unattended() {
    let mut through = Vec::new();
    for (how, line) in TRIES {
        let project = started();
        let ran = in_an_agent(&project, line);
        match ran.code {
            Some(0) => {
                assert!(history(&project).contains("(unattended)"), "{how}\n{ran}");
                through.push(how);
            }
            _ => assert_eq!(status(&project), "running", "{how}\n{ran}"),
        }
    }
    assert_eq!(through, ["with its parents gone and an empty environment"]);
}

#[test]
fn who_has_all_three_and_types_the_word_is_a_person_for_us() {
    // SECURITY.md says so: this is what the test kit does to play the person.
    let project = held();
    project
        .person(["cancel", "--reason", "x"], "r-test\n")
        .succeeds();
    assert_eq!(status(&project), "cancelled");
}

#[test]
fn the_whole_way_goes_by_the_detour_too() {
    let project = project();
    project.write("small.toml", SMALL);
    start(&project, "small.toml").succeeds();
    let orphan = |words: &[&str]| Ran::from(project.orphan(words).output().unwrap());
    says_one_line(orphan(&["report", "--agent", "reader"]), 1, &["GW-R11"]);
    project.write("note.md", "Hello\n");
    orphan(&["report"]).succeeds();
    orphan(&["check"]).succeeds();
    orphan(&["answer", "yes"]).succeeds();
    orphan(&["cancel", "--reason", "x"]).succeeds();
    assert_eq!(status(&project), "cancelled");
}
