//! Mistakes in a scenario file: each has its place, its line underlined, and what to write instead.

use std::collections::BTreeMap;

use engine::HostName;
use views::Paint;

use super::super::file::File;
use super::super::report::Report;
use super::{Memory, SMALL, told, with_small};

/// The first line of a scenario on the small pipeline.
const FIRST: usize = 51;

/// Each row is a scenario with one mistake.
fn check_all(table: &str) {
    for row in table.lines().filter(|row| !row.is_empty()) {
        let cells: Vec<&str> = row.split(" | ").map(str::trim_end).collect();
        let [scenario, place, code, message, hint] = cells[..] else {
            panic!("no row: {row}");
        };
        check(&scenario.replace('⏎', "\n"), place, code, message, hint);
    }
}

fn check(scenario: &str, place: &str, code: &str, message: &str, hint: &str) {
    let (line, column) = place.split_once(':').unwrap();
    let line = FIRST - 1 + line.parse::<usize>().unwrap();
    let told = told(scenario);
    let head = format!("error[{code}]: {message}\n  --> story.md:{line}:{column}\n");
    assert!(told.starts_with(&head), "{scenario}\n{told}");
    let help = format!("= help: {hint}\n");
    assert!(told.contains(&help), "{scenario}\n{told}");
    let sum = "\n0 passed, 0 failed, 1 mistake\n";
    assert!(told.ends_with(sum), "{scenario}\n{told}");
}

/// What is said about a whole file.
fn said(text: &str) -> String {
    let folder = Memory(BTreeMap::from([
        ("wrong.toml", "name = 3\n"),
        ("small.toml", SMALL),
    ]));
    let file = File {
        name: "file.md".to_owned(),
        text: text.into(),
    };
    let mut report = Report::new(HostName::listed("claude"));
    report.add(&file, &folder);
    report.mistakes(Paint::Plain)
}

#[test]
fn a_mistake_is_shown_in_its_line() {
    let expected = "\
error[GW-S04]: `wrter` is not an agent of this pipeline
  --> story.md:52:1
   |
52 | wrter works ready
   | ^^^^^
   = help: did you mean `writer`? (a stranger is written in quotes)

0 passed, 0 failed, 1 mistake
";
    assert_eq!(told("start\nwrter works ready"), expected);
    let text = with_small("").text;
    assert_eq!(
        text.lines().position(|line| line == "```scenario"),
        Some(FIRST - 2)
    );
}

/// Scenario (its lines cut by `⏎`), place, code, message, hint.
const MISSPELT_STEPS: &str = "
strat                         | 1:1  | GW-S03 | `strat` is not the beginning of a step | did you mean `start`?
start⏎writer wroks            | 2:8  | GW-S03 | `wroks` is not something that an agent does | did you mean `works`?
start⏎writer works redy       | 2:14 | GW-S04 | `redy` is not an outcome | did you mean `ready`?
start⏎answer contine          | 2:8  | GW-S04 | `contine` is not a choice of a question here | did you mean `continue`?
start⏎writer leaves a text    | 2:15 | GW-S03 | `a` is not something that can be left | there are: `nothing`, `an old`, `an invalid`, `no`
start⏎writer leaves no texts  | 2:18 | GW-S04 | `texts` is not an artifact of this pipeline | did you mean `text`?
start⏎check of lok passes     | 2:10 | GW-S04 | `lok` is not a stage of this pipeline | did you mean `look`?
start⏎check pases             | 2:7  | GW-S03 | `pases` is not the end of a check | did you mean `passes`?
start limt=3                  | 1:7  | GW-S04 | `limt` is not a parameter of this pipeline | did you mean `limit`?
given stp s1                  | 1:7  | GW-S03 | `stp` is not `step`, `question` or `old` | did you mean `step`?
start⏎step s1 begins          | 2:6  | GW-S04 | `s1` is not a step that was given | there is none here
start⏎writer works using 3 turn | 2:22 | GW-S03 | `turn` is not a unit | did you mean `turns`?
start⏎in session - stop       | 2:12 | GW-S05 | `-`: a name must begin with a letter or a digit, not with '-' | write it another way
";

const MISSPELT_EXPECTATIONS: &str = "
start⏎  stage wirte           | 2:9  | GW-S04 | `wirte` is not a stage of this pipeline | did you mean `write`?
start⏎  statu running         | 2:3  | GW-S03 | `statu` is not something that can be expected | did you mean `status`?
start⏎  status runing         | 2:10 | GW-S03 | `runing` is not a status | did you mean `running`?
start⏎  rule GW-R9            | 2:8  | GW-S04 | `GW-R9` is not the code of a rule | did you mean `GW-R09`?
start⏎  reply refused         | 2:9  | GW-S03 | `refused` is not a reply | did you mean `refuse`?
start⏎  counter change 1      | 2:11 | GW-S04 | `change` is not a counter of this pipeline | did you mean `changes`?
start⏎  counter changes many  | 2:19 | GW-S05 | `many` is not a number | write it in digits, as `3`
start⏎  steps s1=ready        | 2:9  | GW-S03 | `ready` is not the state of a step | there are: `pending`, `working`, `done`, `failed`
start⏎  steps s1              | 2:9  | GW-S05 | `s1` is not `STEP=STATE` | write `STEP=STATE`
start⏎  allowed wrter         | 2:11 | GW-S04 | `wrter` is not an agent of this pipeline | did you mean `writer`? (a stranger is written in quotes)
start⏎  entries +x            | 2:11 | GW-S05 | `+x` is not a number | write it another way
";

