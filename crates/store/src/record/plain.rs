//! Records of the plain types: numbers, texts, options, lists, pairs and maps.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::binary::{self, Input};
use super::json::{self, Fields, Object, unexpected};
use super::{Record, Unreadable, Visitor};

/// For so many members of a list, memory is reserved before they are read.
const MOST_RESERVED: usize = 16;

/// A type that can be the name of a JSON field, and so the key of a map.
pub(super) trait MapKey: Record + Ord {
    fn to_key(&self) -> String;
    fn from_key(key: String) -> Result<Self, Unreadable>;

    /// Passes keys that are free text to the visitor.
    fn visit_keys<V>(_map: &mut BTreeMap<Self, V>, _visitor: &mut dyn Visitor) {}
}

macro_rules! record_number {
    ($type:ident, $json:ident) => {
        impl Record for $type {
            fn to_json(&self, out: &mut String) {
                // Writing to a text never fails.
                let _ = write!(out, "{self}");
            }

            fn from_json(value: Value) -> Result<Self, Unreadable> {
                let number = value.$json().and_then(|number| Self::try_from(number).ok());
                number.ok_or_else(|| {
                    unexpected(concat!("a number (", stringify!($type), ")"), &value)
                })
            }

            fn to_bytes(&self, out: &mut Vec<u8>) {
                // A negative number takes ten bytes; only exit codes can be negative.
                binary::number(out, i128::from(*self) as u64);
            }

            fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
                let number = input.number()?;
                let signed = number as i64;
                let fits = Self::try_from(number).or_else(|_| Self::try_from(signed));
                fits.map_err(|_| Unreadable::new("a number is too large"))
            }

            fn visit(&mut self, _visitor: &mut dyn Visitor) {}
        }
    };
}

record_number!(u32, as_u64);
record_number!(u64, as_u64);
record_number!(i32, as_i64);

impl MapKey for u32 {
    fn to_key(&self) -> String {
        self.to_string()
    }

    fn from_key(key: String) -> Result<Self, Unreadable> {
        key.parse()
            .map_err(|_| Unreadable::new(format!("`{key}` is not a number")))
    }
}

impl Record for bool {
    fn to_json(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        value
            .as_bool()
            .ok_or_else(|| unexpected("true or false", &value))
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        match input.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Unreadable::new(format!(
                "{other} is neither true nor false"
            ))),
        }
    }

    fn visit(&mut self, _visitor: &mut dyn Visitor) {}

    fn left_out() -> Option<Self> {
        Some(false)
    }

    fn is_left_out(&self) -> bool {
        !*self
    }
}

impl Record for String {
    fn to_json(&self, out: &mut String) {
        json::text(out, self);
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(unexpected("a text", &other)),
        }
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        binary::text(out, self);
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        input.text().map(str::to_owned)
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.text(self);
    }
}

impl MapKey for String {
    fn to_key(&self) -> String {
        self.clone()
    }

    fn from_key(key: String) -> Result<Self, Unreadable> {
        Ok(key)
    }

    fn visit_keys<V>(map: &mut BTreeMap<Self, V>, visitor: &mut dyn Visitor) {
        for (mut key, value) in std::mem::take(map) {
            visitor.text(&mut key);
            // Two keys that a visitor makes equal stay two.
            while map.contains_key(&key) {
                key.push('\'');
            }
            map.insert(key, value);
        }
    }
}

impl<T: Record> Record for Box<T> {
    fn to_json(&self, out: &mut String) {
        self.as_ref().to_json(out);
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        T::from_json(value).map(Self::new)
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        self.as_ref().to_bytes(out);
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        T::from_bytes(input).map(Self::new)
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.as_mut().visit(visitor);
    }
}

