//! The files of the repository as the rules see them: path, text, and the code without its words.

use std::fs;
use std::path::{Path, PathBuf};

/// One text file, by its path from the root of the repository.
pub(crate) struct File {
    pub path: String,
    pub text: String,
    /// The text with comments and literals blanked out; lines stay where they are.
    pub code: String,
}

impl File {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let code = if path.ends_with(".rs") {
            code_only(&text)
        } else {
            String::new()
        };
        Self { path, text, code }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// A file that only tests see, by where it lies.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// The code without the items that only tests see; lines stay where they are.
    pub(crate) fn product_code(&self) -> String {
        let (mut kept, mut rest) = (String::new(), self.code.as_str());
        while let Some(at) = rest.find(TEST_ONLY) {
            let item = &rest[at + TEST_ONLY.len()..];
            let end = body_end(item).or_else(|| declaration_end(item));
            let (hidden, after) = item.split_at(end.unwrap_or(0));
            kept.push_str(&rest[..at]);
            kept.extend(hidden.chars().filter(|c| *c == '\n'));
            rest = after;
        }
        kept + rest
    }

    /// The string literals, each with the line on which it begins, up to the tests at the end of the file.
    pub(crate) fn literals(&self) -> Vec<(usize, String)> {
        let end = self.text.find("\n#[cfg(test)]\nmod tests {");
        let mut rest = &self.text[..end.unwrap_or(self.text.len())];
        let (mut found, mut before, mut line) = (Vec::new(), ' ', 1);
        while let Some(first) = rest.chars().next() {
            let length = not_code(rest, before.is_alphanumeric() || before == '_');
            let (piece, after) = rest.split_at(length.max(first.len_utf8()));
            if length > 0 && !piece.starts_with(['/', '\'']) {
                let text = piece.replace("\\\n", " ");
                let words: Vec<&str> = text.split_whitespace().collect();
                found.push((line, words.join(" ")));
            }
            line += piece.matches('\n').count();
            (before, rest) = (if length > 0 { ' ' } else { first }, after);
        }
        found
    }

    /// The modules that this file declares for tests alone and that lie in files of their own.
    pub(crate) fn test_modules(&self) -> Vec<&str> {
        let items = self.code.split(TEST_ONLY).skip(1);
        let declarations =
            items.filter_map(|item| Some(item[..declaration_end(item)?].trim_end_matches(';')));
        declarations
            .filter_map(|declaration| declaration.split_once("mod "))
            .map(|(_, name)| name.trim())
            .collect()
    }
}

const TEST_ONLY: &str = "#[cfg(test)]";

/// Where a `mod name;` or a `use …;` ends.
fn declaration_end(item: &str) -> Option<usize> {
    let words = item.split_whitespace();
    let mut words = words.skip_while(|word| word.starts_with("pub"));
    matches!(words.next(), Some("mod" | "use")).then(|| item.find(';').map(|at| at + 1))?
}

/// Where the body ends; nothing for a function that has none.
pub(crate) fn body_end(item: &str) -> Option<usize> {
    let (mut brackets, mut braces) = (0_usize, 0_usize);
    for (at, c) in item.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.checked_sub(1)?,
            ';' if brackets == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces = braces.checked_sub(1)?;
                if braces == 0 && brackets == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Every text file of the repository that this crate lies in.
pub(crate) fn repository() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root, &PathBuf::new(), &mut files);
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

fn collect(root: &Path, below: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = below.join(entry.file_name());
        if is_left_out(&path) {
            continue;
        }
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(root.join(&path))
        {
            files.push(File::new(path.to_str().unwrap(), text));
        }
    }
}

/// In a worktree `.git` is a file that names a folder of this machine.
fn is_left_out(path: &Path) -> bool {
    path == Path::new("target") || path == Path::new(".git")
}

/// Blanks out comments, strings and characters, so that a word in them is not taken for code.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after_word = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = match not_code(rest, after_word) {
            0 => {
                code.push(first);
                first.len_utf8()
            }
            length => {
                code.push(' ');
                code.extend(rest[..length].chars().filter(|c| *c == '\n'));
                length
            }
        };
        rest = &rest[length..];
    }
    code
}

/// The length of the comment or literal with which this text begins; 0 when it begins with code.
fn not_code(text: &str, after_word: bool) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    if text.starts_with('"') {
        return quoted(text, '"');
    }
    if text.starts_with('\'') {
        return character(text);
    }
    if after_word { 0 } else { raw_string(text) }
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        match (rest.starts_with(b"/*"), rest.starts_with(b"*/")) {
            (true, _) => (depth, at) = (depth + 1, at + 2),
            (_, true) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A lifetime has no closing quote where a character has one.
fn character(text: &str) -> usize {
    let mut characters = text.chars().skip(1);
    match (characters.next(), characters.next()) {
        (Some('\\'), _) => quoted(text, '\''),
        (Some(inner), Some('\'')) => inner.len_utf8() + 2,
        _ => 0,
    }
}

fn raw_string(text: &str) -> usize {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        let rest = text.strip_prefix(prefix).unwrap_or("");
        rest.trim_start_matches('#').starts_with('"')
    });
    let Some(prefix) = prefix else { return 0 };
    let after = &text[prefix.len()..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    let close = format!("\"{}", "#".repeat(hashes));
    let open = prefix.len() + hashes + 1;
    text[open..]
        .find(&close)
        .map_or(text.len(), |at| open + at + close.len())
}

#[test]
fn comments_and_literals_are_not_code() {
    let check = |text: &str, code: &str| assert_eq!(code_only(text), code, "{text}");
    check("a // todo!\nb", "a  \nb");
    check("a /* x /* y */ \n z */ b", "a  \n b");
    check("f(\"a \\\" {\") + 1", "f( ) + 1");
    check("f(r#\"a \" {\"#) + 1", "f( ) + 1");
    check("f(br\"{\", b\"{\")", "f( , b )");
    check("['{', '\\'', '\\u{7b}'] + 'a", "[ ,  ,  ] + 'a");
    check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
    check("for\"x\"", "for ");
    check("r#type", "r#type");
}
