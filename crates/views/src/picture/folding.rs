//! Which stages are chips on others, and which are boxes of their own.

use std::collections::BTreeSet;

use engine::{Definition, End, Work};

use super::links::{Link, LinkKind, Links};
use super::order::Order;

/// The places of the stages that stand beside the picture: people who are asked when something went
/// wrong, and ends that nobody wants.
pub(super) fn folded(definition: &Definition, links: &Links, order: &Order) -> BTreeSet<usize> {
    let main: BTreeSet<usize> = order.main.iter().copied().collect();
    let side = (0..definition.stages.len()).filter(|place| !main.contains(place));
    let mut folded: BTreeSet<usize> = side
        .clone()
        .filter(|place| {
            is_escalation(definition, links, order, *place) || is_bad_end(definition, *place)
        })
        .collect();
    // The chips name an end to which only they lead.
    let unreached: Vec<usize> = side
        .filter(|place| definition.stages[*place].work.as_end().is_some())
        .filter(|place| {
            let mut into = links.all.iter().filter(|link| link.to == *place);
            into.all(|link| folded.contains(&link.from))
        })
        .collect();
    folded.extend(unreached);
    folded
}

fn is_bad_end(definition: &Definition, place: usize) -> bool {
    let end = definition.stages[place].work.as_end();
    match end.map(|end| end.end) {
        Some(End::Failed | End::Cancelled) => true,
        Some(End::Completed) | None => false,
    }
}

/// Is a person asked here, after whom the run goes back or ends?
fn is_escalation(definition: &Definition, links: &Links, order: &Order, place: usize) -> bool {
    let stage = &definition.stages[place];
    if !matches!(&stage.work, Work::Ask(_)) {
        return false;
    }
    let sources: BTreeSet<usize> = links
        .all
        .iter()
        .filter(|link| link.to == place)
        .map(|link| link.from)
        .collect();
    let returns = |number: usize, link: &Link| {
        order.back.contains(&number)
            || sources.contains(&link.to)
            || link.kind != LinkKind::Way
            || is_bad_end(definition, link.to)
    };
    let mut out = links.all.iter().enumerate();
    let all_return = out.all(|(number, link)| link.from != place || returns(number, link));
    stage.resumes() || (!sources.is_empty() && all_return)
}
