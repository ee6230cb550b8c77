//! What every diagram draws: the stages and the arrows between them.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    Counter, CounterName, Definition, Edge, LongerWay, Run, Stage, StageName, Target, longer_ways,
};

use super::caption;
use crate::limits;

pub(crate) struct Chart<'a> {
    pub definition: &'a Definition,
    pub run: Option<&'a Run>,
    places: BTreeMap<&'a StageName, usize>,
}

/// An arrow of a picture, between the places of two stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrow {
    pub from: usize,
    pub to: usize,
    pub label: String,
    pub line: LineStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineStyle {
    Solid,
    /// Taken only when a counter is full, back from such an escalation, or when a run has outgrown a route.
    Dashed,
}

impl<'a> Chart<'a> {
    pub(crate) fn new(definition: &'a Definition, run: Option<&'a Run>) -> Self {
        let stages = definition.stages.iter().enumerate();
        let places = stages.map(|(place, stage)| (&stage.name, place)).collect();
        Self {
            definition,
            run,
            places,
        }
    }

    pub(crate) fn stages(&self) -> impl Iterator<Item = (usize, &'a Stage)> {
        self.definition.stages.iter().enumerate()
    }

    pub(crate) fn place(&self, stage: &StageName) -> Option<usize> {
        self.places.get(stage).copied()
    }

    /// Where a run with given steps starts, if not at the start stage.
    pub(crate) fn start_with_steps(&self) -> Option<usize> {
        let stage = self.definition.begins_with_steps()?;
        self.place(&stage.name)
    }

    pub(crate) fn is_start(&self, stage: &Stage) -> bool {
        self.definition.start == stage.name
    }

    pub(crate) fn is_here(&self, stage: &Stage) -> bool {
        self.run.is_some_and(|run| run.position.stage == stage.name)
    }

    pub(crate) fn counter(&self, edge: &'a Edge) -> Option<(&'a CounterName, &'a Counter)> {
        let name = edge.count.as_ref()?;
        Some((name, self.definition.counters.get(name)?))
    }

    /// The counter's limit as a word: `2`, or `{limit}` while no run supplies it.
    pub(crate) fn maximum(&self, counter: &Counter) -> String {
        limits::word(&counter.max, self.definition, self.run)
    }

    /// Every arrow of the picture: an edge, the overflow of its counter, the returns.
    pub(crate) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for (from, stage) in self.stages() {
            for (way, edge) in stage.edges() {
                let label = caption::edge(self, &way.to_string(), edge);
                arrows.extend(self.edge_arrows(from, edge, &label));
            }
            arrows.extend(self.overflows(from, stage));
        }
        arrows.extend(self.outgrown().iter().filter_map(|way| {
            Some(Arrow {
                from: self.place(&way.from)?,
                to: self.place(&way.to)?,
                label: format!("outgrown {}", way.route),
                line: LineStyle::Dashed,
            })
        }));
        arrows
    }

    /// Where a run that no longer meets the rule of its route goes the longer way.
    pub(crate) fn outgrown(&self) -> Vec<LongerWay> {
        longer_ways(self.definition)
    }

    fn edge_arrows(&self, from: usize, edge: &Edge, label: &str) -> Vec<Arrow> {
        let arrow = |to, label, line| Arrow {
            from,
            to,
            label,
            line,
        };
        match &edge.to {
            Target::Stage(to) => {
                let to = self.place(to);
                to.map(|to| arrow(to, label.to_owned(), LineStyle::Solid))
                    .into_iter()
                    .collect()
            }
            Target::Interrupted => {
                let label = format!("{label} · @interrupted");
                let places = self.resumed(from).into_iter();
                places
                    .map(|to| arrow(to, label.clone(), LineStyle::Dashed))
                    .collect()
            }
            Target::Param(param) => {
                let choices = self.choices(param).into_iter();
                let label = |choice| format!("{label} · {param} = {choice}");
                choices
                    .map(|(to, choice)| arrow(to, label(choice), LineStyle::Solid))
                    .collect()
            }
        }
    }

    /// One dashed arrow for each counter that this stage counts, however many edges count it.
    fn overflows(&self, from: usize, stage: &'a Stage) -> Vec<Arrow> {
        let counted: BTreeMap<_, _> = stage
            .edges()
            .into_iter()
            .filter_map(|(_, edge)| self.counter(edge))
            .collect();
        let arrow = |(name, counter): (&CounterName, &Counter)| {
            let label = format!("{name} > {}", self.maximum(counter));
            Some(Arrow {
                from,
                to: self.place(&counter.then)?,
                label,
                line: LineStyle::Dashed,
            })
        };
        counted.into_iter().filter_map(arrow).collect()
    }

    /// Where `@interrupted` may lead from this stage: to the target that a full counter blocked, else
    /// back to where the run came from.
    pub(crate) fn resumed(&self, at: usize) -> BTreeSet<usize> {
        let mut places = BTreeSet::new();
        for (from, stage) in self.stages() {
            for (_, edge) in stage.edges() {
                let then = self
                    .counter(edge)
                    .and_then(|(_, counter)| self.place(&counter.then));
                let goals = self.goals(edge);
                if goals.contains(&at) {
                    places.insert(from);
                }
                if then == Some(at) {
                    places.extend(goals);
                }
            }
        }
        places
    }

    fn goals(&self, edge: &Edge) -> Vec<usize> {
        match &edge.to {
            Target::Stage(to) => self.place(to).into_iter().collect(),
            Target::Param(param) => self.choices(param).into_iter().map(|(to, _)| to).collect(),
            Target::Interrupted => Vec::new(),
        }
    }

    /// The stages that a parameter may name, or the one that it does name in this run.
    pub(crate) fn choices(&self, param: &engine::ParamName) -> Vec<(usize, &'a str)> {
        let given = self.run.and_then(|run| run.params.get(param));
        let declared = self.definition.params.get(param);
        let all = declared
            .map(|param| param.choices.as_slice())
            .unwrap_or_default();
        let chosen = all
            .iter()
            .filter(|choice| given.is_none_or(|given| given == *choice));
        let place = |choice: &'a String| {
            Some((
                self.place(&StageName::parse(choice).ok()?)?,
                choice.as_str(),
            ))
        };
        chosen.filter_map(place).collect()
    }
}
