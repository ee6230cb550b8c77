//! What keys, clicks and commands ask of the shell.

use engine::{Question, Seconds, StageName};
use runtime::answers::Edits;
use runtime::person_act::{PersonAct, PersonWish};
use views::Paint;
use views::facts::Liveness;
use views::list::RunRow;

use super::played::{Played, minutes, run_id, screen};
use crate::event::{Effect, Event, Key, Spot, TextTarget, Turning};
use crate::screen::{Focus, Mode, Screen, Tab};
use crate::{ansi, draw};

const WAITS: Liveness = Liveness::WaitsForYou { since: Seconds(60) };

fn two() -> Screen {
    let asking = Played::begin("r-asks");
    let mut done = Played::begin("r-done");
    done.answer("no");
    screen(
        80,
        24,
        &[(&asking, WAITS), (&done, Liveness::Over)],
        minutes(9),
    )
}

/// Presses these keys; `⏎` is Enter, `⎋` is Escape, `↓` and `→` are the arrows.
pub(super) fn press(screen: &mut Screen, keys: &str) -> Vec<Effect> {
    let keys = keys.chars().map(|letter| match letter {
        '⏎' => Key::Enter,
        '⎋' => Key::Escape,
        '↓' => Key::Down,
        '→' => Key::Right,
        '⌫' => Key::Backspace,
        other => Key::Char(other),
    });
    keys.flat_map(|key| screen.update(Event::Key(key)))
        .collect()
}

/// The stage that the run asks in.
pub(super) fn asking_stage() -> StageName {
    let asking = Played::begin("r-asks").facts(WAITS, minutes(9));
    asking.status.stage.name
}

fn chosen(choice: &str, words: Option<&str>) -> Effect {
    Effect::Act(PersonAct {
        run: run_id("r-asks"),
        what: PersonWish::Choose {
            stage: asking_stage(),
            choice: choice.to_owned(),
            text: words.map(str::to_owned),
            edits: Edits::NotMentioned,
        },
    })
}

#[test]
fn a_question_is_answered_by_a_word_a_number_or_a_command() {
    for (keys, expected) in [
        ("⏎yes⏎", vec![chosen("yes", None)]),
        ("ano thank you⏎", vec![chosen("no", Some("thank you"))]),
        ("a2⏎", vec![chosen("yes", None)]),
        (":answer yes go on⏎", vec![chosen("yes", Some("go on"))]),
        ("aye⌫es⏎", vec![chosen("yes", None)]),
        ("ayes⎋", vec![]),
        ("a⏎", vec![]),
    ] {
        assert_eq!(press(&mut two(), keys), expected, "{keys}");
    }
}

#[test]
fn a_run_that_asks_nothing_is_not_answered() {
    let mut screen = two();
    press(&mut screen, "↓↓");
    assert_eq!(screen.selected_run(), Some(&run_id("r-done")));
    assert_eq!(press(&mut screen, "a"), vec![]);
    assert_eq!(screen.mode, Mode::Normal);
}

#[test]
fn a_cancellation_needs_a_reason_and_the_id() {
    assert_eq!(press(&mut two(), ":cancel⏎"), vec![]);
    assert_eq!(press(&mut two(), ":cancel late⏎y⏎"), vec![]);
    assert_eq!(press(&mut two(), ":cancel late⏎⎋"), vec![]);
    let what = PersonWish::Cancel {
        reason: "late".to_owned(),
    };
    let run = run_id("r-asks");
    let expected = vec![Effect::Act(PersonAct { run, what })];
    assert_eq!(press(&mut two(), ":cancel late⏎r-asks⏎"), expected);
}

#[test]
fn other_commands_retry_explain_and_leave() {
    let run = run_id("r-asks");
    let retry = Effect::Act(PersonAct {
        run: run.clone(),
        what: PersonWish::Retry,
    });
    assert_eq!(press(&mut two(), ":retry⏎"), vec![retry]);
    let why = Effect::Open(TextTarget::Why { run, entry: 1 });
    assert_eq!(press(&mut two(), ":why 1⏎"), vec![why]);
    assert_eq!(press(&mut two(), ":why x⏎"), vec![]);
    assert_eq!(press(&mut two(), ":rm -rf⏎"), vec![]);
    assert_eq!(press(&mut two(), "q"), vec![Effect::Quit]);
    let mut screen = two();
    assert_eq!(press(&mut screen, ":resume⏎"), vec![]);
    assert!(
        screen
            .told
            .unwrap()
            .text
            .contains("gatewright resume r-asks")
    );
}

