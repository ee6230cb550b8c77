//! Check commands: run as words, watched, bounded, and bound to a tree.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{CheckEnd, StageName};
use evidence::Error;
use evidence::check::{CheckEnvironment, Ran};

use crate::world::World;

pub(crate) fn surroundings() -> CheckEnvironment {
    CheckEnvironment::default()
}

fn run(commands: &[&[&str]]) -> Ran {
    let mut world = World::new();
    world.checks(commands);
    world.check(&surroundings()).unwrap()
}

pub(crate) fn ends(ran: &Ran) -> Vec<String> {
    let shown = |end: &CheckEnd| match end {
        CheckEnd::Exit(code) => format!("exit {code}"),
        CheckEnd::Signal(signal) => format!("signal {signal}"),
        CheckEnd::TimedOut => String::from("timed out"),
        CheckEnd::EnvironmentLost(reason) | CheckEnd::ProgramUnaccepted(reason) => {
            format!("not run: {reason}")
        }
        CheckEnd::CouldNotStart(reason) => format!("not started: {reason}"),
    };
    ran.results
        .iter()
        .map(|result| shown(&result.ended))
        .collect()
}

/// What a test's own shell says; definitions may start one, agents may not.
pub(crate) fn sh(script: &str) -> [&str; 3] {
    ["sh", "-c", script]
}

#[test]
fn a_command_ends_with_its_exit_code_or_signal() {
    for (script, expected) in [
        ("exit 0", "exit 0"),
        ("exit 1", "exit 1"),
        ("exit 77", "exit 77"),
        ("kill -TERM $$", "signal 15"),
        ("kill -SEGV $$", "signal 11"),
    ] {
        assert_eq!(ends(&run(&[&sh(script)])), [expected], "{script}");
    }
}

#[test]
fn commands_run_in_order_up_to_the_first_that_fails() {
    let ran = run(&[&sh("echo one"), &sh("echo two; exit 3"), &sh("echo three")]);
    assert_eq!(ends(&ran), ["exit 0", "exit 3"]);
    assert_eq!(ran.results[1].tail, "two\n");
    assert_eq!(ran.results[1].argv, sh("echo two; exit 3"));
    assert_eq!(ends(&run(&[&["true"], &["true"]])), ["exit 0", "exit 0"]);
}

#[test]
fn both_streams_come_in_their_order() {
    let ran = run(&[&sh("echo out; echo err >&2; echo out again")]);
    assert_eq!(ran.results[0].tail, "out\nerr\nout again\n");
}

#[test]
fn a_program_that_is_not_there_is_no_verdict_on_the_work() {
    let mut world = World::new();
    world.write("plain.txt", "x");
    for (command, part) in [
        (
            "no-such-program-at-all",
            "`no-such-program-at-all` was not found in /usr/local/sbin",
        ),
        ("./no-such-script", "`./no-such-script` does not exist"),
        ("./plain.txt", "`./plain.txt` is not executable"),
        ("../outside", "`..`"),
        ("/no/such/program", "does not exist"),
        ("", "the command is empty"),
    ] {
        world.checks(&[&[command]]);
        let ended = ends(&world.check(&surroundings()).unwrap());
        assert!(
            ended[0].starts_with("not started: ") && ended[0].contains(part),
            "{ended:?}"
        );
    }
}

#[test]
fn a_stage_without_commands_does_not_pass() {
    let ended = ends(&run(&[]));
    assert!(
        ended.len() == 1 && ended[0].contains("the stage has no commands"),
        "{ended:?}"
    );
}

#[test]
fn nothing_runs_when_one_command_cannot() {
    let mut world = World::new();
    world.checks(&[&["touch", "it-ran"], &["no-such-program-at-all"]]);
    let ran = world.check(&surroundings()).unwrap();
    assert_eq!(ran.results.len(), 1);
    assert!(ends(&ran)[0].starts_with("not started: "));
    assert!(!world.root().join("it-ran").exists());
}

