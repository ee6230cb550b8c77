//! A command line split into words as a shell would, without any of a shell's expansions.

/// Why a line cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordsError {
    /// A quote, or an escape at the end of the line, is not finished.
    Open(char),
    /// A shell would give this character a meaning; we start the program directly.
    Shell(char),
}

/// Splits a command line that a person typed, as the commands of a check are split.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    split(line).map_err(|problem| match problem {
        WordsError::Open(quote) => format!("a {quote} in this command is not closed"),
        WordsError::Shell(letter) => format!(
            "no shell runs this command, so `{letter}` has no effect; quote it, or use a script"
        ),
    })
}

/// Quotes and backslashes keep characters together; nothing else means anything.
pub(super) fn split(line: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    // `None` between words, so that `''` is a word and a space is not.
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => quoted(&mut letters, word.get_or_insert_default())?,
            '"' => double_quoted(&mut letters, word.get_or_insert_default())?,
            '\\' => word
                .get_or_insert_default()
                .push(letters.next().ok_or(WordsError::Open('\\'))?),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' => {
                return Err(WordsError::Shell(letter));
            }
            '~' | '#' if word.is_none() => return Err(WordsError::Shell(letter)),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(letters: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), WordsError> {
    for letter in letters {
        match letter {
            '\'' => return Ok(()),
            _ => word.push(letter),
        }
    }
    Err(WordsError::Open('\''))
}

fn double_quoted(letters: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), WordsError> {
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Ok(()),
            '$' | '`' => return Err(WordsError::Shell(letter)),
            '\\' => match letters.next().ok_or(WordsError::Open('"'))? {
                escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            _ => word.push(letter),
        }
    }
    Err(WordsError::Open('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<&[&str], WordsError>) {
        let expected = expected.map(|words| words.iter().copied().map(String::from).collect());
        assert_eq!(split(line), expected, "{line}");
    }

    #[test]
    fn lines_are_split_at_spaces_outside_quotes() {
        check("ansible-lint {target}", Ok(&["ansible-lint", "{target}"]));
        check("  a\t b  ", Ok(&["a", "b"]));
        check("a 'b c' \"d e\"", Ok(&["a", "b c", "d e"]));
        check("a'b'\"c\"d", Ok(&["abcd"]));
        check("a '' b", Ok(&["a", "", "b"]));
        check(r"a\ b \'c", Ok(&["a b", "'c"]));
        check(r#""a\"b\\c\d""#, Ok(&[r#"a"b\c\d"#]));
        check("--flag=x~y#z", Ok(&["--flag=x~y#z"]));
        check(
            "grep '*.py' '$HOME' 'a|b'",
            Ok(&["grep", "*.py", "$HOME", "a|b"]),
        );
        check("", Ok(&[]));
    }

    #[test]
    fn what_only_a_shell_understands_is_refused() {
        for (line, letter) in [
            ("npm test && npm lint", '&'),
            ("a | b", '|'),
            ("a; b", ';'),
            ("a > b", '>'),
            ("echo $HOME", '$'),
            ("echo \"$HOME\"", '$'),
            ("echo `id`", '`'),
            ("pytest tests/*.py", '*'),
            ("ls ~/x", '~'),
            ("a # b", '#'),
            ("(a)", '('),
        ] {
            check(line, Err(WordsError::Shell(letter)));
        }
    }

    #[test]
    fn an_open_quote_is_refused() {
        check("a 'b", Err(WordsError::Open('\'')));
        check("a \"b", Err(WordsError::Open('"')));
        check("a \"b\\", Err(WordsError::Open('"')));
        check("a \\", Err(WordsError::Open('\\')));
    }
}
