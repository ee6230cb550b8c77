//! Every event with every verdict, and the bytes that the host gets.

use expect_test::expect_file;
use hosts::{Answer, Bytes, Event, Stake, Verdict};

use super::{undecided, write};

fn all_events() -> impl Iterator<Item = Event> {
    Event::KNOWN.into_iter().chain([Event::Other])
}

fn shown(bytes: &Bytes) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let shown = format!(
        "{} {} {}",
        bytes.code,
        text(&bytes.stdout),
        text(&bytes.stderr)
    );
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn answer(verdict: Verdict, context: Option<&str>, notice: Option<&str>) -> Answer {
    Answer {
        verdict,
        context: context.map(str::to_owned),
        notice: notice.map(str::to_owned),
        message: None,
    }
}

fn answers() -> Vec<(&'static str, Answer)> {
    let refuse = || Verdict::Refuse("REASON".to_owned());
    let go_on = || Verdict::GoOn("REASON".to_owned());
    vec![
        ("nothing", answer(Verdict::Nothing, None, None)),
        ("allow", answer(Verdict::Allow, None, None)),
        (
            "allow, context",
            answer(Verdict::Allow, Some("CONTEXT"), None),
        ),
        (
            "allow, notice",
            answer(Verdict::Allow, None, Some("NOTICE")),
        ),
        ("refuse", answer(refuse(), None, None)),
        (
            "refuse, all",
            answer(refuse(), Some("CONTEXT"), Some("NOTICE")),
        ),
        ("go on", answer(go_on(), None, None)),
        (
            "go on, all",
            answer(go_on(), Some("CONTEXT"), Some("NOTICE")),
        ),
    ]
}

#[test]
fn every_answer_to_every_event_is_what_the_host_honours() {
    let mut table = String::new();
    for event in all_events() {
        table += &format!("{}\n", event.word());
        for (name, answer) in answers() {
            table += &format!("  {name:14} {}\n", shown(&write(event, &answer)));
        }
        for (name, stake) in [("gate", Stake::Gate), ("ordinary", Stake::Ordinary)] {
            table += &format!(
                "  cannot, {name}: {}\n",
                shown(&undecided(event, stake, "REASON"))
            );
        }
    }
    expect_file!["../../written.txt"].assert_eq(&table);
}

#[test]
fn an_answer_is_whole_whatever_is_said() {
    let nasty = "a \"quoted\"\n\u{1b}[31m line\r\n\u{2028} 🦀".repeat(2_000);
    for event in all_events() {
        for text in ["", " ", "one", nasty.as_str()] {
            for verdict in [
                Verdict::Nothing,
                Verdict::Allow,
                Verdict::Refuse(text.to_owned()),
                Verdict::GoOn(text.to_owned()),
            ] {
                check_whole(&write(event, &answer(verdict, Some(text), Some(text))));
            }
            for stake in [Stake::Gate, Stake::Ordinary] {
                check_whole(&undecided(event, stake, text));
            }
        }
    }
}

fn check_whole(bytes: &Bytes) {
    assert!(matches!(bytes.code, 0 | 2));
    if !bytes.stdout.is_empty() {
        let value: serde_json::Value = serde_json::from_slice(&bytes.stdout).unwrap();
        assert!(value.is_object());
        assert_eq!(bytes.code, 0, "the host reads stdout only with 0");
        for text in texts(&value) {
            assert!(text.encode_utf16().count() < 10_000);
        }
        if let Some(specific) = value.get("hookSpecificOutput") {
            assert!(specific.get("hookEventName").is_some());
        }
    }
    let lines = bytes.stderr.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines, usize::from(!bytes.stderr.is_empty()));
    assert!(
        bytes.code == 0 || bytes.stderr.len() > 1,
        "a refusal says why"
    );
}

fn texts(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn nothing_is_said_for_a_tool_call_that_passes() {
    for verdict in [Verdict::Nothing, Verdict::Allow] {
        let bytes = write(Event::PreToolUse, &answer(verdict, Some("c"), Some("n")));
        let text = String::from_utf8(bytes.stdout).unwrap();
        assert!(!text.contains("permissionDecision"), "{text}");
    }
}

#[test]
fn a_long_context_is_cut_at_a_character_with_a_note() {
    let context = format!("{}é🦀{}", "a".repeat(9_498), "b".repeat(20));
    let bytes = write(
        Event::SessionStart,
        &answer(Verdict::Allow, Some(&context), None),
    );
    let value: serde_json::Value = serde_json::from_slice(&bytes.stdout).unwrap();
    let written = value["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert_eq!(
        written,
        format!("{}é\n[cut here: too long for the host]", "a".repeat(9_498))
    );
    let fits = "é".repeat(9_500);
    let bytes = write(
        Event::SessionStart,
        &answer(Verdict::Allow, Some(&fits), None),
    );
    let value: serde_json::Value = serde_json::from_slice(&bytes.stdout).unwrap();
    assert_eq!(value["hookSpecificOutput"]["additionalContext"], fits);
}
