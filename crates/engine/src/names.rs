//! Names: every id that could be confused with another is its own type.

use alloc::string::String;
use core::fmt;

/// The name under which the main session itself works.
pub const SESSION: &str = "session";

/// The longest name that is accepted.
pub const LONGEST: usize = 64;

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    Empty,
    TooLong { length: usize },
    First { found: char },
    Character { found: char },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a name cannot be empty"),
            Self::TooLong { length } => {
                write!(
                    f,
                    "a name has at most {LONGEST} characters, this one has {length}"
                )
            }
            Self::First { found } => {
                write!(
                    f,
                    "a name must begin with a letter or a digit, not with {found:?}"
                )
            }
            Self::Character { found } => write!(f, "a name cannot contain {found:?}"),
        }
    }
}

impl core::error::Error for NameError {}

/// The bytes that any name may have.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 128u8 {
        plain[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        byte += 1;
    }
    plain
};

/// Reads a name: letters, digits, dashes, underscores, and these further characters.
pub(crate) fn parse(text: &str, extra: &[char]) -> Result<String, NameError> {
    // Nearly every name is plain, and hooks read many.
    let is_plain = |byte: u8| PLAIN[usize::from(byte)];
    if text.len() <= LONGEST
        && text
            .as_bytes()
            .first()
            .is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(is_plain)
    {
        return Ok(String::from(text));
    }
    let first = text.chars().next().ok_or(NameError::Empty)?;
    let length = text.chars().count();
    if length > LONGEST {
        return Err(NameError::TooLong { length });
    }
    if !first.is_ascii_alphanumeric() {
        return Err(NameError::First { found: first });
    }
    let allowed =
        |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || extra.contains(c);
    match text.chars().find(|c| !allowed(c)) {
        Some(found) => Err(NameError::Character { found }),
        None => Ok(String::from(text)),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $extra:expr) => {
        $(#[$doc])*
        ///
        /// Holding one means that it has passed `parse`.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            pub fn parse(text: &str) -> Result<Self, NameError> {
                parse(text, $extra).map(Self)
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A pipeline's name, as `ansible`.
    PipelineName, &[]
);
name!(
    /// A stage's name, as `validating` or `IDLE`.
    StageName, &[]
);
name!(
    /// An agent's name, as `ansible-validator` or `plugin:agent`.
    AgentName, &[':', '.']
);
name!(
    /// The name of a set of agents.
    GroupName, &[]
);
name!(
    /// An artifact's name inside its pipeline.
    ArtifactName, &[]
);
name!(
    /// A counter's name.
    CounterName, &[]
);
name!(
    /// A parameter's name.
    ParamName, &[]
);
name!(
    /// One node of a task graph.
    StepId, &['.']
);
name!(
    /// A run's id, as `r-7f3k2m`.
    RunId, &[]
);
name!(
    /// What starts an agent: an agent program, or `command`.
    RunnerName, &[]
);
name!(
    /// An agent program whose sessions hold runs, by the name that it has as a runner.
    HostName, &[]
);
impl HostName {
    /// The name of a program that our own source lists. A test parses every listed name.
    pub fn listed(word: &'static str) -> Self {
        Self(String::from(word))
    }
}

name!(
    /// A label that a person gave to a point of a run.
    CheckpointName, &['.']
);
name!(
    /// One conversation of a host. An empty id cannot be written down, so it matches nothing.
    SessionId, &['.', ':']
);

name!(
    /// One call of a tool, as its host numbers it.
    CallId, &['.', ':']
);
name!(
    /// One agent that works inside a session, as its host numbers it.
    WorkerId, &['.', ':']
);
name!(
    /// A slash command, without its slash.
    CommandName, &[':', '.']
);

impl AgentName {
    /// The name under which the main session itself works.
    pub(crate) fn session() -> Self {
        Self(String::from(SESSION))
    }

    pub(crate) fn is_session(&self) -> bool {
        self.0 == SESSION
    }

    /// Do hosts take both for the same agent? They read names without case, dashes and underscores.
    pub fn is_same(&self, other: &str) -> bool {
        folded(&self.0).eq(folded(other))
    }
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    let kept = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_') && !c.is_whitespace());
    kept.flat_map(char::to_lowercase)
}

/// One admitted piece of work, numbered within its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DispatchId(pub u32);

impl fmt::Display for DispatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d{}", self.0)
    }
}

/// A SHA-256 of content. The engine compares hashes and never makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Reads the 64 hexadecimal digits that `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = char::from(*pair.first()?).to_digit(16)?;
            let low = char::from(*pair.get(1)?).to_digit(16)?;
            *byte = u8::try_from(high * 16 + low).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // Hashes are written at every hook, and one text is written faster than 32.
        let digits: [u8; 64] = core::array::from_fn(|at| {
            let byte = self.0[at / 2];
            DIGITS[usize::from(if at % 2 == 0 { byte >> 4 } else { byte & 15 })]
        });
        f.write_str(str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

/// Milliseconds since 1970 in UTC. Time arrives in events; the engine has no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The time since `earlier`; zero if the clock went backwards.
    pub fn since(self, earlier: Self) -> Seconds {
        Seconds(self.0.saturating_sub(earlier.0) / 1000)
    }
}

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seconds(pub u64);

impl Seconds {
    /// The units, the largest first.
    const UNITS: [(u64, char); 4] = [(86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')];

    /// Reads digits and one unit: `90s`, `30m`, `2h` or `7d`.
    pub fn parse(text: &str) -> Option<Self> {
        let (size, digits) = Self::UNITS
            .iter()
            .find_map(|(size, unit)| Some((size, text.strip_suffix(*unit)?)))?;
        // A number in Rust may begin with a sign.
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        digits.parse::<u64>().ok()?.checked_mul(*size).map(Self)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |size: u64| self.0 >= size && self.0.is_multiple_of(size);
        match Self::UNITS.iter().find(|(size, _)| whole(*size)) {
            Some((size, unit)) => write!(f, "{}{unit}", self.0 / size),
            None => write!(f, "{}s", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Seconds;

    #[test]
    fn a_length_of_time_is_a_number_and_a_unit() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("30m", Some(1_800)),
            ("2h", Some(7_200)),
            ("7d", Some(604_800)),
            ("0s", Some(0)),
            ("7", None),
            ("d", None),
            ("", None),
            ("-1d", None),
            ("+1d", None),
            ("1 d", None),
            ("1.5h", None),
            ("3M", None),
            ("3é", None),
            ("99999999999999999999d", None),
            ("18446744073709551615d", None),
        ] {
            assert_eq!(Seconds::parse(text), expected.map(Seconds), "{text}");
        }
    }
}
