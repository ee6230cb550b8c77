//! What a run asks a person, and answers given in advance.

use engine::{Choice, Next, Question, StageName, Who};
use runtime::answers::{self, Chosen};
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::{Backend as _, Key};

/// A question to a person.
pub(crate) enum PersonQuestion {
    Choice {
        question: String,
        choices: Vec<String>,
    },
    Questions {
        question: String,
        questions: Vec<Question>,
    },
    /// How a stopped run continues.
    Decision { why: String, choices: Vec<Choice> },
    /// No question: a command continues the run.
    Command,
}

/// The current question of the run.
pub(crate) fn pending(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> Result<PersonQuestion, Failure> {
    let next = engine::next(&opened.pipeline, opened.run());
    for next in next {
        match next {
            Next::Answer { question, choices } => {
                let choices = choices.iter().map(ToString::to_string).collect();
                return Ok(PersonQuestion::Choice { question, choices });
            }
            Next::Answers { question } => {
                let questions = answers::questions(workspace, opened)?.unwrap_or_default();
                return Ok(PersonQuestion::Questions {
                    question,
                    questions,
                });
            }
            Next::Finish => {
                return Ok(PersonQuestion::Choice {
                    question: format!("is {} done?", opened.run().position.stage),
                    choices: vec![FINISH.to_owned()],
                });
            }
            Next::Decide { why, choices } => {
                return Ok(PersonQuestion::Decision { why, choices });
            }
            Next::Agent { .. }
            | Next::Session { .. }
            | Next::AnyOf { .. }
            | Next::Under { .. }
            | Next::Check { .. }
            | Next::Plan { .. }
            | Next::Route { .. }
            | Next::TakeUp
            | Next::Nothing => {}
        }
    }
    Ok(PersonQuestion::Command)
}

/// The word for a decision at the terminal. A reset has its own command.
pub(crate) fn decision_word(choice: &Choice) -> Option<&'static str> {
    match choice {
        Choice::Retry => Some("retry"),
        Choice::Skip { .. } => Some("skip"),
        // After a person has raised the cap.
        Choice::Continue | Choice::RaiseCap => Some("continue"),
        Choice::Cancel => Some("cancel"),
        Choice::Reset => None,
    }
}

pub(crate) fn decision_words(choices: &[Choice]) -> Vec<String> {
    let words = choices.iter().filter_map(decision_word);
    words.map(str::to_owned).collect()
}

/// The word that ends an open stage.
pub(crate) const FINISH: &str = "finish";

/// Applies the answer in advance for the current stage, once.
pub(crate) fn answer_in_advance(
    workspace: &mut Workspace<'_>,
    opened: &OpenRun,
    settings: &DriveSettings,
) -> Result<Option<Decided>, Failure> {
    // It answers the question of the stage; it does not lift what stopped the run.
    if opened.run().standing != engine::Standing::Going {
        return Ok(None);
    }
    let stage = opened.run().position.stage.clone();
    let Some(choice) = settings.answers.get(&stage) else {
        return Ok(None);
    };
    let key = key(&stage)?;
    if !workspace.store.keyed(&opened.run().id, &key)?.is_empty() {
        return Ok(None);
    }
    let by = Who::Unattended(format!("{}, in advance", settings.given_by));
    submit_answer(workspace, opened, &by, &key, Chosen::silent(choice)).map(Some)
}

/// Invariant: one key for each stage, so that an answer in advance counts once.
fn key(stage: &StageName) -> Result<Key, Failure> {
    let text = format!("advance-{stage}");
    Key::parse(&text).map_err(|problem| Failure::bug(format!("{text} is not a key ({problem})")))
}

/// Submits this answer for the current stage.
pub(crate) fn submit_answer(
    workspace: &mut Workspace<'_>,
    opened: &OpenRun,
    by: &Who,
    key: &Key,
    given: Chosen<'_>,
) -> Result<Decided, Failure> {
    let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, at| match given.choice {
        FINISH if is_open(opened) => Ok(Request::from(engine::Happening::Person(
            engine::PersonEvent::FinishAsked,
        ))),
        _ => answers::chosen(workspace, opened, given, at),
    };
    let opened = workspace.read(&opened.run().id)?;
    transact::transact(
        workspace,
        Target::Seen(Box::new(opened)),
        Options { by, key: Some(key) },
        &mut make,
    )
}

fn is_open(opened: &OpenRun) -> bool {
    let stage = opened.pipeline.stage(&opened.run().position.stage);
    stage.is_some_and(|stage| matches!(stage.work, engine::Work::Open(_)))
}
