//! Headless runs with the real agent programs, all on one scripted model.

mod multi_ai;
mod world;
