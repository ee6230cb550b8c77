//! Claude Code's payloads and our answers, over all that the real program was seen to send.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its data has failed"
)]

mod bad;
mod payloads;
mod written;
