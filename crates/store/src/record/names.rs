//! Records of names, hashes, times and rules. A name is parsed when it is read.

use engine::{
    AgentName, AgentPattern, ArtifactName, CallId, CheckpointName, CommandName, CounterName,
    DispatchId, GroupName, Hash, Outcome, ParamName, PathGlob, PipelineName, Rule, RunId,
    RunnerName, Seconds, SessionId, StageName, StepId, Time, WorkerId,
};
use serde_json::Value;

use super::binary::{self, Input};
use super::plain::MapKey;
use super::{Record, Unreadable, Visitor, json};

/// Types that are written as a text and parsed from it.
macro_rules! record_text {
    ($($type:ident: $write:expr, $parse:expr;)*) => {$(
        impl Record for $type {
            fn to_json(&self, out: &mut String) {
                let write: fn(&Self) -> &str = $write;
                json::text(out, write(self));
            }

            fn from_json(value: Value) -> Result<Self, Unreadable> {
                let text = value.as_str().ok_or_else(|| json::unexpected("a text", &value))?;
                let parse: fn(&str) -> Result<Self, Unreadable> = $parse;
                parse(text)
            }

            fn to_bytes(&self, out: &mut Vec<u8>) {
                let write: fn(&Self) -> &str = $write;
                binary::text(out, write(self));
            }

            fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
                let parse: fn(&str) -> Result<Self, Unreadable> = $parse;
                parse(input.text()?)
            }

            fn visit(&mut self, _visitor: &mut dyn Visitor) {}
        }
    )*};
}

macro_rules! record_name {
    ($($type:ident),* $(,)?) => {$(
        record_text! {
            $type: Self::as_str,
                |text| Self::parse(text).map_err(|error| Unreadable::new(error.to_string()));
        }

        impl MapKey for $type {
            fn to_key(&self) -> String {
                self.as_str().to_owned()
            }

            fn from_key(key: String) -> Result<Self, Unreadable> {
                Self::parse(&key).map_err(|error| Unreadable::new(error.to_string()))
            }
        }
    )*};
}

record_name!(
    AgentName,
    ArtifactName,
    CallId,
    CheckpointName,
    CommandName,
    CounterName,
    GroupName,
    Outcome,
    ParamName,
    PipelineName,
    RunId,
    RunnerName,
    SessionId,
    StageName,
    StepId,
    WorkerId,
);

record_text! {
    AgentPattern: Self::as_str, |text| Ok(Self::new(text));
    PathGlob: Self::as_str, |text| Ok(Self::new(text));
    Rule: |rule| rule.code(),
        |text| Self::parse(text).ok_or_else(|| Unreadable::new(format!("no rule has the code `{text}`")));
}

/// Types that wrap one number.
macro_rules! record_around {
    ($($type:ident),*) => {$(
        impl Record for $type {
            fn to_json(&self, out: &mut String) {
                self.0.to_json(out);
            }

            fn from_json(value: Value) -> Result<Self, Unreadable> {
                Record::from_json(value).map(Self)
            }

            fn to_bytes(&self, out: &mut Vec<u8>) {
                self.0.to_bytes(out);
            }

            fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
                Record::from_bytes(input).map(Self)
            }

            fn visit(&mut self, _visitor: &mut dyn Visitor) {}
        }
    )*};
}

record_around!(DispatchId, Seconds, Time);

impl MapKey for DispatchId {
    fn to_key(&self) -> String {
        self.0.to_key()
    }

    fn from_key(key: String) -> Result<Self, Unreadable> {
        u32::from_key(key).map(Self)
    }
}

impl Record for Hash {
    fn to_json(&self, out: &mut String) {
        json::text(out, &self.to_string());
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        let hash = value.as_str().and_then(Self::parse);
        hash.ok_or_else(|| json::unexpected("64 hexadecimal digits", &value))
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        input.array().map(Self)
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.hash(*self);
    }
}
