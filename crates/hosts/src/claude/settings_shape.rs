//! What a value in the settings may be, and where one is not: the words in which the table of settings is written.

use crate::settings::{InvalidSetting, Node, Value, kind};

/// What the host accepts in one place.
pub(super) enum ValueShape {
    Any,
    Nothing,
    Flag,
    Text,
    /// A text of a certain form, and the words for it.
    Form(fn(&str) -> bool, &'static str),
    /// One of these texts.
    Word(&'static [&'static str]),
    Number(Limits),
    List(&'static Self),
    /// An object whose names are free.
    Record(&'static Self),
    Object(&'static [Members]),
    /// An object whose member with this name says which others it has.
    Variants(&'static str, &'static [(&'static str, &'static [Members])]),
    Either(&'static [Self]),
}

/// Which numbers are accepted.
pub(super) struct Limits {
    pub above: f64,
    pub most: f64,
    pub is_whole: bool,
    pub words: &'static str,
}

/// Members of an object that have the same shape.
pub(super) struct Members {
    pub shape: &'static ValueShape,
    pub names: &'static [&'static str],
    pub presence: Presence,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Optional,
    Required,
}

pub(super) const fn may_have(
    shape: &'static ValueShape,
    names: &'static [&'static str],
) -> Members {
    Members {
        shape,
        names,
        presence: Presence::Optional,
    }
}

pub(super) const fn must_have(
    shape: &'static ValueShape,
    names: &'static [&'static str],
) -> Members {
    Members {
        shape,
        names,
        presence: Presence::Required,
    }
}

impl ValueShape {
    /// Everything in this value that the host rejects.
    pub(super) fn faults(&self, node: &Node, at: &str) -> Vec<InvalidSetting> {
        let inner = match (self, &node.kind) {
            (Self::List(shape), Value::List(elements)) => in_elements(shape, elements, at),
            (Self::Record(shape), Value::Object(_)) => in_record(shape, node, at),
            (Self::Object(members), Value::Object(_)) => in_members(members, node, at),
            (Self::Variants(tag, variants), Value::Object(_)) => {
                return in_variant(tag, variants, node, at);
            }
            (Self::Either(shapes), _) => return self.in_either(shapes, node, at),
            _ => return self.unless(self.accepts_alone(node), node, at),
        };
        inner.collect()
    }

    /// The faults of the one alternative that has such parts; otherwise none of them fits.
    fn in_either(&self, shapes: &[Self], node: &Node, at: &str) -> Vec<InvalidSetting> {
        if shapes.iter().any(|shape| shape.faults(node, at).is_empty()) {
            return Vec::new();
        }
        match shapes.iter().find(|shape| shape.has_parts_of(node)) {
            Some(shape) => shape.faults(node, at),
            None => self.unless(false, node, at),
        }
    }

    fn has_parts_of(&self, node: &Node) -> bool {
        match self {
            Self::List(_) => node.elements().is_some(),
            Self::Record(_) | Self::Object(_) | Self::Variants(..) => node.members().is_some(),
            Self::Any
            | Self::Nothing
            | Self::Flag
            | Self::Text
            | Self::Form(..)
            | Self::Word(_)
            | Self::Number(_)
            | Self::Either(_) => false,
        }
    }

    /// Is this a value without parts that fits?
    fn accepts_alone(&self, node: &Node) -> bool {
        match self {
            Self::Any => true,
            Self::Nothing => node.kind == Value::Nothing,
            Self::Flag => matches!(node.kind, Value::Flag(_)),
            Self::Text => node.text().is_some(),
            Self::Form(fits, _) => node.text().is_some_and(fits),
            Self::Word(words) => node.text().is_some_and(|text| words.contains(&text)),
            Self::Number(limits) => node.number().is_some_and(|number| limits.accept(number)),
            Self::List(_)
            | Self::Record(_)
            | Self::Object(_)
            | Self::Variants(..)
            | Self::Either(_) => false,
        }
    }

    fn unless(&self, accepted: bool, node: &Node, at: &str) -> Vec<InvalidSetting> {
        if accepted {
            return Vec::new();
        }
        vec![InvalidSetting {
            at: at.to_owned(),
            found: kind(node),
            wanted: self.words(),
        }]
    }

    fn words(&self) -> String {
        match self {
            Self::Any => "any value".to_owned(),
            Self::Nothing => "null".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Form(_, words) => (*words).to_owned(),
            Self::Word([only]) => format!("{only:?}"),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Number(limits) => limits.words.to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Record(_) | Self::Object(_) | Self::Variants(..) => "an object".to_owned(),
            Self::Either(shapes) => {
                let words: Vec<String> = shapes.iter().map(Self::words).collect();
                words.join(" or ")
            }
        }
    }
}

impl Limits {
    fn accept(&self, number: f64) -> bool {
        let is_whole = number.fract() == 0.0;
        number > self.above && number <= self.most && (is_whole || !self.is_whole)
    }
}

fn in_elements<'a>(
    shape: &'a ValueShape,
    elements: &'a [Node],
    at: &'a str,
) -> Box<dyn Iterator<Item = InvalidSetting> + 'a> {
    let places = elements.iter().enumerate();
    Box::new(places.flat_map(move |(index, node)| shape.faults(node, &format!("{at}.{index}"))))
}

fn in_record<'a>(
    shape: &'a ValueShape,
    node: &'a Node,
    at: &'a str,
) -> Box<dyn Iterator<Item = InvalidSetting> + 'a> {
    let members = node.members().unwrap_or_default().iter();
    // If a name is there twice, the last one counts.
    let counting = members.filter_map(|member| Some((&member.name, node.get(&member.name)?)));
    Box::new(counting.flat_map(move |(name, value)| shape.faults(value, &below(at, name))))
}

fn in_members<'a>(
    members: &'a [Members],
    node: &'a Node,
    at: &'a str,
) -> Box<dyn Iterator<Item = InvalidSetting> + 'a> {
    let members = members.iter();
    let names = members.flat_map(|it| it.names.iter().map(move |name| (it, *name)));
    Box::new(names.flat_map(move |(members, name)| {
        let at = below(at, name);
        match node.get(name) {
            Some(value) => members.shape.faults(value, &at),
            None if members.presence == Presence::Optional => Vec::new(),
            None => vec![InvalidSetting {
                at,
                found: "missing",
                wanted: members.shape.words(),
            }],
        }
    }))
}

fn in_variant(
    tag: &str,
    variants: &[(&str, &'static [Members])],
    node: &Node,
    at: &str,
) -> Vec<InvalidSetting> {
    let value = node.get(tag);
    let word = value.and_then(Node::text);
    let variant = variants.iter().find(|(name, _)| Some(*name) == word);
    let Some((_, members)) = variant else {
        let words: Vec<&str> = variants.iter().map(|(name, _)| *name).collect();
        return vec![InvalidSetting {
            at: below(at, tag),
            found: value.map_or("missing", kind),
            wanted: format!("one of {}", words.join(", ")),
        }];
    };
    in_members(members, node, at).collect()
}

fn below(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}
