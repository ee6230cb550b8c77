//! Bad input to the playbook pipeline: one clear line for the worker, and nothing advances.

use testkit::model::{Actor, Turn, agent_in_foreground, bash, say};

use super::ansible::{bundle, claude, give_linters, lint, start};
use crate::stage::Stage;

const PLACE: &str = ".claude/ansible-workflows.generating.bundle.md";

fn scaffolds() -> Turn {
    bundle("scaffolding", "session", "site.yml", "")
}

fn generated(agent: &str, target: &str) -> Turn {
    bundle("generating", agent, target, "")
}

/// What these escapes of the shell mean becomes the bundle.
fn shell(escapes: &str) -> Turn {
    bash(&format!("printf -- '{escapes}' > {PLACE}"))
}

fn session(turns: impl IntoIterator<Item = Turn>) -> Actor {
    let begin = [start("--param target=site.yml"), scaffolds()];
    Actor::new("GO-MAIN", begin.into_iter().chain(turns))
}

/// A worker that leaves one thing after another, and says each time that it is done.
fn leaves(marker: &str, things: impl IntoIterator<Item = Turn>) -> Actor {
    let turns = things.into_iter().flat_map(|thing| [thing, say("DONE")]);
    Actor::new(marker, turns)
}

fn generator(marker: &str) -> Turn {
    agent_in_foreground("ansible-generator", marker)
}

#[track_caller]
fn assert_told(stage: &Stage, actor: &str, lines: &[&str]) {
    let told = stage.model.told(actor);
    for line in lines {
        assert!(told.contains(line), "{actor} is not told {line}\n{told}");
    }
}

#[test]
fn a_bundle_that_is_none_is_sent_back_with_the_reason() {
    let stage = Stage::builtin(
        "ansible",
        [
            session([
                generator("GO-FIRST"),
                generator("GO-SECOND"),
                say("END"),
                say("END"),
                say("END"),
                say("END"),
            ]),
            leaves(
                "GO-FIRST",
                [
                    shell("---\\n: [\\n---\\nx\\n"),
                    generated("somebody-else", "site.yml"),
                    generated("ansible-generator", "other.yml"),
                ],
            ),
            leaves(
                "GO-SECOND",
                [
                    shell("no \\377\\376 text"),
                    bash(&format!("rm {PLACE}; ln -s /etc/hostname {PLACE}")),
                    bash(&format!("rm {PLACE}"))
                        .and_also(generated("ansible-generator", "site.yml")),
                ],
            ),
        ],
    );
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_told(&stage, "GO-FIRST", &["generated", "\"somebody-else\""]);
    assert_told(&stage, "GO-MAIN", &["\"other.yml\""]);
    assert_told(&stage, "GO-SECOND", &["UTF-8", PLACE]);
    // Nothing advanced until it was right.
    assert!(
        stage.place().starts_with("validating"),
        "{}",
        stage.history()
    );
    assert_eq!(stage.count("GW-R43"), 4, "{}", stage.history());
}

#[test]
fn a_word_that_is_no_verdict_is_sent_back() {
    let validated = |word: &str| {
        let head = format!("status: {word}\n");
        bundle("validating", "ansible-validator", "site.yml", &head)
    };
    let stage = Stage::builtin(
        "ansible",
        [
            session([
                generator("GO-GENERATE"),
                agent_in_foreground("ansible-validator", "GO-VALIDATE"),
                say("END"),
                say("END"),
                say("END"),
                say("END"),
            ]),
            leaves("GO-GENERATE", [generated("ansible-generator", "site.yml")]),
            leaves(
                "GO-VALIDATE",
                [
                    validated("PASSED"),
                    validated("NOT PASS"),
                    validated("PASS"),
                ],
            ),
        ],
    );
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_told(&stage, "GO-VALIDATE", &["\"PASSED\"", "\"NOT PASS\""]);
    assert!(stage.place().starts_with("linting"), "{}", stage.history());
}

#[test]
fn advisory_bundles_warn_and_the_history_shows_it() {
    let main = Actor::new(
        "A person asks for an Ansible playbook",
        [
            scaffolds(),
            generator("GO-NOTHING"),
            say("END"),
            say("END"),
            say("END"),
            say("END"),
        ],
    );
    let stage = Stage::builtin("ansible", [main, leaves("GO-NOTHING", [bash("ls")])]);
    let typed = "/create-playbook target=site.yml bundles=advisory Greet people";
    claude(&stage).ask(typed).succeeds();
    assert!(
        stage.place().starts_with("validating"),
        "{}",
        stage.history()
    );
    let history = stage.history();
    assert!(history.contains("generated"), "{history}");
}

#[test]
fn an_agent_does_not_choose_advisory_bundles() {
    let starts = [
        start("--param target=site.yml --param bundles=advisory"),
        say("END"),
    ];
    let stage = Stage::builtin("ansible", [Actor::new("GO-MAIN", starts)]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.runs(), [""; 0]);
    assert_told(&stage, "GO-MAIN", &["GW-R66", "bundles=advisory"]);
}

#[test]
fn a_target_that_leaves_the_project_starts_nothing() {
    let starts = [
        start("--param target=../site.yml"),
        start("--param target=/etc/passwd"),
        start("--param target=site.yml --param bundles=maybe"),
        say("END"),
    ];
    let stage = Stage::builtin("ansible", [Actor::new("GO-MAIN", starts)]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.runs(), [""; 0]);
    assert_told(
        &stage,
        "GO-MAIN",
        &["'../site.yml'", "'/etc/passwd'", "'maybe'"],
    );
}

#[test]
fn a_target_that_is_a_link_out_of_the_project_is_not_linted() {
    let passes = bundle(
        "validating",
        "ansible-validator",
        "site.yml",
        "status: PASS\n",
    );
    let links =
        bash("ln -s /etc/hostname site.yml").and_also(generated("ansible-generator", "site.yml"));
    let stage = Stage::builtin(
        "ansible",
        [
            session([
                generator("GO-GENERATE"),
                agent_in_foreground("ansible-validator", "GO-VALIDATE"),
                lint(),
                say("END"),
                say("END"),
                say("END"),
                say("END"),
            ]),
            leaves("GO-GENERATE", [links]),
            leaves("GO-VALIDATE", [passes]),
        ],
    );
    give_linters(&stage);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_told(&stage, "GO-MAIN", &["`site.yml`"]);
    assert!(stage.place().starts_with("linting"), "{}", stage.history());
}
