//! The change of a guarded run: the whole of it since its recorded start, and by piece of work only why it is not known.

use serde_json::Value;

use super::handing::{STORY, written_in};
use super::seat::Seat;

fn diff(seat: &Seat, words: &[&str]) -> Value {
    let status = seat.project.run(["status", "--json"]).succeeds().stdout;
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let run = status["run"].as_str().expect("a run");
    let words = ["diff", run].iter().chain(words).chain(&["--json"]);
    let shown = seat.project.run(words).succeeds().stdout;
    serde_json::from_str(&shown).expect("JSON")
}

#[test]
fn a_guarded_run_shows_its_whole_change_and_says_why_not_by_piece() {
    // Somebody will look at the change, so the start is recorded.
    let judged = STORY.replace("reads       =", "writes      = []\nreads       =");
    let seat = written_in(&judged, "a draft\n");
    let whole = diff(&seat, &[]);
    assert_eq!(whole["since"], "start", "{whole}");
    let files = whole["files"].as_array().expect("files").iter();
    let paths: Vec<&Value> = files.map(|file| &file["path"]).collect();
    assert!(paths.contains(&&Value::from("draft.md")), "{whole}");
    for wanted in ["working", "d1"] {
        let piece = diff(&seat, &[wanted]);
        let work = piece["work"].as_array().expect("work");
        assert_eq!(work.len(), 1, "{piece}");
        assert_eq!(work[0]["diff"], Value::Null);
        let why = work[0]["unknown"].as_str().expect("a reason");
        assert!(why.contains("`gatewright diff r-"), "{why}");
    }
}
