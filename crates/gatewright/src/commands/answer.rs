//! `gatewright answer`: a person answers a question, a worker's questions, or lets a run go on.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    Answer as Given, Happening, Held, Needs, Outcome, PersonEvent, Question, Reply, Rule, Standing,
    Time,
};
use serde_json::{Value, json};
use views::{Paint, Style};

use crate::arguments::Writing;
use crate::caller::refusal;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::idempotency::{self, Command};
use crate::output::Output;
use crate::transact::{self, Request};
use crate::workspace::{OpenRun, Workspace};
use crate::{find_run, report};

/// The word with which a person lets a stale, abandoned or over-budget run go on.
const CONTINUE: &str = "continue";

/// Answer a run's question, or let a stopped run continue
///
/// With a choice: answers the current question. With `continue`: continues a run that is stale,
/// abandoned, stopped or over its budget. With --answer: answers all questions of a worker at once.
/// Without arguments: shows the questions.
#[derive(Debug, clap::Args)]
pub struct Answer {
    /// A run (its id or first characters, with `r-`), a choice, or both
    #[arg(value_name = "RUN|CHOICE", num_args = 0..=2)]
    words: Vec<String>,
    /// Answer one question of a worker
    #[arg(long = "answer", value_name = "ID=TEXT", value_parser = parse_answer)]
    answers: Vec<(String, String)>,
    #[command(flatten)]
    writing: Writing,
}

fn parse_answer(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((id, answer)) if !id.is_empty() => Ok((id.to_owned(), answer.to_owned())),
        Some(_) | None => Err("write it as ID=TEXT".to_owned()),
    }
}

/// What was typed after `answer`.
#[derive(Debug, PartialEq, Eq)]
struct Words<'a> {
    run: Option<&'a str>,
    choice: Option<&'a str>,
}

/// A word that begins as every id does is a run. Whoever has a choice that begins so names both.
fn words(words: &[String]) -> Result<Words<'_>, Failure> {
    match words {
        [] => Ok(Words {
            run: None,
            choice: None,
        }),
        [only] if only.starts_with("r-") => Ok(Words {
            run: Some(only),
            choice: None,
        }),
        [only] => Ok(Words {
            run: None,
            choice: Some(only),
        }),
        [run, choice] => Ok(Words {
            run: Some(run),
            choice: Some(choice),
        }),
        [..] => {
            Err(Failure::usage("an answer has one choice")
                .hint("write `gatewright answer RUN CHOICE`"))
        }
    }
}

impl Answer {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let Words { run, choice } = words(&self.words)?;
        if choice.is_some() && !self.answers.is_empty() {
            return Err(
                Failure::usage("a choice and --answer are two kinds of answer")
                    .hint("give one of them"),
            );
        }
        if choice.is_none() && self.answers.is_empty() {
            return show(context, output, run);
        }
        self.once_each()?;
        let mut workspace = Workspace::for_writing(context)?;
        let stored = find_run::find(&workspace, run)?;
        let given = self.answers.iter();
        let command = Command::new("answer")
            .with_all("choice", choice.map(str::to_owned))
            .with_all("answer", given.map(|(id, text)| format!("{id}={text}")));
        let key = idempotency::of_run(&workspace, &stored, &self.writing, &command)?;
        let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, at: Time| match choice {
            Some(choice) => chosen(opened, choice, at),
            None => answered(workspace, opened, &self.answers),
        };
        let mut decided = transact::drive(&mut workspace, stored, &key, &mut make)?;
        if let Reply::Refuse(refusal) = &mut decided.reply
            && refusal.rule == Rule::NothingAsked
            && let Some(questions) = questions(&workspace, &decided.opened)?
        {
            refusal.reason = wants_answers(&decided.opened, &questions);
        }
        report::tell(&decided, output)
    }
}

impl Answer {
    fn once_each(&self) -> Result<(), Failure> {
        let mut seen = BTreeSet::new();
        let twice = self.answers.iter().find(|(id, _)| !seen.insert(id));
        match twice {
            Some((id, _)) => {
                Err(Failure::usage(format!("--answer {id} is there twice")).hint("write it once"))
            }
            None => Ok(()),
        }
    }
}

/// `continue` may be a choice of the present question; a run that was stopped is let go on first.
pub fn chosen(opened: &OpenRun, choice: &str, at: Time) -> Result<Request, Failure> {
    let stopped = match opened.run().standing {
        Standing::Stale
        | Standing::Abandoned
        | Standing::OverBudget { .. }
        | Standing::Halted { .. } => true,
        Standing::Queued
        | Standing::Going
        | Standing::Stuck { .. }
        | Standing::Cancelled { .. } => false,
    };
    let stale = engine::is_stale(&opened.pipeline, opened.run(), at);
    if choice == CONTINUE && (stopped || stale || !is_choice(opened, choice)) {
        return Ok(Happening::Person(PersonEvent::Answered(Given::Continue)).into());
    }
    let choice = Outcome::parse(choice)
        .map_err(|problem| Failure::usage(format!("'{choice}' is no choice: {problem}")))?;
    Ok(Happening::Person(PersonEvent::Answered(Given::Choice(choice))).into())
}

