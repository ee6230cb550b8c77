//! The real agent programs, which talk to a scripted model on this machine: guarded mode inside Claude Code,
//! headless runs, steps and installing with all of them.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod agents;
mod allowed;
mod answers;
mod bypasses;
mod dropped;
mod failing;
mod flow;
mod handover;
mod install;
mod kinds;
mod kit;
mod night;
mod ordinary;
mod people;
mod places;
mod seeds;
mod sessions;
mod skills;
mod stage;
mod step;
mod tampering;
mod unguarded;
mod work;
