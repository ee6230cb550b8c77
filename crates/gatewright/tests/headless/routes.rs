//! Routes: a person asks for the shorter way, and what has changed in the project agrees or overrules.

use serde_json::Value;
use testkit::Project;
use testkit::pipelines::ROUTED;

use super::fixture::{PROGRAM, World, says};

/// An agent sorts the work, and what was changed can overrule it. The route stands behind the work.
const SORTED: &str = r#"
name  = "sorted"
about = "Sort the work, do it, and test it as much as it needs."
start = "triage"

[artifacts.size]
path    = "size.json"
format  = "json"
outcome = { field = "size", values = ["small", "large"] }

[stages.triage]
agent    = "sorter"
leaves   = ["size"]
writes   = []
on.small = "working"
on.large = "working"

[stages.working]
agent   = "writer"
on.done = "sizing"

[stages.sizing]
route        = [
    { outcome = "text", verdicts = { triage = "small" }, within = ["docs/**"] },
    { outcome = "small", verdicts = { triage = "small" }, files = 2 },
]
on.text      = "reading"
on.small     = "trying"
on.otherwise = "testing"

[stages.reading]
check     = ["test -d docs"]
on.passed = "over"
on.failed = "given_up"

[stages.trying]
check     = ["test -e pipeline.toml"]
on.passed = "over"
on.failed = "given_up"

[stages.testing]
check     = ["test -e pipeline.toml", "test -e size.json"]
on.passed = "over"
on.failed = "given_up"

[stages.over]
end = "completed"

[stages.given_up]
end = "failed"
"#;

/// Runs `SORTED`: an agent calls the work this, another one does that. The checked stage, and the decision.
fn sorted(size: &str, does: &str) -> (String, Value) {
    let script = format!(
        r#"case $at in
triage) echo '{{"size": "{size}"}}' > size.json ;;
working) {does} ;;
esac"#
    );
    let world = World::with(SORTED, &script);
    world.run("").succeeds();
    world.gatewright("verify r-test").succeeds();
    let checked = world.history("checked");
    let stage = checked[0]["fact"]["stage"].as_str().unwrap().to_owned();
    (stage, decisions(&world).remove(0).1)
}

/// Every agent leaves a plan; the one of the quick way also does that.
fn fixing(does: &str) -> String {
    format!("echo \"note $count\" > note.txt\nif [ \"$at\" = fixing ]; then {does}; fi")
}

/// The decisions about the route, each with its rule.
fn decisions(world: &World) -> Vec<(String, Value)> {
    let told = world.history("routed").into_iter();
    told.map(|entry| {
        let rule = entry["rule"].as_str().unwrap().to_owned();
        (rule, entry["fact"].clone())
    })
    .collect()
}

fn rules(world: &World) -> Vec<String> {
    let decided = decisions(world).into_iter();
    decided.map(|(rule, _)| rule).collect()
}

#[test]
fn what_is_small_and_called_small_goes_the_shorter_way() {
    let world = World::with(ROUTED, &fixing("echo one > a.txt"));
    world.run("--param size=small").succeeds();
    assert_eq!(world.starts(), ["fixing"]);
    assert_eq!(world.facts("status r-test")["stage"]["name"], "over");

    let decided = decisions(&world);
    // Once at the route, once before the check, once before the end.
    assert_eq!(rules(&world), ["GW-R115", "GW-R117", "GW-R117"]);
    for (rule, fact) in &decided {
        assert_eq!(fact["outcome"], "small", "{rule}");
        assert_eq!(fact["params"]["size"], "small", "{rule}");
    }
    assert_eq!(decided[0].1["change"]["files"], 0);
    assert_eq!(decided[2].1["change"]["files"], 1);
    assert_eq!(decided[2].1["change"]["lines"], 1);
    assert_eq!(decided[2].1["change"]["paths"][0], "a.txt");
    says(&world.prompt(1), "size is small");
    // Who works there knows how far the shorter way reaches.
    for limit in ["at most 2 files", "at most 10 lines", "deploy/**"] {
        says(&world.prompt(1), limit);
    }
    world.gatewright("verify r-test").succeeds();
}

#[test]
fn what_has_grown_is_sent_the_longer_way_with_the_reason() {
    let world = World::with(ROUTED, &fixing("seq 1 40 > a.txt"));
    world.run("--param size=small").succeeds();
    assert_eq!(world.starts(), ["fixing", "planning", "writing"]);
    assert_eq!(world.facts("status r-test")["stage"]["name"], "told");
    assert_eq!(rules(&world), ["GW-R115", "GW-R118"]);
    let (_, grown) = decisions(&world).pop().unwrap();
    assert_eq!(grown["unmet"][0]["because"], "lines");
    assert_eq!(grown["change"]["lines"], 40);
    let moved = world.history("moved");
    assert!(
        moved
            .iter()
            .any(|entry| entry["fact"]["along"] == "outgrown")
    );
    // Who plans now knows why, and with what evidence.
    says(&world.prompt(2), "40 lines");
    // The limits of the shorter way no longer bind anybody.
    for number in [2, 3] {
        let told = world.prompt(number);
        assert!(!told.contains("at most 10 lines"), "{told}");
    }
    says(&world.gatewright("why r-test").stdout, "told");
    world.gatewright("verify r-test").succeeds();
}

