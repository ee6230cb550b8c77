//! The commands that write, each with what must have happened before it.

use std::path::Path;

use super::stand::Stand;
use crate::failure::Failure;

/// The run on which all commands but `start` act.
pub(crate) const RUN: &str = "r-battery";

const PIPELINE: &str = include_str!("../../battery/pipeline.toml");

/// One command, and the way to where it is legal.
pub(super) struct Case {
    pub name: &'static str,
    pub before: &'static [Step],
    pub command: Step,
    /// What must still work afterwards.
    pub after: &'static [Step],
}

/// One command, and the exit code that is the right answer to it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub words: &'static [&'static str],
    pub exits: i32,
}

const fn step(words: &'static [&'static str]) -> Step {
    Step { words, exits: 0 }
}

pub(super) const fn case(name: &'static str, before: &'static [Step], command: Step) -> Case {
    Case {
        name,
        before,
        command,
        after: &[],
    }
}

const START: Step = step(&[
    "start",
    "pipeline.toml",
    "--task",
    "battery",
    "--by-hand",
    "--id",
    RUN,
]);
const REPORT: Step = step(&[
    "report",
    RUN,
    "--agent",
    "worker",
    "--artifact",
    "note=written.md",
]);
const CHECK: Step = step(&["check", RUN]);
const ANSWER: Step = step(&["answer", RUN, "yes"]);
pub(super) const CHECKPOINT: Step = step(&["checkpoint", RUN, "here"]);
/// Two such faults are tried again, and the third sticks.
const FAULT: Step = step(&["report", RUN, "--agent", "worker", "--outcome", "crashed"]);
/// It is not this agent's turn.
const REFUSED: Step = Step {
    words: &["report", RUN, "--agent", "stranger"],
    exits: 1,
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "start",
        before: &[],
        command: step(&["start", "pipeline.toml", "--task", "battery", "--by-hand"]),
        // The check needs what `start` keeps beside the run: where programs are looked for.
        after: &[
            step(&["report", "--artifact", "note=written.md"]),
            step(&["check"]),
        ],
    },
    case("start --id", &[], START),
    case("report", &[START], REPORT),
    case("refused", &[START], REFUSED),
    case("fault", &[START], FAULT),
    case(
        "retry",
        &[START, FAULT, FAULT, FAULT],
        step(&["retry", RUN]),
    ),
    case("check", &[START, REPORT], CHECK),
    case("answer", &[START, REPORT, CHECK], ANSWER),
    case(
        "finish",
        &[START, REPORT, CHECK, ANSWER],
        step(&["finish", RUN]),
    ),
    case(
        "skip",
        &[START],
        step(&["skip", RUN, "--as", "done", "--reason", "battery"]),
    ),
    case("checkpoint", &[START], CHECKPOINT),
    case(
        "restore",
        &[START, CHECKPOINT, REPORT],
        step(&["restore", RUN, "here", "--reason", "battery"]),
    ),
    case("fork", &[START, REPORT], step(&["fork", RUN, "--at", "1"])),
    case(
        "reset",
        &[START, REPORT],
        step(&["reset", RUN, "--reason", "battery"]),
    ),
    case(
        "cancel",
        &[START],
        step(&["cancel", RUN, "--reason", "battery"]),
    ),
];

/// A stand with one run that has just been started.
pub(crate) fn started(program: &Path) -> Result<Stand, Failure> {
    case("started", &[START], CHECKPOINT).stand(program)
}

impl Case {
    /// A stand on which the command is legal.
    pub(super) fn stand(&self, program: &Path) -> Result<Stand, Failure> {
        let files = [("pipeline.toml", PIPELINE), ("written.md", "A note.\n")];
        let stand = Stand::new(program, &files)?;
        trust(&stand)?;
        self.before
            .iter()
            .try_for_each(|step| stand.take(step.words, step.exits).map(drop))?;
        Ok(stand)
    }

    /// The command with the key by which a second one is known to be the same.
    pub(super) fn keyed(&self) -> Vec<&'static str> {
        [self.command.words, &["--key", "battery-key"]].concat()
    }
}

/// Trusts the pipeline as scripts do. Only the trust is kept: what else the program made for it, the
/// commands make again, and may be killed while they do.
fn trust(stand: &Stand) -> Result<(), Failure> {
    let shown = stand.ask(&["trust", "pipeline.toml", "--show"])?;
    let hash = shown["hash"].as_str().unwrap_or_default();
    stand.run(&["trust", "pipeline.toml", "--hash", hash])?;
    stand.forget_all_but("trust")
}
