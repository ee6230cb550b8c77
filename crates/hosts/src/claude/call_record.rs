//! Claude Code's own record of a conversation: which tools were called, and which calls ran.

use engine::Time;

use super::wire::{RecordLine, RecordMessage, RecordPart};
use crate::hook::{self, Raw};
use crate::session_host::RecordedCall;

/// How the host begins the result of a call that it did not run: it was refused by the host, by a hook or
/// by a person, was not valid, or was interrupted before it began.
const NOT_RUN: [&str; 6] = [
    "<tool_use_error>",
    "PreToolUse:",
    "The user doesn't want to",
    "Permission ",
    "Claude requested permissions",
    "[",
];

/// What a line of the record says about calls. Most lines say nothing.
pub(super) fn read(line: &[u8]) -> Vec<RecordedCall> {
    let text = std::str::from_utf8(line).unwrap_or_default();
    if !text.contains("\"tool_use") {
        return Vec::new();
    }
    let Ok(line) = serde_json::from_str::<RecordLine<'_>>(text) else {
        return Vec::new();
    };
    let kind = hook::text(line.kind).unwrap_or_default();
    let at = hook::text(line.timestamp).and_then(|text| time(&text));
    let parts = hook::shape::<RecordMessage<'_>>(line.message);
    let parts: Vec<RecordPart<'_>> = parts
        .and_then(|message| hook::shape(message.content))
        .unwrap_or_default();
    let recorded = parts.iter().filter_map(|part| match kind.as_ref() {
        "assistant" => called(part, at?),
        "user" => returned(part),
        _ => None,
    });
    recorded.collect()
}

fn called(part: &RecordPart<'_>, at: Time) -> Option<RecordedCall> {
    let is_call = hook::text(part.kind)? == "tool_use";
    is_call.then_some(RecordedCall::Called {
        call: hook::text(part.id)?.into_owned(),
        tool: hook::text(part.name)?.into_owned(),
        at,
    })
}

fn returned(part: &RecordPart<'_>) -> Option<RecordedCall> {
    let is_result = hook::text(part.kind)? == "tool_result";
    let failed = hook::shape::<bool>(part.is_error) == Some(true);
    let said = said(part.content);
    is_result.then_some(RecordedCall::Returned {
        call: hook::text(part.tool_use_id)?.into_owned(),
        ran: !(failed && NOT_RUN.iter().any(|begin| said.starts_with(begin))),
    })
}

/// The first text of a result.
fn said(content: Raw<'_>) -> String {
    if let Some(text) = hook::text(content) {
        return text.into_owned();
    }
    let parts: Vec<RecordPart<'_>> = hook::shape(content).unwrap_or_default();
    let first = parts.iter().find_map(|part| hook::text(part.text));
    first.map(std::borrow::Cow::into_owned).unwrap_or_default()
}

/// `2026-11-16T22:11:42.534Z`, as JavaScript writes a time.
pub(super) fn time(text: &str) -> Option<Time> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let date: Vec<u64> = numbers(date, '-')?;
    let (clock, millis) = clock.split_once('.').unwrap_or((clock, "0"));
    let clock: Vec<u64> = numbers(clock, ':')?;
    let ([year, month, day], [hour, minute, second]) = (date.as_slice(), clock.as_slice()) else {
        return None;
    };
    let days = days_since_1970(*year, *month, *day)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(Time(seconds * 1000 + millis.parse::<u64>().ok()?))
}

fn numbers(text: &str, between: char) -> Option<Vec<u64>> {
    text.split(between).map(|part| part.parse().ok()).collect()
}

/// Counted from 1 March, so that the leap day is the last of its year.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let is_date = (1970..10_000).contains(&year) && (1..=12).contains(&month);
    if !is_date || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(is_error: bool, content: &str) -> Vec<RecordedCall> {
        let content = serde_json::to_string(content).unwrap();
        read(
            format!(
                r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","is_error":{is_error},"content":{content}}}]}}}}"#
            )
            .as_bytes(),
        )
    }

    #[test]
    fn a_call_and_its_time_are_read() {
        let line = br#"{"parentUuid":null,"type":"assistant","timestamp":"2026-11-16T22:11:42.534Z","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#;
        let called = RecordedCall::Called {
            call: "t1".to_owned(),
            tool: "Bash".to_owned(),
            at: Time(1_794_867_102_534),
        };
        assert_eq!(read(line), [called]);
    }

    #[test]
    fn a_result_says_whether_the_call_ran() {
        for (is_error, content, ran) in [
            (false, "hello", true),
            (true, "Exit code 3\nno", true),
            (true, "EISDIR: illegal operation on a directory", true),
            (false, "<tool_use_error>only a text</tool_use_error>", true),
            (
                true,
                "<tool_use_error>InputValidationError</tool_use_error>",
                false,
            ),
            (
                true,
                "PreToolUse:Agent hook error: GW-R11 refused: 'critic'",
                false,
            ),
            (
                true,
                "The user doesn't want to proceed with this tool use.",
                false,
            ),
            (true, "Permission to use Bash has been denied.", false),
            (true, "[Request interrupted by user for tool use]", false),
        ] {
            let returned = RecordedCall::Returned {
                call: "t1".to_owned(),
                ran,
            };
            assert_eq!(result(is_error, content), [returned], "{content}");
        }
    }

    #[test]
    fn other_lines_and_broken_ones_say_nothing() {
        for line in [
            &b""[..],
            b"{}",
            b"\"tool_use\"",
            br#"{"type":"assistant","message":{"content":[{"type":"tool_use"#,
            br#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash"}]}}"#,
            br#"{"type":"assistant","timestamp":"yesterday","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash"}]}}"#,
            br#"{"type":"user","message":{"content":"a text about \"tool_use\""}}"#,
            br#"{"type":"api-request-blob","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}"#,
            b"\xff\xfe\"tool_use\"",
        ] {
            assert_eq!(read(line), [], "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn times_are_read_as_javascript_writes_them() {
        for (text, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:00:00.001Z", 951_825_600_001),
            ("2026-11-16T22:11:42Z", 1_794_867_102_000),
        ] {
            assert_eq!(time(text), Some(Time(millis)), "{text}");
        }
        for text in [
            "",
            "2026-11-16",
            "2026-13-16T00:00:00Z",
            "T:Z",
            "x-y-zTa:b:cZ",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
