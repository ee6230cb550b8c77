//! The chores battery: kill -9, or a failing call, at every system call of a hook and of each command
//! that has no key; then the same again.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::aftermath::inside;
use super::journal::{Outline, verify};
use super::stand::{Stand, text};
use super::trace::{Point, points, sample};
use super::{Extent, Manner};
use crate::failure::Failure;
use crate::output::say;

/// How many points of each chore a sample takes, besides those around a sync.
const SAMPLE: usize = 12;

const SESSION: &str = "94e177ca-6e8d-476c-9202-9845d99bc9b8";

/// An open pipeline, in which every session has a run.
const PIPELINE: &str = r#"
name   = "open"
about  = "Anything goes, and everything is seen."
begins = "session"
start  = "working"

[stages.working]
allow     = ["*"]
stop      = "hold"
on.finish = "complete"

[stages.complete]
end = "completed"
"#;

/// What is done to the process at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blow {
    Kill,
    /// The call fails with this error, and is not carried out.
    Error(&'static str),
}

/// Errors that a disk, a full table and a signal give.
const ERRORS: [&str; 3] = ["EIO", "ENOSPC", "EMFILE"];

/// Calls that an error of the file system can hit.
const IO_CALLS: [&str; 16] = [
    "openat",
    "read",
    "pread64",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "rename",
    "renameat",
    "unlink",
    "unlinkat",
    "mkdir",
    "flock",
    "fcntl",
    "statx",
];

/// One chore, and the way to where it is legal.
struct Chore {
    name: &'static str,
    prepare: fn(&Stand) -> Result<(), Failure>,
    words: fn(&Stand) -> Result<Vec<String>, Failure>,
    /// What a hook reads.
    payload: Option<fn() -> Value>,
}

const CHORES: [Chore; 8] = [
    command("trust", nothing, trust_words),
    command("init", trust, |_| Ok(line("init open --yes"))),
    command("uninit", install, |_| Ok(line("uninit --yes"))),
    command("gc", end_a_run, |_| Ok(line("gc --older-than 0s"))),
    command("repair", damage, |_| Ok(line("verify --repair"))),
    hook("PreToolUse", begin, || {
        json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "toolu_1",
            "tool_input": {"subagent_type": "writer", "prompt": "x", "description": "x"}})
    }),
    hook(
        "Stop",
        begin,
        || json!({"hook_event_name": "Stop", "stop_hook_active": false, "background_tasks": []}),
    ),
    hook(
        "SessionEnd",
        begin,
        || json!({"hook_event_name": "SessionEnd", "reason": "other"}),
    ),
];

type Words = fn(&Stand) -> Result<Vec<String>, Failure>;

const fn command(
    name: &'static str,
    prepare: fn(&Stand) -> Result<(), Failure>,
    words: Words,
) -> Chore {
    Chore {
        name,
        prepare,
        words,
        payload: None,
    }
}

/// A hook of this event.
const fn hook(
    name: &'static str,
    prepare: fn(&Stand) -> Result<(), Failure>,
    payload: fn() -> Value,
) -> Chore {
    Chore {
        name,
        prepare,
        words: |_| Ok(Vec::new()),
        payload: Some(payload),
    }
}

