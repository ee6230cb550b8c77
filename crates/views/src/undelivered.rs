//! The work of a completed run that was not handed over: why, and what to type.

use engine::RunId;
use serde_json::{Value, json};

use crate::safe::Untrusted;

/// A completed run is to deliver its work, and has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// Why the last try failed; absent where nobody has tried.
    pub reason: Option<Untrusted>,
}

impl Undelivered {
    /// How a list marks such a run.
    pub(crate) const MARK: &str = "NOT DELIVERED";

    /// What is the matter, as the end of a sentence.
    pub fn text(&self) -> String {
        match &self.reason {
            Some(reason) => format!("its work is not delivered: {}", reason.line()),
            None => "its work is not delivered yet".to_owned(),
        }
    }

    /// What to type.
    pub fn command(run: &RunId) -> String {
        format!("gatewright deliver {run}")
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "reason": self.reason.as_ref().map(Untrusted::raw) })
    }
}
