//! A text as one word of a shell.

/// A path as one word of a shell.
pub fn shell_word(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, expected) in [
            ("/usr/bin/gatewright", "/usr/bin/gatewright"),
            ("/a b/g", "'/a b/g'"),
            ("/it's/g", r"'/it'\''s/g'"),
            ("/$HOME/g", "'/$HOME/g'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(path), expected);
        }
    }
}
