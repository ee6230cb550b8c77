//! Names of the engine in stored JSON, for `#[serde(with = "serde_names")]`: the engine has no dependencies, so its
//! types cannot derive.
//!
//! What hooks read and write at every call is not written this way: see `enrolment`.

use engine::{AgentName, DispatchId, Hash, RunId, Time};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

/// A value that is stored as another one. Not every stored value is one.
pub(crate) trait Stored: Sized {
    type As: Serialize + DeserializeOwned;
    fn stored(&self) -> Self::As;
    fn read(stored: Self::As) -> Option<Self>;
}

pub(crate) fn serialize<T: Stored, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.stored().serialize(to)
}

pub(crate) fn deserialize<'de, T: Stored, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let stored = T::As::deserialize(from)?;
    T::read(stored).ok_or_else(|| D::Error::custom("this is not a name of its kind"))
}

/// Stored as the text that `Display` writes.
macro_rules! stored_as_text {
    ($($type:ty, $parse:expr;)*) => {$(
        impl Stored for $type {
            type As = String;

            fn stored(&self) -> String {
                self.to_string()
            }

            fn read(stored: String) -> Option<Self> {
                $parse(stored.as_str())
            }
        }
    )*};
}

stored_as_text! {
    AgentName, |text| AgentName::parse(text).ok();
    DispatchId, |text: &str| Some(DispatchId(text.strip_prefix('d')?.parse().ok()?));
    Hash, Hash::parse;
    RunId, |text| RunId::parse(text).ok();
}

impl Stored for Time {
    type As = u64;

    fn stored(&self) -> u64 {
        self.0
    }

    fn read(stored: u64) -> Option<Self> {
        Some(Self(stored))
    }
}

impl<T: Stored> Stored for Option<T> {
    type As = Option<T::As>;

    fn stored(&self) -> Self::As {
        self.as_ref().map(T::stored)
    }

    fn read(stored: Self::As) -> Option<Self> {
        stored.map_or(Some(None), |stored| T::read(stored).map(Some))
    }
}

impl<T: Stored> Stored for Vec<T> {
    type As = Vec<T::As>;

    fn stored(&self) -> Self::As {
        self.iter().map(T::stored).collect()
    }

    fn read(stored: Self::As) -> Option<Self> {
        stored.into_iter().map(T::read).collect()
    }
}
