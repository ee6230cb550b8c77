//! The top of a pipeline file: everything but the artifacts, stages and proofs themselves.

use std::collections::BTreeMap;

use engine::{
    AgentPattern, Artifact, ArtifactName, Begins, Budget, Counter, CounterName, Definition,
    GroupName, Meaning, Mode, Param, ParamName, PipelineName, StageName,
};

use super::{Fields, Reader};
use crate::members;
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Value};
use crate::vocabulary::{self, BEGINS, MEANINGS, MODES};

/// The agents of the hosts that only look around.
const DEFAULT_HELPERS: [&str; 2] = ["Explore", "Plan"];

impl Reader<'_> {
    pub(super) fn definition(&mut self, root: &Node) -> Option<Definition> {
        let fields = &self.fields(root, &vocabulary::PIPELINE)?;
        let head = self.head(fields);
        let (begins, mode) = self.start_and_mode(fields);
        let ttl = self.optional(fields, "ttl", Self::duration);
        let budget = self
            .optional(fields, "budget", Self::budget)
            .unwrap_or_default();
        let settings = self.settings(fields);
        let params = self.named(fields, "params", Self::param);
        let counters = self.named(fields, "counters", Self::counter);
        let groups = self.named(fields, "groups", Self::group);
        let artifacts = self.named(fields, "artifacts", Self::named_artifact);
        let stages = self.map(fields, "stages", Self::stage);
        let views = self.optional(fields, "views", Self::views);
        let commands = self.named(fields, "commands", Self::slash_command);
        let helpers = self.helpers(fields);
        let gives = self.list(fields, "gives", Self::given);
        let ignores = self.list(fields, "ignores", Self::ignored);
        let litter = self.list(fields, "litter", Self::litter);
        let placement = self.placement(fields);
        let protocol = self.optional(fields, "protocol", Self::protocol);
        let proofs = self.list(fields, "prove", Self::proof);
        let (name, about, start) = head?;
        Some(Definition {
            name,
            about,
            begins,
            start,
            mode,
            ttl,
            budget,
            settings,
            params,
            counters,
            groups,
            artifacts,
            stages,
            views: views.unwrap_or_default(),
            commands,
            helpers,
            gives,
            ignores,
            litter,
            protocol,
            proofs,
            placement,
        })
    }

    /// The members of a table by their names.
    fn named<Name: Ord, Member>(
        &mut self,
        fields: &Fields<'_>,
        key: &'static str,
        read: impl FnMut(&mut Self, &Entry) -> Option<(Name, Member)>,
    ) -> BTreeMap<Name, Member> {
        self.map(fields, key, read).into_iter().collect()
    }

    fn helpers(&mut self, fields: &Fields<'_>) -> Vec<AgentPattern> {
        match fields.get("helpers") {
            Some(_) => self.list(fields, "helpers", Self::pattern),
            None => DEFAULT_HELPERS.map(AgentPattern::new).to_vec(),
        }
    }

    /// How runs start, and whether rules are enforced.
    fn start_and_mode(&mut self, fields: &Fields<'_>) -> (Begins, Mode) {
        let begins = self.optional(fields, "begins", |reader, node| {
            reader.word(node, BEGINS, &[Begins::Command, Begins::Session])
        });
        let mode = self.optional(fields, "mode", |reader, node| {
            reader.word(node, MODES, &[Mode::Enforced, Mode::Advisory])
        });
        (
            begins.unwrap_or(Begins::Command),
            mode.unwrap_or(Mode::Enforced),
        )
    }

    fn named_artifact(&mut self, entry: &Entry) -> Option<(ArtifactName, Artifact)> {
        let name = self.key(entry, ArtifactName::parse);
        let artifact = self.artifact(&entry.node);
        name.zip(artifact)
    }

    /// What every pipeline must say.
    fn head(&mut self, fields: &Fields<'_>) -> Option<(PipelineName, String, StageName)> {
        let name = self.required(fields, "name", |reader, node| {
            reader.name(node, PipelineName::parse)
        });
        let about = self.required(fields, "about", Self::filled);
        let start = self.required(fields, "start", |reader, node| {
            reader.name(node, StageName::parse)
        });
        self.required(fields, "stages", |_, _| Some(()));
        Some((name?, about?, start?))
    }

    fn budget(&mut self, node: &Node) -> Option<Budget> {
        let fields = &self.fields(node, &vocabulary::BUDGET)?;
        Some(Budget {
            turns: self.optional(fields, "turns", Self::amount),
            tokens: self.optional(fields, "tokens", Self::amount),
            cost_cents: self.optional(fields, "cost", Self::cost),
            time: self.optional(fields, "time", Self::duration),
        })
    }

    fn param(&mut self, entry: &Entry) -> Option<(ParamName, Param)> {
        let name = self.key(entry, ParamName::parse);
        let param = match &entry.node.value {
            Value::Text(_) => self.filled(&entry.node).map(|about| Param {
                about,
                required: true,
                ..Param::default()
            }),
            _ => self.long_param(&entry.node),
        };
        name.zip(param)
    }

    fn long_param(&mut self, node: &Node) -> Option<Param> {
        let fields = &self.fields(node, &vocabulary::PARAM)?;
        let about = self
            .optional(fields, "about", Self::owned_text)
            .unwrap_or_default();
        let default = self.optional(fields, "default", Self::scalar);
        // A run must not start with a missing value, so a parameter without a default is required.
        let required = self
            .optional(fields, "required", Self::flag)
            .unwrap_or(default.is_none());
        let choices = self.list(fields, "choices", Self::scalar);
        let words = self.map(fields, "words", |reader, entry| {
            Some((entry.key.clone(), reader.scalar(&entry.node)?))
        });
        let settings = self.optional(fields, "setting", Self::setting_fields);
        let meaning = self.optional(fields, "is", |reader, node| {
            reader.word(node, MEANINGS, &[Meaning::Text, Meaning::Path])
        });
        Some(Param {
            about,
            required,
            default,
            choices,
            words: words.into_iter().collect(),
            settings: settings.unwrap_or_default(),
            meaning: meaning.unwrap_or_default(),
        })
    }

    /// One field of the settings file, or several of which the first counts.
    fn setting_fields(&mut self, node: &Node) -> Option<Vec<String>> {
        match &node.value {
            Value::List(_) => self.items(node, Self::field),
            _ => self.field(node).map(|field| vec![field]),
        }
    }

    fn counter(&mut self, entry: &Entry) -> Option<(CounterName, Counter)> {
        let name = self.key(entry, CounterName::parse);
        let fields = &self.fields(&entry.node, &vocabulary::COUNTER)?;
        let max = self.required(fields, "max", Self::amount);
        let then = self.required(fields, "then", |reader, node| {
            reader.name(node, StageName::parse)
        });
        Some((
            name?,
            Counter {
                max: max?,
                then: then?,
            },
        ))
    }

    fn group(&mut self, entry: &Entry) -> Option<(GroupName, Vec<engine::AgentPattern>)> {
        let name = self.key(entry, GroupName::parse);
        let members = match &entry.node.value {
            Value::Table(_) => self.open_group(&entry.key, &entry.node),
            _ => self.items(&entry.node, Self::pattern),
        };
        name.zip(members)
    }

    /// A group to which the settings file may add. The added members are already next to the
    /// definition, so that every check and proof holds for all members.
    fn open_group(&mut self, group: &str, node: &Node) -> Option<Vec<engine::AgentPattern>> {
        let fields = &self.fields(node, &vocabulary::GROUP)?;
        let always = self.required(fields, "always", |reader, node| {
            reader.items(node, Self::pattern)
        });
        self.required(fields, "setting", Self::field);
        let place = fields.get("setting").map_or(&node.span, |node| &node.span);
        let more = members::added(self.files, group);
        self.within_limits(node, more.len())?;
        let more: Vec<_> = more
            .iter()
            .filter_map(|member| self.parse_pattern(member, place))
            .collect();
        always.map(|always| [always, more].concat())
    }

    /// The settings file. A group cannot take members from one that the pipeline does not name.
    fn settings(&mut self, fields: &Fields<'_>) -> Option<String> {
        let settings = self.optional(fields, "settings", Self::filled);
        let groups = fields.get("groups").map(Node::entries).unwrap_or_default();
        let open = groups
            .iter()
            .find(|group| group.node.get("setting").is_some());
        if let (Some(open), None) = (open, fields.get("settings")) {
            let message = format!("the group `{}` needs a settings file", open.key);
            let hint = "name it above: settings = \"pipeline.config.json\"";
            self.report(LanguageRule::MissingKey, &open.key_span, message, hint);
        }
        settings
    }
}
