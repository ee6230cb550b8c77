//! Adds our hooks to a settings file and removes them, whatever else the file contains.

use super::SettingsError;
use super::edit::JsonText;
use super::hooks::{Hook, HookInvocation, HookRegistration, is_our_status_line};
use super::layout::Json;
use super::tree::Node;
use super::wire;

/// The position of a hook: the event's name, then the indexes of the group and of the hook in it.
struct HookPosition<'a> {
    event: String,
    group: usize,
    hook: usize,
    node: &'a Node,
    found: Hook,
}

/// Every hook that calls us, in the order of the file.
pub(super) fn ours(root: &Node, program: &str) -> Vec<Hook> {
    places(root, program).map(|place| place.found).collect()
}

fn places<'a>(root: &'a Node, program: &str) -> impl Iterator<Item = HookPosition<'a>> {
    let events = root.get(wire::HOOKS).and_then(Node::members);
    let events = events.unwrap_or_default().iter();
    let groups = events.flat_map(|event| {
        let groups = event.value.elements().unwrap_or_default().iter();
        groups
            .enumerate()
            .map(|(at, group)| (&event.name, at, group))
    });
    let hooks = groups.flat_map(|(event, at, group)| {
        let hooks = group.get(wire::HOOKS).and_then(Node::elements);
        let hooks = hooks.unwrap_or_default().iter().enumerate();
        hooks.filter_map(move |(hook, node)| {
            Some(HookPosition {
                event: event.clone(),
                group: at,
                hook,
                node,
                found: Hook::read(event, group, node)?,
            })
        })
    });
    hooks.filter(move |place| place.found.is_ours(program))
}

/// The events at which hooks of others are called before this tool by its name.
pub(super) fn others_before(root: &Node, tool: &str, program: &str) -> Vec<&'static str> {
    let is_other = |event: &str, group: &Node| {
        let hooks = group.get(wire::HOOKS).and_then(Node::elements);
        let mut hooks = hooks.unwrap_or_default().iter();
        hooks.any(|hook| !Hook::read(event, group, hook).is_some_and(|it| it.is_ours(program)))
    };
    let asks = |event: &str| {
        let groups = root.get(wire::HOOKS).and_then(|hooks| hooks.get(event));
        let groups = groups.and_then(Node::elements).unwrap_or_default();
        let mut groups = groups.iter();
        groups.any(|group| wire::names_tool(group, tool) && is_other(event, group))
    };
    wire::BEFORE_TOOL
        .into_iter()
        .filter(|event| asks(event))
        .collect()
}

/// Our hooks at every event, once each, and at no other.
pub(super) fn with_hooks(
    text: JsonText,
    call: &HookInvocation,
    program: &str,
) -> Result<JsonText, SettingsError> {
    let mut registered = call.format.registered.iter();
    let is_known = |event: &str| registered.clone().any(|known| known.event == event);
    let text = without(text, program, |place| !is_known(&place.event));
    registered.try_fold(text, |text, registered| {
        with_hook(text, registered, call, program)
    })
}

fn with_hook(
    text: JsonText,
    registered: &HookRegistration,
    call: &HookInvocation,
    program: &str,
) -> Result<JsonText, SettingsError> {
    let root = text.root.clone();
    let here = |place: &HookPosition<'_>| place.event == registered.event;
    let found: Vec<HookPosition<'_>> = places(&root, program).filter(here).collect();
    match found.as_slice() {
        [only] if only.found.is_current(call) => Ok(text),
        [only] if only.found.limits.is_empty() => {
            Ok(text.with_value(only.node, &call.entry(registered)))
        }
        _ => appended(without(text, program, here), registered, call),
    }
}

fn appended(
    text: JsonText,
    registered: &HookRegistration,
    call: &HookInvocation,
) -> Result<JsonText, SettingsError> {
    let event = registered.event;
    let group = call.group(registered);
    let Some(hooks) = text.root.get(wire::HOOKS) else {
        let hooks = Json::Object(vec![(event, wire::only(group))]);
        return Ok(text.with_member(&text.root, wire::HOOKS, &hooks));
    };
    if hooks.members().is_none() {
        return Err(SettingsError::wrong(wire::HOOKS, hooks, "an object"));
    }
    match hooks.get(event) {
        None => Ok(text.with_member(hooks, event, &wire::only(group))),
        Some(groups) if groups.elements().is_some() => Ok(text.with_element(groups, &group)),
        Some(other) => Err(SettingsError::wrong(
            &format!("hooks.{event}"),
            other,
            "a list",
        )),
    }
}

/// Removes our hooks, and the groups and events that become empty.
pub(super) fn without_hooks(text: JsonText, program: &str) -> JsonText {
    without(text, program, |_| true)
}

fn without(
    mut text: JsonText,
    program: &str,
    goes: impl Fn(&HookPosition<'_>) -> bool,
) -> JsonText {
    loop {
        let root = text.root.clone();
        let Some(place) = places(&root, program).find(|place| goes(place)) else {
            return text;
        };
        text = without_place(&text, &place);
    }
}

/// Removes the hook, or the outermost container that would be empty without it.
fn without_place(text: &JsonText, place: &HookPosition<'_>) -> JsonText {
    let root = &text.root;
    let way = || {
        let (hooks_at, hooks) = root.member(wire::HOOKS)?;
        let (event_at, event) = hooks.value.member(&place.event)?;
        let groups = &event.value;
        let inner = groups.elements()?.get(place.group)?.get(wire::HOOKS)?;
        Some([
            (root, hooks_at, hooks.value.items().len()),
            (&hooks.value, event_at, groups.items().len()),
            (groups, place.group, inner.items().len()),
            (inner, place.hook, 0),
        ])
    };
    let Some(way) = way() else {
        return text.clone();
    };
    // From the inside out: a container goes as a whole when it contains nothing else.
    let mut level = way.len() - 1;
    while level > 0 && way[level - 1].2 == 1 {
        level -= 1;
    }
    let (container, index, _) = way[level];
    text.without_item(container, index)
}

/// Adds our status line if there is none.
pub(super) fn with_status_line(text: JsonText, call: &HookInvocation, program: &str) -> JsonText {
    let wanted = call.status_line();
    let value = wire::status_line(wanted.clone());
    let Some(present) = text.root.get(wire::STATUS_LINE).cloned() else {
        return text.with_member(&text.root, wire::STATUS_LINE, &value);
    };
    match wire::status_line_command(&text.root) {
        Some(command) if command == wanted => text,
        Some(command) if is_our_status_line(command, program) => text.with_value(&present, &value),
        Some(_) | None => text,
    }
}

pub(super) fn without_status_line(text: JsonText, program: &str) -> JsonText {
    let command = wire::status_line_command(&text.root);
    let ours = command.is_some_and(|command| is_our_status_line(command, program));
    match text.root.member(wire::STATUS_LINE) {
        Some((index, _)) if ours => text.without_item(&text.root, index),
        Some(_) | None => text,
    }
}
