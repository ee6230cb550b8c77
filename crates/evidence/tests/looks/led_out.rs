//! Links that lead out of the project, in the place of a path that a person gave and in the place of a source.

use std::fs;

use engine::{CheckEnd, Meaning, ParamName};
use evidence::check::CheckEnvironment;
use evidence::tree;

use crate::world::World;

/// How `test -e {target}` ends where the target is a path of the project.
fn checked(script: &str, value: &str, meaning: Meaning) -> String {
    let mut world = World::new();
    world.declare_param("target", Some(value));
    let target = ParamName::parse("target").unwrap();
    let param = world.definition.params.get_mut(&target);
    param.unwrap().meaning = meaning;
    world.checks(&[&["test", "-e", "{target}"]]);
    world.act(script);
    let ran = world.check(&CheckEnvironment::default()).unwrap();
    match &ran.results[0].ended {
        CheckEnd::Exit(code) => format!("exit {code}"),
        CheckEnd::CouldNotStart(reason) => reason.clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn no_command_is_led_out_of_the_project_by_a_link() {
    const LINK: &str = "is a link that leads out of the project";
    for (script, value, meaning, expected) in [
        ("write site.yml x", "site.yml", Meaning::Path, "exit 0"),
        ("", "site.yml", Meaning::Path, "exit 1"),
        ("link site.yml /etc/passwd", "site.yml", Meaning::Path, LINK),
        ("link roles /etc", "roles/passwd", Meaning::Path, LINK),
        (
            "write real.yml x; link site.yml real.yml",
            "site.yml",
            Meaning::Path,
            "exit 0",
        ),
        ("link site.yml nowhere", "site.yml", Meaning::Path, "exit 1"),
        // What is only a text is not a path to anybody but the command.
        (
            "link site.yml /etc/passwd",
            "site.yml",
            Meaning::Text,
            "exit 0",
        ),
    ] {
        let ended = checked(script, value, meaning);
        assert!(ended.contains(expected), "{script}: {ended}");
    }
}

/// Which paths of the tree differ after somebody writes to files outside.
fn differing(script: &str, outside: &std::path::Path) -> Vec<String> {
    let mut world = World::with_git();
    world.caches = true;
    world.act("write .gitignore build/; write src/code.rs good; write src/more.rs more");
    world.commit();
    world.act(&script.replace("OUTSIDE", outside.to_str().unwrap()));
    fs::write(outside.join("code.rs"), "good").unwrap();
    fs::write(outside.join("large"), vec![0; 2 << 20]).unwrap();
    let before = world.tree();
    assert_eq!(world.tree(), before, "{script}");
    fs::write(outside.join("code.rs"), "bad!").unwrap();
    fs::write(outside.join("large"), vec![1; 2 << 20]).unwrap();
    let after = world.tree();
    tree::changed(&before.manifest, &after.manifest).unwrap()
}

#[test]
fn a_file_outside_counts_where_a_link_puts_it_into_the_project() {
    let outside = tempfile::tempdir().unwrap();
    for (script, expected) in [
        ("", &[][..]),
        (
            "remove src/code.rs; link src/code.rs OUTSIDE/code.rs",
            &["src/code.rs"],
        ),
        ("link new.rs OUTSIDE/code.rs", &["new.rs"]),
        ("link data OUTSIDE/large", &["data"]),
        // A whole folder, also one that git no longer lists.
        (
            "remove src/code.rs; remove src/more.rs; remove src; link src OUTSIDE",
            &["src/code.rs"],
        ),
        (
            "git rm -rq --cached src; write .gitignore build/\\nsrc; remove src/code.rs; \
             remove src/more.rs; remove src; link src OUTSIDE",
            &["src/code.rs"],
        ),
        ("link gone OUTSIDE/nowhere", &[]),
        ("link inside src/code.rs", &[]),
        // Ignored files are nobody's.
        ("folder build; link build/code.rs OUTSIDE/code.rs", &[]),
    ] {
        assert_eq!(differing(script, outside.path()), expected, "{script}");
    }
}
