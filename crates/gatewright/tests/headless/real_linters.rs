//! `ansible` with the real linters: restartable at every stage, and roles that are really checked. And the real
//! test programs of two languages as checks.

use std::fs;
use std::path::Path;

use testkit::pipelines::one_check;
use testkit::{Project, ansible};

use super::fixture::{PROGRAM, World, until};
use super::under_way::is_alive;

/// Plays every agent. It waits where the file `hold` names its stage; what it writes is `bad.sh` at first
/// and `good.sh` when it fixes.
const AGENTS: &str = r#"
hold() {
    [ "$(cat "$here/hold" 2>/dev/null)" = "$1" ] || return 0
    echo $$ >> "$here/held"
    while [ "$(cat "$here/hold" 2>/dev/null)" = "$1" ]; do sleep 0.05; done
}
bundle() {
    mkdir -p .claude
    printf -- '---\nsource_agent: %s\ntarget_agent: b\ntimestamp: now %s\ntarget_path: %s\nstatus: %s\n---\n# Notes\n' \
        "$GATEWRIGHT_AGENT" "$count" "$(cat "$here/target")" "$1" > ".claude/ansible-workflows.$GATEWRIGHT_STAGE.bundle.md"
}
hold "$GATEWRIGHT_STAGE"
case $GATEWRIGHT_STAGE in
scaffolding) bundle DONE ;;
generating) sh "$here/bad.sh"; bundle DONE ;;
validating) bundle PASS ;;
debugging) sh "$here/good.sh"; bundle DONE ;;
reviewing) bundle APPROVED ;;
*) exit 9 ;;
esac
"#;

fn good_playbook() -> String {
    format!("cat > site.yml <<'END'\n{}END\n", ansible::PLAYBOOK)
}

const GOOD_ROLE: &str = "mkdir -p roles/web/tasks; cat > roles/web/tasks/main.yml <<'END'
---
- name: Say hello
  ansible.builtin.debug:
    msg: Hello
END
";

fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

fn world(target: &str, bad: &str, good: &str) -> World {
    let world = World::new(Project::with_git(PROGRAM), AGENTS);
    ansible::link_into(world.programs());
    for (name, text) in [("target", target), ("bad.sh", bad), ("good.sh", good)] {
        put(world.programs(), name, text);
    }
    world
}

fn line(world: &World, target: &str) -> String {
    let agent = world.programs().join("agent");
    format!(
        "run ansible --param target={target} --task try --id r-test --stand-in {}",
        agent.display()
    )
}

