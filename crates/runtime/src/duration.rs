//! Lengths of time as people type them on the command line.

use engine::Seconds;

/// Reads `90s`, `30m`, `2h` or `7d`.
pub fn parse(text: &str) -> Result<Seconds, String> {
    Seconds::parse(text).ok_or_else(|| "write a number and its unit: 90s, 30m, 2h, 7d".to_owned())
}
