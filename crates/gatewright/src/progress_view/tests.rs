//! What each watcher makes of the same story.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::{AgentName, DispatchId, Entry, Fact, Time, Usage, Who};
use language::{SourceFile, Sources};
use runner::progress::{AtWork, Progress, ProgressContext, Worker, visited};
use runtime::workspace::OpenRun;
use serde_json::{Value, json};

use super::*;
use crate::output::CapturedOutput;

const PIPELINE: &str = r#"
name  = "note"
about = "Write a note, and check it."
start = "writing"

[artifacts.note]
path   = "note.md"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "checking"

[stages.checking]
check     = ["test -s note.md"]
on.passed = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// 22 August 2026, ten o'clock.
const NOW: Time = Time(1_787_392_800_000);

fn opened() -> OpenRun {
    let main = SourceFile {
        name: "note.toml".to_owned(),
        bytes: PIPELINE.into(),
    };
    let files = BTreeMap::new();
    let compiled = language::compile(&Sources { main, files }).unwrap();
    testkit::open_run(compiled.pipeline, "Write a note\nand test it", NOW)
}

fn stage(name: &str) -> StageName {
    StageName::parse(name).unwrap()
}

fn worker() -> Worker {
    Worker {
        dispatch: DispatchId(7),
        agent: AgentName::parse("writer").unwrap(),
        step: None,
        runner: "claude".to_owned(),
        model: Some("opus".to_owned()),
        attempt: 2,
    }
}

/// Everything that can happen, once.
fn story() -> Vec<Progress> {
    let dispatch = DispatchId(7);
    let usage = Usage {
        turns: 1,
        tokens: 20,
        cost_cents: 3,
        estimated_cents: None,
    };
    vec![
        Progress::Driving { again: false },
        Progress::WorkerBegan { worker: worker() },
        Progress::WorkerActed {
            dispatch,
            action: "Bash \u{1b}[31mecho secret-key-1234".to_owned(),
        },
        Progress::WorkerSaid {
            dispatch,
            text: "with secret-key-1234".to_owned(),
        },
        Progress::WorkerRefused {
            dispatch,
            tool: "Bash rm".to_owned(),
        },
        Progress::WorkerUsed { dispatch, usage },
        Progress::WorkerSentBack {
            dispatch,
            reason: "note is missing".to_owned(),
        },
        Progress::WorkerEnded {
            dispatch,
            result: "done".to_owned(),
            is_fault: false,
        },
        Progress::Moved {
            from: stage("writing"),
            to: stage("checking"),
            spent: BTreeMap::from([(stage("writing"), engine::Seconds(125))]),
        },
        Progress::CheckBegan {
            stage: stage("checking"),
        },
        Progress::CheckEnded {
            stage: stage("checking"),
            verdict: engine::CheckVerdict::Failed,
            tail: "one\ntwo\n\n".to_owned(),
        },
        Progress::Asked {
            question: "Go on?".to_owned(),
            choices: vec!["yes".to_owned(), "no".to_owned()],
        },
        Progress::Answered {
            by: "ada".to_owned(),
            answer: "yes".to_owned(),
        },
        Progress::Pausing {
            until: Time(NOW.0 + 600_000),
            why: "the service says wait".to_owned(),
        },
        Progress::Remark {
            text: "nobody was told".to_owned(),
        },
        Progress::DriveEnded {
            status: "waiting".to_owned(),
            reason: "Go on?".to_owned(),
        },
    ]
}

fn secrets() -> Vec<String> {
    vec!["secret-key-1234".to_owned()]
}

/// Plays the story; gives what was printed as facts, and what was said.
fn play(
    format: Format,
    make: impl FnOnce(&mut Output) -> Box<dyn Watcher + '_>,
) -> (CapturedOutput, CapturedOutput) {
    let (mut output, data, talk) = Output::kept(format);
    let opened = opened();
    let at_work = [AtWork {
        worker: worker(),
        since: Instant::now(),
        action: Some("Edit note.md with secret-key-1234".to_owned()),
        said: Some("I write the note".to_owned()),
        refused: 1,
        usage: Usage::default(),
    }];
    let progress_context = ProgressContext {
        opened: &opened,
        at_work: &at_work,
        elapsed: Duration::from_secs(61),
        driven_ms: 0,
        now: NOW,
    };
    let mut watcher = make(&mut output);
    for what in story() {
        watcher.tell(&progress_context, &what);
        watcher.tick(&progress_context);
    }
    drop(watcher);
    (data, talk)
}