fn verdicts(world: &World) -> Vec<String> {
    let checks = world.history("checked").into_iter();
    let verdicts = checks.map(|entry| entry["fact"]["verdict"].clone());
    verdicts
        .map(|verdict| verdict.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_loop_is_killed_at_each_stage_and_goes_on() {
    let broken = good_playbook().replace("ansible.builtin.debug", "debug");
    let world = world("site.yml", &broken, &good_playbook());
    let real = ansible::folder().join("ansible-lint");
    // The linter waits, too.
    let lint = format!(
        "if [ \"$(cat \"$here/hold\" 2>/dev/null)\" = linting ]; then echo $$ >> \"$here/held\"; \
         while [ \"$(cat \"$here/hold\")\" = linting ]; do sleep 0.05; done; fi\nexec {} \"$@\"",
        real.display()
    );
    world.program("ansible-lint", &lint);
    let places = [
        "scaffolding",
        "generating",
        "validating",
        "linting",
        "debugging",
        "validating",
        "linting",
        "reviewing",
    ];
    let mut line = line(&world, "site.yml");
    for (number, stage) in places.into_iter().enumerate() {
        put(world.programs(), "hold", stage);
        let run = world.begin(&line);
        until(stage, || world.noted("held").len() > number);
        assert_eq!(run.kill().code, None, "{stage}");
        until("nobody is left", || {
            world.noted("held").iter().all(|id| !is_alive(id))
        });
        let facts = world.facts("status r-test");
        assert_eq!(facts["stage"]["name"], stage, "{facts}");
        line = "resume r-test".to_owned();
    }
    put(world.programs(), "hold", "nobody");
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(verdicts(&world), ["failed", "passed"]);
    // No attempt was spent on the kills.
    assert_eq!(world.history("admitted").len(), 6);
    assert_eq!(world.history("ended").len(), 6);
    assert_eq!(world.history("retried").len(), 0);
}

#[test]
fn a_role_is_really_checked() {
    let bad = [
        ("unknown module", GOOD_ROLE.replace("debug", "debgu")),
        (
            "short name",
            GOOD_ROLE.replace("ansible.builtin.debug", "debug"),
        ),
        (
            "no tasks",
            "mkdir -p roles/web/defaults; echo --- > roles/web/defaults/main.yml".to_owned(),
        ),
    ];
    for (what, bad) in bad {
        let world = world("roles/web", &bad, GOOD_ROLE);
        world.gatewright(&line(&world, "roles/web")).succeeds();
        assert_eq!(verdicts(&world), ["failed", "passed"], "{what}");
    }
}

/// The linter passes what it takes for no playbook, without a look.
#[test]
fn what_is_not_linted_has_not_passed() {
    let odd = good_playbook().replace("site.yml", "site");
    let world = world("site", &odd, &odd);
    world.gatewright(&line(&world, "site")).exits(6);
    assert_eq!(verdicts(&world), ["failed", "failed", "failed"]);
}

/// A missing linter blames nobody: no fix is counted, and a person gets the question.
#[test]
fn without_the_linters_nothing_was_checked() {
    for missing in ["ansible-playbook", "ansible-lint"] {
        let world = world("site.yml", &good_playbook(), &good_playbook());
        fs::remove_file(world.programs().join(missing)).unwrap();
        let mut command = world.command(&line(&world, "site.yml"));
        let path = format!("{}:/usr/bin:/bin", world.programs().display());
        let ran = testkit::Ran::from(command.env("PATH", path).output().unwrap());
        assert!(ran.to_string().contains(&format!("`{missing}`")), "{ran}");
        let facts = world.facts("status r-test");
        assert_eq!(facts["stage"]["name"], "linting", "{facts}");
        assert!(!world.starts().contains(&"debugging".to_owned()));
    }
}

/// The checks of `ansible` with a home of their own, or with the person's.
fn linted(home: &str) -> String {
    let linters =
        r#""ansible-playbook --syntax-check site.yml", "ansible-lint --offline site.yml""#;
    one_check(linters).replace("on.passed", &format!("home = \"{home}\"\non.passed"))
}

/// What lies in the person's home reaches no check with `home = "private"`, and the linters need none of it.
#[test]
fn the_linters_need_nothing_of_the_home() {
    let broken = ansible::PLAYBOOK.replace("ansible.builtin.debug", "debug");
    for (home, playbook, verdict) in [
        ("private", ansible::PLAYBOOK, "passed"),
        ("private", broken.as_str(), "failed"),
        ("own", ansible::PLAYBOOK, "failed"),
    ] {
        let world = world("site.yml", "true", "true");
        world.pipeline(&linted(home));
        world.project.write("site.yml", playbook);
        let settings = world.project.home().join(".ansible.cfg");
        fs::write(settings, "[defaults\n").unwrap();
        world.run("");
        assert_eq!(verdicts(&world), [verdict], "{home}");
    }
}

/// The test programs of two languages, as people name them in a check: what they leave behind voids nothing, and
/// their exit code decides.
#[test]
fn real_test_programs_are_checks() {
    let package = r#"{"name": "x", "version": "1.0.0", "scripts": {"test": "node --test"}}"#;
    let node = |wanted: u32| {
        format!(
            "const test = require('node:test');\nconst assert = require('node:assert');\n\
             test('sum', () => assert.equal(1 + 1, {wanted}));\n"
        )
    };
    let python = |wanted: u32| {
        format!(
            "import unittest\nimport sums\n\nclass Sums(unittest.TestCase):\n    \
             def test_sum(self):\n        self.assertEqual(sums.add(1, 1), {wanted})\n"
        )
    };
    for (wanted, verdict) in [(2, "passed"), (3, "failed")] {
        for (command, test, text) in [
            (r#"["npm", "test"]"#, "sum.test.js", node(wanted)),
            (
                r#"["python3", "-m", "unittest"]"#,
                "test_sums.py",
                python(wanted),
            ),
        ] {
            let world = World::new(Project::with_git(PROGRAM), "exit 9");
            world.pipeline(&one_check(command));
            world.project.write("package.json", package);
            world
                .project
                .write("sums.py", "def add(a, b):\n    return a + b\n");
            world.project.write(test, text);
            world.run("");
            let found = verdicts(&world);
            assert_eq!(
                found,
                [verdict],
                "{command}: {:?}",
                world.history("checked")
            );
        }
    }
}
