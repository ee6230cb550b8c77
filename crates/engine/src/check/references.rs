//! Names: every name exists, limits are numbers, and a definition stays within its size.

mod params;
mod routes;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::definition::{Act, Definition};
use crate::names::{ArtifactName, CounterName, StageName};
use crate::nearest::nearest;
use crate::outcome::{Fault, Outcome};
use crate::place;
use crate::problem::{CheckRule, Place, Problem};
use crate::stage::{CheckText, CheckWork, Commands, Edge, Questions, Stage, Target, Way, Work};
use crate::view::ViewFormat;

/// A definition with more stages than this is refused before anything grows with it.
const MOST_STAGES: usize = 4_096;

/// At most this many unknown names get a suggestion.
const MOST_SEARCHES: usize = 50;

/// Which counters may be named.
enum Among {
    Declared,
    /// Review stages have rounds, which go by the stage's name.
    Resettable,
}

struct Names<'a> {
    definition: &'a Definition,
    stages: BTreeSet<&'a str>,
    counters: BTreeSet<&'a str>,
    resettable: BTreeSet<&'a str>,
    problems: Vec<Problem>,
}

pub(super) fn check(definition: &Definition) -> Vec<Problem> {
    let stages = definition
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    let counters = definition
        .counters
        .keys()
        .map(CounterName::as_str)
        .collect();
    let mut names = Names {
        definition,
        stages,
        counters,
        resettable: definition.resettable(),
        problems: Vec::new(),
    };
    if definition.stages.len() > MOST_STAGES {
        let found = definition.stages.len();
        let message = format!("{found} stages are too many");
        let hint = format!("a pipeline has at most {MOST_STAGES} stages: split it");
        names.add(CheckRule::TooMany, place!["stages"], message, hint);
        return names.problems;
    }
    if definition.stages.is_empty() {
        let hint =
            String::from("add a table such as [stages.work] with `agent`, and one with `end`");
        names.add(
            CheckRule::NoStages,
            place!["stages"],
            String::from("there are no stages"),
            hint,
        );
        return names.problems;
    }
    names.stage(&definition.start, place!["start"]);
    names.twice();
    names.params();
    for (counter, declared) in &definition.counters {
        names.stage(&declared.then, place!["counters", counter, "then"]);
        names.amount(&declared.max, place!["counters", counter, "max"]);
    }
    for (name, artifact) in &definition.artifacts {
        if let Some(approved) = &artifact.approved {
            let place = place!["artifacts", name, "approved", "then"];
            names.stage(&approved.then, place);
        }
    }
    names.budget();
    names.views();
    names.slash_commands();
    names.routes();
    for stage in &definition.stages {
        names.stage_names(stage);
    }
    names.problems
}

/// The place of an edge in the definition.
pub(super) fn way_place(stage: &Stage, way: &Way<'_>) -> Place {
    match way {
        Way::Outcome(outcome) => place!["stages", stage.name, "on", outcome],
        Way::After(agent) => place!["stages", stage.name, "after", agent],
    }
}

/// The names in braces in a text, as `{target}`.
pub(super) fn placeholders(text: &str) -> Vec<&str> {
    let ends = text
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'));
    ends.map(|(name, _)| name).collect()
}

impl<'a> Names<'a> {
    fn add(&mut self, rule: CheckRule, place: Place, message: String, hint: String) {
        self.problems.push(Problem {
            rule,
            place,
            message,
            hint,
        });
    }

