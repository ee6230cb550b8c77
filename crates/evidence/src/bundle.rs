//! Bundles: YAML front matter between two lines `---`, and Markdown after it.

use serde_json::Value;

use crate::{document, text};

const FENCE: &str = "---";

/// The front matter as an object, or a reason that tells the worker what to write.
pub(crate) fn front_matter(bundle: &str) -> Result<Value, String> {
    let yaml = between_fences(bundle)?;
    let value = document::yaml(&yaml).map_err(|error| {
        format!(
            "its front matter is not valid ({}); write lines of `field: value`",
            text::line(&error, 200)
        )
    })?;
    match value {
        Value::Object(_) => Ok(value),
        Value::Null => Err(String::from(
            "its front matter is empty; write lines of `field: value`",
        )),
        other => Err(format!(
            "its front matter is {}; write lines of `field: value`",
            document::kind(&other)
        )),
    }
}

fn between_fences(bundle: &str) -> Result<String, String> {
    let bundle = bundle.strip_prefix('\u{feff}').unwrap_or(bundle);
    let mut lines = bundle.lines().map(str::trim_end);
    if lines.next() != Some(FENCE) {
        return Err(String::from(
            "it has no front matter; start it with a line `---`, then `field: value` lines, then `---`",
        ));
    }
    let mut yaml = String::new();
    for line in lines {
        if line == FENCE {
            return Ok(yaml);
        }
        yaml.push_str(line);
        yaml.push('\n');
    }
    Err(String::from(
        "its front matter does not end; close it with a line `---`",
    ))
}
