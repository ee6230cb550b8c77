//! Artifacts: one verdict per stage, paths inside the project, and known values of reviewers.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::references::placeholders;
use crate::definition::{ApprovedCommands, Artifact, Definition, Format, Source, Strictness};
use crate::names::{ArtifactName, ParamName};
use crate::outcome::Outcome;
use crate::place;
use crate::problem::{CheckRule, Place, Problem};
use crate::project_path;
use crate::stage::{
    CheckWork, Commands, FieldOf, Leaves, Questions, ReviewWork, Stage, StepsSource, StepsWork,
    Work, WorkerSettings,
};
use crate::steps::usable_steps;
use crate::view::{View, ViewFormat};

pub(super) fn check(definition: &Definition) -> Vec<Problem> {
    let mut checker = Checker {
        definition,
        problems: Vec::new(),
    };
    for (name, artifact) in &definition.artifacts {
        checker.artifact(name, artifact);
    }
    for (view, place) in placed_views(definition) {
        checker.path(place.clone(), &view.path);
        if placeholders(&view.path).contains(&"step") {
            let message = String::from(
                "the path of a view cannot contain `{step}`: a view shows the whole run",
            );
            let hint = "remove `{step}` from the path";
            checker.add(CheckRule::BadPath, place, message, hint);
        }
    }
    checker.shared_paths();
    for stage in &definition.stages {
        checker.stage(stage);
    }
    checker.problems
}

/// Every view with its place. Templates are numbered, since a pipeline may have several.
fn placed_views(definition: &Definition) -> impl Iterator<Item = (&View, Place)> {
    let mut templates = 0_usize..;
    definition.views.iter().map(move |view| {
        let word = view.format.word();
        let place = if let ViewFormat::Template(_) = view.format {
            place!["views", word, templates.next().unwrap_or(0)]
        } else {
            place!["views", word]
        };
        (view, place)
    })
}