#[test]
fn a_path_that_the_shorter_way_may_not_touch_overrules_it() {
    let world = World::with(ROUTED, &fixing("mkdir deploy; echo x > deploy/prod"));
    world.run("--param size=small").succeeds();
    assert_eq!(world.starts(), ["fixing", "planning", "writing"]);
    let (rule, grown) = decisions(&world).pop().unwrap();
    assert_eq!(rule, "GW-R118");
    assert_eq!(grown["unmet"][0]["because"], "forbidden");
    assert_eq!(grown["unmet"][0]["path"], "deploy/prod");
}

#[test]
fn nobody_who_does_not_ask_goes_the_shorter_way() {
    let world = World::with(ROUTED, &fixing("false"));
    world.run("").succeeds();
    assert_eq!(world.starts(), ["planning", "writing"]);
    let decided = decisions(&world);
    assert_eq!(rules(&world), ["GW-R115"]);
    assert_eq!(decided[0].1["unmet"][0]["because"], "param");
    assert_eq!(decided[0].1["change"], Value::Null, "nobody looked");
    let told = world.prompt(1);
    assert!(!told.contains("at most"), "{told}");
}

#[test]
fn evidence_that_cannot_be_looked_at_takes_the_longer_way() {
    let world = World::new(Project::new(PROGRAM), &fixing("false"));
    world.pipeline(ROUTED);
    world.run("--param size=small").succeeds();
    assert_eq!(world.starts(), ["planning", "writing"]);
    let decided = decisions(&world);
    assert_eq!(rules(&world), ["GW-R116"]);
    assert_eq!(decided[0].1["outcome"], "otherwise");
    assert_eq!(decided[0].1["unmet"][0]["because"], "unseen");
}

#[test]
fn the_verdict_of_an_agent_and_the_paths_choose_together() {
    let (stage, routed) = sorted("small", "mkdir docs; seq 99 > docs/a.md");
    assert_eq!(stage, "reading");
    assert_eq!(routed["outcome"], "text");
    assert_eq!(routed["verdicts"]["triage"], "small");

    let (stage, routed) = sorted("small", "echo x > code.rs; echo x > more.rs");
    assert_eq!(stage, "trying");
    assert_eq!(routed["outcome"], "small");
    assert_eq!(routed["unmet"][0]["because"], "outside");
    assert_eq!(routed["unmet"][0]["path"], "code.rs");
}

#[test]
fn what_has_changed_overrules_the_verdict_of_an_agent() {
    let (stage, routed) = sorted("small", "touch a.rs b.rs c.rs");
    assert_eq!(stage, "testing");
    assert_eq!(routed["outcome"], "otherwise");
    assert_eq!(routed["unmet"][1]["because"], "files");
    assert_eq!(routed["change"]["files"], 3);
}

#[test]
fn a_verdict_for_the_longer_way_needs_no_evidence() {
    let (stage, routed) = sorted("large", "mkdir docs; echo x > docs/a.md");
    assert_eq!(stage, "testing");
    assert_eq!(routed["unmet"][0]["because"], "verdict");
    assert_eq!(routed["change"], Value::Null, "nobody looked");
}

/// The old lines of a file that git tracks come from its objects.
#[test]
fn old_lines_that_git_has_lost_send_a_run_the_longer_way() {
    let lost = "rm -rf .git/objects/??; echo more >> tracked.txt";
    let world = World::with(ROUTED, &fixing(lost));
    world.project.write("tracked.txt", "a line\n");
    world.project.git(["add", "tracked.txt"]);
    world.project.git(["commit", "--quiet", "--message=a line"]);
    world.run("--param size=small").succeeds();
    assert_eq!(world.starts(), ["fixing", "planning", "writing"]);
    assert_eq!(world.facts("status r-test")["stage"]["name"], "told");
    assert_eq!(rules(&world), ["GW-R115", "GW-R118"]);
    let (_, unseen) = decisions(&world).pop().unwrap();
    assert_eq!(unseen["outcome"], "otherwise");
    assert_eq!(unseen["unmet"][0]["because"], "unseen");
    assert_eq!(unseen["change"]["files"], 1);
    // Who plans now reads why nobody could measure it.
    says(&world.prompt(2), "tracked.txt");
    world.gatewright("verify r-test").succeeds();
}

#[test]
fn a_repository_that_is_lost_on_the_way_sends_a_run_the_longer_way() {
    let lost = "mv .git/objects .git/gone; echo x > a.txt";
    let world = World::with(ROUTED, &fixing(lost));
    world.run("--param size=small").succeeds();
    assert_eq!(world.starts(), ["fixing", "planning", "writing"]);
    assert_eq!(world.facts("status r-test")["stage"]["name"], "told");
    assert_eq!(rules(&world), ["GW-R115", "GW-R118"]);
    let (_, unseen) = decisions(&world).pop().unwrap();
    assert_eq!(unseen["unmet"][0]["because"], "unseen");
    assert_eq!(unseen["change"]["files"], Value::Null);
}