#[test]
fn a_program_with_a_slash_is_the_project_s_own() {
    let mut world = World::new();
    world.write_script("tools/check", "#!/bin/sh\npwd\n");
    let root = format!("{}\n", world.root().display());
    for program in ["tools/check", "./tools/check"] {
        world.checks(&[&[program]]);
        assert_eq!(world.check(&surroundings()).unwrap().results[0].tail, root);
    }
}

#[test]
fn a_trusted_script_is_run_with_its_trusted_bytes_only() {
    let mut world = World::new();
    let trusted = "#!/bin/sh\nexit 0\n";
    world.write_script("tools/check", trusted);
    let scripts = BTreeMap::from([(
        String::from("tools/check"),
        evidence::hash(trusted.as_bytes()),
    )]);
    let surroundings = CheckEnvironment {
        scripts,
        ..surroundings()
    };
    for command in [&["./tools/check"][..], &["sh", "tools/check"]] {
        world.checks(&[command]);
        world.write_script("tools/check", trusted);
        assert_eq!(ends(&world.check(&surroundings).unwrap()), ["exit 0"]);
        world.write_script("tools/check", "#!/bin/sh\nexit 0 # changed\n");
        let ended = ends(&world.check(&surroundings).unwrap());
        assert!(
            ended[0].contains("has changed since it was trusted"),
            "{ended:?}"
        );
    }
}

/// Every command is compared before the first one runs. So the first stands in for a process that swaps
/// the script after the look, and the script itself for one that puts it back before the next look.
#[test]
fn a_script_that_was_swapped_after_the_look_is_no_evidence() {
    let mut world = World::new();
    let trusted = "#!/bin/sh\ngrep -q Hello note.md\n";
    let scripts = BTreeMap::from([(
        String::from("tools/check"),
        evidence::hash(trusted.as_bytes()),
    )]);
    let surroundings = CheckEnvironment {
        scripts,
        ..surroundings()
    };
    let swap = [
        "mv tools/check kept; printf '#!/bin/sh\\nmv kept tools/check\\n' > tools/check; chmod +x tools/check",
        "cp -p tools/check kept; printf '#!/bin/sh\\ncat kept > tools/check; rm kept\\n' > tools/check",
    ];
    for swap in swap {
        for command in [&["./tools/check"][..], &["sh", "tools/check"]] {
            world.write_script("tools/check", trusted);
            world.checks(&[&sh(swap), command]);
            let ran = world.check(&surroundings).unwrap();
            assert_eq!(ran.tree.before, ran.tree.after, "the swap leaves no trace");
            let ended = ends(&ran);
            assert!(ended[1].starts_with("not started: "), "{swap}: {ended:?}");
        }
    }
    // Untouched, it is run as often as it is asked for.
    world.write("note.md", "Hello");
    world.checks(&[
        &sh("touch other; rm other"),
        &["./tools/check"],
        &["sh", "tools/check"],
    ]);
    let ended = ends(&world.check(&surroundings).unwrap());
    assert_eq!(ended, ["exit 0", "exit 0", "exit 0"]);
}

#[test]
fn a_timeout_ends_the_children_s_children_too() {
    let mut world = World::new();
    // Both wait for longer than any test, and the inner one holds the output open.
    world.checks(&[&sh("sleep 600 & echo $! > inner; echo begun; sleep 600")]);
    world.time_limit(2);
    let ran = world.check(&surroundings()).unwrap();
    assert_eq!(ends(&ran), ["timed out"]);
    assert_eq!(ran.results[0].tail, "begun\n");
    let inner = std::fs::read_to_string(world.root().join("inner")).unwrap();
    until_ended(inner.trim());
}

#[test]
fn what_a_command_leaves_running_is_ended_with_it() {
    let mut world = World::new();
    world.checks(&[&sh("sleep 600 & echo $! > inner; echo done")]);
    let ran = world.check(&surroundings()).unwrap();
    assert_eq!(ends(&ran), ["exit 0"]);
    assert_eq!(ran.results[0].tail, "done\n");
    let inner = std::fs::read_to_string(world.root().join("inner")).unwrap();
    until_ended(inner.trim());
}

