//! The fleet battery: machines drive queued runs of one PostgreSQL, everything between and below them breaks, and
//! nothing that was acknowledged may be lost, doubled or written under an old fence.
//!
//! `fleet battery SEED sample|whole PROGRAM` is what `cargo xtask battery fleet` runs: first the store with drivers of our
//! own, then the program's workers. `fleet workers …` is the second half alone. `fleet driver …` is one machine's driver,
//! a process of its own. All are an example, so that xtask itself is built without the product.

mod broken_fence;
#[path = "../../src/battery/chance.rs"]
#[expect(dead_code, reason = "the batteries of xtask use the rest")]
mod chance;
mod checker;
mod control;
mod driver;
mod facts;
mod failover;
mod log;
mod machine;
mod mark;
mod nemesis;
mod report;
mod round;
mod site;
mod workers;

use std::error::Error;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use report::Tally;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// How many rounds there are, and how often each fault comes in one, besides the two fail-overs.
#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    each: usize,
    /// The same of the program's workers.
    worker_rounds: usize,
    worker_each: usize,
}

const SAMPLE: Extent = Extent {
    rounds: 1,
    each: 1,
    worker_rounds: 1,
    worker_each: 1,
};
const WHOLE: Extent = Extent {
    rounds: 9,
    each: 2,
    worker_rounds: 5,
    worker_each: 2,
};

/// How many pieces of damage are shown for a round: one cause often shows in many places.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["battery", seed, extent, program] => both(seed, extent, Path::new(program)),
        ["workers", seed, extent, program] => real_workers(seed, extent, Path::new(program)),
        ["driver", rest @ ..] => driver::run(rest),
        _ => Err("usage: fleet battery|workers SEED sample|whole PROGRAM".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "fleet: {error}");
            ExitCode::FAILURE
        }
    }
}

fn extent(word: &str) -> Result<Extent> {
    match word {
        "sample" => Ok(SAMPLE),
        "whole" => Ok(WHOLE),
        _ => Err(format!("{word} is neither sample nor whole").into()),
    }
}

/// Both halves, also if the first finds something.
fn both(seed: &str, word: &str, program: &Path) -> Result<()> {
    let of_store = battery(seed, &extent(word)?);
    let of_workers = real_workers(seed, word, program);
    of_store.and(of_workers)
}

fn real_workers(seed: &str, word: &str, program: &Path) -> Result<()> {
    let Extent {
        worker_rounds,
        worker_each,
        ..
    } = extent(word)?;
    let program = program.canonicalize()?;
    workers::battery(&program, seed.parse()?, worker_rounds, worker_each)
}

fn battery(seed: &str, extent: &Extent) -> Result<()> {
    let seed = seed.parse()?;
    say(&format!("fleet: seed {seed}"))?;
    let mut tally = Tally::default();
    for number in 0..extent.rounds {
        let round = round::run(seed, number, extent.each)?;
        for damage in round.found.iter().take(SHOWN) {
            say(&format!("  round {number}: {damage}"))?;
        }
        tally.add(&round);
    }
    tally.planted = control::run()?;
    say(&format!("fleet: {tally}"))?;
    match tally.harm() {
        0 => Ok(()),
        harm => Err(format!("{harm} pieces of damage; --seed {seed} takes the same again").into()),
    }
}

fn say(text: &str) -> Result<()> {
    Ok(writeln!(io::stdout(), "{text}")?)
}
