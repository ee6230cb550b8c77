//! Liveness: is anybody at work on a run? Told from its lease, its process and its witnesses, never from the stored
//! status alone.

use engine::{Seconds, Status, Time};
use serde_json::{Value, json};

use crate::paint::Style;
use crate::rest::{Rest, RestKeeper};
use crate::time::{moment, span};

/// Who works without any sign for so long is quiet.
pub const QUIET_AFTER: Seconds = Seconds(5 * 60);

/// What is known about those who should be at work on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signs {
    /// As of `now`: a run past its `ttl` waits.
    pub status: Status,
    pub now: Time,
    /// Since when the run waits, where it waits for a person.
    pub waits_since: Time,
    pub owner: OwnerSign,
    /// The latest sign of those who are at work.
    pub last_sign: Time,
    /// Nobody should be at work before then.
    pub rest: Option<Rest>,
}

/// What is known about the owner of a run: the orchestrator that drives it, or the session that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerSign {
    /// It is there.
    Alive,
    /// It is there and stopped, as with Ctrl-Z, and does nothing until it is continued.
    Stopped,
    /// It is not known to be dead, but it let its lease expire: it is frozen, or cut off.
    Expired,
    /// Its process is gone.
    Gone,
    /// Nobody holds the run.
    Nobody,
    /// Nobody holds it, and the next free worker of the fleet takes it.
    InQueue,
    /// Nobody holds it, and no worker of the fleet takes it until a person puts it back.
    SetAside,
    /// A run by hand has none, or the system does not tell: only the last event is known.
    Unknown,
}

/// Is anybody at work on this run?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Somebody works, and gave a sign of it this long ago.
    Live {
        last_sign: Seconds,
    },
    /// There was no sign for so long.
    Quiet {
        since: Seconds,
        why: QuietReason,
    },
    /// Nobody works, and nobody will until somebody takes the run up again.
    OwnerLost {
        why: LostReason,
    },
    /// A service or a cap asks to wait, and a process goes on with it then.
    Rests {
        until: Time,
        left: Seconds,
    },
    /// A person must act, for so long.
    WaitsForYou {
        since: Seconds,
    },
    Queued,
    Over,
}

/// Why a run is quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuietReason {
    /// The process of its owner is stopped.
    Stopped,
    /// Its owner does not renew its lease.
    Expired,
    /// Its owner is there, or cannot be seen, and nobody gave a sign.
    Silent,
}

/// Why a run has no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    ProcessGone,
    /// The owner let go of it, or there never was one.
    Nobody,
    /// It rests, and no process is there that goes on with it then.
    NoWorker,
    /// Workers of the fleet could not drive it, and none takes it any more.
    SetAside,
}

impl Liveness {
    /// Judges the signs.
    pub fn of(signs: &Signs) -> Self {
        match signs.status {
            Status::Queued if signs.owner == OwnerSign::SetAside => Self::OwnerLost {
                why: LostReason::SetAside,
            },
            Status::Queued => Self::Queued,
            Status::Completed | Status::Failed | Status::Cancelled => Self::Over,
            Status::Waiting(_) => Self::WaitsForYou {
                since: signs.now.since(signs.waits_since),
            },
            Status::Running => Self::of_running(signs),
        }
    }

    fn of_running(signs: &Signs) -> Self {
        let since = signs.now.since(signs.last_sign);
        let quiet = |why| Self::Quiet { since, why };
        let lost = |why| Self::OwnerLost { why };
        match (signs.owner, &signs.rest) {
            (OwnerSign::Stopped, _) => quiet(QuietReason::Stopped),
            (OwnerSign::Expired, _) => quiet(QuietReason::Expired),
            (OwnerSign::SetAside, _) => lost(LostReason::SetAside),
            (
                OwnerSign::Gone
                | OwnerSign::Nobody
                | OwnerSign::InQueue
                | OwnerSign::Alive
                | OwnerSign::Unknown,
                Some(rest),
            ) => match rest.keeper {
                RestKeeper::There => Self::Rests {
                    until: rest.until,
                    left: rest.until.since(signs.now),
                },
                RestKeeper::Nobody => lost(LostReason::NoWorker),
            },
            (OwnerSign::Gone, None) => lost(LostReason::ProcessGone),
            (OwnerSign::Nobody, None) => lost(LostReason::Nobody),
            (OwnerSign::InQueue, None) => Self::Queued,
            (OwnerSign::Alive | OwnerSign::Unknown, None) if since >= QUIET_AFTER => {
                quiet(QuietReason::Silent)
            }
            (OwnerSign::Alive | OwnerSign::Unknown, None) => Self::Live { last_sign: since },
        }
    }

