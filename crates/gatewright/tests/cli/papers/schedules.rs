//! The lines for cron and systemd that the papers show are ones that cron and systemd accept.

use std::process::Command;

use testkit::Project;

use super::page::{Block, Page};
use crate::fixture::PROGRAM;

/// The sections and keys that the units may have.
const KEYS: [(&str, &[&str]); 4] = [
    ("[Unit]", &["Description"]),
    (
        "[Service]",
        &["Type", "WorkingDirectory", "ExecStart", "SuccessExitStatus"],
    ),
    ("[Timer]", &["OnCalendar", "Persistent"]),
    ("[Install]", &["WantedBy"]),
];

/// The blocks with this word, of which there must be some.
fn blocks(word: &str) -> Vec<Block> {
    let mut blocks = Page::read("docs/headless.md").blocks();
    blocks.retain(|block| block.is(word));
    assert!(!blocks.is_empty(), "no block is `{word}`");
    blocks
}

/// The program takes these words. With `--help` it does nothing.
fn is_accepted(line: &str) {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let ran = Project::new(PROGRAM).run(words.into_iter().chain(["--help"]));
    assert_eq!(ran.code, Some(0), "{line}\n{ran}");
}

/// May this stand in a field of cron whose numbers have these bounds?
fn is_field(text: &str, least: u32, most: u32) -> bool {
    let is_number = |text: &str| {
        let number: Option<u32> = text.parse().ok();
        number.is_some_and(|number| (least..=most).contains(&number))
    };
    text.split(',').all(|part| {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let is_range = match range.split_once('-') {
            Some((from, to)) => is_number(from) && is_number(to),
            None => range == "*" || is_number(range),
        };
        is_range && step.parse::<u32>().is_ok_and(|step| step > 0)
    })
}

#[test]
fn a_line_for_cron_has_five_fields_and_a_command() {
    for block in blocks("cron") {
        for line in block.text.lines() {
            let mut words = line.split_whitespace();
            for (least, most) in [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)] {
                let field = words.next().unwrap();
                assert!(is_field(field, least, most), "{field} in {line}");
            }
            assert!(!line.contains('%'), "cron ends a command there: {line}");
            let command = words.collect::<Vec<_>>().join(" ");
            // A night without new tasks must not skip the worker: what fails stops nothing after a `;`.
            let parts = command
                .split(';')
                .map(|part| part.matches("gatewright ").count());
            assert!(parts.max() <= Some(1), "{line}");
            let ours = command
                .split("&&")
                .flat_map(|it| it.split(';'))
                .map(str::trim);
            let ours: Vec<&str> = ours.filter(|it| it.starts_with("gatewright ")).collect();
            assert!(!ours.is_empty(), "{line}");
            ours.into_iter().for_each(is_accepted);
        }
    }
    assert!(!is_field("60", 0, 59) && !is_field("x", 0, 59) && !is_field("1-", 0, 59));
}

#[test]
fn a_unit_for_systemd_has_sections_and_keys_that_it_knows() {
    for block in blocks("systemd") {
        let mut known: &[&str] = &[];
        for line in block.text.lines().filter(|line| !line.is_empty()) {
            if let Some((_, keys)) = KEYS.iter().find(|(section, _)| *section == line) {
                known = keys;
                continue;
            }
            let (key, value) = line.split_once('=').unwrap();
            assert!(known.contains(&key) && !value.is_empty(), "{line}");
            match key {
                "ExecStart" => is_accepted(value),
                "OnCalendar" => is_calendar(value),
                _ => {}
            }
        }
    }
}

/// Asks systemd itself where it is installed.
fn is_calendar(value: &str) {
    let asked = Command::new("systemd-analyze")
        .args(["calendar", value])
        .output();
    match asked {
        Ok(output) => assert!(output.status.success(), "{value}"),
        Err(_) => assert_eq!(value, "Mon..Fri 02:00"),
    }
}
