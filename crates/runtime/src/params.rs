//! Parameters: typed values take precedence over the settings file, and that over the defaults.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use engine::{Beginning, Definition, ParamName, StepsSource, Strictness, Work};
use serde_json::Value;

use crate::failure::Failure;

const MOST_BYTES: u64 = 1024 * 1024;

/// The values that a run of this definition starts with; the engine adds the defaults.
pub fn gather(
    definition: &Definition,
    typed: &[(ParamName, String)],
    root: &Path,
) -> Result<BTreeMap<ParamName, String>, Failure> {
    let mut params = match &definition.settings {
        Some(path) => from_settings(definition, path, root)?,
        None => BTreeMap::new(),
    };
    let mut seen = BTreeMap::new();
    for (name, value) in typed {
        if seen.insert(name.clone(), value).is_some() {
            return Err(
                Failure::usage(format!("--param {name} is given twice")).hint("write it once")
            );
        }
    }
    params.extend(typed.iter().cloned());
    Ok(params)
}

/// What a typed value makes less strict than the definition does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakened {
    /// A check of an artifact becomes a warning.
    Artifact,
    /// A route may take a shorter way.
    Route,
}

/// The first typed value that makes something less strict.
pub fn weakening<'a>(
    definition: &Definition,
    typed: &'a [(ParamName, String)],
) -> Option<(&'a (ParamName, String), Weakened)> {
    let artifact = weakens_artifact(definition, typed).map(|it| (it, Weakened::Artifact));
    artifact.or_else(|| shortens_route(definition, typed).map(|it| (it, Weakened::Route)))
}

fn shortens_route<'a>(
    definition: &Definition,
    typed: &'a [(ParamName, String)],
) -> Option<&'a (ParamName, String)> {
    let stages = definition.stages.iter();
    let routes = stages.filter_map(|stage| stage.work.as_route());
    let rules: Vec<_> = routes.flat_map(|route| &route.rules).collect();
    typed.iter().find(|(name, value)| {
        let param = definition.params.get(name);
        let is_default = param.is_some_and(|param| param.default.as_ref() == Some(value));
        let asks = |rule: &&engine::RouteRule| rule.params.get(name) == Some(value);
        !is_default && rules.iter().any(asks)
    })
}

fn weakens_artifact<'a>(
    definition: &Definition,
    typed: &'a [(ParamName, String)],
) -> Option<&'a (ParamName, String)> {
    let defaults = definition.params.iter();
    let defaults: BTreeMap<ParamName, String> = defaults
        .filter_map(|(name, param)| Some((name.clone(), param.default.clone()?)))
        .collect();
    typed.iter().find(|(name, value)| {
        let given = BTreeMap::from([(name.clone(), value.clone())]);
        let mut artifacts = definition.artifacts.values();
        artifacts.any(|artifact| {
            let strictness = &artifact.strictness;
            // Another word is an error of its own.
            Strictness::WORDS.contains(&value.as_str())
                && *strictness == Strictness::Param(name.clone())
                && strictness.is_strict(&defaults)
                && !strictness.is_strict(&given)
        })
    })
}

/// A required parameter must not be empty.
pub fn refuse_empty(
    definition: &Definition,
    params: &BTreeMap<ParamName, String>,
) -> Result<(), Failure> {
    let empty = params.iter().find(|(name, value)| {
        let param = definition.params.get(*name);
        param.is_some_and(|param| param.required) && value.trim().is_empty()
    });
    match empty {
        Some((name, _)) => Err(Failure::refused(format!(
            "parameter '{name}' is required and must not be empty"
        ))
        .hint(format!("write --param {name}=VALUE"))),
        None => Ok(()),
    }
}

/// What to type if a run cannot start.
pub fn advice(definition: &Definition, beginning: &Beginning) -> Option<String> {
    let given = &beginning.params;
    if let Some(unknown) = given
        .keys()
        .find(|name| !definition.params.contains_key(*name))
    {
        let known = definition.params.keys().map(ParamName::as_str);
        return Some(match engine::nearest(unknown.as_str(), known) {
            Some(near) => format!("did you mean --param {near}=VALUE?"),
            None => format!("remove --param {unknown}"),
        });
    }
    let mut wanted = definition.params.iter();
    let missing = wanted.find(|(name, param)| {
        param.required && param.default.is_none() && !given.contains_key(*name)
    });
    if let Some((name, _)) = missing {
        return Some(format!("add --param {name}=VALUE"));
    }
    let mut stages = definition.stages.iter();
    let takes = stages.find_map(|stage| match &stage.work {
        Work::Steps(work) => Some(&work.source).filter(|source| source.takes_given()),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Route(_)
        | Work::End(_) => None,
    });
    match (takes, beginning.steps.is_empty()) {
        (Some(StepsSource::Start), true) => Some("add --steps FILE".to_owned()),
        (None, false) => Some("remove --steps".to_owned()),
        (Some(_), _) | (None, true) => None,
    }
}

