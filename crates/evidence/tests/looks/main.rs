//! Everything an agent could lie with, tried in temporary folders against the public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "every function here belongs to a test, whatever clippy takes it for"
)]

mod approved;
mod artifacts;
mod changes;
mod checks;
mod fields;
mod hostile;
mod led_out;
mod links;
mod made;
mod needs;
mod odd_trees;
mod paths;
mod programs;
mod projects;
mod trees;
mod world;
