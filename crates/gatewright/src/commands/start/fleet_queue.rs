//! Queues a run for the machines of the fleet.

use engine::Held;
use runtime::context::Context;
#[cfg(feature = "fleet")]
use runtime::drive_settings::FleetWish;
use runtime::failure::Failure;
use runtime::person_only;

#[cfg(feature = "fleet")]
mod linked;
#[cfg(not(feature = "fleet"))]
mod unlinked;

#[cfg(feature = "fleet")]
pub(crate) use linked::FleetQueue;
#[cfg(not(feature = "fleet"))]
pub(crate) use unlinked::NoFleetQueue as FleetQueue;

/// The longest name of a label or an account.
const LONGEST: usize = 60;

/// Which machines of the fleet may take the run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FleetArguments {
    /// With --queue: let the machines of the fleet drive the run. The project needs a remote `origin`
    #[arg(long, requires = "queue", conflicts_with_all = ["by_hand", "in_place"])]
    fleet: bool,
    /// With --fleet: only a machine with this label takes the run. Repeat the option for several labels
    #[arg(long = "label", value_name = "LABEL", requires = "fleet", value_parser = parse_name)]
    pub labels: Vec<String>,
    /// With --fleet: the model account that the run uses, and how many runs may use it at once
    #[arg(long, value_name = "NAME=NUMBER", requires = "fleet", value_parser = parse_account)]
    pub account: Option<(String, u32)>,
}

impl FleetArguments {
    /// What a start in this fleet asked for before.
    #[cfg(feature = "fleet")]
    pub(crate) fn again(wish: FleetWish) -> Self {
        let FleetWish { labels, account } = wish;
        Self {
            fleet: true,
            labels,
            account,
        }
    }

    /// The queue of the fleet, if the run is for it.
    pub(crate) fn open(&self, context: &Context) -> Result<Option<FleetQueue>, Failure> {
        if self.fleet {
            // It decides what other machines do.
            person_only::require_person(context, "start --fleet", Held::Nobody)?;
            FleetQueue::open(context, self.clone()).map(Some)
        } else {
            Ok(None)
        }
    }
}

/// A label or the name of an account.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if text.is_empty() || text.len() > LONGEST || !text.chars().all(is_fine) {
        Err(format!(
            "it has up to {LONGEST} letters, digits and the signs - _ . @"
        ))
    } else {
        Ok(text.to_owned())
    }
}

fn parse_account(text: &str) -> Result<(String, u32), String> {
    let wrong = || "type it as NAME=NUMBER, as in team-account=4".to_owned();
    let (name, most) = text.split_once('=').ok_or_else(wrong)?;
    match most.parse() {
        Ok(0) => Err("at least one run must be able to use the account: type 1 or more".to_owned()),
        Ok(most) => Ok((parse_name(name)?, most)),
        Err(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_a_name_and_a_number() {
        assert_eq!(parse_account("team=4"), Ok(("team".to_owned(), 4)));
        for wrong in ["team", "team=0", "team=x", "=4", "a b=1"] {
            assert!(parse_account(wrong).is_err(), "{wrong}");
        }
    }
}
