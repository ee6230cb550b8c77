//! What one source file imports: its `use` trees and its `crate::`, `self::` and `super::` paths, as absolute paths.

/// What the code of one file says about modules.
#[derive(Default)]
pub(crate) struct Imports {
    /// Every path into this crate. In the root these are all paths and words of the code.
    pub paths: Vec<Import>,
    /// What `use` brings into the root module, by the name under which it is known there.
    pub root_uses: Vec<RootUse>,
    /// Modules that are written in the file itself, by their absolute paths.
    pub inline: Vec<Vec<String>>,
}

/// One path, from the root of the crate, with the line on which it stands.
pub(crate) struct Import {
    pub path: Vec<String>,
    pub line: usize,
}

pub(crate) struct RootUse {
    pub name: String,
    pub path: Vec<String>,
    pub line: usize,
    /// A `pub use` offers a name to others; it does not use it.
    pub is_public: bool,
}

/// Reads the code of the file that holds the module at `module`. Comments, literals and tests are blank already.
pub(crate) fn imports(module: &[String], code: &str) -> Imports {
    let mut reader = Reader {
        tokens: tokens(code),
        at: 0,
        module: module.to_vec(),
        open_modules: Vec::new(),
        depth: 0,
        found: Imports::default(),
    };
    reader.read();
    reader.found
}

#[derive(Clone, PartialEq)]
enum Token {
    Word(String),
    /// `::`
    Path,
    Sign(char),
}

