//! Runs with an owner: a worker that works until it is let go, and a run that asks before it works.

use super::fixture::{ONE, World, until};
use super::under_way::UnderWay;

/// A question before the work, with an escape sequence in it.
pub(crate) const ASKS: &str = r#"
name  = "asks"
about = "Ask, then have a note written."
start = "asking"

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.asking]
ask    = "Shall I write \u001b[31mthe note?"
on.yes = "writing"
on.no  = "dropped"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "complete"

[stages.complete]
end = "completed"

[stages.dropped]
end = "cancelled"
"#;

/// A script that says it is at work, prints this, works until it is let go, and leaves what it must.
pub(crate) fn works_until_let_go(prints: &str) -> String {
    format!(
        r#"
echo $$ >> "$here/workers"
{prints}
while [ ! -e "$here/go" ]; do sleep 0.05; done
echo "note $count" > note.txt
"#
    )
}

/// An orchestrator that drives a run whose worker is at work, and printed this.
pub(crate) fn owned(prints: &str) -> (World, UnderWay) {
    let world = World::with(ONE, &works_until_let_go(prints));
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    (world, run)
}

pub(crate) fn at_work(world: &World, number: usize) {
    until("a worker is at work", || {
        world.noted("workers").len() >= number
    });
}

pub(crate) fn let_go(world: &World) {
    std::fs::write(world.programs().join("go"), "").unwrap();
}