fn line(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

fn nothing(_: &Stand) -> Result<(), Failure> {
    Ok(())
}

fn trust_words(stand: &Stand) -> Result<Vec<String>, Failure> {
    let shown = stand.ask(&["trust", "open", "--show"])?;
    let hash = shown["hash"].as_str().unwrap_or_default();
    Ok(line(&format!("trust open --hash {hash}")))
}

fn trust(stand: &Stand) -> Result<(), Failure> {
    let words = trust_words(stand)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    stand.run(&words).map(drop)
}

fn install(stand: &Stand) -> Result<(), Failure> {
    trust(stand)?;
    stand.run(&["init", "open", "--yes"]).map(drop)
}

fn begin(stand: &Stand) -> Result<(), Failure> {
    install(stand)?;
    let begun = json!({"hook_event_name": "SessionStart", "source": "startup"});
    let output = run_hook(stand, &[], "SessionStart", &begun)?;
    match output.status.code() {
        Some(0) => Ok(()),
        _ => Err(Failure::no(format!(
            "the session: {}",
            text(&output.stderr)
        ))),
    }
}

fn end_a_run(stand: &Stand) -> Result<(), Failure> {
    trust(stand)?;
    for id in ["r-old", "r-going"] {
        stand.run(&["start", "open", "--task", "x", "--by-hand", "--id", id])?;
    }
    stand.run(&["cancel", "r-old", "--reason", "battery"])?;
    // Only what ended before this moment is old enough.
    std::thread::sleep(std::time::Duration::from_millis(20));
    Ok(())
}

fn damage(stand: &Stand) -> Result<(), Failure> {
    trust(stand)?;
    stand.run(&["start", "open", "--task", "x", "--by-hand", "--id", "r-one"])?;
    let marker = stand.state_home().join("gatewright/damaged");
    fs::write(&marker, "a disk that failed\n").map_err(Failure::file("write", &marker))
}

/// What is there after a chore: what happened in each run, the files of the project, and what is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Picture {
    runs: Outline,
    files: BTreeMap<String, Vec<u8>>,
    trusted: Vec<String>,
}

impl Picture {
    fn of(stand: &Stand) -> Result<Self, Failure> {
        let trusted = stand.ask(&["trust", "--list"])?;
        let trusted = trusted["trusted"].as_array().cloned().unwrap_or_default();
        let mut files = BTreeMap::new();
        gather(&stand.project(), &stand.project(), &mut files)?;
        Ok(Self {
            runs: Outline::of(stand)?,
            files,
            trusted: trusted.iter().map(|one| one["hash"].to_string()).collect(),
        })
    }
}

fn gather(
    root: &Path,
    folder: &Path,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Failure> {
    for path in inside(folder) {
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() {
            gather(root, &path, files)?;
        } else {
            let bytes = fs::read(&path).map_err(Failure::file("read", &path))?;
            let name = path.strip_prefix(root).unwrap_or(&path);
            files.insert(name.display().to_string(), bytes);
        }
    }
    Ok(())
}

/// What a blow may not do.
#[derive(Debug)]
enum Harm {
    /// The same again did not go through.
    Refused(String),
    /// It came to something else than without the blow.
    Differs,
    Corrupt(String),
    /// A hook ended with another code than 0 or 2, or said half an answer.
    Answer(String),
    /// A hook allowed what is not in the journal.
    Unrecorded,
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "refused: {}", why.trim_end()),
            Self::Differs => f.write_str("differs: it came to something else"),
            Self::Corrupt(why) => write!(f, "corrupt: {}", why.trim_end()),
            Self::Answer(why) => write!(f, "answer: {}", why.trim_end()),
            Self::Unrecorded => f.write_str("unrecorded: allowed, and not in the journal"),
        }
    }
}

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    let (mut taken, mut broken) = (0, 0);
    for chore in &CHORES {
        let tally = strike_everywhere(program, chore, manner.extent)?;
        say(&tally);
        taken += tally.taken;
        broken += tally.broken.len();
    }
    say(format_args!(
        "chores: {} chores, {taken} blows, {broken} broken",
        CHORES.len()
    ));
    if broken == 0 {
        Ok(())
    } else {
        Err(Failure::no(format!("{broken} blows did harm")))
    }
}

struct Tally {
    name: &'static str,
    taken: usize,
    broken: Vec<(Point, Blow, Harm)>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            taken,
            broken,
        } = self;
        write!(f, "  {name:<12} {taken:>4} blows, {} broken", broken.len())?;
        for (point, blow, harm) in broken {
            write!(
                f,
                "\n    {blow:?} at {} {}: {harm}",
                point.call, point.number
            )?;
        }
        Ok(())
    }
}

