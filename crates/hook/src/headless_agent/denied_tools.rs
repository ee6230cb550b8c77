//! The name under which a stage forbids a tool, whatever the program calls it.

use std::borrow::Cow;

use engine::Stage;
use hosts::tool_names;

/// The name under which this stage forbids the tool, else its own.
pub(super) fn named<'t>(stage: &Stage, tool: &'t str) -> Cow<'t, str> {
    let denied = |name: &str| stage.tools_deny.iter().any(|deny| deny.covers(name));
    let mut names = tool_names::all(tool).into_iter();
    let name = names.find(|name| denied(name));
    name.unwrap_or(Cow::Borrowed(tool))
}
