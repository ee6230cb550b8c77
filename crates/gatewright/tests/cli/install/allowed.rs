//! `init --allow`: rules that spare a person questions, and nothing more.

use serde_json::Value;

use super::fixture::{LOCAL, init, json, project, tree, uninit};

fn rules(settings: &Value) -> Vec<String> {
    let rules = settings["permissions"]["allow"].as_array();
    let rules = rules.into_iter().flatten();
    rules
        .map(|rule| rule.as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn without_the_option_the_rules_are_named_and_not_written() {
    let project = project();
    let ran = init(&project, &["multi-ai"]).succeeds();
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("Bash(gatewright next:*)"), "{ran}");
    assert!(told.contains("--allow"), "{ran}");
    assert_eq!(rules(&json(&project, LOCAL)), [""; 0]);
}

#[test]
fn with_it_they_are_written_once_and_taken_out_byte_for_byte() {
    let project = project();
    let own = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}\n";
    project.write(LOCAL, own);
    let before = tree(&project.path());
    init(&project, &["multi-ai", "--allow"]).succeeds();
    let written = rules(&json(&project, LOCAL));
    for rule in [
        "Bash(ls)",
        "Bash(gatewright next:*)",
        "Bash(gatewright check:*)",
        "Edit(.task/plan.json)",
    ] {
        assert!(written.iter().any(|it| it == rule), "{rule}: {written:?}");
    }
    for rule in &written {
        assert!(
            !rule.contains("answer") && !rule.contains("export"),
            "{rule}"
        );
    }
    // A second time changes nothing, and nothing is offered any more.
    let again = init(&project, &["multi-ai", "--allow"]).succeeds();
    assert_eq!(rules(&json(&project, LOCAL)), written, "{again}");
    assert!(!again.stderr.contains("--allow"), "{again}");
    uninit(&project).succeeds();
    assert_eq!(tree(&project.path()), before);
}

/// The person went on to edit the file: their part stays, ours goes.
#[test]
fn rules_go_from_a_file_that_somebody_has_changed_since() {
    let project = project();
    init(&project, &["multi-ai", "--allow"]).succeeds();
    let text = project.read(LOCAL);
    let edited = text.replacen("\"allow\": [", "\"allow\": [\n      \"Bash(make)\",", 1);
    assert_ne!(text, edited);
    project.write(LOCAL, edited);
    uninit(&project).succeeds();
    let left = json(&project, LOCAL);
    assert_eq!(rules(&left), ["Bash(make)"]);
    assert!(left.get("hooks").is_none(), "{left}");
}

#[test]
fn rules_that_cannot_be_added_are_told_and_nothing_is_written() {
    let project = project();
    project.write(LOCAL, "{ \"permissions\": { \"allow\": \"all\" } }\n");
    let before = tree(&project.path());
    let ran = init(&project, &["multi-ai", "--allow"]);
    assert_ne!(ran.code, Some(0), "{ran}");
    assert!(ran.stderr.contains("permissions"), "{ran}");
    assert_eq!(tree(&project.path()), before);
}
