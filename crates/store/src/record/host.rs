//! The record of a run's host, which was added to journals later.

use engine::HostName;
use serde_json::Value;

use super::binary::{self, Input};
use super::{Record, Unreadable, Visitor, json};

/// The only host before journals recorded one. A journal without a host means it, and is still
/// written without.
const FIRST: &str = "claude";

impl Record for HostName {
    fn to_json(&self, out: &mut String) {
        json::text(out, self.as_str());
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        let name = value.as_str();
        let name = name.ok_or_else(|| json::unexpected("a text", &value))?;
        parse(name)
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        binary::text(out, self.as_str());
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        parse(input.text()?)
    }

    fn visit(&mut self, _visitor: &mut dyn Visitor) {}

    fn left_out() -> Option<Self> {
        parse(FIRST).ok()
    }

    fn is_left_out(&self) -> bool {
        self.as_str() == FIRST
    }
}

fn parse(name: &str) -> Result<HostName, Unreadable> {
    HostName::parse(name).map_err(|error| Unreadable::new(error.to_string()))
}
