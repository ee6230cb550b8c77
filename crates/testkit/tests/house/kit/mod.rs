//! The kit that all tests stand on: temporary projects, terminals, the scripted model, and waiting.

mod model;
mod project;
mod terminal;
mod waiting;
