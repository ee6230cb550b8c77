//! Headless runs with the real agent programs, all on one scripted model.

mod ansible;
mod at_once;
mod counting;
mod guards;
mod killed;
mod multi_ai;
mod services;
mod world;
