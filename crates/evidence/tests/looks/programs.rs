//! What commands of a check run in and with: folders of the project, a home, and programs that a person accepted.

use std::path::Path;

use engine::CheckEnd;
use evidence::check::CheckEnvironment;

use crate::checks::{ends, sh, surroundings, variables};
use crate::world::World;

#[test]
fn a_folder_of_the_project_gives_what_was_there_and_what_is_nowhere_else() {
    let mut world = World::new();
    world.write_script("bin/true", "#!/bin/sh\nexit 9\n");
    world.write_script("bin/own-tool", "#!/bin/sh\nexit 8\n");
    let folder = world.root().join("bin");
    let check = |world: &World, known: &[&str]| {
        let surroundings = CheckEnvironment {
            search: vec![folder.clone()],
            known: known.iter().map(|name| folder.join(name)).collect(),
            ..surroundings()
        };
        ends(&world.check(&surroundings).unwrap())
    };
    world.checks(&[&["true"]]);
    assert_eq!(check(&world, &[]), ["exit 0"]);
    assert_eq!(check(&world, &["true"]), ["exit 9"]);
    world.checks(&[&["own-tool"]]);
    assert_eq!(check(&world, &[]), ["exit 8"]);
}

#[test]
fn a_private_home_is_empty_and_goes() {
    let mut world = World::new();
    world.checks(&[&sh("ls -A $HOME; echo home=$HOME; echo x > $HOME/x")]);
    world.private_home();
    let surroundings = CheckEnvironment {
        variables: variables(&[("HOME", "/"), ("XDG_CONFIG_HOME", "/etc")]),
        ..surroundings()
    };
    let ran = world.check(&surroundings).unwrap();
    let tail = &ran.results[0].tail;
    let home = tail.trim().strip_prefix("home=").expect("it is empty");
    assert!(
        home.starts_with("/tmp/") && !Path::new(home).exists(),
        "{tail}"
    );
}

#[test]
fn what_ran_stands_in_the_result_with_its_hash() {
    let mut world = World::new();
    world.write_script("test.sh", "#!/bin/sh\n");
    world.checks(&[&["./test.sh"]]);
    let ran = world.check(&surroundings()).unwrap();
    let programs = &ran.results[0].programs;
    let [script, shell] = &programs[..] else {
        panic!("{programs:?}");
    };
    assert_eq!(script.hash, Some(evidence::hash(b"#!/bin/sh\n")));
    assert_eq!(script.place, engine::ProgramPlace::Project);
    let bytes = std::fs::read("/bin/sh").unwrap();
    assert_eq!(
        (shell.path.as_str(), shell.hash),
        ("/bin/sh", Some(evidence::hash(&bytes)))
    );
}

#[test]
fn a_program_that_nobody_accepted_is_not_run() {
    let mut world = World::new();
    let bin = world.outside().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let tool = bin.join("own-tool");
    std::fs::write(&tool, "#!/bin/sh\n").unwrap();
    testkit::make_executable(&tool);
    world.checks(&[&["own-tool"]]);
    let check = |accepted| {
        let surroundings = CheckEnvironment {
            search: vec![bin.clone()],
            accepted,
            ..surroundings()
        };
        world.check(&surroundings).unwrap().results.remove(0)
    };
    let none = evidence::check::AcceptedPrograms::new();
    let known =
        evidence::check::AcceptedPrograms::from([(tool.clone(), evidence::hash(b"#!/bin/sh\n"))]);
    assert_eq!(check(None).ended, CheckEnd::Exit(0));
    assert_eq!(check(Some(known.clone())).ended, CheckEnd::Exit(0));
    for accepted in [none, known] {
        std::fs::write(&tool, "#!/bin/sh\nexit 0\n").unwrap();
        let result = check(Some(accepted));
        assert!(
            matches!(result.ended, CheckEnd::ProgramUnaccepted(_)),
            "{result:?}"
        );
        assert_eq!(result.programs[0].path, tool.to_str().unwrap());
    }
    let lost = CheckEnvironment {
        lost: Some(String::from("gone")),
        ..surroundings()
    };
    let result = world.check(&lost).unwrap().results.remove(0);
    assert_eq!(
        result.ended,
        CheckEnd::EnvironmentLost(String::from("gone"))
    );
}
