//! `gatewright answer`: a person answers a question or a worker's questions, or lets a run continue.

use std::collections::BTreeSet;

use engine::{Held, Question, Reply, Rule, Time};
use runner::delivery;
use runtime::answers::{Chosen, answered, chosen, edits_key, edits_taken, questions};
use runtime::asked_about;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::idempotency::{self, KeyedCommand};
use runtime::person_only;
use runtime::transact::{self, Decided};
use runtime::workspace::{OpenRun, Workspace};
use store::{Key, StoredRun};

use crate::arguments::Writing;
use crate::exit::Exit;
use crate::output::Output;
use crate::report;

/// Answer a run's question, or let a stopped run continue
///
/// With a choice: answers the current question; a text behind it is handed to those who work next. With `continue`: continues a run that is stale,
/// abandoned, stopped or over its budget, or accepts work that no hook guarded. With --answer: answers all questions of a worker at once.
/// Without arguments: shows the questions.
#[derive(Debug, clap::Args)]
pub(crate) struct Answer {
    /// A run (its id or first characters, with `r-`), a choice, and what you want to say with it, in quotes
    #[arg(value_name = "RUN|CHOICE|TEXT", num_args = 0..=3)]
    words: Vec<String>,
    /// Answer one question of a worker
    #[arg(long = "answer", value_name = "ID=TEXT", value_parser = parse_answer)]
    answers: Vec<(String, String)>,
    /// Take what you changed in the files of artifacts since the question was asked, with the answer or before it
    #[arg(long)]
    with_edits: bool,
    #[command(flatten)]
    writing: Writing,
}

fn parse_answer(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((id, answer)) if !id.is_empty() => Ok((id.to_owned(), answer.to_owned())),
        Some(_) | None => Err("type it as ID=TEXT".to_owned()),
    }
}

/// The arguments of `answer`.
#[derive(Debug, PartialEq, Eq)]
struct Words<'a> {
    run: Option<&'a str>,
    choice: Option<&'a str>,
    text: Option<&'a str>,
}

/// A word with the prefix of ids is a run. To give a choice with that prefix, name the run, too. Of two
/// other words the first is a run, unless a space shows that the second is a text.
fn words(words: &[String]) -> Result<Words<'_>, Failure> {
    let all = |run, choice, text| Ok(Words { run, choice, text });
    let is_run = find_run::is_run_word;
    match words {
        [] => all(None, None, None),
        [run] if is_run(run) => all(Some(run), None, None),
        [choice] => all(None, Some(choice), None),
        [run, choice] if is_run(run) => all(Some(run), Some(choice), None),
        [choice, text] if text.contains(char::is_whitespace) => all(None, Some(choice), Some(text)),
        [run, choice] => all(Some(run), Some(choice), None),
        [run, choice, text] => all(Some(run), Some(choice), Some(text)),
        [..] => Err(Failure::usage("an answer takes one choice and one text")
            .hint("type `gatewright answer RUN CHOICE \"TEXT\"`")),
    }
}

impl Answer {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let Words { run, choice, text } = words(&self.words)?;
        if choice.is_some() && !self.answers.is_empty() {
            return Err(
                Failure::usage("a choice and --answer cannot be combined").hint("use one of them")
            );
        }
        if choice.is_none() && self.answers.is_empty() && !self.with_edits {
            return show(context, output, run);
        }
        self.once_each()?;
        let mut workspace = Workspace::for_writing(context)?;
        let (stored, choice, text) = self.meant(&workspace, Words { run, choice, text })?;
        let given = self.answers.iter();
        let command = KeyedCommand::new("answer")
            .with_all("choice", choice.map(str::to_owned))
            .with_all("text", text.map(str::to_owned))
            .with_all("answer", given.map(|(id, text)| format!("{id}={text}")));
        let key = idempotency::run_key(&workspace, &stored, self.writing.key.as_ref(), &command)?;
        if self.with_edits {
            let taken = take_edits(&mut workspace, &stored, &key)?;
            let is_all = choice.is_none() && self.answers.is_empty();
            if is_all || matches!(taken.reply, Reply::Refuse(_)) {
                return report::print(&workspace, &taken, output);
            }
        }
        let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, at: Time| match choice {
            Some(choice) => chosen(workspace, opened, Chosen { choice, text }, at),
            None => answered(workspace, opened, &self.answers),
        };
        let mut decided = transact::command(&mut workspace, &stored.run.id, &key, &mut make)?;
        if let Reply::Refuse(refusal) = &mut decided.reply
            && refusal.rule == Rule::NothingAsked
            && let Some(questions) = questions(&workspace, &decided.opened)?
        {
            refusal.reason = wants_answers(&decided.opened, &questions);
        }
        let exit = report::print(&workspace, &decided, output)?;
        // An answer may end the run, and nobody drives it. If a worker was faster, it keeps the work.
        if let Err(failure) = delivery::keep_ended(&mut workspace, &stored.run.id) {
            output.say(&failure.to_string());
        }
        Ok(exit)
    }
}

