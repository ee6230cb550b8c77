//! `gatewright caps`: a person limits what all headless runs of this machine use together.

#[cfg(feature = "fleet")]
mod fleet;

use engine::Held;
use runtime::caps::{self, Amounts, Caps as Stored, Spent};
use runtime::clock;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{Format, Output};

/// Limit what all headless runs of this machine use together
///
/// Without options, prints the caps and what was used. When the cap of a day is used up, runs rest until
/// enough of it is older than 24 hours. When the cap of the machine is used up, runs wait for a person.
#[derive(Debug, clap::Args)]
pub(crate) struct Caps {
    /// The most for any 24 hours: cost=20.00, tokens=5000000, or none
    #[arg(long, value_name = "AMOUNT", value_parser = parse)]
    day: Vec<Cap>,
    /// The most in all, counted from now on: cost=200.00, tokens=50000000, or none
    #[arg(long, value_name = "AMOUNT", value_parser = parse)]
    machine: Vec<Cap>,
    #[command(flatten)]
    fleet: FleetCapArguments,
}

/// Whose spending in the fleet is limited.
#[derive(Debug, clap::Args)]
pub(crate) struct FleetCapArguments {
    /// The caps of the fleet that this machine has joined, for each day by the clock of its database. Alone: for
    /// all of its runs together
    #[arg(long, conflicts_with = "machine")]
    fleet: bool,
    /// With --fleet: for the runs that this user queues
    #[arg(long, value_name = "NAME", requires = "fleet", conflicts_with_all = ["project", "account"])]
    user: Option<String>,
    /// With --fleet: for the runs of the project with this remote
    #[arg(
        long,
        value_name = "REMOTE",
        requires = "fleet",
        conflicts_with = "account"
    )]
    project: Option<String>,
    /// With --fleet: for the runs with this model account
    #[arg(long, value_name = "NAME", requires = "fleet")]
    account: Option<String>,
}

/// One amount as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cap {
    None,
    Cost(u64),
    Tokens(u64),
}

impl Caps {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        if self.fleet.fleet {
            return self.of_fleet(context, output);
        }
        let state = context.state()?;
        let mut stored = Stored::load(&state)?;
        if !self.day.is_empty() || !self.machine.is_empty() {
            person_only::require_person(context, "caps", Held::Nobody)?;
            stored.day = changed(stored.day, &self.day);
            if !self.machine.is_empty() {
                stored.machine = changed(stored.machine, &self.machine);
                stored.machine_since = Some(clock::now());
            }
            stored.save(&state)?;
        }
        let day = caps::spent_in_a_day(&state, clock::now());
        let since = stored.machine_since.filter(|_| !stored.machine.is_empty());
        let machine = since.map(|since| caps::spent_since(&state, since));
        match output.format() {
            Format::Json => output.json(&json!({
                "day": figures(day, stored.day),
                "machine": machine.map(|machine| figures(machine, stored.machine)),
                "machine_since": since.map(views::time::rfc3339),
            }))?,
            Format::Text => {
                let day = words(day, stored.day);
                let machine = machine.map(|machine| words(machine, stored.machine));
                let machine = machine.unwrap_or_else(|| "no cap".to_owned());
                output.text(&format!("24 hours  {day}\nmachine   {machine}\n"))?;
            }
        }
        Ok(Exit::Success)
    }
}

#[cfg(not(feature = "fleet"))]
impl Caps {
    fn of_fleet(&self, context: &Context, _: &mut Output) -> Result<Exit, Failure> {
        crate::fleet_link::in_fleet(context).map(|_| Exit::Success)
    }
}

fn changed(mut amounts: Amounts, typed: &[Cap]) -> Amounts {
    for cap in typed {
        match cap {
            Cap::None => amounts = Amounts::default(),
            Cap::Cost(cents) => amounts.cost_cents = Some(*cents),
            Cap::Tokens(tokens) => amounts.tokens = Some(*tokens),
        }
    }
    amounts
}

fn figures(spent: Spent, caps: Amounts) -> Value {
    json!({
        "used": {
            "tokens": spent.tokens,
            "cost_cents": spent.cost_cents,
            "estimated_cents": spent.estimated_cents,
        },
        "limit": { "tokens": caps.tokens, "cost_cents": caps.cost_cents },
    })
}

/// `tokens 1200 · cost 0.07 of 20.00`.
fn words(spent: Spent, caps: Amounts) -> String {
    caps.lines(spent).map(|line| line.text()).join(" · ")
}

fn parse(text: &str) -> Result<Cap, String> {
    let wrong = || "write it as cost=20.00, tokens=5000000 or none".to_owned();
    if text == "none" {
        return Ok(Cap::None);
    }
    let (what, amount) = text.split_once('=').ok_or_else(wrong)?;
    match what {
        "tokens" => amount.parse().map(Cap::Tokens).map_err(|_| wrong()),
        "cost" => cents(amount).map(Cap::Cost).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// `20`, `20.5` or `20.50`.
fn cents(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 2 || !digits(whole) || !digits(part) {
        return None;
    }
    let part: u64 = format!("{part:0<2}").parse().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(100)?
        .checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_money_or_tokens_or_none() {
        assert_eq!(parse("cost=20"), Ok(Cap::Cost(2000)));
        assert_eq!(parse("cost=0.5"), Ok(Cap::Cost(50)));
        assert_eq!(parse("tokens=7"), Ok(Cap::Tokens(7)));
        assert_eq!(parse("none"), Ok(Cap::None));
        for text in [
            "",
            "cost",
            "cost=",
            "cost=1.234",
            "cost=-1",
            "tokens=x",
            "time=3",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
