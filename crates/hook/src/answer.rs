//! Replies of the engine as answers to a host: one line for a refusal, a few for where the run stands.

use engine::{Fact, Refusal, Reply, Status, WorkResult, WorkerId};
use hosts::{Answer, Verdict};
use runtime::failure::Failure;
use runtime::transact::Decided;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

/// How many entries back the end of a piece of work is looked for.
const LOOKED_BACK: u64 = 16;

/// The reply as an answer to the host.
pub(super) fn of(decided: &Decided) -> Answer {
    let (pipeline, run) = (&decided.opened.pipeline, decided.opened.run());
    let verdict = match &decided.reply {
        Reply::Allow => Verdict::Allow,
        Reply::Refuse(refusal) => Verdict::Refuse(views::refusal_in(pipeline, run, refusal)),
        Reply::Hold(refusal) => Verdict::GoOn(views::hold_in(pipeline, run, refusal)),
        Reply::Inject(text) => return Answer::for_model(text.clone()),
        Reply::Done => Verdict::Nothing,
    };
    Answer::from(verdict)
}

/// An agent goes on: what is wrong, and what it owes.
pub(super) fn sent_back(opened: &OpenRun, worker: &WorkerId, refusal: &Refusal) -> Answer {
    let owed = opened.run().work_of(worker);
    let owed = owed.map(|dispatch| views::reminder(&opened.pipeline, opened.run(), dispatch));
    let (code, reason) = (refusal.rule.code(), views::line(&refusal.reason));
    let text = format!(
        "{code} not done yet: {reason}\n{}",
        owed.unwrap_or_default()
    );
    Answer::from(Verdict::GoOn(text.trim_end().to_owned()))
}

/// Why the answer is no, if it is.
pub(super) fn objection(decided: &Decided) -> Option<String> {
    match of(decided).verdict {
        Verdict::Refuse(line) | Verdict::GoOn(line) => Some(line),
        Verdict::Nothing | Verdict::Allow => None,
    }
}

/// Where the run stands now, for a session whose agent has just ended. The end may have been judged
/// by another hook, so why it did not count is read from the journal.
pub(super) fn standing(workspace: &Workspace<'_>, decided: &Decided) -> Result<Answer, Failure> {
    let standing = told(decided);
    let Some(why) = failed(workspace, &decided.opened)? else {
        return Ok(standing);
    };
    let context = standing.context.unwrap_or_default();
    Ok(Answer {
        context: Some(format!("{why}\n{context}")),
        ..standing
    })
}

/// Why the latest work did not count, if nothing has happened since.
fn failed(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Option<String>, Failure> {
    let from = opened.stored.version.saturating_sub(LOOKED_BACK) + 1;
    let recent = workspace
        .store
        .journal(&opened.run().id, from, LOOKED_BACK)?;
    for stored in recent.iter().rev() {
        let fact = &stored.entry.fact;
        if let Fact::Ended { result, .. } = fact
            && let WorkResult::Fault { fault, reason } = result
        {
            let (word, reason) = (fault.word(), views::line(reason));
            return Ok(Some(format!("The work did not count ({word}): {reason}.")));
        }
        if let Fact::Moved(_) | Fact::Admitted { .. } | Fact::Ended { .. } = fact {
            return Ok(None);
        }
    }
    Ok(None)
}

/// The same where the reply itself says all.
pub(super) fn told(decided: &Decided) -> Answer {
    let opened = &decided.opened;
    let mut context = views::session_prompt(&opened.pipeline, opened.run());
    if let Some(objection) = objection(decided) {
        context = format!("{objection}\n{context}");
    }
    Answer::for_model(context)
}

/// What goes with a person's prompt: the stage's own text if the session has not had it, else one line
/// while there is work to do. The person hears that the run goes on, or that it asks something else.
pub(super) fn prompt(decided: &Decided, had_text: bool) -> Answer {
    let opened = &decided.opened;
    let (pipeline, run) = (&opened.pipeline, opened.run());
    if goes_on(decided) {
        let told = told(decided);
        return Answer {
            notice: views::unfinished(pipeline, run).map(|line| {
                format!("gatewright: the run continues, and the session is held again: {line}")
            }),
            ..told
        };
    }
    let context = match (
        &decided.reply,
        engine::status(&opened.pipeline, opened.run()),
    ) {
        (Reply::Inject(text), _) if !had_text => Some(text.clone()),
        (Reply::Refuse(refusal), _) => {
            Some(views::refusal_in(&opened.pipeline, opened.run(), refusal))
        }
        (_, Status::Queued | Status::Running | Status::Waiting(_)) => {
            Some(line(&views::session_prompt(&opened.pipeline, opened.run())))
        }
        (_, Status::Completed | Status::Failed | Status::Cancelled) => None,
    };
    let notice = views::not_an_answer(pipeline, run);
    Answer {
        context,
        notice: notice.map(|line| format!("gatewright: {line}")),
        ..Answer::nothing()
    }
}

/// Did this let a run go on that waited for a person?
fn goes_on(decided: &Decided) -> bool {
    let mut facts = decided.entries.iter().map(|(_, entry)| &entry.fact);
    facts.any(|fact| matches!(fact, Fact::Continued { .. }))
}

/// The person's line at the end of a turn, where the run is not over.
pub(super) fn turn_ended(opened: &OpenRun) -> Option<String> {
    let line = views::unfinished(&opened.pipeline, opened.run());
    line.map(|line| format!("gatewright: {line}"))
}

/// Where the run stands and the first thing that may happen, in one line.
fn line(standing: &str) -> String {
    let mut lines = standing.lines();
    let place = lines.next().unwrap_or_default();
    let next = lines
        .find(|line| line.starts_with("- "))
        .map(|line| &line[2..]);
    match next {
        Some(next) => format!("{place} Next: {next}"),
        None => place.to_owned(),
    }
}
