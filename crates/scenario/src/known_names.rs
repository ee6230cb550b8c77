//! The names that a scenario may use: those of its pipeline, its own, and quoted ones.

use std::collections::BTreeSet;

use engine::{
    AgentName, AgentPattern, ArtifactName, CounterName, Definition, Fault, NameError, Outcome,
    ParamName, SESSION, StageName, StepId, StepsSource, Work, Worker,
};

use super::mistake::{Mistake, Rule};
use super::phrase::{bad, unknown};
use super::words::{Form, Word};

pub(crate) struct KnownNames<'a> {
    definition: &'a Definition,
    /// Agents and ids of the steps that the scenario gives.
    agents: BTreeSet<AgentName>,
    steps: BTreeSet<StepId>,
}

/// Parses the text as a name of this kind.
pub(crate) fn name<T>(word: &Word, parse: fn(&str) -> Result<T, NameError>) -> Result<T, Mistake> {
    parse(&word.text).map_err(|problem| bad(word, format!("`{}`: {problem}", word.text)))
}

impl<'a> KnownNames<'a> {
    pub(crate) fn new(definition: &'a Definition) -> Self {
        Self {
            definition,
            agents: BTreeSet::new(),
            steps: fixed_steps(definition),
        }
    }

    pub(crate) fn add_step(&mut self, step: &engine::Step) {
        self.agents.insert(step.agent.clone());
        self.steps.insert(step.id.clone());
    }

    pub(crate) fn agent(&self, word: &Word) -> Result<AgentName, Mistake> {
        let agent = name(word, AgentName::parse)?;
        let is_known = || {
            self.agents.contains(&agent)
                || self
                    .patterns()
                    .iter()
                    .any(|known| known.covers(agent.as_str()))
        };
        if word.form == Form::Quoted || is_known() {
            return Ok(agent);
        }
        let patterns = self.patterns();
        let known = patterns.iter().map(AgentPattern::as_str);
        let known = known.chain(self.agents.iter().map(AgentName::as_str));
        let mistake = unknown(Rule::UnknownName, word, "an agent of this pipeline", known);
        let hint = format!("{} (a stranger is written in quotes)", mistake.hint);
        Err(Mistake { hint, ..mistake })
    }

    pub(crate) fn stage(&self, word: &Word) -> Result<StageName, Mistake> {
        let stages = self.definition.stages.iter().map(|stage| &stage.name);
        one(word, "a stage of this pipeline", stages, StageName::as_str)
    }

    pub(crate) fn counter(&self, word: &Word) -> Result<CounterName, Mistake> {
        let counters = self.definition.counters.keys();
        one(
            word,
            "a counter of this pipeline",
            counters,
            CounterName::as_str,
        )
    }

    pub(crate) fn artifact(&self, word: &Word) -> Result<ArtifactName, Mistake> {
        let artifacts = self.definition.artifacts.keys();
        one(
            word,
            "an artifact of this pipeline",
            artifacts,
            ArtifactName::as_str,
        )
    }

    pub(crate) fn param(&self, word: &Word, key: &str) -> Result<ParamName, Mistake> {
        let key = Word {
            text: String::from(key),
            ..word.clone()
        };
        let params = self.definition.params.keys();
        one(
            &key,
            "a parameter of this pipeline",
            params,
            ParamName::as_str,
        )
    }

    pub(crate) fn step(&self, word: &Word) -> Result<StepId, Mistake> {
        if word.form == Form::Quoted {
            return name(word, StepId::parse);
        }
        one(
            word,
            "a step that was given",
            self.steps.iter(),
            StepId::as_str,
        )
    }

    /// The outcomes and faults of work.
    pub(crate) fn outcome(&self, word: &Word) -> Result<Outcome, Mistake> {
        let artifacts = self.definition.artifacts.values();
        let stated = artifacts.filter_map(|artifact| artifact.outcome.as_ref());
        let stated = stated
            .flat_map(|field| field.values.values())
            .map(Outcome::as_str);
        let own = self
            .definition
            .stages
            .iter()
            .flat_map(|stage| stage.on.keys());
        let own = own.map(Outcome::as_str);
        let faults = Fault::ALL.iter().map(|fault| fault.word());
        self.word(
            word,
            "an outcome",
            stated.chain(own).chain(faults).chain(["done"]),
        )
    }

