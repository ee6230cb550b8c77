//! Times and spans as people read them: RFC 3339 in UTC, and `2h 5m`.

pub use engine::span;
use engine::{Seconds, Time};

const DAY_SECONDS: u64 = 86_400;

/// `2026-08-22T10:31:07Z`.
pub fn rfc3339(time: Time) -> String {
    let seconds = time.0 / 1000;
    let (year, month, day) = date(seconds / DAY_SECONDS);
    let second = seconds % DAY_SECONDS;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // By hand: views have many of them, and hooks write views.
    let mut text = String::with_capacity("2026-08-22T10:31:07Z".len());
    push_digits(&mut text, year, 4);
    for (before, number) in [
        ('-', month),
        ('-', day),
        ('T', hour),
        (':', minute),
        (':', second),
    ] {
        text.push(before);
        push_digits(&mut text, number, 2);
    }
    text.push('Z');
    text
}

/// A number with at least so many digits.
fn push_digits(text: &mut String, number: u64, at_least: u32) {
    let above = number / 10;
    if above > 0 || at_least > 1 {
        push_digits(text, above, at_least.saturating_sub(1));
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// `14:30 UTC`, with its day where that is not today.
pub fn moment(time: Time, now: Time) -> String {
    let text = rfc3339(time);
    let (day, clock) = text.split_once('T').unwrap_or(("", &text));
    let clock = clock.get(..5).unwrap_or(clock);
    if rfc3339(now).starts_with(day) {
        format!("{clock} UTC")
    } else {
        format!("{day} {clock} UTC")
    }
}

/// `812 ms`, `3.4 s`, `2m 5s`.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds / 100 % 10),
        60_000.. => span(Seconds(milliseconds / 1000)),
    }
}

/// The day of the Gregorian calendar, this many days after 1 January 1970.
///
/// Years are counted from 1 March, so that the leap day is the last of its year; 400 such years
/// have 146,097 days, and 153 days are five months from March on.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468;
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let leap_days = day_of_era / 1_460 + day_of_era / 146_096 - day_of_era / 36_524;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (86_399, "1970-01-01T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_234_567_890, "2009-02-13T23:31:30Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (2_147_483_647, "2038-01-19T03:14:07Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(Time(seconds * 1000 + 999)), expected);
        }
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let lengths = |year: u64| {
            let leap =
                year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
            [
                31,
                if leap { 29 } else { 28 },
                31,
                30,
                31,
                30,
                31,
                31,
                30,
                31,
                30,
                31,
            ]
        };
        let mut expected = (1970, 1, 1);
        for days in 0..146_097 {
            assert_eq!(date(days), expected);
            let (year, month, day) = expected;
            expected = match day < lengths(year)[month as usize - 1] {
                true => (year, month, day + 1),
                false if month < 12 => (year, month + 1, 1),
                false => (year + 1, 1, 1),
            };
        }
    }

    #[test]
    fn the_last_moment_that_can_be_written_does_not_overflow() {
        assert!(rfc3339(Time(u64::MAX)).ends_with('Z'));
    }

    #[test]
    fn a_moment_of_today_needs_no_day() {
        let noon = Time(1_234_526_400_000);
        for (minutes, expected) in [
            (0, "12:00 UTC"),
            (150, "14:30 UTC"),
            (719, "23:59 UTC"),
            (720, "2009-02-14 00:00 UTC"),
        ] {
            assert_eq!(moment(Time(noon.0 + minutes * 60_000), noon), expected);
        }
    }

    #[test]
    fn spans() {
        for (seconds, expected) in [
            (0, "0s"),
            (45, "45s"),
            (60, "1m"),
            (185, "3m 5s"),
            (7_500, "2h 5m"),
            (7_205, "2h"),
            (356_400, "4d 3h"),
        ] {
            assert_eq!(span(Seconds(seconds)), expected);
        }
    }

    #[test]
    fn durations() {
        for (milliseconds, expected) in [(7, "7 ms"), (3_449, "3.4 s"), (125_000, "2m 5s")] {
            assert_eq!(duration(milliseconds), expected);
        }
    }
}
