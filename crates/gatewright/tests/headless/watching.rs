//! `watch` at a real terminal: what it shows, an answer typed there, bad input, and a terminal that is left as it was.

use std::process::Command;

use rustix::process::Signal;
use testkit::Ran;
use testkit::terminal::Terminal;

use super::fixture::{ONE, PROGRAM, World, says, until};
use super::owners::{ASKS, let_go, owned};
use super::people::{ASKS_TWICE, QUESTIONS};

/// What a worker says: something wild, something long, and its last words.
const LOUD: &str = r#"
printf 'look \033]0;stolen\007\033[2J\033[31mred\n'
head -c 10000000 /dev/zero | tr '\0' x
echo
echo "the last words"
"#;

/// A person types this line of shell at a terminal of their own.
fn at_terminal(world: &World, line: &str) -> Terminal {
    let mut command = world.project.at_home("sh");
    command.args(["-c", line]);
    let terminal = Terminal::open(&command);
    terminal.resize(100, 30);
    terminal
}

fn watch() -> String {
    format!("'{PROGRAM}' watch")
}

/// A run that waits for an answer.
fn asking() -> World {
    let world = World::with(ASKS, "");
    let ran = world.run("");
    assert_eq!(world.status("r-test"), "waiting", "{ran}");
    world
}

/// The modes of the terminal, as `stty` printed them on this screen.
#[track_caller]
fn is_as_before(screen: &str) {
    let modes: Vec<&str> = screen.split_whitespace().collect();
    for mode in ["icanon", "echo", "isig"] {
        assert!(modes.contains(&mode), "{mode}\n{screen}");
    }
}

#[test]
fn a_person_sees_a_question_and_answers_it_on_the_screen() {
    let world = asking();
    let terminal = at_terminal(&world, &watch());
    let screen = terminal.wait_for("press a to answer");
    says(&screen, "1 run waits for you");
    says(&screen, "r-test");
    terminal.press("Enter");
    terminal.wait_for("ANSWER");
    terminal.type_text("yes please do");
    terminal.press("Enter");
    let screen = terminal.wait_for("nothing waits for you");
    says(&screen, "writing");
    let answers = world.history("answered");
    assert_eq!(answers.len(), 1, "{answers:?}");
    says(&answers[0].to_string(), "please do");
    assert_eq!(answers[0]["by"]["kind"], "person", "{answers:?}");
    terminal.type_text("q");
    assert_eq!(terminal.wait_for_end().code, Some(0));
}

#[test]
fn an_agent_at_the_screen_is_refused_and_it_is_recorded() {
    let world = asking();
    let line = format!("CLAUDECODE=1 {}", watch());
    let terminal = at_terminal(&world, &line);
    terminal.wait_for("press a to answer");
    terminal.type_text(":answer yes");
    terminal.press("Enter");
    terminal.wait_for("GW-R66");
    assert_eq!(world.status("r-test"), "waiting");
    assert_eq!(world.history("refused").len(), 1);
}

#[test]
fn a_run_is_cancelled_only_after_its_id_is_typed() {
    let world = asking();
    let terminal = at_terminal(&world, &watch());
    terminal.wait_for("press a to answer");
    for typed in ["y", "r-test"] {
        terminal.type_text(":cancel no longer needed");
        terminal.press("Enter");
        terminal.wait_for("type r-test to cancel it");
        assert_eq!(world.status("r-test"), "waiting");
        terminal.type_text(typed);
        terminal.press("Enter");
        terminal.wait_until_gone("type r-test to cancel it");
    }
    until("it is cancelled", || world.status("r-test") == "cancelled");
}

#[test]
fn a_live_run_is_followed_and_a_killed_owner_is_shown_as_lost() {
    let (world, run) = owned(LOUD);
    let terminal = at_terminal(&world, &format!("{} --select r-test", watch()));
    terminal.wait_for("● live");
    terminal.type_text("3f");
    terminal.wait_for("follows · d1");
    terminal.wait_for("the last words");
    terminal.press("Home");
    let screen = terminal.wait_until_gone("follows");
    says(&screen, "gatewright");
    run.signal(Signal::KILL);
    terminal.wait_for("✗ owner lost");
    for (columns, rows) in [(40, 20), (160, 50), (80, 24), (20, 4), (100, 30)] {
        terminal.resize(columns, rows);
        terminal.wait_until(|screen| {
            let widest = screen.lines().map(|line| line.chars().count()).max();
            widest <= Some(usize::from(columns)) && screen.contains("gatewright")
        });
    }
    let_go(&world);
}

