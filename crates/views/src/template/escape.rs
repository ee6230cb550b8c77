//! Escaping: a value in a template becomes text that its kind of file does not interpret.

use minijinja::{Error, Output, State, Value};

use super::filters;
use crate::safe::safe;
use crate::{html, markdown};

/// How values are escaped, by the name of the template: `board.md.j2` makes Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escaping {
    Json,
    Yaml,
    Markdown,
    Html,
    /// Only terminal control characters are removed.
    Text,
}

impl Escaping {
    pub(super) fn of(name: &str) -> Self {
        let name = name.strip_suffix(".j2").unwrap_or(name);
        match name.rsplit('.').next() {
            Some("json") => Self::Json,
            Some("yaml" | "yml") => Self::Yaml,
            Some("md" | "markdown") => Self::Markdown,
            Some("html" | "htm" | "xml" | "svg") => Self::Html,
            _ => Self::Text,
        }
    }
}

/// Writes one value of a template. Null is shown as nothing, except in JSON and YAML.
pub(super) fn write(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    // What an `if` without an `else` gives is nothing.
    if value.is_safe() || value.is_undefined() {
        return Ok(out.write_str(value.as_str().unwrap_or_default())?);
    }
    let text = match Escaping::of(state.name()) {
        Escaping::Json => filters::json(value)?,
        Escaping::Yaml => filters::yaml(value)?,
        Escaping::Markdown => markdown::escaped(&filters::text(value)?),
        Escaping::Html => html::escaped(&filters::text(value)?),
        Escaping::Text => safe(&filters::text(value)?),
    };
    Ok(out.write_str(&text)?)
}
