//! What a piece of work leaves in the copy: changed files, and artifacts as the definition wants them.

use engine::{
    AgentName, AgentPattern, ArtifactName, ArtifactNeed, Leaves, Needs, Outcome, OutcomeField, Run,
    Seen, Source, Stage, StepId, TreeAccess, Turn, Work, Writes,
};
use runtime::workspace::{OpenRun, Workspace};
use serde_json::json;

use super::exchange::Expected;
use super::folder;
use super::made::{self, Contents};
use super::scene::Scene;
use super::trouble::{Tried, not_shown};
use super::wire::Worker;
use super::work::Verdict;

/// What was left.
pub struct Left {
    /// The last message.
    pub reply: String,
    pub tool_uses: u64,
}

impl Scene {
    /// Changes the tree where the present work may. Gives the path.
    pub fn change(&mut self) -> Tried<Option<String>> {
        let run = self.now()?;
        let stage = self.pipeline.stage(&run.position.stage);
        let stage = stage.filter(|stage| reach(&run, stage) == TreeAccess::MayWrite);
        let path =
            stage.and_then(|stage| made::changeable(self.pipeline.definition(), &stage.name));
        let Some(path) = path else {
            return Ok(None);
        };
        let (path, number) = (self.path(&path), self.number());
        folder::write(&path, format!("changed, number {number}\n").as_bytes())?;
        Ok(Some(path.to_string_lossy().into_owned()))
    }

    /// Writes what the present work must leave, by the worker's hand or by the session's.
    pub fn leave(&mut self, worker: Option<&Worker>, verdict: &Verdict) -> Tried<Left> {
        let opened = self.opened()?;
        let agent = worker.map_or(engine::SESSION, |worker| worker.agent.as_str());
        let named = self.to_leave(opened.run(), agent, verdict)?;
        let step = worker.and_then(|worker| worker.step.clone());
        let mut left = Left {
            reply: "That is all.".to_owned(),
            tool_uses: 0,
        };
        for (name, word) in &named {
            let need = ArtifactNeed {
                artifact: name.clone(),
                step: step.clone(),
                agent: AgentName::parse(agent).ok(),
            };
            let text = self.made_up(opened.run(), &need, word.as_deref())?;
            match self.path_of(opened.run(), name, step.as_ref())? {
                Some(path) => left.tool_uses += self.write(worker, &path, &text)?,
                None => left.reply = text,
            }
        }
        if !matches!(verdict, Verdict::Word(_)) {
            let needs = named.into_iter().map(|(artifact, _)| ArtifactNeed {
                artifact,
                step: step.clone(),
                agent: AgentName::parse(agent).ok(),
            });
            self.is_as_wanted(&opened, needs.collect(), &left.reply)?;
        }
        Ok(left)
    }

    /// Gives how many tools were used for it.
    fn write(&mut self, worker: Option<&Worker>, path: &str, text: &str) -> Tried<u64> {
        let file = self.path(path);
        let input = json!({ "file_path": file.to_string_lossy(), "content": text });
        let is_elsewhere = worker.is_some_and(|worker| worker.dispatch.is_some());
        let is_seen = !is_elsewhere && !self.denies("Write")?;
        if is_seen {
            self.hook(self.pen.tool(worker, "Write", &input), Expected::Pass)?;
        }
        folder::write(&file, text.as_bytes())?;
        Ok(u64::from(is_seen))
    }

    fn made_up(&mut self, run: &Run, need: &ArtifactNeed, word: Option<&str>) -> Tried<String> {
        let number = self.number();
        let tests = [self.test_line()].into_iter().chain(self.added.clone());
        let tests: Vec<String> = tests.collect();
        let (definition, name) = (self.pipeline.definition(), &need.artifact);
        let made = evidence::wanted_fields(need, definition, run).and_then(|fields| {
            let contents = Contents {
                plan: &self.plan,
                tests: &tests,
                fields: &fields,
            };
            made::artifact(definition, name, word, &contents, number)
        });
        made.or_else(|why| not_shown(format!("cannot generate an example of {name}: {why}")))
    }

