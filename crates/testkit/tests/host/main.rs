//! The kit and the real host: what the tests of guarded mode stand on.

mod headless;
mod interactive;
mod world;