#[test]
fn the_terminal_is_as_before_after_leaving_after_a_signal_and_after_a_kill() {
    let world = asking();
    let file = world.programs().join("pid");
    let line = format!(
        "echo before; sh -c 'echo $$ > \"$0\"; exec \"$@\"' '{}' {}; while stty -a | grep -q -e -icanon; do sleep 0.05; done; stty -a; sleep 600",
        file.display(),
        watch()
    );
    for end in ["q", "-TERM", "-KILL"] {
        let _ = std::fs::remove_file(&file);
        let terminal = at_terminal(&world, &line);
        terminal.wait_for("press a to answer");
        match end {
            "q" => terminal.type_text("q"),
            signal => {
                let id = world.noted("pid").remove(0);
                let sent = Command::new("kill").args([signal, &id]).status().unwrap();
                assert!(sent.success());
            }
        }
        let screen = terminal.wait_for("iexten");
        is_as_before(&screen);
        // The screen of before is back, and the picture is gone.
        says(&screen, "before");
        assert!(!screen.contains("press a to answer"), "{screen}");
    }
}

#[test]
fn one_picture_needs_no_terminal_and_has_no_escape_sequence() {
    let world = asking();
    let ran = world.gatewright("watch --once").succeeds();
    says(&ran.stdout, "1 run waits for you");
    says(&ran.stdout, "r-test");
    let wide = ran.stdout.lines().map(|line| line.chars().count()).max();
    assert!(wide <= Some(80), "{ran}");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
    let painted = world.gatewright("watch --once --color always").succeeds();
    assert!(painted.stdout.contains("\u{1b}[0"), "{painted}");
    assert!(!painted.stdout.contains("\u{1b}[31mthe note"), "{painted}");
}

#[test]
fn without_a_terminal_one_line_names_what_to_type() {
    let world = asking();
    let mut command = Command::new("setsid");
    let plain = world.command("watch");
    command
        .arg("-w")
        .arg(plain.get_program())
        .args(plain.get_args());
    command.current_dir(plain.get_current_dir().unwrap());
    command.env_clear();
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.stdin(std::process::Stdio::null());
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, Some(2), "{ran}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
    says(&ran.stderr, "watch --once");
}

#[test]
fn a_store_that_vanishes_and_comes_again_is_shown_as_it_is() {
    let world = asking();
    let terminal = at_terminal(&world, &watch());
    terminal.wait_for("press a to answer");
    let there = world.project.state();
    let aside = there.with_extension("aside");
    std::fs::rename(&there, &aside).unwrap();
    terminal.wait_for("nothing waits for you");
    std::fs::rename(&aside, &there).unwrap();
    terminal.wait_for("press a to answer");
    // What this version cannot read is one clear line.
    let store = there.join("store.db");
    let bytes = std::fs::read(&store).unwrap();
    std::fs::remove_dir_all(&there).unwrap();
    std::fs::create_dir_all(&there).unwrap();
    std::fs::write(&store, &bytes[..bytes.len() / 2]).unwrap();
    terminal.wait_for("shown as last read: ");
    terminal.type_text("q");
    assert_eq!(terminal.wait_for_end().code, Some(0));
}

#[test]
fn the_questions_of_a_worker_are_answered_one_by_one() {
    let world = World::with(QUESTIONS, ASKS_TWICE);
    world.run("").exits(6);
    let terminal = at_terminal(&world, &watch());
    terminal.wait_for("press a to answer");
    terminal.type_text("a");
    terminal.wait_for("1 of 2: Which colour?");
    terminal.type_text("2");
    terminal.press("Enter");
    terminal.wait_for("2 of 2: How many?");
    terminal.type_text("seven of them");
    terminal.press("Enter");
    terminal.wait_for("nothing waits for you");
    assert_eq!(world.history("answered").len(), 1);
    world.gatewright("resume r-test").succeeds();
    says(&world.prompt(2), "blue");
    says(&world.prompt(2), "seven of them");
}

