//! When a queued run may begin, as people type it.

use engine::{Seconds, Time};
use tz::{DateTime, TimeZone, UtcDateTime};

const FORMS: &str =
    "write 02:00, 2026-12-01T02:00, 2026-12-01T02:00:00Z, or +2h for two hours from now";

/// Reads a time of day (the next one), a date and time (both in the zone of this machine unless it ends
/// with `Z`), or `+` and a span.
pub fn parse(text: &str, now: Time) -> Result<Time, String> {
    // A machine without a zone has the universal one.
    let zone = TimeZone::local().unwrap_or_else(|_| TimeZone::utc());
    at(text, now, &zone)
}

fn at(text: &str, now: Time, zone: &TimeZone) -> Result<Time, String> {
    let forms = || FORMS.to_owned();
    if let Some(span) = text.strip_prefix('+') {
        let Seconds(seconds) = Seconds::parse(span).ok_or_else(forms)?;
        return Ok(Time(now.0.saturating_add(seconds.saturating_mul(1_000))));
    }
    let time = match text.split_once('T') {
        Some((day, clock)) => dated(day, clock, zone),
        None => next(text, now, zone),
    };
    match time.and_then(|seconds| u64::try_from(seconds).ok()) {
        Some(seconds) if seconds * 1_000 > now.0 => Ok(Time(seconds * 1_000)),
        Some(_) => Err(format!("{text} is in the past")),
        None => Err(forms()),
    }
}

/// A day of the calendar.
#[derive(Clone, Copy)]
struct Day {
    year: i32,
    month: u8,
    day: u8,
}

/// Hours, minutes and seconds.
type Clock = (u8, u8, u8);

fn dated(day: &str, clock: &str, zone: &TimeZone) -> Option<i64> {
    let mut parts = day.splitn(3, '-');
    let day = Day {
        year: number(parts.next()?, 4)?.into(),
        month: number(parts.next()?, 2)?.try_into().ok()?,
        day: number(parts.next()?, 2)?.try_into().ok()?,
    };
    match clock.strip_suffix('Z') {
        Some(clock) => {
            let (hour, minute, second) = clock_of(clock)?;
            let time = UtcDateTime::new(day.year, day.month, day.day, hour, minute, second, 0);
            Some(time.ok()?.unix_time())
        }
        None => local(day, clock_of(clock)?, zone),
    }
}

/// The moment at which the clock on the wall shows this. Where it shows it twice, the first.
fn local(day: Day, (hour, minute, second): Clock, zone: &TimeZone) -> Option<i64> {
    let Day { year, month, day } = day;
    let found = DateTime::find(year, month, day, hour, minute, second, 0, zone.as_ref()).ok()?;
    Some(found.earliest()?.unix_time())
}

/// The next moment at which the clock shows this.
fn next(text: &str, now: Time, zone: &TimeZone) -> Option<i64> {
    let clock = clock_of(text)?;
    let now = i64::try_from(now.0 / 1_000).ok()?;
    // A day has up to 25 hours, so that the next one is the third at the latest.
    let hours = [0, 24, 48].into_iter();
    let times = hours.filter_map(|hours| {
        let then = DateTime::from_timespec(now + hours * 3_600, 0, zone.as_ref()).ok()?;
        let day = Day {
            year: then.year(),
            month: then.month(),
            day: then.month_day(),
        };
        local(day, clock, zone)
    });
    times.filter(|time| *time > now).min()
}

fn clock_of(text: &str) -> Option<Clock> {
    let mut parts = text.split(':');
    let mut part = || -> Option<u8> { number(parts.next()?, 2)?.try_into().ok() };
    let (hour, minute) = (part()?, part()?);
    let second = part().unwrap_or_default();
    let is_whole = matches!(text.len(), 5 | 8) && hour < 24 && minute < 60 && second < 60;
    is_whole.then_some((hour, minute, second))
}

fn number(text: &str, digits: usize) -> Option<u16> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-17T12:00:00Z, in Berlin 13:00.
    const NOON: Time = Time(1_794_916_800_000);

    fn seen(text: &str) -> Option<String> {
        let berlin = TimeZone::fixed(3_600).unwrap();
        let time = at(text, NOON, &berlin).ok()?;
        Some(views::time::rfc3339(time))
    }

    #[test]
    fn a_time_is_read_in_the_zone_of_the_person() {
        for (text, expected) in [
            ("02:00", Some("2026-11-18T01:00:00Z")),
            ("13:00", Some("2026-11-18T12:00:00Z")),
            ("13:01", Some("2026-11-17T12:01:00Z")),
            ("23:59:59", Some("2026-11-17T22:59:59Z")),
            ("2026-12-01T02:00", Some("2026-12-01T01:00:00Z")),
            ("2026-12-01T02:00:00Z", Some("2026-12-01T02:00:00Z")),
            ("+90m", Some("2026-11-17T13:30:00Z")),
            ("2026-11-17T12:59:00", None),
            ("2026-02-30T12:00", None),
            ("25:00", None),
            ("2:00", None),
            ("02:00:", None),
            ("02:00+01:00", None),
            ("soon", None),
            ("+soon", None),
            ("", None),
        ] {
            assert_eq!(seen(text).as_deref(), expected, "{text}");
        }
    }
}
