//! What people read about a bad file: one case for each rule of the language, and more.

mod files;
mod hosts;
mod keys;
mod kinds;
mod texts;
mod uses;
mod values;

use std::collections::BTreeSet;

use expect_test::Expect;
use language::{Diagnostic, LanguageRule};

use crate::{compiled, said};

/// The rest of a definition in which nothing is wrong.
const REST: &str = "name='a'\nabout='b'\nstart='s'\nstages.s.agent='x'\n";

/// A file and what is said about it.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    expected: Expect,
}

/// Bad lines in front of a good rest.
fn case(bad: &str, expected: Expect) -> Case {
    Case {
        name: "p.toml",
        bytes: format!("{bad}\n{REST}").into(),
        expected,
    }
}

/// A whole file.
fn whole(name: &'static str, bytes: impl Into<Vec<u8>>, expected: Expect) -> Case {
    Case {
        name,
        bytes: bytes.into(),
        expected,
    }
}

const FILES: &[(&str, &[u8])] = &[
    ("no.json", b"{"),
    ("blank.md", b" \n"),
    ("marked.md", b"a\n<!-- gatewright a: end -->\n"),
    ("latin.json", b"\"\xe4\""),
    ("strange.json", b"{\"type\": \"strnig\"}"),
    (
        "outside.json",
        b"{\"$ref\": \"https://example.org/other.json\"}",
    ),
    ("list.json", b"[]"),
    ("agents/latin.md", b"\xe4"),
    (
        "base.toml",
        b"name='b'\nabout='b'\nstart='s'\nstages.s={agent='x',on.done='t'}\nstages.t={end='completed'}",
    ),
    ("circle.toml", b"name='c'\nextends='circle.toml'"),
    ("broken.toml", b"name='c'\nextends='base.toml'\nstart='gone'"),
];

fn check(cases: Vec<Case>) {
    for Case {
        name,
        bytes,
        expected,
    } in cases
    {
        let problems = compiled(name, &bytes, FILES)
            .map(|_| ())
            .expect_err("the file is bad");
        expected.assert_eq(&said(&problems, &String::from_utf8_lossy(&bytes)));
    }
}

#[test]
fn texts() {
    check(texts::cases());
}

#[test]
fn keys() {
    check(keys::cases());
}

#[test]
fn kinds() {
    check(kinds::cases());
}

#[test]
fn values() {
    check(values::cases());
}

#[test]
fn files() {
    check(files::cases());
}

#[test]
fn uses() {
    check(uses::cases());
}

#[test]
fn hosts() {
    check(hosts::cases());
}

fn many_problems() -> Vec<Diagnostic> {
    let text: String = (0..150)
        .map(|number| format!("key{number} = 1\n"))
        .collect();
    compiled("p.toml", format!("{text}{REST}").as_bytes(), FILES).expect_err("the file is bad")
}

#[test]
fn a_hundred_problems_are_enough() {
    let problems = many_problems();
    assert_eq!(problems.len(), 101);
    assert_eq!(problems[99].message, "the pipeline has no key `key99`");
    assert_eq!(problems[100].message, "50 more problems are not shown");
}

#[test]
fn every_rule_of_the_language_has_a_case() {
    let cases = [
        texts::cases(),
        keys::cases(),
        kinds::cases(),
        values::cases(),
        files::cases(),
        hosts::cases(),
        uses::cases(),
    ];
    let problems = cases
        .iter()
        .flatten()
        .filter_map(|case| compiled(case.name, &case.bytes, FILES).err());
    let mut seen: BTreeSet<&str> = problems.flatten().map(|problem| problem.code).collect();
    seen.extend(many_problems().iter().map(|problem| problem.code));
    let unseen: Vec<_> = LanguageRule::ALL
        .iter()
        .filter(|rule| !seen.contains(rule.code()))
        .collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn rules_have_codes_of_their_own() {
    let own: BTreeSet<&str> = LanguageRule::ALL.iter().map(|rule| rule.code()).collect();
    let engine: BTreeSet<&str> = engine::CheckRule::ALL
        .iter()
        .map(|rule| rule.code())
        .collect();
    assert_eq!(own.len(), LanguageRule::ALL.len());
    assert!(own.is_disjoint(&engine));
    assert!(LanguageRule::ALL.iter().all(|rule| !rule.text().is_empty()));
}
