//! Headless mode with scripted agents: whole runs, people, kills, faults, budgets, waves and bad input.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod alive;
mod bad_input;
mod budget;
mod builtins;
mod carried;
mod checks;
mod daemons;
mod delivery;
mod examples;
mod faults;
mod fixture;
mod fleet;
mod fleet_caps;
mod fleet_files;
mod fleet_hooks;
mod fleet_screens;
mod fleet_trouble;
mod fleet_worker;
mod handover;
mod limits;
mod live_view;
mod logs;
mod many;
mod merging;
mod notices;
mod odd_repositories;
mod owners;
mod people;
mod places;
mod queue;
mod real_linters;
mod repository;
mod resting;
mod reviewing;
mod rough;
mod routes;
mod scripts;
mod shown;
mod stage_changes;
mod stopping;
mod told;
mod turns;
mod undelivered;
mod under_way;
mod versions;
mod viewed;
mod watching;
mod waves;
