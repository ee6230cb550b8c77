//! Tests of the stored bytes: what was written once is read for ever, and nothing else is read.

mod definitions;

use std::collections::BTreeSet;
use std::fmt::Debug;

use engine::{Definition, Entry, Fact, Hash, Run};

use super::binary::{self, Input};
use super::*;
use crate::chain::Tip;
use crate::record::RunOrigin;

/// The words of an enum's variants.
pub(super) trait Kinds {
    const KINDS: &'static [&'static str];
}

/// The journals of version 1. They must be readable for ever: lines are added to this file for what is
/// new, and none is changed. Each free text in it holds the word `secret`.
const GOLDEN: &str = include_str!("../../../tests/data/journal-v1.jsonl");

fn entries() -> Vec<Entry> {
    let read = |line| entry_from_json(line).unwrap_or_else(|fault| panic!("{fault}\n{line}"));
    GOLDEN.lines().map(read).collect()
}

/// A run with something in every field.
fn full_run() -> Run {
    let forked = entries().into_iter().find_map(|entry| match entry.fact {
        Fact::Forked { state, .. } => Some(*state),
        _ => None,
    });
    forked.unwrap()
}

#[test]
fn old_journals_are_read_and_written_as_they_were() {
    for (entry, line) in entries().iter().zip(GOLDEN.lines()) {
        assert_eq!(entry_to_json(entry), line);
    }
}

#[test]
fn every_kind_and_every_field_is_in_an_old_line() {
    let kind = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        value["fact"]["kind"].as_str().unwrap().to_owned()
    };
    let there: BTreeSet<String> = GOLDEN.lines().map(kind).collect();
    let wanted: BTreeSet<String> = Fact::KINDS.iter().map(|word| word.to_string()).collect();
    assert_eq!(there, wanted);
    // The names of fields and the words of variants are what is written small in a listing.
    for listing in [entry::LISTING, super::run::LISTING] {
        let words = listing.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let small = words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
        for word in small.filter(|word| !["struct", "words", "kinds"].contains(word)) {
            assert!(
                GOLDEN.contains(&format!("\"{word}\"")),
                "{word} is in no old line"
            );
        }
    }
}

#[test]
fn words_are_snake_case_and_used_once() {
    for kinds in [
        Fact::KINDS,
        engine::Work::KINDS,
        engine::Standing::KINDS,
        engine::Who::KINDS,
    ] {
        let snake = |word: &&str| {
            word.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        assert!(kinds.iter().all(snake), "{kinds:?}");
        assert_eq!(
            kinds.iter().collect::<BTreeSet<_>>().len(),
            kinds.len(),
            "{kinds:?}"
        );
    }
}

fn check_round_trip<T: Record + PartialEq + Debug>(value: &T) {
    let mut text = String::new();
    value.to_json(&mut text);
    assert_eq!(
        T::from_json(serde_json::from_str(&text).unwrap()).as_ref(),
        Ok(value),
        "{text}"
    );
    let mut bytes = Vec::new();
    value.to_bytes(&mut bytes);
    assert_eq!(binary::read::<T>(&bytes).as_ref(), Ok(value));
}

#[test]
fn what_is_written_is_read_back_in_both_formats() {
    entries().iter().for_each(check_round_trip);
    check_round_trip(&full_run());
    check_round_trip(&definitions::definition());
    check_round_trip(&crate::conformance::test_run::definition().unwrap());
}

#[test]
fn numbers_at_their_limits_come_back() {
    for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX - 1, u64::MAX] {
        check_round_trip(&number);
    }
    for number in [i32::MIN, -1, 0, 1, i32::MAX] {
        check_round_trip(&number);
    }
    [0, u32::MAX].iter().for_each(check_round_trip);
    let beyond = u64::from(u32::MAX) + 1;
    let mut bytes = Vec::new();
    beyond.to_bytes(&mut bytes);
    assert!(binary::read::<u32>(&bytes).is_err());
    assert!(u32::from_json(Value::from(beyond)).is_err());
    assert!(i32::from_json(Value::from(beyond)).is_err());
}

