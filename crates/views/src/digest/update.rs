//! Updating: each entry once, and what it means for every view.

use engine::{
    AgentName, DispatchId, Entry, Fact, Move, Pipeline, SessionId, StageName, Time, ViewFormat,
    WorkResult,
};

use super::{
    Item, ItemKind, JournalDigest, MOST_ITEMS, MOST_VISITED, Verdict, shows_history, shows_log,
};
use crate::fact::sentence;
use crate::log;
use crate::words::{self, shown};

pub(super) fn update(
    digest: &mut JournalDigest,
    pipeline: &Pipeline,
    entries: &[(u64, &Entry)],
) -> String {
    digest.names.add_panels(pipeline);
    let views = &pipeline.definition().views;
    let any = |shows: fn(&ViewFormat) -> bool| views.iter().any(|view| shows(&view.format));
    let mut update = Update {
        pipeline,
        digest,
        keeps_history: any(shows_history),
        keeps_log: any(shows_log),
        keeps_rows: any(|format| *format == ViewFormat::PipelineState),
        writes_log: any(|format| *format == ViewFormat::Log),
        ended: None,
        failed: None,
        checked: None,
        written: String::new(),
    };
    for (number, entry) in entries {
        update.entry(entry);
        update.digest.version = *number;
    }
    update.settle();
    update.written
}

/// Work that ended well, a move from stage to stage, or both.
struct Passage {
    at: Time,
    by: By,
    outcome: String,
    from: StageName,
    /// Where it led; `None` when the run stayed.
    to: Option<StageName>,
}

/// Whose work or decision it was.
enum By {
    Agent(AgentName),
    /// A check that the engine ran, or a rule of the pipeline.
    Engine,
    /// A person, by name.
    Person(String),
    /// A person reset the run.
    Reset {
        reason: String,
    },
}

impl Passage {
    fn item(self) -> Item {
        let (kind, about) = match self.by {
            By::Agent(agent) => (ItemKind::Agent, Some(agent.to_string())),
            By::Engine => (ItemKind::Engine, None),
            By::Person(name) => (ItemKind::Person, Some(name)),
            By::Reset { reason } => (ItemKind::Reset, Some(reason)),
        };
        Item {
            at: self.at,
            kind,
            about,
            outcome: Some(self.outcome),
            from: Some(self.from),
            to: self.to,
        }
    }
}

struct Update<'a> {
    pipeline: &'a Pipeline,
    digest: &'a mut JournalDigest,
    keeps_history: bool,
    keeps_log: bool,
    keeps_rows: bool,
    writes_log: bool,
    /// Work that ended well: a move in the same decision is what came of it.
    ended: Option<Passage>,
    /// Work that failed, and when.
    failed: Option<(Time, AgentName)>,
    /// When commands ran. Their verdict does not depend on who started them.
    checked: Option<Time>,
    /// The lines of the `log` format.
    written: String,
}

