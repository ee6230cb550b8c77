//! Headless: the orchestrator takes a run to its end. It starts the workers, checks what they leave,
//! runs the checks, asks people where the pipeline says so, and goes on after whatever kills it.

pub mod progress;