const TOO_LITTLE_AND_TOO_MUCH: &str = "
start⏎wait                    | 2:5  | GW-S06 | a time is missing here | add a time
start⏎wait 5                  | 2:6  | GW-S05 | `5` is not a time | write `90s`, `30m`, `2h` or `7d`
start⏎writer                  | 2:7  | GW-S06 | something that an agent does is missing here | add something that an agent does
start⏎retry now               | 2:7  | GW-S06 | `now` has no meaning here | remove it, or put a `#` before it
start⏎writer says \"NOT       | 2:13 | GW-S06 | this quotation does not end | close it with `\"`
start⏎0 times writer begins   | 2:1  | GW-S05 | a step cannot happen 0 times | it happens 1 to 1000 times
start⏎answers yes             | 2:9  | GW-S05 | `yes` is not an answer as `q1=JWT` | write an answer as `q1=JWT`
";

const WRONG_PLACES: &str = "
  stage write⏎start           | 1:3  | GW-S07 | there is no step above this line | write a step in column one, and its expectations indented below it
writer begins                 | 1:1  | GW-S07 | the run has not been started | write `start` above it
start⏎start                   | 2:1  | GW-S07 | a scenario starts one run | write a second scenario
2 times start                 | 1:1  | GW-S07 | a scenario starts one run | write a second scenario
# nothing                     | 0:1  | GW-S07 | nothing happens in this scenario | start with `start`, then say what happens
start⏎tree changes⏎  reply allow | 3:3 | GW-S07 | there is no reply yet | put it below a step that gets a reply
";

#[test]
fn a_misspelt_step_has_a_hint() {
    check_all(MISSPELT_STEPS);
}

#[test]
fn a_misspelt_expectation_has_a_hint() {
    check_all(MISSPELT_EXPECTATIONS);
}

#[test]
fn a_line_says_all_and_no_more() {
    check_all(TOO_LITTLE_AND_TOO_MUCH);
}

#[test]
fn everything_has_its_place() {
    check_all(WRONG_PLACES);
}

#[test]
fn several_mistakes_are_told_at_once() {
    let told = told("start\nwrter begins\n  stage loook\nretry now");
    assert_eq!(told.matches("error[GW-S0").count(), 3, "{told}");
    assert!(told.ends_with("0 passed, 0 failed, 3 mistakes\n"), "{told}");
}

#[test]
fn nobody_is_shown_a_thousand_mistakes() {
    let told = told(&"wrong\n".repeat(1_000));
    assert_eq!(told.matches("error[GW-S03]").count(), 100);
    assert!(
        told.ends_with("… 900 more mistakes: fix these first\n0 passed, 0 failed, 1000 mistakes\n")
    );
}

#[test]
fn a_file_needs_a_pipeline_and_a_scenario() {
    for (text, head, hint) in [
        (
            "# Nothing\n",
            "error[GW-S01]: there is no scenario in this file\n --> file.md:1:1\n",
            "write one in a block that opens with ```scenario",
        ),
        (
            "```scenario\nstart\n```\n",
            "error[GW-S01]: there is no pipeline above this scenario\n --> file.md:1:1\n",
            "name one in a block that opens with ```pipeline",
        ),
        (
            "```pipeline\nansibel\n```\n",
            "error[GW-S02]: unknown pipeline `ansibel` (there is no file ansibel)\n --> file.md:2:1\n",
            "did you mean `ansible`?",
        ),
        (
            "```scenario\nstart\n",
            "error[GW-S01]: this block is never closed\n --> file.md:1:1\n",
            "close it with a line ```",
        ),
    ] {
        let said = said(text);
        assert!(said.starts_with(head), "{said}");
        assert!(said.contains(&format!("= help: {hint}\n")), "{said}");
    }
    assert_eq!(
        said("```pipeline\nsmall.toml\n```\n```scenario\nstart\n```\n"),
        ""
    );
}

/// A definition in a file is shown in that file, one in a block is shown in the block.
#[test]
fn what_is_wrong_with_a_pipeline_is_shown_where_it_is_written() {
    let in_file = said("```pipeline\nwrong.toml\n```\n```scenario\nstart\n```\n");
    assert!(in_file.contains(" --> wrong.toml:1:8\n"), "{in_file}");
    let in_block = said("text\n\n```pipeline\nname = \"x\"\nabuot = \"y\"\n```\n");
    assert!(in_block.contains(" --> file.md:5:1\n"), "{in_block}");
    assert!(in_block.contains("5 | abuot = \"y\"\n"), "{in_block}");
}

#[test]
fn a_failure_shows_the_step_and_the_history() {
    let expected = "\
FAIL  A story (story.md:50)
    error[GW-S11]: expected stage end
      --> story.md:53:3
       |
    53 |   stage end
       |   ^^^^^^^^^
       = help: found stage look
    after: writer works ready
       1 GW-R01 the run started at write (guarded by hooks): play a scenario
       2 GW-R10 'writer' (d1) was admitted to write, attempt 1
       3 GW-R32 captured text as 63010000, written by 'writer' (d1)
       4 GW-R32 'writer' (d1) ended: ready
       5 GW-R96 write → look: ready
0 passed, 1 failed
";
    assert_eq!(told("start\nwriter works ready\n  stage end"), expected);
    let long = told("start\n30 times stop with background work\n20 times \"x\" ends\n  stage end");
    assert!(
        long.contains("    … 9 earlier entries\n      10 GW-R30"),
        "{long}"
    );
}

/// Nothing of a file can steer a terminal.
#[test]
fn a_hostile_file_is_harmless() {
    let told = told("start\n\u{1b}]0;title\u{7} works\n  stage \u{202e}write");
    assert!(!told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{told:?}");
}
