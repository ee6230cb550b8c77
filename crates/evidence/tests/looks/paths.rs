//! Paths of artifacts: whatever a parameter holds, the path stays inside the project.

use engine::{Format, StepId};
use evidence::{Error, InsidePath, artifact_path};

use crate::world::World;

fn check(cases: &[(&str, &str, Result<&str, &str>)]) {
    for (template, value, expected) in cases {
        let mut world = World::new();
        world.declare_param("target", Some(value));
        let step = StepId::parse("s-1").unwrap();
        let path = artifact_path(template, &world.definition, &world.run, Some(&step));
        match (&path, expected) {
            (Ok(path), Ok(expected)) => assert_eq!(path.as_str(), *expected, "{template}"),
            (Err(reason), Err(part)) => assert!(reason.contains(part), "{template}: {reason}"),
            _ => panic!("{template} with {value:?}: {path:?}"),
        }
    }
}

#[test]
fn placeholders_are_filled_in() {
    check(&[
        (".task/plan.json", "", Ok(".task/plan.json")),
        ("./a//b/./c", "", Ok("a/b/c")),
        (".task/{run}/{step}.json", "", Ok(".task/r-1/s-1.json")),
        ("{target}.bundle.md", "roles/web", Ok("roles/web.bundle.md")),
        ("{target}{target}", "a", Ok("aa")),
        ("{unknown}/{target}", "a", Ok("{unknown}/a")),
        ("{{target}}", "a", Ok("{a}")),
        ("a}b{target}", "x", Ok("a}bx")),
        // A value is not filled in again.
        ("{target}", "{run}", Ok("{run}")),
        ("dir/{target}", "..x", Ok("dir/..x")),
    ]);
}

#[test]
fn no_value_leads_out_of_the_project() {
    check(&[
        ("{target}", "/etc/passwd", Err("leads out of the project")),
        (
            "dir/{target}",
            "/etc/passwd",
            Err("leads out of the project"),
        ),
        ("{target}", "../x", Err("leads out of the project")),
        ("dir/{target}", "../../x", Err("leads out of the project")),
        ("dir/{target}", "a/../../x", Err("leads out of the project")),
        ("dir/{target}x", "..", Err("leads out of the project")),
        ("dir/{target}{target}/x", ".", Err("`..`")),
        ("{target}", "a\0b", Err("leads out of the project")),
        ("{target}", "", Err("names no file")),
        ("{target}", ".", Err("names no file")),
        ("{target}/", "a", Err("names no file")),
        ("{target}", ".git/config", Err("belongs to git")),
        (
            "sub/{target}",
            ".GIT/hooks/pre-commit",
            Err("belongs to git"),
        ),
        ("../{target}", "a", Err("`..`")),
        ("/{target}", "a", Err("is absolute")),
    ]);
}

#[test]
fn every_short_value_stays_inside() {
    let letters = ["a", ".", "/", "\\", "\0", "{target}", "é", " "];
    let mut values = vec![String::new()];
    for _ in 0..4 {
        let longer = values
            .iter()
            .flat_map(|v| letters.map(|letter| format!("{v}{letter}")));
        values = values.iter().cloned().chain(longer).collect();
        values.sort();
        values.dedup();
    }
    let mut world = World::new();
    let mut inside = 0;
    for value in &values {
        world.declare_param("target", Some(value));
        for template in [
            "{target}",
            "d/{target}",
            "d/{target}.md",
            "{target}{target}/x",
            ".{target}",
        ] {
            let path = artifact_path(template, &world.definition, &world.run, None);
            let Ok(path) = path else { continue };
            inside += 1;
            let is_inside = path.parts().all(|p| !p.is_empty() && p != "." && p != "..");
            assert!(
                is_inside && !path.as_str().contains('\0'),
                "{template} {value:?}: {path:?}"
            );
            let joined = world.root().join(path.as_str());
            assert!(joined.starts_with(world.root()), "{template} {value:?}");
        }
    }
    assert!(
        values.len() > 4_000 && inside > 1_000,
        "{} values, {inside} inside",
        values.len()
    );
}

#[test]
fn a_path_that_cannot_be_filled_in_is_an_error_with_a_reason() {
    let mut world = World::new();
    world.declare_param("target", None);
    for (template, part) in [
        ("{target}", "the parameter target has no value"),
        ("{step}.json", "{step} has a value only in a step"),
    ] {
        world.definition.artifacts.clear();
        world.declare("left", template, Format::Text);
        let error = world.see("left").unwrap_err();
        assert!(matches!(error, Error::ArtifactPath { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn inside_paths_have_one_spelling() {
    for text in ["a/b", "./a/b", "a//b", "a/./b"] {
        assert_eq!(InsidePath::parse(text).unwrap().as_str(), "a/b");
    }
    for text in [
        "", ".", "/", "/a", "a/", "..", "a/..", "../a", "a\0", ".git", "a/.git/b", "./",
    ] {
        assert!(InsidePath::parse(text).is_err(), "{text:?}");
    }
}