    /// Files of an earlier run lie at the paths of these artifacts.
    pub fn litter(&mut self, leaves: &Leaves) -> Tried<()> {
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
            let text = self.made_up(&run, &need, word.as_deref())?;
            if let Some(path) = self.path_of(&run, name, None)? {
                folder::write(&self.path(&path), text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The path of an artifact below the project; none where it is a message.
    pub fn path_of(
        &self,
        run: &Run,
        name: &ArtifactName,
        step: Option<&StepId>,
    ) -> Tried<Option<String>> {
        let definition = self.pipeline.definition();
        let declared = definition.artifacts.get(name);
        let Some(Source::File(template)) = declared.map(|artifact| &artifact.source) else {
            return Ok(None);
        };
        match evidence::artifact_path(template, definition, run, step) {
            Ok(path) => Ok(Some(path.as_str().to_owned())),
            Err(why) => not_shown(format!("{name} has no path here: {why}")),
        }
    }

    /// Would the artifacts be accepted? If not, it is the example's fault and not a guard's.
    fn is_as_wanted(
        &self,
        opened: &OpenRun,
        artifacts: Vec<ArtifactNeed>,
        reply: &str,
    ) -> Tried<()> {
        let needs = Needs {
            artifacts,
            ..Needs::default()
        };
        let workspace = Workspace::for_reading(&self.context)?;
        let looked = workspace.look(opened, &needs, &Default::default(), Some(reply))?;
        for (name, seen) in &looked.evidence.artifacts {
            if let Seen::Invalid { reason, .. } = seen {
                return not_shown(format!("cannot generate an example of {name}: {reason}"));
            }
        }
        Ok(())
    }

    /// The artifacts that this work leaves when it ends so, and the word that one of them says.
    fn to_leave(
        &self,
        run: &Run,
        agent: &str,
        verdict: &Verdict,
    ) -> Tried<Vec<(ArtifactName, Option<String>)>> {
        let leaves = self.leaves_of(run, agent);
        let told = self.verdict_of(&leaves);
        let (word, outcome) = match (&told, verdict) {
            (None, Verdict::Word(_)) => return not_shown("none of its artifacts has a verdict"),
            (None, Verdict::Well | Verdict::Outcome(_)) => (None, None),
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

    /// The artifact that tells the outcome of work that leaves these.
    pub fn verdict_of(&self, leaves: &Leaves) -> Option<(ArtifactName, &OutcomeField)> {
        let definition = self.pipeline.definition();
        leaves.all().into_iter().find_map(|name| {
            let outcome = definition.artifacts.get(name)?.outcome.as_ref();
            outcome.map(|outcome| (name.clone(), outcome))
        })
    }

    /// What the present work of this agent must leave.
    pub fn leaves_of(&self, run: &Run, agent: &str) -> Leaves {
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
            Some(Work::Check(_) | Work::Ask(_)) | None => Leaves::default(),
        }
    }

    /// Is work without these a fault?
    pub fn must_leave(&self, run: &Run, leaves: &Leaves) -> bool {
        let definition = self.pipeline.definition();
        let is_strict = |name: &ArtifactName| {
            let artifact = definition.artifacts.get(name);
            artifact.is_some_and(|artifact| artifact.strictness.is_strict(&run.params))
        };
        self.verdict_of(leaves).is_some() || leaves.always.iter().any(is_strict)
    }

    /// Is one of these a file, without which the work is not done?
    pub fn has_file(&self, run: &Run, leaves: &Leaves) -> bool {
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

/// The word of a verdict, and what it means.
fn spoken(field: &OutcomeField, verdict: &Verdict) -> Tried<(Option<String>, Option<Outcome>)> {
    let told = |(word, outcome): (&String, &Outcome)| (Some(word.clone()), Some(outcome.clone()));
    let found = match verdict {
        Verdict::Word(word) => {
            let outcome = field.values.get(word);
            return Ok((Some(word.clone()), outcome.cloned()));
        }
        Verdict::Outcome(wanted) => field.values.iter().find(|(_, it)| *it == wanted).map(told),
        Verdict::Well => {
            let done = field.values.iter().find(|(_, it)| it.as_str() == "done");
            done.or_else(|| field.values.iter().next()).map(told)
        }
    };
    match found {
        Some(found) => Ok(found),
        None => not_shown(format!("`{}` has no value for this outcome", field.field)),
    }
}

/// Whose turn it is in the review that the run is in.
pub fn turn(run: &Run) -> Option<Turn> {
    run.panels.get(&run.position.stage).map(|panel| panel.turn)
}

/// May the present work change the tree?
fn reach(run: &Run, stage: &Stage) -> TreeAccess {
    let reviews = matches!(turn(run), Some(Turn::Reviewing { .. }));
    match &stage.writes {
        Writes::Only(globs) if globs.is_empty() => TreeAccess::ReadsOnly,
        Writes::Only(_) | Writes::Anything if reviews => TreeAccess::ReadsOnly,
        Writes::Only(_) | Writes::Anything => TreeAccess::MayWrite,
    }
}