/// A chore on a stand that is ready for it, and what it comes to when nobody strikes: done once, or
/// twice.
struct Trial<'a> {
    chore: &'a Chore,
    stand: Stand,
    words: Vec<String>,
    wanted: [Picture; 2],
    exits: [Option<i32>; 2],
}

fn strike_everywhere(program: &Path, chore: &Chore, extent: Extent) -> Result<Tally, Failure> {
    let trial = Trial::new(program, chore)?;
    let points = trial.points()?;
    let chosen = match extent {
        Extent::Whole => points,
        Extent::Sample => sample(&points, SAMPLE),
    };
    let mut tally = Tally {
        name: chore.name,
        taken: 0,
        broken: Vec::new(),
    };
    for point in chosen {
        for blow in blows(chore, &point) {
            let output = trial.strike(&point, blow)?;
            tally.taken += 1;
            let harm = trial.judge(blow, &output)?;
            tally
                .broken
                .extend(harm.map(|harm| (point.clone(), blow, harm)));
        }
    }
    Ok(tally)
}

/// Every point is killed at; what a hook reads and writes also fails.
fn blows(chore: &Chore, point: &Point) -> Vec<Blow> {
    let fails = chore.payload.is_some() && IO_CALLS.contains(&point.call.as_str());
    let errors = ERRORS.into_iter().filter(|_| fails).map(Blow::Error);
    std::iter::once(Blow::Kill).chain(errors).collect()
}

impl<'a> Trial<'a> {
    fn new(program: &Path, chore: &'a Chore) -> Result<Self, Failure> {
        let stand = Stand::new(program, &[("note.md", "A note.\n")])?;
        let folder = stand.project().join(".gatewright");
        fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        let path = folder.join("open.toml");
        fs::write(&path, PIPELINE).map_err(Failure::file("write", &path))?;
        (chore.prepare)(&stand)?;
        let words = (chore.words)(&stand)?;
        stand.keep()?;
        let first = run_chore(&stand, &[], chore, &words)?;
        let once = Picture::of(&stand)?;
        let second = run_chore(&stand, &[], chore, &words)?;
        let twice = Picture::of(&stand)?;
        Ok(Self {
            chore,
            words,
            wanted: [once, twice],
            exits: [first.status.code(), second.status.code()],
            stand,
        })
    }

