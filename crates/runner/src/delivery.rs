//! Delivers the work of a completed run that has a branch of its own: a commit, a push, a request to merge.
//!
//! Each part can be repeated. What fails leaves the run completed, with the reason in its history.

mod belongings;
mod commit;
mod keep_work;
mod outward;
mod texts;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Definition, Deliver, Delivered, DeliveryState, EngineEvent, RunId, RunPlace, Status};
use evidence::Project;
use runtime::drive_settings::{DeliverRequest, DriveSettings};
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{find_run, run_branch, state, undelivered};

use crate::engine_event;
use crate::lease::Lease;
use crate::run_place::Checkout;
pub(crate) use belongings::Belongings;
pub use keep_work::{keep_ended, keep_work, tell_left};
use outward::{Outward, Request, RequestText};
use texts::Texts;

/// The remote of a pull request where none is named.
const DEFAULT_REMOTE: &str = "origin";

/// What makes the request where nothing is named.
const DEFAULT_REQUEST: &str = "gh";

/// How the delivery of a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryEnd {
    /// There is nothing to deliver: it works in the person's tree, is not completed, or is not to be delivered.
    Nothing,
    Done(Delivered),
    /// It can be repeated.
    Failed(String),
    /// A person stopped it, so it is still open.
    Stopped,
}

/// What is to be handed over, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DeliveryPlan {
    deliver: Deliver,
    remote: Option<String>,
    request: Vec<String>,
}

/// What a delivery reaches outside of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutwardNeeds {
    pub remote: Option<String>,
    /// The program that makes the request to merge.
    pub program: Option<String>,
}

/// What the delivery of a run on a branch needs.
pub fn outward_needs(definition: &Definition, wanted: &DeliverRequest) -> OutwardNeeds {
    let plan = DeliveryPlan::of(definition, wanted);
    OutwardNeeds {
        program: plan.request().and_then(|request| request.program()),
        remote: plan.remote,
    }
}

/// Can git push there: is it a remote of the project, or an address?
pub fn knows_remote(project: &Project, remote: &str) -> Result<bool, Failure> {
    if remote.contains(['/', ':']) {
        return Ok(true);
    }
    let here = Checkout::of(project)?;
    let mut command = here.command()?;
    Ok(here
        .output(command.args(["remote", "get-url", "--", remote]))?
        .status
        .success())
}

/// Is anything left that could be delivered: a worktree, or a branch? One that cannot be looked for counts.
pub fn has_work(workspace: &Workspace<'_>, opened: &OpenRun) -> bool {
    let Some(place) = &opened.run().place else {
        return false;
    };
    if opened.has_project() || workspace.is_elsewhere(opened) {
        return true;
    }
    let Ok(home) = workspace.home_of(opened) else {
        return true;
    };
    let tip = Checkout::of(&home).and_then(|here| here.branch_tip(&place.branch.name));
    home.key != opened.stored.project || !matches!(tip, Ok(None))
}

/// The completed runs of this project whose work is to be delivered.
pub fn candidates(workspace: &mut Workspace<'_>) -> Result<Vec<RunId>, Failure> {
    let mut found = Vec::new();
    for run in find_run::completed(workspace)? {
        let opened = workspace.find(&run)?;
        if opened.is_some_and(|it| undelivered::of(&workspace.state, &it).is_some()) {
            found.push(run);
        }
    }
    Ok(found)
}

/// Delivers the work of a run, unless that is done. One process at a time does, under the run's lease. When the flag is
/// set, what takes long is killed.
pub fn deliver(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    stop: &AtomicBool,
) -> Result<DeliveryEnd, Failure> {
    let due = DueDelivery::of(workspace, run)?;
    match due.place {
        Some(_) => {
            let lease = Lease::take(workspace, run)?;
            due.deliver(workspace, &lease, stop)
        }
        None => {
            keep_ended(workspace, run)?;
            Ok(settled(workspace, &due.opened))
        }
    }
}

