//! Where notices about a run go: an address or a command.

/// Where a notice goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyTarget {
    /// The notice is posted there.
    Address(String),
    /// The program gets the notice on its stdin.
    Command(Vec<String>),
}

impl NotifyTarget {
    /// Parses the value of `--notify`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_address = ["http://", "https://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        if is_address {
            let is_plain = |c: char| c.is_ascii_graphic() && !"\"\\".contains(c);
            return if text.chars().all(is_plain) {
                Ok(Self::Address(text.to_owned()))
            } else {
                Err("an address has no spaces and no quotes; write them as %20".to_owned())
            };
        }
        match language::words(text)? {
            words if words.is_empty() => Err("type an address or a command".to_owned()),
            words => Ok(Self::Command(words)),
        }
    }

    /// The form to show: an address often has a secret after its host.
    pub fn shown(&self) -> String {
        match self {
            Self::Address(address) => {
                let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                let host = host.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}/…")
            }
            Self::Command(words) => words.first().cloned().unwrap_or_default(),
        }
    }
}
