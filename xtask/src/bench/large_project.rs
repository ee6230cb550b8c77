//! A large project: a tool call in a stage that restricts what its workers may change, beside `git status`.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use super::payload::{Payload, Worker};
use super::seat::Seat;
use super::subject::{Act, Kind, Load, Process, Subject};
use crate::failure::Failure;

pub(super) const FILES: usize = 100_000;

/// The agent of the first stage of `multi-ai`, which may change `.task` alone.
const WORKER: Worker = Worker {
    agent: "requirements-gatherer",
    number: 1,
};

pub(super) fn subjects(program: &Path) -> Result<Vec<Subject>, Failure> {
    let seat = Rc::new(Seat::restricted(program, &WORKER, FILES)?);
    let (looks, rests) = (Looks(Rc::clone(&seat)), Rests(Rc::clone(&seat)));
    let load = Load::Files(FILES);
    Ok(vec![
        Subject::new(Kind::GitStatus, load, GitStatus(seat)).seldom(),
        Subject::new(Kind::HookLooks, load, looks).seldom(),
        Subject::new(Kind::HookRests, load, rests).seldom(),
    ])
}

struct GitStatus(Rc<Seat>);

impl Act for GitStatus {
    fn process(&self, _: &[&str], _: usize) -> Process {
        Process::without_input(self.0.git(&["status", "--porcelain"]))
    }
}

/// A look that is due.
struct Looks(Rc<Seat>);

impl Act for Looks {
    /// Forgets when the last look was.
    fn prepare(&self, _: usize) -> Result<(), Failure> {
        let folder = self.0.state().join("looks");
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::file("remove", &folder)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn process(&self, starter: &[&str], _: usize) -> Process {
        self.0.process(starter, &Payload::tool_used(&WORKER))
    }
}

/// A tool call right behind a look.
struct Rests(Rc<Seat>);

impl Act for Rests {
    fn prepare(&self, _: usize) -> Result<(), Failure> {
        self.0.send(&Payload::tool_used(&WORKER)).map(drop)
    }

    fn process(&self, starter: &[&str], _: usize) -> Process {
        self.0.process(starter, &Payload::tool_used(&WORKER))
    }
}
