//! Long texts: scrolled sideways, wrapped or not, and searched; the changes of a run, and runs under their repositories.

use engine::{AgentName, DispatchId, Seconds, StageName, Status};
use expect_test::expect;
use runtime::answers::Edits;
use runtime::person_act::{PersonAct, PersonWish};
use views::change::ChangeStat;
use views::facts::{Liveness, LostReason};
use views::list::RunRow;
use views::{Style, Untrusted};

use super::acting::{asking_stage, press};
use super::pictures::check;
use super::played::{Played, minutes, run_id, screen};
use crate::event::{
    ChangeExtent, ChangeRow, Effect, Event, OpenText, RunsFacts, TextTarget, WorkerName,
    WorkerText, Wrapping,
};
use crate::screen::Screen;

const LOST: Liveness = Liveness::OwnerLost {
    why: LostReason::ProcessGone,
};

fn work() -> Played {
    let mut played = Played::begin("r-work");
    played.answer("yes");
    played
}

/// A screen that shows this output.
fn shows(lines: &[&str]) -> Screen {
    let played = work();
    let mut screen = screen(40, 14, &[(&played, LOST)], minutes(30));
    press(&mut screen, "3");
    let mut facts = played.facts(LOST, minutes(30));
    facts.workers = vec![WorkerName {
        dispatch: DispatchId(1),
        agent: "writer".to_owned(),
    }];
    facts.output = Some(WorkerText {
        dispatch: DispatchId(1),
        lines: lines.iter().map(|line| Untrusted::new(*line)).collect(),
        dropped: 0,
    });
    screen.update(Event::Run(Box::new(facts)));
    screen
}

/// The text of the line with the cursor.
fn at_cursor(screen: &Screen) -> String {
    let document = screen.document();
    let cursor = screen.pager().map_or(screen.cursor, |pager| pager.cursor);
    let pieces = document[cursor].pieces.iter();
    pieces.map(|piece| piece.text.as_str()).collect()
}

#[test]
fn output_is_searched_forwards_backwards_and_around() {
    let mut screen = shows(&["one Error", "two", "three error", "four", "five ERROR"]);
    press(&mut screen, "g/error⏎");
    assert_eq!(at_cursor(&screen), "one Error");
    press(&mut screen, "n");
    assert_eq!(at_cursor(&screen), "three error");
    press(&mut screen, "nn");
    assert_eq!(at_cursor(&screen), "one Error");
    press(&mut screen, "N");
    assert_eq!(at_cursor(&screen), "five ERROR");
    // Nothing is hidden by a search, and the screen says what it did not find.
    assert_eq!(screen.document().len(), 5);
    press(&mut screen, "/six⏎");
    assert!(screen.told.is_some());
    assert_eq!(at_cursor(&screen), "five ERROR");
    press(&mut screen, "⎋");
    assert_eq!(screen.output_view.wanted, "");
}

#[test]
fn a_match_that_two_wrapped_lines_share_is_found() {
    let long = format!("{} needle point", "x".repeat(26));
    let mut screen = shows(&["nothing", &long]);
    assert_eq!(screen.document().len(), 3);
    press(&mut screen, "g/needle point⏎");
    assert!(
        at_cursor(&screen).starts_with("xxx"),
        "{}",
        at_cursor(&screen)
    );
}

#[test]
fn long_lines_are_wrapped_or_scrolled_sideways() {
    let long: String = ('a'..='z').cycle().take(200).collect();
    let mut screen = shows(&["short", &long]);
    assert!(screen.document().len() > 4);
    press(&mut screen, "w");
    assert_eq!(screen.document().len(), 2);
    press(&mut screen, ">>G");
    assert_eq!(screen.output_view.shift, 32);
    assert!(
        at_cursor(&screen).starts_with("ghij"),
        "{}",
        at_cursor(&screen)
    );
    press(&mut screen, &">".repeat(100));
    assert_eq!(screen.output_view.shift, 199);
    assert_eq!(at_cursor(&screen), "r");
    press(&mut screen, &"<".repeat(100));
    assert_eq!(screen.output_view.shift, 0);
    // A search scrolls to what it found.
    press(&mut screen, "g/xyzabc⏎nnnn");
    assert!(at_cursor(&screen).contains("xyzabc"));
    press(&mut screen, "w");
    assert_eq!(screen.output_view.wrapping, Wrapping::On);
    assert!(screen.document().len() > 4);
}

