//! The live view where many work, and where one rewrites its line again and again.

use std::fs;

use super::{ONE, World, at_terminal, says, until};

const STEPS: usize = 11;

/// Eleven steps at once.
fn many() -> String {
    let steps = (1..=STEPS).map(|number| {
        format!(r#"    {{ id = "part-{number}", title = "The part with the number {number}", agent = "builder" }},"#)
    });
    let steps = steps.collect::<Vec<_>>().join("\n");
    let pipeline = testkit::pipelines::graph(&format!("{steps}\n"));
    let all = pipeline.replace("max_parallel = 9", "max_parallel = 11");
    assert!(all.contains("max_parallel = 11"), "{all}");
    all
}

const BUILDS: &str = r#"
echo "I build $GATEWRIGHT_STEP"
echo "$GATEWRIGHT_STEP" >> "$here/at-work"
while [ ! -e "$here/go" ]; do sleep 0.1; done
mkdir -p parts
echo "$GATEWRIGHT_STEP" > "$GATEWRIGHT_STEP.txt"
echo "{\"status\": \"done\", \"by\": $count}" > "parts/$GATEWRIGHT_STEP.json"
"#;

#[test]
fn a_closer_look_stays_on_a_screen_that_the_picture_fills_until_the_next_key() {
    let world = World::with(&many(), BUILDS);
    let terminal = at_terminal(&world, &super::run(&world));
    terminal.resize(100, 30);
    until("all work", || world.noted("at-work").len() == STEPS);
    terminal.wait_for("says: I build part-1");
    for (columns, rows) in [(100, 30), (80, 24)] {
        terminal.resize(columns, rows);
        terminal.wait_for("r-test ");
        terminal.type_text("l");
        let screen = terminal.wait_until(|screen| {
            let looks = screen
                .lines()
                .filter(|line| line.contains("lately: I build part-"));
            looks.count() == STEPS
        });
        says(&screen, "steps done");
        // The picture is drawn again and again, and the look stays.
        let second = screen.lines().find(|line| line.contains(" · running · "));
        let second = second.expect("the picture has its head").trim().to_owned();
        let screen = terminal.wait_until_gone(&second);
        says(&screen, "lately: I build part-1");
        terminal.type_text("x");
        terminal.wait_until_gone("lately: I build part-1\n");
    }
    fs::write(world.programs().join("go"), "").unwrap();
    terminal.wait_for_end();
}

#[test]
fn the_last_text_of_a_line_that_is_written_anew_is_shown() {
    let bar = r#"number=0
while [ ! -e "$here/go" ]; do number=$((number + 1)); printf 'part %d of many\r' "$number"; sleep 0.1; done
echo "note $count" > note.txt"#;
    let world = World::with(ONE, bar);
    let terminal = at_terminal(&world, &super::run(&world));
    terminal.wait_for("says: part ");
    terminal.wait_until(|screen| {
        let said = screen
            .lines()
            .find_map(|line| line.trim().strip_prefix("says: part "));
        let number = said.and_then(|said| said.split(' ').next()?.parse::<u32>().ok());
        number >= Some(12)
    });
    fs::write(world.programs().join("go"), "").unwrap();
    assert_eq!(terminal.wait_for_end().code, Some(0));
}

#[test]
fn a_title_has_the_room_that_a_wide_terminal_gives() {
    let world = World::with(&many(), BUILDS);
    let terminal = at_terminal(&world, &super::run(&world));
    terminal.wait_for("for step part-1: The part with the number 1 · ");
    terminal.resize(60, 40);
    terminal.wait_for("for step part-1: The part with the numbe…");
    fs::write(world.programs().join("go"), "").unwrap();
    terminal.wait_for_end();
}