fn tokens(code: &str) -> Vec<(Token, usize)> {
    let (mut found, mut rest, mut line) = (Vec::new(), code, 1);
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (token, length) = if end > 0 {
            (Token::Word(rest[..end].to_owned()), end)
        } else if rest.starts_with("::") {
            (Token::Path, 2)
        } else {
            (Token::Sign(first), first.len_utf8())
        };
        line += usize::from(first == '\n');
        if !first.is_whitespace() {
            found.push((token, line));
        }
        rest = &rest[length..];
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Reader {
    tokens: Vec<(Token, usize)>,
    at: usize,
    /// Where we are: the module of the file, and the modules that are open inside it.
    module: Vec<String>,
    /// How many braces were open where each inline module began.
    open_modules: Vec<usize>,
    depth: usize,
    found: Imports,
}

impl Reader {
    fn read(&mut self) {
        while let Some((token, line)) = self.tokens.get(self.at).cloned() {
            match token {
                Token::Sign('{') => self.depth += 1,
                Token::Sign('}') => self.close(),
                Token::Word(word) => {
                    self.word(&word, line);
                    continue;
                }
                Token::Path | Token::Sign(_) => {}
            }
            self.at += 1;
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.open_modules.last() == Some(&self.depth) {
            self.open_modules.pop();
            self.module.pop();
        }
    }

    fn word(&mut self, word: &str, line: usize) {
        match word {
            // `impl Trait + use<'a>` captures a lifetime.
            "use" if self.peek(1) != Some(&Token::Sign('<')) => self.use_tree(line),
            "mod" => self.module(),
            "crate" | "self" | "super" if self.peek(1) == Some(&Token::Path) => self.path(line),
            // In the root a path may begin with a module or with an imported name.
            _ if self.module.is_empty() && self.is_first() => self.path(line),
            _ => self.at += 1,
        }
    }

    /// A field, a method and a later part of a path are not looked up in the module.
    fn is_first(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at].0);
        !matches!(before, Some(Token::Path | Token::Sign('.')))
    }

    /// `mod name { … }`. What `mod name;` holds is a file of its own.
    fn module(&mut self) {
        self.at += 1;
        let Some(Token::Word(name)) = self.peek(0).cloned() else {
            return;
        };
        self.at += 1;
        if self.peek(0) == Some(&Token::Sign('{')) {
            self.open_modules.push(self.depth);
            self.module.push(name);
            self.found.inline.push(self.module.clone());
        }
    }

    /// A path in the code. `pub(in crate::a)` says who may see an item, and imports nothing.
    fn path(&mut self, line: usize) {
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at].0);
        let restricts = before == Some(&Token::Word("in".to_owned()));
        let mut segments = Vec::new();
        while let Some(Token::Word(segment)) = self.peek(0).cloned() {
            segments.push(segment);
            self.at += 1;
            if self.peek(0) != Some(&Token::Path) {
                break;
            }
            self.at += 1;
        }
        if let Some(path) = self.absolute(&segments)
            && !restricts
        {
            self.found.paths.push(Import { path, line });
        }
    }

    fn use_tree(&mut self, line: usize) {
        let is_public = self.is_public();
        self.at += 1;
        let mut leaves = Vec::new();
        self.tree(&[], &mut leaves);
        for (segments, name) in leaves {
            let Some(path) = self.absolute(&segments) else {
                continue;
            };
            if self.module.is_empty() {
                self.found.root_uses.push(RootUse {
                    name,
                    path,
                    line,
                    is_public,
                });
            } else {
                self.found.paths.push(Import { path, line });
            }
        }
    }

    /// The paths of one use tree, each with the name under which it is known.
    fn tree(&mut self, before: &[String], leaves: &mut Vec<(Vec<String>, String)>) {
        let mut segments = before.to_vec();
        loop {
            match self.peek(0).cloned() {
                Some(Token::Word(word)) if word == "as" => {
                    self.at += 1;
                    let Some(Token::Word(alias)) = self.peek(0).cloned() else {
                        return;
                    };
                    self.at += 1;
                    return leaves.push((segments, alias));
                }
                // `a::{self}` imports `a`.
                Some(Token::Word(word)) if word == "self" && !segments.is_empty() => self.at += 1,
                Some(Token::Word(word)) => {
                    segments.push(word);
                    self.at += 1;
                }
                Some(Token::Path) => self.at += 1,
                Some(Token::Sign('*')) => {
                    segments.push("*".to_owned());
                    self.at += 1;
                }
                Some(Token::Sign('{')) => return self.group(&segments, leaves),
                Some(Token::Sign(_)) | None => {
                    let name = segments.last().cloned().unwrap_or_default();
                    return leaves.push((segments, name));
                }
            }
        }
    }

    fn group(&mut self, before: &[String], leaves: &mut Vec<(Vec<String>, String)>) {
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(Token::Sign('}')) => {
                    self.at += 1;
                    return;
                }
                Some(Token::Sign(',')) => self.at += 1,
                Some(Token::Word(_) | Token::Path | Token::Sign('{' | '*')) => {
                    self.tree(before, leaves);
                }
                Some(Token::Sign(_)) | None => return,
            }
        }
    }

    /// The path from the root of the crate. Without a `crate`, `self` or `super` it leads to a child
    /// or to another crate; the caller, who knows the modules, tells which.
    fn absolute(&self, segments: &[String]) -> Option<Vec<String>> {
        let up = segments
            .iter()
            .take_while(|segment| *segment == "super")
            .count();
        let first = segments.first()?;
        let (base, rest) = match first.as_str() {
            "crate" => (&[][..], &segments[1..]),
            "self" => {
                let more = segments[1..]
                    .iter()
                    .take_while(|segment| *segment == "super")
                    .count();
                (self.above(more)?, &segments[1 + more..])
            }
            "super" => (self.above(up)?, &segments[up..]),
            _ => (self.above(0)?, segments),
        };
        Some([base, rest].concat())
    }

    fn above(&self, levels: usize) -> Option<&[String]> {
        self.module.get(..self.module.len().checked_sub(levels)?)
    }

    fn is_public(&self) -> bool {
        match self.at.checked_sub(1).map(|at| &self.tokens[at].0) {
            Some(Token::Word(word)) => word == "pub",
            Some(Token::Sign(')')) => {
                let before = self.tokens[..self.at].iter().rev();
                let mut before = before.skip_while(|(token, _)| *token != Token::Sign('('));
                before.nth(1).map(|(token, _)| token) == Some(&Token::Word("pub".to_owned()))
            }
            Some(Token::Path | Token::Sign(_)) | None => false,
        }
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|(token, _)| token)
    }
}
