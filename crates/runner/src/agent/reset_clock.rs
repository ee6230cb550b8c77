//! The moment that a reset time means, on the clock and the calendar of its time zone.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use engine::Time;
use hosts::agent_process::{CalendarDate, ClockDay, ClockTime, ResetTime};
use runtime::subprocess;

const SECOND_MS: u64 = 1000;
const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;

/// A limit does not last longer: a later time was misread.
const LONGEST: i64 = 32 * DAY;

/// Messages name whole minutes, and may be read a little late. A time of day that has just passed is not
/// tomorrow's.
const GRACE: i64 = 10 * MINUTE;

const ZONES: &str = "/usr/share/zoneinfo";

/// The moment at which the service works again; `None` if it makes no sense here. `own_zone` is the `TZ` of the process
/// that named a time without a zone.
pub(crate) fn moment(resets: &ResetTime, now: Time, own_zone: Option<&OsStr>) -> Option<Time> {
    let now_seconds = i64::try_from(now.0 / SECOND_MS).ok()?;
    let (seconds, ms) = match resets {
        ResetTime::At(seconds) => (i64::try_from(*seconds).ok()?, 0),
        ResetTime::In(ms) => {
            let (seconds, rest) = (ms / SECOND_MS, ms % SECOND_MS + now.0 % SECOND_MS);
            (now_seconds.checked_add(i64::try_from(seconds).ok()?)?, rest)
        }
        ResetTime::Clock(clock) => {
            let offset = |zone: Option<&str>, moment| match zone {
                Some(zone) => named_offset(zone, moment),
                None => offset(own_zone, moment),
            };
            (on_clock(clock, now_seconds, offset)?, 0)
        }
    };
    if !(now_seconds - DAY..=now_seconds + LONGEST).contains(&seconds) {
        return None;
    }
    Some(Time(u64::try_from(seconds).ok()? * SECOND_MS + ms))
}

/// Seconds since 1970. `offset` tells how far a zone is ahead of UTC at a moment.
fn on_clock(
    clock: &ClockTime,
    now: i64,
    offset: impl Fn(Option<&str>, i64) -> Option<i64>,
) -> Option<i64> {
    let zone = clock.zone.as_deref();
    let (today, year) = {
        let local = now + offset(zone, now)?;
        let day = local.div_euclid(DAY);
        (day, year_of(day))
    };
    let at = |day: i64| {
        let local =
            day * DAY + i64::from(clock.hour) * 60 * MINUTE + i64::from(clock.minute) * MINUTE;
        // The offset may change between now and then.
        let guess = local - offset(zone, now)?;
        Some(local - offset(zone, guess)?)
    };
    match clock.day {
        ClockDay::Today => {
            let moment = at(today)?;
            // A message may be read on the day after.
            if moment - now > DAY - GRACE {
                at(today - 1)
            } else {
                Some(moment)
            }
        }
        ClockDay::Next => {
            let moment = at(today)?;
            if moment + GRACE < now {
                at(today + 1)
            } else {
                Some(moment)
            }
        }
        ClockDay::On(date) => {
            let moment = at(day_of(date, year))?;
            let is_last_year = date.year.is_none() && moment + 180 * DAY < now;
            if is_last_year {
                at(day_of(date, year + 1))
            } else {
                Some(moment)
            }
        }
    }
}

