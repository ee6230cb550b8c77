//! When a service works again, as it or its program says in a message.
//!
//! Seen forms: `usage limit reached|1755806400`, `resets 1:30am (Asia/Dhaka)`, `resets Oct 6, 1pm`,
//! `try again at Nov 22nd, 2026 10:31 AM`, `try again in 2 days 17 hours 14 minutes`, `retry in 47.43s`,
//! `reset after 12h34m16s`, `"resets_at":1777936568`, `"retryDelay":"41s"`,
//! `regain access on 2026-12-01 at 00:00 UTC`.

/// The end of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResetTime {
    /// In seconds since 1970.
    At(u64),
    /// In milliseconds from the message on.
    In(u64),
    /// On the clock and the calendar of a time zone.
    Clock(ClockTime),
}

/// A time as a clock on a wall shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockTime {
    pub day: ClockDay,
    pub hour: u32,
    pub minute: u32,
    /// As in `Europe/Berlin`. The machine's own where absent.
    pub zone: Option<String>,
}

/// The day of a time on a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockDay {
    /// That of the message: its program names each other day.
    Today,
    /// When a clock shows the time next.
    Next,
    On(CalendarDate),
}

/// A day, which may be of this year or the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarDate {
    pub year: Option<u32>,
    /// From 1.
    pub month: u32,
    pub day: u32,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// What goes before a moment in seconds since 1970.
const BEFORE_EPOCH: [&str; 4] = [
    "limit reached|",
    "resets_at\":",
    "resetsat\":",
    "reset_at\":",
];

/// What goes before a length of time. A number without a unit means seconds.
const BEFORE_LENGTH: [&str; 9] = [
    "resets_in_seconds\":",
    "retrydelay\":\"",
    "retry-after: ",
    "try again in ",
    "retry in ",
    "retry after ",
    "reset after ",
    "reset in ",
    "resets in ",
];

/// What goes before a time of day, which may be tomorrow's.
const BEFORE_CLOCK: [&str; 3] = ["resets at ", "reset at ", "resets "];

/// What goes before a time of day in the words of Codex, which names a day that is not today.
const BEFORE_CLOCK_OF_TODAY: [&str; 1] = ["try again at "];

/// What goes before a date in digits and a time of day in UTC.
const BEFORE_DATE: [&str; 1] = ["regain access on "];

/// The time that a message names. A message in a form that we do not know names none.
pub(crate) fn of_message(message: &str) -> Option<ResetTime> {
    // Only ASCII changes its case, so places are the same in both.
    let lower = message.to_ascii_lowercase();
    let after = |marks: &'static [&'static str]| {
        let found = marks.iter().filter_map(|mark| {
            let at = lower.find(mark)? + mark.len();
            Some((lower.get(at..)?, message.get(at..)?))
        });
        found.collect::<Vec<_>>()
    };
    let epoch = after(&BEFORE_EPOCH);
    let epoch = epoch.iter().find_map(|(text, _)| moment(text));
    let length = || {
        let found = after(&BEFORE_LENGTH);
        found.iter().find_map(|(text, _)| length(text))
    };
    let clock = |marks, day| {
        let found = after(marks);
        found
            .iter()
            .find_map(|(text, whole)| clock(text, whole, day))
    };
    let clock = || {
        clock(&BEFORE_CLOCK, ClockDay::Next)
            .or_else(|| clock(&BEFORE_CLOCK_OF_TODAY, ClockDay::Today))
    };
    let date = || {
        let found = after(&BEFORE_DATE);
        found.iter().find_map(|(text, _)| date_in_utc(text))
    };
    epoch
        .map(ResetTime::At)
        .or_else(|| length().map(ResetTime::In))
        .or_else(|| clock().or_else(date).map(ResetTime::Clock))
}

/// Seconds since 1970 have ten digits, and milliseconds thirteen.
pub(crate) fn moment_of_number(number: u64) -> Option<u64> {
    match number {
        1_000_000_000..=9_999_999_999 => Some(number),
        1_000_000_000_000..=9_999_999_999_999 => Some(number / 1000),
        _ => None,
    }
}

