//! A breadth-first search over everything that can happen, with the real engine at every step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use engine::{HostName, Pipeline, StageName};

use super::super::player::Player;
use super::super::step::Step;
use super::beginning::beginnings;
use super::normal::normal;
use super::possible::steps;
use super::transition::{Transition, taken_in};

/// The most states of a search.
const MOST_STATES: usize = 20_000;

/// The result of the search.
pub(super) struct Search {
    pub states: Vec<SearchState>,
    /// The first states, with the steps that lead to them.
    pub roots: Vec<(usize, Vec<Step>)>,
    entered: BTreeSet<StageName>,
    reached: BTreeSet<Transition>,
    end: End,
}

pub(super) struct SearchState {
    pub stage: StageName,
    pub links: Vec<Link>,
}

/// A step from one state to another.
pub(super) struct Link {
    pub step: Step,
    pub to: usize,
    pub covers: Vec<Transition>,
}

enum End {
    All,
    TooMany,
}

impl Search {
    pub(super) fn run(pipeline: &Pipeline, host: &HostName, wanted: &[Transition]) -> Self {
        let search = Self {
            states: Vec::new(),
            roots: Vec::new(),
            entered: BTreeSet::new(),
            reached: BTreeSet::new(),
            end: End::All,
        };
        Walk {
            pipeline,
            host,
            search,
            known: BTreeMap::new(),
            queue: VecDeque::new(),
        }
        .all(wanted)
    }

    pub(super) fn reaches(&self, transition: &Transition) -> bool {
        self.reached.contains(transition)
    }

    pub(super) fn why_not(&self, transition: &Transition) -> String {
        let stage = transition.stage();
        match self.end {
            End::TooMany => format!("the search stopped after {MOST_STATES} states"),
            End::All if !self.entered.contains(stage) => format!("nothing leads to `{stage}`"),
            End::All => format!("no step of a scenario does this in `{stage}`"),
        }
    }
}

struct Walk<'a> {
    pipeline: &'a Pipeline,
    host: &'a HostName,
    search: Search,
    known: BTreeMap<String, usize>,
    queue: VecDeque<(usize, Player<'a>)>,
}

impl<'a> Walk<'a> {
    fn all(mut self, wanted: &[Transition]) -> Search {
        self.begin();
        let mut missing: BTreeSet<&Transition> = wanted.iter().collect();
        while let Some((state, player)) = self.queue.pop_front() {
            self.expand(state, &player);
            missing.retain(|one| !self.search.reached.contains(*one));
            if missing.is_empty() {
                break;
            }
            if self.search.states.len() > MOST_STATES {
                self.search.end = End::TooMany;
                break;
            }
        }
        self.search
    }

    fn begin(&mut self) {
        for steps in beginnings(self.pipeline.definition()) {
            let mut player = Player::new(self.pipeline, self.host);
            let played = steps.iter().all(|step| player.play(step).is_ok());
            if played && let Some(state) = self.state(player) {
                self.search.roots.push((state, steps));
            }
        }
    }

    /// The state of this player; a new one is queued.
    fn state(&mut self, mut player: Player<'a>) -> Option<usize> {
        let run = player.run.as_ref()?;
        let form = normal(&player, run);
        if let Some(state) = self.known.get(&form) {
            return Some(*state);
        }
        self.search.entered.insert(run.position.stage.clone());
        let state = self.search.states.len();
        self.search.states.push(SearchState {
            stage: run.position.stage.clone(),
            links: Vec::new(),
        });
        self.known.insert(form, state);
        // The links have the history; without it the queued players stay small.
        player.entries.clear();
        self.queue.push_back((state, player));
        Some(state)
    }

    fn expand(&mut self, from: usize, player: &Player<'a>) {
        let Some(run) = &player.run else { return };
        let definition = self.pipeline.definition();
        let Some(stage) = self.pipeline.stage(&run.position.stage) else {
            return;
        };
        for step in steps(definition, stage, run) {
            let mut after = player.clone();
            if after.play(&step).is_err() {
                continue;
            }
            let covers = taken_in(definition, &after.entries);
            self.search.reached.extend(covers.iter().cloned());
            if let Some(to) = self.state(after) {
                self.search.states[from]
                    .links
                    .push(Link { step, to, covers });
            }
        }
    }
}
