//! One definition laid over another: the upper one counts.

use crate::tree::{Entry, Node, Value};

/// Lists at the top of a file that both definitions add to. Every other list of the upper one takes
/// the place of the lower one's: a panel, for example, has an order.
const ADDED_UP: [&str; 6] = ["gives", "ignores", "litter", "prove", "carry", "carry_back"];

/// Lays the upper tree over the lower one.
pub(super) fn lay(lower: &mut Node, upper: Node) {
    let Value::Table(entries) = upper.value else {
        return;
    };
    for entry in entries {
        let adds_up = ADDED_UP.contains(&entry.key.as_str());
        match find(lower, &entry.key) {
            Some(below) if adds_up && is_list(&below.node) && is_list(&entry.node) => {
                append(&mut below.node, entry.node);
            }
            Some(below) => replace(below, entry),
            None => push(lower, entry),
        }
    }
}

/// Tables are merged key by key; anything else is replaced.
fn replace(below: &mut Entry, above: Entry) {
    match (&below.node.value, &above.node.value) {
        (Value::Table(_), Value::Table(_)) => {
            below.key_span = above.key_span;
            below.node.span = above.node.span.clone();
            let Value::Table(entries) = above.node.value else {
                return;
            };
            for entry in entries {
                match find(&mut below.node, &entry.key) {
                    Some(below) => replace(below, entry),
                    None => push(&mut below.node, entry),
                }
            }
        }
        _ => *below = above,
    }
}

fn find<'t>(table: &'t mut Node, key: &str) -> Option<&'t mut Entry> {
    match &mut table.value {
        Value::Table(entries) => entries.iter_mut().find(|entry| entry.key == key),
        _ => None,
    }
}

fn push(table: &mut Node, entry: Entry) {
    if let Value::Table(entries) = &mut table.value {
        entries.push(entry);
    }
}

fn is_list(node: &Node) -> bool {
    matches!(node.value, Value::List(_))
}

/// A file that both give is given once.
fn append(below: &mut Node, above: Node) {
    if let (Value::List(items), Value::List(more)) = (&mut below.value, above.value) {
        for item in more {
            let is_there = |known: &Node| known.text().is_some() && known.text() == item.text();
            if !items.iter().any(is_there) {
                items.push(item);
            }
        }
    }
}