#[test]
fn an_open_diff_is_not_wrapped_and_is_searched() {
    let mut screen = shows(&[]);
    let long = format!("+let it = {};", "wide".repeat(20));
    screen.update(Event::Opened(OpenText {
        title: "diff r-work d1".to_owned(),
        lines: vec![
            (
                Style::Strong,
                "d1 'writer' in writing, attempt 1: 1 file changed".to_owned(),
            ),
            (Style::Dim, "@@ -1 +1 @@".to_owned()),
            (Style::Bad, "-let it = 1;".to_owned()),
            (Style::Good, long),
        ],
        wrapping: Wrapping::Off,
    }));
    check(
        &screen,
        expect![[r#"
            | gatewright  · ✗ 1 lost
            | diff r-work d1
            | 4 lines · not wrapped
            |
            | d1 'writer' in writing, attempt 1: 1…
            | @@ -1 +1 @@
            | -let it = 1;
            | +let it = widewidewidewidewidewidewid…
            |
            |
            |
            |
            |
            | Esc back  ↑↓ scroll  ←→ sideways
        "#]],
    );
    press(&mut screen, "/+let⏎");
    assert!(at_cursor(&screen).starts_with("+let"));
    press(&mut screen, "→");
    check(
        &screen,
        expect![[r#"
            | gatewright  · ✗ 1 lost
            | diff r-work d1
            | 4 lines · /+let · from column 17
            |
            | riting, attempt 1: 1 file changed
            |
            |
            | dewidewidewidewidewidewidewidewidewid…
            |
            |
            |
            |
            |
            | Esc back  ↑↓ scroll  ←→ sideways
        "#]],
    );
    press(&mut screen, "⎋");
    assert!(screen.pager().is_none());
}

fn change(number: u32, extent: ChangeExtent) -> ChangeRow {
    ChangeRow {
        dispatch: DispatchId(number),
        agent: AgentName::parse("writer").unwrap(),
        stage: StageName::parse("writing").unwrap(),
        attempt: number,
        extent,
    }
}

#[test]
fn each_piece_of_work_opens_its_own_diff() {
    let mut screen = shows(&[]);
    let mut facts = work().facts(LOST, minutes(30));
    let stat = ChangeStat {
        files: 2,
        added: 12,
        removed: 3,
    };
    facts.changes = vec![
        change(1, ChangeExtent::Known(stat)),
        change(2, ChangeExtent::Unknown),
        change(3, ChangeExtent::Open),
    ];
    assert_eq!(press(&mut screen, "6"), [Effect::Read]);
    screen.update(Event::Run(Box::new(facts)));
    check(
        &screen,
        expect![[r#"
            | gatewright  · ✗ 1 lost
            | r-work · notes · ✗ owner lost · /home…
            | Write a note about the parser
            | 1  2  3  4  5  6 changes
            |▸the whole run, since it began
            | writing  d1  2 files, +12 -3
            | writing  d2  not kept
            | writing  d3  at work
            | Enter on one shows its diff
            |
            |
            |
            |
            | Esc list  ↑↓ move  ←→ tab  ? help
        "#]],
    );
    let run = run_id("r-work");
    let whole = TextTarget::Change { run: run.clone() };
    assert_eq!(press(&mut screen, "⏎"), [Effect::Open(whole.clone())]);
    let of = "d1".to_owned();
    let first = TextTarget::WorkChange {
        run: run.clone(),
        of,
    };
    assert_eq!(press(&mut screen, "↓⏎"), [Effect::Open(first)]);
    assert_eq!(press(&mut screen, ":diff⏎"), [Effect::Open(whole)]);
    let of = "writing".to_owned();
    let stage = TextTarget::WorkChange { run, of };
    assert_eq!(press(&mut screen, ":diff writing⏎"), [Effect::Open(stage)]);
}

#[test]
fn an_answer_takes_edits_only_where_the_person_says_so() {
    let waits = Liveness::WaitsForYou { since: Seconds(60) };
    let asking = Played::begin("r-asks");
    for (keys, words, edits) in [
        (":answer yes --with-edits⏎", None, Edits::Taken),
        (":answer --with-edits yes⏎", None, Edits::Taken),
        (
            "ayes as I wrote it --with-edits⏎",
            Some("as I wrote it"),
            Edits::Taken,
        ),
        (
            "ayes not --with-edits today⏎",
            Some("not --with-edits today"),
            Edits::NotMentioned,
        ),
        ("ayes⏎", None, Edits::NotMentioned),
    ] {
        let mut screen = screen(80, 24, &[(&asking, waits)], minutes(9));
        let what = PersonWish::Choose {
            stage: asking_stage(),
            choice: "yes".to_owned(),
            text: words.map(str::to_owned),
            edits,
        };
        let run = run_id("r-asks");
        assert_eq!(
            press(&mut screen, keys),
            [Effect::Act(PersonAct { run, what })],
            "{keys}"
        );
    }
}

/// A run that is over, of this worktree and repository.
fn over(id: &str, status: Status, place: [&str; 2], minute: u64) -> RunRow {
    let mut done = Played::begin(id);
    done.answer("no");
    let [worktree, repository] = place;
    RunRow {
        run: run_id(id),
        status,
        project: Untrusted::new(worktree),
        started_at: minutes(minute),
        touched_at: minutes(minute * 2),
        ..done.row(Liveness::Over, minutes(30))
    }
    .with_repository(&format!("{repository}/.git"))
}

#[test]
fn worktrees_stand_under_their_repository_with_bars_of_the_latest_runs() {
    let now = minutes(30);
    let (parser, tools) = ("/home/ann/parser", "/home/ann/tools");
    let lost = work();
    let mut screen = screen(100, 20, &[(&lost, LOST)], now);
    let rows = vec![
        over("r-tools", Status::Completed, [tools, tools], 9),
        lost.row(LOST, now).with_repository("/home/ann/parser/.git"),
        over("r-four", Status::Completed, ["/home/ann/fix-42", parser], 8),
        over("r-three", Status::Failed, [parser, parser], 6),
        over("r-two", Status::Completed, [parser, parser], 2),
        over("r-one", Status::Cancelled, [parser, parser], 1),
    ];
    screen.update(Event::Runs(RunsFacts {
        rows,
        ..RunsFacts::default()
    }));
    check(
        &screen,
        expect![[r#"
        | gatewright  nothing waits for you · ✗ 1 lost
        | INBOX
        |  nothing waits for you
        |
        | RUNS  6
        | parser  /home/ann/parser  ●·▂✗█
        |▌ ✗ r-work  owner lost      writing notes         26m Write a note about the parser
        |  ✓ r-four  completed       dropped notes fix-42  14m Write a note about the parser
        |  ✗ r-three failed          dropped notes         18m Write a note about the parser
        |  ✓ r-two   completed       dropped notes         26m Write a note about the parser
        |  · r-one   cancelled       dropped notes         28m Write a note about the parser
        | tools  /home/ann/tools
        |  ✓ r-tools completed       dropped notes         12m Write a note about the parser
        |
        |
        |
        |
        |
        |
        | ↑↓ move  Enter run  ? help  q quit  / filter  : command
    "#]],
    );
    // The cursor passes over the titles.
    let mut seen = vec![screen.selected_run().cloned()];
    for _ in 0..5 {
        press(&mut screen, "↓");
        seen.push(screen.selected_run().cloned());
    }
    let expected = ["r-work", "r-four", "r-three", "r-two", "r-one", "r-tools"];
    assert_eq!(seen, expected.map(|id| Some(run_id(id))));
}

#[test]
fn a_hundred_thousand_entries_are_shown_from_any_place() {
    let mut played = work();
    played.refused_often(100_000);
    let mut screen = screen(80, 24, &[(&played, LOST)], minutes(30));
    let all = screen.run.as_ref().unwrap().entries.lines.len() as u64;
    assert!(all > 100_000);
    press(&mut screen, "2");
    let run = run_id("r-work");
    let target = TextTarget::Why { run, entry: all };
    assert_eq!(press(&mut screen, "G⏎"), [Effect::Open(target)]);
    // What must not be overlooked stays a page, not a hundred thousand lines.
    press(&mut screen, "1");
    assert!(screen.document().len() < 100, "{}", screen.document().len());
}
