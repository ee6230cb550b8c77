//! The answers of a person to questions of the session.

use super::wire::{AnswerValue, Answers, Question};

/// Each answered question with its chosen labels or typed text, in the order of the questions.
pub(super) fn answers(questions: &[Question], mut given: Answers) -> Vec<(String, Vec<String>)> {
    let mut answers = Vec::new();
    for question in questions {
        if let Some(said) = given.remove(&question.question) {
            answers.push((question.question.clone(), chosen(question, said)));
        }
    }
    let unasked = given.into_iter();
    answers.extend(unasked.map(|(question, said)| (question, plain(said))));
    answers
}

fn plain(said: AnswerValue) -> Vec<String> {
    match said {
        AnswerValue::One(text) => vec![text],
        AnswerValue::Many(texts) => texts,
    }
}

fn chosen(question: &Question, said: AnswerValue) -> Vec<String> {
    match said {
        AnswerValue::One(text) if question.multi_select => {
            labels(question, &text).unwrap_or_else(|| vec![text])
        }
        AnswerValue::One(_) | AnswerValue::Many(_) => plain(said),
    }
}

/// Splits a text into labels. A label may contain a comma, so the longest label is tried first.
fn labels(question: &Question, text: &str) -> Option<Vec<String>> {
    let mut known: Vec<_> = question
        .options
        .iter()
        .map(|option| &option.label)
        .collect();
    known.sort_by_key(|label| std::cmp::Reverse(label.len()));
    let (mut found, mut rest) = (Vec::new(), text);
    loop {
        let label = known.iter().find(|label| {
            let after = rest.strip_prefix(label.as_str());
            after.is_some_and(|after| after.is_empty() || after.starts_with(','))
        })?;
        found.push((*label).clone());
        rest = rest.get(label.len()..)?;
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return Some(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_apart() {
        let question: Question = serde_json::from_str(
            r#"{"question": "Which?", "multiSelect": true,
                "options": [{"label": "A"}, {"label": "A, B"}, {"label": "C"}]}"#,
        )
        .unwrap();
        let check = |text: &str, expected: &[&str]| {
            let given = Answers::from([("Which?".to_owned(), AnswerValue::One(text.to_owned()))]);
            let answers = answers(std::slice::from_ref(&question), given);
            let expected: Vec<_> = expected.iter().map(|label| (*label).to_owned()).collect();
            assert_eq!(answers, [("Which?".to_owned(), expected)], "{text:?}");
        };
        check("A", &["A"]);
        check("A, C", &["A", "C"]);
        check("A, B", &["A, B"]);
        check("C,A, B", &["C", "A, B"]);
        check("none of these", &["none of these"]);
        check("A, none", &["A, none"]);
        check("Also", &["Also"]);
        check("", &[""]);
    }

    #[test]
    fn answers_keep_the_order_of_the_questions() {
        let questions: Vec<Question> =
            serde_json::from_str(r#"[{"question": "Z?"}, {"question": "A?"}, {"question": "B?"}]"#)
                .unwrap();
        let given: Answers =
            serde_json::from_str(r#"{"A?": "a, b", "Z?": ["x", "y"], "other": "o"}"#).unwrap();
        let pairs = answers(&questions, given);
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(q, a)| (q.as_str(), a.join("|")))
            .collect();
        assert_eq!(
            pairs,
            [
                ("Z?", "x|y".to_owned()),
                ("A?", "a, b".to_owned()),
                ("other", "o".to_owned())
            ]
        );
    }
}