/// Waits until this process has ended. Its number may stay until somebody takes note of it.
#[track_caller]
fn until_ended(pid: &str) {
    testkit::until("the process has ended", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
    });
}

#[test]
fn an_escaped_child_that_holds_the_output_holds_nobody_up() {
    let mut world = World::new();
    world.checks(&[&sh("setsid sleep 600 & echo $! > inner; echo done")]);
    let ran = world.check(&surroundings()).unwrap();
    assert_eq!(
        (ends(&ran), ran.results[0].tail.as_str()),
        (vec![String::from("exit 0")], "done\n")
    );
    let inner = std::fs::read_to_string(world.root().join("inner")).unwrap();
    // It is ours to end: we started it.
    let _ = std::process::Command::new("kill")
        .args(["-9", inner.trim()])
        .output();
}

#[test]
fn a_check_can_be_interrupted() {
    let mut world = World::new();
    world.checks(&[&["sleep", "600"]]);
    let stop = Some(Arc::new(AtomicBool::new(true)));
    let error = world
        .check(&CheckEnvironment {
            stop,
            ..surroundings()
        })
        .unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}

#[test]
fn a_hundred_megabytes_of_output_leave_a_short_tail() {
    let ran = run(&[&sh(
        "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo the end",
    )]);
    assert_eq!(ends(&ran), ["exit 0"]);
    assert_eq!(ran.results[0].tail, "the end\n");
    let ran = run(&[&sh("yes 'a line' | head -n 300000; exit 5")]);
    assert_eq!(ends(&ran), ["exit 5"]);
    let tail = &ran.results[0].tail;
    assert!(tail.len() <= 8 * 1024 && tail.len() > 7 * 1024 && tail.starts_with("a line\n"));
}

#[test]
fn a_tail_is_printable_and_redacted() {
    let mut world = World::new();
    world.secrets = vec![String::from("my-own-password")];
    world.checks(&[&[
        "printf",
        "\\033[31mred\\033[0m my-own-\\033[1mpassword \\377 \\a end\\n",
    ]]);
    let tail = world.check(&surroundings()).unwrap().results.remove(0).tail;
    assert!(
        tail.starts_with("red ") && tail.ends_with(" end\n"),
        "{tail:?}"
    );
    assert!(
        !tail.contains("password") && !tail.contains(['\u{1b}', '\u{7}']),
        "{tail:?}"
    );
}

#[test]
fn a_secret_in_a_command_is_not_recorded() {
    let mut world = World::new();
    world.secrets = vec![String::from("my-own-password")];
    world.declare_param("target", Some("my-own-password"));
    for program in ["echo", "no-such-program-at-all"] {
        world.checks(&[&[program, "--with={target}"]]);
        let shown = format!("{:?}", world.check(&surroundings()).unwrap().results);
        assert!(
            shown.contains(program) && !shown.contains("my-own-password"),
            "{shown}"
        );
    }
}

#[test]
fn a_text_in_the_output_can_fail_a_command_and_never_pass_one() {
    let mut world = World::new();
    world.checks(&[
        &sh("echo 1 FAILED; yes x | head -c 200000"),
        &sh("echo next"),
    ]);
    world.fails_on("FAILED");
    let ran = world.check(&surroundings()).unwrap();
    assert_eq!(ends(&ran), ["exit 0"]);
    assert!(ran.results[0].matched_failure);
    world.checks(&[&sh("echo all passed"), &sh("echo next; exit 1")]);
    world.fails_on("FAILED");
    let ran = world.check(&surroundings()).unwrap();
    assert_eq!(ends(&ran), ["exit 0", "exit 1"]);
    assert!(ran.results.iter().all(|result| !result.matched_failure));
}

pub(crate) fn variables(pairs: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
    pairs
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect()
}