#[test]
fn an_entry_of_the_journal_opens_its_reason() {
    let mut screen = two();
    press(&mut screen, "2");
    assert_eq!((screen.tab, screen.focus), (Tab::Journal, Focus::Run));
    let opened = press(&mut screen, "g⏎");
    let run = run_id("r-asks");
    assert_eq!(
        opened,
        vec![Effect::Open(TextTarget::Why { run, entry: 1 })]
    );
}

#[test]
fn only_a_key_follows_and_a_move_ends_it() {
    let mut screen = two();
    press(&mut screen, "2");
    assert!(!screen.follows);
    press(&mut screen, "f");
    assert!(screen.follows);
    press(&mut screen, "k");
    assert!(!screen.follows);
    press(&mut screen, "1f");
    assert!(!screen.follows);
}

#[test]
fn a_filter_keeps_what_matches_and_the_cursor_stays_on_a_run() {
    let mut screen = two();
    let effects = press(&mut screen, "/DONE⏎");
    assert_eq!(screen.listed().len(), 1);
    assert_eq!(effects, vec![]);
    press(&mut screen, "⎋");
    assert_eq!(screen.listed().len(), 2);
}

#[test]
fn a_click_selects_and_the_wheel_moves() {
    let mut screen = two();
    // Header, title of the inbox, two lines of the question, a blank line, the title of the runs, r-asks, r-done.
    let effects = screen.update(Event::Click(Spot { column: 5, row: 7 }));
    assert_eq!(screen.selected_run(), Some(&run_id("r-done")));
    assert_eq!(effects, vec![Effect::Read]);
    screen.update(Event::Wheel(Turning::Up));
    assert_eq!(screen.selected_run(), Some(&run_id("r-asks")));
}

#[test]
fn the_selection_survives_new_facts_in_another_order() {
    let mut screen = two();
    press(&mut screen, "↓↓");
    let mut runs = screen.runs.clone();
    runs.rows.reverse();
    screen.update(Event::Runs(runs));
    assert_eq!(screen.selected_run(), Some(&run_id("r-done")));
}

#[test]
fn trouble_keeps_what_was_read() {
    let mut screen = two();
    screen.update(Event::Trouble(Some("the store is gone".to_owned())));
    assert_eq!(screen.runs.rows.len(), 2);
    assert!(screen.trouble.is_some());
    screen.update(Event::Trouble(None));
    assert!(screen.trouble.is_none());
}

#[test]
fn the_questions_of_a_worker_are_answered_one_after_the_other() {
    let asking = Played::begin("r-asks");
    let mut facts = asking.facts(WAITS, minutes(9));
    let question = |id: &str, options: &[&str]| Question {
        id: id.to_owned(),
        text: format!("what about {id}?"),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        context: None,
    };
    if let Some(entry) = facts.status.inbox.as_mut() {
        entry.questions = vec![question("size", &["small", "large"]), question("name", &[])];
    }
    let mut screen = two();
    screen.update(Event::Run(Box::new(facts)));
    assert_eq!(press(&mut screen, "a2⏎"), vec![]);
    let given = [("size", "large"), ("name", "it's a note")];
    let given = given.map(|(id, text)| (id.to_owned(), text.to_owned()));
    let run = run_id("r-asks");
    let what = PersonWish::Answer {
        stage: asking_stage(),
        answers: given.to_vec(),
    };
    let expected = vec![Effect::Act(PersonAct { run, what })];
    assert_eq!(press(&mut screen, "it's a note⏎"), expected);
}

/// The number that a person types means a choice that they saw, so the act names the stage in which they saw it.
#[test]
fn an_answer_is_about_the_question_that_the_person_saw() {
    let asking = Played::begin("r-asks");
    let mut later = asking.facts(WAITS, minutes(9));
    later.status.stage.name = StageName::parse("another").unwrap();
    let mut screen = two();
    assert_eq!(press(&mut screen, "aye"), vec![]);
    screen.update(Event::Run(Box::new(later)));
    assert_eq!(press(&mut screen, "s⏎"), vec![chosen("yes", None)]);
}

#[test]
fn ten_thousand_runs_can_be_walked_and_filtered() {
    let mut screen = two();
    let mut runs = screen.runs.clone();
    let row = runs.rows[1].clone();
    runs.rows.extend((0..10_000).map(|number| RunRow {
        run: run_id(&format!("r-n{number}")),
        ..row.clone()
    }));
    screen.update(Event::Runs(runs));
    press(&mut screen, "G");
    assert_eq!(screen.selected_run(), Some(&run_id("r-n9999")));
    let text = ansi::lines(&draw::picture(&screen), Paint::Plain);
    assert!(text.contains("▌ · r-n9999"), "{text}");
    press(&mut screen, "/n123⏎");
    assert_eq!(screen.listed().len(), 11);
}
