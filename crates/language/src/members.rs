//! Members of groups that a project's settings file adds.
//!
//! The settings file is in the project and may change; a run is pinned to bytes. So the reader of the
//! settings writes the added members into a separate file among the definition's files, under a name
//! that no definition can refer to.

use std::collections::BTreeMap;

use crate::source::Sources;
use crate::tree::Node;

/// Under this name a definition's files list the members that were added. No definition can refer to a
/// name with a colon.
pub const ADDED_MEMBERS: &str = "gatewright:groups";

/// Which fields of which settings file the groups of a definition take members from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenGroups {
    /// The settings file, as seen from the project's root.
    pub settings: String,
    /// The dotted field of each group.
    pub fields: BTreeMap<String, String>,
}

/// The open groups of an assembled definition; nothing if there are none.
pub(crate) fn open_groups(root: &Node) -> Option<OpenGroups> {
    let settings = root.get("settings").and_then(Node::text)?.to_owned();
    let groups = root.get("groups").map(Node::entries).unwrap_or_default();
    let fields: BTreeMap<String, String> = groups
        .iter()
        .filter_map(|group| {
            let field = group.node.get("setting").and_then(Node::text)?;
            Some((group.key.clone(), field.to_owned()))
        })
        .collect();
    (!fields.is_empty()).then_some(OpenGroups { settings, fields })
}

/// The same definition with these members in its groups.
pub fn with_members(mut sources: Sources, members: &BTreeMap<String, Vec<String>>) -> Sources {
    let mut lines = members
        .iter()
        .flat_map(|(group, members)| members.iter().map(move |it| format!("{group} {it}\n")))
        .peekable();
    if lines.peek().is_some() {
        let text: String = lines.collect();
        sources.files.insert(ADDED_MEMBERS.to_owned(), text.into());
    }
    sources
}

/// What was added to this group. A group's name has no space, so the first one ends it.
pub(crate) fn added(files: &BTreeMap<String, Vec<u8>>, group: &str) -> Vec<String> {
    let text = files.get(ADDED_MEMBERS).map(Vec::as_slice);
    let text = String::from_utf8_lossy(text.unwrap_or_default());
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .filter(|(of, _)| *of == group)
        .map(|(_, member)| member.to_owned())
        .collect()
}
