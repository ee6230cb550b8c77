//! The pictures of pipelines as geometry: nothing overlaps, nothing is missing, nothing is drawn twice.

#![expect(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

mod judge;
mod random;

use engine::{Definition, StageName};
use views::picture::{Picture, RunMarks, WIDEST};

use judge::faults;
use random::{Chance, rewired, run_in};

fn builtins() -> Vec<Definition> {
    let builtins = language::builtin::all().iter();
    let compiled = builtins.map(|builtin| language::compile(&builtin.sources()).ok().unwrap());
    compiled
        .map(|compiled| compiled.pipeline.definition().clone())
        .collect()
}

#[test]
fn every_builtin_is_a_faultless_picture_that_fits_on_a_laptop() {
    for definition in builtins() {
        let picture = Picture::of_definition(&definition);
        assert_eq!(
            faults(&definition, &picture),
            [""; 0],
            "{}",
            definition.name
        );
        assert!(picture.canvas.width <= WIDEST, "{}", definition.name);
    }
}

/// A run that went everywhere a dozen times, wherever it is now.
#[test]
fn every_run_of_a_builtin_is_a_faultless_picture_that_fits_on_a_laptop() {
    for builtin in language::builtin::all() {
        let pipeline = language::compile(&builtin.sources()).ok().unwrap().pipeline;
        let definition = pipeline.definition();
        let names = || definition.stages.iter().map(|stage| stage.name.clone());
        for stage in names() {
            let run = run_in(definition, &stage);
            let mut marks = RunMarks::of_place(&run);
            marks.entered = names().map(|name| (name, 12)).collect();
            marks.taken = names()
                .flat_map(|from| names().map(move |to| ((from.clone(), to), 12)))
                .collect();
            let picture = Picture::of(&pipeline, Some(&marks));
            assert_eq!(faults(definition, &picture), [""; 0], "{stage}");
            assert!(
                picture.canvas.width <= WIDEST,
                "{stage}: {}",
                picture.canvas.width
            );
        }
    }
}

#[test]
fn no_name_of_a_builtin_is_cut() {
    for definition in builtins() {
        let svg = Picture::of_definition(&definition).svg();
        for stage in &definition.stages {
            let name = stage.name.as_str();
            let shown = [format!(">{name}<"), format!(" {name}<")];
            assert!(shown.iter().any(|shown| svg.contains(shown)), "{name}");
        }
    }
}

/// The escalations of the largest built-in are chips; what is left are the ways that people want to see.
#[test]
fn the_largest_builtin_is_folded_to_its_main_ways() {
    let definition = builtins()
        .into_iter()
        .find(|it| it.name.as_str() == "multi-ai")
        .unwrap();
    let picture = Picture::of_definition(&definition);
    let cards = picture.boxes.iter().filter(|boxed| boxed.is_folded);
    let cards: Vec<&str> = cards.map(|boxed| boxed.stage.as_str()).collect();
    let folded = [
        "needs_user_input",
        "new_commands",
        "clarify",
        "exceeded",
        "stuck",
        "error",
        "cancelled",
    ];
    assert_eq!(cards, folded);
    let main: Vec<&str> = picture
        .lines
        .iter()
        .filter(|line| line.is_main)
        .map(|line| line.to.as_str())
        .collect();
    let expected = [
        "approval",
        "sizing",
        "plan_drafting",
        "plan_refining",
        "plan_reviewing",
        "implementing_loop",
        "code_reviewing",
        "testing",
        "complete",
    ];
    assert_eq!(main, expected);
}

/// Definitions that nobody would write: any stage leads anywhere, and names are long.
#[test]
fn random_definitions_are_faultless_pictures() {
    let builtins = builtins();
    for seed in 0..600 {
        let definition = rewired(&builtins, &mut Chance::new(seed));
        let picture = Picture::of_definition(&definition);
        let found = faults(&definition, &picture);
        assert_eq!(found, [""; 0], "seed {seed}");
    }
}

/// The judge sees what is wrong, or the tests above say nothing.
#[test]
fn a_spoilt_picture_is_judged() {
    let definition = builtins()
        .into_iter()
        .find(|it| it.name.as_str() == "multi-ai")
        .unwrap();
    let whole = Picture::of_definition(&definition);
    type Spoil = fn(&mut Picture);
    let spoil: [(&str, Spoil); 9] = [
        ("boxes overlap", |picture| {
            picture.boxes[1].area = picture.boxes[0].area
        }),
        ("is drawn 0 times", |picture| drop(picture.boxes.remove(2))),
        ("is drawn 2 times", |picture| {
            picture.boxes.push(picture.boxes[0].clone())
        }),
        ("way is drawn 0 times", |picture| {
            drop(picture.lines.remove(3))
        }),
        ("way is drawn 0 times", |picture| {
            picture.boxes[0].chips.clear()
        }),
        ("outside", |picture| {
            picture.lines[0].label[0].area.x = picture.canvas.right()
        }),
        ("goes through", |picture| {
            let area = picture.boxes[0].area;
            picture.lines[4].points[0].y = area.y + 5;
            picture.lines[4].points[0].x = area.x + 5;
        }),
        ("runs along", |picture| {
            picture.lines[1].points = picture.lines[0].points.clone();
        }),
        ("begins elsewhere", |picture| {
            picture.lines[0].from = StageName::parse("testing").unwrap()
        }),
    ];
    for (fault, spoil) in spoil {
        let mut picture = whole.clone();
        spoil(&mut picture);
        let found = faults(&definition, &picture);
        assert!(
            found.iter().any(|found| found.contains(fault)),
            "{fault}: {found:?}"
        );
    }
}
