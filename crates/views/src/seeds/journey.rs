//! The journal as a journey: whose work or word led from which stage to which.

use std::collections::BTreeMap;

use engine::{AgentName, DispatchId, Entry, Fact, StageName, Time, Who, WorkResult};

/// One thing on the way, in the order in which it happened.
pub enum Told<'a> {
    Passage(Passage<'a>),
    /// Something that ended no work and moved nothing.
    Entry(&'a Entry),
}

/// A piece of work that ended well, a move from stage to stage, or both.
pub struct Passage<'a> {
    pub at: Time,
    pub by: By<'a>,
    pub outcome: &'a str,
    pub from: &'a StageName,
    /// Where it led; `None` when the run stayed.
    pub to: Option<&'a StageName>,
}

/// Whose work or word it was.
pub enum By<'a> {
    Agent(&'a AgentName),
    /// A check that our own side ran.
    Engine,
    Person(&'a Who),
    /// A person set the run back.
    Reset {
        reason: &'a str,
    },
}

/// The whole way of the run.
pub fn journey<'a>(entries: &[(u64, &'a Entry)]) -> Vec<Told<'a>> {
    let mut walk = Walk::default();
    for (_, entry) in entries {
        walk.hear(entry);
    }
    walk.told
}

/// Only the passages of it.
pub fn passages<'a>(entries: &[(u64, &'a Entry)]) -> Vec<Passage<'a>> {
    let told = journey(entries).into_iter();
    told.filter_map(|told| match told {
        Told::Passage(passage) => Some(passage),
        Told::Entry(_) => None,
    })
    .collect()
}

#[derive(Default)]
struct Walk<'a> {
    told: Vec<Told<'a>>,
    place: Option<&'a StageName>,
    /// Who is at work, and where: not every beginning of a long run is told.
    at_work: BTreeMap<DispatchId, (&'a AgentName, &'a StageName)>,
    /// Whose work ended last, and when: a move at the same time is what came of it.
    ended: Option<(Time, &'a AgentName)>,
}

impl<'a> Walk<'a> {
    fn hear(&mut self, entry: &'a Entry) {
        match &entry.fact {
            Fact::Started(started) => self.place = Some(&started.stage),
            Fact::Forked { state, .. } => self.place = Some(&state.position.stage),
            Fact::Admitted { dispatch } => {
                let at_work = (&dispatch.agent, &dispatch.stage);
                self.at_work.insert(dispatch.id, at_work);
            }
            Fact::Ended {
                dispatch, result, ..
            } => return self.ended(entry, *dispatch, result),
            Fact::Moved(step) => return self.moved(entry, step),
            Fact::Reset { reason, stage } => return self.set_back(entry, stage, reason),
            Fact::Restored { state, reason, .. } => {
                return self.set_back(entry, &state.position.stage, reason);
            }
            _ => {}
        }
        self.told.push(Told::Entry(entry));
    }

    fn ended(&mut self, entry: &'a Entry, dispatch: DispatchId, result: &'a WorkResult) {
        let at_work = self.at_work.remove(&dispatch);
        self.ended = at_work.map(|(agent, _)| (entry.at, agent));
        match (at_work, result) {
            (Some((agent, from)), WorkResult::Outcome(outcome)) => {
                self.told.push(Told::Passage(Passage {
                    at: entry.at,
                    by: By::Agent(agent),
                    outcome: outcome.as_str(),
                    from,
                    to: None,
                }));
            }
            _ => self.told.push(Told::Entry(entry)),
        }
    }

    fn moved(&mut self, entry: &'a Entry, step: &'a engine::Move) {
        self.place = Some(&step.to);
        let ended = self.ended.take().filter(|(at, _)| *at == entry.at);
        if ended.is_some() && self.lead_on(entry, step) {
            return;
        }
        let by = match (ended, &entry.by) {
            (Some((_, agent)), _) => By::Agent(agent),
            (None, who) if who.is_human() => By::Person(who),
            (None, _) => By::Engine,
        };
        self.told.push(Told::Passage(Passage {
            at: entry.at,
            by,
            outcome: &step.outcome,
            from: &step.from,
            to: Some(&step.to),
        }));
    }

    /// The work that ended in the same decision led here. What it left stands between the two.
    fn lead_on(&mut self, entry: &Entry, step: &'a engine::Move) -> bool {
        let same_decision = |told: &&mut Told<'a>| match told {
            Told::Passage(passage) => passage.at == entry.at,
            Told::Entry(other) => other.at == entry.at,
        };
        let told = self.told.iter_mut().rev().take_while(same_decision);
        for told in told {
            if let Told::Passage(passage) = told {
                let open = passage.to.is_none() && matches!(passage.by, By::Agent(_));
                if open {
                    passage.to = Some(&step.to);
                    passage.outcome = &step.outcome;
                }
                return open;
            }
        }
        false
    }

    fn set_back(&mut self, entry: &'a Entry, to: &'a StageName, reason: &'a str) {
        let from = self.place.replace(to).unwrap_or(to);
        self.told.push(Told::Passage(Passage {
            at: entry.at,
            by: By::Reset { reason },
            outcome: "reset",
            from,
            to: Some(to),
        }));
    }
}
