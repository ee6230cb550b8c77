//! The JSON Schema of the language, for editors, made from the vocabulary.

use serde_json::{Map, Value, json};

use crate::vocabulary::{ACTS, Key, Kind, PIPELINE, Presence, Shape, Table};

const NAME: &str = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}";
const AGENT: &str = "[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}";
const PATTERN: &str = "[A-Za-z0-9*][A-Za-z0-9_.:*-]{0,63}";
const STEP_ID: &str = "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}";
/// One part of the path of a file for a host.
const PART: &str = r"[^./\\:\x00][^/\\:\x00]*";
/// A line of an ignore file: no comment, no exception, and not a pattern that covers everything.
const IGNORED: &str = r"^[^\s!#]([^\x00-\x1f]*[^\s])?$";
const LITTER: &str = r"^[^\s!#/\\]([^\x00-\x1f\\]*[^\s\\])?$";
const FIELD: &str = r"[^.\s]+(\.[^.\s]+)*";

/// The JSON Schema (draft 2020-12) of a pipeline file, TOML or JSON.
pub fn schema() -> String {
    let mut tables = Map::new();
    collect(&PIPELINE, &mut tables);
    let root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gatewright pipeline",
        "$ref": pointer(&PIPELINE),
        "$defs": tables,
    });
    format!("{root:#}\n")
}

/// Adds this table's schema and those of all tables inside it.
fn collect(table: &'static Table, tables: &mut Map<String, Value>) {
    if tables.contains_key(&title(table)) {
        return;
    }
    tables.insert(title(table), object(table));
    for key in table.keys() {
        for inner in tables_in(&key.shape) {
            collect(inner, tables);
        }
    }
}

fn tables_in(shape: &Shape) -> Vec<&'static Table> {
    match shape {
        Shape::Table(table) => vec![table],
        Shape::Stage => Kind::ALL.map(Kind::table).to_vec(),
        Shape::List(inner) | Shape::FilledList(inner) | Shape::Map { values: inner, .. } => {
            tables_in(inner)
        }
        Shape::Either(shapes) => shapes.iter().flat_map(tables_in).collect(),
        _ => Vec::new(),
    }
}

fn object(table: &Table) -> Value {
    let properties: Map<String, Value> = table.keys().map(property).collect();
    let required = table
        .keys()
        .filter(|key| key.presence == Presence::Required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    let mut object = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    });
    if !table.choice.is_empty() {
        let sets: Vec<Value> = table
            .choice
            .iter()
            .map(|keys| json!({ "required": keys }))
            .collect();
        object["oneOf"] = sets.into();
    }
    let supplied = table
        .keys()
        .filter(|key| key.presence == Presence::OwnOrExtended);
    let supplied: Vec<&str> = supplied.map(|key| key.name).collect();
    if !supplied.is_empty() {
        object["anyOf"] = json!([{ "required": ["extends"] }, { "required": supplied }]);
    }
    object
}

fn property(key: &Key) -> (String, Value) {
    let mut schema = value(&key.shape);
    schema["description"] = key.about.into();
    (key.name.into(), schema)
}

