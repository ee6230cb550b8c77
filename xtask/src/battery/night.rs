//! The night battery: ten queued tasks of one repository, crashes of the machine at random moments, and a person who
//! goes on working; in the morning every task is a branch or has a reason, and nothing of the person's is touched.

mod belongings;
mod control;
mod damage;
mod plan;
mod scene;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use belongings::Belongings;
use damage::Damage;
use plan::Plan;
use scene::{Scene, Told};

use super::chance::Chance;
use super::{Extent, Manner, at_once};
use crate::failure::Failure;
use crate::output::say;

const WHOLE: usize = 60;
const SAMPLE: usize = 1;

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    let (nights, threads) = match manner.extent {
        Extent::Sample => (SAMPLE, 1),
        Extent::Whole => {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            (WHOLE, cores)
        }
    };
    say(format_args!("night: seed {}", manner.seed));
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= nights {
                return Ok(());
            }
            let round = round(program, number, manner.seed)?;
            let told = round.found.iter();
            told.for_each(|damage| say(format_args!("  night {number}: {damage}")));
            tally
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(&round);
        }
    };
    at_once(threads, |_| work())
        .into_iter()
        .collect::<Result<(), Failure>>()?;
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    say(format_args!("night: {tally}"));
    match tally.broken {
        0 => Ok(()),
        broken => Err(Failure::no(format!(
            "{broken} nights did damage; --seed {} takes the same again",
            manner.seed
        ))),
    }
}

/// What came of one night.
struct Round {
    crashes: usize,
    /// How many pieces of damage were planted and found.
    planted: usize,
    found: Vec<Damage>,
}

/// One night. The first one is the control, too.
fn round(program: &Path, number: usize, seed: u64) -> Result<Round, Failure> {
    let plan = Plan::by(&mut Chance::of(seed, number));
    let scene = Scene::new(program, &plan)?;
    for task in &plan.tasks {
        scene.queue(task)?;
    }
    let mut told = Told::new();
    let mut found = Vec::new();
    let (mut crashes, mut persons) = (0, Belongings::of(&scene)?);
    for (time, moment) in plan.crashes.iter().enumerate() {
        let mut worker = scene.begin_worker()?;
        scene.edit_as_the_person(time)?;
        persons = Belongings::of(&scene)?;
        match worker.wait(*moment)? {
            Some(_) => worker.read_summary(&mut told),
            None => {
                scene.crash(&mut worker)?;
                worker.read_summary(&mut told);
                crashes += 1;
            }
        }
        found.extend(damage::touched(&scene, &persons)?);
    }
    found.extend(finish(&scene, &plan, &mut told)?);
    if found.is_empty() {
        found.extend(damage::look(&scene, &plan, &told, &persons)?);
    }
    let planted = match (number, found.is_empty()) {
        (0, true) => control::run(&scene, &plan, &told, &persons)?,
        _ => 0,
    };
    Ok(Round {
        crashes,
        planted,
        found,
    })
}

/// The last worker of the night, the answers of the person, and the worker after them.
fn finish(scene: &Scene, plan: &Plan, told: &mut Told) -> Result<Vec<Damage>, Failure> {
    let mut found = Vec::new();
    found.extend(drive(scene, told)?);
    found.extend(damage::in_the_morning(scene, plan)?);
    if found.is_empty() {
        scene.answer(plan)?;
        found.extend(drive(scene, told)?);
    }
    Ok(found)
}

fn drive(scene: &Scene, told: &mut Told) -> Result<Option<Damage>, Failure> {
    let ended = scene.work(told)?;
    let why = || Damage::Ended(format!("{ended}:\n{}", scene.said()));
    Ok((!ended.success()).then(why))
}

/// What came of all of them.
#[derive(Clone, Debug, Default)]
struct Tally {
    nights: usize,
    crashes: usize,
    planted: usize,
    broken: usize,
}

impl Tally {
    fn add(&mut self, round: &Round) {
        self.nights += 1;
        self.crashes += round.crashes;
        self.planted += round.planted;
        self.broken += usize::from(!round.found.is_empty());
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            nights,
            crashes,
            planted,
            broken,
        } = self;
        write!(
            f,
            "{nights} nights of ten tasks, {crashes} crashes, {broken} broken; {planted} planted pieces of damage found"
        )
    }
}