impl<T: Record> Record for Option<T> {
    fn to_json(&self, out: &mut String) {
        match self {
            Some(value) => value.to_json(out),
            None => out.push_str("null"),
        }
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        match value {
            Value::Null => Ok(None),
            value => T::from_json(value).map(Some),
        }
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        self.is_some().to_bytes(out);
        if let Some(value) = self {
            value.to_bytes(out);
        }
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        if bool::from_bytes(input)? {
            T::from_bytes(input).map(Some)
        } else {
            Ok(None)
        }
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if let Some(value) = self {
            value.visit(visitor);
        }
    }

    fn left_out() -> Option<Self> {
        Some(None)
    }

    fn is_left_out(&self) -> bool {
        self.is_none()
    }
}

impl<T: Record> Record for Vec<T> {
    fn to_json(&self, out: &mut String) {
        json::list(out, self.iter());
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        match value {
            Value::Array(items) => items
                .into_iter()
                .enumerate()
                .map(|(index, item)| {
                    T::from_json(item).map_err(|fault| fault.inside(&index.to_string()))
                })
                .collect(),
            other => Err(unexpected("a list", &other)),
        }
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        binary::length(out, self.len());
        for item in self {
            item.to_bytes(out);
        }
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        // A damaged length must not reserve much memory.
        let length = input.length()?;
        let mut items = Self::with_capacity(length.min(MOST_RESERVED));
        for _ in 0..length {
            items.push(T::from_bytes(input)?);
        }
        Ok(items)
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for item in self {
            item.visit(visitor);
        }
    }

    fn left_out() -> Option<Self> {
        Some(Self::new())
    }

    fn is_left_out(&self) -> bool {
        self.is_empty()
    }
}

impl<A: Record, B: Record> Record for (A, B) {
    fn to_json(&self, out: &mut String) {
        out.push('[');
        self.0.to_json(out);
        out.push(',');
        self.1.to_json(out);
        out.push(']');
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        let items = match value {
            Value::Array(items) => <[Value; 2]>::try_from(items).map_err(Value::Array),
            other => Err(other),
        };
        let [first, second] = items.map_err(|found| unexpected("a pair", &found))?;
        Ok((A::from_json(first)?, B::from_json(second)?))
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        self.0.to_bytes(out);
        self.1.to_bytes(out);
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        Ok((A::from_bytes(input)?, B::from_bytes(input)?))
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.0.visit(visitor);
        self.1.visit(visitor);
    }
}

impl<T: Record + Clone> Record for Arc<T> {
    fn to_json(&self, out: &mut String) {
        self.as_ref().to_json(out);
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        T::from_json(value).map(Self::new)
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        self.as_ref().to_bytes(out);
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        T::from_bytes(input).map(Self::new)
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        Self::make_mut(self).visit(visitor);
    }

    fn left_out() -> Option<Self> {
        T::left_out().map(Self::new)
    }

    fn is_left_out(&self) -> bool {
        self.as_ref().is_left_out()
    }
}

impl<K: MapKey, V: Record> Record for BTreeMap<K, V> {
    fn to_json(&self, out: &mut String) {
        let mut object = Object::open(out);
        for (key, value) in self {
            object.entry(&key.to_key(), value);
        }
        object.close();
    }

    fn from_json(value: Value) -> Result<Self, Unreadable> {
        let read = |(key, value): (String, Value)| {
            let value = V::from_json(value).map_err(|fault| fault.inside(&key))?;
            Ok((K::from_key(key)?, value))
        };
        Fields::of(value)?.rest().map(read).collect()
    }

    fn to_bytes(&self, out: &mut Vec<u8>) {
        binary::length(out, self.len());
        for (key, value) in self {
            key.to_bytes(out);
            value.to_bytes(out);
        }
    }

    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable> {
        // They are sorted, so all at once are faster than one by one.
        let members = 0..input.length()?;
        members
            .map(|_| Ok((K::from_bytes(input)?, V::from_bytes(input)?)))
            .collect()
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        K::visit_keys(self, visitor);
        for value in self.values_mut() {
            value.visit(visitor);
        }
    }

    fn left_out() -> Option<Self> {
        Some(Self::new())
    }

    fn is_left_out(&self) -> bool {
        self.is_empty()
    }
}
