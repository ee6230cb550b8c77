//! The view while a program takes its time to tell its version.

use std::fs;

use super::{ONE, World, at_terminal, pictures, says, until};

/// Tells its version when `told` is there. Each other start is noted. It is a script of a package, so that its answer
/// is kept.
const SLOW: &str = r#"#!/usr/bin/env node
here=$(dirname "$0")
if [ "$1" = --version ]; then
    echo $$ >> "$here/asked"
    while [ ! -e "$here/told" ]; do sleep 0.05; done
    echo "codex-cli 0.166.0"
    exit
fi
echo "$1" >> "$here/worked"
exit 1
"#;

fn with_slow_codex() -> (World, String) {
    let world = World::with(&ONE.replace("on.done", "retry = 0\non.done"), "");
    for (name, text) in [("codex", SLOW), ("node", "#!/bin/sh\nexec sh \"$@\"\n")] {
        let path = world.programs().join(name);
        fs::write(&path, text).unwrap();
        testkit::make_executable(&path);
    }
    fs::write(world.programs().join("package.json"), "{}").unwrap();
    let line = format!(
        "export PATH='{}':$PATH; exec '{}' run pipeline.toml --task try --id r-test --runner codex",
        world.programs().display(),
        super::PROGRAM
    );
    (world, line)
}

#[test]
fn while_a_version_is_told_the_view_lives_and_a_stop_starts_nobody() {
    let (world, line) = with_slow_codex();
    let terminal = at_terminal(&world, &line);
    terminal.wait_for("for the version of codex");
    until("it is asked", || !world.noted("asked").is_empty());
    terminal.wait_for("l look · a");
    terminal.type_text("a");
    terminal.wait_for("nothing is asked now");
    terminal.resize(60, 20);
    terminal.wait_until(|screen| {
        let width = screen.lines().map(|line| line.chars().count()).max();
        pictures(screen) == 1 && width <= Some(60)
    });
    terminal.wait_for("running · 3s");
    terminal.press("C-c");
    let ended = terminal.wait_for_end();
    assert_eq!(ended.code, Some(130), "{}", ended.screen);
    let asked = world.noted("asked").remove(0);
    let asking = std::path::Path::new("/proc").join(asked);
    until("nobody asks any more", || !asking.exists());
    assert!(world.noted("worked").is_empty());
    assert!(world.history("admitted").is_empty());
}

#[test]
fn a_stage_that_is_skipped_while_a_version_is_told_starts_nobody_and_the_answer_is_kept() {
    let (world, line) = with_slow_codex();
    let piped = format!("{line} 2>&1 | tee out.txt");
    let terminal = at_terminal(&world, &piped);
    terminal.wait_for("asks codex for its version");
    until("it is asked", || !world.noted("asked").is_empty());
    world
        .person("skip r-test --reason enough", "r-test\n")
        .succeeds();
    fs::write(world.programs().join("told"), "").unwrap();
    let ended = terminal.wait_for_end();
    assert_eq!(ended.code, Some(0), "{}", ended.screen);
    assert!(world.noted("worked").is_empty());
    let ran = world
        .project
        .person_at(&piped.replace("r-test", "r-other"), "");
    says(&ran.stdout, "works: codex");
    assert!(!ran.stdout.contains("version"), "{ran}");
    assert_eq!(world.noted("asked").len(), 1);
    assert!(!world.noted("worked").is_empty());
}
