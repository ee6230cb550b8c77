//! A person's answers to the host's own questions, where they answer what the run asks.
//!
//! A hook of another program can answer in the person's place, and the host reports that as it reports a
//! person's answer. Its own record of the conversation tells the two apart, a moment later.

use std::path::Path;
use std::thread;
use std::time::Duration;

use engine::{AskWork, CallId, Outcome, Question, Questions, Stage, WITH_EDITS};
use hosts::{Answer, DEFAULT_SESSION_HOST, Event, Payload, RecordedAnswer, What};
use runtime::answers::{self, Chosen, Edits};
use runtime::failure::Failure;
use runtime::transact::{Options, Request};
use runtime::witness::{self, NotedAnswer};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, commit};
use store::Key;

use super::call::HookCall;
use super::guarded_session::Guarded;
use super::{answer, edits};

/// How long a hook waits for the host's record, and how often it looks.
const LOOKS: u32 = 75;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Why an answer is not the person's.
const A_HOOK: &str = "a hook of another program answered in your place";
const NOBODY_KNOWS: &str = "the host did not record that you gave the answer";

/// What the run asked for, from answers in the host's form.
enum RunAnswer {
    Choice {
        choice: Outcome,
        /// What the person says with it.
        text: Option<String>,
        /// Do they take what they changed in the files of artifacts?
        edits: Edits,
    },
    Texts(Vec<(String, String)>),
}

impl RunAnswer {
    fn takes_edits(&self) -> bool {
        match self {
            Self::Choice { edits, .. } => *edits == Edits::Taken,
            Self::Texts(_) => false,
        }
    }
}

/// How much of what the run asks is answered.
enum Matched {
    Nothing,
    /// These questions of the worker are still open.
    Part(Vec<Question>),
    Whole(RunAnswer),
}

/// Questions with the labels that a person chose for each, or the text that they typed.
type Given = Vec<(String, Vec<String>)>;

/// The host reports answers. They count only where they were given to the run's own question, word for
/// word: the session writes the questions, and a person's word about something else is not an answer.
pub(super) fn answered(
    guarded: &mut Guarded<'_, '_>,
    call: &HookCall<'_>,
    given: &[(String, Vec<String>)],
) -> Result<Answer, Failure> {
    let Some(ask) = asked(guarded) else {
        return Ok(Answer::nothing());
    };
    let mut noted = noted_before(guarded);
    let earlier = recorded(guarded, call.payload, &noted.calls);
    let earlier = earlier.map(|record| record.answers).unwrap_or_default();
    let all: Given = given.iter().cloned().chain(earlier).collect();
    // Who wrote the options stands in the host's record, which decides.
    let matched = matching(guarded, &ask, &all, &[])?;
    if let Matched::Nothing = matched {
        return Ok(did_not_count(guarded));
    }
    let Some(number) = &call.payload.tool_call else {
        return Ok(not_a_persons(guarded, NOBODY_KNOWS));
    };
    noted.calls.push(number.clone());
    match matched {
        Matched::Whole(found) => match recorded(guarded, call.payload, &noted.calls) {
            Some(recorded) => {
                forget(guarded);
                counted(guarded, number, &recorded)
            }
            None => note_whole(guarded, noted, &found),
        },
        Matched::Part(open) => {
            note(guarded, &noted)?;
            Ok(still_open(guarded, &open))
        }
        Matched::Nothing => Ok(did_not_count(guarded)),
    }
}

/// What was answered before in this visit of the stage.
fn noted_before(guarded: &Guarded<'_, '_>) -> NotedAnswer {
    let (state, run) = (&guarded.workspace.state, guarded.opened.run());
    let visit = run.position.visit;
    let before = witness::noted_answer(state, &run.id, &guarded.session);
    before
        .filter(|before| before.visit == visit)
        .unwrap_or(NotedAnswer {
            calls: Vec::new(),
            is_whole: false,
            visit,
        })
}

fn note(guarded: &Guarded<'_, '_>, noted: &NotedAnswer) -> Result<(), Failure> {
    let state = &guarded.workspace.state;
    let run = &guarded.opened.run().id;
    witness::note_answer(state, run, &guarded.session, noted)
        .map_err(Failure::file("write to", state.folder()))
}

