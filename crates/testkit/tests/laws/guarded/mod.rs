//! Guarded mode, shown over the real `needs`, `decide` and `apply`: stories in tables, one a topic.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says by panicking what is wrong"
)]

mod admitting;
mod bypass;
mod edits;
mod ends;
mod inputs;
mod judging;
mod lists;
mod messages;
mod own_work;
mod people;
pub(crate) mod pipelines;
mod protected;
mod seeds;
mod sessions;
mod stopping;
mod tasks;
mod told;
mod unguarded;
mod viewing;
mod words;
mod workers;
mod world;
