//! Random definitions: stages of every kind in a row, with counted ways back and people to ask.

use crate::chance::Chance;
use std::fmt::Write;

/// A definition as text. Not every one passes lint; those that do are wandered through.
pub(crate) fn random(chance: &mut Chance) -> String {
    let stages = 2 + chance.below(5);
    let mut text = String::from(
        "name = \"random\"\nabout = \"chance\"\nstart = \"s0\"\n\
         [counters]\nagain = { max = 2, then = \"asked\" }\n",
    );
    let mut artifacts = String::new();
    let mut body = String::new();
    for at in 0..stages {
        let next = if at + 1 == stages {
            String::from("over")
        } else {
            format!("s{}", at + 1)
        };
        let back = format!(
            "{{ to = \"s{}\", count = \"again\" }}",
            chance.below(at + 1)
        );
        stage(chance, &mut artifacts, &mut body, at, &next, &back);
    }
    let _ = write!(
        body,
        "[stages.asked]\nask = \"On?\"\non.yes = {{ to = \"@interrupted\", reset = [\"again\"] }}\n\
         on.no = \"given_up\"\n[stages.over]\nend = \"completed\"\n[stages.given_up]\nend = \"failed\"\n",
    );
    claims(chance, &mut body, stages);
    text.push_str(&artifacts);
    text.push_str(&body);
    text
}

fn artifact(artifacts: &mut String, name: &str, values: &str) {
    let _ = write!(
        artifacts,
        "[artifacts.{name}]\npath = \"out/{name}.json\"\nformat = \"json\"\n\
         outcome = {{ field = \"status\", values = {values} }}\n",
    );
}

fn stage(
    chance: &mut Chance,
    artifacts: &mut String,
    body: &mut String,
    at: usize,
    next: &str,
    back: &str,
) {
    let _ = writeln!(body, "[stages.s{at}]");
    match chance.below(7) {
        0 => {
            artifact(
                artifacts,
                &format!("a{at}"),
                "{ PASS = \"passed\", FAIL = \"failed\" }",
            );
            let writes = if chance.once_in(2) {
                "writes = []\n"
            } else {
                ""
            };
            let fault = if chance.once_in(2) {
                "on.crashed = \"asked\"\n"
            } else {
                ""
            };
            let _ = write!(
                body,
                "agent = \"worker-{at}\"\nleaves = [\"a{at}\"]\nstop = \"hold\"\n{writes}{fault}\
                 on.passed = \"{next}\"\non.failed = {back}\n",
            );
        }
        1 => {
            let _ = write!(
                body,
                "check = [\"test -e x\"]\non.passed = \"{next}\"\non.failed = {back}\n"
            );
        }
        2 => {
            let _ = write!(
                body,
                "ask = \"Well?\"\non.yes = \"{next}\"\non.no = {back}\n"
            );
        }
        3 => {
            let words = "[\"approved\", \"needs_changes\", \"needs_clarification\"]";
            artifact(artifacts, &format!("r{at}"), words);
            artifact(artifacts, &format!("q{at}"), words);
            let _ = write!(
                body,
                "review = \"owner-{at}\"\nrounds = 2\n\
                 panel = [{{ agent = \"judge-{at}\", leaves = \"r{at}\" }}, \
                 {{ agent = \"last-{at}\", leaves = \"q{at}\", final = true }}]\n\
                 on.approved = \"{next}\"\non.needs_clarification = \"asked\"\non.exceeded = \"asked\"\n",
            );
        }
        4 => {
            let _ = write!(
                body,
                "steps = [{{ id = \"a\", title = \"A\", agent = \"step-worker\" }}, \
                 {{ id = \"b\", title = \"B\", agent = \"step-worker\", needs = [\"a\"] }}]\n\
                 on.done = \"{next}\"\non.failed = {back}\n",
            );
        }
        5 => route(chance, body, at, next),
        _ => {
            let _ = write!(
                body,
                "allow = [\"free-{at}\", \"other-*\"]\nafter.free-{at} = \"{next}\"\n"
            );
        }
    }
}

/// A route whose shorter way may leave out stages, and whose longer way is the next one. Its evidence is the
/// change, or the word of an earlier stage beside it.
fn route(chance: &mut Chance, body: &mut String, at: usize, next: &str) {
    let bound = *chance.pick(&[
        "files = 3",
        "lines = 50",
        "within = [\"docs/**\"]",
        "files = 3, avoids = [\"src/**\"]",
    ]);
    let told = if at > 0 && chance.once_in(6) {
        format!(", verdicts = {{ s{} = \"passed\" }}", at - 1)
    } else {
        String::new()
    };
    let shorter = if chance.once_in(2) { "over" } else { next };
    let longer = if next == "over" { "given_up" } else { next };
    let shorter = if shorter == longer { "over" } else { shorter };
    let _ = write!(
        body,
        "route = [{{ outcome = \"small\", {bound}{told} }}]\n\
         on.small = \"{shorter}\"\non.otherwise = \"{longer}\"\n",
    );
}

/// Claims that may or may not be true: only those that lint proves are held against the run.
fn claims(chance: &mut Chance, body: &mut String, stages: usize) {
    let through = chance.below(stages);
    let _ = write!(
        body,
        "[[prove]]\nname = \"one\"\nbefore = \"over\"\nthrough = [\"s{through}\"]\n",
    );
    if chance.once_in(2) {
        let (after, through) = (chance.below(stages), chance.below(stages));
        let _ = write!(
            body,
            "[[prove]]\nname = \"two\"\nafter = \"s{after}\"\nbefore = \"over\"\n\
             through = [\"s{through}\"]\n",
        );
    }
}