/// Days since 1970. The year begins in March, so that the leap day is its last.
fn day_of(date: CalendarDate, this_year: i64) -> i64 {
    let (month, day) = (i64::from(date.month), i64::from(date.day));
    let year = date.year.map_or(this_year, i64::from) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn year_of(day: i64) -> i64 {
    let new_year = |year: i64| {
        let date = CalendarDate {
            year: u32::try_from(year).ok(),
            month: 1,
            day: 1,
        };
        day_of(date, year)
    };
    let guess = 1970 + day.div_euclid(366);
    (guess..)
        .find(|year| new_year(year + 1) > day)
        .unwrap_or(guess)
}

/// The same of a zone that a message names.
fn named_offset(zone: &str, moment: i64) -> Option<i64> {
    // An unknown zone would count as UTC.
    let is_known = zone == "UTC" || Path::new(ZONES).join(zone).is_file();
    let zone = Some(OsStr::new(zone)).filter(|_| is_known)?;
    offset(Some(zone), moment)
}

/// How many seconds a zone is ahead of UTC at this moment, by the system's own program. Without a zone it is that of the
/// system.
fn offset(zone: Option<&OsStr>, moment: i64) -> Option<i64> {
    let ask = |arguments: [String; 2]| {
        let mut command = Command::new("date");
        command.args(arguments).arg("+%z");
        match zone {
            Some(zone) => command.env("TZ", zone),
            None => command.env_remove("TZ"),
        };
        let ended = subprocess::run(&mut command, &[], Duration::from_secs(5)).ok()?;
        parse_offset(String::from_utf8(ended.stdout).ok()?.trim())
    };
    // GNU, then BSD.
    ask(["-d".to_owned(), format!("@{moment}")])
        .or_else(|| ask(["-r".to_owned(), moment.to_string()]))
}

/// `+0530`.
fn parse_offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, minutes) = digits.split_at_checked(2)?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (hours * 60 + minutes) * MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 17 November 2026, 12:00 UTC.
    const NOON: i64 = 1_794_916_800;

    fn clock(date: Option<(Option<u32>, u32, u32)>, hour: u32, minute: u32) -> ClockTime {
        ClockTime {
            day: date.map_or(ClockDay::Next, |(year, month, day)| {
                ClockDay::On(CalendarDate { year, month, day })
            }),
            hour,
            minute,
            zone: None,
        }
    }

    #[test]
    fn a_time_of_day_is_the_next_one_unless_it_has_just_passed() {
        let two_ahead = |_: Option<&str>, _| Some(2 * 60 * MINUTE);
        for (clock, expected) in [
            (clock(None, 15, 0), NOON + 60 * MINUTE),
            (clock(None, 13, 0), NOON - 60 * MINUTE + DAY),
            (clock(None, 13, 55), NOON - 5 * MINUTE),
            (today(15, 0), NOON + 60 * MINUTE),
            (today(13, 0), NOON - 60 * MINUTE),
            (today(0, 5), NOON - (13 * 60 + 55) * MINUTE),
            (today(23, 59), NOON + (9 * 60 + 59) * MINUTE),
            (clock(Some((None, 11, 18)), 14, 0), NOON + DAY),
            (clock(Some((Some(2026), 12, 1)), 14, 0), NOON + 14 * DAY),
            (clock(Some((None, 1, 2)), 14, 0), NOON + 46 * DAY),
        ] {
            assert_eq!(
                on_clock(&clock, NOON, two_ahead),
                Some(expected),
                "{clock:?}"
            );
        }
    }

    fn today(hour: u32, minute: u32) -> ClockTime {
        ClockTime {
            day: ClockDay::Today,
            ..clock(None, hour, minute)
        }
    }

    #[test]
    fn the_last_minutes_of_a_day_stay_on_it_when_they_are_read_on_the_next() {
        let midnight = NOON + 12 * 60 * MINUTE;
        let utc = |_: Option<&str>, _| Some(0);
        let read = |clock: ClockTime, now| on_clock(&clock, now, utc).unwrap() - midnight;
        assert_eq!(read(today(23, 59), midnight + 2), -MINUTE);
        assert_eq!(read(today(0, 1), midnight + 2), MINUTE);
        assert_eq!(read(today(23, 30), midnight + 2), DAY - 30 * MINUTE);
        // After midnight is another day: then the message has its date.
        let dated = clock(Some((Some(2026), 11, 18)), 0, 1);
        assert_eq!(read(dated, midnight - 2), MINUTE);
    }

    #[test]
    fn the_offset_counts_as_it_is_then() {
        let winter_from = NOON + 10 * DAY;
        let offset = |_: Option<&str>, at| Some(if at < winter_from { 60 * MINUTE } else { 0 });
        let then = clock(Some((None, 11, 30)), 12, 0);
        assert_eq!(on_clock(&then, NOON, offset), Some(NOON + 13 * DAY));
    }

    #[test]
    fn the_system_knows_its_zones_and_what_makes_no_sense_is_no_moment() {
        let now = Time(u64::try_from(NOON).unwrap() * 1000);
        assert_eq!(named_offset("UTC", NOON), Some(0));
        assert_eq!(named_offset("No/Where", NOON), None);
        let tokyo = OsStr::new("Asia/Tokyo");
        assert_eq!(offset(Some(tokyo), NOON), Some(9 * 60 * MINUTE));
        let clock = ResetTime::Clock(today(22, 0));
        let then = Time((u64::try_from(NOON).unwrap() + 3600) * 1000);
        assert_eq!(moment(&clock, now, Some(tokyo)), Some(then));
        assert_eq!(
            moment(&ResetTime::In(1_500), now, None),
            Some(Time(now.0 + 1_500))
        );
        assert_eq!(moment(&ResetTime::At(7), now, None), None);
        assert_eq!(moment(&ResetTime::In(400 * 86_400_000), now, None), None);
        assert_eq!(parse_offset("-0330"), Some(-(3 * 60 + 30) * MINUTE));
        assert_eq!(parse_offset("Z"), None);
    }
}
