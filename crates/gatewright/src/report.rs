//! Prints the result of a command: what has changed, and what may happen next. A refusal is one line.

use engine::{CheckResult, CheckVerdict, Commands, Entry, Fact, Refusal, Rule, StageName, Work};
use runtime::failure::Failure;
use runtime::transact::Decided;
use runtime::workspace::{OpenRun, Workspace, as_of};
use runtime::{clock, signs, undelivered};
use serde_json::{Value, json};
use views::history::HistoryLine;
use views::next::NextView;
use views::{Owner, Paint, Style};

use crate::exit::Exit;
use crate::output::{Format, Output};

/// Prints the result and returns the exit code.
pub(crate) fn print(
    workspace: &Workspace<'_>,
    decided: &Decided,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let owner = signs::owner(workspace, &decided.opened);
    let objection = objection(decided, owner);
    let undelivered = undelivered::of(&workspace.state, &decided.opened);
    let next = next(&decided.opened, owner).with_undelivered(undelivered);
    match output.format() {
        Format::Json => output.json(&json(decided, &next))?,
        Format::Text if objection.is_none() => {
            output.text(&text(decided, &next, output.paint()))?
        }
        Format::Text => {}
    }
    for line in &decided.notices {
        output.say_in(Style::Wait, line);
    }
    if decided.repeated && objection.is_none() {
        output.say("a command with this key ran before: nothing was changed");
    }
    match objection {
        Some((line, exit)) => {
            output.say_in(Style::Bad, &line);
            Ok(exit)
        }
        None => Ok(exit(&decided.entries)),
    }
}

/// The refusal on one line, with its exit code.
fn objection(decided: &Decided, owner: Owner) -> Option<(String, Exit)> {
    let run = decided.opened.run();
    match decided.reply.refusal() {
        Some(refusal) => {
            let exit = if refusal.rule == Rule::CheckCannotRun && is_outside(decided) {
                Exit::Outside
            } else {
                Exit::No
            };
            Some((
                views::refusal_by(&decided.opened.pipeline, run, refusal, owner),
                exit,
            ))
        }
        None if decided.rule == Rule::CheckElsewhere => {
            let line = format!(
                "{} the result of this check was dropped: the run left the stage meanwhile, because \
                 another `check` finished first or a person moved the run; `gatewright next {}` \
                 shows what comes next",
                decided.rule.code(),
                run.id
            );
            Some((line, Exit::No))
        }
        None => None,
    }
}

/// Did the environment keep a check from running, rather than a forbidden command?
fn is_outside(decided: &Decided) -> bool {
    let forbidden = |stage: &StageName, results: &[CheckResult]| {
        let work = decided
            .opened
            .pipeline
            .stage(stage)
            .map(|stage| &stage.work);
        let is_given = matches!(work, Some(Work::Check(work)) if matches!(work.commands, Commands::Approved(_)));
        let last = results.last().map(|result| result.argv.as_slice());
        is_given && !last.is_some_and(evidence::check::is_acceptable)
    };
    !decided.entries.iter().any(|(_, entry)| {
        matches!(&entry.fact, Fact::Checked { stage, results, .. } if forbidden(stage, results))
    })
}

/// A check that did not pass has the exit code for no.
fn exit(entries: &[(u64, Entry)]) -> Exit {
    let failed = entries.iter().any(|(_, entry)| {
        matches!(&entry.fact, Fact::Checked { verdict, .. } if *verdict != CheckVerdict::Passed)
    });
    if failed { Exit::No } else { Exit::Success }
}

fn text(decided: &Decided, next: &NextView, paint: Paint) -> String {
    let mut text = String::new();
    for (line, (_, entry)) in lines(decided).iter().zip(&decided.entries) {
        if line.style != Style::Dim {
            text.push_str(&format!("{}\n", paint.on(line.style, &line.what.line())));
        }
        text.push_str(&last_words(&entry.fact, paint));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&next.actions_text(paint));
    text
}

/// How many lines of a failed command's output are shown; `why` shows all that was kept.
const MOST_LINES: usize = 12;

/// The last output of the command that failed the check.
fn last_words(fact: &Fact, paint: Paint) -> String {
    let results = if let Fact::Checked {
        verdict: CheckVerdict::Failed,
        results,
        ..
    } = fact
    {
        results.as_slice()
    } else {
        &[]
    };
    let tail = results
        .last()
        .map(|result| views::safe(&result.tail))
        .unwrap_or_default();
    let lines: Vec<&str> = tail.trim_end().lines().collect();
    let shown = lines.iter().skip(lines.len().saturating_sub(MOST_LINES));
    shown
        .map(|line| format!("  {}\n", paint.on(Style::Dim, line)))
        .collect()
}

fn json(decided: &Decided, next: &NextView) -> Value {
    let Decided {
        opened,
        reply,
        rule,
        repeated,
        ..
    } = decided;
    let entries = views::history(
        decided
            .entries
            .iter()
            .map(|(number, entry)| (*number, entry)),
    );
    let mut facts = json!({
        "run": opened.run().id.as_str(),
        "reply": reply.word(),
        "rule": rule.code(),
        "repeated": repeated,
        "refusal": reply.refusal().map(refusal_json),
        "entries": entries.json(),
    });
    merge(&mut facts, standing_with(opened, next));
    facts
}

fn refusal_json(refusal: &Refusal) -> Value {
    json!({ "rule": refusal.rule.code(), "reason": refusal.reason })
}

/// The stage and status of a run, and what may happen next.
pub(crate) fn standing(opened: &OpenRun, owner: Owner) -> Value {
    let run = as_of(&opened.pipeline, opened.run(), clock::now());
    let mut facts = json!({
        "stage": run.position.stage.as_str(),
        "status": engine::status(&opened.pipeline, &run).word(),
    });
    merge(&mut facts, next(opened, owner).json());
    facts
}

/// The same, with what a person is asked about.
pub(crate) fn standing_with(opened: &OpenRun, view: &NextView) -> Value {
    let mut facts = standing(opened, Owner::There);
    merge(&mut facts, view.json());
    facts
}

fn merge(facts: &mut Value, others: Value) {
    if let (Value::Object(facts), Value::Object(others)) = (facts, others) {
        facts.extend(others);
    }
}

fn lines(decided: &Decided) -> Vec<HistoryLine> {
    views::history(
        decided
            .entries
            .iter()
            .map(|(number, entry)| (*number, entry)),
    )
    .lines
}

/// What may happen now. A run past its `ttl` asks, whether that is recorded yet or not.
pub(crate) fn next(opened: &OpenRun, owner: Owner) -> NextView {
    let run = as_of(&opened.pipeline, opened.run(), clock::now());
    let legal = engine::next(&opened.pipeline, &run);
    views::next_by(&opened.pipeline, &run, &legal, owner)
}
