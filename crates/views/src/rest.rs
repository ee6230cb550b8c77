//! A rest: nobody works on a run before a service or a cap lets it go on, and what happens then.

use engine::{RunId, Time};
use serde_json::{Value, json};

use crate::safe::Untrusted;
use crate::time::{moment, rfc3339};

/// Until when a run rests, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    pub until: Time,
    /// When somebody looked.
    pub seen_at: Time,
    /// `codex said: …`, or the cap that is used up.
    pub why: Untrusted,
    pub cause: RestCause,
    pub keeper: RestKeeper,
}

/// What a run rests for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestCause {
    /// Every service that it could use asks to wait.
    Service,
    /// A cap on what all runs use in a day.
    Cap,
}

/// Is a process there that goes on with the run when its rest ends?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestKeeper {
    There,
    Nobody,
}

impl Rest {
    /// `rests until 14:30 UTC: codex said: …`: the same words on every screen. Without a process that goes on
    /// with it, the command that starts one.
    pub fn text(&self, run: &RunId) -> String {
        let why = self.why.line();
        let (until, why) = (self.moment(), why.trim_end_matches('.'));
        let worker = match self.keeper {
            RestKeeper::There => String::new(),
            RestKeeper::Nobody => format!(
                "; no worker is there to go on then: `gatewright worker`, or `gatewright resume {run}`"
            ),
        };
        let sooner = match self.cause {
            RestCause::Service => format!("; `gatewright retry {run}` ends the wait"),
            RestCause::Cap => "; `gatewright caps` shows it and changes it".to_owned(),
        };
        format!("rests until {until}: {why}{worker}{sooner}")
    }

    /// `14:30 UTC`, with its day where that is not today.
    pub fn moment(&self) -> String {
        moment(self.until, self.seen_at)
    }

    pub fn json(&self) -> Value {
        let cause = match self.cause {
            RestCause::Service => "service",
            RestCause::Cap => "cap",
        };
        json!({
            "until": rfc3339(self.until),
            "reason": self.why.raw(),
            "cause": cause,
            "goes_on": self.keeper == RestKeeper::There,
        })
    }
}
