//! The power battery: the power of a file system is cut while many processes write to it; when it is
//! back, everything that was acknowledged is there.

mod control;
mod disk;
mod writing;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use control::Sync;
use disk::{Disk, Kind};
use writing::{Site, WRITERS};

use super::chance::Chance;
use super::{Extent, Manner, at_once};
use crate::failure::Failure;
use crate::output::say;
use crate::setup;

/// How many cuts each file system gets.
const SAMPLE: usize = 3;
const WHOLE: usize = 100;

/// The power goes at some moment of this.
const LONGEST: Duration = Duration::from_millis(2_000);

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    if let Some(why) = obstacle() {
        return Err(Failure::no(why));
    }
    say(format_args!("  seed {}", manner.seed));
    let mut whole = Tally::default();
    for kind in Kind::ALL {
        let tally = cut_often(program, kind, manner)?;
        say(format_args!("  {kind}: {tally}"));
        whole = whole.with(tally);
        control_sees_loss(kind)?;
    }
    say(format_args!("power: {whole}"));
    match whole.harm() {
        0 => Ok(()),
        _ => Err(Failure::no(format!("power cuts: {whole}"))),
    }
}

/// Why the battery cannot run on this machine, if there is a reason.
pub(super) fn obstacle() -> Option<String> {
    match setup::ensure_disks() {
        Err(missing) => Some(missing.with_causes()),
        Ok(()) => disk::obstacle().map(|why| {
            let command = "sudo cargo xtask battery power";
            format!(
                "no file system can be mounted here ({why}): run `{command}` where that is allowed"
            )
        }),
    }
}

#[derive(Clone, Copy, Default)]
struct Tally {
    cuts: usize,
    acknowledged: usize,
    lost: usize,
    /// Cuts after which the program did not go on by itself, or called its journals damaged.
    wedged: usize,
}

impl Tally {
    fn with(self, other: Self) -> Self {
        Self {
            cuts: self.cuts + other.cuts,
            acknowledged: self.acknowledged + other.acknowledged,
            lost: self.lost + other.lost,
            wedged: self.wedged + other.wedged,
        }
    }

    fn harm(&self) -> usize {
        self.lost + self.wedged
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cuts,
            acknowledged,
            lost,
            wedged,
        } = self;
        write!(
            f,
            "{cuts} cuts, {acknowledged} acknowledged, {lost} lost, {wedged} wedged"
        )
    }
}

/// One file system lives through all of its cuts.
fn cut_often(program: &Path, kind: Kind, manner: Manner) -> Result<Tally, Failure> {
    let cuts = match manner.extent {
        Extent::Sample => SAMPLE,
        Extent::Whole => WHOLE,
    };
    let disk = Disk::new(kind)?;
    let site = Site::new(program, &disk.place())?;
    let mut tally = Tally::default();
    for round in 0..cuts {
        let mut chance = Chance::of(manner.seed, round);
        let written = write_until_cut(&disk, &site, round, chance.moment(LONGEST))?;
        disk.start_again()?;
        let (late, done): (Vec<_>, Vec<_>) = written.into_iter().partition(|one| one.is_late);
        let what =
            |all: Vec<writing::Written>| all.into_iter().map(|one| one.done).collect::<Vec<_>>();
        let (late, done) = (what(late), what(done));
        for what in site.missing(&late)? {
            say(format_args!(
                "    {kind}, cut {round}: {what:?} returned after the cut and is lost"
            ));
        }
        tally.cuts += 1;
        tally.acknowledged += done.len();
        let missing = site.missing(&done)?;
        for what in &missing {
            say(format_args!("    {kind}, cut {round}: lost {what:?}"));
        }
        tally.lost += missing.len();
        if let Err(why) = site.goes_on(round) {
            say(format_args!(
                "    {kind}, cut {round}: {}",
                why.with_causes()
            ));
            tally.wedged += 1;
        }
    }
    Ok(tally)
}

/// Writes with all writers at once until the power goes, and hands back what returned well.
///
/// A machine whose power is off acknowledges nothing. Here its processes live on, so what returns after the
/// cut proves nothing. It is said if such a thing is lost, so that nobody overlooks it.
fn write_until_cut(
    disk: &Disk,
    site: &Site,
    round: usize,
    after: Duration,
) -> Result<Vec<writing::Written>, Failure> {
    let is_off = AtomicBool::new(false);
    let results = at_once(WRITERS.len() + 1, |number| match WRITERS.get(number) {
        Some(writer) => site.write(*writer, round, &|| is_off.load(Ordering::SeqCst)),
        None => {
            thread::sleep(after);
            is_off.store(true, Ordering::SeqCst);
            disk.cut().map(|()| Vec::new())
        }
    });
    let done = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(done.concat())
}

/// A database that does not sync loses something, and one that does loses nothing.
fn control_sees_loss(kind: Kind) -> Result<(), Failure> {
    let disk = Disk::new(kind)?;
    let (full, off) = (
        control::lost(&disk, Sync::Full)?,
        control::lost(&disk, Sync::Off)?,
    );
    say(format_args!(
        "  {kind}, control: {full} lost with syncs, {off} lost without"
    ));
    match (full, off) {
        (0, 1..) => Ok(()),
        _ => Err(Failure::no(format!(
            "{kind}: the control lost {full} with syncs and {off} without; this battery proves nothing here"
        ))),
    }
}
