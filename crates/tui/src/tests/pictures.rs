//! The pictures: at the usual size, wide, at 40 columns, and of hostile and very large input.

use engine::{DispatchId, Driver, Seconds};
use expect_test::{Expect, expect};
use views::facts::{Liveness, LostReason};
use views::{Paint, Untrusted};

use super::played::{Played, minutes, screen, sign};
use crate::event::{Event, Key, Size, WorkerName, WorkerText};
use crate::screen::{Screen, Tab};
use crate::{ansi, draw};

const WAITS: Liveness = Liveness::WaitsForYou { since: Seconds(60) };
const LOST: Liveness = Liveness::OwnerLost {
    why: LostReason::ProcessGone,
};

fn picture(screen: &Screen) -> String {
    ansi::lines(&draw::picture(screen), Paint::Plain)
}

#[track_caller]
pub(super) fn check(screen: &Screen, expected: Expect) {
    let text = picture(screen);
    let columns = usize::from(screen.size.columns);
    for line in text.lines() {
        assert!(views::width(line) <= columns, "{line}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    // The edge keeps the spaces at the beginning of each line.
    let edged: String = text.lines().map(|line| format!("|{line}\n")).collect();
    expected.assert_eq(&edged);
}

/// A run that was sent back once, and whose second test passed.
fn completed() -> Played {
    let mut played = Played::begin("r-done");
    played.answer("yes");
    played.write();
    played.check(101, "error: \u{1b}[31mone test failed\n");
    played.write();
    played.check(0, "");
    played
}

/// A run that was sent back and is written again.
fn writing() -> Played {
    let mut played = Played::begin("r-work");
    played.answer("yes");
    played.write();
    played.check(101, "error: one test failed\n");
    played
}

#[test]
fn the_usual_size_shows_the_inbox_the_runs_and_the_first_run() {
    let (asking, done) = (Played::begin("r-asks"), completed());
    let now = minutes(30);
    let screen = screen(80, 24, &[(&asking, WAITS), (&done, Liveness::Over)], now);
    check(
        &screen,
        expect![[r#"
            | gatewright  ? 1 run waits for you
            | INBOX  1, oldest first
            |▌ ? Shall the note be written?                                               30m
            |▌   r-asks · notes · approving · parser
            |
            | RUNS  2  █?
            |  ? r-asks waits for you   approving notes  30m Write a note about the parser
            |  ✓ r-done completed       complete  notes  10m Write a note about the parser
            |
            |────────────────────────────────────────────────────────────────────────────────
            | r-asks · notes · ? waits for you · /home/ann/parser
            | Write a note about the parser
            | 1 overview  2 journal  3 output  4 gates  5 artifacts  6 changes
            | ? Shall the note be written?
            |   press a to answer: no · yes
            |
            | STAGES
            | ● approving ask     ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
            | ○ writing   agent
            | ○ testing   check
            | ○ complete  end
            |
            | USED
            | Enter answer  ↑↓ move  → run  ? help  q quit  / filter  : command
        "#]],
    );
}

#[test]
fn a_wide_screen_shows_the_list_beside_the_run() {
    let (work, done) = (writing(), completed());
    let screen = screen(
        120,
        40,
        &[(&work, LOST), (&done, Liveness::Over)],
        minutes(30),
    );
    check(
        &screen,
        expect![[r#"
            | gatewright  nothing waits for you · ✗ 1 lost
            | INBOX                                          │ r-work · notes · ✗ owner lost · /home/ann/parser
            |  nothing waits for you                         │ Write a note about the parser
            |                                                │ 1 overview  2 journal  3 output  4 gates  5 artifacts  6 changes
            | RUNS  2  █●                                    │ the process that worked on it is gone; type `gatewright resume
            |▌ ✗ r-work owner lost      writing  notes  18m  │   r-work`
            |  ✓ r-done completed       complete notes  10m  │
            |                                                │ STAGES
            |                                                │ ✓ approving ask                     ░░░░░
            |                                                │ ● writing   agent  ×2                   ····█   ·····················
            |                                                │ ○ testing   check  fixes 1/3 failed         ····✗
            |                                                │ ○ complete  end
            |                                                │
            |                                                │ REFUSALS AND REMARKS
            |                                                │ #2 person GW-R60: approving was answered: yes
            |                                                │ Enter on one explains it
            |                                                │
            |                                                │ USED
            |                                                │ 9 entries
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            |                                                │
            | ↑↓ move  Enter run  ? help  q quit  / filter  : command
        "#]],
    );
}

#[test]
fn forty_columns_are_readable() {
    let asking = Played::begin("r-asks");
    let mut screen = screen(40, 20, &[(&asking, WAITS)], minutes(30));
    check(
        &screen,
        expect![[r#"
            | gatewright  ? 1 run waits for you
            | INBOX  1, oldest first
            |▌ ? Shall the note be written?       30m
            |▌   r-asks · notes · approving · parser
            |
            | RUNS  1
            |  ? r-asks approving notes  30m Write a…
            |
            |
            |
            |
            |
            |
            |
            |
            |
            |
            |
            |
            | Enter answer  ↑↓ move  → run  ? help
        "#]],
    );
    screen.update(Event::Key(Key::Char('a')));
    check(
        &screen,
        expect![[r#"
            | gatewright  ? 1 run waits for you
            | r-asks · notes · ? waits for you · /h…
            | Write a note about the parser
            | 1 overview  2  3  4  5  6
            | ANSWER
            | Shall the note be written?
            |
            |   1 no
            |   2 yes
            |
            | type a choice or its number, and a
            | note after it if you like; Enter sends
            | it
            | Esc, then 5 shows the artifacts and 4
            | the gates
            |
            |
            |
            | answer r-asks: ▏
            | Enter send  Esc leave  Ctrl-U clear
        "#]],
    );
}

#[test]
fn gates_show_commands_exit_codes_and_the_end_of_their_output() {
    let work = writing();
    let mut screen = screen(80, 16, &[(&work, LOST)], minutes(30));
    screen.update(Event::Key(Key::Char('4')));
    check(
        &screen,
        expect![[r#"
            | gatewright  nothing waits for you · ✗ 1 lost
            | r-work · notes · ✗ owner lost · /home/ann/parser
            | Write a note about the parser
            | 1 overview  2 journal  3 output  4 gates  5 artifacts  6 changes
            |▸✗ testing check failed · on 77777777 · 18m ago
            |   $ cargo test · exit 101 · 3.4 s
            |     error: one test failed
            |
            |
            |
            |
            |
            |
            |
            |
            | Esc list  ↑↓ move  ←→ tab  ? help  Enter open  a answer  / filter  q quit
        "#]],
    );
}

#[test]
fn the_last_tool_and_words_of_a_worker_are_shown() {
    let live = Liveness::Live {
        last_sign: Seconds(1),
    };
    let mut work = Played::driven("r-work", Driver::Headless);
    work.answer("yes");
    work.request();
    let now = minutes(30);
    let mut screen = screen(80, 24, &[(&work, live)], now);
    let mut facts = work.facts(live, now);
    assert_eq!(facts.status.dispatches.len(), 1);
    let signs = vec![sign(minutes(28))];
    let status = facts.status;
    facts.status = status.with_workers(&work.pipeline, &work.run, signs, now);
    screen.update(Event::Run(Box::new(facts)));
    let text = picture(&screen);
    for part in [
        "d1 'writer' in writing",
        "src/parser.rs (2m ago)",
        "I add the flag",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn the_help_fits_the_usual_size() {
    let asking = Played::begin("r-asks");
    let mut screen = screen(80, 24, &[(&asking, WAITS)], minutes(30));
    screen.update(Event::Key(Key::Char('?')));
    check(
        &screen,
        expect![[r#"
            | gatewright  ? 1 run waits for you
            | KEYS
            |   ↑ ↓ j k                 move; PgUp PgDn g G move further
            |   → ← l h                 into the run, from tab to tab, and back; Tab, too
            |   1 … 6                   overview, journal, output, gates, artifacts, changes
            |   Enter                   open: the run, a reason, an artifact, a diff
            |   a                       answer the question of the selected run
            |   f                       follow the journal or the output, until you move
            |   [ ]                     the output of the worker before or after
            |   /                       filter the list or the run; search in a text
            |   n N                     the next or the previous line with what you search
            |   w < >                   wrap long lines or not; scroll them sideways
            |   Esc q                   back; leave, and the runs continue
            | COMMANDS, behind :
            |   :answer CHOICE [WORDS]  answer; --with-edits takes your changes of artifacts
            |   :retry                  retry the failed work of the run
            |   :cancel REASON          cancel the run; asks for its id
            |   :diff [STAGE|d3]        what the run, a stage or a piece of work changed
            |   :resume                 shows what to type in a shell
            |   :why ENTRY              explain an entry of the journal
            |   :quit                   leave
            | ● live, here  ◌ quiet  ✗ lost, failed  ? waits  ○ queued, ahead  ✓ done
            | █▓ attempts  ░ waits for you  · nobody at work  ✓✗ checks  ▁▇ runs by time
            | any key back
        "#]],
    );
}

#[test]
fn no_size_and_no_text_breaks_it() {
    let played = [Played::begin("r-asks"), writing(), completed()];
    let runs = [
        (&played[0], WAITS),
        (&played[1], LOST),
        (&played[2], Liveness::Over),
    ];
    for (columns, rows) in [
        (1, 1),
        (10, 3),
        (12, 4),
        (39, 9),
        (80, 24),
        (109, 200),
        (1_000, 3),
    ] {
        for tab in Tab::ALL {
            let mut screen = screen(80, 24, &runs, minutes(30));
            screen.update(Event::Resized(Size { columns, rows }));
            for (place, known) in Tab::ALL.into_iter().enumerate() {
                if known == tab {
                    let digit = char::from(b'1' + u8::try_from(place).unwrap());
                    screen.update(Event::Key(Key::Char(digit)));
                }
            }
            let text = picture(&screen);
            let widest = text.lines().map(views::width).max();
            assert!(
                widest <= Some(usize::from(columns)),
                "{columns} {rows}\n{text}"
            );
            assert!(!text.contains('\u{1b}'), "{text}");
        }
    }
}

#[test]
fn output_of_any_kind_stays_text() {
    let work = writing();
    let mut screen = screen(60, 20, &[(&work, LOST)], minutes(30));
    screen.update(Event::Key(Key::Char('3')));
    let mut facts = work.facts(LOST, minutes(30));
    facts.workers = vec![WorkerName {
        dispatch: DispatchId(1),
        agent: "writer".to_owned(),
    }];
    let lines = [
        "\u{1b}]0;title\u{7}\u{1b}[2Jred",
        "\u{202e}backwards",
        &"x".repeat(5_000_000),
    ];
    facts.output = Some(WorkerText {
        dispatch: DispatchId(1),
        lines: lines.iter().map(|line| Untrusted::new(*line)).collect(),
        dropped: 7,
    });
    screen.update(Event::Run(Box::new(facts)));
    let document = screen.document();
    let pieces = document.iter().flat_map(|line| &line.pieces);
    for piece in pieces {
        assert!(!piece.text.contains(views::is_forbidden), "{piece:?}");
        assert!(views::width(&piece.text) <= 60, "{piece:?}");
    }
    assert!(document.len() < 100);
}

#[test]
fn the_same_facts_and_a_later_second_change_nothing() {
    let work = writing();
    let now = engine::Time(minutes(12).0 + 2_000);
    let mut screen = screen(100, 30, &[(&work, LOST)], now);
    let before = draw::picture(&screen);
    screen.update(Event::Clock(engine::Time(now.0 + 50_000)));
    screen.update(Event::Run(Box::new(
        work.facts(LOST, engine::Time(now.0 + 50_000)),
    )));
    let after = draw::picture(&screen);
    assert_eq!(ansi::changes(&before, &after, Paint::Ansi), "");
}
