//! Routes: how a run gets into a stage, and how it continues.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use engine::{End, Fault, HostName, Pipeline, Stage, StageName, Work};

use super::super::step::{Act, How, Step};
use super::search::{Link, Search};
use super::transition::{self, Transition};

/// Every state of a search, with the steps between them.
pub struct Routes<'a> {
    pipeline: &'a Pipeline,
    search: Search,
}

/// A step, and the stage of the run after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    pub step: Step,
    pub stage: StageName,
}

/// The shortest route into a stage.
#[derive(Clone, Debug)]
pub struct Route {
    /// What exists before, and how the run starts.
    pub beginning: Vec<Step>,
    pub legs: Vec<Leg>,
    state: usize,
}

impl<'a> Routes<'a> {
    pub fn find(pipeline: &'a Pipeline, host: &HostName) -> Self {
        let wanted = transition::all(pipeline.definition());
        let search = Search::run(pipeline, host, &wanted);
        Self { pipeline, search }
    }

    /// The route into this stage, if one exists without waiting for a time limit and without help from outside.
    pub fn to(&self, stage: &StageName) -> Option<Route> {
        let is_there =
            |state: usize| self.search.states.get(state).map(|s| &s.stage) == Some(stage);
        let roots: Vec<usize> = self.search.roots.iter().map(|(state, _)| *state).collect();
        let way = self.shortest(&roots, |_, _| true, is_there)?;
        let (_, beginning) = self
            .search
            .roots
            .iter()
            .find(|(root, _)| *root == way.from)?;
        Some(Route {
            beginning: beginning.clone(),
            legs: self.legs(&way),
            state: way.to,
        })
    }

    /// How the run leaves the last stage of this route with its work done, towards a successful end
    /// if there is one.
    pub fn onward(&self, route: &Route) -> Option<Vec<Leg>> {
        let here = &self.search.states.get(route.state)?.stage;
        let stage = self.pipeline.stage(here)?;
        let leaves = |good: bool| {
            let stays = |link: &Link| self.stage_after(link) == Some(here) || passes(stage, link);
            self.shortest(
                &[route.state],
                |from, link| self.search.states[from].stage == *here && stays(link),
                |state| {
                    let there = self.search.states.get(state).map(|state| &state.stage);
                    there.is_some_and(|there| there != here && (!good || !self.is_bad_end(there)))
                },
            )
        };
        let way = leaves(true).or_else(|| leaves(false))?;
        Some(self.legs(&way))
    }

    /// Where one step leads from the end of this route.
    pub fn after(&self, route: &Route, is_meant: impl Fn(&Step) -> bool) -> Option<Leg> {
        let mut links = self.search.states.get(route.state)?.links.iter();
        let link = links.find(|link| is_meant(&link.step))?;
        Some(self.leg(link))
    }

    fn is_bad_end(&self, stage: &StageName) -> bool {
        let stage = self.pipeline.stage(stage);
        stage
            .is_some_and(|stage| matches!(&stage.work, Work::End(end) if end.end != End::Completed))
    }

    fn stage_after(&self, link: &Link) -> Option<&StageName> {
        self.search.states.get(link.to).map(|state| &state.stage)
    }

    fn leg(&self, link: &Link) -> Leg {
        let stage = self.stage_after(link).cloned();
        Leg {
            step: link.step.clone(),
            stage: stage.unwrap_or_else(|| self.pipeline.definition().start.clone()),
        }
    }

    fn legs(&self, way: &Way<'_>) -> Vec<Leg> {
        way.links.iter().map(|link| self.leg(link)).collect()
    }

    fn shortest(
        &self,
        from: &[usize],
        may_take: impl Fn(usize, &Link) -> bool,
        is_there: impl Fn(usize) -> bool,
    ) -> Option<Way<'_>> {
        let mut came: Predecessors<'_> = from.iter().map(|state| (*state, None)).collect();
        let mut queue: VecDeque<usize> = from.iter().copied().collect();
        while let Some(state) = queue.pop_front() {
            if is_there(state) {
                return Some(back(&came, state));
            }
            for link in &self.search.states[state].links {
                if needs_others(&link.step) || !may_take(state, link) {
                    continue;
                }
                if let Entry::Vacant(place) = came.entry(link.to) {
                    place.insert(Some((state, link)));
                    queue.push_back(link.to);
                }
            }
        }
        None
    }
}

struct Way<'a> {
    from: usize,
    to: usize,
    links: Vec<&'a Link>,
}

type Predecessors<'a> = BTreeMap<usize, Option<(usize, &'a Link)>>;

fn back<'a>(came: &Predecessors<'a>, to: usize) -> Way<'a> {
    let (mut state, mut links) = (to, Vec::new());
    while let Some(Some((before, link))) = came.get(&state) {
        links.push(*link);
        state = *before;
    }
    links.reverse();
    Way {
        from: state,
        to,
        links,
    }
}

/// Does the run leave the stage with its work done by this step?
fn passes(stage: &Stage, link: &Link) -> bool {
    link.covers.iter().any(|covered| match covered {
        Transition::Move { from, way, .. } if *from == stage.name => {
            let mut edges = stage.edges().into_iter();
            edges.any(|(one, _)| one.to_string() == *way && stage.passes(&one))
        }
        Transition::Move { .. } | Transition::Finding { .. } => false,
    })
}

/// Does it need waiting, or somebody from outside?
fn needs_others(step: &Step) -> bool {
    match step {
        Step::Wait(_) => true,
        Step::Act { act, .. } => {
            matches!(
                act,
                Act::End {
                    how: How::Fault(Fault::Timeout),
                    ..
                }
            )
        }
        // What changes the evidence of a route is not part of any work.
        Step::Change(_) => true,
        Step::Given(_) | Step::Start(_) | Step::TreeChanges => false,
    }
}
