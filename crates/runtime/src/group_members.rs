//! Members that the project's settings file adds to the groups of a definition.

use std::collections::BTreeMap;
use std::path::Path;

use language::Sources;
use serde_json::Value;

use crate::failure::Failure;
use crate::params;

/// More agents than this are a mistake.
const MOST_MEMBERS: usize = 256;

/// The definition with the members that the project's settings file adds. Trust, lint and every run
/// use this one, so no agent joins without a person's trust.
pub fn with_members(sources: Sources, root: &Path) -> Result<Sources, Failure> {
    let Some(open) = language::open_groups(&sources) else {
        return Ok(sources);
    };
    let Some(settings) = params::settings(&open.settings, root)? else {
        return Ok(sources);
    };
    let mut members = BTreeMap::new();
    for (group, field) in &open.fields {
        if let Some(value) = params::at(&settings, field) {
            members.insert(group.clone(), listed(value, field, &open.settings)?);
        }
    }
    Ok(language::with_members(sources, &members))
}

fn listed(value: &Value, field: &str, path: &str) -> Result<Vec<String>, Failure> {
    let wrong = || {
        let failure = Failure::settings(format!("{field} in {path} is not a list of agents"));
        failure.hint("write it as [\"rust-*\", \"go-expert\"]")
    };
    let list = value.as_array().ok_or_else(wrong)?;
    if list.len() > MOST_MEMBERS {
        let message = format!("{field} in {path} has more than {MOST_MEMBERS} members");
        return Err(Failure::settings(message).hint("use globs, as \"rust-*\""));
    }
    let one = |member: &Value| {
        let name = member.as_str().filter(|name| !name.contains(['\n', '\r']));
        name.map(str::to_owned).ok_or_else(wrong)
    };
    list.iter().map(one).collect()
}
