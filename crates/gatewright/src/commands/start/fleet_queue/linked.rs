//! The queue of the fleet that this machine has joined.

use std::time::Duration;

use engine::RunId;
use evidence::Project;
use pg_store::Placement;
use runner::run_place;
use runtime::caller;
use runtime::clock;
use runtime::context::Context;
use runtime::drive_settings::{DriveSettings, FleetWish};
use runtime::failure::Failure;
use runtime::fleet_clones;
use runtime::fleet_project::REMOTE;
use runtime::workspace::OpenRun;
use store::Access;

use super::FleetArguments;
use crate::fleet_link::FleetLink;
use crate::output::Output;

pub(crate) struct FleetQueue {
    link: FleetLink,
    context: Context,
    wanted: FleetArguments,
}

impl FleetQueue {
    pub(crate) fn open(context: &Context, wanted: FleetArguments) -> Result<Self, Failure> {
        let link = FleetLink::open(context, Access::Write)?;
        let context = link.context(context)?;
        Ok(Self {
            link,
            context,
            wanted,
        })
    }

    /// The context in which the run starts.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Which machines may take the run. It is kept with the settings of the run, so that a start that was killed before
    /// the queue had it can go on.
    pub(crate) fn wish(&self) -> FleetWish {
        FleetWish {
            labels: self.wanted.labels.clone(),
            account: self.wanted.account.clone(),
        }
    }

    /// Puts a run into the queue that has just been stored. A second time changes nothing.
    pub(crate) fn enqueue(&self, opened: &OpenRun, output: &mut Output) -> Result<(), Failure> {
        let run = &opened.run().id;
        let mut settings = DriveSettings::load(&self.context.state()?, run)?;
        let defined = opened.pipeline.definition().placement.delivery.as_ref();
        if settings.deliver.remote.is_none() {
            // Nobody looks into the clone of a worker: the branch goes where everybody finds it.
            let defined = defined.and_then(|defined| defined.remote.clone());
            settings.deliver.remote = Some(defined.unwrap_or_else(|| REMOTE.to_owned()));
        }
        let wait = settings
            .not_before
            .map_or(0, |time| time.0.saturating_sub(clock::now().0));
        let account = self.wanted.account.as_ref();
        let person = caller::user(&self.context.environment);
        let placement = Placement {
            labels: &self.wanted.labels,
            account: account.map(|(name, most)| (name.as_str(), *most)),
            settings: &settings.to_text(),
            person: &person,
            delay: Duration::from_millis(wait),
        };
        self.link.store.enqueue(run, &placement)?;
        self.tell_carried(opened, output)?;
        if self.link.store.machines_with(&self.wanted.labels)? == 0 {
            output.say(&self.no_machine(run));
        }
        Ok(())
    }

    fn no_machine(&self, run: &RunId) -> String {
        match self.wanted.labels.as_slice() {
            [] => format!(
                "no machine has joined the fleet: {run} waits until one joins and types `gatewright worker --fleet`"
            ),
            labels => format!(
                "no machine of the fleet has the labels {}: {run} waits for `gatewright worker --fleet{}`",
                labels.join(", "),
                labels
                    .iter()
                    .map(|label| format!(" --label {label}"))
                    .collect::<String>()
            ),
        }
    }

    /// Git hands on nothing that it ignores: each machine takes its own, and its history says what it lacks.
    fn tell_carried(&self, opened: &OpenRun, output: &mut Output) -> Result<(), Failure> {
        let context = &self.context;
        fleet_clones::note(&context.state()?, &context.environment, &context.folder)?;
        let here = Project::find(&context.folder)?;
        if run_place::has_own_list(&here) {
            output.say(&format!(
                "what `.worktreeinclude` lists does not travel: the machine that drives {} takes it from its own clone of \
                 the project",
                opened.run().id
            ));
        }
        let patterns = &opened.pipeline.definition().placement.carry;
        if patterns.is_empty() {
            return Ok(());
        }
        output.say(&format!(
            "`carry` {} does not travel: the machine that drives {} takes it from its own clone of the project",
            views::line(&patterns.join(", ")),
            opened.run().id
        ));
        for pattern in run_place::missing(&here, patterns)? {
            let pattern = views::line(&pattern);
            output.say(&format!(
                "nothing in this project matches `carry` {pattern}"
            ));
        }
        Ok(())
    }
}