    fn points(&self) -> Result<Vec<Point>, Failure> {
        self.stand.put_back()?;
        let file = self.stand.path("trace");
        let path = file.to_string_lossy();
        self.strace(&["-o", &path])?;
        // The tracer is not our child, and may still be writing.
        for _ in 0..100 {
            let trace = fs::read_to_string(&file).unwrap_or_default();
            if trace.contains("exit_group(") {
                return Ok(points(&trace));
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Err(Failure::no(format!(
            "{}: the trace has no end",
            self.chore.name
        )))
    }

    fn strike(&self, point: &Point, blow: Blow) -> Result<Output, Failure> {
        self.stand.put_back()?;
        let trace = format!("trace={}", point.call);
        let inject = match blow {
            Blow::Kill => point.injection(),
            Blow::Error(error) => {
                format!("inject={}:error={error}:when={}", point.call, point.number)
            }
        };
        self.strace(&["-o", "/dev/null", "-e", &trace, "-e", &inject])
    }

    /// The tracer is a grandchild, so that we are the parent of the hook, as its host is.
    fn strace(&self, options: &[&str]) -> Result<Output, Failure> {
        let starter = [&["strace", "-D", "-qq"], options].concat();
        run_chore(&self.stand, &starter, self.chore, &self.words)
    }

    fn judge(&self, blow: Blow, struck: &Output) -> Result<Option<Harm>, Failure> {
        if blow != Blow::Kill
            && let Some(harm) = self.answered(struck)?
        {
            return Ok(Some(harm));
        }
        let again = run_chore(&self.stand, &[], self.chore, &self.words)?;
        if again.status.signal().is_some() || !self.exits.contains(&again.status.code()) {
            return Ok(Some(Harm::Refused(text(&again.stderr))));
        }
        if let Err(damage) = verify(&self.stand) {
            return Ok(Some(Harm::Corrupt(damage.with_causes())));
        }
        let found = Picture::of(&self.stand)?;
        // An event that was not judged is marked, and that is all that may come on top.
        let is_marked = blow != Blow::Kill && self.chore.payload.is_some();
        let harmless = self.wanted.contains(&found) || is_marked;
        Ok((!harmless).then_some(Harm::Differs))
    }

    /// A hook ends with 0 or 2 whatever fails, and what it allows is in the journal.
    fn answered(&self, struck: &Output) -> Result<Option<Harm>, Failure> {
        let said = text(&struck.stdout);
        let whole = said.is_empty() || serde_json::from_str::<Value>(&said).is_ok();
        if !matches!(struck.status.code(), Some(0 | 2)) || !whole {
            let status = struck.status;
            return Ok(Some(Harm::Answer(format!("{status}: {said}"))));
        }
        let allowed = struck.status.code() == Some(0) && said.is_empty();
        let recorded = || -> Result<bool, Failure> {
            let now = Picture::of(&self.stand)?.runs;
            Ok(self.wanted.iter().any(|wanted| wanted.runs == now))
        };
        let unrecorded = self.chore.name == "PreToolUse" && allowed && !recorded()?;
        Ok(unrecorded.then_some(Harm::Unrecorded))
    }
}

fn run_chore(
    stand: &Stand,
    starter: &[&str],
    chore: &Chore,
    words: &[String],
) -> Result<Output, Failure> {
    match chore.payload {
        Some(payload) => run_hook(stand, starter, chore.name, &payload()),
        None => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            stand.output(&mut stand.under(starter, &words))
        }
    }
}

/// Runs a hook as its host does.
fn run_hook(
    stand: &Stand,
    starter: &[&str],
    event: &str,
    payload: &Value,
) -> Result<Output, Failure> {
    let mut payload = payload.clone();
    payload["session_id"] = json!(SESSION);
    payload["cwd"] = json!(stand.project());
    let path = stand.path("payload");
    fs::write(&path, payload.to_string()).map_err(Failure::file("write", &path))?;
    let input = File::open(&path).map_err(Failure::file("open", &path))?;
    let mut command: Command = stand.under(starter, &["hook", "claude", event]);
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", SESSION)
        .env("CLAUDE_PID", std::process::id().to_string())
        .env("CLAUDE_PROJECT_DIR", stand.project())
        .stdin(input);
    stand.output(&mut command)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A program that keeps its answer to `init` in two files. The careless one believes the first
    /// file, so a kill between the two leaves half of it for ever.
    const SCRIPT: &str = r#"#!/bin/sh
case "$1" in
init) if CHECK; then exit 0; fi; echo a >one; echo b >two ;;
list) echo '{"runs":[]}' ;;
trust) echo '{"trusted":[]}' ;;
esac
"#;

    fn harm(check: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, SCRIPT.replace("CHECK", check)).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let chore = command("init", nothing, |_| Ok(line("init")));
        let tally = strike_everywhere(&program, &chore, Extent::Whole).unwrap();
        assert!(tally.taken > 10, "only {} blows", tally.taken);
        let harm = tally.broken.iter();
        let mut words: Vec<String> = harm.map(|(_, _, harm)| harm.to_string()).collect();
        words.dedup();
        words
    }

    #[test]
    fn a_chore_that_is_done_again_as_a_whole_passes() {
        assert_eq!(harm("[ -s one ] && [ -s two ]"), [""; 0]);
    }

    #[test]
    fn a_chore_that_believes_half_of_itself_is_found_out() {
        assert_eq!(harm("[ -e one ]"), [Harm::Differs.to_string()]);
    }
}