    /// The word for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Live { .. } => "live",
            Self::Quiet { .. } => "quiet",
            Self::OwnerLost { .. } => "lost",
            Self::Rests { .. } => "rests",
            Self::WaitsForYou { .. } => "waiting",
            Self::Queued => "queued",
            Self::Over => "over",
        }
    }

    /// `quiet for 12m`: the same words on every screen.
    pub fn text(self) -> String {
        match self {
            Self::Live { .. } => "live".to_owned(),
            Self::Quiet { since, .. } => format!("quiet for {}", span(since)),
            Self::OwnerLost {
                why: LostReason::SetAside,
            } => "set aside".to_owned(),
            Self::OwnerLost { .. } => "owner lost".to_owned(),
            Self::Rests { until, left } => {
                let now = Time(until.0.saturating_sub(left.0.saturating_mul(1000)));
                format!("rests until {}", moment(until, now))
            }
            Self::WaitsForYou { .. } => "waits for you".to_owned(),
            Self::Queued => "queued".to_owned(),
            Self::Over => "over".to_owned(),
        }
    }

    /// Why, where that is not plain.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Quiet { why, .. } => Some(match why {
                QuietReason::Stopped => {
                    "its process is stopped, and does nothing until somebody continues it"
                }
                QuietReason::Expired => {
                    "its process does not renew its lease: it is frozen, or cut off"
                }
                QuietReason::Silent => "none of its workers has shown a sign of life",
            }),
            Self::OwnerLost { why } => Some(match why {
                LostReason::ProcessGone => "the process that worked on it is gone",
                LostReason::Nobody => "no process works on it",
                LostReason::NoWorker => "it rests, and no worker is there to go on with it then",
                LostReason::SetAside => {
                    "no worker of the fleet takes it: `gatewright queue` says why, `gatewright resume` puts it back"
                }
            }),
            Self::Live { .. }
            | Self::Rests { .. }
            | Self::WaitsForYou { .. }
            | Self::Queued
            | Self::Over => None,
        }
    }

    /// A sign that tells the states apart without a colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Live { .. } => "●",
            Self::Quiet { .. } => "◌",
            Self::OwnerLost { .. } => "✗",
            Self::Rests { .. } => "◔",
            Self::WaitsForYou { .. } => "?",
            Self::Queued => "○",
            Self::Over => "·",
        }
    }

    pub fn style(self) -> Style {
        match self {
            Self::Live { .. } => Style::Good,
            Self::Quiet { .. } | Self::Rests { .. } | Self::WaitsForYou { .. } => Style::Wait,
            Self::OwnerLost { .. } => Style::Bad,
            Self::Queued | Self::Over => Style::Dim,
        }
    }

    pub fn json(self) -> Value {
        let seconds = match self {
            Self::Live { last_sign } => Some(last_sign.0),
            Self::Rests { left, .. } => Some(left.0),
            Self::Quiet { since, .. } | Self::WaitsForYou { since } => Some(since.0),
            Self::OwnerLost { .. } | Self::Queued | Self::Over => None,
        };
        let why = match self {
            Self::Quiet { why, .. } => Some(match why {
                QuietReason::Stopped => "stopped",
                QuietReason::Expired => "expired",
                QuietReason::Silent => "silent",
            }),
            Self::OwnerLost { why } => Some(match why {
                LostReason::ProcessGone => "process_gone",
                LostReason::Nobody => "nobody",
                LostReason::NoWorker => "no_worker",
                LostReason::SetAside => "set_aside",
            }),
            Self::Live { .. }
            | Self::Rests { .. }
            | Self::WaitsForYou { .. }
            | Self::Queued
            | Self::Over => None,
        };
        json!({ "state": self.word(), "seconds": seconds, "why": why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::RestCause;
    use crate::safe::Untrusted;

    const NOW: Time = Time(10_000_000);

    fn signs(status: Status, owner: OwnerSign, silent_for: u64) -> Signs {
        Signs {
            status,
            now: NOW,
            waits_since: Time(NOW.0 - 7_000),
            owner,
            last_sign: Time(NOW.0 - silent_for * 1_000),
            rest: None,
        }
    }

    #[test]
    fn a_running_run_is_as_alive_as_its_owner() {
        let quiet = QUIET_AFTER.0;
        for (owner, silent_for, word) in [
            (OwnerSign::Alive, 0, "live"),
            (OwnerSign::Alive, quiet - 1, "live"),
            (OwnerSign::Alive, quiet, "quiet"),
            (OwnerSign::Unknown, quiet - 1, "live"),
            (OwnerSign::Unknown, quiet, "quiet"),
            (OwnerSign::Stopped, 0, "quiet"),
            (OwnerSign::Expired, 11, "quiet"),
            (OwnerSign::Gone, 0, "lost"),
            (OwnerSign::Nobody, 0, "lost"),
        ] {
            let liveness = Liveness::of(&signs(Status::Running, owner, silent_for));
            assert_eq!(liveness.word(), word, "{owner:?} {silent_for}");
            let reason = matches!(word, "quiet" | "lost");
            assert_eq!(liveness.reason().is_some(), reason);
        }
        let frozen = Liveness::of(&signs(Status::Running, OwnerSign::Stopped, 125));
        assert_eq!(frozen.text(), "quiet for 2m 5s");
    }

    #[test]
    fn a_run_that_rests_is_lost_only_if_nobody_goes_on_with_it() {
        let rest = |keeper| Rest {
            until: Time(NOW.0 + 90_000),
            seen_at: NOW,
            why: Untrusted::new("codex said: later"),
            cause: RestCause::Service,
            keeper,
        };
        let judge = |owner, keeper| {
            let signs = signs(Status::Running, owner, 900);
            let rest = Some(rest(keeper));
            Liveness::of(&Signs { rest, ..signs })
        };
        for owner in [OwnerSign::Nobody, OwnerSign::Alive, OwnerSign::Unknown] {
            let rests = judge(owner, RestKeeper::There);
            assert_eq!(rests.word(), "rests", "{owner:?}");
            assert_eq!(rests.json()["seconds"], 90);
        }
        for owner in [OwnerSign::Nobody, OwnerSign::Gone] {
            let lost = judge(owner, RestKeeper::Nobody);
            assert_eq!(lost.json()["why"], "no_worker", "{owner:?}");
        }
        let stopped = judge(OwnerSign::Stopped, RestKeeper::There);
        assert_eq!(stopped.word(), "quiet", "it does not go on by itself");
        let run = engine::RunId::parse("r-1").unwrap();
        let alone = rest(RestKeeper::Nobody).text(&run);
        assert!(alone.contains("gatewright worker"), "{alone}");
        let kept = rest(RestKeeper::There).text(&run);
        assert!(!kept.contains("gatewright worker"), "{kept}");
    }

    #[test]
    fn whoever_owns_it_a_run_that_waits_or_is_over_says_so() {
        for owner in [OwnerSign::Alive, OwnerSign::Gone, OwnerSign::Nobody] {
            for (status, word) in [
                (Status::Queued, "queued"),
                (Status::Waiting("why".to_owned()), "waiting"),
                (Status::Completed, "over"),
                (Status::Failed, "over"),
                (Status::Cancelled, "over"),
            ] {
                let liveness = Liveness::of(&signs(status, owner, 900));
                assert_eq!(liveness.json()["state"], word);
            }
        }
        let waits = Liveness::of(&signs(Status::Waiting(String::new()), OwnerSign::Alive, 0));
        assert_eq!(waits, Liveness::WaitsForYou { since: Seconds(7) });
    }
}
