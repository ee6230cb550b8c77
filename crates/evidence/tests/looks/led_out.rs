//! Paths that a person gave, where an agent has put a link.

use engine::{CheckEnd, Meaning, ParamName};
use evidence::check::CheckEnvironment;

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