#[test]
fn a_command_sees_a_short_list_of_variables() {
    let mut world = World::new();
    world.checks(&[&["env"]]);
    let surroundings = CheckEnvironment {
        variables: variables(&[
            ("HOME", "/home/me"),
            ("LANG", "C.UTF-8"),
            ("LC_ALL", "C"),
            ("USER", "me"),
            ("TMPDIR", "/var/tmp"),
            ("CARGO_HOME", "/home/me/cargo"),
            ("NODE_ENV", "test"),
            ("NODE_OPTIONS", "--require=/tmp/evil.js"),
            ("RUSTC_WRAPPER", "/tmp/evil"),
            ("CLAUDECODE", "1"),
            ("ANTHROPIC_API_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("MY_SECRET", "x"),
            ("LC_API_KEY", "x"),
            ("SHELL", "/bin/evil"),
            ("LD_PRELOAD", "/tmp/evil.so"),
            ("BASH_ENV", "/tmp/evil"),
            ("PATH", "/tmp/evil"),
            ("TERM", "xterm"),
            ("GIT_DIR", "/tmp"),
            ("PYTHONPATH", "/tmp"),
        ]),
        pass: vec![String::from("NODE_ENV"), String::from("NOT_SET")],
        ..surroundings()
    };
    let tail = world.check(&surroundings).unwrap().results.remove(0).tail;
    let mut seen: Vec<&str> = tail.lines().collect();
    seen.sort_unstable();
    let temporary = seen.iter().position(|line| line.starts_with("TMPDIR="));
    let temporary = seen.remove(temporary.expect("a check has a folder for temporary files"));
    let temporary = Path::new(temporary.trim_start_matches("TMPDIR="));
    assert!(
        temporary.starts_with("/tmp") && !temporary.exists(),
        "{temporary:?}"
    );
    let path = format!("PATH={}", evidence::check::SYSTEM_PATH.join(":"));
    assert_eq!(
        seen,
        [
            "CARGO_HOME=/home/me/cargo",
            "HOME=/home/me",
            "LANG=C.UTF-8",
            "LC_ALL=C",
            "NODE_ENV=test",
            &path,
            "PYTHONNOUSERSITE=1",
            "TERM=dumb",
            "USER=me"
        ]
    );
}

#[test]
fn no_setting_passes_on_a_secret_or_a_loader_s_variable() {
    let mut world = World::new();
    world.checks(&[&["true"]]);
    for name in [
        "NPM_TOKEN",
        "api_key",
        "DB_PASSWORD",
        "AWS_SECRET_ACCESS",
        "LD_PRELOAD",
        "DYLD_X",
        "BASH_ENV",
        "PYTHONSTARTUP",
        "PYTHONNOUSERSITE",
        "NODE_OPTIONS",
        "GIT_DIR",
        "RUSTC_WRAPPER",
        "TMPDIR",
        "PATH",
        "",
        "A=B",
    ] {
        let pass = vec![String::from(name)];
        let error = world
            .check(&CheckEnvironment {
                pass,
                ..surroundings()
            })
            .unwrap_err();
        assert!(matches!(error, Error::Variable { .. }), "{name}: {error}");
    }
    let pass = vec![String::from("NODE_ENV")];
    assert!(
        world
            .check(&CheckEnvironment {
                pass,
                ..surroundings()
            })
            .is_ok()
    );
}

#[test]
fn given_folders_are_searched_first_if_they_are_safe() {
    let mut world = World::new();
    world.write_script("bin/true", "#!/bin/sh\nexit 9\n");
    let temporary = world.outside().join("bin");
    std::fs::create_dir(&temporary).unwrap();
    std::fs::copy(world.root().join("bin/true"), temporary.join("true")).unwrap();
    std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o777)).unwrap();
    world.checks(&[&["true"]]);
    // The project's own for what was not there, a relative one, one that is missing, one to which all
    // may write.
    for folder in [
        world.root().join("bin"),
        PathBuf::from("bin"),
        PathBuf::from("/nowhere"),
        temporary,
    ] {
        let shown = folder.display().to_string();
        let search = vec![folder];
        let ran = world
            .check(&CheckEnvironment {
                search,
                ..surroundings()
            })
            .unwrap();
        assert_eq!(ends(&ran), ["exit 0"], "{shown}");
    }
    world.checks(&[&["env"]]);
    let search = vec![PathBuf::from("/usr"), PathBuf::from("/bin")];
    let ran = world
        .check(&CheckEnvironment {
            search,
            ..surroundings()
        })
        .unwrap();
    assert!(
        ran.results[0]
            .tail
            .contains("PATH=/usr:/bin:/usr/local/sbin:"),
        "{}",
        ran.results[0].tail
    );
}

