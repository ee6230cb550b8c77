//! The store from outside: the promises of every store, its folder, groups, and a kill in the middle.

mod conformance;
mod folder;
mod group;
mod umask;
