//! Every test scenario that a seed lists, once through the real Claude Code.

pub(crate) mod ansible;
mod ansible_bad;
mod context_first;
pub(crate) mod multi_ai;
mod phases;
