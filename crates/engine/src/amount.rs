//! An amount: a limit of a definition, as a number or by the parameter that holds it.

use crate::names::ParamName;

/// A limit, written down or taken from a parameter when the run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    Fixed(u32),
    Param(ParamName),
}
