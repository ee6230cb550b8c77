//! Claude Code's payloads and our answers, over all that the real program was seen to send.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its data has failed"
)]

mod bad;
mod payloads;
mod written;

use hosts::{Answer, Bytes, Event, Payload, PayloadError, Program, Stake};

fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), PayloadError> {
    Program::Claude.read_hook(named, stdin)
}

fn write(event: Event, answer: &Answer) -> Bytes {
    Program::Claude.write_answer(event, answer)
}

fn undecided(event: Event, stake: Stake, reason: &str) -> Bytes {
    Program::Claude.undecided(event, stake, reason)
}
