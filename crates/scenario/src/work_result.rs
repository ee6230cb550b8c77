//! What a worker leaves in a scenario, invented so that it ends as the scenario says.

use std::collections::BTreeMap;

use engine::{
    ArtifactName, ArtifactNeed, Definition, Dispatch, Evidence, Fault, Needs, Outcome,
    OutcomeField, Pipeline, Run, Stage, TreeAccess, Turn, Work, Writes,
};

use super::step::{How, Left};
use super::world::World;

/// A step that cannot be played: it cannot happen in the run's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unplayable {
    pub message: String,
    pub hint: String,
}

pub(crate) fn unplayable<T>(message: String, hint: String) -> Result<T, Unplayable> {
    Err(Unplayable { message, hint })
}

/// A path that no sensible `writes` covers.
const STRAY_PATH: &str = "~strayed";

/// Work at its end.
pub(crate) struct WorkResult<'a> {
    pipeline: &'a Pipeline,
    stage: &'a Stage,
    reach: TreeAccess,
    how: &'a How,
}

impl<'a> WorkResult<'a> {
    /// Work whose start was seen, otherwise the work of the current stage.
    pub(crate) fn new(
        pipeline: &'a Pipeline,
        run: &Run,
        open: Option<&Dispatch>,
        how: &'a How,
    ) -> Option<Self> {
        let name = open.map_or(&run.position.stage, |open| &open.stage);
        let stage = pipeline.stage(name)?;
        let reach = open.map_or_else(|| reach(run, stage), |open| open.reach);
        Some(Self {
            pipeline,
            stage,
            reach,
            how,
        })
    }

    /// Does the work, and returns the evidence of it.
    pub(crate) fn leave(&self, world: &mut World, needs: &Needs) -> Result<Evidence, Unplayable> {
        let verdict = self.verdict(needs);
        let stated_verdict = self.stated_verdict(verdict)?;
        self.can_stray(needs)?;
        self.change_tree(world);
        let outcome = stated_verdict
            .as_ref()
            .and_then(|stated_verdict| stated_verdict.outcome.as_ref());
        let mut commands = BTreeMap::new();
        for need in &needs.artifacts {
            let tells = verdict.is_some_and(|(name, _)| *name == need.artifact);
            let word = stated_verdict
                .as_ref()
                .filter(|_| tells)
                .map(|stated_verdict| stated_verdict.word.clone());
            let state = self.state(need, outcome);
            let brought = self.commands(need, &state);
            commands.extend(brought.map(|brought| (need.artifact.clone(), brought)));
            match state {
                ArtifactState::Fresh => world.write(need, word),
                ArtifactState::Broken => world.write_invalid(need),
                ArtifactState::Untouched => {}
            }
        }
        self.old_ones_are_there(world, needs)?;
        let seen = needs.artifacts.iter();
        let artifacts = seen
            .map(|need| (need.artifact.clone(), world.look(need)))
            .collect();
        let changed = needs.changed_since.map(|_| self.changed());
        let tree = needs.tree.then(|| world.tree());
        Ok(Evidence {
            artifacts,
            commands,
            tree,
            changed,
            ..Evidence::default()
        })
    }

