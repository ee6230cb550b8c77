//! What a person is asked about: the artifacts that an answer approves, and those that led to the question.

use engine::{ArtifactName, Happened, Hash, Next, Pipeline, Run};

use super::ShownArtifact;

/// The artifacts to show; none where nobody is asked.
pub(super) fn artifacts(pipeline: &Pipeline, run: &Run, legal: &[Next]) -> Vec<ShownArtifact> {
    let is_asked = legal.iter().any(|next| match next {
        Next::Answer { .. } | Next::Answers { .. } => true,
        Next::Agent { .. }
        | Next::Session { .. }
        | Next::AnyOf { .. }
        | Next::Under { .. }
        | Next::Check { .. }
        | Next::Plan { .. }
        | Next::Route { .. }
        | Next::Finish
        | Next::Decide { .. }
        | Next::TakeUp
        | Next::Nothing => false,
    });
    if !is_asked {
        return Vec::new();
    }
    let mut all: Vec<(ArtifactName, Hash)> = Vec::new();
    for (name, content) in approved(pipeline, run).into_iter().chain(led_here(run)) {
        if !all.iter().any(|(known, _)| *known == name) {
            all.push((name, content));
        }
    }
    let shown = |(name, content): (ArtifactName, Hash)| ShownArtifact {
        shown_by: format!("gatewright export {} --artifact {name}", run.id),
        name,
        content,
        text: None,
    };
    all.into_iter().map(shown).collect()
}

fn approved(pipeline: &Pipeline, run: &Run) -> Vec<(ArtifactName, Hash)> {
    let stage = pipeline.stage(&run.position.stage);
    let edges = stage.into_iter().flat_map(|stage| stage.on.values());
    let names = edges.flat_map(|edge| &edge.approves);
    names
        .filter_map(|name| Some((name.clone(), run.artifacts.get(name)?.content)))
        .collect()
}

/// What the last work before the question left.
fn led_here(run: &Run) -> Vec<(ArtifactName, Hash)> {
    let mut happened = run
        .trail
        .iter()
        .rev()
        .flat_map(|it| it.happened.iter().rev());
    let left = happened.find_map(|it| match it {
        Happened::Worked { left, .. } => Some(left),
        _ => None,
    });
    let left = left.into_iter().flatten();
    left.map(|(name, content)| (name.clone(), *content))
        .collect()
}
