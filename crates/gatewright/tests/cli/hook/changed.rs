//! The change of a guarded run: the whole of it since its recorded start, else since the last commit, and by piece of
//! work only why it is not known.

use serde_json::Value;

use super::handing::{STORY, written_in};
use super::routed::ROUTED;
use super::seat::Seat;

fn diff(seat: &Seat, words: &[&str]) -> Value {
    let status = seat.project.run(["status", "--json"]).succeeds().stdout;
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let run = status["run"].as_str().expect("a run");
    let words = [&["diff", run][..], words, &["--json"]].concat();
    let shown = seat.project.run(words).succeeds().stdout;
    serde_json::from_str(&shown).expect("JSON")
}

#[test]
fn a_guarded_run_shows_its_change_since_the_start_where_that_is_recorded() {
    let seat = Seat::enrolled_in("routed", ROUTED);
    seat.project.write("small.txt", "one line\n");
    let whole = diff(&seat, &[]);
    assert_eq!(whole["since"], "start", "{whole}");
    assert_eq!(whole["files"][0]["path"], "small.txt", "{whole}");
    assert_eq!(whole["all"], 1, "{whole}");
}

#[test]
fn a_guarded_run_says_why_the_change_of_a_piece_of_work_is_not_known() {
    let seat = written_in(STORY, "a draft\n");
    assert_eq!(diff(&seat, &[])["since"], "last_commit");
    for wanted in ["working", "d1"] {
        let piece = diff(&seat, &[wanted]);
        let work = piece["work"].as_array().expect("work");
        assert_eq!(work.len(), 1, "{piece}");
        assert_eq!(work[0]["diff"], Value::Null);
        let why = work[0]["unknown"].as_str().expect("a reason");
        assert!(why.contains("`gatewright diff r-"), "{why}");
    }
}
