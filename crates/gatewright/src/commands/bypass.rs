//! `gatewright bypass`: a person suspends the guard of a run for a limited time, with a reason.

use engine::{Happening, PersonEvent, Seconds, Time};
use runtime::clock;
use runtime::context::Context;
use runtime::duration;
use runtime::failure::Failure;
use runtime::idempotency::KeyedCommand;
use runtime::workspace::{OpenRun, Workspace};

use super::reset::given_reason;
use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::run_command::{submit, submit_confirmed};

/// A shorter bypass would be over before anybody could use it; a longer one would not be an exception.
const SHORTEST: Seconds = Seconds(30);
const LONGEST: Seconds = Seconds(24 * 60 * 60);

/// Suspend the guard of a run for a limited time
///
/// Until the time is over, nothing is refused or held in the run's session. Every status shows it,
/// and the history records it with its reason.
#[derive(Debug, clap::Args)]
pub(crate) struct Bypass {
    #[command(flatten)]
    of: OfRun,
    /// How long: from 30s to 24h
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    #[arg(required_unless_present = "end", conflicts_with = "end")]
    time: Option<Seconds>,
    /// Guard the run again, now
    #[arg(long)]
    end: bool,
    /// The reason, recorded in the history
    #[arg(long, value_name = "TEXT", required_unless_present = "end")]
    reason: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

fn parse_time(text: &str) -> Result<Seconds, String> {
    let time = duration::parse(text)?;
    if (SHORTEST..=LONGEST).contains(&time) {
        Ok(time)
    } else {
        Err("a bypass lasts from 30s to 24h".to_owned())
    }
}

impl Bypass {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        match self.time {
            Some(time) => self.begin(context, output, time),
            None => self.end(context, output),
        }
    }

    fn begin(
        &self,
        context: &Context,
        output: &mut Output,
        time: Seconds,
    ) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        let reason = self.reason.as_deref().unwrap_or_default();
        given_reason("bypass", reason)?;
        let command = KeyedCommand::new("bypass")
            .with("for", time.0)
            .with("reason", reason);
        let lost = |_: &Workspace<'_>, _: &OpenRun| {
            let until = views::time::rfc3339(later(time));
            Ok(Some(format!(
                "Until {until} Gatewright refuses and holds nothing in this run: stages, gates and \
                 agents are not guarded. Every view of the run shows this."
            )))
        };
        let make = |_: &Workspace<'_>, _: &OpenRun| {
            let (until, reason) = (later(time), reason.to_owned());
            Ok(Happening::Person(PersonEvent::BypassAsked { until, reason }).into())
        };
        submit_confirmed(context, output, run, &self.writing, &command, lost, make)
    }

    fn end(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        let command = KeyedCommand::new("bypass").with("end", true);
        submit(context, output, run, &self.writing, &command, |_, _| {
            let reason = self
                .reason
                .clone()
                .unwrap_or_else(|| "it is over".to_owned());
            // In the past, so that the bypass is over when this is recorded.
            let until = Time(clock::now().0.saturating_sub(1_000));
            Ok(Happening::Person(PersonEvent::BypassAsked { until, reason }).into())
        })
    }
}

/// The time from now on.
fn later(time: Seconds) -> Time {
    Time(clock::now().0.saturating_add(time.0.saturating_mul(1_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bypass_is_neither_a_moment_nor_a_habit() {
        for (text, expected) in [
            ("29s", false),
            ("30s", true),
            ("30m", true),
            ("24h", true),
            ("1d", true),
            ("25h", false),
            ("86401s", false),
            ("0s", false),
            ("30", false),
            ("", false),
        ] {
            assert_eq!(parse_time(text).is_ok(), expected, "{text}");
        }
    }
}
