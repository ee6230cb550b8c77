//! Lines for the person at a session: what is not done, and what counts as an answer.

use engine::{Act, Next, Outcome, Pipeline, Run, Status};

use crate::layout::cut;
use crate::safe::line;

/// A question may have the commands that it approves in it.
const QUESTION_COLUMNS: usize = 200;

/// Where the run is, if it is not over: what a session says at the end of its turn is not proof.
pub fn unfinished(pipeline: &Pipeline, run: &Run) -> Option<String> {
    let (id, stage) = (&run.id, &run.position.stage);
    let place = match engine::status(pipeline, run) {
        Status::Completed | Status::Failed | Status::Cancelled => return None,
        Status::Queued => format!("it is queued for {stage}"),
        Status::Running => format!("it is in {stage}"),
        Status::Waiting(why) => match open_question(pipeline, run) {
            Some(OpenQuestion { question, ways }) => {
                return Some(format!(
                    "run {id} is not done: it asks \"{question}\"; type {ways}"
                ));
            }
            None => format!(
                "it waits in {stage} ({})",
                cut(&line(&why), QUESTION_COLUMNS)
            ),
        },
    };
    Some(format!(
        "run {id} is not done: {place}; type `gatewright next {id}`"
    ))
}

/// The line for a person whose words did not answer the run's question; none where it asks nothing.
pub fn not_an_answer(pipeline: &Pipeline, run: &Run) -> Option<String> {
    let OpenQuestion { question, ways } = open_question(pipeline, run)?;
    let id = &run.id;
    Some(format!(
        "run {id} asks \"{question}\", and this did not answer it; type {ways}, or let the session \
         ask you exactly this"
    ))
}

/// The line for a person in whose place somebody may have answered; none where the run asks nothing.
pub fn not_a_persons_answer(pipeline: &Pipeline, run: &Run, why: &str) -> Option<String> {
    let OpenQuestion { question, ways } = open_question(pipeline, run)?;
    let id = &run.id;
    Some(format!(
        "run {id} asks \"{question}\", and this did not answer it: {why}; type {ways}"
    ))
}

/// The question that the run waits with, and what to type.
struct OpenQuestion {
    question: String,
    ways: String,
}

fn open_question(pipeline: &Pipeline, run: &Run) -> Option<OpenQuestion> {
    let legal = engine::next(pipeline, run);
    legal.iter().find_map(|next| {
        let (question, ways) = match next {
            Next::Answer { question, choices } => {
                let ways = choices.iter().map(|choice| way(pipeline, run, choice));
                (question, ways.collect::<Vec<_>>().join(" or "))
            }
            Next::Answers { question } => (question, format!("`gatewright answer {}`", run.id)),
            _ => return None,
        };
        Some(OpenQuestion {
            question: cut(&line(question), QUESTION_COLUMNS),
            ways,
        })
    })
}

/// What a person types for this choice: the pipeline's slash command, else ours.
fn way(pipeline: &Pipeline, run: &Run, choice: &Outcome) -> String {
    let commands = &pipeline.definition().commands;
    let exact = commands
        .iter()
        .find(|(_, act)| **act == Act::Answer(Some(choice.clone())));
    let open = || {
        commands
            .iter()
            .find(|(_, act)| **act == Act::Answer(None))
            .map(|(command, _)| format!("`/{command} {choice}`"))
    };
    exact
        .map(|(command, _)| format!("`/{command}`"))
        .or_else(open)
        .unwrap_or_else(|| format!("`gatewright answer {} {choice}`", run.id))
}
