//! What a fleet costs a guarded session: the same hooks on a machine that has joined one and on one that has not.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use serde_json::{Value, json};

use super::cost::{self, Cost};
use super::goals::{Goal, Limit};
use super::hooks;
use super::seat::Seat;
use crate::failure::Failure;

/// A tool call that is only judged takes the same instructions, but for what differs from one process to the next.
const SAME_CALL: f64 = 1.01;

/// One that writes takes more or fewer with the state of the store's log, by some percent in either direction.
const SAME_END: f64 = 1.05;

/// The hooks of a session without and with a fleet.
pub(super) struct FleetHooks {
    call: Pair,
    end: Pair,
}

struct Pair {
    alone: Cost,
    joined: Cost,
}

/// Ends the server with it.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Counts them with this program. `server` starts a database and prints its address.
pub(super) fn measure(program: &Path, mut server: Command) -> Result<FleetHooks, Failure> {
    let server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut serving = Serving(server.map_err(Failure::program("the server"))?);
    let mut address = String::new();
    let printed = serving.0.stdout.take().map(BufReader::new);
    let read = printed.map(|mut printed| printed.read_line(&mut address));
    read.transpose().map_err(Failure::program("the server"))?;
    let [call, end] = costs(program, None)?;
    let [joined_call, joined_end] = costs(program, Some(address.trim()))?;
    let pair = |alone, joined| Pair { alone, joined };
    Ok(FleetHooks {
        call: pair(call, joined_call),
        end: pair(end, joined_end),
    })
}

fn costs(program: &Path, address: Option<&str>) -> Result<[Cost; 2], Failure> {
    let seat = Rc::new(Seat::in_open_stage(program)?);
    if let Some(address) = address {
        seat.join(address)?;
    }
    let [call, end] = hooks::call_and_end(&seat)?;
    Ok([cost::of(&call)?, cost::of(&end)?])
}

impl Pair {
    fn instructions(&self) -> Option<f64> {
        let (alone, joined) = (self.alone.instructions?, self.joined.instructions?);
        Some(joined as f64 / alone as f64)
    }

    fn more_calls(&self) -> Option<u64> {
        let (alone, joined) = (self.alone.calls?.all, self.joined.calls?.all);
        Some(joined.saturating_sub(alone) as u64)
    }

    fn same_instructions(&self, what: &str, same: f64) -> Goal {
        let name = format!("{what}: instructions with a fleet / without");
        Goal::new(name, self.instructions(), Limit::AtMost(same))
    }

    fn no_more_calls(&self, what: &str) -> Goal {
        let name = format!("{what}: more system calls with a fleet");
        Goal::counted(name, self.more_calls(), 0)
    }

    fn line(&self, name: &str) -> String {
        let number = |number: Option<u64>| number.map_or("–".to_owned(), |it| it.to_string());
        let calls = |cost: &Cost| number(cost.calls.map(|calls| calls.all as u64));
        format!(
            "{name:<14} {:>14} {:>14} {:>8} {:>8}\n",
            number(self.alone.instructions),
            number(self.joined.instructions),
            calls(&self.alone),
            calls(&self.joined)
        )
    }

    fn json(&self) -> Value {
        let cost = |cost: &Cost| json!({ "instructions": cost.instructions, "calls": cost.calls.map(|calls| calls.all) });
        json!({ "alone": cost(&self.alone), "joined": cost(&self.joined) })
    }
}

impl FleetHooks {
    /// The calls of a hook that writes vary, so they are shown and no goal.
    pub(super) fn goals(&self) -> Vec<Goal> {
        let (call, end) = ("a hook on a tool call", "a hook at the end of an agent");
        vec![
            self.call.same_instructions(call, SAME_CALL),
            self.call.no_more_calls(call),
            self.end.same_instructions(end, SAME_END),
        ]
    }

    pub(super) fn text(&self) -> String {
        let head = format!(
            "{:<14} {:>14} {:>14} {:>8} {:>8}\n",
            "hook", "instructions", "with a fleet", "calls", "with"
        );
        format!(
            "{head}{}{}",
            self.call.line("tool call"),
            self.end.line("end of agent")
        )
    }

    pub(super) fn json(&self) -> Value {
        json!({ "call": self.call.json(), "end": self.end.json() })
    }
}
