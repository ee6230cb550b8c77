//! One chore on a stand that is ready for it: where it can be struck, and what a blow does to it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::Value;

use super::super::aftermath::inside;
use super::super::journal::{Outline, unguarded, verify};
use super::super::played_hook::{Hook, Promise, allows};
use super::super::stand::{Stand, text};
use super::super::trace::{Point, points};
use super::list::{Act, Chore};
use crate::failure::Failure;

/// What is done to the process at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    Kill,
    /// The call fails with this error, and is not carried out.
    Error(&'static str),
}

/// What a blow may not do.
#[derive(Debug)]
pub(super) enum Harm {
    /// The same again did not go through.
    Refused(String),
    /// It came to something else than without the blow.
    Differs(String),
    Corrupt(String),
    /// A hook ended with another code than 0 or 2, or said half an answer.
    Answer(String),
    /// A hook allowed what is not in the journal.
    Unrecorded,
    /// A hook allowed what must be refused.
    Allowed,
}

impl Harm {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Differs(_) => "differs",
            Self::Corrupt(_) => "corrupt",
            Self::Answer(_) => "answer",
            Self::Unrecorded => "unrecorded",
            Self::Allowed => "allowed",
        }
    }
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Refused(why) | Self::Differs(why) | Self::Corrupt(why) | Self::Answer(why) => {
                write!(f, "{word}: {}", why.trim_end())
            }
            Self::Unrecorded => write!(f, "{word}: allowed, and not in the journal"),
            Self::Allowed => write!(f, "{word}: it must be refused whatever fails"),
        }
    }
}

/// What is there after a chore: what happened in each run, the files of the project, and what is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Picture {
    runs: Outline,
    files: BTreeMap<String, Vec<u8>>,
    trusted: Vec<String>,
}

impl Picture {
    /// A hook trusts nothing, so that is only asked after a command.
    fn of(stand: &Stand, chore: &Chore) -> Result<Self, Failure> {
        let trusted = match chore.act {
            Act::Command(_) => stand.ask(&["trust", "--list"])?,
            Act::Hook(_) => Value::Null,
        };
        let trusted = trusted["trusted"].as_array().cloned().unwrap_or_default();
        let mut files = BTreeMap::new();
        gather(&stand.project(), &stand.project(), &mut files)?;
        Ok(Self {
            runs: Outline::of(stand)?,
            files,
            trusted: trusted.iter().map(|one| one["hash"].to_string()).collect(),
        })
    }

    /// The same, and at least as many events that were not judged.
    fn is_marked_like(&self, wanted: &Self) -> bool {
        self.runs.is_marked_like(&wanted.runs)
            && (&self.files, &self.trusted) == (&wanted.files, &wanted.trusted)
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

/// A chore on a stand that is ready for it, and what it comes to when nobody strikes: done once, or
/// twice.
pub(super) struct Trial<'a> {
    chore: &'a Chore,
    stand: Stand,
    words: Vec<String>,
    wanted: Vec<Picture>,
    exits: Vec<Option<i32>>,
}

impl<'a> Trial<'a> {
    pub(super) fn new(program: &Path, chore: &'a Chore) -> Result<Self, Failure> {
        let stand = Stand::in_memory(program, &[("note.md", "A note.\n")])?;
        let folder = stand.project().join(".gatewright");
        fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        let path = folder.join("chore.toml");
        fs::write(&path, (chore.pipeline)()).map_err(Failure::file("write", &path))?;
        let failed = |failure: Failure| {
            Failure::no(format!("before {}: {}", chore.name, failure.with_causes()))
        };
        (chore.prepare)(&stand).map_err(failed)?;
        let words = match chore.act {
            Act::Command(words) => words(&stand).map_err(failed)?,
            Act::Hook(_) => Vec::new(),
        };
        stand.keep()?;
        let mut trial = Self {
            chore,
            stand,
            words,
            wanted: Vec::new(),
            exits: Vec::new(),
        };
        trial.rehearse()?;
        Ok(trial)
    }

    /// What comes of it when nobody strikes.
    fn rehearse(&mut self) -> Result<(), Failure> {
        let _claims = self.put_back()?;
        let first = self.run(&[])?;
        if self.chore.then.is_none() {
            self.exits.push(first.status.code());
            self.wanted.push(Picture::of(&self.stand, self.chore)?);
        }
        let again = self.again()?;
        self.exits.push(again.status.code());
        self.wanted.push(Picture::of(&self.stand, self.chore)?);
        match self.promise() {
            Promise::Refused if allows(&first) => Err(Failure::no(format!(
                "{}: it should be refused, and is allowed: {}",
                self.chore.name,
                text(&first.stdout)
            ))),
            Promise::Answer | Promise::Recorded | Promise::Refused => Ok(()),
        }
    }

    fn promise(&self) -> Promise {
        match &self.chore.act {
            Act::Command(_) => Promise::Answer,
            Act::Hook(hook) => hook.promise,
        }
    }

