//! `gatewright metrics`: figures over many runs, counted from their journals.

use std::sync::Arc;

use engine::{PipelineName, Seconds, Time};
use runtime::clock;
use runtime::context::Context;
use runtime::failure::{Failure, FailureKind};
use runtime::figures::{self, FiguresFound, FiguresReader};
use runtime::fleet_reach;
use runtime::fleet_seat::ConnectFleet;
use runtime::workspace::Workspace;
use runtime::{duration, facts, find_run};
use serde_json::json;
use store::{Backend, RunSummary};
use views::metrics::Metrics as Figures;
use views::time::rfc3339;

use crate::exit::Exit;
use crate::fleet_link;
use crate::output::{Format, Output};

/// Show figures over many runs: results, working times, checks, waiting times
///
/// Counts the runs of this project, from their journals: on this machine, and in the fleet that it has joined. Times are medians and 90th percentiles.
#[derive(Debug, clap::Args)]
pub(crate) struct Metrics {
    /// Count only runs of this pipeline
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pipeline: Option<PipelineName>,
    /// Count only runs that started within this time: 90s, 30m, 2h, 7d
    #[arg(long, value_name = "PERIOD", value_parser = duration::parse)]
    since: Option<Seconds>,
    /// Count the runs of all projects
    #[arg(long)]
    all: bool,
}

fn parse_name(text: &str) -> Result<PipelineName, String> {
    PipelineName::parse(text).map_err(|problem| problem.to_string())
}

impl Metrics {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let now = clock::now();
        let since = self.since.map(|since| earlier(now, since));
        let mut found = FiguresFound::default();
        if let Some(mut workspace) = Workspace::if_exists(context)? {
            found = self.count(&mut workspace, since, now)?;
        }
        if let Some(connect) = fleet_link::for_screens(context)? {
            match self.count_fleet(context, &connect, since, now) {
                Ok(fleet) => {
                    found.figures.add(fleet.figures);
                    found.unreadable.extend(fleet.unreadable);
                }
                Err(why) => found.unreadable.push(fleet_reach::away(&why)),
            }
        }
        let FiguresFound {
            figures,
            unreadable,
        } = found;
        self.tell(&figures, since, output)?;
        unreadable
            .iter()
            .for_each(|failure| output.failure(failure));
        let worst = unreadable.first();
        Ok(worst.map_or(Exit::Success, Exit::from))
    }

    fn count(
        &self,
        workspace: &mut Workspace<'_>,
        since: Option<Time>,
        now: Time,
    ) -> Result<FiguresFound, Failure> {
        let summaries = self.summaries(workspace, since)?;
        FiguresReader::default().read(workspace, &summaries, now)
    }

    fn count_fleet(
        &self,
        context: &Context,
        connect: &Arc<ConnectFleet>,
        since: Option<Time>,
        now: Time,
    ) -> Result<FiguresFound, Failure> {
        let context = context.in_fleet(fleet_reach::connected(connect)?);
        let mut workspace = Workspace::for_reading(&context)?;
        let counted = self.count(&mut workspace, since, now);
        let counted = counted.and_then(|mut counted| {
            self.add_elsewhere(&workspace, since, &mut counted)?;
            Ok(counted)
        });
        match counted {
            // A project that has no remote has no runs in the fleet.
            Err(failure) if failure.kind == FailureKind::Refused && !self.all => {
                Ok(FiguresFound::default())
            }
            counted => counted,
        }
    }

    /// The guarded runs of other machines: their folders say nothing about the project here.
    fn add_elsewhere(
        &self,
        workspace: &Workspace<'_>,
        since: Option<Time>,
        counted: &mut FiguresFound,
    ) -> Result<(), Failure> {
        if !self.all {
            return Ok(());
        }
        let mut shipped = facts::elsewhere(workspace)?;
        shipped.retain(|it| self.wants(&it.summary, since));
        for it in &shipped {
            counted.figures.add(figures::elsewhere(&it.summary));
        }
        Ok(())
    }

    fn wants(&self, run: &RunSummary, since: Option<Time>) -> bool {
        let wanted = self.pipeline.as_ref();
        wanted.is_none_or(|name| *name == run.pipeline)
            && since.is_none_or(|since| run.started_at >= since)
    }

    fn summaries(
        &self,
        workspace: &Workspace<'_>,
        since: Option<Time>,
    ) -> Result<Vec<RunSummary>, Failure> {
        let mut summaries = if self.all {
            workspace.store.runs(None)?
        } else {
            find_run::of_project(workspace)?
        };
        summaries.retain(|run| self.wants(run, since));
        Ok(summaries)
    }

    fn tell(
        &self,
        figures: &Figures,
        since: Option<Time>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if figures.runs.total() == 0 && output.format() == Format::Text {
            output.say(
                "no runs to count; `gatewright metrics --all` counts the runs of all projects",
            );
            return Ok(());
        }
        let json = || {
            let mut value = figures.json();
            value["pipeline"] = json!(self.pipeline.as_ref().map(PipelineName::as_str));
            value["since"] = json!(since.map(rfc3339));
            value
        };
        output.facts(|paint| figures.text(paint), json)
    }
}

fn earlier(now: Time, period: Seconds) -> Time {
    Time(now.0.saturating_sub(period.0.saturating_mul(1_000)))
}
