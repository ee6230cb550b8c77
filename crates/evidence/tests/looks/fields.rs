//! Questions and steps, read from the fields of captured artifacts.

use std::collections::BTreeMap;

use engine::{Format, Question};

const JSON: Format = Format::Json { schema: None };

fn shown(question: &Question) -> String {
    let options = question.options.join("|");
    format!(
        "{}: {} [{options}] {}",
        question.id,
        question.text,
        question.context.as_deref().unwrap_or("-")
    )
}

fn check_questions(cases: &[(&str, Result<&[&str], &str>)]) {
    for (content, expected) in cases {
        let read = evidence::questions::read(content, &JSON, "signal.questions");
        match (&read, expected) {
            (Ok(questions), Ok(expected)) => {
                assert_eq!(questions.iter().map(shown).collect::<Vec<_>>(), *expected);
            }
            (Err(reason), Err(part)) => assert!(reason.contains(part), "{content}: {reason}"),
            _ => panic!("{content}: {read:?}"),
        }
    }
}

#[test]
fn questions_are_texts_or_objects() {
    check_questions(&[
        (
            r#"{"signal": {"questions": ["Which one?", " And why? "]}}"#,
            Ok(&["q1: Which one? [] -", "q2: And why? [] -"]),
        ),
        (
            r#"{"signal": {"questions": [{"id": "auth", "question": "How?", "options": ["JWT", 7], "context": "The plan is open."}]}}"#,
            Ok(&["auth: How? [JWT|7] The plan is open."]),
        ),
        (
            r#"{"signal": {"questions": [{"question": "How?", "options": null}, "Why?"]}}"#,
            Ok(&["q1: How? [] -", "q2: Why? [] -"]),
        ),
        (
            r#"{"signal": {"questions": [{"id": 3, "question": "\u001b[1mHow\u001b[0m?"}]}}"#,
            Ok(&["3: How? [] -"]),
        ),
        (r#"{"signal": {"questions": []}}"#, Err("is an empty list")),
        (
            r#"{"signal": {"questions": "How?"}}"#,
            Err("is a text; write a list"),
        ),
        (
            r#"{"signal": {}}"#,
            Err("has no `signal.questions`; add the list"),
        ),
        (
            r#"{"signal.questions": ["How?"]}"#,
            Err("has no `signal.questions`"),
        ),
        (
            r#"{"signal": {"questions": [7]}}"#,
            Err("question 1 of `signal.questions` is neither a text nor an object"),
        ),
        (
            r#"{"signal": {"questions": [" "]}}"#,
            Err("is empty or too long"),
        ),
        (
            r#"{"signal": {"questions": ["a", {"id": "x"}]}}"#,
            Err("question 2 of `signal.questions` has no question"),
        ),
        (
            r#"{"signal": {"questions": [{"id": "a b", "question": "?"}]}}"#,
            Err("an id that is not one short word"),
        ),
        (
            r#"{"signal": {"questions": [{"id": "", "question": "?"}]}}"#,
            Err("an id that is not one short word"),
        ),
        (
            r#"{"signal": {"questions": [{"id": "a=b", "question": "?"}]}}"#,
            Err("an id that is not one short word"),
        ),
        (
            r#"{"signal": {"questions": [{"id": ["a"], "question": "?"}]}}"#,
            Err("an id that is not one word"),
        ),
        (
            r#"{"signal": {"questions": [{"question": "?", "options": "a"}]}}"#,
            Err("options that are not a short list"),
        ),
        (
            r#"{"signal": {"questions": [{"question": "?", "options": [{}]}]}}"#,
            Err("an option that is not a text"),
        ),
        (
            r#"{"signal": {"questions": [{"question": "?", "options": [""]}]}}"#,
            Err("an option that is empty"),
        ),
        (
            r#"{"signal": {"questions": [{"question": "?", "context": 7}]}}"#,
            Err("a context that is not a text"),
        ),
        (
            r#"{"signal": {"questions": [{"id": "q2", "question": "?"}, "Why?"]}}"#,
            Err("`q2` of `signal.questions` appears twice"),
        ),
        ("{", Err("not valid JSON")),
    ]);
    let many = format!(
        r#"{{"signal": {{"questions": [{}]}}}}"#,
        ["\"?\""; 51].join(",")
    );
    check_questions(&[(&many, Err("50 questions"))]);
}

#[test]
fn questions_may_stand_in_front_matter_but_not_in_a_text() {
    let bundle = "---\nquestions:\n  - Which one?\n---\ntext\n";
    let read = evidence::questions::read(bundle, &Format::Bundle, "questions").unwrap();
    assert_eq!(shown(&read[0]), "q1: Which one? [] -");
    let reason = evidence::questions::read(bundle, &Format::Text, "questions").unwrap_err();
    assert!(reason.contains("a text has no fields"), "{reason}");
}

#[test]
fn answers_become_an_artifact_with_their_questions() {
    let questions = evidence::questions::read(r#"{"q": ["Which one?"]}"#, &JSON, "q").unwrap();
    let given = BTreeMap::from([(
        String::from("q1"),
        String::from("the one with my-own-password"),
    )]);
    let secrets = [String::from("my-own-password")];
    let content = evidence::questions::answers_content(&questions, &given, &secrets);
    let text = String::from_utf8(content.bytes.clone()).unwrap();
    assert_eq!(content.hash, evidence::hash(&content.bytes));
    assert!(
        text.contains("Which one?") && text.contains("the one with"),
        "{text}"
    );
    assert!(!text.contains("my-own-password"), "{text}");
}

fn check_steps(cases: &[(&str, Result<&[&str], &str>)]) {
    for (steps, expected) in cases {
        let content = format!(r#"{{"plan": {{"steps": {steps}}}}}"#);
        let read = evidence::steps::read(&content, &JSON, "plan.steps");
        match (&read, expected) {
            (Ok(steps), Ok(expected)) => {
                let shown = steps.iter().map(|step| {
                    let needs: Vec<&str> = step.needs.iter().map(|need| need.as_str()).collect();
                    format!(
                        "{} {} by {} after [{}]",
                        step.id,
                        step.title,
                        step.agent,
                        needs.join(",")
                    )
                });
                assert_eq!(shown.collect::<Vec<_>>(), *expected);
            }
            (Err(reason), Err(part)) => assert!(reason.contains(part), "{steps}: {reason}"),
            _ => panic!("{steps}: {read:?}"),
        }
    }
}

#[test]
fn steps_are_objects_with_id_title_agent_and_needs() {
    check_steps(&[
        (
            r#"[{"id": "phase_0", "title": "Create it", "agent": "general-purpose", "status": "pending"},
                {"id": "phase_1", "title": "Test it", "agent": "verifier", "needs": ["phase_0"]}]"#,
            Ok(&[
                "phase_0 Create it by general-purpose after []",
                "phase_1 Test it by verifier after [phase_0]",
            ]),
        ),
        (
            r#"[{"id": 1, "description": "Add\nit", "agent": "a"}, {"id": 2, "title": "B", "agent": "a", "depends_on": [1]}]"#,
            Ok(&["1 Add it by a after []", "2 B by a after [1]"]),
        ),
        (
            r#"[{"id": 1, "title": "A", "agent": "a", "needs": null}]"#,
            Ok(&["1 A by a after []"]),
        ),
        (
            r#"["first", "second"]"#,
            Err("step 1 of `plan.steps` is a text; write id, title, agent and needs"),
        ),
        (r#"[{"title": "A", "agent": "a"}]"#, Err("has no id")),
        (r#"[{"id": 1, "agent": "a"}]"#, Err("has no title")),
        (
            r#"[{"id": 1, "title": " ", "agent": "a"}]"#,
            Err("has no title"),
        ),
        (r#"[{"id": 1, "title": "A"}]"#, Err("has no agent")),
        (
            r#"[{"id": 1, "title": "A", "agent": "../x"}]"#,
            Err("has a bad agent"),
        ),
        (
            r#"[{"id": "../x", "title": "A", "agent": "a"}]"#,
            Err("has a bad id"),
        ),
        (
            r#"[{"id": -1, "title": "A", "agent": "a"}]"#,
            Err("has a number for an id"),
        ),
        (
            r#"[{"id": 1.5, "title": "A", "agent": "a"}]"#,
            Err("has a number for an id"),
        ),
        (
            r#"[{"id": {}, "title": "A", "agent": "a"}]"#,
            Err("has an object for an id"),
        ),
        (
            r#"[{"id": 1, "title": "A", "agent": "a", "needs": "2"}]"#,
            Err("has a text for its needs"),
        ),
        (
            r#"[{"id": 1, "title": "A", "agent": "a", "needs": [[]]}]"#,
            Err("has a list for an id"),
        ),
        (
            r#"[{"id": 1, "title": "A", "agent": "a", "needs": [], "depends_on": [2]}]"#,
            Err("has both needs and depends_on"),
        ),
        ("[]", Err("is an empty list")),
        (r#"{"a": 1}"#, Err("is an object; write a list")),
    ]);
    let many = format!(
        "[{}]",
        [r#"{"id": 1, "title": "A", "agent": "a"}"#; 1_001].join(",")
    );
    check_steps(&[(&many, Err("1000 steps"))]);
}
