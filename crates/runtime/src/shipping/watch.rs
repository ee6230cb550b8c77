//! The loop of the process that ships: it watches the store, ships what is new, and ends when nobody is there.

use std::thread;
use std::time::{Duration, Instant};

use store::{Access, Backend as _, JournalCopies, Sqlite};

use super::pass::{Passed, Shipper};
use crate::failure::Failure;
use crate::fleet_membership;
use crate::state::State;

/// How long after the last change the process ends, if no session is alive.
pub const IDLE: Duration = Duration::from_secs(5 * 60);

/// How often the store is watched.
const PACE: Duration = Duration::from_secs(1);

/// The longest pause before the database is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How often the database hears that this machine is there.
const SIGN: Duration = Duration::from_secs(20);

/// What the loop needs from outside.
pub struct Watch<'a> {
    pub state: &'a State,
    pub idle: Duration,
    /// Is a session alive?
    pub is_anybody_there: &'a dyn Fn() -> bool,
    pub connect: &'a mut dyn FnMut() -> Result<Box<dyn JournalCopies>, Failure>,
    pub tell: &'a mut dyn FnMut(PassResult<'_>),
}

/// What a pass came to.
pub enum PassResult<'a> {
    Passed(&'a Passed),
    /// It is tried again.
    Failed(&'a Failure),
}

/// Ships until nothing has happened for a while and nobody is there, or the machine has left its fleet.
pub fn watch(watch: &mut Watch<'_>) {
    let mut shipping = Shipping::new(watch.state);
    loop {
        let pause = shipping.turn(watch);
        let is_idle = shipping.changed.elapsed() >= watch.idle && !(watch.is_anybody_there)();
        if is_idle || !fleet_membership::is_joined(watch.state) {
            return;
        }
        thread::sleep(pause);
    }
}

struct Shipping<'a> {
    shipper: Shipper<'a>,
    store: Option<Sqlite>,
    copies: Option<Box<dyn JournalCopies>>,
    /// The store's number when everything was shipped.
    shipped: Option<u64>,
    seen: Option<u64>,
    changed: Instant,
    signed: Option<Instant>,
    pause: Duration,
}

impl<'a> Shipping<'a> {
    fn new(state: &'a State) -> Self {
        Self {
            shipper: Shipper::new(state),
            store: None,
            copies: None,
            shipped: None,
            seen: None,
            changed: Instant::now(),
            signed: None,
            pause: PACE,
        }
    }

    /// Looks once, ships what is new, and returns how long to wait.
    fn turn(&mut self, watch: &mut Watch<'_>) -> Duration {
        match self.try_turn(watch) {
            Ok(()) => self.pause = PACE,
            Err(failure) => {
                (watch.tell)(PassResult::Failed(&failure));
                (self.copies, self.shipped) = (None, None);
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            }
        }
        self.pause
    }

    fn try_turn(&mut self, watch: &mut Watch<'_>) -> Result<(), Failure> {
        if self.store.is_none() {
            self.store = match Sqlite::open(watch.state.folder(), Access::Read) {
                Err(store::Error::Absent { .. }) => return Ok(()),
                opened => Some(opened?),
            };
        }
        let Some(store) = &self.store else {
            return Ok(());
        };
        // Before the pass: what is written meanwhile is for the next one.
        let number = match store.change_number() {
            Ok(number) => number,
            Err(error) => {
                (self.store, self.seen) = (None, None);
                return Err(error.into());
            }
        };
        if self.seen.replace(number).is_some_and(|seen| seen != number) {
            self.changed = Instant::now();
        }
        if self.copies.is_none() {
            self.copies = Some((watch.connect)()?);
        }
        let Some(copies) = &self.copies else {
            return Ok(());
        };
        if self.shipped != Some(number) {
            let passed = self.shipper.pass(store, copies.as_ref())?;
            (watch.tell)(PassResult::Passed(&passed));
            self.shipped = Some(number);
        }
        if self.signed.is_none_or(|signed| signed.elapsed() >= SIGN) {
            copies.sign()?;
            self.signed = Some(Instant::now());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A machine of a fleet, with an empty store or without one.
    fn member(folder: &std::path::Path, with_store: bool) -> State {
        let state = State::new(folder.to_owned());
        if with_store {
            Sqlite::open(folder, Access::Write).unwrap();
        }
        std::fs::write(folder.join("fleet.json"), "{}").unwrap();
        state
    }

    #[test]
    fn it_ends_when_nothing_happens_and_nobody_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let state = member(folder.path(), false);
        let asked = Cell::new(0);
        watch(&mut Watch {
            state: &state,
            idle: Duration::ZERO,
            is_anybody_there: &|| asked.replace(asked.get() + 1) < 1,
            connect: &mut || Err(Failure::refused("nobody needs it")),
            tell: &mut |_| {},
        });
        assert_eq!(asked.get(), 2, "once a session was alive");
    }

    #[test]
    fn a_database_that_is_away_is_tried_again_until_the_machine_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let state = member(folder.path(), true);
        let (mut tries, mut told) = (0, 0);
        watch(&mut Watch {
            state: &state,
            idle: Duration::ZERO,
            is_anybody_there: &|| true,
            connect: &mut || {
                tries += 1;
                if tries == 2 {
                    std::fs::remove_file(folder.path().join("fleet.json")).unwrap();
                }
                Err(Failure::refused("away"))
            },
            tell: &mut |_| told += 1,
        });
        assert_eq!((tries, told), (2, 2));
    }
}
