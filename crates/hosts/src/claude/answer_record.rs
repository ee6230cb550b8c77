//! Claude Code's own record of an answered question: the answers, and who gave them.

use engine::CallId;

use super::question;
use super::wire::{
    AnsweredLine, Answers, PermissionRecord, Question, QuestionResponse, RecordMessage, RecordPart,
};
use crate::hook;
use crate::session_host::RecordedAnswer;

/// The sources of a decision that a person made at the host's own question.
const PERSON: [&str; 2] = ["user_temporary", "user_permanent"];

/// What a line says about the answer to this call. Most lines say nothing.
pub(super) fn read(line: &[u8], call: &CallId) -> Option<RecordedAnswer> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.contains(call.as_str()) || !text.contains("tool_result") {
        return None;
    }
    let line: AnsweredLine<'_> = serde_json::from_str(text).ok()?;
    let is_result = hook::text(line.kind)? == "user" && is_about(&line, call);
    let response =
        hook::shape::<QuestionResponse<'_>>(line.tool_use_result).filter(|_| is_result)?;
    let given: Answers = hook::shape(response.answers).unwrap_or_default();
    let questions: Vec<Question> = hook::shape(response.questions).unwrap_or_default();
    let options = questions.iter().flat_map(|question| &question.options);
    Some(RecordedAnswer {
        offered: options.map(|option| option.label.clone()).collect(),
        answers: question::answers(&questions, given),
        by_person: is_a_persons(&line),
    })
}

fn is_about(line: &AnsweredLine<'_>, call: &CallId) -> bool {
    let message = hook::shape::<RecordMessage<'_>>(line.message);
    let parts: Vec<RecordPart<'_>> = message
        .and_then(|message| hook::shape(message.content))
        .unwrap_or_default();
    parts
        .iter()
        .any(|part| hook::text(part.tool_use_id).is_some_and(|id| id == call.as_str()))
}

/// The host names the reason of every decision that nobody made at its question: a hook, a rule, a mode.
fn is_a_persons(line: &AnsweredLine<'_>) -> bool {
    let Some(decided) = hook::shape::<PermissionRecord<'_>>(line.permission_decision) else {
        return false;
    };
    let source = hook::text(decided.source).unwrap_or_default();
    hook::text(decided.decision).is_some_and(|decision| decision == "accept")
        && PERSON.contains(&source.as_ref())
        && hook::text(decided.reason_type).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSONS: &str = r#"{"decision":"accept","source":"user_temporary","grantScope":"once","reasonCode":"unknown"}"#;

    fn line(call: &str, decision: &str) -> String {
        format!(
            r#"{{"parentUuid":"p","type":"user","message":{{"role":"user","content":[{{"type":"tool_result","content":"Your questions have been answered","tool_use_id":"{call}"}}]}},"timestamp":"2026-11-17T02:30:38.623Z","toolUseResult":{{"questions":[{{"question":"Go on?","header":"H","options":[{{"label":"stop"}},{{"label":"again"}}],"multiSelect":false}}],"answers":{{"Go on?":"again"}},"annotations":{{}}}}{decision}}}"#
        )
    }

    fn decided(decision: &str) -> String {
        line("t1", &format!(r#","permissionDecision":{decision}"#))
    }

    fn by_person(line: &str) -> Option<bool> {
        let call = CallId::parse("t1").unwrap();
        read(line.as_bytes(), &call).map(|answer| answer.by_person)
    }

    #[test]
    fn an_answer_is_a_persons_where_the_host_says_so() {
        for (line, expected) in [
            (decided(PERSONS), Some(true)),
            (
                decided(r#"{"decision":"accept","source":"user_permanent"}"#),
                Some(true),
            ),
            (
                decided(r#"{"decision":"accept","source":"hook","reasonType":"hook"}"#),
                Some(false),
            ),
            (
                decided(r#"{"decision":"accept","source":"user_temporary","reasonType":"hook"}"#),
                Some(false),
            ),
            (
                decided(r#"{"decision":"accept","source":"config","reasonType":"rule"}"#),
                Some(false),
            ),
            (
                decided(r#"{"decision":"reject","source":"user_temporary"}"#),
                Some(false),
            ),
            (decided("7"), Some(false)),
            // A host that does not say who decided.
            (line("t1", ""), Some(false)),
            (
                line("t2", &format!(r#","permissionDecision":{PERSONS}"#)),
                None,
            ),
            (
                decided(PERSONS).replace(r#""type":"user""#, r#""type":"api-request-blob""#),
                None,
            ),
            ("{\"t1\": \"tool_result\"".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(by_person(&line), expected, "{line}");
        }
    }

    #[test]
    fn the_answers_are_those_of_the_record() {
        let call = CallId::parse("t1").unwrap();
        let read = read(decided(PERSONS).as_bytes(), &call).unwrap();
        let expected = [("Go on?".to_owned(), vec!["again".to_owned()])];
        assert_eq!(read.answers, expected);
    }
}