fn value(shape: &Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Filled | Shape::Reference => json!({ "type": "string", "pattern": r"\S" }),
        Shape::Name | Shape::NameOf(_) => text(NAME),
        Shape::Agent => text(AGENT),
        Shape::AgentPattern => text(PATTERN),
        Shape::Read => text(&format!(r"{NAME}\??")),
        Shape::StepId => text(STEP_ID),
        Shape::Field => text(FIELD),
        Shape::FieldOf => text(&format!(r"{NAME}\.{FIELD}")),
        Shape::Target => text(&format!(r"@interrupted|{NAME}|\{{{NAME}\}}")),
        Shape::Duration => text("0*[1-9][0-9]*[smhd]"),
        Shape::Whole => whole(0, u32::MAX),
        Shape::Amount => json!({ "anyOf": [whole(0, u32::MAX), text(&format!(r"\{{{NAME}\}}"))] }),
        Shape::Bytes => whole(1, 4 * 1024 * 1024),
        Shape::Cost => {
            json!({ "anyOf": [{ "type": "number", "minimum": 0 }, text(r"[0-9]+(\.[0-9]{1,2})?")] })
        }
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Choice => {
            json!({ "anyOf": [{ "type": "boolean" }, text(&format!(r"\{{{NAME}\}}"))] })
        }
        Shape::Scalar => json!({ "type": ["string", "integer", "boolean"] }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::List(inner) => json!({ "type": "array", "items": value(inner) }),
        Shape::FilledList(inner) => {
            json!({ "type": "array", "items": value(inner), "minItems": 1 })
        }
        Shape::Map { keys, values } => {
            json!({ "type": "object", "propertyNames": value(keys), "additionalProperties": value(values) })
        }
        Shape::Table(table) => json!({ "$ref": pointer(table) }),
        Shape::Either(shapes) => json!({ "anyOf": shapes.iter().map(value).collect::<Vec<_>>() }),
        Shape::Stage => {
            let kinds = Kind::ALL.map(|kind| json!({ "$ref": pointer(kind.table()) }));
            json!({ "oneOf": kinds })
        }
        Shape::Act => text(&format!("{}|answer {NAME}", ACTS.join("|"))),
        Shape::Given => text(&format!(
            "(agents|commands)/({PART}/)*{PART}[.]md|skills/({PART}/)+{PART}"
        )),
        Shape::Ignored => json!({ "type": "string", "pattern": IGNORED }),
        Shape::Litter => json!({ "type": "string", "pattern": LITTER }),
        Shape::Schema => json!({ "type": "object" }),
    }
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^({pattern})$") })
}

fn whole(least: u32, most: u32) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn pointer(table: &Table) -> String {
    format!("#/$defs/{}", title(table))
}

