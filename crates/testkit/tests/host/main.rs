//! The kit and the real hosts: what the tests of guarded and headless mode stand on.

mod headless;
mod interactive;
mod workers;
mod world;
