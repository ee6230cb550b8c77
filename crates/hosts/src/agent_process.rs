//! The process of an agent that we start: its command line, its hooks, and what its output says.

mod account;
mod guarding;
pub(crate) mod trouble;

pub use account::{Account, End};
pub use guarding::{Ground, Guard, Guarding, Own, OwnPlace, Unguardable};
pub(crate) use trouble::Trouble;

/// What a worker is started with. Its prompt comes on its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start<'a> {
    pub talk: Talk<'a>,
    pub model: Option<&'a str>,
    pub may: May,
    /// Tools that it may not use, as `tools.deny` names them. Programs whose command line cannot
    /// forbid tools leave that to our hooks.
    pub denied: &'a [String],
}

/// Which conversation it is. Never «the last one»: that may be somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk<'a> {
    /// A new one, under this id where the program lets us choose.
    New(&'a str),
    /// The one of this id goes on.
    GoesOn(&'a str),
}

/// What a worker may do to files, as far as the program can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    Read,
    /// Change nothing but write what it leaves.
    Leave,
    Change,
}
