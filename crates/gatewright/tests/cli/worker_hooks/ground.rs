//! A step in a folder of its own: what it touches is judged from there.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::fixture::{Seat, Work, is_refused, passes};
use super::hosts::Host;

const WAVES: &str = r#"
name  = "waves"
about = "Steps at once."
start = "building"

[artifacts.report]
path   = "out/{step}.md"
format = "text"

[stages.building]
steps = [
    { id = "a", title = "first", agent = "builder" },
    { id = "b", title = "second", agent = "builder" },
]
leaves    = ["report"]
on.done   = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// A worker of step a, in a worktree of its own inside our state folder, beside that of step b.
fn apart(host: Host) -> (Seat, PathBuf) {
    let work = Work {
        pipeline: WAVES,
        agent: "builder",
        step: Some("a"),
        runner: host.word(),
    };
    let seat = Seat::at(&work);
    let trees = seat.project.state().join("worktrees/r-1");
    fs::create_dir_all(trees.join("b")).unwrap();
    let own = trees.join("a");
    let own = own.to_str().unwrap();
    seat.project
        .git(["worktree", "add", "--quiet", "--detach", own]);
    seat.record(&json!({"workplace": own}), &work);
    (seat, PathBuf::from(own))
}

fn from(folder: &std::path::Path, mut payload: Value) -> Value {
    payload["cwd"] = json!(folder);
    payload
}

#[test]
fn what_a_step_touches_is_judged_from_its_own_folder() {
    for host in Host::ALL {
        let (seat, own) = apart(host);
        let project = seat.project.path();
        let main = |path: &str| project.join(path).to_str().unwrap().to_owned();
        for (path, rule) in [
            ("src/main.rs".to_owned(), None),
            ("out/a.md".to_owned(), None),
            ("out/b.md".to_owned(), Some("R24")),
            (".gatewright/mine.toml".to_owned(), Some("R23")),
            (".claude/settings.json".to_owned(), Some("R23")),
            ("../b/main.rs".to_owned(), Some("R23")),
            ("../../../working/step-x.json".to_owned(), Some("R23")),
            (main("out/b.md"), Some("R24")),
            (main(".gatewright/mine.toml"), Some("R23")),
        ] {
            for payload in [host.write(&path), host.shell(&format!("echo x > '{path}'"))] {
                let ran = seat.hook(&from(&own, payload));
                match rule {
                    Some(rule) => is_refused(host, &ran, rule),
                    None => passes(&ran),
                }
            }
        }
    }
}

/// It may, if its program lets it; the run knows of it.
#[test]
fn what_a_worker_asks_to_write_outside_the_project_is_recorded() {
    for host in Host::ALL {
        let (seat, own) = apart(host);
        let project = seat.project.path().join("src/main.rs");
        let inside = project.to_str().unwrap();
        for (path, is_recorded) in [
            ("src/main.rs", false),
            (inside, false),
            ("/tmp/scratch.txt", false),
            ("/opt/elsewhere/x.txt", true),
        ] {
            let before = outside_of(&seat).len();
            passes(&seat.hook(&from(&own, host.write(path))));
            let found = outside_of(&seat);
            assert_eq!(found.len() - before, usize::from(is_recorded), "{path}");
            if is_recorded {
                assert_eq!(found[before]["paths"], json!([path]));
                assert_eq!(found[before]["author"], "worker");
            }
        }
    }
}

fn outside_of(seat: &Seat) -> Vec<Value> {
    let journal = seat.journal().into_iter();
    let facts = journal.map(|entry| entry["fact"].clone());
    facts
        .filter(|fact| fact["kind"] == "changed_outside")
        .collect()
}

#[test]
fn two_steps_of_one_agent_are_told_apart_by_their_calls() {
    let work = Work {
        pipeline: WAVES,
        agent: "builder",
        step: Some("b"),
        runner: "claude",
    };
    let (host, seat) = (Host::Claude, Seat::started(&work));
    seat.admit("builder", Some("a"), "step-another");
    seat.admit("builder", Some("b"), super::fixture::CALL);
    seat.record(&json!({"dispatch": "d2"}), &work);
    is_refused(host, &seat.hook(&host.write("out/a.md")), "R24");
    passes(&seat.hook(&host.write("out/b.md")));
}

#[test]
fn what_strays_in_a_folder_of_its_own_is_seen_there() {
    let restricted = WAVES.replace("leaves    =", "writes    = [\"out/**\"]\nleaves    =");
    let host = Host::Claude;
    let work = Work {
        pipeline: &restricted,
        agent: "builder",
        step: Some("a"),
        runner: host.word(),
    };
    let seat = Seat::at(&work);
    let own = seat.project.state().join("worktrees/r-1/a");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    let place = own.to_str().unwrap();
    seat.project.git(["add", "--all"]);
    seat.project.git(["commit", "--quiet", "--message=all"]);
    seat.project
        .git(["worktree", "add", "--quiet", "--detach", place]);
    seat.record(&json!({"workplace": place}), &work);
    passes(&seat.hook(&from(&own, host.shell("true"))));
    let used = from(&own, host.used("Bash", &json!({"command": "true"})));
    // Another step's work has come to the run's worktree meanwhile.
    seat.project.write("src/other.rs", "");
    passes(&seat.hook(&used));
    fs::create_dir(own.join("src")).unwrap();
    fs::write(own.join("src/main.rs"), "").unwrap();
    let ran = seat.hook(&used);
    assert!(ran.stdout.contains("src/main.rs"), "{ran}");
    assert!(!ran.stdout.contains("src/other.rs"), "{ran}");
}
