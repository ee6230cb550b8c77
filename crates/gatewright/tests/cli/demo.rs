//! The demo: short, real, and gone without a trace.

mod pictures;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::terminal::Terminal;
use testkit::{PATIENCE, Project, Ran, within};

use crate::disk::in_a_namespace;
use crate::fixture::{PROGRAM, project, run, says_one_line};

/// A project, and an empty folder for temporary files in its home.
fn stage() -> (Project, PathBuf) {
    let project = project();
    let temporary = project.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    (project, temporary)
}

fn demo(project: &Project, temporary: &Path, line: &str) -> Command {
    let mut command = project.command(line.split_whitespace());
    command.env("TMPDIR", temporary);
    command
}

#[track_caller]
fn is_empty(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).unwrap().collect();
    assert!(left.is_empty(), "something is left behind: {left:?}");
}

/// The processes that know of this folder by their variables.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let variables = all.filter_map(|entry| {
        let bytes = fs::read(entry.path().join("environ")).ok()?;
        Some((entry.path(), String::from_utf8_lossy(&bytes).into_owned()))
    });
    let ours = variables.filter(|(_, text)| text.contains(&format!("{folder}/gatewright-demo-")));
    ours.map(|(path, _)| path.display().to_string()).collect()
}

/// A demo that was kept, with what it told.
struct Kept {
    project: Project,
    folder: PathBuf,
    told: Value,
}

impl Kept {
    fn new() -> Self {
        let (project, temporary) = stage();
        let ran = demo(&project, &temporary, "demo --fast --keep --json");
        let ran = Ran::from({ ran }.output().unwrap()).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        let folder = PathBuf::from(told["folder"].as_str().expect("the folder is named"));
        Self {
            project,
            folder,
            told,
        }
    }

    /// The program in the folder that was kept, as the demo says that one looks at it.
    fn look(&self, line: &str) -> Ran {
        let mut command = self.project.command(line.split_whitespace());
        command
            .current_dir(self.folder.join("project"))
            .env("XDG_STATE_HOME", self.folder.join("state"));
        Ran::from(command.output().unwrap())
    }

    fn facts(&self, line: &str) -> Value {
        let ran = self.look(&format!("{line} --json")).succeeds();
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// The entries of this kind.
    fn entries(&self, kind: &str) -> Vec<Value> {
        let facts = self.facts("history r-demo");
        let entries = facts["entries"].as_array().unwrap().iter();
        let entries = entries.filter(|entry| entry["fact"]["kind"] == kind);
        entries.cloned().collect()
    }

    /// The worktree of the run.
    fn place(&self) -> PathBuf {
        let status = self.facts("status r-demo");
        PathBuf::from(status["place"]["folder"].as_str().expect("a worktree"))
    }

    fn file(&self, path: &str) -> String {
        fs::read_to_string(self.place().join(path)).unwrap()
    }
}

#[test]
fn the_demo_tells_its_story_in_few_lines_and_leaves_nothing() {
    let (project, temporary) = stage();
    let ran = Ran::from(demo(&project, &temporary, "demo").output().unwrap()).succeeds();
    assert!(ran.stdout.lines().count() <= 45, "{ran}");
    let is_narrow = |line: &str| line.chars().count() <= 80 || line.contains(PROGRAM);
    assert!(ran.stdout.lines().all(is_narrow), "{ran}");
    assert!(
        !ran.stdout.contains('\u{1b}'),
        "no terminal, no picture\n{ran}"
    );
    let mut rest = ran.stdout.as_str();
    for word in [
        "\ntask",
        "\nasked",
        "\nasked",
        "\nREFUSED",
        "\nREFUSED",
        "\nagain",
        "\nreview",
        "\nKILLED",
        "\nRESUMED",
        "\ncode",
        "\nreview",
        "\nfixed",
        "\nreview",
        "\nFAILED",
        "\nfixed",
        "\nreview",
        "\nPASSED",
        "\ndone",
        "\nverified",
    ] {
        let at = rest
            .find(word)
            .unwrap_or_else(|| panic!("{word} is missing or out of order\n{ran}"));
        rest = &rest[at + word.len()..];
    }
    assert_eq!(ran.stderr, "");
    is_empty(&temporary);
    assert!(
        !project.state().exists(),
        "the demo used the state folder of the person"
    );
    assert_eq!(processes_of(&temporary), Vec::<String>::new());
}

/// What the demo shows did happen: the journal says so, and every decision in it is verified.
#[test]
fn what_the_demo_shows_has_happened() {
    let kept = Kept::new();
    it_stands_in_the_journal(&kept);
    two_processes_drove_it(&kept);
    the_cause_reached_whoever_fixed_it(&kept);
    pictures::are_of_this_run(&kept);
}

fn it_stands_in_the_journal(kept: &Kept) {
    assert_eq!(kept.told["intact"], true);
    assert_eq!(kept.told["pipeline"], "multi-ai");
    assert_eq!(kept.facts("verify r-demo")["intact"], true);
    assert_eq!(kept.facts("status r-demo")["status"], "completed");
    // An agent that asks for a way past the gates, and one that works out of turn.
    let refused = kept.entries("refused");
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0]["rule"], "GW-R66");
    let ended = kept.entries("ended");
    let strayed: Vec<&Value> = ended.iter().filter(|it| it["rule"] == "GW-R38").collect();
    assert_eq!(strayed.len(), 1, "{ended:?}");
    // A question of a worker and one of the pipeline.
    let answered = kept.entries("answered");
    let answers = answered.iter().map(|entry| &entry["fact"]["answer"]);
    assert_eq!(answers.collect::<Vec<_>>(), ["answered", "approve"]);
    // A review that asks for changes, and the fix.
    assert_eq!(kept.entries("reviewer_found").len(), 1);
    assert_eq!(kept.entries("fixed").len(), 1);
    let checked = kept.entries("checked");
    let verdicts = checked.iter().map(|entry| &entry["fact"]["verdict"]);
    assert_eq!(verdicts.collect::<Vec<_>>(), ["failed", "passed"]);
    // Whatever the acts say, their entries are there.
    let acts = kept.told["acts"].as_array().unwrap();
    let of_refusal = acts.iter().find(|act| act["what"] == "REFUSED").unwrap();
    let why = kept.look(&format!("why r-demo {}", of_refusal["entry"]));
    assert!(why.succeeds().stdout.contains("GW-R66"));
}