    /// Everything as it was, with the lock of the process that started the worker, if there is one.
    fn put_back(&self) -> Result<Vec<File>, Failure> {
        self.stand.put_back()?;
        let working = inside(&self.stand.state_home().join("gatewright/working"));
        let claims = working.iter().filter(|path| path.extension().is_none());
        let held = claims.map(|path| {
            let file = File::open(path).map_err(Failure::file("open", path))?;
            file.lock().map_err(Failure::file("lock", path))?;
            Ok(file)
        });
        held.collect()
    }

    pub(super) fn points(&self) -> Result<Vec<Point>, Failure> {
        let _claims = self.put_back()?;
        let file = self.stand.path("trace");
        let path = file.to_string_lossy();
        self.strace(&["-o", &path])?;
        // The tracer is not our child, and may still be writing.
        for _ in 0..100 {
            let trace = fs::read_to_string(&file).unwrap_or_default();
            if trace.contains("exit_group(") {
                return Ok(points(&trace));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(Failure::no(format!(
            "{}: the trace has no end",
            self.chore.name
        )))
    }

    /// Strikes once, does the same again, and looks what has come of it.
    pub(super) fn strike(&self, point: &Point, blow: Blow) -> Result<Option<Harm>, Failure> {
        let _claims = self.put_back()?;
        let trace = format!("trace={}", point.call);
        let inject = match blow {
            Blow::Kill => point.injection(),
            Blow::Error(error) => {
                format!("inject={}:error={error}:when={}", point.call, point.number)
            }
        };
        let struck = self.strace(&["-o", "/dev/null", "-e", &trace, "-e", &inject])?;
        self.judge(blow, &struck)
    }

    fn judge(&self, blow: Blow, struck: &Output) -> Result<Option<Harm>, Failure> {
        let began = !is_loader_failure(struck);
        if blow != Blow::Kill
            && began
            && let Some(harm) = self.answered(struck)?
        {
            return Ok(Some(harm));
        }
        let again = self.again()?;
        if again.status.signal().is_some() || !self.exits.contains(&again.status.code()) {
            let told = format!("{} {}", again.status, text(&again.stderr));
            return Ok(Some(Harm::Refused(told)));
        }
        if let Err(damage) = verify(&self.stand) {
            return Ok(Some(Harm::Corrupt(damage.with_causes())));
        }
        let found = Picture::of(&self.stand, self.chore)?;
        // An event that was not judged is marked, and that is all that may come on top.
        let may_mark = match blow {
            Blow::Kill => self.chore.marks_a_kill,
            Blow::Error(_) => self.chore.is_hook(),
        };
        let mut wanted = self.wanted.iter();
        let harmless =
            wanted.any(|wanted| found == *wanted || (may_mark && found.is_marked_like(wanted)));
        if harmless {
            return Ok(None);
        }
        let told = unguarded(&self.stand)?.join(" ");
        Ok(Some(Harm::Differs(format!("{} {told}", found.runs))))
    }

    /// A hook ends with 0 or 2 whatever fails, and keeps its promise.
    fn answered(&self, struck: &Output) -> Result<Option<Harm>, Failure> {
        let said = text(&struck.stdout);
        let whole = said.is_empty() || serde_json::from_str::<Value>(&said).is_ok();
        if !matches!(struck.status.code(), Some(0 | 2)) || !whole {
            let status = struck.status;
            return Ok(Some(Harm::Answer(format!("{status}: {said}"))));
        }
        if !allows(struck) {
            return Ok(None);
        }
        match self.promise() {
            Promise::Answer => Ok(None),
            Promise::Refused => Ok(Some(Harm::Allowed)),
            Promise::Recorded => {
                let now = Outline::of(&self.stand)?;
                let mut wanted = self.wanted.iter();
                let recorded = wanted.any(|wanted| now.is_marked_like(&wanted.runs));
                Ok((!recorded).then_some(Harm::Unrecorded))
            }
        }
    }

    /// The tracer is a grandchild, so that we are the parent of the hook, as its host is.
    fn strace(&self, options: &[&str]) -> Result<Output, Failure> {
        self.run(&[&["strace", "-D", "-qq"], options].concat())
    }

    fn run(&self, starter: &[&str]) -> Result<Output, Failure> {
        match &self.chore.act {
            Act::Hook(hook) => hook.run(&self.stand, starter),
            Act::Command(_) => {
                let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
                self.stand.output(&mut self.stand.under(starter, &words))
            }
        }
    }

    /// The same again, or what comes next.
    fn again(&self) -> Result<Output, Failure> {
        let then: Option<&Hook> = self.chore.then.as_ref();
        then.map_or_else(|| self.run(&[]), |hook| hook.run(&self.stand, &[]))
    }
}

/// The system could not load the program, so that it did nothing: to its host the hook is missing.
/// The program that is shipped has nothing to load.
fn is_loader_failure(struck: &Output) -> bool {
    struck.status.code() == Some(127)
        && text(&struck.stderr).contains("error while loading shared libraries")
}