    /// The answers to a question.
    pub(crate) fn choice(&self, word: &Word) -> Result<Outcome, Mistake> {
        let asks = self.definition.stages.iter();
        let asks = asks.filter(|stage| matches!(stage.work, Work::Ask(_)));
        let choices = asks.flat_map(|stage| stage.on.keys()).map(Outcome::as_str);
        self.word(word, "a choice of a question here", choices)
    }

    fn word<'k>(
        &self,
        word: &Word,
        wanted: &str,
        known: impl Iterator<Item = &'k str>,
    ) -> Result<Outcome, Mistake> {
        let known: BTreeSet<&str> = known.collect();
        if word.form != Form::Quoted && !known.contains(word.text.as_str()) {
            return Err(unknown(Rule::UnknownName, word, wanted, known));
        }
        name(word, Outcome::parse)
    }

    /// Every agent name and glob in the stages.
    fn patterns(&self) -> Vec<AgentPattern> {
        let definition = self.definition;
        let groups = definition.groups.values().flatten();
        let stages = definition
            .stages
            .iter()
            .flat_map(|stage| spoken_of(definition, &stage.work));
        stages
            .chain(groups.cloned())
            .chain([AgentPattern::new(SESSION)])
            .collect()
    }
}

fn spoken_of(definition: &Definition, work: &Work) -> Vec<AgentPattern> {
    let named = |agent: &AgentName| AgentPattern::new(agent.as_str());
    let no_group = |pattern: &&AgentPattern| definition.group(pattern).is_none();
    match work {
        Work::Agent(work) => match &work.worker {
            Worker::Session => Vec::new(),
            Worker::Agent(agent) => vec![named(agent)],
        },
        Work::Open(work) => work.allow.iter().filter(no_group).cloned().collect(),
        Work::End(work) => {
            let after = work.after.iter().map(|after| &after.agent);
            after.filter(no_group).cloned().collect()
        }
        Work::Review(work) => {
            let panel = work.panel.iter().map(|reviewer| &reviewer.agent);
            panel.chain([&work.owner]).map(named).collect()
        }
        Work::Steps(work) => match &work.source {
            StepsSource::Fixed(steps) => steps.iter().map(|step| named(&step.agent)).collect(),
            StepsSource::Start | StepsSource::Artifact(_) | StepsSource::ArtifactOrStart(_) => {
                work.agents.iter().filter(no_group).cloned().collect()
            }
        },
        Work::Check(_) | Work::Ask(_) | Work::Route(_) => Vec::new(),
    }
}

fn fixed_steps(definition: &Definition) -> BTreeSet<StepId> {
    let steps = definition
        .stages
        .iter()
        .flat_map(|stage| match &stage.work {
            Work::Steps(work) => match &work.source {
                StepsSource::Fixed(steps) => steps.as_slice(),
                StepsSource::Start | StepsSource::Artifact(_) | StepsSource::ArtifactOrStart(_) => {
                    &[]
                }
            },
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Review(_)
            | Work::Route(_)
            | Work::End(_) => &[],
        });
    steps.map(|step| step.id.clone()).collect()
}

fn one<'k, T: Clone + 'k>(
    word: &Word,
    wanted: &str,
    known: impl Iterator<Item = &'k T>,
    text: fn(&T) -> &str,
) -> Result<T, Mistake> {
    let known: Vec<&T> = known.collect();
    let found = known.iter().find(|known| text(known) == word.text);
    found.map(|found| (*found).clone()).ok_or_else(|| {
        unknown(
            Rule::UnknownName,
            word,
            wanted,
            known.iter().map(|k| text(k)),
        )
    })
}
