//! Guarded mode inside the real Claude Code, which talks to a scripted model on this machine.

mod doors;
mod failing;
mod flow;
mod kinds;
mod people;
mod places;
mod sessions;
mod stage;
mod tampering;
mod work;