/// Values from the project's settings file. A missing file sets nothing.
fn from_settings(
    definition: &Definition,
    path: &str,
    root: &Path,
) -> Result<BTreeMap<ParamName, String>, Failure> {
    let Some(settings) = settings(path, root)? else {
        return Ok(BTreeMap::new());
    };
    let mut params = BTreeMap::new();
    for (name, param) in &definition.params {
        let mut fields = param.settings.iter();
        let found = fields.find_map(|field| Some((field, at(&settings, field)?)));
        if let Some((field, value)) = found {
            params.insert(name.clone(), text(value, field, path)?);
        }
    }
    Ok(params)
}

/// The content of the project's settings file; `None` if it is missing.
pub fn settings(path: &str, root: &Path) -> Result<Option<Value>, Failure> {
    let inside = evidence::InsidePath::parse(path).map_err(|reason| {
        Failure::settings(format!("the settings file has no usable path: {reason}"))
    })?;
    read(&root.join(inside.as_str()), inside.as_str())
}

fn read(path: &Path, shown: &str) -> Result<Option<Value>, Failure> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Failure::file("look at", path)(cause)),
    };
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        let failure = Failure::settings(format!(
            "{shown} must be a file of at most {MOST_BYTES} bytes"
        ));
        return Err(failure.hint("make it a short JSON file"));
    }
    let mut written = String::new();
    let file = fs::File::open(path).map_err(Failure::file("open", path))?;
    file.take(MOST_BYTES)
        .read_to_string(&mut written)
        .map_err(Failure::file("read", path))?;
    let value = serde_json::from_str(&written).map_err(|problem| {
        Failure::settings(format!("{shown} is not valid JSON ({problem})")).hint("correct it")
    })?;
    Ok(Some(value))
}

/// The value at a dotted path. `null` counts as not set.
pub fn at<'a>(settings: &'a Value, field: &str) -> Option<&'a Value> {
    let found = field
        .split('.')
        .try_fold(settings, |value, key| value.get(key))?;
    (!found.is_null()).then_some(found)
}

fn text(value: &Value, field: &str, path: &str) -> Result<String, Failure> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let failure = Failure::settings(format!("{field} in {path} must be a single value"));
            Err(failure.hint("write a text, a number, true or false"))
        }
    }
}

/// Parses `name=value`.
pub fn parse(typed: &str) -> Result<(ParamName, String), String> {
    let (name, value) = typed.split_once('=').ok_or("write it as NAME=VALUE")?;
    let name = ParamName::parse(name).map_err(|problem| problem.to_string())?;
    Ok((name, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(settings: Option<&str>) -> Definition {
        let mut text = String::from(
            "name = 'p'\nabout = 'a test'\nstart = 'work'\n\
             params.limit = { about = 'how often', default = 1, setting = 'loops.limit' }\n\
             params.who = { about = 'for whom', default = 'me', setting = 'who' }\n\
             stages.work = { agent = 'a', on.done = 'over' }\n\
             stages.over = { end = 'completed' }\n",
        );
        if let Some(settings) = settings {
            text = format!("settings = '{settings}'\n{text}");
        }
        let main = language::SourceFile {
            name: "p.toml".into(),
            bytes: text.into(),
        };
        let sources = language::Sources {
            main,
            ..language::Sources::default()
        };
        language::compile(&sources)
            .unwrap()
            .pipeline
            .definition()
            .clone()
    }

    fn gathered(settings: Option<&str>, typed: &[&str]) -> Result<String, Failure> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(settings) = settings {
            fs::write(folder.path().join("s.json"), settings).unwrap();
        }
        let typed: Vec<_> = typed.iter().map(|typed| parse(typed).unwrap()).collect();
        let params = gather(&definition(Some("s.json")), &typed, folder.path())?;
        let words = params.iter().map(|(name, value)| format!("{name}={value}"));
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_was_typed_goes_before_the_settings() {
        for (settings, typed, expected) in [
            (None, &[][..], ""),
            (
                Some(r#"{"loops": {"limit": 7}, "who": "you"}"#),
                &[],
                "limit=7 who=you",
            ),
            (Some(r#"{"loops": {"limit": 7}}"#), &["limit=9"], "limit=9"),
            (
                Some(r#"{"loops": {"limit": null}, "who": true}"#),
                &[],
                "who=true",
            ),
            (Some(r#"{"loops": 3}"#), &["who=a=b"], "who=a=b"),
        ] {
            assert_eq!(
                gathered(settings, typed).unwrap(),
                expected,
                "{settings:?} {typed:?}"
            );
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for (settings, typed, expected) in [
            (Some("{"), &[][..], "s.json is not valid JSON"),
            (
                Some(r#"{"who": [1]}"#),
                &[],
                "who in s.json must be a single value",
            ),
            (None, &["who=a", "who=b"], "--param who is given twice"),
        ] {
            let failure = gathered(settings, typed).unwrap_err().to_string();
            assert!(failure.starts_with(expected), "{failure}");
        }
    }

    #[test]
    fn a_settings_file_outside_the_project_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let definition = Definition {
            settings: Some("../s.json".into()),
            ..definition(None)
        };
        assert!(gather(&definition, &[], folder.path()).is_err());
    }
}