fn forget(guarded: &Guarded<'_, '_>) {
    let (state, run) = (&guarded.workspace.state, guarded.opened.run());
    witness::forget_answer(state, &run.id, &guarded.session);
}

/// Counts an answer that waits for the host's record, at the next event of the session.
pub(super) fn confirm(
    guarded: &mut Guarded<'_, '_>,
    call: &HookCall<'_>,
) -> Result<Option<Answer>, Failure> {
    if asked(guarded).is_none() || !follows_an_answer(&call.payload.what, call.event) {
        return Ok(None);
    }
    let (state, run) = (guarded.workspace.state.clone(), guarded.opened.run());
    let (id, visit) = (run.id.clone(), run.position.visit);
    let Some(noted) = witness::noted_answer(&state, &id, &guarded.session) else {
        return Ok(None);
    };
    // With another visit, the question was answered in another way.
    let confirmed = match (noted.visit == visit, noted.is_whole) {
        (true, true) => Some(wait_for_record(guarded, call.payload, &noted.calls)?),
        (true, false) => return Ok(None),
        (false, _) => None,
    };
    witness::forget_answer(&state, &id, &guarded.session);
    Ok(confirmed)
}

/// Does the session itself go on with this event? Its calls of one message may end in any order, so the
/// end of a call says nothing.
fn follows_an_answer(what: &What, event: Event) -> bool {
    match what {
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. } => true,
        What::AgentRequested { actor, .. }
        | What::SkillRequested { actor, .. }
        | What::WorkflowRequested { actor }
        | What::MessageRequested { actor, .. }
        | What::ToolRequested { actor, .. } => actor.is_none(),
        What::TodosMarked { .. } => event == Event::PreToolUse,
        What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentReturned { .. }
        | What::AgentFailed { .. }
        | What::AgentNotified { .. }
        | What::AgentBegan { .. }
        | What::AgentStopping { .. }
        | What::ToolUsed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => false,
    }
}

fn wait_for_record(
    guarded: &mut Guarded<'_, '_>,
    payload: &Payload,
    calls: &[CallId],
) -> Result<Answer, Failure> {
    guarded.workspace.context.expect_delay();
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(BETWEEN_LOOKS);
        }
        let recorded = recorded(guarded, payload, calls);
        if let (Some(recorded), Some(number)) = (recorded, calls.last()) {
            return counted(guarded, number, &recorded);
        }
    }
    Ok(not_a_persons(guarded, NOBODY_KNOWS))
}

/// What the host has recorded about all these calls, the latest first; nothing before it has recorded
/// each of them.
fn recorded(
    guarded: &Guarded<'_, '_>,
    payload: &Payload,
    calls: &[CallId],
) -> Option<RecordedAnswer> {
    let record = Path::new(payload.transcript.as_deref()?);
    let one = |call| witness::recorded_answer(record, &guarded.session, call, DEFAULT_SESSION_HOST);
    let all: Vec<RecordedAnswer> = calls.iter().rev().map(one).collect::<Option<_>>()?;
    let offered = all.iter().flat_map(|one| one.offered.iter().cloned());
    Some(RecordedAnswer {
        by_person: all.iter().all(|one| one.by_person),
        offered: offered.collect(),
        answers: all.into_iter().flat_map(|one| one.answers).collect(),
    })
}

/// The record says who answered, and what.
fn counted(
    guarded: &mut Guarded<'_, '_>,
    number: &CallId,
    recorded: &RecordedAnswer,
) -> Result<Answer, Failure> {
    if !recorded.by_person {
        return Ok(not_a_persons(guarded, A_HOOK));
    }
    let ask = asked(guarded);
    let matched = match &ask {
        Some(ask) => matching(guarded, ask, &recorded.answers, &recorded.offered)?,
        None => Matched::Nothing,
    };
    let Matched::Whole(found) = matched else {
        return Ok(did_not_count(guarded));
    };
    let (by, session) = (guarded.person(), guarded.session.as_str());
    let short: String = session.chars().take(36).collect();
    let key = Key::parse(&format!("answered {short} {number}")).ok();
    if found.takes_edits()
        && let Some(refused) = edits::refused(guarded, key.as_ref())?
    {
        return Ok(edits::told(&refused));
    }
    let options = Options {
        by: &by,
        key: key.as_ref(),
    };
    let decided = guarded.submit_with(options, &mut |workspace, opened, _| {
        request(workspace, opened, &found)
    })?;
    let objection = answer::objection(&decided);
    Ok(Answer {
        notice: objection.map(|line| format!("gatewright: {line}")),
        ..answer::told(&decided)
    })
}

