//! What a person is asked about: the artifacts that an answer approves, and those that led to the question.

use std::collections::BTreeMap;

use engine::{ArtifactName, Graph, Happened, Hash, Next, Passage, Pipeline, Run, Work};

use super::last_round;
use super::shown_artifact::{ShownArtifact, ShownReview, ShownText};

/// How much of an artifact a person sees with a question. The steps of a task graph share it.
const SHOWN_CHARACTERS: usize = 3_000;

/// However many steps there are.
const LEAST_SHOWN_CHARACTERS: usize = 200;

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
    let mut all: Vec<ShownArtifact> = Vec::new();
    for shown in approved(pipeline, run).chain(led_here(pipeline, run)) {
        let is_same = |it: &&mut ShownArtifact| {
            let is_same_step = it.step.is_none() || it.step == shown.step;
            it.name == shown.name && it.content == shown.content && is_same_step
        };
        match all.iter_mut().find(is_same) {
            Some(known) => {
                known.review = known.review.take().or(shown.review);
                known.step = shown.step;
            }
            None => all.push(shown),
        }
    }
    all
}

fn approved(pipeline: &Pipeline, run: &Run) -> impl Iterator<Item = ShownArtifact> {
    let stage = pipeline.stage(&run.position.stage);
    let edges = stage.into_iter().flat_map(|stage| stage.on.values());
    let names = edges.flat_map(|edge| &edge.approves);
    names.filter_map(|name| captured(run, name))
}

/// What the last work before the question left. Of a task graph, it is what each step left; of a review, what each
/// reviewer said in the last round, also where the owner has fixed it since, and then what was reviewed.
fn led_here(pipeline: &Pipeline, run: &Run) -> Vec<ShownArtifact> {
    let mut passages = run.trail.iter().rev();
    let last = passages.find_map(|passage| Some((passage, last_left(passage)?)));
    let Some((passage, left)) = last else {
        return Vec::new();
    };
    if let Some(graph) = run.graphs.get(&passage.stage) {
        return by_steps(run, graph);
    }
    // A person may have edited it since: the latest copy is what an answer is about.
    let left = left.iter().map(|(name, content)| {
        captured(run, name).unwrap_or_else(|| shown(run, name, Some(*content), None))
    });
    let Some(Work::Review(work)) = pipeline.stage(&passage.stage).map(|stage| &stage.work) else {
        return left.collect();
    };
    let reviews = last_round::reviews(run, work, passage);
    let reviews = reviews.into_iter().map(|it| {
        let review = ShownReview {
            reviewer: it.reviewer.agent.clone(),
            verdict: it.verdict,
        };
        shown(run, &it.reviewer.leaves, it.content, Some(review))
    });
    let reviewed = work.of.iter().filter_map(|name| captured(run, name));
    reviews.chain(left).chain(reviewed).collect()
}

fn by_steps(run: &Run, graph: &Graph) -> Vec<ShownArtifact> {
    let left = graph.members.iter().flat_map(|member| {
        let left = member.left.iter();
        left.map(|(name, content)| ShownArtifact {
            step: Some(member.step.id.clone()),
            ..shown(run, name, Some(*content), None)
        })
    });
    let mut left: Vec<ShownArtifact> = left.collect();
    let share = (SHOWN_CHARACTERS / left.len().max(1)).max(LEAST_SHOWN_CHARACTERS);
    for shown in &mut left {
        shown.most = share;
    }
    left
}

fn last_left(passage: &Passage) -> Option<&BTreeMap<ArtifactName, Hash>> {
    passage.happened.iter().rev().find_map(|it| match it {
        Happened::Worked { left, .. } => Some(left),
        Happened::Failed { .. }
        | Happened::Checked { .. }
        | Happened::Routed(_)
        | Happened::Answered { .. }
        | Happened::Skipped { .. }
        | Happened::Continued { .. }
        | Happened::Reset { .. }
        | Happened::Restored { .. } => None,
    })
}

fn captured(run: &Run, name: &ArtifactName) -> Option<ShownArtifact> {
    let captured = run.artifacts.get(name)?;
    Some(shown(run, name, Some(captured.content), None))
}

fn shown(
    run: &Run,
    name: &ArtifactName,
    content: Option<Hash>,
    review: Option<ShownReview>,
) -> ShownArtifact {
    // `export` prints the latest copy.
    let latest = run.artifacts.get(name).map(|latest| latest.content);
    let is_latest = content.is_some() && content == latest;
    ShownArtifact {
        name: name.clone(),
        step: None,
        content,
        most: SHOWN_CHARACTERS,
        review,
        shown_by: is_latest.then(|| format!("gatewright export {} --artifact {name}", run.id)),
        text: content.map_or(ShownText::Gone, |_| ShownText::Unread),
    }
}
