//! Random definitions: stages of the built-ins, renamed and wired anew. And a run in any stage of one.

use std::collections::BTreeMap;

use engine::{Definition, Edge, Stage, StageName, Target, Work};
use engine::{Driver, Entry, Fact, Hash, HostName, Rule, Run, RunId, Started, Time, Who, apply};

/// A small generator (xorshift): the same seed gives the same definition on every machine.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % (limit as u64)).unwrap()
    }
}

pub(crate) fn rewired(builtins: &[Definition], chance: &mut Chance) -> Definition {
    let mut definition = builtins[chance.below(builtins.len())].clone();
    let all: Vec<&Stage> = builtins
        .iter()
        .flat_map(|builtin| &builtin.stages)
        .collect();
    let count = 1 + chance.below(16);
    let names: Vec<StageName> = (0..count).map(|number| name(number, chance)).collect();
    definition.stages = names
        .iter()
        .map(|name| stage(&all, name, &names, chance))
        .collect();
    definition.start = names[chance.below(count)].clone();
    for counter in definition.counters.values_mut() {
        counter.then = names[chance.below(count)].clone();
    }
    for artifact in definition.artifacts.values_mut() {
        if let Some(approved) = &mut artifact.approved {
            approved.then = names[chance.below(count)].clone();
        }
    }
    for param in definition.params.values_mut() {
        param.choices = names.iter().take(3).map(StageName::to_string).collect();
    }
    definition
}

fn name(number: usize, chance: &mut Chance) -> StageName {
    let tail = "abcdefgh_".repeat(1 + chance.below(6));
    StageName::parse(&format!("s{number}_{}", &tail[..chance.below(tail.len())])).unwrap()
}

fn stage(all: &[&Stage], name: &StageName, names: &[StageName], chance: &mut Chance) -> Stage {
    let mut stage = all[chance.below(all.len())].clone();
    stage.name = name.clone();
    for edge in stage.on.values_mut() {
        rewire(edge, names, chance);
    }
    let after = match &mut stage.work {
        Work::Open(open) => open.after.as_mut_slice(),
        Work::End(end) => end.after.as_mut_slice(),
        Work::Agent(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_) => &mut [],
    };
    for after in after {
        rewire(&mut after.edge, names, chance);
    }
    stage
}

fn rewire(edge: &mut Edge, names: &[StageName], chance: &mut Chance) {
    match &edge.to {
        Target::Stage(_) => edge.to = Target::Stage(names[chance.below(names.len())].clone()),
        Target::Interrupted | Target::Param(_) => {}
    }
}

/// A run whose parameters have their defaults and whose counters are half full.
pub(crate) fn run_in(definition: &Definition, stage: &StageName) -> Run {
    let params = definition.params.iter();
    let params =
        params.map(|(name, param)| (name.clone(), param.default.clone().unwrap_or_default()));
    let started = Started {
        branch: None,
        id: RunId::parse("r-7f3").unwrap(),
        definition: Hash([1; 32]),
        task: "Draw me".to_owned(),
        params: params.collect(),
        driver: Driver::Headless,
        host: HostName::listed("claude"),
        stage: stage.clone(),
        session: None,
        process: None,
        steps: Vec::new(),
        before: BTreeMap::new(),
        queued: false,
        environment: None,
        base: None,
        commit: None,
    };
    let entry = Entry {
        at: Time(1),
        by: Who::Person("ann".to_owned()),
        rule: Rule::Begin,
        fact: Fact::Started(Box::new(started)),
    };
    let mut run = apply(None, &entry).unwrap();
    run.counters = definition
        .counters
        .keys()
        .map(|name| (name.clone(), 10))
        .collect();
    run
}
