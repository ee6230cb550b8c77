//! Limits that are checked before anything is parsed, so that a hostile file costs milliseconds.

/// The largest definition, in bytes.
pub const MOST_BYTES: usize = 1024 * 1024;
/// How deep tables, lists and dotted keys may be nested, all together.
pub(crate) const MOST_DEPTH: usize = 32;
/// How many members one table or list may have.
pub(crate) const MOST_MEMBERS: usize = 4096;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Toml,
    Json,
}

/// The byte at which the file is nested too deeply, if there is one.
///
/// One pass that knows strings, comments, brackets and the dots of keys, and nothing else.
pub(crate) fn too_deep(text: &str, syntax: Syntax) -> Option<usize> {
    let (here, open) = (Level::table(), Vec::new());
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
        syntax,
        header: 0,
        here,
        open,
    };
    while let Some(byte) = scan.bytes.get(scan.at) {
        let start = scan.at;
        scan.step(*byte);
        if scan.depth() > MOST_DEPTH {
            return Some(start);
        }
    }
    None
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    syntax: Syntax,
    /// The dots of the present `[table.header]`, under which the keys that follow stand.
    header: usize,
    here: Level,
    /// The levels around this one, outermost first.
    open: Vec<Level>,
}

/// What is between two brackets, or the file itself.
#[derive(Clone, Copy)]
struct Level {
    side: Side,
    /// The dots of the key that was begun here.
    dots: usize,
    kind: LevelKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LevelKind {
    Table,
    List,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Key,
    Value,
}

impl Level {
    fn table() -> Self {
        Self {
            side: Side::Key,
            dots: 0,
            kind: LevelKind::Table,
        }
    }

    fn list() -> Self {
        Self {
            side: Side::Value,
            dots: 0,
            kind: LevelKind::List,
        }
    }

    /// The next key or member begins.
    fn next(&mut self) {
        *self = match self.kind {
            LevelKind::Table => Self::table(),
            LevelKind::List => Self::list(),
        };
    }
}

impl Scan<'_> {
    fn depth(&self) -> usize {
        let around: usize = self.open.iter().map(|level| level.dots + 1).sum();
        self.header + around + self.here.dots
    }

    fn step(&mut self, byte: u8) {
        self.at += 1;
        match (byte, self.syntax) {
            (b'"', _) => self.string(b'"'),
            (b'[' | b'{', Syntax::Json) => self.enter(Level::list()),
            (b']' | b'}', _) => self.leave(),
            (_, Syntax::Json) => {}
            (b'\'', Syntax::Toml) => self.string(b'\''),
            (b'#', Syntax::Toml) => self.comment(),
            (b'[', Syntax::Toml) if self.at_header() => self.header(),
            (b'[', Syntax::Toml) => self.enter(Level::list()),
            (b'{', Syntax::Toml) => self.enter(Level::table()),
            (b'=', Syntax::Toml) => self.here.side = Side::Value,
            (b'.', Syntax::Toml) if self.here.side == Side::Key => self.here.dots += 1,
            (b',', Syntax::Toml) => self.here.next(),
            (b'\n', Syntax::Toml) if self.open.is_empty() => self.here.next(),
            _ => {}
        }
    }

    fn enter(&mut self, level: Level) {
        self.open.push(self.here);
        self.here = level;
    }

    fn leave(&mut self) {
        if let Some(outer) = self.open.pop() {
            self.here = outer;
        }
    }

    fn at_header(&self) -> bool {
        self.open.is_empty() && self.here.side == Side::Key
    }

    /// Reads `[a.b]` or `[[a.b]]` up to the end of its line.
    fn header(&mut self) {
        self.header = 0;
        self.here.next();
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return,
                b'.' | b'[' => self.header += 1,
                b'"' | b'\'' => {
                    self.at += 1;
                    self.string(*byte);
                    continue;
                }
                b'#' => return self.comment(),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| *byte != b'\n') {
            self.at += 1;
        }
    }

    /// Skips a string after its first quote.
    fn string(&mut self, quote: u8) {
        let three = [quote; 3];
        let long = self.syntax == Syntax::Toml && self.bytes[self.at - 1..].starts_with(&three);
        if long {
            self.at += 2;
        }
        while let Some(byte) = self.bytes.get(self.at) {
            let rest = &self.bytes[self.at..];
            match byte {
                b'\\' if quote == b'"' => self.at += 2,
                _ if long && rest.starts_with(&three) => {
                    self.at += 3;
                    return;
                }
                // A line break ends a short string; that it should not is for the parser to say.
                b'\n' if !long && self.syntax == Syntax::Toml => return,
                _ if !long && *byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(syntax: Syntax, text: &str, deep: bool) {
        assert_eq!(too_deep(text, syntax).is_some(), deep, "{text:.80}");
    }

    #[test]
    fn toml_is_measured_by_brackets_headers_and_dots() {
        let dotted = |count| vec!["a"; count].join(".");
        for (text, deep) in [
            (String::from("a = [[[1]]]\n[b.c]\nd = { e = 1 }\n"), false),
            ("a = [1]\n".repeat(100), false),
            ("[a.b.c]\nd.e = 1\n".repeat(100), false),
            ("[[a]]\n".repeat(100), false),
            (format!("a = {}", "[".repeat(33)), true),
            (format!("a = {}", "[\n".repeat(33)), true),
            ("[".repeat(1_000_000), true),
            ("{".repeat(1_000_000), true),
            (format!("{} = 1", dotted(34)), true),
            (format!("[{}]", dotted(34)), true),
            (format!("[{}]\n{} = 1", dotted(20), dotted(20)), true),
            (format!("{0} = {{ {0} = {{ {0} = 1 }} }}", dotted(12)), true),
            (format!("[\"a.b\".{}]", dotted(34)), true),
        ] {
            check(Syntax::Toml, &text, deep);
        }
    }

    #[test]
    fn brackets_and_dots_in_strings_and_comments_do_not_count() {
        let many = "[.".repeat(50);
        for text in [
            format!("a = \"{many}\""),
            format!("a = '{many}'"),
            format!("a = \"\\\"{many}\""),
            format!("a = '''\n{many}\n'' ' {many}'''"),
            format!("a = \"\"\"\n{many}\n\\\"\"\" {many}\"\"\""),
            format!("# {many}\na = 1 # {many}"),
            format!("[a] # {many}"),
            format!("[\"{many}\"]"),
            format!("a = {}", ".".repeat(50)),
        ] {
            check(Syntax::Toml, &text, false);
        }
    }

    #[test]
    fn json_is_measured_by_brackets() {
        for (text, deep) in [
            (
                format!(r#"{{"a": [{{"b": "{}"}}]}}"#, "[".repeat(40)),
                false,
            ),
            (r#"{"a":"#.repeat(33), true),
            ("[".repeat(1_000_000), true),
            (format!("\"\n{}", "[".repeat(40)), false),
            (format!("\"\\\"\"{}", "[".repeat(40)), true),
        ] {
            check(Syntax::Json, &text, deep);
        }
    }
}
