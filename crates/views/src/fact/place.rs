//! The run's own branch and the delivery of its work, in words and as JSON.

use engine::{Delivered, DeliveryState, Fact, Placed, Relocation, RunBranch, RunId, RunPlace};
use serde_json::{Value, json};

use crate::safe::line;

/// How much of a commit's id people read.
const SHORT_COMMIT: usize = 12;

/// A fact about the place of a run.
pub(super) fn sentence(fact: &Fact) -> String {
    match fact {
        Fact::Placed(placed) => match &placed.on {
            Some(on) => format!("the run works in a worktree on {}", on.name),
            None => format!("the run works in its own worktree {}", placed.folder),
        },
        Fact::Relocated(to) => format!(
            "{} continues the run from the tree in commit {}; work that was under way restarts",
            to.on.name,
            short_commit(&to.commit)
        ),
        Fact::Delivered(what) => delivered(what),
        Fact::DeliveryFailed { reason } => format!("the work could not be delivered: {reason}"),
        _ => String::new(),
    }
}

pub(super) fn placed_json(placed: &Placed) -> Value {
    let machine = placed.on.as_ref().map(|on| &on.name);
    json!({ "folder": placed.folder, "machine": machine })
}

pub(super) fn relocated_json(to: &Relocation) -> Value {
    json!({ "folder": to.folder, "machine": to.on.name, "commit": to.commit })
}

/// What was handed over, in one line without a full stop.
pub fn delivered(delivered: &Delivered) -> String {
    let Delivered {
        commit,
        pushed,
        request,
    } = delivered;
    let commit = format!("delivered as commit {}", short_commit(commit));
    let pushed = pushed.iter().map(|remote| format!("pushed to {remote}"));
    let request = request.iter().map(|request| format!("request {request}"));
    let parts: Vec<String> = [commit].into_iter().chain(pushed).chain(request).collect();
    parts.join(", ")
}

pub(super) fn delivered_json(delivered: &Delivered) -> Value {
    json!({
        "commit": delivered.commit,
        "pushed": delivered.pushed,
        "request": delivered.request,
    })
}

/// The place of a run, as `status` shows it.
pub(crate) fn place_json(place: &RunPlace) -> Value {
    let delivery = match &place.delivery {
        DeliveryState::Open => json!({ "state": "open" }),
        DeliveryState::Failed { reason } => json!({ "state": "failed", "reason": reason }),
        DeliveryState::Done(delivered) => {
            let mut done = delivered_json(delivered);
            done["state"] = json!("done");
            done
        }
    };
    json!({
        "branch": place.branch.name,
        "base": place.branch.base,
        "from": place.branch.from,
        "folder": place.folder,
        "delivery": delivery,
    })
}

/// The same in lines for people, each with its name.
pub(crate) fn place_lines(run: &RunId, place: &RunPlace) -> Vec<(&'static str, String)> {
    let name = line(&place.branch.name);
    let branch = match place.folder {
        Some(_) => name,
        None => format!("{name}, which the run makes when it begins"),
    };
    let branch = [("branch", branch)];
    let folder = place.folder.iter().map(|folder| ("worktree", line(folder)));
    let delivery = match &place.delivery {
        DeliveryState::Open => None,
        DeliveryState::Done(done) => Some(line(&delivered(done))),
        DeliveryState::Failed { reason } => Some(format!(
            "failed: {}; `gatewright deliver {run}` repeats it",
            line(reason)
        )),
    };
    let delivery = delivery.map(|text| ("delivery", text));
    branch.into_iter().chain(folder).chain(delivery).collect()
}

/// The branch as a part of the sentence about the start.
pub(super) fn on_branch(branch: &RunBranch) -> String {
    let RunBranch {
        name,
        base,
        with_changes,
        ..
    } = branch;
    let changes = if *with_changes {
        " with uncommitted changes"
    } else {
        ""
    };
    format!(", on branch {name} from {}{changes}", short_commit(base))
}

pub(super) fn branch_json(branch: &RunBranch) -> Value {
    json!({
        "name": branch.name,
        "base": branch.base,
        "from": branch.from,
        "with_changes": branch.with_changes,
    })
}

fn short_commit(commit: &str) -> &str {
    commit.get(..SHORT_COMMIT).unwrap_or(commit)
}
