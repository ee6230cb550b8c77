//! Proofs: what a pipeline promises.

use engine::{AgentName, Claim, Proof, StageName};

use super::{Fields, Reader};
use crate::rule::LanguageRule;
use crate::tree::{Node, Value};
use crate::vocabulary;

impl Reader<'_> {
    pub(super) fn proof(&mut self, node: &Node) -> Option<Proof> {
        let fields = &self.fields(node, &vocabulary::PROOF)?;
        let name = self.required(fields, "name", Self::filled);
        let has = |keys: [&'static str; 2]| keys.iter().any(|key| fields.get(key).is_some());
        let claim = match (has(["agent", "only_after"]), has(["before", "through"])) {
            (true, _) => self.admits(fields),
            (false, true) => self.passes(fields),
            (false, false) => self.claims_nothing(fields),
        };
        Some(Proof {
            name: name?,
            claim: claim?,
        })
    }

    fn claims_nothing(&mut self, fields: &Fields<'_>) -> Option<Claim> {
        let message = String::from("this proof claims nothing");
        let hint = "add `before` and `through`, or `agent` and `only_after`";
        self.report(LanguageRule::MissingKey, &fields.node.span, message, hint);
        None
    }

    fn passes(&mut self, fields: &Fields<'_>) -> Option<Claim> {
        let stage = |reader: &mut Self, node: &Node| reader.name(node, StageName::parse);
        let before = self.required(fields, "before", stage);
        let through = self.required(fields, "through", Self::through);
        let after = self.optional(fields, "after", stage);
        Some(Claim::Passes {
            after,
            before: before?,
            through: through?,
        })
    }

    fn through(&mut self, node: &Node) -> Option<Vec<StageName>> {
        match &node.value {
            Value::Text(_) => self.name(node, StageName::parse).map(|stage| vec![stage]),
            _ => self.items(node, |reader, node| reader.name(node, StageName::parse)),
        }
    }

    fn admits(&mut self, fields: &Fields<'_>) -> Option<Claim> {
        for (key, node) in ["before", "through", "after"].map(|key| (key, fields.get(key))) {
            if let Some(node) = node {
                let message = format!(
                    "`{key}` is for a proof about stages, but this proof is about an agent"
                );
                let hint =
                    "write two proofs: `before` with `through`, and `agent` with `only_after`";
                self.report(LanguageRule::ExcludedKey, &node.span, message, hint);
            }
        }
        let agents = self.required(fields, "agent", Self::pattern);
        let only_after = self.required(fields, "only_after", |reader, node| {
            reader.name(node, AgentName::parse)
        });
        Some(Claim::Admits {
            agents: agents?,
            only_after: only_after?,
        })
    }
}