#[test]
fn failed_work_is_retried_by_a_command() {
    let world = World::with(ONE, "exit 3");
    let ran = world.run("");
    assert_eq!(world.status("r-test"), "waiting", "{ran}");
    let terminal = at_terminal(&world, &watch());
    terminal.wait_for("gatewright retry r-test");
    terminal.type_text(":retry");
    terminal.press("Enter");
    terminal.wait_for("✓ r-test retries");
    assert_eq!(world.history("unstuck").len(), 1);
}

#[test]
fn output_is_searched_and_the_diff_of_a_piece_of_work_is_read() {
    let (world, run) = owned("echo first words; echo a needle in it; seq 1 300");
    let terminal = at_terminal(&world, &format!("{} --select r-test", watch()));
    terminal.wait_for("● live");
    terminal.wait_for("“300”");
    // As fast as a person who knows the keys.
    terminal.type_text("3/NEEDLE");
    terminal.press("Enter");
    terminal.wait_for("a needle in it");
    terminal.type_text("w");
    terminal.wait_for("not wrapped");
    let_go(&world);
    run.end().succeeds();
    terminal.wait_for("✓ completed");
    terminal.type_text("6");
    terminal.wait_for("1 file, +1 -0");
    terminal.press("Down");
    terminal.press("Enter");
    let screen = terminal.wait_for("+note 1");
    says(&screen, "diff r-test d1");
    terminal.press("Escape");
    terminal.wait_for("Enter on one shows its diff");
    terminal.type_text("q");
    assert_eq!(terminal.wait_for_end().code, Some(0));
}

/// Where SQLite keeps the number of the schema in a file.
const SCHEMA_NUMBER: std::ops::Range<usize> = 60..64;

#[test]
fn a_store_that_a_newer_version_wrote_is_one_clear_line() {
    let world = asking();
    let terminal = at_terminal(&world, &watch());
    terminal.wait_for("press a to answer");
    let there = world.project.state();
    let aside = there.with_extension("aside");
    let mut bytes = std::fs::read(there.join("store.db")).unwrap();
    bytes[SCHEMA_NUMBER].copy_from_slice(&9_999_u32.to_be_bytes());
    std::fs::rename(&there, &aside).unwrap();
    std::fs::create_dir_all(&there).unwrap();
    std::fs::write(there.join("store.db"), &bytes).unwrap();
    terminal.wait_for("shown as last read: ");
    terminal.type_text("q");
    assert_eq!(terminal.wait_for_end().code, Some(0));
    let ran = world.gatewright("watch --once");
    assert_ne!(ran.code, Some(0), "{ran}");
    assert_eq!(ran.stdout, "", "{ran}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
    says(&ran.stderr, "9999");
    // Nobody has touched it.
    assert_eq!(std::fs::read(there.join("store.db")).unwrap(), bytes);
}

#[test]
fn a_run_of_another_worktree_stands_under_its_repository_also_when_it_is_over() {
    let world = asking();
    let commit = "git add pipeline.toml && git -c user.name=a -c user.email=a@b commit -qm pipeline && git worktree add -q ../fix-42";
    assert!(world.project.shell(commit).status().unwrap().success());
    let there = world.project.path().join("../fix-42");
    let typed = |line: &str| {
        let mut command = world.command(line);
        Ran::from(command.current_dir(&there).output().unwrap())
    };
    let shown = typed("trust pipeline.toml --show --json").succeeds().stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let hash = shown["hash"].as_str().unwrap();
    typed(&format!("trust pipeline.toml --hash {hash}")).succeeds();
    typed(&world.line("").replace("r-test", "r-other")).exits(6);
    let shown = || {
        let picture = world.gatewright("watch --once").succeeds().stdout;
        let runs = picture.split("RUNS").nth(1).unwrap().to_owned();
        let line = runs.lines().find(|line| line.contains("r-other"));
        // One repository has no title of its own.
        assert!(
            !runs.lines().any(|line| line.starts_with(" project")),
            "{picture}"
        );
        says(line.unwrap(), "fix-42");
    };
    shown();
    world.person("answer r-other no", "").succeeds();
    assert_eq!(world.status("r-other"), "cancelled");
    shown();
}
