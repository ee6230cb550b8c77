//! Compares an expectation with the run.

use std::collections::BTreeSet;

use engine::{ArtifactName, BindingState, Next, Reply, Run, SessionId, StageName, Status, StepId};

use super::expectation::{AtWork, Count, Expectation, May, Presence, ReplyKind, StepState};
use super::player::{Player, StepReply};
use super::step::Subject;
use super::work_result::Unplayable;

/// What was found instead, in the words of scenarios; `None` if the expectation is met.
pub(crate) fn unmet(
    player: &Player<'_>,
    heard: Option<&StepReply>,
    expected: &Expectation,
) -> Result<Option<String>, Unplayable> {
    match (expected, heard, &player.run) {
        (Expectation::Reply { reply, rule, text }, Some(heard), _) => {
            let met = ReplyKind::of(&heard.reply) == *reply
                && rule.is_none_or(|rule| rule == heard.rule)
                && text
                    .as_ref()
                    .is_none_or(|text| spoken(&heard.reply).contains(text));
            Ok(differs(met, || reply_words(&heard.reply, heard)))
        }
        (Expectation::Rule(rule), Some(heard), _) => Ok(differs(heard.rule == *rule, || {
            format!("rule {}", heard.rule.code())
        })),
        (Expectation::May { answer, subjects }, _, Some(_)) => may(player, *answer, subjects),
        (_, _, Some(run)) => Ok(state(player, heard, run, expected)),
        (_, _, None) => Ok(Some(String::from("no run: it was refused at the start"))),
    }
}

fn differs(met: bool, found: impl FnOnce() -> String) -> Option<String> {
    (!met).then(found)
}

fn spoken(reply: &Reply) -> &str {
    match reply {
        Reply::Refuse(refusal) | Reply::Hold(refusal) => &refusal.reason,
        Reply::Inject(text) => text,
        Reply::Allow | Reply::Done => "",
    }
}

/// `reply refuse GW-R11 "…"`, as in a scenario file.
pub(crate) fn reply_words(reply: &Reply, heard: &StepReply) -> String {
    let kind = Expectation::Reply {
        reply: ReplyKind::of(reply),
        rule: Some(heard.rule),
        text: Some(String::from(spoken(reply))).filter(|text| !text.is_empty()),
    };
    kind.to_string()
}

fn may(
    player: &Player<'_>,
    answer: May,
    subjects: &[Subject],
) -> Result<Option<String>, Unplayable> {
    for subject in subjects {
        let reply = player.may_begin(subject)?;
        let met = match answer {
            May::Allowed => matches!(reply, Reply::Allow | Reply::Inject(_)),
            May::Refused => matches!(reply, Reply::Refuse(_)),
        };
        if !met {
            let because = match spoken(&reply) {
                "" => String::new(),
                reason => format!(" ({reason})"),
            };
            return Ok(Some(format!("{subject} gets `{}`{because}", reply.word())));
        }
    }
    Ok(None)
}

fn state(
    player: &Player<'_>,
    heard: Option<&StepReply>,
    run: &Run,
    expected: &Expectation,
) -> Option<String> {
    let stage = &run.position.stage;
    let status = engine::status(player.pipeline, run);
    match expected {
        Expectation::Stage(wanted) => differs(stage == wanted, || format!("stage {stage}")),
        Expectation::Status(word) => differs(status.word() == *word, || status_words(&status)),
        Expectation::Waiting(text) => {
            let met = matches!(&status, Status::Waiting(reason) if reason.contains(text));
            differs(met, || status_words(&status))
        }
        Expectation::Next(wanted) => next_things(player, run, wanted),
        Expectation::Counter(counter, wanted) => {
            let value = run.counters.get(counter).copied().unwrap_or(0);
            differs(value == *wanted, || format!("counter {counter} {value}"))
        }
        Expectation::Steps(wanted) => steps(run, wanted),
        Expectation::Round { stage: of, round } => {
            let stage = of.as_ref().unwrap_or(stage);
            rounds(
                stage,
                run.panels.get(stage).map(|panel| panel.round),
                *round,
            )
        }
        Expectation::Retries(wanted) => {
            let retries = run.position.retries;
            differs(retries == *wanted, || format!("retries {retries}"))
        }
        Expectation::Artifacts(presence, names) => all(*presence, names, "captured", |name| {
            run.artifacts.contains_key(name)
        }),
        Expectation::Approved(presence, names) => {
            all(*presence, names, "approved", |name| is_approved(run, name))
        }
        Expectation::Gates(presence, names) => all(*presence, names, "passed", |name| {
            run.gates.contains_key(name)
        }),
        Expectation::Overridden(presence) => {
            let met = run.overrides.is_empty() == (*presence == Presence::Missing);
            differs(met, || format!("{} overrides", run.overrides.len()))
        }
        Expectation::Held(wanted) => held(run, wanted.as_ref()),
        Expectation::AtWork(wanted) => at_work(run, wanted),
        Expectation::Entries(count) => entries(player.entries.len(), heard, *count),
        Expectation::Reply { .. } | Expectation::Rule(_) | Expectation::May { .. } => {
            Some(String::from("nothing was answered"))
        }
    }
}

