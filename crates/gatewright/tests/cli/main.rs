//! The command as people use it: the built program, in projects of its own.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod adopting;
mod answer_record;
mod asking;
mod bad_input;
mod caller_environment;
mod crowd;
mod demo;
mod disk;
mod dry_run;
mod durable;
mod edits;
mod fixture;
mod fleet;
mod forgery;
mod formats;
mod hook;
mod importing;
mod install;
mod journal;
mod keys;
mod lessons;
mod members;
mod metrics;
mod new;
mod papers;
mod people;
mod phases;
mod printing;
mod prove;
mod reference;
mod reports;
mod runners;
mod scenarios;
mod serve;
mod shipping;
mod starting;
mod step;
mod story;
mod telling;
mod trusting;
mod uses;
mod views;
mod worker_hooks;
