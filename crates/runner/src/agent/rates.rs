//! What a token of a service has cost so far on this machine: an estimate for turns that are under way.
//!
//! Programs tell the cost of a turn at its end. Prices differ by model and by kind of token and change,
//! so none is written down here: the rate is that of the latest turns that ended.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use engine::Service;
use runtime::state::{self, State};
use serde_json::{Value, json};

/// Older turns count half when this many tokens are known.
const REMEMBERED_TOKENS: u64 = 2_000_000;

/// Tokens, and what they cost in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    tokens: u64,
    cost_micros: u64,
}

impl Rate {
    /// What this many tokens cost at this rate, in whole cents.
    pub fn cents(self, tokens: u64) -> u64 {
        let micros =
            u128::from(tokens) * u128::from(self.cost_micros) / u128::from(self.tokens.max(1));
        u64::try_from(micros / 10_000).unwrap_or(u64::MAX)
    }
}

/// The rate of this service, if a turn of it has ended on this machine.
pub(crate) fn seen(state: &State, service: &Service) -> Option<Rate> {
    read(state).remove(&service.to_string())
}

/// A turn of this service has ended. A rate that cannot be written is only missing later.
pub(crate) fn learn(state: &State, service: &Service, tokens: u64, cost_micros: u64) {
    if tokens == 0 || cost_micros == 0 {
        return;
    }
    let mut rates = read(state);
    let known = rates.entry(service.to_string()).or_default();
    while known.tokens > REMEMBERED_TOKENS {
        known.tokens /= 2;
        known.cost_micros /= 2;
    }
    known.tokens = known.tokens.saturating_add(tokens);
    known.cost_micros = known.cost_micros.saturating_add(cost_micros);
    let rates = rates.iter().map(|(service, rate)| {
        let rate = json!({ "tokens": rate.tokens, "cost_micros": rate.cost_micros });
        (service.clone(), rate)
    });
    let text = Value::Object(rates.collect()).to_string();
    drop(state::write_durably(&path(state), &text));
}

fn read(state: &State) -> BTreeMap<String, Rate> {
    let text = fs::read_to_string(path(state)).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let rates = value.as_object().into_iter().flatten();
    let rates = rates.filter_map(|(service, rate)| {
        let rate = Rate {
            tokens: rate["tokens"].as_u64().filter(|tokens| *tokens > 0)?,
            cost_micros: rate["cost_micros"].as_u64()?,
        };
        Some((service.clone(), rate))
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

    #[test]
    fn a_rate_is_that_of_the_latest_turns_of_its_service() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let service = |model: &str| Service {
            runner: RunnerName::parse("claude").unwrap(),
            model: Some(model.to_owned()),
        };
        let cents = |model: &str| seen(&state, &service(model)).map(|rate| rate.cents(1000));
        assert_eq!(cents("opus"), None);
        learn(&state, &service("opus"), 1000, 500_000);
        assert_eq!((cents("opus"), cents("sonnet")), (Some(50), None));
        learn(&state, &service("opus"), 1000, 0);
        learn(&state, &service("opus"), 64_000_000, 64_000_000);
        learn(&state, &service("opus"), 1_000_000, 1_000_000);
        assert_eq!(cents("opus"), Some(0), "a tenth of a cent");
        fs::write(path(&state), "[").unwrap();
        assert_eq!(cents("opus"), None);
    }
}
