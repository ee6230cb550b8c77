//! Periods as people type them: a number and its unit.

use engine::Seconds;

/// Reads `90s`, `30m`, `2h` or `7d`.
pub fn parse(text: &str) -> Result<Seconds, String> {
    let wrong = || "write a number and its unit: 90s, 30m, 2h, 7d".to_owned();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let size = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    number.checked_mul(size).map(Seconds).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_a_number_and_a_unit() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("30m", Some(1_800)),
            ("2h", Some(7_200)),
            ("7d", Some(604_800)),
            ("0s", Some(0)),
            ("7", None),
            ("d", None),
            ("-1d", None),
            ("1 d", None),
            ("99999999999999999999d", None),
            ("18446744073709551615d", None),
        ] {
            assert_eq!(parse(text).ok(), expected.map(Seconds), "{text}");
        }
    }
}
