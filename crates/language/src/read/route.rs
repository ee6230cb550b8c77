//! Routes: rules with their conditions, in the order of the file.

use engine::{Outcome, ParamName, RouteRule, RouteWork, StageName};

use super::{Fields, Reader};
use crate::tree::Node;
use crate::vocabulary;

impl Reader<'_> {
    pub(super) fn route_work(&mut self, fields: &Fields<'_>) -> Option<RouteWork> {
        let rules = self.required(fields, "route", |reader, node| {
            reader.items(node, Self::route_rule)
        });
        Some(RouteWork { rules: rules? })
    }

    fn route_rule(&mut self, node: &Node) -> Option<RouteRule> {
        let fields = &self.fields(node, &vocabulary::ROUTE_RULE)?;
        let outcome = self.required(fields, "outcome", |reader, node| {
            reader.name(node, Outcome::parse)
        });
        let most = |reader: &mut Self, node: &Node| reader.whole(node, 0, u32::MAX);
        let files = self.optional(fields, "files", most);
        let lines = self.optional(fields, "lines", most);
        let within = self.list(fields, "within", Self::glob);
        let avoids = self.list(fields, "avoids", Self::glob);
        let params = self.map(fields, "params", |reader, entry| {
            let name = reader.key(entry, ParamName::parse);
            let value = reader.scalar(&entry.node);
            Some((name?, value?))
        });
        let verdicts = self.map(fields, "verdicts", |reader, entry| {
            let stage = reader.key(entry, StageName::parse);
            let outcome = reader.name(&entry.node, Outcome::parse);
            Some((stage?, outcome?))
        });
        Some(RouteRule {
            outcome: outcome?,
            files,
            lines,
            within,
            avoids,
            params: params.into_iter().collect(),
            verdicts: verdicts.into_iter().collect(),
        })
    }
}