fn request(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    found: &RunAnswer,
) -> Result<Request, Failure> {
    match found {
        RunAnswer::Choice { choice, text, .. } => {
            let given = Chosen {
                choice: choice.as_str(),
                text: text.as_deref(),
            };
            answers::chosen(workspace, opened, given, clock::now())
        }
        RunAnswer::Texts(texts) => answers::answered(workspace, opened, texts),
    }
}

/// The host has not written yet who answered. The session already hears what follows, so that it goes on.
fn note_whole(
    guarded: &mut Guarded<'_, '_>,
    noted: NotedAnswer,
    found: &RunAnswer,
) -> Result<Answer, Failure> {
    let is_whole = true;
    note(guarded, &NotedAnswer { is_whole, ..noted })?;
    let opened = &guarded.opened;
    let by = guarded.person();
    let request = request(guarded.workspace, opened, found)?;
    let edited = if found.takes_edits() {
        commit::decide_on_copy(guarded.workspace, opened, &by, &answers::edits_taken())?.opened
    } else {
        opened.clone()
    };
    let after = commit::decide_on_copy(guarded.workspace, &edited, &by, &request)?.opened;
    let standing = views::session_prompt(&after.pipeline, after.run());
    Ok(Answer::for_model(format!(
        "The answer counts with your next step, when the host has recorded that the person gave it. \
         Then:\n{standing}"
    )))
}

/// Some questions are answered, and the session asks the others.
fn still_open(guarded: &Guarded<'_, '_>, open: &[Question]) -> Answer {
    let opened = &guarded.opened;
    let questions = open
        .iter()
        .map(|question| format!("\"{}\"", views::line(&question.text)));
    let questions: Vec<String> = questions.collect();
    Answer::for_model(format!(
        "These answers are kept. Ask the questions that are still open, at most four in one call: {}\n{}",
        questions.join(", "),
        views::session_prompt(&opened.pipeline, opened.run())
    ))
}

/// The person answered something, and both sides learn that the run has no answer by it.
fn did_not_count(guarded: &Guarded<'_, '_>) -> Answer {
    let opened = &guarded.opened;
    told(
        guarded,
        views::not_an_answer(&opened.pipeline, opened.run()),
    )
}

fn not_a_persons(guarded: &Guarded<'_, '_>, why: &str) -> Answer {
    let opened = &guarded.opened;
    let line = views::not_a_persons_answer(&opened.pipeline, opened.run(), why);
    told(guarded, line)
}

fn told(guarded: &Guarded<'_, '_>, line: Option<String>) -> Answer {
    let opened = &guarded.opened;
    let standing = views::session_prompt(&opened.pipeline, opened.run());
    Answer {
        context: line.as_ref().map(|line| format!("{line}\n{standing}")),
        notice: line.map(|line| format!("gatewright: {line}")),
        ..Answer::nothing()
    }
}

/// The answer to what the run asks, in answers of the host.
fn matching(
    guarded: &Guarded<'_, '_>,
    ask: &AskWork,
    given: &[(String, Vec<String>)],
    offered: &[String],
) -> Result<Matched, Failure> {
    Ok(match ask.questions {
        Questions::Choice { .. } => {
            chosen(guarded, given, offered).map_or(Matched::Nothing, Matched::Whole)
        }
        Questions::From { .. } => {
            let questions = answers::questions(guarded.workspace, &guarded.opened)?;
            matched(questions.unwrap_or_default(), given)
        }
    })
}

fn asked(guarded: &Guarded<'_, '_>) -> Option<AskWork> {
    let stage = &guarded.opened.run().position.stage;
    let stage = guarded.opened.pipeline.stage(stage)?;
    stage.work.as_ask().cloned()
}