/// A worker's questions have no choice: each wants a text.
fn wants_answers(opened: &OpenRun, questions: &[Question]) -> String {
    let (run, stage) = (&opened.run().id, &opened.run().position.stage);
    let ids = questions.iter().map(|question| &question.id);
    let answers: Vec<String> = ids.map(|id| format!(" --answer {id}=TEXT")).collect();
    format!(
        "{stage} has no choices, a worker asks there: `gatewright answer {run}{}`",
        answers.concat()
    )
}

fn is_choice(opened: &OpenRun, word: &str) -> bool {
    let stage = opened.pipeline.stage(&opened.run().position.stage);
    stage.is_some_and(|stage| stage.on.keys().any(|outcome| outcome.as_str() == word))
}

/// Answers to a worker's questions: their text becomes an artifact.
pub fn answered(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    answers: &[(String, String)],
) -> Result<Request, Failure> {
    let given: BTreeMap<String, String> = answers.iter().cloned().collect();
    let questions = questions(workspace, opened)?.unwrap_or_default();
    let secrets = &workspace.context.environment.secrets;
    let content = evidence::questions::answers_content(&questions, &given, secrets);
    let what = Happening::Person(PersonEvent::Answered(Given::Answers {
        given,
        content: content.hash,
    }));
    Ok(Request {
        what,
        given: BTreeMap::new(),
        contents: vec![content],
        reply: None,
    })
}

/// The questions that a worker has asked in the present stage, if it is one for them.
pub fn questions(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> Result<Option<Vec<Question>>, Failure> {
    let Some(asked) = engine::asked(&opened.pipeline, opened.run()) else {
        return Ok(None);
    };
    let needs = Needs {
        questions: Some(asked),
        ..Needs::default()
    };
    let looked = workspace.look(opened, &needs, &BTreeMap::new(), None)?;
    match looked.evidence.questions {
        Some(Ok(questions)) => Ok(Some(questions)),
        Some(Err(reason)) => Err(Failure::no(format!(
            "the questions cannot be read: {reason}"
        ))),
        None => Ok(None),
    }
}

fn show(context: &Context, output: &mut Output, run: Option<&str>) -> Result<Exit, Failure> {
    let mut workspace = Workspace::for_reading(context)?;
    let stored = find_run::find(&workspace, run)?;
    refusal::persons(context, "answer", Held::Nobody)?;
    let opened = workspace.opened(stored)?;
    let questions = questions(&workspace, &opened)?.unwrap_or_default();
    let json = || {
        let mut facts = report::standing(&opened);
        facts["questions"] = questions.iter().map(question_json).collect();
        facts
    };
    let text = |paint| {
        let mut text = report::next(&opened).text(paint);
        questions
            .iter()
            .for_each(|question| text.push_str(&question_text(question, paint)));
        text
    };
    output.facts(text, json)?;
    Ok(Exit::Success)
}

fn question_json(question: &Question) -> Value {
    let Question {
        id,
        text,
        options,
        context,
    } = question;
    json!({ "id": id, "question": text, "options": options, "context": context })
}

/// What a worker asks, with the words to answer it. The text is a worker's: it is made harmless.
fn question_text(question: &Question, paint: Paint) -> String {
    let Question {
        id,
        text,
        options,
        context,
    } = question;
    let mut lines = vec![
        String::new(),
        format!(
            "{}  {}",
            paint.on(Style::Strong, &views::line(id)),
            views::line(text)
        ),
    ];
    lines.extend(
        context
            .iter()
            .map(|context| format!("  {}", views::line(context))),
    );
    if !options.is_empty() {
        let options: Vec<String> = options.iter().map(|option| views::line(option)).collect();
        lines.push(format!("  such as: {}", options.join(", ")));
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_and_a_choice_are_told_apart() {
        let check = |typed: &[&str], run: Option<&str>, choice: Option<&str>| {
            let typed: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(words(&typed), Ok(Words { run, choice }));
        };
        check(&[], None, None);
        check(&["r-7f"], Some("r-7f"), None);
        check(&["yes"], None, Some("yes"));
        check(&["r-7f", "yes"], Some("r-7f"), Some("yes"));
        check(&["7f", "continue"], Some("7f"), Some("continue"));
    }

    #[test]
    fn an_answer_names_its_question() {
        assert_eq!(
            parse_answer("q1=a=b"),
            Ok(("q1".to_owned(), "a=b".to_owned()))
        );
        assert!(parse_answer("q1").is_err());
        assert!(parse_answer("=x").is_err());
    }
}
