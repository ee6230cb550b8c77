//! Colours by meaning. The command decides whether to use them; every text reads well without.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Ansi,
}

/// What a colour means. The text says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Normal,
    Good,
    Bad,
    /// Somebody has to do something.
    Wait,
    Dim,
    Strong,
}

impl Paint {
    pub fn on(self, style: Style, text: &str) -> String {
        match (self, style.code()) {
            (Self::Ansi, Some(code)) if !text.is_empty() => {
                format!("\u{1b}[{code}m{text}\u{1b}[0m")
            }
            (Self::Ansi | Self::Plain, _) => text.to_owned(),
        }
    }
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Normal => None,
            Self::Good => Some("32"),
            Self::Bad => Some("1;31"),
            Self::Wait => Some("33"),
            Self::Dim => Some("2"),
            Self::Strong => Some("1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ansi_colours_and_only_what_has_a_meaning() {
        assert_eq!(Paint::Plain.on(Style::Bad, "no"), "no");
        assert_eq!(Paint::Ansi.on(Style::Normal, "so"), "so");
        assert_eq!(Paint::Ansi.on(Style::Good, "yes"), "\u{1b}[32myes\u{1b}[0m");
        assert_eq!(Paint::Ansi.on(Style::Good, ""), "");
    }
}
