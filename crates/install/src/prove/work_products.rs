//! What simulated work leaves in the sandbox: changed files, and artifacts as the definition requires.

use engine::{
    AgentName, AgentPattern, ArtifactName, ArtifactNeed, Leaves, Needs, Outcome, OutcomeField, Run,
    Seen, Source, Stage, StepId, TreeAccess, Turn, Work, Writes,
};
use runtime::workspace::{OpenRun, Workspace};
use serde_json::json;

use super::case_error::{CaseOutcome, not_tested};
use super::example_artifacts::{self, ArtifactContents};
use super::exchange::Expected;
use super::payloads::SimulatedWorker;
use super::sandbox;
use super::simulated_worker::WantedResult;
use super::simulation::Simulation;

/// The artifacts that were written.
pub(super) struct WrittenArtifacts {
    /// The last message of the worker.
    pub reply: String,
    pub tool_uses: u64,
}

impl Simulation {
    /// Changes a file that the current work may change, and returns its path.
    pub(super) fn change(&mut self) -> CaseOutcome<Option<String>> {
        let run = self.now()?;
        let stage = self.pipeline.stage(&run.position.stage);
        let stage = stage.filter(|stage| reach(&run, stage) == TreeAccess::MayWrite);
        let path = stage.and_then(|stage| {
            example_artifacts::changeable(self.pipeline.definition(), &stage.name)
        });
        let Some(path) = path else {
            return Ok(None);
        };
        let (path, number) = (self.path(&path), self.number());
        sandbox::write(&path, format!("changed, number {number}\n").as_bytes())?;
        Ok(Some(path.to_string_lossy().into_owned()))
    }

    /// Writes the artifacts that the current work must leave, as the worker or as the session.
    pub(super) fn leave(
        &mut self,
        worker: Option<&SimulatedWorker>,
        verdict: &WantedResult,
    ) -> CaseOutcome<WrittenArtifacts> {
        let opened = self.opened()?;
        let agent = worker.map_or(engine::SESSION, |worker| worker.agent.as_str());
        let named = self.to_leave(opened.run(), agent, verdict)?;
        let step = worker.and_then(|worker| worker.step.clone());
        let mut left = WrittenArtifacts {
            reply: "That is all.".to_owned(),
            tool_uses: 0,
        };
        for (name, word) in &named {
            let need = ArtifactNeed {
                artifact: name.clone(),
                step: step.clone(),
                agent: AgentName::parse(agent).ok(),
            };
            let text = self.example_text(opened.run(), &need, word.as_deref())?;
            match self.path_of(opened.run(), name, step.as_ref())? {
                Some(path) => left.tool_uses += self.write(worker, &path, &text)?,
                None => left.reply = text,
            }
        }
        if !matches!(verdict, WantedResult::Word(_)) {
            let needs = named.into_iter().map(|(artifact, _)| ArtifactNeed {
                artifact,
                step: step.clone(),
                agent: AgentName::parse(agent).ok(),
            });
            self.check_examples(&opened, needs.collect(), &left.reply)?;
        }
        Ok(left)
    }

    /// Returns the number of tool calls.
    fn write(
        &mut self,
        worker: Option<&SimulatedWorker>,
        path: &str,
        text: &str,
    ) -> CaseOutcome<u64> {
        let file = self.path(path);
        let input = json!({ "file_path": file.to_string_lossy(), "content": text });
        let is_external = worker.is_some_and(|worker| worker.dispatch.is_some());
        let is_seen = !is_external && !self.denies("Write")?;
        if is_seen {
            self.hook(self.payloads.tool(worker, "Write", &input), Expected::Pass)?;
        }
        sandbox::write(&file, text.as_bytes())?;
        Ok(u64::from(is_seen))
    }

