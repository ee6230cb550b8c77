//! Figures for programs. `docs/metrics.md` describes every field.

use engine::Usage;
use serde_json::{Map, Value, json};

use super::{Counts, Durations, Metrics, RunFigures, StageKey};

impl Metrics {
    pub fn json(&self) -> Value {
        let waits = self.people.waits.iter().map(|(wait, figures)| {
            let value = json!({ "over": spread(&figures.time), "open": spread(&figures.open) });
            (wait.word().to_owned(), value)
        });
        json!({
            "runs": runs(&self.runs),
            "stages": list(&self.stages, |place, figures| placed(place, json!({
                "entered": figures.entered,
                "outcomes": counts(&figures.outcomes),
                "time": spread(&figures.time),
            }))),
            "agents": list(&self.agents, |agent, figures| json!({
                "agent": agent.as_str(),
                "dispatches": figures.dispatches,
                "open": figures.open,
                "outcomes": counts(&figures.outcomes),
                "retries": figures.retries,
                "sent_back": figures.sent_back,
                "time": spread(&figures.time),
                "usage": usage(figures.usage),
            })),
            "checks": list(&self.checks, |place, figures| placed(place, json!({
                "passed": figures.passed,
                "failed": figures.failed,
                "void": figures.void,
            }))),
            "reviews": list(&self.reviews, |place, figures| placed(place, json!({
                "rounds": figures.rounds,
                "approvals": figures.approvals,
                "findings": figures.findings,
                "fixes": figures.fixes,
                "exceeded": figures.exceeded,
            }))),
            "refusals": counts(&self.refusals),
            "people": {
                "acts": counts(&self.people.acts),
                "waits": waits.collect::<Map<_, _>>(),
            },
        })
    }
}

fn runs(figures: &RunFigures) -> Value {
    json!({
        "total": figures.total(),
        "statuses": counts(&figures.statuses),
        "overridden": figures.overridden,
        "success_permille": figures.success_permille(),
        "time": spread(&figures.time),
        "usage": usage(figures.usage),
    })
}

fn list<K, V>(
    figures: &std::collections::BTreeMap<K, V>,
    one: impl Fn(&K, &V) -> Value,
) -> Vec<Value> {
    figures.iter().map(|(key, value)| one(key, value)).collect()
}

fn placed(key: &StageKey, mut value: Value) -> Value {
    value["pipeline"] = json!(key.pipeline.as_str());
    value["stage"] = json!(key.stage.as_str());
    value
}

fn counts(counts: &Counts) -> Value {
    counts
        .iter()
        .map(|(word, count)| (word.clone(), json!(count)))
        .collect::<Map<_, _>>()
        .into()
}

fn spread(spread: &Durations) -> Value {
    json!({
        "count": spread.count(),
        "total_ms": spread.total(),
        "median_ms": spread.median(),
        "p90_ms": spread.p90(),
        "longest_ms": spread.longest(),
    })
}

fn usage(usage: Usage) -> Value {
    crate::words::usage_json(&usage)
}
