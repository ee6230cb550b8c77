//! The kit that all tests stand on: temporary projects, terminals, and the scripted model.

mod model;
mod project;
mod terminal;
