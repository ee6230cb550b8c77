//! A headless run on a stand of its own, with a program that stands in for every agent.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::processes::{self, Process, Signal};
use super::stand::Stand;
use crate::failure::Failure;

const FILES: [(&str, &str); 6] = [
    (PIPELINE, include_str!("../../battery/whole.toml")),
    ("check.sh", include_str!("../../battery/check.sh")),
    ("one.txt", "Part one.\n"),
    ("two.txt", "Part two.\n"),
    ("three.txt", "Part three.\n"),
    ("four.txt", "Part four.\n"),
];
const PIPELINE: &str = "whole.toml";
const STAND_IN: &str = include_str!("../../battery/stand-in.sh");

/// Who takes longer is stuck: a run takes some seconds on an idle machine.
pub(super) const LONGEST: Duration = Duration::from_secs(180);

/// How often is looked.
const TICK: Duration = Duration::from_millis(5);

/// One run, and all that is needed for it.
pub(super) struct Rehearsal {
    pub stand: Stand,
    pub run: String,
    sittings: AtomicUsize,
}

/// An orchestrator that was started. It does not outlive this.
pub(super) struct Sitting {
    child: Child,
    said: PathBuf,
}

/// One line of the stand-in's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub what: Noted,
    pub call: String,
    /// The number of the process that noted it.
    pub process: String,
    /// Stage, step and agent.
    pub work: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noted {
    Began,
    Ended,
}

impl Rehearsal {
    /// The run has an id that no other stand has: by it its workers are known.
    pub(super) fn new(program: &Path, name: &str) -> Result<Self, Failure> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let stand = Stand::with_own_program(program, &FILES)?;
        stand.git(&["add", "--all"])?;
        let author = [
            "-c",
            "user.name=battery",
            "-c",
            "user.email=battery@localhost",
        ];
        stand.git(&[&author[..], &["commit", "--quiet", "--message=begin"]].concat())?;
        let shown = stand.ask(&["trust", PIPELINE, "--show"])?;
        let hash = shown["hash"].as_str().unwrap_or_default();
        stand.run(&["trust", PIPELINE, "--hash", hash])?;
        let stand_in = stand.path("stand-in.sh");
        fs::write(&stand_in, STAND_IN).map_err(Failure::file("write", &stand_in))?;
        fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755))
            .map_err(Failure::file("set the mode of", &stand_in))?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let run = format!("r-{name}-{}-{count}", std::process::id());
        Ok(Self {
            stand,
            run,
            sittings: AtomicUsize::new(0),
        })
    }

    pub(super) fn begin(&self) -> Result<Sitting, Failure> {
        let stand_in = self.stand.path("stand-in.sh");
        let stand_in = stand_in.to_string_lossy();
        let begin = ["run", PIPELINE, "--task", "battery", "--id", &self.run];
        let driven = ["--stand-in", &stand_in, "--answer", "asking=yes"];
        self.sit(&[&begin[..], &driven, &["--key", "battery"]].concat())
    }

    pub(super) fn resume(&self) -> Result<Sitting, Failure> {
        self.sit(&["resume", &self.run])
    }

    /// Goes on with the run, or begins it if nobody came so far.
    pub(super) fn go_on(&self) -> Result<Sitting, Failure> {
        match self.stand.run(&["status", &self.run]) {
            Ok(_) => self.resume(),
            Err(_) => self.begin(),
        }
    }

    fn sit(&self, arguments: &[&str]) -> Result<Sitting, Failure> {
        let number = self.sittings.fetch_add(1, Ordering::Relaxed);
        let said = self.stand.path(&format!("said-{number}"));
        let own = File::create(&said).map_err(Failure::file("write", &said))?;
        let copy = own.try_clone().map_err(Failure::file("write", &said))?;
        let mut command = self.stand.command(arguments);
        let child = command.stdout(own).stderr(copy).spawn();
        let child = child.map_err(Failure::program("the program under test"))?;
        Ok(Sitting { child, said })
    }

    /// What the stand-in noted so far.
    pub(super) fn log(&self) -> Vec<Line> {
        let log = fs::read_to_string(self.stand.path("log")).unwrap_or_default();
        log.lines().filter_map(parse).collect()
    }

    /// The stand-in takes its time with this work as long as it is held.
    pub(super) fn hold(&self, work: &str) -> Result<(), Failure> {
        let path = self.stand.path("hold");
        fs::write(&path, format!("{work}\n")).map_err(Failure::file("write", &path))
    }

    pub(super) fn let_go(&self) -> Result<(), Failure> {
        let path = self.stand.path("hold");
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::file("remove", &path)(cause))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn workers(&self) -> Vec<Process> {
        let all = processes::all().into_iter();
        all.filter(|process| process.is_worker_of(&self.run))
            .collect()
    }

    pub(super) fn watchdogs(&self) -> Vec<Process> {
        let all = processes::all().into_iter();
        all.filter(|process| process.is_watchdog_of(self.stand.program()))
            .collect()
    }

    /// The processes of this stand that are still running.
    pub(super) fn left(&self) -> Vec<Process> {
        let all = processes::all().into_iter();
        all.filter(|it| it.belongs_to(&self.run) || it.is_inside(self.stand.folder()))
            .collect()
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        // A battery that found harm leaves nobody behind: those who look for their own are not told of ours.
        let left: Vec<u32> = self.left().iter().map(|process| process.id).collect();
        let _ = processes::send(Signal::Kill, &left);
    }
}

impl Sitting {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.child
            .try_wait()
            .map_err(Failure::program("the program under test"))
    }

    /// Waits until this is so, or it has ended, or too long.
    pub(super) fn wait_until(&mut self, mut so: impl FnMut(&Self) -> bool) -> Result<(), Failure> {
        let begun = Instant::now();
        while !so(self) && self.ended()?.is_none() && begun.elapsed() < LONGEST {
            thread::sleep(TICK);
        }
        Ok(())
    }

    /// Waits for its end; nothing if it does not end.
    pub(super) fn wait(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.wait_until(|_| false)?;
        self.ended()
    }

    /// What it said.
    pub(super) fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap_or_default()
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parse(line: &str) -> Option<Line> {
    let mut words = line.splitn(4, ' ');
    let what = match words.next()? {
        "began" => Noted::Began,
        "ended" => Noted::Ended,
        _ => return None,
    };
    Some(Line {
        what,
        call: words.next()?.to_owned(),
        process: words.next()?.to_owned(),
        work: words.next()?.to_owned(),
    })
}
