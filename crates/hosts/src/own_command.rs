//! Calls of our own program that our prompts name, and that a person need not be asked about.

use crate::shell::base_name;

/// Commands that only read, or that run what a person has trusted already.
const HARMLESS: [&str; 8] = [
    "check", "export", "help", "history", "next", "status", "step", "why",
];

/// Those among them that write no file, whatever their options.
pub const READING_COMMANDS: [&str; 7] =
    ["check", "help", "history", "next", "status", "step", "why"];

/// Options of theirs that write no file and give no other input. Each may have a value.
const OPTIONS: [&str; 6] = [
    "--artifact",
    "--format",
    "--from",
    "--json",
    "--last",
    "--step",
];

/// The program that a text for a shell runs, where the text is one plain call of a harmless command of
/// ours and nothing else. Whether the program is ours is for the caller to see.
pub fn harmless_call(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = text.strip_suffix(BOTH_STREAMS).unwrap_or(text);
    // Nothing that a shell would read in a way of its own: no quotes, variables, pipes or patterns.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./:=".contains(c);
    if !text.chars().all(is_plain) {
        return None;
    }
    let mut words = text.split_ascii_whitespace();
    let program = words
        .next()
        .filter(|word| base_name(word) == "gatewright")?;
    let command = words.next()?;
    let options = words.filter(|word| word.starts_with('-'));
    let mut names = options.map(|word| word.split('=').next().unwrap_or(word));
    let is_harmless = HARMLESS.contains(&command) && names.all(|name| OPTIONS.contains(&name));
    is_harmless.then_some(program)
}

/// Models often ask for both streams.
const BOTH_STREAMS: &str = " 2>&1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plain_call_of_a_harmless_command_is_recognised() {
        for text in [
            "gatewright next",
            "gatewright check r-7f3",
            " gatewright status --json 2>&1",
            "gatewright export r-7f3 --artifact answers",
            "gatewright history --last=5",
        ] {
            assert_eq!(harmless_call(text), Some("gatewright"), "{text}");
        }
        let path = "/opt/bin/gatewright next";
        assert_eq!(harmless_call(path), Some("/opt/bin/gatewright"));
    }

    #[test]
    fn whatever_else_a_text_does_is_asked() {
        for text in [
            "gatewright",
            "gatewright answer r-7f3 yes",
            "gatewright next; rm -rf src",
            "gatewright next && make",
            "gatewright next | sh",
            "gatewright next > out",
            "gatewright next $(touch x)",
            "gatewright next `touch x`",
            "gatewright next\ntouch x",
            "gatewright export r-7f3 -o src/main.rs",
            "gatewright export r-7f3 --output=src/main.rs",
            "PATH=. gatewright next",
            "sudo gatewright next",
            "gatewright-next",
            "sh gatewright next",
            "gatewright verify --repair",
            "gatewright start phases",
        ] {
            assert_eq!(harmless_call(text), None, "{text}");
        }
    }
}
