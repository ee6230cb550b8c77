//! Durable transitions as fast as they go, for the bench: `transitions FOLDER RUNS COUNT`.
//!
//! This many runs at once in one process, each in a thread of its own, each led this many times from one
//! stage of `bench/loop.toml` to the other. Prints one JSON object with what it took.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Barrier;
use std::time::Instant;
use std::{env, fs, thread};

use engine::{
    Beginning, Driver, Event, Evidence, Happening, HostName, Pipeline, RunId, Time, Usage, Who,
    WorkEvent,
};
use language::{SourceFile, Sources};
use store::{Backend as _, Commit, Files, Group, Key, NewRun, StoredRun, Transacted};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const FILE: &str = "loop.toml";
const TEXT: &[u8] = include_bytes!("../bench/loop.toml");

/// How many times each run is led on before the clock starts.
const WARM_UP: u64 = 20;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, runs, count] = arguments.as_slice() else {
        return Err("usage: transitions FOLDER RUNS COUNT".into());
    };
    let (runs, count) = (runs.parse::<u32>()?, count.parse()?);
    let group = Group::open(Path::new(folder))?;
    let Taken { seconds, cpu } = take(&group, runs, count)?;
    let (transitions, resident) = (u64::from(runs) * count, resident()?);
    prove(&group, runs, WARM_UP + count)?;
    writeln!(
        io::stdout(),
        "{{\"transitions\":{transitions},\"seconds\":{seconds:.6},\
         \"cpu_seconds\":{cpu:.6},\"resident_bytes\":{resident}}}"
    )?;
    Ok(())
}

struct Taken {
    seconds: f64,
    cpu: f64,
}

fn take(group: &Group, runs: u32, count: u64) -> Result<Taken> {
    let pipeline = compiled()?;
    let start = Barrier::new(usize::try_from(runs)? + 1);
    thread::scope(|scope| {
        let (pipeline, start) = (&pipeline, &start);
        let threads: Vec<_> = (0..runs)
            .map(|number| {
                let group = group.clone();
                scope.spawn(move || drive(group, pipeline, number, count, start))
            })
            .collect();
        start.wait();
        let (began, cpu) = (Instant::now(), cpu_seconds()?);
        for thread in threads {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(Taken {
            seconds: began.elapsed().as_secs_f64(),
            cpu: cpu_seconds()? - cpu,
        })
    })
}

fn compiled() -> Result<Pipeline> {
    let main = SourceFile {
        name: FILE.to_owned(),
        bytes: TEXT.to_vec(),
    };
    let sources = Sources {
        main,
        files: BTreeMap::new(),
    };
    let compiled = language::compile(&sources);
    Ok(compiled
        .map_err(|problems| format!("{problems:?}"))?
        .pipeline)
}

fn drive(
    mut group: Group,
    pipeline: &Pipeline,
    number: u32,
    count: u64,
    start: &Barrier,
) -> Result<()> {
    let begun = begin(&mut group, pipeline, number).and_then(|mut stored| {
        for turn in 0..WARM_UP {
            stored = advance(&mut group, pipeline, stored, turn)?;
        }
        Ok(stored)
    });
    start.wait();
    let mut stored = begun?;
    for turn in WARM_UP..WARM_UP + count {
        stored = advance(&mut group, pipeline, stored, turn)?;
    }
    Ok(())
}

fn begin(group: &mut Group, pipeline: &Pipeline, number: u32) -> Result<StoredRun> {
    let files = Files::single(FILE, TEXT);
    let beginning = Beginning {
        at: Time(0),
        by: Who::Engine,
        id: run_id(number)?,
        definition: files.hash(),
        task: "ping and pong".to_owned(),
        params: BTreeMap::new(),
        driver: Driver::ByHand,
        host: HostName::listed("claude"),
        session: None,
        process: None,
        steps: Vec::new(),
        before: BTreeMap::new(),
        queued: false,
        environment: None,
        base: None,
        commit: None,
        branch: None,
        unverified_host: None,
    };
    let new = NewRun {
        project: "/project",
        worktree: "/project",
        files: &files,
        compiled: pipeline.definition(),
        key: None,
        contents: &[],
        secrets: &[],
        status: &|run| engine::status(pipeline, run),
    };
    Ok(group.begin(&new, &engine::begin(pipeline, &beginning))?)
}

fn run_id(number: u32) -> Result<RunId> {
    Ok(RunId::parse(&format!("r-{number}"))?)
}

/// One end of work: judged, and the run moved to the next stage, in one durable transaction.
fn advance(
    group: &mut Group,
    pipeline: &Pipeline,
    stored: StoredRun,
    turn: u64,
) -> Result<StoredRun> {
    let event = Event {
        at: Time(1_000 * turn),
        by: Who::Person("bench".to_owned()),
        what: Happening::Work(WorkEvent::Reported {
            agent: None,
            step: None,
            said: None,
            usage: Usage::default(),
        }),
    };
    let key = Key::parse(&format!("turn {turn}"))?;
    let commit = Commit {
        run: &stored.run.id,
        seen: stored.version,
        key: Some(&key),
        contents: &[],
        fence: None,
        secrets: &[],
        status: &|run| engine::status(pipeline, run),
    };
    let nothing = Evidence::default();
    let mut decide = |run: &_| engine::decide(pipeline, run, &event, &nothing);
    let before = stored.run.position.stage.clone();
    match group.transact(&commit, &mut decide)? {
        Transacted::Done { stored, .. } if stored.run.position.stage != before => Ok(*stored),
        other => Err(format!("the run did not move: {other:?}").into()),
    }
}

/// What was counted must be there, whole: a beginning, and three entries for each turn.
fn prove(group: &Group, runs: u32, turns: u64) -> Result<()> {
    for number in 0..runs {
        let verification = group.verify(&run_id(number)?)?;
        if !verification.intact || verification.entries != 1 + 3 * turns {
            return Err(format!("run {number} is not whole: {verification:?}").into());
        }
    }
    Ok(())
}

/// Of all threads, also those that have ended.
fn cpu_seconds() -> Result<f64> {
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields = text
        .rsplit_once(')')
        .ok_or("/proc/self/stat cannot be read")?
        .1;
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<u64>)
        .sum::<std::result::Result<u64, _>>()?;
    Ok(ticks as f64 / TICKS)
}

fn resident() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(1024
        * kib
            .ok_or("/proc/self/status tells no memory")?
            .trim()
            .parse::<u64>()?)
}
