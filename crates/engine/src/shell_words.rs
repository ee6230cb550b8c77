//! A command as a person could type it: words that a shell would split or read otherwise are in quotes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Besides letters and digits, the characters that mean nothing to a shell.
const PLAIN: &str = "-_./:=@%+,";

/// The words of a command on one line. What a person approves must show where a word ends.
pub fn shell_words(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || PLAIN.contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        String::from(word)
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_words() {
        for (words, expected) in [
            (&["npm", "test"][..], "npm test"),
            (&["grep", "a b", "c.txt"], "grep 'a b' c.txt"),
            (&["grep", "a", "b c.txt"], "grep a 'b c.txt'"),
            (&["sh", "-c", "rm $1; true"], "sh -c 'rm $1; true'"),
            (&["echo", "it's", ""], r"echo 'it'\''s' ''"),
            (&["make", "CFLAGS=-O2", "ä"], "make CFLAGS=-O2 ä"),
        ] {
            let words: Vec<String> = words.iter().map(|word| String::from(*word)).collect();
            assert_eq!(shell_words(&words), expected);
        }
    }
}