/// The table's name without its article: `an agent stage` is `agent-stage`.
fn title(table: &Table) -> String {
    let name = table
        .name
        .split_once(' ')
        .map_or(table.name, |(_, rest)| rest);
    name.replace(' ', "-").replace('`', "")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::builtin;
    use crate::diagnostic::Problems;
    use crate::read::tests::every_file;
    use crate::read::{asked, read, uses};
    use crate::source::{SourceFile, parse};
    use crate::tree::Node;

    const EVERY_KEY: &str = include_str!("../tests/every-key.toml");

    fn tree(text: &str) -> Node {
        let main = SourceFile {
            name: "test".into(),
            bytes: text.into(),
        };
        parse(&main, &mut Problems::default()).expect("the text can be parsed")
    }

    fn accepts(text: &str) -> Result<(), String> {
        let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
        let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
        validator
            .validate(&tree(text).to_json())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_built_in_and_every_key_are_accepted() {
        for builtin in builtin::all() {
            assert_eq!(accepts(builtin.text), Ok(()), "{}", builtin.name);
        }
        assert_eq!(accepts(EVERY_KEY), Ok(()));
    }

    /// The reader asks for every key of the vocabulary (so the schema has none that does nothing),
    /// and for no other (`Fields::get` would panic).
    #[test]
    fn the_reader_and_the_schema_know_the_same_keys() {
        let files = every_file();
        let mut problems = Problems::default();
        let definition = read("every-key.toml", &tree(EVERY_KEY), &files, &mut problems);
        assert!(definition.is_some(), "{problems:?}");
        let uses = uses("every-key.toml", &tree(EVERY_KEY), &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(uses.sources().count(), 3);
        let mut known = BTreeSet::new();
        visit(&PIPELINE, &mut known);
        assert_eq!(asked::all(), known);
    }

    fn visit(table: &'static Table, known: &mut BTreeSet<(&'static str, &'static str)>) {
        for key in table.keys() {
            if known.insert((table.name, key.name)) {
                tables_in(&key.shape)
                    .into_iter()
                    .for_each(|inner| visit(inner, known));
            }
        }
    }

    #[test]
    fn what_the_reader_refuses_the_schema_refuses_too() {
        let good = "name='a'\nabout='b'\nstart='s'\nstages.s.agent='x'\n";
        assert_eq!(accepts(good), Ok(()));
        assert_eq!(accepts("name='a'\nextends='ansible'\n"), Ok(()));
        assert!(accepts("name='a'\nabout='b'\n").is_err());
        for bad in [
            "surplus = 1",
            "extends = 1",
            "extends = ''",
            "without = 'stages.s'",
            "use = 'base.toml'",
            "use.q = 1",
            "use.q = { stages = ['s'] }",
            "use.q = { from = 'base.toml', with = ['s'] }",
            "use.'a b' = 'base.toml'",
            "ttl = 5",
            "ttl = '0s'",
            "begins = 'never'",
            "mode = true",
            "budget.cost = '1.234'",
            "params.p = 1",
            "counters.c = { max = -1, then = 's' }",
            "counters.c = { max = 1 }",
            "counters.c = { max = 'one', then = 's' }",
            "groups.g = 'x'",
            "groups.g = ['a b']",
            "artifacts.a = { format = 'json' }",
            "artifacts.a = { path = 'x', from = 'reply', format = 'json' }",
            "artifacts.a = { from = 'reply', max_bytes = 9999999 }",
            "artifacts.a = { from = 'reply', strict = 'sometimes' }",
            "artifacts.a = { from = 'reply', equals = { 'x y' = 'z' } }",
            "params.p = { is = 'number' }",
            "artifacts.a = { from = 'reply', outcome = { field = 'x', values = [] } }",
            "stages.t = {}",
            "stages.t = { agent = 'x', check = ['y'] }",
            "stages.t = { agent = 'x', panel = [] }",
            "stages.t = { agent = 'x', on.done = 1 }",
            "stages.t = { agent = 'x', on.done = '@elsewhere' }",
            "stages.t = { agent = 'x', on.done = { count = 'c' } }",
            "stages.t = { agent = 'x', tools.allow = ['y'] }",
            "stages.t = { check = 'x' }",
            "stages.t = { check = { from = 'story' } }",
            "stages.t = { end = 'done' }",
            "stages.t = { steps = 'later' }",
            "stages.t = { review = 'x', rounds = 1, panel = [{ agent = 'y' }] }",
            "commands.go = 'begin'",
            "commands.go = 'cancel now'",
            "commands.go = 'answer '",
            "commands.go = 'answer a b'",
            "commands.go = 1",
            "commands = { '/go' = 'start' }",
            "gives = 'agents/x.md'",
            "gives = ['x.md']",
            "gives = ['agents']",
            "gives = ['agents/x.txt']",
            "gives = ['agents/.x.md']",
            "gives = ['agents/../settings.md']",
            "gives = ['/agents/x.md']",
            "gives = ['skills/x.md']",
            "gives = ['hooks/x.md']",
            "ignores = '*.md'",
            "ignores = ['']",
            "ignores = ['# all']",
            "ignores = ['!kept']",
            "ignores = [' a']",
            "ignores = [\"a\\nb\"]",
            "protocol = ['x.md']",
            "prove = [{ name = 'x', before = 's' }]",
            "prove = [{ name = 'x', before = 's', through = 's', agent = 'a', only_after = 'b' }]",
        ] {
            let text = format!("{bad}\n{good}");
            assert!(accepts(&text).is_err(), "the schema accepts {bad}");
            let mut problems = Problems::default();
            uses("test", &tree(&text), &mut problems);
            let definition = read("test", &tree(&text), &BTreeMap::new(), &mut problems);
            assert!(definition.is_none(), "the reader accepts {bad}");
        }
    }
}
