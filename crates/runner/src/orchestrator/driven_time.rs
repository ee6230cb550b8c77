//! The time for which a run is driven: while a worker or a check is at work, and not in the queue, asleep, or
//! while the run waits for a person or a service.

use std::time::{Duration, Instant};

use engine::{EngineEvent, Happening, InFlight};
use runtime::clock;
use runtime::failure::Failure;

use super::Orchestrator;
use crate::report::report;

/// A killed orchestrator loses at most this much.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// The time that the journal does not have yet. The clock stands still while the machine sleeps.
#[derive(Debug, Default)]
pub(super) struct DrivenTime {
    looked_at: Option<Instant>,
    unreported: Duration,
}

impl DrivenTime {
    pub(super) fn unreported_ms(&self) -> u64 {
        u64::try_from(self.unreported.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Orchestrator<'_, '_> {
    /// Counts the time since the last look, if somebody was at work. Ends every turn when the time of the
    /// run is used up.
    pub(super) fn count_time(&mut self) -> Result<(), Failure> {
        let now = Instant::now();
        let before = self.driven.looked_at.replace(now);
        if let Some(before) = before.filter(|_| !self.pool.is_idle()) {
            self.driven.unreported += now.duration_since(before);
        }
        let opened = self.workspace.read(&self.run)?;
        let (pipeline, run) = (&opened.pipeline, opened.run());
        if pipeline.definition().budget.time.is_none() {
            return Ok(());
        }
        let more = InFlight {
            driven_ms: self.driven.unreported_ms(),
            ..InFlight::default()
        };
        let is_spent = engine::overspent_within_turn(pipeline, run, clock::now(), more).is_some();
        if is_spent || self.pool.is_idle() || self.driven.unreported >= REPORT_INTERVAL {
            self.report_time()?;
        }
        if is_spent {
            self.spending.stop();
        } else {
            self.spending.start();
        }
        Ok(())
    }

    /// The journal gets the time so far, if the pipeline limits it.
    pub(super) fn report_time(&mut self) -> Result<(), Failure> {
        let ms = self.driven.unreported_ms();
        if ms == 0 || self.lease.is_lost() {
            return Ok(());
        }
        let opened = self.workspace.read(&self.run)?;
        if opened.pipeline.definition().budget.time.is_some() {
            let driven = Happening::Engine(EngineEvent::Driven { ms });
            report(self.workspace, opened, &driven)?;
        }
        self.driven.unreported = Duration::ZERO;
        Ok(())
    }
}
