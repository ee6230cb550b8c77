//! What a person changes in the file of an artifact while a question is open: taken by their word, or the
//! answer is refused. It is never passed over in silence.

use crate::guarded::told::{check, tell};

/// A plan is approved by a person before somebody builds by it.
const PLANNED: &str = r#"
name  = "planned"
about = "A plan, a question, and work by the plan."
start = "planning"

[artifacts.plan]
path   = "out/plan.md"
format = "text"

[artifacts.code]
path   = "out/code.md"
format = "text"

[stages.planning]
agent   = "planner"
leaves  = ["plan"]
on.done = "asking"

[stages.asking]
ask     = "Is the plan right?"
on.yes  = { to = "building", approves = ["plan"] }
on.no   = "planning"

[stages.building]
agent   = "builder"
reads   = ["plan"]
leaves  = ["code"]
on.done = "over"

[stages.over]
end = "completed"
"#;

/// Up to the question about the plan, whose content is 1.
const ASKED: [(&str, &str); 4] = [
    ("ask planner call A", "allow R10 | admitted d1 planner"),
    ("lay plan 1", ""),
    (
        "returned call A tools 3 w1",
        "done R32 | captured plan, ended d1 done, to asking",
    ),
    ("# in asking, waiting", ""),
];

fn after_the_question<'a>(lines: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    ASKED.iter().chain(lines).copied().collect()
}

#[test]
fn an_answer_over_a_changed_file_is_refused() {
    check(
        PLANNED,
        &after_the_question(&[
            ("lay plan 2", ""),
            ("rewrite plan", ""),
            ("person: answer yes", "refuse R125 | refused"),
            ("person: answer no", "refuse R125 | refused"),
            ("# in asking, waiting", ""),
            // It was put back.
            ("lay plan 1", ""),
            (
                "person: answer yes",
                "done R60 | answered yes, approved, to building",
            ),
        ]),
    );
}

#[test]
fn a_file_that_was_changed_before_the_question_or_not_at_all_is_not_the_persons_edit() {
    check(
        PLANNED,
        &after_the_question(&[(
            "person: answer yes",
            "done R60 | answered yes, approved, to building",
        )]),
    );
    // Nobody wrote to it since: who works next gets the captured content.
    check(
        PLANNED,
        &after_the_question(&[
            ("lay plan 2", ""),
            (
                "person: answer yes",
                "done R60 | answered yes, approved, to building",
            ),
            (
                "ask builder call B",
                "allow R10 | admitted d2 builder, noted",
            ),
        ]),
    );
}

#[test]
fn a_person_takes_what_they_changed() {
    let lines = after_the_question(&[
        ("lay plan 2", ""),
        ("rewrite plan", ""),
        ("model: take edits", "refuse R66 | refused"),
        ("person: take edits", "done R125 | captured plan, approved"),
        (
            "person: answer yes",
            "done R60 | answered yes, approved, to building",
        ),
        // The next worker reads the person's text, in its place.
        ("ask builder call B", "allow R10 | admitted d2 builder"),
    ]);
    let world = tell(PLANNED, &lines, &engine::decide).unwrap_or_else(|wrong| panic!("{wrong}"));
    let plan = world.run.artifacts.values().next().unwrap();
    assert_eq!(plan.content.0[0], 2);
    assert_eq!(world.run.approved.values().next(), Some(&plan.content));
}

#[test]
fn an_edit_that_is_not_valid_is_not_taken() {
    check(
        PLANNED,
        &after_the_question(&[
            ("spoil plan 3", ""),
            ("rewrite plan", ""),
            ("person: take edits", "refuse R34 | refused"),
            ("person: answer yes", "refuse R125 | refused"),
        ]),
    );
}

#[test]
fn edits_are_taken_only_while_a_question_is_open() {
    check(PLANNED, &[("person: take edits", "refuse R62 | refused")]);
}
