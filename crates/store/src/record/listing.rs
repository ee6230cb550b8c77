//! The listing: each struct and enum lists its fields once, and both formats follow from it.
//!
//! Values are destructured without `..`, so a new field of the engine does not compile until it is
//! listed here.

/// Lists structs, enums with plain variants, and enums whose variants have fields.
///
/// ```text
/// records! {
///     struct Resume { to, count }
///     words Driver { ByHand = "by_hand", Guarded = "guarded" }
///     kinds Source { File(path) = "file", Reply = "reply" }
/// }
/// ```
macro_rules! records {
    ($($all:tt)*) => {
        /// The listing as text: caches of another listing are not read.
        pub(super) const LISTING: &str = stringify!($($all)*);
        $crate::record::listing::each! { $($all)* }
    };
}

macro_rules! each {
    () => {};
    (struct $type:ident { $($field:ident),+ $(,)? } $($rest:tt)*) => {
        $crate::record::listing::record_struct! { $type { $($field),+ } }
        $crate::record::listing::each! { $($rest)* }
    };
    (words $type:ident { $($variant:ident = $word:literal),+ $(,)? } $($rest:tt)*) => {
        $crate::record::listing::record_words! { $type { $($variant = $word),+ } }
        $crate::record::listing::each! { $($rest)* }
    };
    (kinds $type:ident { $($variants:tt)+ } $($rest:tt)*) => {
        $crate::record::listing::record_kinds! { $type { $($variants)+ } }
        $crate::record::listing::each! { $($rest)* }
    };
}

macro_rules! record_struct {
    ($type:ident { $($field:ident),+ }) => {
        impl $crate::record::Record for $type {
            fn to_json(&self, out: &mut String) {
                let Self { $($field),+ } = self;
                let mut object = $crate::record::json::Object::open(out);
                $(object.field(stringify!($field), $field);)+
                object.close();
            }

            fn from_json(value: serde_json::Value) -> Result<Self, $crate::record::Unreadable> {
                let mut fields = $crate::record::json::Fields::of(value)?;
                $(let $field = fields.take(stringify!($field))?;)+
                fields.end()?;
                Ok(Self { $($field),+ })
            }

            fn to_bytes(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $($field.to_bytes(out);)+
            }

            fn from_bytes(
                input: &mut $crate::record::binary::Input<'_>,
            ) -> Result<Self, $crate::record::Unreadable> {
                $(let $field = $crate::record::Record::from_bytes(input)
                    .map_err(|fault| fault.inside(stringify!($field)))?;)+
                Ok(Self { $($field),+ })
            }

            fn visit(&mut self, visitor: &mut dyn $crate::record::Visitor) {
                let Self { $($field),+ } = self;
                $($field.visit(visitor);)+
            }
        }
    };
}

macro_rules! record_words {
    ($type:ident { $($variant:ident = $word:literal),+ }) => {
        impl $crate::record::Record for $type {
            fn to_json(&self, out: &mut String) {
                let word = match self { $(Self::$variant => $word,)+ };
                $crate::record::json::text(out, word);
            }

            fn from_json(value: serde_json::Value) -> Result<Self, $crate::record::Unreadable> {
                match value.as_str() {
                    $(Some($word) => Ok(Self::$variant),)+
                    Some(other) => {
                        Err($crate::record::Unreadable::new(format!("`{other}` is not known here")))
                    }
                    None => Err($crate::record::json::unexpected("a word", &value)),
                }
            }

            fn to_bytes(&self, out: &mut Vec<u8>) {
                enum Tag { $($variant),+ }
                out.push(match self { $(Self::$variant => Tag::$variant as u8,)+ });
            }

            fn from_bytes(
                input: &mut $crate::record::binary::Input<'_>,
            ) -> Result<Self, $crate::record::Unreadable> {
                enum Tag { $($variant),+ }
                let tag = input.byte()?;
                $(if tag == Tag::$variant as u8 {
                    return Ok(Self::$variant);
                })+
                Err($crate::record::Unreadable::new(format!("variant {tag} is not known here")))
            }

            fn visit(&mut self, _visitor: &mut dyn $crate::record::Visitor) {}
        }
    };
}

macro_rules! record_kinds {
    ($type:ident { $(
        $variant:ident $(($payload:ident))? $({ $($field:ident),+ $(,)? })? = $word:literal
    ),+ $(,)? }) => {
        impl $crate::record::Record for $type {
            fn to_json(&self, out: &mut String) {
                let mut object = $crate::record::json::Object::open(out);
                match self {
                    $(Self::$variant $(($payload))? $({ $($field),+ })? => {
                        object.kind($word);
                        $(object.field(stringify!($payload), $payload);)?
                        $($(object.field(stringify!($field), $field);)+)?
                    })+
                }
                object.close();
            }

            fn from_json(value: serde_json::Value) -> Result<Self, $crate::record::Unreadable> {
                let mut fields = $crate::record::json::Fields::of(value)?;
                let kind = fields.kind()?;
                let value = match kind.as_str() {
                    $($word => {
                        $(let $payload = fields.take(stringify!($payload))?;)?
                        $($(let $field = fields.take(stringify!($field))?;)+)?
                        Self::$variant $(($payload))? $({ $($field),+ })?
                    })+
                    _ => {
                        let reason = format!("the kind `{kind}` is not known here");
                        return Err($crate::record::Unreadable::new(reason));
                    }
                };
                fields.end()?;
                Ok(value)
            }

            fn to_bytes(&self, out: &mut Vec<u8>) {
                enum Tag { $($variant),+ }
                match self {
                    $(Self::$variant $(($payload))? $({ $($field),+ })? => {
                        out.push(Tag::$variant as u8);
                        $($payload.to_bytes(out);)?
                        $($($field.to_bytes(out);)+)?
                    })+
                }
            }

            fn from_bytes(
                input: &mut $crate::record::binary::Input<'_>,
            ) -> Result<Self, $crate::record::Unreadable> {
                enum Tag { $($variant),+ }
                let tag = input.byte()?;
                $(if tag == Tag::$variant as u8 {
                    $(let $payload = $crate::record::Record::from_bytes(input)?;)?
                    $($(let $field = $crate::record::Record::from_bytes(input)
                        .map_err(|fault| fault.inside(stringify!($field)))?;)+)?
                    return Ok(Self::$variant $(($payload))? $({ $($field),+ })?);
                })+
                Err($crate::record::Unreadable::new(format!("variant {tag} is not known here")))
            }

            fn visit(&mut self, visitor: &mut dyn $crate::record::Visitor) {
                // An enum of plain variants has nothing to visit.
                let _ = &visitor;
                match self {
                    $(Self::$variant $(($payload))? $({ $($field),+ })? => {
                        $($payload.visit(visitor);)?
                        $($($field.visit(visitor);)+)?
                    })+
                }
            }
        }

        #[cfg(test)]
        impl $crate::record::tests::Kinds for $type {
            const KINDS: &'static [&'static str] = &[$($word),+];
        }
    };
}

pub(crate) use {each, record_kinds, record_struct, record_words, records};