impl Update<'_> {
    fn entry(&mut self, entry: &Entry) {
        let fact = &entry.fact;
        let another = matches!(fact, Fact::Admitted { .. } | Fact::Ended { .. });
        if another || self.ended.as_ref().is_some_and(|it| it.at != entry.at) {
            self.settle();
        }
        self.digest.names.add(fact);
        if self.writes_log {
            log::push(&mut self.written, entry, &self.digest.names);
        }
        self.remark(entry);
        match fact {
            Fact::Ended {
                dispatch, result, ..
            } => self.end(entry.at, *dispatch, result),
            Fact::Moved(step) => self.moved(entry, step),
            Fact::Reset { reason, stage } => self.reset(entry.at, stage, reason),
            Fact::Restored { state, reason, .. } => {
                self.reset(entry.at, &state.position.stage, reason);
                self.digest.was_reset = false;
            }
            Fact::Checked { .. } => self.checked = Some(entry.at),
            other => self.note(other),
        }
    }

    /// What is only remembered.
    fn note(&mut self, fact: &Fact) {
        let digest = &mut *self.digest;
        match fact {
            Fact::Started(started) => {
                digest.place = Some(started.stage.clone());
                meet(&mut digest.sessions, started.session.as_ref());
            }
            Fact::Forked { state, .. } => digest.place = Some(state.position.stage.clone()),
            Fact::Attached { session, .. } => meet(&mut digest.sessions, Some(session)),
            Fact::Admitted { dispatch } => {
                digest.was_reset = false;
                meet(&mut digest.sessions, dispatch.session.as_ref());
            }
            Fact::Continued { .. } | Fact::Unstuck => self.forgive(),
            _ => {}
        }
    }

    fn end(&mut self, at: Time, dispatch: DispatchId, result: &WorkResult) {
        let agent = self.digest.names.remove(dispatch);
        match (agent, &self.digest.place, result) {
            (Some(agent), Some(from), WorkResult::Outcome(outcome)) => {
                self.ended = Some(Passage {
                    at,
                    by: By::Agent(agent),
                    outcome: outcome.to_string(),
                    from: from.clone(),
                    to: None,
                });
            }
            (agent, _, _) => self.failed = agent.map(|agent| (at, agent)),
        }
    }

    fn moved(&mut self, entry: &Entry, step: &Move) {
        let failed = self.failed.take().filter(|(at, _)| *at == entry.at);
        let checked = self.checked.take().is_some_and(|at| at == entry.at);
        let by = match (self.ended.take(), failed, &entry.by) {
            (Some(ended), _, _) => ended.by,
            (None, Some((_, agent)), _) => By::Agent(agent),
            (None, None, who) if who.is_human() && !checked => By::Person(who.name()),
            (None, None, _) => By::Engine,
        };
        self.digest.was_reset = false;
        self.digest.place = Some(step.to.clone());
        self.pass(Passage {
            at: entry.at,
            by,
            outcome: step.outcome.clone(),
            from: step.from.clone(),
            to: Some(step.to.clone()),
        });
    }

    fn reset(&mut self, at: Time, to: &StageName, reason: &str) {
        let place = self.digest.place.replace(to.clone());
        self.digest.was_reset = true;
        self.pass(Passage {
            at,
            by: By::Reset {
                reason: reason.to_owned(),
            },
            outcome: "reset".to_owned(),
            from: place.unwrap_or_else(|| to.clone()),
            to: Some(to.clone()),
        });
    }

    /// The work that ended last did not move the run.
    fn settle(&mut self) {
        if let Some(ended) = self.ended.take() {
            self.pass(ended);
        }
    }

    fn pass(&mut self, passage: Passage) {
        self.arrive(&passage);
        self.judge(&passage);
        let item = passage.item();
        if self.keeps_rows {
            self.digest.state_rows.push(self.pipeline, &item);
        }
        if !self.keeps_history && !self.keeps_log {
            return;
        }
        let line = item.line();
        if self.keeps_history {
            push(&mut self.digest.history, line.clone(), MOST_ITEMS);
        }
        if self.keeps_log {
            push(&mut self.digest.log, line, MOST_ITEMS);
        }
    }

    fn arrive(&mut self, passage: &Passage) {
        let Some(to) = &passage.to else { return };
        let digest = &mut *self.digest;
        let state = |name| state(self.pipeline, name);
        let last = digest.visited.last();
        if last.is_none_or(|last| state(last) != state(&passage.from)) {
            push(&mut digest.visited, passage.from.clone(), MOST_VISITED);
        }
        match passage.by {
            By::Reset { .. } => digest.reached.clear(),
            By::Agent(_) | By::Engine | By::Person(_) => {
                let name = shown(self.pipeline, to).to_owned();
                digest.reached.entry(name).or_insert(passage.at);
            }
        }
    }

    /// What a move says about the stage that it leaves.
    fn judge(&mut self, passage: &Passage) {
        if let By::Person(_) | By::Reset { .. } = passage.by {
            return self.forgive();
        }
        if passage.to.is_none() {
            return;
        }
        let name = shown(self.pipeline, &passage.from).to_owned();
        let verdict = self.digest.verdicts.get(&name);
        let failed = verdict.map_or(0, |verdict| verdict.failed);
        let verdict = match passage.outcome.as_str() {
            "passed" => Verdict {
                passed: true,
                failed,
            },
            "failed" => Verdict {
                passed: false,
                failed: failed + 1,
            },
            // A fault is not a verdict on the work.
            _ => return,
        };
        self.digest.verdicts.insert(name, verdict);
    }

    /// A person continued the run: earlier failures no longer count.
    fn forgive(&mut self) {
        for verdict in self.digest.verdicts.values_mut() {
            verdict.failed = 0;
        }
    }

    /// What else people look for; the rest is in the journal.
    fn remark(&mut self, entry: &Entry) {
        if !self.keeps_log {
            return;
        }
        let (kind, about) = match &entry.fact {
            Fact::Started(_) | Fact::Forked { .. } => (ItemKind::Started, None),
            Fact::Cancelled { reason } => (ItemKind::Cancelled, Some(reason.clone())),
            Fact::Retried { .. }
            | Fact::Stuck { .. }
            | Fact::Overridden { .. }
            | Fact::Warned { .. }
            | Fact::Abandoned
            | Fact::WentStale
            | Fact::Limited(_)
            | Fact::OverBudget { .. }
            | Fact::Halted { .. }
            | Fact::Unguarded(_)
            | Fact::AcceptedUnguarded { .. }
            | Fact::ChangedOutside(_)
            | Fact::Continued { .. } => {
                let text = sentence(entry, &self.digest.names).raw().to_owned();
                (ItemKind::Note, Some(text))
            }
            _ => return,
        };
        let line = Item::remark(entry.at, kind, about).line();
        push(&mut self.digest.log, line, MOST_ITEMS);
    }
}

/// All that tells one visited stage from another in a view.
fn state<'a>(pipeline: &'a Pipeline, name: &'a StageName) -> (&'a str, Option<&'a str>) {
    let kind = pipeline.stage(name).map(|stage| match stage.work.as_end() {
        Some(end) => words::end(end.end),
        None => words::stage_kind(stage),
    });
    (shown(pipeline, name), kind)
}

fn meet(sessions: &mut Vec<SessionId>, session: Option<&SessionId>) {
    if let Some(session) = session.filter(|session| !sessions.contains(session)) {
        sessions.push(session.clone());
    }
}

/// The oldest make room.
fn push<T>(list: &mut Vec<T>, item: T, most: usize) {
    list.push(item);
    let surplus = list.len().saturating_sub(most);
    list.drain(..surplus);
}