fn moment(text: &str) -> Option<u64> {
    let (digits, _) = split_digits(text.trim_start());
    moment_of_number(digits.parse().ok()?)
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// `2 days 17 hours 14 minutes`, `12h34m16s`, `47.43s`, `602705`: the milliseconds, rounded up.
fn length(text: &str) -> Option<u64> {
    let (mut rest, mut sum) = (text.trim_start(), None);
    loop {
        let (whole, after) = split_digits(rest);
        if whole.is_empty() {
            return sum;
        }
        let (part, after) = match after.strip_prefix('.').map(split_digits) {
            Some((part, after)) if !part.is_empty() => (part, after),
            Some(_) | None => ("", after),
        };
        let word_end = after.trim_start();
        let end = word_end.find(|c: char| !c.is_ascii_alphabetic());
        let (word, next) = word_end.split_at(end.unwrap_or(word_end.len()));
        let unit = match unit(word) {
            Some(unit) => unit,
            // Only a number alone needs no unit.
            None if sum.is_none() => 1000,
            None => return sum,
        };
        let piece = whole.parse::<u64>().ok()?.checked_mul(unit)?;
        let piece = piece.checked_add(fraction(part, unit))?;
        sum = Some(sum.unwrap_or(0).checked_add(piece)?);
        rest = next.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
}

/// Up to three digits behind the point count, and the rest rounds up.
fn fraction(digits: &str, unit: u64) -> u64 {
    let thousandths = digits.bytes().chain([b'0'; 3]).take(3);
    let thousandths = thousandths.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let more = u64::from(digits.len() > 3);
    (thousandths + more) * unit / 1000
}

/// The milliseconds of a unit.
fn unit(word: &str) -> Option<u64> {
    Some(match word {
        "ms" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
        "d" | "day" | "days" => 86_400_000,
        _ => return None,
    })
}

/// `1:30am (asia/dhaka)`, `oct 6, 1pm`, `nov 22nd, 2026 10:31 am`, `23:05`.
fn clock(text: &str, whole: &str, without_date: ClockDay) -> Option<ClockTime> {
    let separators = |c: char| c == ',' || c == ' ' || c == '\u{202f}';
    let words: Vec<&str> = text.split(separators).filter(|it| !it.is_empty()).collect();
    let mut words = words.into_iter().filter(|word| *word != "at").peekable();
    let month = words.peek().and_then(|word| {
        let name = word.get(..3)?;
        let place = MONTHS.iter().position(|month| *month == name)?;
        u32::try_from(place + 1).ok()
    });
    let day = match month {
        None => without_date,
        Some(month) => {
            words.next();
            let (day, _) = split_digits(words.next()?);
            let is_year =
                |word: &&str| word.len() == 4 && word.bytes().all(|it| it.is_ascii_digit());
            let year = words.next_if(is_year).and_then(|year| year.parse().ok());
            let day = day.parse().ok().filter(|day| (1..=31).contains(day))?;
            ClockDay::On(CalendarDate { year, month, day })
        }
    };
    let time = words.next()?;
    let (hour, minute) = time_of_day(time, words.peek().copied())?;
    Some(ClockTime {
        day,
        hour,
        minute,
        zone: zone(whole),
    })
}

/// `2026-12-01 at 00:00 utc`.
fn date_in_utc(text: &str) -> Option<ClockTime> {
    let mut words = text.split_whitespace();
    let (date, at, time, zone) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_utc = at == "at" && zone.trim_end_matches('.') == "utc";
    let mut numbers = date.split('-').map(|number| number.parse().ok());
    let (year, month, day) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day) && numbers.next().is_none();
    let (hour, minute) = time_of_day(time, None).filter(|_| is_utc && fits)?;
    Some(ClockTime {
        day: ClockDay::On(CalendarDate {
            year: Some(year),
            month,
            day,
        }),
        hour,
        minute,
        zone: Some("UTC".to_owned()),
    })
}

/// The hour and the minute. `half` is the next word, which may be `am` or `pm`.
fn time_of_day(time: &str, half: Option<&str>) -> Option<(u32, u32)> {
    let (hour, rest) = split_digits(time);
    let hour: u32 = hour.parse().ok()?;
    let (minute, rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (minute, rest) = split_digits(rest);
            (Some(minute.parse::<u32>().ok()?), rest)
        }
        None => (None, rest),
    };
    let own = rest.trim_end_matches(['.', ')', ';']);
    let half = match own {
        "" => half.map(|word| word.trim_end_matches(['.', ')', ';'])),
        own => Some(own),
    };
    let hour = match (half, minute) {
        (Some("am"), _) if (1..=12).contains(&hour) => hour % 12,
        (Some("pm"), _) if (1..=12).contains(&hour) => hour % 12 + 12,
        // A number alone does not name a time of day.
        (_, Some(_)) if own.is_empty() => hour,
        _ => return None,
    };
    let minute = minute.unwrap_or(0);
    (hour < 24 && minute < 60).then_some((hour, minute))
}

