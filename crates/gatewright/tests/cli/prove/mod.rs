//! Proofs of guards: every built-in pipeline holds, and whatever is broken is named.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod broken;
mod builtins;
mod fixture;
mod own;
mod refused;