    fn example_text(
        &mut self,
        run: &Run,
        need: &ArtifactNeed,
        word: Option<&str>,
    ) -> CaseOutcome<String> {
        let number = self.number();
        let tests = [self.test_line()].into_iter().chain(self.added.clone());
        let tests: Vec<String> = tests.collect();
        let (definition, name) = (self.pipeline.definition(), &need.artifact);
        let made = evidence::required_fields(need, definition, run).and_then(|fields| {
            let contents = ArtifactContents {
                plan: &self.plan,
                tests: &tests,
                fields: &fields,
            };
            example_artifacts::artifact(definition, name, word, &contents, number)
        });
        made.or_else(|why| not_tested(format!("cannot generate an example of {name}: {why}")))
    }

    /// Writes files of an earlier run to the paths of these artifacts.
    pub(super) fn write_old_artifacts(&mut self, leaves: &Leaves) -> CaseOutcome<()> {
        let run = self.now()?;
        let names: Vec<ArtifactName> = leaves.all().into_iter().cloned().collect();
        let verdict = self.verdict_of(leaves);
        let word = verdict.and_then(|(_, field)| field.values.keys().next().cloned());
        for name in &names {
            let need = ArtifactNeed {
                artifact: name.clone(),
                step: None,
                agent: None,
            };
            let text = self.example_text(&run, &need, word.as_deref())?;
            if let Some(path) = self.path_of(&run, name, None)? {
                sandbox::write(&self.path(&path), text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The path of an artifact in the project; `None` if it is a message.
    pub(super) fn path_of(
        &self,
        run: &Run,
        name: &ArtifactName,
        step: Option<&StepId>,
    ) -> CaseOutcome<Option<String>> {
        let definition = self.pipeline.definition();
        let declared = definition.artifacts.get(name);
        let Some(Source::File(template)) = declared.map(|artifact| &artifact.source) else {
            return Ok(None);
        };
        match evidence::artifact_path(template, definition, run, step) {
            Ok(path) => Ok(Some(path.as_str().to_owned())),
            Err(why) => not_tested(format!("{name} has no path here: {why}")),
        }
    }

    /// Checks that the engine would accept the artifacts. If not, the examples are wrong and the guard was
    /// not tested.
    fn check_examples(
        &self,
        opened: &OpenRun,
        artifacts: Vec<ArtifactNeed>,
        reply: &str,
    ) -> CaseOutcome<()> {
        let needs = Needs {
            artifacts,
            ..Needs::default()
        };
        let workspace = Workspace::for_reading(&self.context)?;
        let looked = workspace.look(opened, &needs, &Default::default(), Some(reply))?;
        for (name, seen) in &looked.evidence.artifacts {
            if let Seen::Invalid { reason, .. } = seen {
                return not_tested(format!("cannot generate an example of {name}: {reason}"));
            }
        }
        Ok(())
    }

    /// The artifacts that this work leaves for this result, each with the outcome word that it contains.
    fn to_leave(
        &self,
        run: &Run,
        agent: &str,
        verdict: &WantedResult,
    ) -> CaseOutcome<Vec<(ArtifactName, Option<String>)>> {
        let leaves = self.leaves_of(run, agent);
        let told = self.verdict_of(&leaves);
        let (word, outcome) = match (&told, verdict) {
            (None, WantedResult::Word(_)) => {
                return not_tested("none of its artifacts has a verdict");
            }
            (None, WantedResult::Success | WantedResult::Outcome(_)) => (None, None),
            (Some((_, field)), verdict) => spoken(field, verdict)?,
        };
        let further: Vec<&ArtifactName> = match &outcome {
            Some(outcome) => leaves
                .by_outcome
                .get(outcome)
                .into_iter()
                .flatten()
                .collect(),
            None => leaves.by_outcome.values().flatten().collect(),
        };
        let mut names: Vec<&ArtifactName> = leaves.always.iter().chain(further).collect();
        names.sort();
        names.dedup();
        let tells = |name: &ArtifactName| told.as_ref().is_some_and(|(told, _)| told == name);
        let named = names.into_iter().map(|name| {
            let word = word.clone().filter(|_| tells(name));
            (name.clone(), word)
        });
        Ok(named.collect())
    }

    /// The artifact with the outcome of the work.
    pub(super) fn verdict_of(&self, leaves: &Leaves) -> Option<(ArtifactName, &OutcomeField)> {
        let definition = self.pipeline.definition();
        leaves.all().into_iter().find_map(|name| {
            let outcome = definition.artifacts.get(name)?.outcome.as_ref();
            outcome.map(|outcome| (name.clone(), outcome))
        })
    }

    /// What the current work of this agent must leave.
    pub(super) fn leaves_of(&self, run: &Run, agent: &str) -> Leaves {
        let definition = self.pipeline.definition();
        let stage = self.pipeline.stage(&run.position.stage);
        let listed = |lists: &[(AgentPattern, Vec<ArtifactName>)]| {
            let mine = lists
                .iter()
                .filter(|(who, _)| definition.covers(who, agent));
            let names: Vec<ArtifactName> = mine.flat_map(|(_, names)| names.clone()).collect();
            Leaves::of(&names)
        };
        match stage.map(|stage| &stage.work) {
            Some(Work::Agent(work)) => work.leaves.clone(),
            Some(Work::Open(work)) => listed(&work.leaves),
            Some(Work::End(work)) => listed(&work.leaves),
            Some(Work::Steps(work)) => Leaves::of(&work.leaves),
            Some(Work::Review(work)) => match turn(run) {
                Some(Turn::Reviewing { reviewer }) => {
                    let member = work.panel.get(reviewer as usize);
                    Leaves::of(member.map(|it| it.leaves.clone()).as_slice())
                }
                Some(Turn::Fixing { .. } | Turn::Spent) | None => Leaves::of(&work.fixes),
            },
            Some(Work::Check(_) | Work::Ask(_) | Work::Route(_)) | None => Leaves::default(),
        }
    }

    /// Is work without these a fault?
    pub(super) fn must_leave(&self, run: &Run, leaves: &Leaves) -> bool {
        let definition = self.pipeline.definition();
        let is_strict = |name: &ArtifactName| {
            let artifact = definition.artifacts.get(name);
            artifact.is_some_and(|artifact| artifact.strictness.is_strict(&run.params))
        };
        self.verdict_of(leaves).is_some() || leaves.always.iter().any(is_strict)
    }

    /// Is one of these a required file?
    pub(super) fn has_file(&self, run: &Run, leaves: &Leaves) -> bool {
        let definition = self.pipeline.definition();
        leaves.all().into_iter().any(|name| {
            let artifact = definition.artifacts.get(name);
            artifact.is_some_and(|artifact| {
                let strict = artifact.strictness.is_strict(&run.params);
                strict && matches!(artifact.source, Source::File(_))
            })
        })
    }
}

/// The outcome word of a result, and its outcome.
fn spoken(
    field: &OutcomeField,
    verdict: &WantedResult,
) -> CaseOutcome<(Option<String>, Option<Outcome>)> {
    let told = |(word, outcome): (&String, &Outcome)| (Some(word.clone()), Some(outcome.clone()));
    let found = match verdict {
        WantedResult::Word(word) => {
            let outcome = field.values.get(word);
            return Ok((Some(word.clone()), outcome.cloned()));
        }
        WantedResult::Outcome(wanted) => {
            field.values.iter().find(|(_, it)| *it == wanted).map(told)
        }
        WantedResult::Success => {
            let done = field.values.iter().find(|(_, it)| it.as_str() == "done");
            done.or_else(|| field.values.iter().next()).map(told)
        }
    };
    match found {
        Some(found) => Ok(found),
        None => not_tested(format!("`{}` has no value for this outcome", field.field)),
    }
}

/// Whose turn it is in the current review.
pub(super) fn turn(run: &Run) -> Option<Turn> {
    run.panels.get(&run.position.stage).map(|panel| panel.turn)
}

/// May the current work change the tree?
fn reach(run: &Run, stage: &Stage) -> TreeAccess {
    let reviews = matches!(turn(run), Some(Turn::Reviewing { .. }));
    match &stage.writes {
        Writes::Only(globs) if globs.is_empty() => TreeAccess::ReadsOnly,
        Writes::Only(_) | Writes::Anything if reviews => TreeAccess::ReadsOnly,
        Writes::Only(_) | Writes::Anything => TreeAccess::MayWrite,
    }
}
