//! Where the checker's problems are shown: at the value that is wrong, or at the nearest thing there is.

use crate::compiled;

/// A pipeline with nothing wrong, to which lines are added.
const GOOD: &str = r#"
name = "p"
about = "A pipeline."
start = "work"

[stages.work]
agent = "worker"
on.done = "tested"

[stages.tested]
check = ["true"]
on.passed = "over"
on.failed = "person"

[stages.person]
ask = "Again?"
on.yes = "work"
on.no = "stopped"

[stages.over]
end = "completed"

[stages.stopped]
end = "failed"

[[prove]]
name = "nothing is over untested"
before = "over"
through = ["tested"]
"#;

/// Each of these codes, in this order, is shown under this part of the text.
fn check(name: &str, text: &str, expected: &[(&str, &str)]) {
    let problems = match compiled(name, text.as_bytes(), &[]) {
        Ok(compiled) => compiled.warnings,
        Err(problems) => problems,
    };
    let found: Vec<(&str, &str)> = problems
        .iter()
        .map(|problem| {
            (
                problem.code,
                &text[problem.span.clone().expect("it has a place")],
            )
        })
        .collect();
    assert_eq!(found, expected, "{problems:#?}");
}

fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

#[test]
fn a_good_pipeline_has_no_problem() {
    check("p.toml", GOOD, &[]);
}

#[test]
fn a_problem_is_shown_at_the_value() {
    let text = with("on.done = \"tested\"", "on.done = \"testde\"");
    check("p.toml", &text, &[("GW-L201", "\"testde\"")]);
}

#[test]
fn what_is_not_written_is_shown_at_its_table() {
    check(
        "p.toml",
        &with("on.failed = \"person\"\n", ""),
        &[
            ("GW-L224", "[stages.tested]"),
            ("GW-L220", "[stages.person]"),
            ("GW-L220", "[stages.stopped]"),
        ],
    );
}

#[test]
fn a_false_promise_is_shown_at_its_proof() {
    let text = with(
        "on.done = \"tested\"",
        "on.done = \"over\"\non.crashed = \"tested\"",
    );
    check("p.toml", &text, &[("GW-L260", "[[prove]]")]);
}

#[test]
fn a_warning_has_a_place_too() {
    let text = with("[stages.work]", "[groups]\nidle = [\"x\"]\n\n[stages.work]");
    check("p.toml", &text, &[("GW-L272", "idle")]);
}

#[test]
fn json_has_places_too() {
    let text = r#"{ "name": "p", "about": "A pipeline.", "start": "wrok",
        "stages": { "work": { "agent": "a", "on": { "done": "over" } }, "over": { "end": "completed" } },
        "prove": [{ "name": "x", "before": "over", "through": "work" }] }"#;
    let problems = compiled("p.json", text.as_bytes(), &[])
        .map(|_| ())
        .expect_err("it is bad");
    let first = problems
        .first()
        .and_then(|problem| problem.span.clone())
        .expect("it has a place");
    assert_eq!(&text[first], "\"wrok\"");
    assert_eq!(problems[0].line_column(text), Some((1, 49)));
}