    fn definition(&self) -> &'a Definition {
        self.pipeline.definition()
    }

    /// The artifact with the verdict, as the engine finds it.
    fn verdict<'n>(&self, needs: &'n Needs) -> Option<(&'n ArtifactName, &'a OutcomeField)> {
        needs.artifacts.iter().find_map(|need| {
            let artifact = self.definition().artifacts.get(&need.artifact)?;
            artifact
                .outcome
                .as_ref()
                .map(|field| (&need.artifact, field))
        })
    }

    /// The word of the verdict, and its meaning.
    fn stated_verdict(
        &self,
        verdict: Option<(&ArtifactName, &OutcomeField)>,
    ) -> Result<Option<StatedVerdict>, Unplayable> {
        let Some((artifact, field)) = verdict else {
            return self.without_verdict();
        };
        let stated_verdict = |(word, outcome): (&String, &Outcome)| StatedVerdict {
            word: word.clone(),
            outcome: Some(outcome.clone()),
        };
        let found = match self.how {
            How::Says(word) => Some(StatedVerdict {
                word: word.clone(),
                outcome: field.values.get(word).cloned(),
            }),
            How::Outcome(wanted) => field
                .values
                .iter()
                .find(|(_, o)| *o == wanted)
                .map(stated_verdict),
            How::Well => only(field).map(stated_verdict),
            How::Leaves {
                artifact: Some(left),
                ..
            } => {
                let wants = |pair: &(&String, &Outcome)| self.wants(left, Some(pair.1));
                field
                    .values
                    .iter()
                    .find(wants)
                    .or_else(|| field.values.iter().next())
                    .map(stated_verdict)
            }
            How::Adds(_) => {
                let brings = |pair: &(&String, &Outcome)| self.brings_commands(Some(pair.1));
                field.values.iter().find(brings).map(stated_verdict)
            }
            How::Leaves { artifact: None, .. } | How::Fault(_) => {
                field.values.iter().next().map(stated_verdict)
            }
        };
        match found {
            Some(stated_verdict) => Ok(Some(stated_verdict)),
            None => {
                let outcomes: Vec<&str> = field.values.values().map(Outcome::as_str).collect();
                let message = format!("`{artifact}` states how this work ends");
                unplayable(message, format!("say one of: {}", outcomes.join(", ")))
            }
        }
    }

    fn without_verdict(&self) -> Result<Option<StatedVerdict>, Unplayable> {
        let stage = &self.stage.name;
        match self.how {
            How::Outcome(outcome) if outcome.as_str() != "done" => unplayable(
                format!(
                    "work in {stage} does not end with `{outcome}`: it leaves no artifact that states it"
                ),
                String::from("remove the word"),
            ),
            How::Says(_) => unplayable(
                format!("work in {stage} leaves no artifact that can state it"),
                String::from("only an artifact with an `outcome` has a verdict"),
            ),
            How::Adds(_) if !self.brings_commands(None) => unplayable(
                format!("work in {stage} leaves no artifact with commands"),
                String::from("say `works` instead"),
            ),
            How::Well | How::Outcome(_) | How::Adds(_) | How::Fault(_) | How::Leaves { .. } => {
                Ok(None)
            }
        }
    }

    /// Does this work leave an artifact with commands?
    fn brings_commands(&self, outcome: Option<&Outcome>) -> bool {
        let mut artifacts = self.definition().artifacts.keys();
        artifacts.any(|name| {
            let has_commands = !self.definition().command_fields(name).is_empty();
            has_commands && self.leaves(name) && self.wants(name, outcome)
        })
    }

    /// Can work in this stage leave this artifact?
    fn leaves(&self, artifact: &ArtifactName) -> bool {
        match &self.stage.work {
            Work::Agent(work) => work.leaves.all().contains(&artifact),
            Work::Review(work) => work.fixes.contains(artifact),
            Work::Open(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Steps(_)
            | Work::Route(_)
            | Work::End(_) => false,
        }
    }

    /// The commands in an artifact that was just written.
    fn commands(&self, need: &ArtifactNeed, state: &ArtifactState) -> Option<Vec<Vec<String>>> {
        let How::Adds(command) = self.how else {
            return None;
        };
        let brings = !self.definition().command_fields(&need.artifact).is_empty();
        let words = command.split_whitespace().map(String::from);
        (brings && matches!(state, ArtifactState::Fresh)).then(|| vec![words.collect()])
    }

    /// Must this work leave this artifact?
    fn wants(&self, artifact: &ArtifactName, outcome: Option<&Outcome>) -> bool {
        let Work::Agent(work) = &self.stage.work else {
            return true;
        };
        let own = outcome.and_then(|outcome| work.leaves.by_outcome.get(outcome));
        work.leaves.always.contains(artifact) || own.is_some_and(|own| own.contains(artifact))
    }

    fn state(&self, need: &ArtifactNeed, outcome: Option<&Outcome>) -> ArtifactState {
        let meant = |artifact: &Option<ArtifactName>| {
            artifact
                .as_ref()
                .is_none_or(|artifact| *artifact == need.artifact)
        };
        let unknown = outcome.is_none();
        let usual = if unknown || self.wants(&need.artifact, outcome) {
            ArtifactState::Fresh
        } else {
            ArtifactState::Untouched
        };
        match self.how {
            How::Well
            | How::Outcome(_)
            | How::Adds(_)
            | How::Says(_)
            | How::Fault(Fault::Strayed) => usual,
            How::Fault(
                Fault::Crashed
                | Fault::Timeout
                | Fault::Missing
                | Fault::Hollow
                | Fault::Conflict
                | Fault::Limited,
            ) => ArtifactState::Untouched,
            How::Leaves { state, artifact } if meant(artifact) => match state {
                Left::Old | Left::Nothing => ArtifactState::Untouched,
                Left::Invalid => ArtifactState::Broken,
            },
            How::Leaves { .. } => usual,
        }
    }

    /// An old artifact can only be left if there is one.
    fn old_ones_are_there(&self, world: &World, needs: &Needs) -> Result<(), Unplayable> {
        let How::Leaves { state, artifact } = self.how else {
            return Ok(());
        };
        let stage = &self.stage.name;
        if let Some(artifact) = artifact
            && !needs
                .artifacts
                .iter()
                .any(|need| need.artifact == *artifact)
        {
            let hint = String::from("name an artifact that it must leave");
            return unplayable(format!("work in {stage} does not leave `{artifact}`"), hint);
        }
        if needs.artifacts.is_empty() {
            let hint = String::from("say `works` instead");
            return unplayable(format!("work in {stage} has nothing to leave"), hint);
        }
        let is_absent = |need: &&ArtifactNeed| {
            let meant = artifact
                .as_ref()
                .is_none_or(|artifact| *artifact == need.artifact);
            meant && !world.is_there(need)
        };
        match needs.artifacts.iter().find(is_absent) {
            Some(need) if *state == Left::Old => unplayable(
                format!("there is no old file of `{}`", need.artifact),
                format!(
                    "write `given old {}` above the step that starts",
                    need.artifact
                ),
            ),
            Some(_) | None => Ok(()),
        }
    }

    fn can_stray(&self, needs: &Needs) -> Result<(), Unplayable> {
        let strays = *self.how == How::Fault(Fault::Strayed);
        if !strays || needs.changed_since.is_some() {
            return Ok(());
        }
        let message = format!("work in {} cannot stray", self.stage.name);
        unplayable(
            message,
            String::from("only a stage with `writes` checks the changed files"),
        )
    }

    fn change_tree(&self, world: &mut World) {
        let works = !matches!(self.how, How::Fault(Fault::Hollow));
        let strays = *self.how == How::Fault(Fault::Strayed);
        if (works && self.reach == TreeAccess::MayWrite) || strays {
            world.change_tree();
        }
    }

    /// The paths that differ from the tree before.
    fn changed(&self) -> Vec<String> {
        match (self.how, &self.stage.writes) {
            (How::Fault(Fault::Strayed), _) => vec![String::from(STRAY_PATH)],
            (_, Writes::Only(globs)) => {
                let paths = globs
                    .iter()
                    .map(|glob| (glob, glob.as_str().replace('*', "x")));
                let covered = paths.filter(|(glob, path)| glob.covers(path));
                covered.map(|(_, path)| path).take(1).collect()
            }
            (_, Writes::Anything) => Vec::new(),
        }
    }
}

struct StatedVerdict {
    word: String,
    /// `None` if the pipeline does not know the word.
    outcome: Option<Outcome>,
}

enum ArtifactState {
    Fresh,
    Broken,
    Untouched,
}

/// `done`, or the only outcome.
fn only(field: &OutcomeField) -> Option<(&String, &Outcome)> {
    let done = field
        .values
        .iter()
        .find(|(_, outcome)| outcome.as_str() == "done");
    let first = field.values.iter().next();
    let alone = first.filter(|(_, first)| field.values.values().all(|other| other == *first));
    done.or(alone)
}

/// May work that starts now in this stage change the tree?
fn reach(run: &Run, stage: &Stage) -> TreeAccess {
    let turn = run.panels.get(&stage.name).map(|panel| panel.turn);
    let reviews = matches!(
        (&stage.work, turn),
        (Work::Review(_), Some(Turn::Reviewing { .. }))
    );
    match &stage.writes {
        Writes::Only(globs) if globs.is_empty() => TreeAccess::ReadsOnly,
        Writes::Only(_) | Writes::Anything if reviews => TreeAccess::ReadsOnly,
        Writes::Only(_) | Writes::Anything => TreeAccess::MayWrite,
    }
}