#[test]
fn piped_a_line_is_told_for_each_event() {
    let (data, talk) = play(Format::Text, |output| {
        Box::new(Plain::new(output, Teller::new(&secrets())))
    });
    assert_eq!(data.text(), "");
    let lines: Vec<String> = talk
        .text()
        .lines()
        .map(|line| line.replacen("2026-08-22T10:00:00Z ", "", 1))
        .collect();
    assert_eq!(
        lines,
        [
            "r-1 of note starts: Write a note and test it",
            "d7 'writer' works: claude, opus, attempt 2",
            "d7 'writer': Bash echo «redacted»",
            "d7 'writer' was refused: Bash rm",
            "d7 'writer' is sent back: note is missing",
            "d7 'writer' ended: done",
            "writing → checking",
            "running the commands of checking",
            "checking failed: two",
            "question for a person: Go on? (yes, no)",
            "ada answered: yes",
            "waiting 10m: the service says wait",
            "nobody was told",
            "the run is waiting: Go on?",
        ]
    );
}

#[test]
fn for_programs_every_event_is_one_object_on_one_line() {
    let (data, talk) = play(Format::Json, |output| {
        Box::new(Lines::new(output, &secrets()))
    });
    assert_eq!(talk.text(), "");
    let text = data.text();
    assert!(!text.contains("secret-key-1234"), "{text}");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let words: Vec<&str> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        words,
        [
            "driving",
            "worker_began",
            "worker_acted",
            "worker_said",
            "worker_refused",
            "worker_used",
            "worker_sent_back",
            "worker_ended",
            "moved",
            "check_began",
            "check_ended",
            "asked",
            "answered",
            "pausing",
            "remark",
            "left"
        ]
    );
    for line in &lines {
        assert_eq!(line["run"], "r-1");
        assert_eq!(line["at"], "2026-08-22T10:00:00Z");
        assert_eq!(line["stage"], "writing");
    }
    assert_eq!(
        lines[1],
        json!({
            "at": "2026-08-22T10:00:00Z", "event": "worker_began", "run": "r-1", "stage": "writing",
            "status": "running", "dispatch": "d7", "agent": "writer", "step": null,
            "runner": "claude", "model": "opus", "attempt": 2,
        })
    );
    assert_eq!(
        lines[5]["usage"],
        json!({"turns": 1, "tokens": 20, "cost_cents": 3})
    );
    assert_eq!(lines[10]["tail"], "one\ntwo\n\n");
    assert_eq!(lines[15]["driven_seconds"], 61);
    assert_eq!(lines[13]["until"], "2026-08-22T10:10:00Z");
    assert_eq!(
        (&lines[15]["status"], &lines[15]["reason"]),
        (&json!("waiting"), &json!("Go on?"))
    );
}

#[test]
fn at_a_terminal_the_picture_stays_below_what_happened() {
    let before = StagesBefore {
        visited: vec![stage("writing")],
        spent: BTreeMap::new(),
    };
    let (data, talk) = play(Format::Text, |output| {
        Box::new(Live::new(output, Teller::new(&secrets()), before))
    });
    assert_eq!(data.text(), "");
    let text = talk.text();
    assert!(!text.contains("secret-key-1234"), "{text}");
    let screen = shown(&text);
    let last: Vec<&str> = screen.iter().map(String::as_str).collect();
    assert_eq!(
        last,
        [
            "r-1 of note starts: Write a note and test it",
            "d7 'writer' works: claude, opus, attempt 2",
            "d7 'writer' was refused: Bash rm",
            "d7 'writer' is sent back: note is missing",
            "d7 'writer' ended: done",
            "writing → checking",
            "checking failed: two",
            "question for a person: Go on? (yes, no)",
            "ada answered: yes",
            "waiting 10m: the service says wait",
            "nobody was told",
            "the run is waiting: Go on?",
            "r-1 note · running · 0s",
            "  Write a note and test it",
            "",
            "  ● writing (agent) · 0s",
            "  ○ checking → complete",
            "",
            "    d7 'writer' · claude, opus · 0s · 1 refused · attempt 2",
            "      Edit note.md with «redacted»",
            "      says: I write the note",
        ]
    );
}