/// The same under a lease that the caller has.
pub(crate) fn deliver_under(
    workspace: &mut Workspace<'_>,
    lease: &Lease,
    run: &RunId,
    stop: &AtomicBool,
) -> Result<DeliveryEnd, Failure> {
    let due = DueDelivery::of(workspace, run)?;
    match due.place {
        Some(_) => due.deliver(workspace, lease, stop),
        None => {
            keep_work::keep_under(workspace, lease, run)?;
            Ok(settled(workspace, &due.opened))
        }
    }
}

/// What is to be delivered of a run now.
struct DueDelivery {
    opened: OpenRun,
    plan: DeliveryPlan,
    place: Option<RunPlace>,
}

impl DueDelivery {
    fn of(workspace: &mut Workspace<'_>, run: &RunId) -> Result<Self, Failure> {
        let opened = workspace.read(run)?;
        let settings = DriveSettings::load(&workspace.state, run)?;
        let plan = DeliveryPlan::of(opened.pipeline.definition(), &settings.deliver);
        let place = due(&opened, &plan);
        Ok(Self {
            opened,
            plan,
            place,
        })
    }

    fn deliver(
        self,
        workspace: &mut Workspace<'_>,
        lease: &Lease,
        stop: &AtomicBool,
    ) -> Result<DeliveryEnd, Failure> {
        let Some(place) = &self.place else {
            return Ok(settled(workspace, &self.opened));
        };
        workspace.fence = Some(lease.fence);
        let done = deliver_place(workspace, &self.opened, place, &self.plan, stop);
        // What a person stopped has not failed: it is as open as it was.
        let recorded = match done {
            Err(_) if stop.load(Ordering::Relaxed) => Ok(DeliveryEnd::Stopped),
            done => record(workspace, self.opened, done),
        };
        workspace.fence = None;
        recorded
    }
}

/// The place whose work is to be delivered now.
fn due(opened: &OpenRun, plan: &DeliveryPlan) -> Option<RunPlace> {
    let place = opened.run().place.clone()?;
    let is_completed = engine::status(&opened.pipeline, opened.run()) == Status::Completed;
    let is_open = place.delivered().is_none() && place.folder.is_some();
    (is_completed && is_open && plan.deliver != Deliver::Nothing).then_some(place)
}

/// What was done before. A run that will never deliver is not looked at again.
fn settled(workspace: &Workspace<'_>, opened: &OpenRun) -> DeliveryEnd {
    if engine::is_over(&opened.pipeline, opened.run()) {
        undelivered::note_settled(&workspace.state, &opened.run().id);
    }
    let place = opened.run().place.as_ref();
    match place.map(|place| &place.delivery) {
        Some(DeliveryState::Done(delivered)) => DeliveryEnd::Done(delivered.clone()),
        Some(DeliveryState::Open | DeliveryState::Failed { .. }) | None => DeliveryEnd::Nothing,
    }
}

impl DeliveryPlan {
    /// What the person asked for counts before what the definition says.
    fn of(definition: &Definition, wanted: &DeliverRequest) -> Self {
        let defined = definition.placement.delivery.as_ref();
        let deliver = undelivered::wanted(definition, wanted);
        let remote = wanted.remote.clone();
        let remote = remote.or_else(|| defined.and_then(|it| it.remote.clone()));
        let request = Some(&wanted.request).filter(|words| !words.is_empty());
        let request = request.or_else(|| defined.map(|it| &it.request));
        Self {
            deliver,
            remote: match deliver {
                Deliver::PullRequest => Some(remote.unwrap_or_else(|| DEFAULT_REMOTE.to_owned())),
                Deliver::Branch | Deliver::Nothing => remote,
            },
            request: request.cloned().unwrap_or_default(),
        }
    }

    fn request(&self) -> Option<Request> {
        match self.deliver {
            Deliver::PullRequest if self.request.is_empty() => {
                Some(Request::parse(&[DEFAULT_REQUEST.to_owned()]))
            }
            Deliver::PullRequest => Some(Request::parse(&self.request)),
            Deliver::Branch | Deliver::Nothing => None,
        }
    }
}

