//! The normal form of a run: two runs with the same one behave the same.

use std::fmt::Write as _;

use engine::{Gate, Graph, MemberState, Panel, Pipeline, Run, StageName, Standing, Work};

use super::super::player::Player;

/// Without times, ids and dispatch numbers. For contents only counts whether they are the current
/// ones, because in a scenario no content ever returns.
pub(super) fn normal(player: &Player<'_>, run: &Run) -> String {
    let position = &run.position;
    let mut text = format!(
        "{} {} {} {:?} {:?} {:?} {} {} ",
        position.stage,
        run.standing == Standing::Going,
        position.retries,
        position.resume,
        run.counters,
        run.params,
        run.stale_returns,
        run.dispatches.len(),
    );
    let _ = write!(
        text,
        "{:?} {:?} {:?} ",
        player.world.change,
        run.routes,
        exits(player, run)
    );
    artifacts(&mut text, run);
    gates(&mut text, player, run);
    // A stage forgets its state when it is entered again; only a return finds it.
    let resumed = position.resume.as_ref().map(|resume| &resume.to);
    for stage in [Some(&position.stage), resumed].into_iter().flatten() {
        if let Some(panel) = run.panels.get(stage) {
            reviewed(&mut text, player, run, stage, panel);
        }
        if let Some(graph) = run.graphs.get(stage) {
            planned(&mut text, graph);
        }
    }
    text
}

/// The exits that a route asks for.
fn exits<'a>(player: &Player<'_>, run: &'a Run) -> Vec<(&'a StageName, &'a String)> {
    let stages = player.pipeline.definition().stages.iter();
    let routes = stages.filter_map(|stage| stage.work.as_route());
    let rules: Vec<_> = routes.flat_map(|route| &route.rules).collect();
    let asks = |stage: &StageName| rules.iter().any(|rule| rule.verdicts.contains_key(stage));
    run.exits.iter().filter(|(stage, _)| asks(stage)).collect()
}

fn artifacts(text: &mut String, run: &Run) {
    for (artifact, captured) in &run.artifacts {
        let approved = run.approved.get(artifact) == Some(&captured.content);
        let new = run.new_commands(artifact).len();
        let _ = write!(text, "{artifact}={approved}+{new} ");
    }
}

fn gates(text: &mut String, player: &Player<'_>, run: &Run) {
    let tree = player.world.tree();
    for (stage, gate) in &run.gates {
        let (kind, holds) = match gate {
            Gate::Tree(passed) => ("tree", *passed == tree),
            Gate::Superseded(passed) => ("superseded", *passed == tree),
            Gate::Artifact { artifact, content } => {
                let now = run.artifacts.get(artifact).map(|captured| captured.content);
                ("artifact", now == Some(*content))
            }
        };
        let _ = write!(text, "{stage}#{kind}={holds} ");
    }
}

fn reviewed(text: &mut String, player: &Player<'_>, run: &Run, stage: &StageName, panel: &Panel) {
    let present = match of(player.pipeline, stage) {
        Some(artifact) => run.artifacts.get(artifact).map(|captured| captured.content),
        None => Some(player.world.tree()),
    };
    let _ = write!(text, "{stage}@{} {:?} ", panel.round, panel.turn);
    for (reviewer, subject) in &panel.approvals {
        let _ = write!(text, "{reviewer}:{} ", present == Some(*subject));
    }
}

/// The artifact that this panel reviews, if it is one.
fn of<'a>(pipeline: &'a Pipeline, stage: &StageName) -> Option<&'a engine::ArtifactName> {
    match &pipeline.stage(stage)?.work {
        Work::Review(work) => work.of.as_ref(),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Steps(_)
        | Work::Route(_)
        | Work::End(_) => None,
    }
}

fn planned(text: &mut String, graph: &Graph) {
    for member in &graph.members {
        let _ = match &member.state {
            MemberState::Pending => write!(text, "p{} ", member.retries),
            MemberState::Working { .. } => write!(text, "w{} ", member.retries),
            MemberState::Done => write!(text, "d "),
            MemberState::Failed { .. } => write!(text, "f "),
        };
    }
}
