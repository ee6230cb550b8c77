//! Every place of a tree that holds a name which the definition declares. The vocabulary knows them.

use crate::tree::{Entry, Node, Value};
use crate::vocabulary::{Declared, Kind, Shape};

/// What a text at some place names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Declared(Declared),
    /// A parameter whose value is the stage to go to.
    TargetParam,
    Agent,
    /// An agent, a glob over agents, or a group.
    AgentOrGroup,
}

/// Calls `visit` with each name, which it may change.
pub(super) fn each(node: &mut Node, shape: &Shape, visit: &mut dyn FnMut(Named, &mut String)) {
    match shape {
        Shape::List(inner) | Shape::FilledList(inner) => {
            if let Value::List(items) = &mut node.value {
                items.iter_mut().for_each(|item| each(item, inner, visit));
            }
        }
        Shape::Map { keys, values } => {
            for Entry { key, node, .. } in entries(node) {
                in_text(key, keys, visit);
                each(node, values, visit);
            }
        }
        Shape::Table(table) => {
            for Entry { key, node, .. } in entries(node) {
                if let Some(known) = table.keys().find(|known| known.name == key) {
                    each(node, &known.shape, visit);
                }
            }
        }
        Shape::Stage => {
            let kinds = Kind::ALL.into_iter();
            if let Some(kind) = kinds
                .into_iter()
                .find(|kind| node.get(kind.key()).is_some())
            {
                each(node, &Shape::Table(kind.table()), visit);
            }
        }
        Shape::Either(shapes) => {
            if let Some(fitting) = shapes.iter().find(|shape| fits(node, shape)) {
                each(node, fitting, visit);
            }
        }
        _ => {
            if let Value::Text(text) = &mut node.value {
                in_text(text, shape, visit);
            }
        }
    }
}

fn entries(node: &mut Node) -> impl Iterator<Item = &mut Entry> {
    match &mut node.value {
        Value::Table(entries) => entries.iter_mut(),
        _ => [].iter_mut(),
    }
}

/// Of several shapes of one key, no two are tables and no two are lists.
fn fits(node: &Node, shape: &Shape) -> bool {
    match shape {
        Shape::List(_) | Shape::FilledList(_) => matches!(node.value, Value::List(_)),
        Shape::Map { .. } | Shape::Table(_) | Shape::Stage | Shape::Schema => {
            matches!(node.value, Value::Table(_))
        }
        _ => !matches!(node.value, Value::List(_) | Value::Table(_)),
    }
}

fn in_text(text: &mut String, shape: &Shape, visit: &mut dyn FnMut(Named, &mut String)) {
    match shape {
        Shape::NameOf(declared) => visit(Named::Declared(*declared), text),
        Shape::Agent => visit(Named::Agent, text),
        Shape::AgentPattern => visit(Named::AgentOrGroup, text),
        Shape::Target => match text
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
        {
            Some(param) => visit(Named::TargetParam, &mut param.to_owned()),
            None if text.starts_with('@') => {}
            None => visit(Named::Declared(Declared::Stage), text),
        },
        Shape::Read => before(text, '?', visit),
        Shape::FieldOf => before(text, '.', visit),
        _ => {}
    }
}

/// The artifact in front of a mark. What follows the mark stays.
fn before(text: &mut String, mark: char, visit: &mut dyn FnMut(Named, &mut String)) {
    let end = text.find(mark).unwrap_or(text.len());
    let mut artifact = text[..end].to_owned();
    visit(Named::Declared(Declared::Artifact), &mut artifact);
    text.replace_range(..end, &artifact);
}
