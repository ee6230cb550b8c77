//! What tokens of a service have cost so far on this machine: an estimate for turns that are under way.
//!
//! Programs tell the cost of a turn at its end. Prices differ by model and change, so none is written down
//! here: the rate is that of the latest turns that ended. How the kinds of tokens compare, `hosts` knows.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use engine::Service;
use hosts::agent_process::{AgentOutput, EndedTurns};
use runtime::state::{self, State};
use serde_json::{Value, json};

/// Older turns count half when this many tokens are known.
const REMEMBERED_TOKENS: u64 = 2_000_000;

const MICROS_OF_A_CENT: u64 = 10_000;

/// Tokens, and what they cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate(EndedTurns);

impl Rate {
    /// What tokens of this weight cost at this rate, in whole cents.
    pub(super) fn cents(self, weight: u64) -> u64 {
        let Self(known) = self;
        let micros = u128::from(weight) * u128::from(known.cost_micros);
        let cents = micros / u128::from(known.weight.max(1)) / u128::from(MICROS_OF_A_CENT);
        u64::try_from(cents).unwrap_or(u64::MAX)
    }
}

/// The rate of this service, if a turn of it has ended on this machine.
pub(crate) fn seen(state: &State, service: &Service) -> Option<Rate> {
    read(state).remove(&service.to_string())
}

/// A process of this service has ended, which may have cost this much.
pub(crate) fn note(state: &State, service: &Service, output: &AgentOutput, most: Option<u64>) {
    learn(state, service, output.ended_turns());
    if let Some(most) = most {
        bound(state, service, output.open_turn(), most);
    }
}

/// Turns of this service have ended. A rate that cannot be written is only missing later.
fn learn(state: &State, service: &Service, turns: EndedTurns) {
    if turns.weight == 0 || turns.cost_micros == 0 {
        return;
    }
    let mut rates = read(state);
    let known = rates.entry(service.to_string());
    let Rate(known) = known.or_insert(Rate(EndedTurns::default()));
    while known.tokens > REMEMBERED_TOKENS {
        known.tokens /= 2;
        known.weight /= 2;
        known.cost_micros /= 2;
    }
    known.tokens = known.tokens.saturating_add(turns.tokens);
    known.weight = known.weight.saturating_add(turns.weight);
    known.cost_micros = known.cost_micros.saturating_add(turns.cost_micros);
    write(state, &rates);
}

/// A turn was broken off before its program told its cost. The program did not end it, so it had not cost what
/// it was allowed to: a rate that says more is wrong, by how much is not known.
fn bound(state: &State, service: &Service, open: EndedTurns, most_cents: u64) {
    let mut rates = read(state);
    let Some(known) = rates.get_mut(&service.to_string()) else {
        return;
    };
    if open.weight == 0 || most_cents == 0 || known.cents(open.weight) <= most_cents {
        return;
    }
    *known = Rate(EndedTurns {
        cost_micros: most_cents.saturating_mul(MICROS_OF_A_CENT / 2),
        ..open
    });
    write(state, &rates);
}

fn write(state: &State, rates: &BTreeMap<String, Rate>) {
    let rates = rates.iter().map(|(service, Rate(rate))| {
        let rate = json!({
            "tokens": rate.tokens, "weight": rate.weight, "cost_micros": rate.cost_micros,
        });
        (service.clone(), rate)
    });
    let text = Value::Object(rates.collect()).to_string();
    drop(state::write_durably(&path(state), &text));
}

/// A rate of an earlier version has no weight and is learned anew.
fn read(state: &State) -> BTreeMap<String, Rate> {
    let text = fs::read_to_string(path(state)).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let rates = value.as_object().into_iter().flatten();
    let rates = rates.filter_map(|(service, rate)| {
        let rate = EndedTurns {
            tokens: rate["tokens"].as_u64()?,
            weight: rate["weight"].as_u64().filter(|weight| *weight > 0)?,
            cost_micros: rate["cost_micros"].as_u64()?,
        };
        Some((service.clone(), Rate(rate)))
    });
    rates.collect()
}

fn path(state: &State) -> PathBuf {
    state.folder().join("rates.json")
}

#[cfg(test)]
mod tests {
    use engine::RunnerName;

    use super::*;

    fn service(model: &str) -> Service {
        Service {
            runner: RunnerName::parse("claude").unwrap(),
            model: Some(model.to_owned()),
        }
    }

    fn turns(weight: u64, cost_micros: u64) -> EndedTurns {
        EndedTurns {
            tokens: weight / 10,
            weight,
            cost_micros,
        }
    }

    #[test]
    fn a_rate_is_that_of_the_latest_turns_of_its_service() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let cents = |model: &str| seen(&state, &service(model)).map(|rate| rate.cents(1000));
        assert_eq!(cents("opus"), None);
        learn(&state, &service("opus"), turns(1000, 500_000));
        assert_eq!((cents("opus"), cents("sonnet")), (Some(50), None));
        learn(&state, &service("opus"), turns(1000, 0));
        learn(&state, &service("opus"), turns(640_000_000, 640_000_000));
        learn(&state, &service("opus"), turns(10_000_000, 10_000_000));
        assert_eq!(cents("opus"), Some(0), "a tenth of a cent");
        fs::write(path(&state), "[").unwrap();
        assert_eq!(cents("opus"), None);
        fs::write(
            path(&state),
            r#"{"claude (opus)":{"tokens":9,"cost_micros":9}}"#,
        )
        .unwrap();
        assert_eq!(cents("opus"), None, "tokens of all kinds were one");
    }

    #[test]
    fn a_turn_that_its_program_did_not_end_cost_no_more_than_it_was_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let cents = || seen(&state, &service("opus")).map(|rate| rate.cents(1000));
        bound(&state, &service("opus"), turns(1000, 0), 20);
        assert_eq!(cents(), None, "it is not known how much less");
        learn(&state, &service("opus"), turns(1000, 500_000));
        bound(&state, &service("opus"), turns(1000, 0), 50);
        bound(&state, &service("opus"), turns(0, 0), 0);
        assert_eq!(cents(), Some(50));
        bound(&state, &service("opus"), turns(2000, 0), 40);
        assert_eq!(cents(), Some(10), "half of what it may have been at most");
    }
}