fn chosen(
    guarded: &Guarded<'_, '_>,
    given: &[(String, Vec<String>)],
    offered: &[String],
) -> Option<RunAnswer> {
    let asked = engine::question_of(&guarded.opened.pipeline, guarded.opened.run())?;
    let mut given = given.iter();
    let (_, labels) = given.find(|(question, _)| is_same(question, &asked))?;
    let [label] = labels.as_slice() else {
        return None;
    };
    let stage = &guarded.opened.run().position.stage;
    let stage = guarded.opened.pipeline.stage(stage)?;
    // The session wrote the options. Only words that the person typed take what is in the files.
    if offered.iter().any(|label| label.contains(WITH_EDITS)) {
        return meant(stage, label);
    }
    let (around, typed) = answers::with_edits(label);
    Some(match meant(stage, typed)? {
        RunAnswer::Choice { choice, text, .. } => {
            let (behind, text) = answers::with_edits(text.as_deref().unwrap_or_default());
            RunAnswer::Choice {
                choice,
                text: (!text.is_empty()).then(|| text.to_owned()),
                edits: around.or(behind),
            }
        }
        texts @ RunAnswer::Texts(_) => texts,
    })
}

/// A choice, a choice with words behind it, or only words, where one choice needs them.
fn meant(stage: &Stage, typed: &str) -> Option<RunAnswer> {
    let choices = || stage.on.keys();
    let answer = |choice: &Outcome, text: Option<&str>| RunAnswer::Choice {
        choice: choice.clone(),
        text: text.map(str::to_owned),
        edits: Edits::NotMentioned,
    };
    if let Some(choice) = choices().find(|choice| is_same(choice.as_str(), typed)) {
        return Some(answer(choice, None));
    }
    let with_words = choices().find_map(|choice| {
        let (word, rest) = typed.trim().split_at_checked(choice.as_str().len())?;
        let words = rest.strip_prefix([':', ',', ' '])?.trim();
        (is_same(choice.as_str(), word) && !words.is_empty()).then(|| answer(choice, Some(words)))
    });
    let only_words = || Some(answer(stage.choice_in_words()?, Some(typed)));
    with_words.or_else(only_words)
}

/// An answer to every question of the worker; some are not all.
fn matched(questions: Vec<Question>, given: &[(String, Vec<String>)]) -> Matched {
    let (mut texts, mut open) = (Vec::new(), Vec::new());
    for question in questions {
        let labels = given.iter().find(|(text, _)| is_same(text, &question.text));
        match labels {
            Some((_, labels)) => texts.push((question.id, labels.join(", "))),
            None => open.push(question),
        }
    }
    match (texts.is_empty(), open.is_empty()) {
        (true, _) => Matched::Nothing,
        (false, false) => Matched::Part(open),
        (false, true) => Matched::Whole(RunAnswer::Texts(texts)),
    }
}

/// The same words, however they are spaced and written.
fn is_same(one: &str, other: &str) -> bool {
    let folded = |text: &str| {
        let words: Vec<String> = text
            .split(|c: char| c.is_whitespace() || matches!(c, '-' | '_'))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        words.join(" ")
    };
    folded(one) == folded(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, text: &str) -> Question {
        Question {
            id: id.to_owned(),
            text: text.to_owned(),
            options: Vec::new(),
            context: None,
        }
    }

    #[test]
    fn words_are_compared_and_not_their_dress() {
        assert!(is_same("Go  on?", "go on?"));
        assert!(is_same("try_again", "Try again"));
        assert!(!is_same("go on?", "go on"));
    }

    #[test]
    fn every_question_wants_its_answer() {
        let questions = [question("q1", "Which port?"), question("q2", "Which host?")];
        let given = |texts: &[&str]| -> Vec<(String, Vec<String>)> {
            let answers = texts
                .iter()
                .map(|text| ((*text).to_owned(), vec!["x".to_owned()]));
            answers.collect()
        };
        let open = |questions: &[Question], texts: &[&str]| match matched(
            questions.to_vec(),
            &given(texts),
        ) {
            Matched::Nothing => None,
            Matched::Part(open) => Some(open.len()),
            Matched::Whole(_) => Some(0),
        };
        assert_eq!(open(&questions, &["which port?", "Which host?"]), Some(0));
        assert_eq!(open(&questions, &["Which port?"]), Some(1));
        assert_eq!(open(&questions, &["Which way?"]), None);
        assert_eq!(open(&[], &["Which port?"]), None);
    }
}
