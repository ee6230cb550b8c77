//! A process that does nothing: the floor of every measurement.

fn main() {}
