//! What is written is read, and what was read is written in the same words.

use engine::Pipeline;

use super::super::expectation_grammar::expectation;
use super::super::grammar::step;
use super::super::known_names::KnownNames;
use super::super::phrase::Phrase;
use super::super::words::words;
use super::{SMALL, sources};

fn small() -> Pipeline {
    language::compile(&sources("p.toml", SMALL.as_bytes()))
        .unwrap()
        .pipeline
}

const STEPS: [&str; 59] = [
    "given step s1 by smith",
    "given step s2 by smith needs s1, s0",
    "given question q1 \"How many?\"",
    "given old text",
    "start",
    "start by hand queued limit=2",
    "start headless with steps",
    "start headless",
    "start limit=«a \"b\"»",
    "tree changes",
    "wait 90s",
    "wait 7d",
    "writer begins",
    "writer ends",
    "writer ends ready",
    "writer ends crashed",
    "writer works poor using 3 turns, 20 tokens, 1 cents",
    "writer crashes",
    "writer times out",
    "writer leaves nothing",
    "writer leaves an old artifact",
    "writer leaves an invalid text",
    "writer leaves no text",
    "writer is hollow",
    "writer strays",
    "writer says \"NOT READY\"",
    "step s1 works",
    "smith with step s1 begins",
    "session works",
    "in session two writer ends",
    "in session two stop",
    "session two opens",
    "session one closes",
    "check passes",
    "check fails",
    "check times out",
    "check cannot start",
    "check changes the tree",
    "check prints its failure",
    "check of look passes",
    "answer continue",
    "answers q1=JWT q2=\"yes, both\"",
    "continue",
    "finish",
    "skip because \"no time\"",
    "skip ready because \"no time\"",
    "retry",
    "cancel",
    "cancel because \"no time\"",
    "reset because \"no time\"",
    "checkpoint first",
    "restore first because \"no time\"",
    "restore @look because \"no time\"",
    "report writer ready",
    "take up",
    "stop",
    "stop with background work",
    "tool Bash",
    "prompt",
];

#[test]
fn steps_are_written_as_they_are_read() {
    let pipeline = small();
    let mut known = KnownNames::new(pipeline.definition());
    for line in STEPS {
        let read = words(line, 0).unwrap();
        let (times, step) = step(&mut Phrase::new(&read, 0..line.len()), &mut known).unwrap();
        assert_eq!((times, step.to_string().as_str()), (1, line));
    }
}

#[test]
fn short_forms_mean_the_same_as_long_ones() {
    let pipeline = small();
    let mut known = KnownNames::new(pipeline.definition());
    for (short, long) in [
        ("session opens", "session one opens"),
        ("session closes", "session one closes"),
        ("skip ready", "skip ready"),
        ("\"writer\" begins", "writer begins"),
        ("start # nothing else", "start"),
    ] {
        let read = words(short, 0).unwrap();
        let (_, step) = step(&mut Phrase::new(&read, 0..short.len()), &mut known).unwrap();
        assert_eq!(step.to_string(), long);
    }
}

#[test]
fn expectations_are_written_as_they_are_read() {
    let pipeline = small();
    let known = KnownNames::new(pipeline.definition());
    for line in [
        "stage write",
        "status waiting",
        "waiting",
        "waiting \"Another\"",
        "reply allow",
        "reply refuse GW-R11 \"may not\"",
        "rule GW-R30",
        "next writer, check",
        "counter changes 1",
        "allowed writer, session",
        "refused writer",
        "steps a=done b=failed",
        "round 2",
        "round look 2",
        "retries 1",
        "artifact text",
        "no artifact text",
        "approved text",
        "not approved text",
        "gate look",
        "no gate look, write",
        "overridden",
        "not overridden",
        "held by one",
        "held by nobody",
        "at work nobody",
        "at work writer, writer",
        "at work 20",
        "entries 12",
        "entries +3",
    ] {
        let read = words(line, 0).unwrap();
        let found = expectation(&mut Phrase::new(&read, 0..line.len()), &known).unwrap();
        assert_eq!(found.to_string(), line);
    }
}
