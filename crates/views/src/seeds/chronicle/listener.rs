//! Listening: each entry once, and what it means for every format.

use engine::{
    AgentName, DispatchId, Entry, Fact, Move, Pipeline, SessionId, StageName, Time, ViewFormat,
    WorkResult,
};

use super::{By, Chronicle, MOST_LINES, MOST_WORDS, Passage};
use crate::seeds::{ansible_state, log, pipeline_state, shown, task_state};

pub fn hear(chronicle: &mut Chronicle, pipeline: &Pipeline, entries: &[(u64, &Entry)]) -> String {
    chronicle.cast.know_panels(pipeline);
    let views = &pipeline.definition().views;
    let has = |format: &ViewFormat| views.iter().any(|view| view.format == *format);
    let mut listener = Listener {
        pipeline,
        chronicle,
        keeps_history: has(&ViewFormat::PipelineState),
        keeps_lines: has(&ViewFormat::AnsibleState),
        keeps_log: has(&ViewFormat::Log),
        ended: None,
        failed: None,
        checked: None,
        log: String::new(),
    };
    for (number, entry) in entries {
        listener.hear(entry);
        listener.chronicle.version = *number;
    }
    listener.settle();
    listener.log
}

struct Listener<'a> {
    pipeline: &'a Pipeline,
    chronicle: &'a mut Chronicle,
    keeps_history: bool,
    keeps_lines: bool,
    keeps_log: bool,
    /// Work that ended well: a move in the same decision is what came of it.
    ended: Option<Passage>,
    /// Work that failed, and when.
    failed: Option<(Time, AgentName)>,
    /// When commands were run. Their verdict is nobody's word, whoever had them run.
    checked: Option<Time>,
    log: String,
}

impl Listener<'_> {
    fn hear(&mut self, entry: &Entry) {
        let fact = &entry.fact;
        let another = matches!(fact, Fact::Admitted { .. } | Fact::Ended { .. });
        if another || self.ended.as_ref().is_some_and(|it| it.at != entry.at) {
            self.settle();
        }
        self.chronicle.cast.hear(fact);
        if self.keeps_log {
            log::push(&mut self.log, entry, &self.chronicle.cast);
        }
        if self.keeps_lines
            && let Some(words) = ansible_state::remark(entry, &self.chronicle.cast)
        {
            self.line(entry.at, &words);
        }
        match fact {
            Fact::Ended {
                dispatch, result, ..
            } => self.end(entry.at, *dispatch, result),
            Fact::Moved(step) => self.moved(entry, step),
            Fact::Reset { reason, stage } => self.set_back(entry.at, stage, reason),
            Fact::Restored { state, reason, .. } => {
                self.set_back(entry.at, &state.position.stage, reason);
                self.chronicle.was_reset = false;
            }
            Fact::Checked { .. } => self.checked = Some(entry.at),
            other => self.note(other),
        }
    }

    /// What is only remembered.
    fn note(&mut self, fact: &Fact) {
        let chronicle = &mut *self.chronicle;
        match fact {
            Fact::Started(started) => {
                chronicle.place = Some(started.stage.clone());
                meet(&mut chronicle.sessions, started.session.as_ref());
            }
            Fact::Forked { state, .. } => chronicle.place = Some(state.position.stage.clone()),
            Fact::Attached { session, .. } => meet(&mut chronicle.sessions, Some(session)),
            Fact::Admitted { dispatch } => {
                chronicle.was_reset = false;
                meet(&mut chronicle.sessions, dispatch.session.as_ref());
            }
            Fact::Continued { .. } | Fact::Unstuck => chronicle.validations.failed = 0,
            _ => {}
        }
    }

    fn end(&mut self, at: Time, dispatch: DispatchId, result: &WorkResult) {
        let agent = self.chronicle.cast.forget(dispatch);
        match (agent, &self.chronicle.place, result) {
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
        self.chronicle.was_reset = false;
        self.chronicle.place = Some(step.to.clone());
        self.pass(&Passage {
            at: entry.at,
            by,
            outcome: step.outcome.clone(),
            from: step.from.clone(),
            to: Some(step.to.clone()),
        });
    }

    fn set_back(&mut self, at: Time, to: &StageName, reason: &str) {
        let place = self.chronicle.place.replace(to.clone());
        self.chronicle.was_reset = true;
        self.pass(&Passage {
            at,
            by: By::Reset {
                reason: reason.to_owned(),
            },
            outcome: "reset".to_owned(),
            from: place.unwrap_or_else(|| to.clone()),
            to: Some(to.clone()),
        });
    }

    /// The work that ended last has led nowhere.
    fn settle(&mut self) {
        if let Some(ended) = self.ended.take() {
            self.pass(&ended);
        }
    }

    fn pass(&mut self, passage: &Passage) {
        let pipeline = self.pipeline;
        self.arrive(passage);
        ansible_state::judge(&mut self.chronicle.validations, pipeline, passage);
        if self.keeps_history {
            let item = pipeline_state::item(pipeline, passage);
            push(&mut self.chronicle.history, item, MOST_LINES);
        }
        if self.keeps_lines {
            self.line(passage.at, &ansible_state::passed(pipeline, passage));
        }
    }

    fn arrive(&mut self, passage: &Passage) {
        let Some(to) = &passage.to else { return };
        let chronicle = &mut *self.chronicle;
        let before = task_state::word(self.pipeline, &passage.from);
        if chronicle.words.last().is_none_or(|last| last != before) {
            push(&mut chronicle.words, before.to_owned(), MOST_WORDS);
        }
        match passage.by {
            By::Reset { .. } => chronicle.arrived.clear(),
            By::Agent(_) | By::Engine | By::Person(_) => {
                let name = shown(self.pipeline, to).to_owned();
                chronicle.arrived.entry(name).or_insert(passage.at);
            }
        }
    }

    fn line(&mut self, at: Time, words: &str) {
        let line = ansible_state::line_of(at, words);
        push(&mut self.chronicle.lines, line, MOST_LINES);
    }
}

fn meet(sessions: &mut Vec<SessionId>, session: Option<&SessionId>) {
    if let Some(session) = session.filter(|session| !sessions.contains(session)) {
        sessions.push(session.clone());
    }
}

/// The oldest make room.
fn push(list: &mut Vec<String>, line: String, most: usize) {
    list.push(line);
    let surplus = list.len().saturating_sub(most);
    list.drain(..surplus);
}