/// What a terminal shows in the end of it: only the sequences that a picture is drawn with.
fn shown(text: &str) -> Vec<String> {
    let (mut screen, mut row) = (vec![String::new()], 0);
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('\u{1b}') {
            let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            let (number, letter) = (&after[1..end], &after[end..=end]);
            match letter {
                "A" => row -= number.parse::<usize>().unwrap(),
                "K" => screen[row].clear(),
                "J" => {
                    screen.truncate(row + 1);
                    screen[row].clear();
                }
                "h" | "l" => assert_eq!(number, "?25"),
                other => panic!("a picture needs no {other}"),
            }
            rest = &after[end + 1..];
        } else if let Some(after) = rest.strip_prefix('\n') {
            row += 1;
            if row == screen.len() {
                screen.push(String::new());
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\r') {
            rest = after;
        } else {
            let end = rest.find(['\u{1b}', '\r', '\n']).unwrap_or(rest.len());
            screen[row].push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    while screen.last().is_some_and(String::is_empty) {
        screen.pop();
    }
    screen
}

#[test]
fn whoever_talks_aside_leaves_the_picture_alone() {
    let (mut output, _, talk) = Output::kept(Format::Text);
    let opened = opened();
    let progress_context = ProgressContext {
        opened: &opened,
        at_work: &[],
        elapsed: Duration::ZERO,
        driven_ms: 0,
        now: NOW,
    };
    let mut live = Live::new(&mut output, Teller::new(&[]), StagesBefore::default());
    live.tell(&progress_context, &Progress::Driving { again: true });
    live.leave_drawing();
    std::io::Write::write_all(&mut talk.clone(), b"Type yes: \n").unwrap();
    live.tell(
        &progress_context,
        &Progress::Remark {
            text: "on".to_owned(),
        },
    );
    let screen = shown(&talk.text());
    let asked = screen.iter().position(|line| line == "Type yes: ").unwrap();
    assert_eq!(screen[0], "r-1 of note continues in writing");
    assert_eq!(screen[asked + 1], "on");
    assert_eq!(
        screen
            .iter()
            .filter(|line| line.starts_with("r-1 note"))
            .count(),
        2
    );
}

#[test]
fn what_needs_somebody_is_not_cut_at_the_width_of_the_terminal() {
    let text = "r-2 waits for r-1, which has begun in this tree; `gatewright resume r-1` continues it, \
                `gatewright cancel r-1 --reason WHY` ends it";
    let parts = super::live::above_parts(views::Style::Wait, text, 40);
    assert!(parts.len() > 1, "{parts:?}");
    assert_eq!(parts.join(" "), text);
    let cut = super::live::above_parts(views::Style::Good, text, 40);
    assert_eq!(cut.len(), 1, "what happened is one line: {cut:?}");
}

#[test]
fn visited_stages_are_told_by_the_journal() {
    let opened = opened();
    let beginning = |to: &str| Entry {
        at: NOW,
        by: Who::Engine,
        rule: engine::Rule::OutcomeTaken,
        fact: Fact::Moved(Box::new(engine::Move {
            from: opened.run().position.stage.clone(),
            outcome: "done".to_owned(),
            to: stage(to),
            along: engine::MoveReason::Edge,
            counted: None,
            reset: Vec::new(),
            resume: None,
        })),
    };
    let entries = [
        beginning("checking"),
        beginning("writing"),
        beginning("checking"),
    ];
    assert_eq!(visited(&entries), [stage("checking"), stage("writing")]);
}