#[test]
fn a_value_stays_one_word_whatever_it_holds() {
    for value in [
        "plain",
        "two words",
        "a; touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "' \" \\",
        "a\nb",
        "&& touch pwned",
        "{target}",
        "*",
        "~",
        "$HOME",
        "",
        "x -o ProxyCommand=touch",
    ] {
        let mut world = World::new();
        world.declare_param("target", Some(value));
        world.checks(&[&["printf", "[%s]", "{target}", "in {target}", "end"]]);
        let ran = world.check(&surroundings()).unwrap();
        assert_eq!(ran.results[0].tail, format!("[{value}][in {value}][end]"));
        assert!(!world.root().join("pwned").exists(), "{value}");
    }
}

#[test]
fn a_value_never_becomes_an_option() {
    let mut world = World::new();
    world.declare_param("target", Some("--help"));
    world.declare_param("empty", Some(""));
    for (word, is_run) in [
        ("{target}", false),
        ("{empty}{target}", false),
        ("--file={target}", true),
        ("./{target}", true),
        ("-{target}", true),
    ] {
        world.checks(&[&["printf", "%s", word]]);
        let ended = ends(&world.check(&surroundings()).unwrap());
        if is_run {
            assert_eq!(ended, ["exit 0"], "{word}")
        } else {
            assert!(
                ended[0].contains("would be taken for an option"),
                "{ended:?}"
            )
        }
    }
    world.declare_param("target", Some("-"));
    world.checks(&[&["cat", "{target}"]]);
    assert!(ends(&world.check(&surroundings()).unwrap())[0].contains("taken for an option"));
}

#[test]
fn a_parameter_without_a_value_stops_the_check() {
    let mut world = World::new();
    world.declare_param("target", None);
    world.checks(&[&["echo", "{target}"]]);
    let ended = ends(&world.check(&surroundings()).unwrap());
    assert!(
        ended[0].contains("the parameter target has no value"),
        "{ended:?}"
    );
    world.checks(&[&["echo", "{other} {}", "{run}"]]);
    assert_eq!(
        world.check(&surroundings()).unwrap().results[0].tail,
        "{other} {} r-1\n"
    );
}

#[test]
fn a_command_that_changes_the_tree_is_seen() {
    let mut world = World::with_git();
    world.write(".gitignore", "build/\n");
    world.checks(&[&["cp", ".gitignore", "tracked.txt"]]);
    let tree = world.check(&surroundings()).unwrap().tree;
    assert_ne!(tree.before, tree.after);
    world.checks(&[&sh("mkdir -p build && date > build/out")]);
    let tree = world.check(&surroundings()).unwrap().tree;
    assert_eq!(tree.before, tree.after);
    assert_eq!(tree.after, world.tree().hash);
}

#[test]
fn a_command_gets_no_input() {
    let ran = run(&[&sh("cat; readlink /proc/self/fd/0")]);
    assert_eq!(ran.results[0].tail, "/dev/null\n");
}

#[test]
fn only_a_check_stage_is_run() {
    let world = World::new();
    let other = StageName::parse("other").unwrap();
    let error = world
        .looking(&world.root(), |looking| {
            evidence::check::run(&other, looking, &surroundings())
        })
        .unwrap_err();
    assert!(matches!(error, Error::NotACheck { .. }), "{error}");
}

#[test]
fn a_script_that_names_no_interpreter_is_not_given_to_a_shell() {
    let mut world = World::new();
    world.write_script("check", "echo it ran\n");
    world.checks(&[&["./check"]]);
    let ended = ends(&world.check(&surroundings()).unwrap());
    assert!(
        ended[0].starts_with("not started: `./check` could not be started"),
        "{ended:?}"
    );
}