    fn unknown<'k>(
        &mut self,
        rule: CheckRule,
        place: Place,
        kind: &str,
        name: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        // A file with hundreds of wrong names is not helped by as many searches.
        let near = if self.problems.len() < MOST_SEARCHES {
            nearest(name, known.iter().copied())
        } else {
            None
        };
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => format!("this definition has no {kind}: declare it"),
            None => {
                let some: Vec<&str> = known.iter().take(12).copied().collect();
                format!("known here: {}", some.join(", "))
            }
        };
        self.add(rule, place, format!("there is no {kind} `{name}`"), hint);
    }

    /// A command that no stage accepts would always be refused.
    fn slash_commands(&mut self) {
        for (command, act) in &self.definition.commands {
            let fault = match act {
                Act::Answer(Some(choice)) => self.unknown_choice(choice),
                Act::Finish => self.nothing_to_finish(),
                Act::Start | Act::Answer(None) | Act::Retry | Act::Cancel | Act::Reset => None,
            };
            if let Some((message, hint)) = fault {
                let place = place!["commands", command];
                self.add(CheckRule::IdleCommand, place, message, hint);
            }
        }
    }

    fn unknown_choice(&self, choice: &Outcome) -> Option<(String, String)> {
        let chosen = |stage: &&Stage| {
            let ask = stage.work.as_ask();
            ask.is_some_and(|ask| ask.is_choice())
        };
        let questions = self.definition.stages.iter().filter(chosen);
        let known: BTreeSet<&str> = questions
            .flat_map(Stage::choices)
            .map(Outcome::as_str)
            .collect();
        // This word continues any run that was stopped.
        if known.contains(choice.as_str()) || *choice == Outcome::Continue {
            return None;
        }
        let some: Vec<&str> = known.iter().take(12).copied().collect();
        let hint = match nearest(choice.as_str(), known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if some.is_empty() => String::from("add a stage that asks, with `ask`"),
            None => format!("known here: {}", some.join(", ")),
        };
        Some((format!("no question has the choice `{choice}`"), hint))
    }

    fn nothing_to_finish(&self) -> Option<(String, String)> {
        let ends = |stage: &Stage| stage.on.contains_key(&Outcome::Finish);
        let none = !self.definition.stages.iter().any(ends);
        none.then(|| {
            let hint = "add `on.finish` to an open stage, or remove the command";
            (String::from("no stage can be finished"), String::from(hint))
        })
    }

    fn stage(&mut self, name: &StageName, place: Place) {
        if !self.stages.contains(name.as_str()) {
            let known: Vec<&str> = self.stages.iter().copied().collect();
            self.unknown(
                CheckRule::UnknownStage,
                place,
                "stage",
                name.as_str(),
                known,
            );
        }
    }

    fn artifact(&mut self, name: &ArtifactName, place: Place) {
        if !self.definition.artifacts.contains_key(name) {
            let known = self.definition.artifacts.keys().map(ArtifactName::as_str);
            self.unknown(
                CheckRule::UnknownArtifact,
                place,
                "artifact",
                name.as_str(),
                known,
            );
        }
    }

    fn artifacts<'n>(&mut self, names: impl IntoIterator<Item = &'n ArtifactName>, place: &Place) {
        names
            .into_iter()
            .for_each(|name| self.artifact(name, place.clone()));
    }

    fn twice(&mut self) {
        let mut seen = BTreeSet::new();
        for stage in &self.definition.stages {
            if !seen.insert(&stage.name) {
                let message = format!("stage `{}` is defined twice", stage.name);
                let hint = String::from("give one of them another name");
                self.add(
                    CheckRule::DuplicateStage,
                    place!["stages", stage.name],
                    message,
                    hint,
                );
            }
        }
    }

    /// A view of a loop names its counter, and perhaps a parameter.
    fn views(&mut self) {
        for view in &self.definition.views {
            let ViewFormat::LoopState(of) = &view.format else {
                continue;
            };
            let place = |key: &str| place!["views", view.format.word(), key];
            self.counter(&of.counter, Among::Declared, place("counter"));
            if let Some(param) = view.format.param() {
                self.param(param, place("promise"));
            }
        }
    }

    fn stage_names(&mut self, stage: &Stage) {
        let at = |key: &str| place!["stages", stage.name, key];
        for (way, edge) in stage.edges() {
            self.edge(edge, way_place(stage, &way));
            self.approval(stage, &way, edge);
        }
        self.least_one(stage);
        if let Some(retry) = &stage.retry {
            self.amount(&retry.max, at("retry"));
        }
        match &stage.work {
            Work::Agent(work) => {
                self.artifacts(work.reads.all(), &at("reads"));
                self.artifacts(work.leaves.all(), &at("leaves"));
            }
            Work::Open(work) => {
                self.artifacts(
                    work.leaves.iter().flat_map(|(_, names)| names),
                    &at("leaves"),
                );
            }
            Work::End(work) => {
                self.artifacts(
                    work.leaves.iter().flat_map(|(_, names)| names),
                    &at("leaves"),
                );
            }
            Work::Check(work) => self.check_names(stage, work),
            Work::Route(work) => self.route(stage, work),
            Work::Ask(work) => {
                if let Questions::From { field, .. } = &work.questions {
                    self.artifact(&field.artifact, at("from"));
                }
                self.artifacts(work.leaves(), &at("leaves"));
            }
            Work::Review(work) => {
                self.artifacts(work.reads.all(), &at("reads"));
                self.artifacts(&work.fixes, &at("fixes"));
                self.artifacts(&work.of, &at("of"));
                self.artifacts(work.panel.iter().map(|member| &member.leaves), &at("panel"));
                self.amount(&work.rounds, at("rounds"));
            }
            Work::Steps(work) => {
                self.artifacts(work.reads.all(), &at("reads"));
                self.artifacts(&work.leaves, &at("leaves"));
                if let Some(field) = work.source.field() {
                    self.artifact(&field.artifact, at("steps"));
                }
                if let Some(limit) = &work.max_parallel {
                    self.amount(limit, at("max_parallel"));
                }
            }
        }
    }

    fn check_names(&mut self, stage: &Stage, work: &CheckWork) {
        let at = |key: &str| place!["stages", stage.name, key];
        self.commands(&work.commands, &at("check"));
        for (text, key) in [(&work.fails_on, "fails_on"), (&work.expects, "expects")] {
            if let Some(CheckText::From(fields)) = text {
                self.artifacts(fields.iter().map(|field| &field.artifact), &at(key));
            }
        }
    }

    fn commands(&mut self, commands: &Commands, place: &Place) {
        match commands {
            Commands::Approved(fields) => {
                self.artifacts(fields.iter().map(|field| &field.artifact), place);
            }
            Commands::Fixed(lines) => {
                let words = lines.iter().flatten();
                for name in words.flat_map(|word| placeholders(word)) {
                    self.placeholder(name, place.clone());
                }
            }
        }
    }

    fn edge(&mut self, edge: &Edge, place: Place) {
        let at = |key: &str| {
            let mut place = place.clone();
            place.0.push(key.to_string());
            place
        };
        match &edge.to {
            Target::Stage(stage) => self.stage(stage, at("to")),
            Target::Interrupted => {}
            Target::Param(name) => self.param_target(name, &at("to")),
        }
        if let Some(counter) = &edge.count {
            self.counter(counter, Among::Declared, at("count"));
        }
        if edge.count.is_some() && edge.to == Target::Interrupted {
            let message = String::from("a return to `@interrupted` cannot count");
            let hint = String::from("remove `count` here");
            self.add(CheckRule::CountedReturn, at("count"), message, hint);
        }
        for counter in &edge.reset {
            self.counter(counter, Among::Resettable, at("reset"));
        }
        self.artifacts(&edge.approves, &at("approves"));
    }

    /// Only a person's answer approves.
    fn approval(&mut self, stage: &Stage, way: &Way<'_>, edge: &Edge) {
        let answered = match (&stage.work, way) {
            (Work::Ask(_), Way::Outcome(outcome)) => **outcome != Outcome::Fault(Fault::Timeout),
            _ => false,
        };
        if !edge.approves.is_empty() && !answered {
            let mut place = way_place(stage, way);
            place.0.push("approves".to_string());
            let message = format!("`{way}` of `{}` is not a person's answer", stage.name);
            let hint = String::from("approve with an answer of an `ask` stage");
            self.add(CheckRule::ApprovedByNobody, place, message, hint);
        }
    }

    fn counter(&mut self, counter: &CounterName, among: Among, place: Place) {
        let known = match among {
            Among::Declared => &self.counters,
            Among::Resettable => &self.resettable,
        };
        let name = counter.as_str();
        if !known.contains(name) {
            let known = known.clone();
            self.unknown(CheckRule::UnknownCounter, place, "counter", name, known);
        }
    }
}