fn deliver_place(
    workspace: &mut Workspace<'_>,
    opened: &OpenRun,
    place: &RunPlace,
    plan: &DeliveryPlan,
    stop: &AtomicBool,
) -> Result<Delivered, Failure> {
    let texts = Texts::of(workspace, opened)?;
    let (project, commit) = committed(workspace, opened, place, &texts)?;
    let mut delivered = Delivered {
        commit,
        pushed: None,
        request: None,
    };
    if delivered.commit == place.branch.base {
        // The run changed nothing, so there is nothing to push or to merge.
        return Ok(delivered);
    }
    let outward = Outward {
        folder: &project.root,
        home: &push_folder(workspace, opened, &project),
        environment: &workspace.context.environment,
        stop,
    };
    if plan.remote.is_some() || plan.request().is_some() {
        let belongings = Belongings::of(workspace, opened);
        let here = Checkout::of(&project)?;
        belongings.require_kept_back(&here, &delivered.commit, &place.branch)?;
    }
    if let Some(remote) = &plan.remote {
        outward.push(remote, &place.branch.name, &delivered.commit)?;
        delivered.pushed = Some(remote.clone());
    }
    if let Some(request) = plan.request() {
        let body = body_file(workspace, &opened.run().id, &texts.report)?;
        let says = RequestText {
            title: &texts.title,
            report: &texts.report,
            file: &body,
        };
        delivered.request = Some(outward.request(&request, &place.branch, &says)?);
    }
    Ok(delivered)
}

/// Where a push is typed: the address of a remote may be relative to the person's own tree.
fn push_folder(workspace: &Workspace<'_>, opened: &OpenRun, project: &Project) -> PathBuf {
    let home = workspace.home_of(opened).ok();
    let home = home.filter(|home| home.key == opened.stored.project);
    home.map_or_else(|| project.root.clone(), |home| home.root)
}

/// The commit with the run's work, and the folder from which it is handed over. If the worktree was removed, all of its
/// work is on the branch.
fn committed(
    workspace: &mut Workspace<'_>,
    opened: &OpenRun,
    place: &RunPlace,
    texts: &Texts,
) -> Result<(Project, String), Failure> {
    if opened.has_project() || workspace.is_elsewhere(opened) {
        let project = workspace.project_of(opened)?;
        let message = texts.message(opened);
        let belongings = Belongings::of(workspace, opened);
        let commit = commit::commit(&project, opened, place, &belongings, &message)?;
        return Ok((project, commit));
    }
    let home = workspace.home_of(opened)?;
    let name = &place.branch.name;
    let tip = Checkout::of(&home)?.branch_tip(name)?;
    let run = &opened.run().id;
    let gone = || {
        Failure::not_found(format!(
            "the worktree of {run} was removed, and its branch {name} is gone"
        ))
        .hint("`git reflog` may still have its commits")
    };
    Ok((home, tip.ok_or_else(gone)?))
}

fn record(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    done: Result<Delivered, Failure>,
) -> Result<DeliveryEnd, Failure> {
    let (event, end) = match done {
        Ok(delivered) => (
            EngineEvent::Delivered(delivered.clone()),
            DeliveryEnd::Done(delivered),
        ),
        Err(failure) => {
            let reason = views::line(&failure.to_string());
            let event = EngineEvent::DeliveryFailed {
                reason: reason.clone(),
            };
            (event, DeliveryEnd::Failed(reason))
        }
    };
    let run = opened.run().id.clone();
    engine_event::submit(workspace, opened, &event, None)?;
    match &end {
        DeliveryEnd::Failed(_) => undelivered::note_failed(&workspace.state, &run)?,
        DeliveryEnd::Stopped => {}
        DeliveryEnd::Done(_) | DeliveryEnd::Nothing => {
            undelivered::note_settled(&workspace.state, &run);
        }
    }
    Ok(end)
}

/// The text of the request, in a file that its command reads.
fn body_file(workspace: &Workspace<'_>, run: &RunId, report: &str) -> Result<PathBuf, Failure> {
    let folder = run_branch::run_folder(&workspace.state, run);
    state::make_folder(&folder).map_err(Failure::file("make", &folder))?;
    let path = folder.join("request.md");
    std::fs::write(&path, report).map_err(Failure::file("write to", &path))?;
    Ok(path)
}