/// The lease has been taken twice, by two processes, and the killed one left its work open for the other.
fn two_processes_drove_it(kept: &Kept) {
    let processes = kept.told["orchestrators"].as_array().unwrap();
    assert_eq!(processes.len(), 2, "{processes:?}");
    assert_ne!(processes[0]["process"], processes[1]["process"]);
    assert_eq!(
        processes[0]["signal"], 9,
        "it was killed, and did not stop by itself"
    );
    assert_eq!(processes[1]["code"], 0);
    assert_eq!(kept.entries("cut_short").len(), 0, "nobody could tidy up");
    let store = kept.folder.join("state/gatewright/store.db");
    let fence: i64 = Connection::open(store)
        .unwrap()
        .query_row("SELECT max(last_fence) FROM leases", [], |row| row.get(0))
        .unwrap();
    assert_eq!(
        fence, 2,
        "the second one drove and delivered under one lease"
    );
    let admitted = kept.entries("admitted");
    let implementing = admitted
        .iter()
        .filter(|entry| entry["fact"]["stage"] == "implementing_loop");
    let attempts: Vec<&Value> = implementing
        .map(|entry| &entry["fact"]["attempt"])
        .collect();
    assert_eq!(attempts, [1, 1], "the kill cost no attempt");
}

/// The fixes come from what the prompts said: the reviewer's line, and the characters in the check's output.
fn the_cause_reached_whoever_fixed_it(kept: &Kept) {
    let script = kept.file("slug.sh");
    assert!(script.contains(r#"[ -n "$1" ] || exit 2"#), "{script}");
    assert!(script.contains("tr -d ',!'"), "{script}");
    let history = kept.facts("history r-demo").to_string();
    assert!(history.contains("got hello,-world!"), "{history}");
    let report = kept.file(".task/report-r-demo.md");
    assert!(report.contains("sh tests/slug.sh"), "{report}");
    let mut repeat = kept.project.at_home("sh");
    let repeat = repeat.arg("tests/slug.sh").current_dir(kept.place());
    Ran::from(repeat.output().unwrap()).succeeds();
}

#[test]
fn the_demo_needs_no_settings_of_git_and_no_home_and_an_agent_may_see_it() {
    let (project, temporary) = stage();
    let mut command = demo(&project, &temporary, "demo --fast");
    command
        .env_remove("HOME")
        .env_remove("XDG_STATE_HOME")
        .env("GIT_DIR", project.home().join("absent"))
        .env("GIT_AUTHOR_DATE", "not a date")
        .env("CLAUDECODE", "1");
    Ran::from(command.output().unwrap()).succeeds();
    is_empty(&temporary);
}

#[test]
fn a_temporary_folder_in_a_repository_is_not_taken_for_the_project() {
    let project = project();
    project.git(["init", "--quiet"]);
    let before = project.git(["status", "--short"]).stdout;
    let ran = demo(&project, &project.path(), "demo --fast").output();
    Ran::from(ran.unwrap()).succeeds();
    assert_eq!(project.git(["status", "--short"]).stdout, before);
}

#[test]
fn a_demo_that_is_interrupted_leaves_no_process_and_no_folder() {
    for moment in ["asked", "KILLED", "FAILED"] {
        let (project, temporary) = stage();
        let mut command = project.child(["demo", "--fast"]);
        let command = command.env("TMPDIR", &temporary);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with(moment) {
            line.clear();
            assert_ne!(told.read_line(&mut line).unwrap(), 0, "no {moment}");
        }
        let id = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        kill_process(id, Signal::INT).unwrap();
        told.read_to_string(&mut line).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{moment}\n{line}");
        assert_eq!(processes_of(&temporary), Vec::<String>::new(), "{moment}");
        is_empty(&temporary);
    }
}

/// Nobody cleans up after a kill, but nothing goes on for ever either.
#[test]
fn a_demo_that_is_killed_takes_its_processes_along() {
    let (project, temporary) = stage();
    let mut command = project.child(["demo", "--fast"]);
    let command = command.env("TMPDIR", &temporary);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("REFUSED") {
        line.clear();
        assert_ne!(told.read_line(&mut line).unwrap(), 0);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let is_over = within(PATIENCE, || {
        processes_of(&temporary).is_empty().then_some(())
    });
    assert!(is_over.is_some(), "{:?}", processes_of(&temporary));
}

#[test]
fn a_disk_or_a_machine_that_cannot_play_it_is_one_clear_line() {
    let (project, temporary) = stage();
    let mut without_git = demo(&project, &temporary, "demo");
    let without_git = without_git
        .env("PATH", project.home().join("absent"))
        .output()
        .unwrap();
    says_one_line(Ran::from(without_git), 4, &["git"]);
    let nowhere = demo(&project, &project.home().join("absent"), "demo").output();
    says_one_line(Ran::from(nowhere.unwrap()), 4, &["TMPDIR"]);
    is_empty(&temporary);
    for (mounted, word, begins) in [
        ("size=24k", "disk", false),
        ("size=250k", "disk", true),
        ("noexec", "TMPDIR", false),
        ("ro", "TMPDIR", false),
    ] {
        let script = format!(
            r#"mkdir "$HOME/m"; mount -t tmpfs -o {mounted} tmpfs "$HOME/m"
            code=0; TMPDIR="$HOME/m" "$GATEWRIGHT" demo > "$HOME/out" || code=$?
            ls "$HOME/m"; exit $code"#
        );
        let (project, _) = stage();
        let ran = in_a_namespace(&project, &script);
        says_one_line(ran, 4, &[word]);
        let told = fs::read_to_string(project.home().join("out")).unwrap();
        assert_eq!(!told.is_empty(), begins, "{mounted}\n{told}");
    }
}

/// At a terminal a picture is drawn below the acts; in the end only the acts stand there.
#[test]
fn at_a_terminal_the_live_view_stands_below_the_acts() {
    let (project, temporary) = stage();
    let line = format!(
        "TMPDIR={} {PROGRAM} demo --fast",
        temporary.to_str().unwrap()
    );
    let ran = project.person_at(&line, "").succeeds();
    assert!(ran.stdout.contains("\u{1b}[J"), "{ran}");
    assert!(ran.stdout.contains("r-demo multi-ai"), "{ran}");
    assert!(ran.stdout.contains("PASSED"), "{ran}");
    is_empty(&temporary);
}

/// The screen opens on the run; when the person leaves it, the story stands there to its end.
#[test]
fn the_screen_opens_on_the_demo_and_its_story_follows() {
    let (project, temporary) = stage();
    let terminal = Terminal::open(&demo(&project, &temporary, "demo --fast --watch"));
    terminal.wait_for("STAGES");
    terminal.wait_for("completed");
    assert!(!terminal.screen().contains("PASSED"));
    terminal.type_text("q");
    terminal.wait_for("verified");
    assert_eq!(terminal.wait_for_end().code, Some(0));
    assert!(terminal.scroll().contains("KILLED"));
    is_empty(&temporary);
}

#[test]
fn a_screen_needs_a_terminal() {
    let (project, temporary) = stage();
    let ran = demo(&project, &temporary, "demo --watch").output();
    says_one_line(Ran::from(ran.unwrap()), 2, &["terminal"]);
    is_empty(&temporary);
}

/// The orchestrator of a demo does not ask whether a person started it. It works in the folder of a demo alone.
#[test]
fn an_orchestrator_of_a_demo_drives_nothing_else() {
    let project = project();
    let folder = project.home().join("not-a-demo");
    fs::create_dir_all(folder.join("state")).unwrap();
    let line = format!("demo-orchestrator {}", folder.display());
    says_one_line(run(&project, &line), 2, &["gatewright demo"]);
    let elsewhere = project.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.join("state/gatewright")).unwrap();
    says_one_line(run(&project, &line), 2, &["gatewright demo"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}