impl Answer {
    /// Two words without a space are a run and a choice; if there is no such run, a choice and a text.
    fn meant<'a>(
        &self,
        workspace: &Workspace<'_>,
        words: Words<'a>,
    ) -> Result<(StoredRun, Option<&'a str>, Option<&'a str>), Failure> {
        let Words { run, choice, text } = words;
        let found = find_run::find(workspace, run);
        match (found, run, choice, text) {
            (Err(_), Some(first), Some(second), None) if !find_run::is_run_word(first) => {
                let stored = find_run::find(workspace, None)?;
                Ok((stored, Some(first), Some(second)))
            }
            (found, _, choice, text) => Ok((found?, choice, text)),
        }
    }

    fn once_each(&self) -> Result<(), Failure> {
        let mut seen = BTreeSet::new();
        let twice = self.answers.iter().find(|(id, _)| !seen.insert(id));
        match twice {
            Some((id, _)) => {
                Err(Failure::usage(format!("--answer {id} is given twice")).hint("write it once"))
            }
            None => Ok(()),
        }
    }
}

/// The person takes their changes first: then the answer is about them. A second try with the same key
/// finds that they are taken.
fn take_edits(
    workspace: &mut Workspace<'_>,
    stored: &StoredRun,
    key: &Key,
) -> Result<Decided, Failure> {
    let derived = edits_key(key)?;
    let mut make = |_: &Workspace<'_>, _: &OpenRun, _| Ok(edits_taken());
    transact::command(workspace, &stored.run.id, &derived, &mut make)
}

/// A worker's questions have no choices: each needs a text.
fn wants_answers(opened: &OpenRun, questions: &[Question]) -> String {
    let (run, stage) = (&opened.run().id, &opened.run().position.stage);
    let ids = questions.iter().map(|question| &question.id);
    let answers: Vec<String> = ids.map(|id| format!(" --answer {id}=TEXT")).collect();
    format!(
        "{stage} has no choices, because a worker asks there: type `gatewright answer {run}{}`",
        answers.concat()
    )
}

fn show(context: &Context, output: &mut Output, run: Option<&str>) -> Result<Exit, Failure> {
    let mut workspace = Workspace::for_reading(context)?;
    let stored = find_run::find(&workspace, run)?;
    person_only::require_person(context, "answer", Held::Nobody)?;
    let opened = workspace.opened(stored)?;
    let view = asked_about::next(&workspace, &opened)?;
    let json = || report::standing_with(&opened, &view);
    output.facts(|paint| view.text(paint), json)?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_and_a_choice_are_told_apart() {
        let check = |typed: &[&str], [run, choice, text]: [Option<&str>; 3]| {
            let typed: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(words(&typed), Ok(Words { run, choice, text }));
        };
        check(&[], [None; 3]);
        check(&["r-7f"], [Some("r-7f"), None, None]);
        check(&["yes"], [None, Some("yes"), None]);
        check(&["r-7f", "yes"], [Some("r-7f"), Some("yes"), None]);
        check(&["7f", "continue"], [Some("7f"), Some("continue"), None]);
        check(
            &["change", "add a log"],
            [None, Some("change"), Some("add a log")],
        );
        check(
            &["r-7f", "change", "log"],
            [Some("r-7f"), Some("change"), Some("log")],
        );
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
