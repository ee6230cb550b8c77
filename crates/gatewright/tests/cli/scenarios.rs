//! `gatewright test`: scenario files are played, and generated.

use std::path::Path;

use serde_json::json;

use crate::fixture::{fact, project, run};

const GOOD: &str = "\
# A note

```pipeline
small.toml
```

## It is written and tested

```scenario
start
writer works
  stage testing
check passes
  stage asking
```
";

#[test]
fn what_is_true_passes() {
    let project = project();
    project.write("good.md", GOOD);
    let ran = run(&project, "test good.md").succeeds();
    let expected = "pass  It is written and tested (good.md:9)\n1 passed, 0 failed\n";
    assert_eq!(ran.stdout, expected);
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_pipeline_lies_beside_the_scenarios() {
    let project = project();
    project.write("notes/good.md", GOOD);
    run(&project, "test notes/good.md").exits(1);
    project.write("notes/small.toml", project.read("small.toml"));
    run(&project, "test notes/good.md").succeeds();
}

#[test]
fn what_is_not_true_fails_with_the_place() {
    let project = project();
    project.write("bad.md", GOOD.replace("stage asking", "stage writing"));
    let ran = run(&project, "test bad.md").exits(1);
    for part in [
        "FAIL  It is written and tested (bad.md:9)\n",
        "error[GW-S11]: ",
        "--> bad.md:14:3\n",
        "stage asking\n",
        "after: check passes\n",
        "0 passed, 1 failed\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{ran}");
    }
}

#[test]
fn a_mistake_is_talk_and_fails() {
    let project = project();
    project.write("good.md", GOOD);
    project.write("typo.md", GOOD.replace("stage testing", "stage tseting"));
    let ran = run(&project, "test typo.md good.md").exits(1);
    assert!(ran.stderr.contains("--> typo.md:12:9\n"), "{ran}");
    assert!(ran.stderr.contains("`testing`"), "{ran}");
    assert!(
        ran.stdout.ends_with("1 passed, 0 failed, 1 mistake\n"),
        "{ran}"
    );
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_played() {
    let project = project();
    project.write("good.md", GOOD);
    project.write("bytes.md", [0xff, 0xfe]);
    for (line, code, said) in [
        ("test nothing.md good.md", 3, "nothing.md"),
        ("test . good.md", 3, ". "),
        ("test bytes.md good.md", 1, "bytes.md"),
    ] {
        let ran = run(&project, line).exits(code);
        assert!(ran.stderr.contains(said), "{ran}");
        assert!(ran.stdout.ends_with("1 passed, 0 failed\n"), "{ran}");
    }
    run(&project, "test good.md --generate ansible").exits(2);
}

/// Every scenario of a built-in pipeline is named, with its place.
#[test]
fn built_in_scenarios_are_played_by_the_name_of_their_pipeline() {
    let project = project();
    let mut sum = 0;
    for name in ["ansible", "context-first", "multi-ai", "phases"] {
        let ran = run(&project, &format!("test {name}")).succeeds();
        let path = format!(
            "{}/../scenario/scenarios/{name}.md",
            env!("CARGO_MANIFEST_DIR")
        );
        let written = std::fs::read_to_string(path).unwrap();
        let headings = written.lines().filter_map(|line| line.strip_prefix("## "));
        for heading in headings {
            let line = format!("pass  {} ({name}.md:", heading.replace(['`', '*'], ""));
            assert!(ran.stdout.contains(&line), "{line}\n{ran}");
        }
        assert!(ran.stdout.ends_with(" passed, 0 failed\n"), "{ran}");
        sum += fact(&project, &format!("test {name}"))["passed"]
            .as_u64()
            .unwrap();
    }
    for line in ["test", "test --builtin"] {
        assert_eq!(fact(&project, line)["passed"], json!(sum), "{line}");
    }
    project.write("good.md", GOOD);
    assert_eq!(
        fact(&project, "test good.md --builtin")["passed"],
        json!(sum + 1)
    );
    run(&project, "test --builtin --generate ansible").exits(2);
}

/// A file with the name of a pipeline is a file. For an unknown name the error lists the known ones.
#[test]
fn a_file_goes_before_a_pipeline_of_its_name() {
    let project = project();
    project.write("ansible", GOOD);
    let ran = run(&project, "test ansible").succeeds();
    assert_eq!(ran.stdout.lines().count(), 2, "{ran}");
    // A folder of that name is not a file of scenarios.
    project.write("phases/x.md", "x");
    run(&project, "test phases").succeeds();
    let ran = run(&project, "test ansibel").exits(3);
    assert!(ran.stderr.contains("ansible, context-first"), "{ran}");
}

#[test]
fn the_result_is_there_as_json() {
    let project = project();
    project.write("bad.md", GOOD.replace("stage asking", "stage writing"));
    project.write("typo.md", GOOD.replace("stage testing", "stage tseting"));
    let facts = fact(&project, "test bad.md typo.md");
    assert_eq!(facts["passed"], json!(0));
    assert_eq!(facts["failed"], json!(1));
    let scenario = &facts["scenarios"][0];
    assert_eq!(scenario["result"], json!("failed"));
    assert_eq!(scenario["step"], json!("check passes"));
    assert_eq!(scenario["troubles"][0]["line"], json!(14));
    assert!(
        scenario["history"].as_array().unwrap().len() > 3,
        "{scenario}"
    );
    assert_eq!(facts["mistakes"][0]["file"], json!("typo.md"));
    assert_eq!(facts["mistakes"][0]["code"], json!("GW-S04"));
}

#[test]
fn what_is_generated_passes_beside_its_definition() {
    let project = project();
    let generated = run(&project, "test --generate small.toml").succeeds();
    assert_eq!(generated.stderr, "");
    project.write("generated.md", &generated.stdout);
    let ran = run(&project, "test generated.md").succeeds();
    assert!(ran.stdout.contains(" 0 failed\n"), "{ran}");
    let facts = fact(&project, "test --generate ansible");
    assert_eq!(facts["uncovered"], json!([]));
    assert_eq!(facts["covered"].as_array().unwrap().len(), 14);
    run(&project, "test --generate ansibel").exits(3);
    project.write("wrong.toml", "name = 3");
    run(&project, "test --generate wrong.toml").exits(1);
}

/// Scenarios need no project, no store and no state folder.
#[test]
fn nothing_is_left_behind() {
    let project = project();
    project.write("good.md", GOOD);
    run(&project, "test good.md").succeeds();
    assert!(!Path::new(&project.state()).exists());
}