fn check_unreadable(line: &str, place: &str) {
    let fault = entry_from_json(line).expect_err(line).to_string();
    assert!(fault.contains(place), "{fault}");
}

#[test]
fn what_is_not_known_is_said() {
    let line = |fact: &str| {
        format!(r#"{{"at":1,"by":{{"kind":"engine"}},"rule":"GW-R01","fact":{fact}}}"#)
    };
    assert!(entry_from_json(&line(r#"{"kind":"taken_up"}"#)).is_ok());
    for (fact, said) in [
        (
            r#"{"kind":"teleported"}"#,
            "the kind `teleported` is not known here",
        ),
        (
            r#"{"kind":"taken_up","speed":3}"#,
            "`speed` is not known here",
        ),
        (r#"{"kind":"noted"}"#, "`fact`: `message` is missing"),
        (
            r#"{"kind":"noted","message":7}"#,
            "`fact.message`: expected a text",
        ),
        (
            r#"{"kind":"attached","session":""}"#,
            "`fact.session`: a name cannot be empty",
        ),
        (
            r#"{"kind":"attached","session":"a/b"}"#,
            "cannot contain '/'",
        ),
        (
            r#"{"kind":"held","holds":4294967296}"#,
            "`fact.holds`: expected a number (u32)",
        ),
        (r#"{"kind":"held","holds":-1}"#, "`fact.holds`"),
        (r#"{"message":"no kind"}"#, "`kind` is missing"),
        (r#"[]"#, "expected an object, found a list"),
    ] {
        check_unreadable(&line(fact), said);
    }
    check_unreadable("", "not JSON");
    check_unreadable("{} {}", "not JSON");
    check_unreadable(&"[".repeat(100_000), "not JSON");
    check_unreadable(
        r#"{"at":1,"by":{"kind":"engine"},"rule":"GW-R00","fact":{}}"#,
        "GW-R00",
    );
}

/// A small generator of numbers, so that every run of the tests sees the same damage.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

/// Bytes with a few of them changed, cut off or doubled.
fn harmed(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, 0xff),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(dice.below(256)).unwrap();
                }
            }
        }
    }
    bytes
}

#[test]
fn harmed_bytes_are_refused_without_a_panic() {
    let mut dice = Dice(1);
    let (mut run, mut definition) = (Vec::new(), Vec::new());
    full_run().to_bytes(&mut run);
    definitions::definition().to_bytes(&mut definition);
    let mut refused = 0;
    for _ in 0..5_000 {
        refused += usize::from(binary::read::<Run>(&harmed(&run, &mut dice)).is_err());
        refused +=
            usize::from(binary::read::<Definition>(&harmed(&definition, &mut dice)).is_err());
        let line = GOLDEN
            .lines()
            .nth(dice.below(GOLDEN.lines().count()))
            .unwrap();
        let line = harmed(line.as_bytes(), &mut dice);
        let _ = entry_from_json(&String::from_utf8_lossy(&line));
    }
    assert!(refused > 5_000, "only {refused} of 10000 were refused");
}

#[test]
fn a_length_beyond_the_bytes_reserves_nothing() {
    let mut bytes = Vec::new();
    binary::number(&mut bytes, u64::MAX);
    assert!(binary::read::<String>(&bytes).is_err());
    assert!(binary::read::<Vec<Run>>(&bytes).is_err());
    let overlong = [0xff; 11];
    assert!(Input::new(&overlong).number().is_err());
    assert!(binary::read::<bool>(&[2]).is_err());
    assert!(binary::read::<bool>(&[1, 0]).is_err());
}

const TIP: Tip = Tip {
    version: 5,
    head: Hash([7; 32]),
};
const BELONGS: RunOrigin<'_> = RunOrigin {
    project: "/project",
    worktree: "/tree",
    pipeline: "ansible",
};

#[test]
fn a_state_is_read_only_where_it_belongs() {
    let run = full_run();
    let bytes = state_to_bytes(&run, TIP, BELONGS);
    assert_eq!(
        state_from_bytes(&bytes, TIP, BELONGS),
        Ok(Cached::Value(run))
    );
    for tip in [
        Tip { version: 6, ..TIP },
        Tip {
            head: Hash([8; 32]),
            ..TIP
        },
    ] {
        assert!(state_from_bytes(&bytes, tip, BELONGS).is_err(), "{tip:?}");
    }
    for elsewhere in [
        RunOrigin {
            project: "/other",
            ..BELONGS
        },
        RunOrigin {
            worktree: "/other",
            ..BELONGS
        },
        RunOrigin {
            pipeline: "other",
            ..BELONGS
        },
    ] {
        assert!(
            state_from_bytes(&bytes, TIP, elsewhere).is_err(),
            "{elsewhere:?}"
        );
    }
}

#[test]
fn no_changed_byte_of_a_state_is_taken_for_the_truth() {
    let bytes = state_to_bytes(&full_run(), TIP, BELONGS);
    for at in 8..bytes.len() {
        let mut harmed = bytes.clone();
        harmed[at] ^= 1;
        assert!(
            state_from_bytes(&harmed, TIP, BELONGS).is_err(),
            "byte {at}"
        );
    }
    assert!(state_from_bytes(&[], TIP, BELONGS).is_err());
}

#[test]
fn a_state_of_another_format_is_told_from_damage() {
    let mut older = state_to_bytes(&full_run(), TIP, BELONGS);
    older[0] ^= 1;
    assert_eq!(
        state_from_bytes(&older, TIP, BELONGS),
        Ok(Cached::OtherFormat)
    );
    assert_eq!(
        state_from_bytes(&no_cache(), TIP, BELONGS),
        Ok(Cached::OtherFormat)
    );
}

#[test]
fn a_compiled_definition_belongs_to_its_source() {
    let (definition, source) = (definitions::definition(), Hash([1; 32]));
    let bytes = compiled_to_bytes(&definition, source);
    assert_eq!(
        compiled_from_bytes(&bytes, source),
        Ok(Cached::Value(definition))
    );
    assert!(compiled_from_bytes(&bytes, Hash([2; 32])).is_err());
}

#[test]
fn every_free_text_is_shown_and_can_be_changed() {
    for entry in entries() {
        let mut changed = entry.clone();
        map_texts(&mut changed, &mut Vec::new(), |text| {
            *text = text.replace("secret", "hidden")
        });
        let line = entry_to_json(&changed);
        assert!(!line.contains("secret"), "{line}");
        assert_eq!(line, entry_to_json(&entry).replace("secret", "hidden"));
    }
}

#[test]
fn keys_that_become_alike_stay_apart() {
    let given = [("secret-a", "1"), ("secret-b", "2")];
    let given = given
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let answered = entries()
        .into_iter()
        .find(|it| matches!(it.fact, Fact::Answered { .. }));
    let mut entry = answered.unwrap();
    if let Fact::Answered { given: kept, .. } = &mut entry.fact {
        *kept = given;
    }
    map_texts(&mut entry, &mut Vec::new(), |text| {
        if text.starts_with("secret") {
            "hidden".clone_into(text);
        }
    });
    let line = entry_to_json(&entry);
    assert!(
        line.contains(r#""given":{"hidden":"1","hidden'":"2"}"#),
        "{line}"
    );
}

#[test]
fn every_hash_of_an_entry_is_shown() {
    for entry in entries() {
        let line = entry_to_json(&entry);
        let shown = hashes(&entry);
        let digits = |text: &&str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let written: BTreeSet<&str> = line.split('"').filter(digits).collect();
        let shown: BTreeSet<String> = shown.iter().map(Hash::to_string).collect();
        assert_eq!(
            shown.iter().map(String::as_str).collect::<BTreeSet<_>>(),
            written,
            "{line}"
        );
    }
}
