//! Views of a headless run, and the one whose removal stops it.

use std::fs;

use testkit::pipelines::TWO;

use super::fixture::{World, says, until};

/// Two agents, one after the other, and a view that is a stop.
fn viewed() -> String {
    let views = r#"status = { path = "stop.json", removed = "wait" }"#;
    format!("{TWO}\n[views]\n{views}\nlog = \"run.log\"\n")
}

/// The writer works until it is let go.
const LONG: &str = r#"
case $at in
  writing)
    echo $$ >> "$here/workers"
    while [ ! -e "$here/go" ]; do sleep 0.05; done
    echo "note $count" > note.txt ;;
  ending) echo "end $count" > end.txt ;;
esac
"#;

fn let_go(world: &World) {
    fs::write(world.programs().join("go"), "").unwrap();
}

#[test]
fn who_removes_the_stop_lets_the_worker_end_and_nothing_new_begin() {
    let world = World::with(&viewed(), LONG);
    let run = world.begin(&world.line(""));
    until("a worker is at work", || !world.noted("workers").is_empty());
    let stop = world.project.path().join("stop.json");
    fs::remove_file(&stop).unwrap();
    until("the stop is noticed", || {
        !world.history("halted").is_empty()
    });
    let_go(&world);
    let ran = run.end().exits(6);
    says(&ran.stdout, "`stop.json`");
    assert_eq!(world.starts(), ["writing"], "nothing new began");
    assert_eq!(world.history("ended").len(), 1, "what was under way counts");
    assert!(stop.exists(), "it is there again");

    world.gatewright("resume").exits(6);
    assert_eq!(world.starts().len(), 1, "only a person lifts a stop");
    world.gatewright("answer continue").succeeds();
    world.gatewright("resume").succeeds();
    assert_eq!(world.starts(), ["writing", "ending"]);
}

#[test]
fn a_headless_run_writes_its_views_and_tells_who_touched_them() {
    let world = World::with(&viewed(), LONG);
    let run = world.begin(&world.line(""));
    until("a worker is at work", || !world.noted("workers").is_empty());
    world.project.write("run.log", "nothing\n");
    let_go(&world);
    let ran = run.end().succeeds();
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(told.matches("`run.log`").count(), 1, "{ran}");
    let log = world.project.read("run.log");
    assert!(
        log.lines()
            .next()
            .is_some_and(|line| line.ends_with("(GW-R01)")),
        "{log}"
    );
    assert!(log.ends_with("ending → complete: done (GW-R96)\n"), "{log}");
}