fn is_approved(run: &Run, artifact: &ArtifactName) -> bool {
    let now = run.artifacts.get(artifact).map(|captured| captured.content);
    now.is_some() && run.approved.get(artifact).copied() == now
}

fn rounds(stage: &StageName, found: Option<u32>, wanted: u32) -> Option<String> {
    differs(found == Some(wanted), || match found {
        Some(round) => format!("round {round}"),
        None => format!("no review in {stage}"),
    })
}

fn held(run: &Run, wanted: Option<&SessionId>) -> Option<String> {
    let active = run.session.as_ref();
    let active = active.filter(|held| held.state == BindingState::Active);
    let holder = active.map(|held| &held.session);
    differs(holder == wanted, || {
        Expectation::Held(holder.cloned()).to_string()
    })
}

fn entries(now: usize, heard: Option<&StepReply>, wanted: Count) -> Option<String> {
    let before = heard.map_or(now, |heard| heard.entries_before);
    let (found, wanted) = match wanted {
        Count::All(wanted) => (now, wanted),
        Count::Added(wanted) => (now - before, wanted),
    };
    differs(found == wanted, || format!("{found} entries"))
}

fn status_words(status: &Status) -> String {
    match status {
        Status::Waiting(reason) => Expectation::Waiting(reason.clone()).to_string(),
        Status::Queued
        | Status::Running
        | Status::Completed
        | Status::Failed
        | Status::Cancelled => format!("status {}", status.word()),
    }
}

fn next_things(player: &Player<'_>, run: &Run, wanted: &[String]) -> Option<String> {
    let found = next(player, run);
    let wanted: BTreeSet<String> = wanted.iter().cloned().collect();
    differs(found == wanted, || {
        Expectation::Next(found.iter().cloned().collect()).to_string()
    })
}

/// Everything that may happen next, one word each.
fn next(player: &Player<'_>, run: &Run) -> BTreeSet<String> {
    let one = |word: &str| vec![String::from(word)];
    let things = engine::next(player.pipeline, run)
        .into_iter()
        .flat_map(|next| match next {
            Next::Agent { agent, .. } => one(agent.as_str()),
            Next::Session { .. } => one(engine::SESSION),
            Next::AnyOf { agents } => agents.iter().map(ToString::to_string).collect(),
            Next::Under { .. } => one("wait"),
            Next::Check { .. } => one("check"),
            Next::Plan { .. } => one("plan"),
            Next::Route { .. } => one("route"),
            Next::Answer { .. } => one("answer"),
            Next::Answers { .. } => one("answers"),
            Next::Finish => one("finish"),
            Next::Decide { .. } => one("decide"),
            Next::TakeUp => one("take-up"),
            Next::Nothing => one("nothing"),
        });
    things.collect()
}

fn steps(run: &Run, wanted: &[(StepId, StepState)]) -> Option<String> {
    let graph = run.graphs.get(&run.position.stage);
    let graph = graph.or_else(|| run.graphs.values().last());
    let members = graph
        .map(|graph| graph.members.as_slice())
        .unwrap_or_default();
    let of = |id: &StepId| members.iter().find(|member| member.step.id == *id);
    let met = wanted
        .iter()
        .all(|(id, state)| of(id).is_some_and(|member| StepState::of(&member.state) == *state));
    let found = members
        .iter()
        .map(|member| (member.step.id.clone(), StepState::of(&member.state)))
        .collect();
    (!met).then(|| Expectation::Steps(found).to_string())
}

fn at_work(run: &Run, wanted: &AtWork) -> Option<String> {
    let open = run
        .dispatches
        .values()
        .filter(|open| open.visit == run.position.visit);
    let mut found: Vec<_> = open.map(|open| open.agent.clone()).collect();
    found.sort();
    let met = match wanted {
        AtWork::Nobody => found.is_empty(),
        AtWork::Number(number) => found.len() == *number,
        AtWork::Agents(agents) => {
            let mut agents = agents.clone();
            agents.sort();
            agents == found
        }
    };
    let words = if found.is_empty() {
        AtWork::Nobody
    } else {
        AtWork::Agents(found)
    };
    (!met).then(|| Expectation::AtWork(words).to_string())
}

/// Are all of these present, or all of them missing?
fn all<T: std::fmt::Display>(
    presence: Presence,
    names: &[T],
    verb: &str,
    is_there: impl Fn(&T) -> bool,
) -> Option<String> {
    let wrong = names.iter().find(|name| match presence {
        Presence::There => !is_there(name),
        Presence::Missing => is_there(name),
    });
    wrong.map(|name| match presence {
        Presence::There => format!("{name} is not {verb}"),
        Presence::Missing => format!("{name} is {verb}"),
    })
}