/// The name in the next brackets, if it is one of a time zone.
fn zone(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('(')?;
    let (name, _) = rest.split_once(')')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits);
    (is_name && name.len() <= 64).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_the_clock(
        date: Option<(Option<u32>, u32, u32)>,
        time: (u32, u32),
        zone: &str,
    ) -> ResetTime {
        ResetTime::Clock(ClockTime {
            day: date.map_or(ClockDay::Next, |(year, month, day)| {
                ClockDay::On(CalendarDate { year, month, day })
            }),
            hour: time.0,
            minute: time.1,
            zone: (!zone.is_empty()).then(|| zone.to_owned()),
        })
    }

    fn today(hour: u32, minute: u32) -> ResetTime {
        ResetTime::Clock(ClockTime {
            day: ClockDay::Today,
            hour,
            minute,
            zone: None,
        })
    }

    #[test]
    fn the_time_that_a_real_message_names_is_read() {
        let days = |days: u64, hours, minutes| {
            ResetTime::In(((days * 24 + hours) * 60 + minutes) * 60_000)
        };
        for (message, expected) in [
            (
                "Claude AI usage limit reached|1755806400",
                ResetTime::At(1_755_806_400),
            ),
            (
                "You've hit your limit · resets 1:30am (Asia/Dhaka)",
                on_the_clock(None, (1, 30), "Asia/Dhaka"),
            ),
            (
                "You're out of extra usage · resets 5pm (America/Los_Angeles)",
                on_the_clock(None, (17, 0), "America/Los_Angeles"),
            ),
            (
                "5-hour limit reached ∙ resets 12am",
                on_the_clock(None, (0, 0), ""),
            ),
            (
                "Weekly limit reached ∙ resets Oct 6, 1pm",
                on_the_clock(Some((None, 10, 6)), (13, 0), ""),
            ),
            (
                "You've hit your weekly limit · resets Mar 5 at 12:30pm (Europe/Berlin)",
                on_the_clock(Some((None, 3, 5)), (12, 30), "Europe/Berlin"),
            ),
            (
                "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 days 17 hours 14 minutes.",
                days(2, 17, 14),
            ),
            (
                "You've hit your usage limit. Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus), or try again at Jul 5th, 2026 8:19 PM.",
                on_the_clock(Some((Some(2026), 7, 5)), (20, 19), ""),
            ),
            (
                "or try again at Aug 20, 2026, 7:38 AM.",
                on_the_clock(Some((Some(2026), 8, 20)), (7, 38), ""),
            ),
            ("try again at 3:51 PM.", today(15, 51)),
            ("try again at 23:05", today(23, 5)),
            (
                "Rate limit reached for gpt-5. Please try again in 1.898s.",
                ResetTime::In(1_898),
            ),
            ("Please try again in 20ms.", ResetTime::In(20)),
            (
                "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
                on_the_clock(Some((Some(2026), 12, 1)), (0, 0), "UTC"),
            ),
            (
                "limit: 4000000 Please retry in 47.434392449s.",
                ResetTime::In(47_435),
            ),
            (
                "Your quota will reset after 12h34m16s.",
                ResetTime::In(45_256_000),
            ),
            ("Suggested retry after 30s.", ResetTime::In(30_000)),
            (r#"{"retryDelay":"41s"}"#, ResetTime::In(41_000)),
            (
                r#"{"resets_at":1775317531,"resets_in_seconds":602705}"#,
                ResetTime::At(1_775_317_531),
            ),
            (
                r#"{"resets_in_seconds":602705}"#,
                ResetTime::In(602_705_000),
            ),
        ] {
            assert_eq!(of_message(message), Some(expected), "{message}");
        }
    }

    #[test]
    fn a_message_in_an_unknown_form_names_no_time() {
        for message in [
            "",
            "Please try again later.",
            "try again at 10 de jul. de 2026, 11:52.",
            "resets soon",
            "resets 25:61",
            "resets 13pm",
            "try again in a while",
            "try again in 99999999999999999999 days",
            "usage limit reached|7",
            "resets Oct 45, 1pm",
            "You will regain access on 2026-13-01 at 00:00 UTC.",
            "You will regain access on 2026-12-01 at 00:00",
            "You will regain access on 2026-12-01 at 24:00 UTC.",
            "You will regain access on Monday.",
            "It resets the counter",
            "é resets \u{202f}",
        ] {
            assert_eq!(of_message(message), None, "{message}");
        }
    }
}
