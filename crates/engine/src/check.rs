//! `check`: every rule for a definition. `lint` and the engine share this code.

mod artifacts;
mod flow;
mod graph;
mod loops;
mod outcomes;
mod proofs;
mod references;
mod routes;
mod ungated;
mod unused;

use alloc::vec::Vec;

pub use graph::{LongerWay, longer_ways};

use crate::definition::Definition;
use crate::problem::{Problem, Severity};

/// All problems of a definition, errors and warnings, in the order in which the rules are checked.
pub(crate) fn check(definition: &Definition) -> Vec<Problem> {
    let mut problems = references::check(definition);
    if has_errors(&problems) {
        return problems;
    }
    problems.extend(outcomes::check(definition));
    problems.extend(artifacts::check(definition));
    problems.extend(routes::check(definition));
    // The rest walks the graph, which needs a target for every edge.
    let graph = graph::StageGraph::of(definition);
    problems.extend(graph::check(&graph));
    problems.extend(loops::check(&graph));
    if has_errors(&problems) {
        return problems;
    }
    problems.extend(flow::check(&graph));
    problems.extend(ungated::check(&graph));
    problems.extend(ungated::unkept(&graph));
    problems.extend(proofs::check(&graph));
    problems.extend(unused::check(definition));
    problems
}

fn has_errors(problems: &[Problem]) -> bool {
    problems
        .iter()
        .any(|problem| problem.rule.severity() == Severity::Error)
}
