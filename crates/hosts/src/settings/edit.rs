//! Edits a JSON text and keeps every other byte.

use super::layout::{Json, Layout, Shape, quoted};
use super::tree::Node;

/// The text of a JSON file, with its tree and layout.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JsonText {
    pub text: String,
    pub root: Node,
    layout: Layout,
}

impl JsonText {
    pub(super) fn new(text: String, root: Node) -> Self {
        let layout = Layout::of(&text, &root);
        Self { text, root, layout }
    }

    /// The file after a change. What we write is JSON, so it can be parsed again.
    fn changed(&self, text: String) -> Self {
        let root = super::tree::scan(&text).unwrap_or_else(|| self.root.clone());
        Self {
            text,
            root,
            layout: self.layout.clone(),
        }
    }

    /// Appends a member to an object.
    pub(super) fn with_member(&self, object: &Node, name: &str, value: &Json) -> Self {
        let name = format!("{}{}", quoted(name), self.layout.colon());
        self.with_item(object, &name, value)
    }

    /// Appends an element to a list.
    pub(super) fn with_element(&self, list: &Node, value: &Json) -> Self {
        self.with_item(list, "", value)
    }

    fn with_item(&self, container: &Node, name: &str, value: &Json) -> Self {
        let (layout, text) = (&self.layout, &self.text);
        let newline = layout.newline();
        let Some(last) = container.items().pop() else {
            return self.with_first_item(container, name, value);
        };
        let shape = layout.shape_behind(text, last.start);
        let written = layout.write(value, &shape);
        let before = match &shape {
            Shape::OneLine => layout.comma().to_owned(),
            Shape::Lines(indent) => format!(",{newline}{indent}"),
        };
        self.spliced(last.end..last.end, &format!("{before}{name}{written}"))
    }

    fn with_first_item(&self, container: &Node, name: &str, value: &Json) -> Self {
        let (layout, text) = (&self.layout, &self.text);
        let inside = container.span.start + 1..container.span.end - 1;
        let shape = layout.shape_inside(text, container.span.start);
        let written = layout.write(value, &shape);
        let around = super::layout::indentation_at(text, container.span.start);
        let newline = layout.newline();
        let written = match &shape {
            Shape::OneLine => format!("{name}{written}"),
            Shape::Lines(indent) => format!("{newline}{indent}{name}{written}{newline}{around}"),
        };
        self.spliced(inside, &written)
    }

    /// Replaces a value.
    pub(super) fn with_value(&self, old: &Node, value: &Json) -> Self {
        let shape = if self.text[old.span.clone()].contains('\n') {
            let indent = super::layout::indentation_at(&self.text, old.span.start);
            Shape::Lines(indent.to_owned())
        } else {
            Shape::OneLine
        };
        let written = self.layout.write(value, &shape);
        self.spliced(old.span.clone(), &written)
    }

    /// Removes one item from its object or list, with its comma.
    pub(super) fn without_item(&self, container: &Node, index: usize) -> Self {
        let items = container.items();
        let Some(item) = items.get(index) else {
            return self.clone();
        };
        let before = index.checked_sub(1).and_then(|index| items.get(index));
        let removed = match (before, items.get(index + 1)) {
            (Some(before), _) => before.end..item.end,
            (None, Some(after)) => item.start..after.start,
            (None, None) => container.span.start + 1..container.span.end - 1,
        };
        self.spliced(removed, "")
    }

    fn spliced(&self, place: std::ops::Range<usize>, new: &str) -> Self {
        let (before, after) = (&self.text[..place.start], &self.text[place.end..]);
        self.changed(format!("{before}{new}{after}"))
    }
}