struct Checker<'a> {
    definition: &'a Definition,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn add(&mut self, rule: CheckRule, place: Place, message: String, hint: &str) {
        self.problems.push(Problem {
            rule,
            place,
            message,
            hint: hint.to_string(),
        });
    }

    fn artifact(&mut self, name: &ArtifactName, artifact: &Artifact) {
        if artifact.outcome.is_some() && artifact.strictness != Strictness::Strict {
            let message = format!("`{name}` decides the outcome, so it cannot be optional");
            let hint = "remove `strict`";
            self.add(
                CheckRule::VerdictNotStrict,
                place!["artifacts", name, "strict"],
                message,
                hint,
            );
        }
        if artifact.outcome.is_some() && artifact.format == Format::Text {
            let message = format!("`{name}` is plain text and has no fields");
            let hint = "use `format = \"json\"` or `\"bundle\"`";
            self.add(
                CheckRule::FieldNeedsJson,
                place!["artifacts", name, "outcome"],
                message,
                hint,
            );
        }
        if let Source::File(path) = &artifact.source {
            self.path(place!["artifacts", name, "path"], path);
        }
        if let Strictness::Param(param) = &artifact.strictness {
            self.strictness(place!["artifacts", name, "strict"], param);
        }
        self.equals(name, artifact);
        if let Some(approved) = &artifact.approved {
            self.approved(name, approved);
        }
    }

    /// The question about new commands can approve them.
    fn approved(&mut self, name: &ArtifactName, approved: &ApprovedCommands) {
        let place = place!["artifacts", name, "approved"];
        let field = FieldOf {
            artifact: name.clone(),
            field: approved.field.clone(),
        };
        self.field(&field, place.clone());
        let mut stages = self.definition.stages.iter();
        let asks = stages.clone().any(|stage| {
            let approves = stage.on.values().any(|edge| edge.approves.contains(name));
            stage.name == approved.then && matches!(stage.work, Work::Ask(_)) && approves
        });
        if !asks {
            let message = format!("no answer in `{}` approves `{name}`", approved.then);
            let hint = format!("add approves = [\"{name}\"] to an answer of a question there");
            self.add(CheckRule::AddedCommands, place.clone(), message, &hint);
        }
        let by_steps = |stage: &Stage| {
            let steps = stage.work.as_steps();
            steps.is_some_and(|steps| steps.leaves.contains(name))
        };
        if stages.any(by_steps) {
            let message =
                format!("parallel steps write `{name}`, so nobody can be asked about its commands");
            let hint = "let one agent write the commands";
            self.add(CheckRule::AddedCommands, place, message, hint);
        }
    }

    /// The parameter has only known values.
    fn strictness(&mut self, place: Place, param: &ParamName) {
        let Some(declared) = self.definition.params.get(param) else {
            let message = format!("there is no parameter `{param}`");
            let hint = "declare it in [params]";
            self.add(CheckRule::UnknownParam, place, message, hint);
            return;
        };
        let is_known = |choice: &String| Strictness::WORDS.contains(&choice.as_str());
        if declared.choices.is_empty() || !declared.choices.iter().all(is_known) {
            let message = format!("`{param}` can have a value other than strict or advisory");
            let hint = "give it `choices = [\"strict\", \"advisory\"]`";
            self.add(CheckRule::BadStrictness, place, message, hint);
        }
    }

    fn equals(&mut self, name: &ArtifactName, artifact: &Artifact) {
        if !artifact.equals.is_empty() && artifact.format == Format::Text {
            let message = format!("`{name}` is plain text and has no fields");
            let hint = "use `format = \"json\"` or `\"bundle\"`";
            let place = place!["artifacts", name, "equals"];
            self.add(CheckRule::FieldNeedsJson, place, message, hint);
        }
        for (field, value) in &artifact.equals {
            let place = place!["artifacts", name, "equals", field];
            let own = ["agent", "stage", "run", "step"];
            self.placeholders(place, value, &own);
        }
    }

    fn path(&mut self, place: Place, path: &str) {
        let roundabout = path.split('/').any(|part| part.is_empty() || part == ".");
        if roundabout || project_path::leads_out(path) {
            let message = format!("`{path}` is outside the project");
            let hint = "write a plain path relative to the project, without `.` or `..`";
            self.add(CheckRule::BadPath, place.clone(), message, hint);
        }
        self.placeholders(place, path, &["run", "step"]);
    }

    /// Every placeholder is one of the engine's own, or a parameter.
    fn placeholders(&mut self, place: Place, text: &str, own: &[&str]) {
        for word in placeholders(text) {
            let param = ParamName::parse(word).ok();
            let known = param.is_some_and(|param| self.definition.params.contains_key(&param));
            if !known && !own.contains(&word) {
                let own = own.join("}`, `{");
                let message = format!("`{{{word}}}` is neither `{{{own}}}` nor a parameter");
                let hint = "declare the parameter, or remove the braces";
                self.add(CheckRule::UnknownParam, place.clone(), message, hint);
            }
        }
    }

    fn shared_paths(&mut self) {
        let artifacts = self.definition.artifacts.iter();
        let files = artifacts.filter_map(|(name, artifact)| match &artifact.source {
            Source::File(path) => Some((path, name.as_str(), place!["artifacts", name, "path"])),
            Source::Reply | Source::Answers => None,
        });
        let views = placed_views(self.definition);
        let views = views.map(|(view, place)| (&view.path, view.format.name(), place));
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        let all: Vec<(&String, &str, Place)> = files.chain(views).collect();
        for (path, name, place) in all {
            if let Some(other) = owners.insert(path, name) {
                let message = format!("`{name}` and `{other}` share the path `{path}`");
                let hint = "give each its own path";
                self.add(CheckRule::SharedPath, place, message, hint);
            }
        }
    }

    fn stage(&mut self, stage: &Stage) {
        match &stage.work {
            Work::Agent(work) => self.leaves(stage, &work.leaves),
            Work::Ask(work) => {
                if let Questions::From { field, .. } = &work.questions {
                    self.field(field, place!["stages", stage.name, "from"]);
                }
                if let Some(leaves) = work.leaves() {
                    self.answers(stage, leaves);
                }
            }
            Work::Check(work) => self.check_work(stage, work),
            Work::Review(work) => self.review(stage, work),
            Work::Steps(work) => self.steps(stage, work),
            Work::Open(_) | Work::Route(_) | Work::End(_) => {}
        }
        self.work_verdicts(stage);
        for artifact in self.left_by_agents(stage) {
            if self.source(&artifact) == Some(&Source::Answers) {
                let message =
                    format!("`{artifact}` contains a person's answers, but an agent writes it");
                let hint = "let an `ask` stage write it";
                let place = place!["stages", stage.name, "leaves"];
                self.add(CheckRule::SourceMismatch, place, message, hint);
            }
        }
    }

    /// Steps and open agents have no edges for other words: they are done, or they failed.
    fn work_verdicts(&mut self, stage: &Stage) {
        let open_assignment = matches!(stage.work, Work::Open(_) | Work::End(_) | Work::Steps(_));
        let left = if open_assignment {
            self.left_by_agents(stage)
        } else {
            Vec::new()
        };
        for name in left {
            let artifact = self.definition.artifacts.get(&name);
            let field = artifact.and_then(|artifact| artifact.outcome.as_ref());
            let other = field.and_then(|field| {
                let mut words = field.values.values();
                words
                    .find(|word| !matches!(word, Outcome::Done | Outcome::Failed))
                    .cloned()
            });
            if let Some(word) = other {
                let message = format!(
                    "`{name}` can say `{word}`, for which `{}` has no edge",
                    stage.name
                );
                let hint = "map its values to done or failed";
                let place = place!["artifacts", name, "outcome"];
                self.add(CheckRule::WorkVerdict, place, message, hint);
            }
        }
    }

    fn source(&self, artifact: &ArtifactName) -> Option<&Source> {
        self.definition
            .artifacts
            .get(artifact)
            .map(|artifact| &artifact.source)
    }

    fn left_by_agents(&self, stage: &Stage) -> Vec<ArtifactName> {
        let by_agent = |leaves: &[(crate::pattern::AgentPattern, Vec<ArtifactName>)]| {
            leaves
                .iter()
                .flat_map(|(_, names)| names.iter().cloned())
                .collect()
        };
        match &stage.work {
            Work::Agent(work) => work.leaves.all().into_iter().cloned().collect(),
            Work::Open(work) => by_agent(&work.leaves),
            Work::End(work) => by_agent(&work.leaves),
            Work::Review(work) => {
                let reviews = work.panel.iter().map(|member| &member.leaves);
                reviews.chain(&work.fixes).cloned().collect()
            }
            Work::Steps(work) => work.leaves.clone(),
            Work::Check(_) | Work::Ask(_) | Work::Route(_) => Vec::new(),
        }
    }

    fn leaves(&mut self, stage: &Stage, leaves: &Leaves) {
        let artifacts = &self.definition.artifacts;
        let tells = |name: &&ArtifactName| {
            artifacts
                .get(*name)
                .is_some_and(|artifact| artifact.outcome.is_some())
        };
        let verdicts: Vec<ArtifactName> = leaves.all().into_iter().filter(tells).cloned().collect();
        let place = place!["stages", stage.name, "leaves"];
        if let [one, other, ..] = verdicts.as_slice() {
            let message = format!(
                "`{one}` and `{other}` both decide the outcome of `{}`",
                stage.name
            );
            let hint = "keep `outcome` in one of them";
            self.add(CheckRule::TwoVerdicts, place, message, hint);
        } else if let [one] = verdicts.as_slice()
            && !leaves.always.contains(one)
        {
            let message = format!(
                "`{one}` decides the outcome of `{}` but is not always written",
                stage.name
            );
            let hint = "name it for every outcome";
            self.add(CheckRule::VerdictNotAlways, place, message, hint);
        }
        let told = verdicts
            .first()
            .and_then(|name| artifacts.get(name)?.outcome.as_ref());
        for outcome in leaves.by_outcome.keys() {
            let known = match told {
                Some(field) => field.values.values().any(|known| known == outcome),
                None => *outcome == Outcome::Done,
            };
            if !known {
                let place = place!["stages", stage.name, "leaves", outcome];
                let message = format!("`{}` never ends with `{outcome}`", stage.name);
                let hint = "name an outcome of its artifact";
                self.add(CheckRule::ImpossibleOutcome, place, message, hint);
            }
        }
    }

    fn answers(&mut self, stage: &Stage, leaves: &ArtifactName) {
        if self.source(leaves) != Some(&Source::Answers) {
            let place = place!["stages", stage.name, "leaves"];
            let message = format!("`{leaves}` does not contain answers");
            let hint = "declare the artifact with `from = \"answers\"`";
            self.add(CheckRule::SourceMismatch, place, message, hint);
        }
    }

    fn field(&mut self, field: &FieldOf, place: Place) {
        let artifact = self.definition.artifacts.get(&field.artifact);
        if artifact.is_some_and(|artifact| artifact.format == Format::Text) {
            let message = format!("`{}` is plain text and has no fields", field.artifact);
            let hint = "use `format = \"json\"` or `\"bundle\"`";
            self.add(CheckRule::FieldNeedsJson, place, message, hint);
        }
    }

    fn check_work(&mut self, stage: &Stage, work: &CheckWork) {
        let place = place!["stages", stage.name, "check"];
        match &work.commands {
            Commands::Approved(fields) => {
                if fields.is_empty() {
                    let message = format!("`{}` names no field with commands", stage.name);
                    let hint = "name a field, such as { from = \"story.test_criteria.commands\" }";
                    self.add(CheckRule::EmptyCommand, place.clone(), message, hint);
                }
                let each = fields.iter();
                each.for_each(|field| self.field(field, place.clone()));
            }
            Commands::Fixed(lines) => {
                if lines.is_empty() || lines.iter().any(|line| line.is_empty()) {
                    let message = format!("`{}` has no command to run", stage.name);
                    let hint = "write a command line, such as check = [\"cargo test\"]";
                    self.add(CheckRule::EmptyCommand, place, message, hint);
                }
            }
        }
    }

    /// A panel names its reviewers because their judgement counts: nobody else may judge for them.
    fn panel_fallback(&mut self, stage: &Stage, number: usize, settings: &WorkerSettings) {
        let names = settings.model.is_some() || settings.runner.is_some();
        if settings.fallbacks.is_empty() || !names {
            return;
        }
        let place = place!["stages", stage.name, "panel", number];
        let message = format!(
            "the panel of `{}` names the model or program of a reviewer, and gives it a fallback",
            stage.name
        );
        let hint = "write one model and no `fallback`: the review waits until it works again";
        self.add(CheckRule::DemandedModel, place, message, hint);
    }

    fn review(&mut self, stage: &Stage, work: &ReviewWork) {
        let place = place!["stages", stage.name, "panel"];
        if work.panel.is_empty() {
            let message = format!("`{}` has no reviewers", stage.name);
            let hint = "write panel = [{ agent = \"…\", leaves = \"…\" }]";
            self.add(CheckRule::PanelEmpty, place.clone(), message, hint);
        }
        for (number, member) in work.panel.iter().enumerate() {
            self.panel_fallback(stage, number, &member.settings);
            let artifact = self.definition.artifacts.get(&member.leaves);
            let field = artifact.and_then(|artifact| artifact.outcome.as_ref());
            let words: Vec<&Outcome> = field
                .map(|field| field.values.values().collect())
                .unwrap_or_default();
            let ours = |word: &&Outcome| {
                matches!(
                    word,
                    Outcome::Approved | Outcome::NeedsChanges | Outcome::NeedsClarification
                )
            };
            let approves = words.contains(&&Outcome::Approved);
            if !approves || !words.iter().all(ours) {
                let message = format!("`{}` of '{}' is not a verdict", member.leaves, member.agent);
                let hint = "map its values to approved, needs_changes or needs_clarification";
                self.add(CheckRule::ReviewVerdict, place.clone(), message, hint);
            }
        }
    }

    /// Only one stage may take the given steps, since the run starts there.
    fn only_taker(&mut self, stage: &Stage, place: Place) {
        let takes = |other: &&Stage| {
            let steps = other.work.as_steps();
            other.name != stage.name && steps.is_some_and(|steps| steps.source.takes_given())
        };
        if let Some(other) = self.definition.stages.iter().find(takes) {
            let message = format!(
                "both `{}` and `{}` take the steps given at the start",
                stage.name, other.name
            );
            let hint = "let one stage take them";
            self.add(CheckRule::BadSteps, place, message, hint);
        }
    }

    fn steps(&mut self, stage: &Stage, work: &StepsWork) {
        let place = place!["stages", stage.name, "steps"];
        match &work.source {
            StepsSource::Fixed(steps) => {
                if let Err(message) = usable_steps(self.definition, work, steps) {
                    let hint = "give every step a unique id, an agent, and `needs` that exist";
                    self.add(CheckRule::BadSteps, place, message, hint);
                }
            }
            StepsSource::Artifact(field) => self.field(field, place),
            StepsSource::ArtifactOrStart(field) => {
                self.only_taker(stage, place.clone());
                self.field(field, place);
            }
            StepsSource::Start => {}
        }
        for name in &work.leaves {
            if let Some(Source::File(path)) = self.source(name)
                && !placeholders(path).contains(&"step")
            {
                let message = format!("parallel steps would share `{path}`");
                let place = place!["artifacts", name, "path"];
                self.add(
                    CheckRule::StepPath,
                    place,
                    message,
                    "add {step} to the path",
                );
            }
        }
    }
}
