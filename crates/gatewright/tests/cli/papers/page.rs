//! A page of the papers: its fenced blocks, its links and the commands that it names.

use std::fs;
use std::path::{Path, PathBuf};

/// Pages that are made from the program, and compared with it elsewhere.
const GENERATED: [&str; 2] = ["docs/cli.md", "docs/rules.md"];

pub(super) struct Page {
    pub name: String,
    pub text: String,
}

/// A fenced block: the words behind the fence, and what stands in it.
pub(super) struct Block {
    pub words: Vec<String>,
    pub text: String,
    pub line: usize,
}

impl Block {
    pub(super) fn is(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }

    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.words
            .iter()
            .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Page {
    pub(super) fn read(name: &str) -> Self {
        let text = fs::read_to_string(root().join(name)).unwrap();
        Self {
            name: name.to_owned(),
            text,
        }
    }

    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for (number, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(words), None) => {
                    let words = words.split_whitespace().map(str::to_owned).collect();
                    open = Some(Block {
                        words,
                        text: String::new(),
                        line: number + 1,
                    });
                }
                (Some(_), Some(block)) => blocks.push(block),
                (None, Some(mut block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                    open = Some(block);
                }
                (None, None) => {}
            }
        }
        blocks
    }

    /// Where the links of the page lead: a path from the page's own folder, and a heading's anchor.
    pub(super) fn links(&self) -> Vec<(&str, Option<&str>)> {
        let targets = self.text.split("](").skip(1);
        let targets = targets.filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
        let ours = targets.filter(|target| !target.contains("://"));
        ours.map(|target| match target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (target, None),
        })
        .collect()
    }

    /// The words that stand behind the name of the program, wherever it is in the type of code.
    pub(super) fn commands(&self) -> Vec<&str> {
        let named = self.text.match_indices("gatewright ");
        let code = named.filter(|(at, _)| {
            let before = self.text[..*at].chars().next_back();
            matches!(before, None | Some('`' | '\n' | ' '))
        });
        let words = code.filter_map(|(at, found)| {
            let rest = &self.text[at + found.len()..];
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-')?;
            let alone = self.text[..at].ends_with(['`', '\n']) || self.text[..at].ends_with("$ ");
            Some(&rest[..end]).filter(|word| alone && !word.is_empty() && !word.starts_with('-'))
        });
        words.collect()
    }

    /// The codes of rules that the page names.
    pub(super) fn codes(&self) -> Vec<&str> {
        let named = self.text.match_indices("GW-");
        let codes = named.map(|(at, _)| {
            let rest = &self.text[at..];
            let end = rest[3..].find(|c: char| !c.is_ascii_alphanumeric());
            &rest[..end.map_or(rest.len(), |end| end + 3)]
        });
        // `GW-R…` stands for any of them.
        codes
            .filter(|code| code.ends_with(|c: char| c.is_ascii_digit()))
            .collect()
    }

    /// The anchors of the headings, as they are made of their words.
    fn anchors(&self) -> Vec<String> {
        let headings = self.text.lines().filter(|line| line.starts_with('#'));
        headings
            .map(|heading| {
                let words = heading.trim_start_matches('#').trim().to_lowercase();
                let kept = words
                    .chars()
                    .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                kept.map(|c| if c == ' ' { '-' } else { c }).collect()
            })
            .collect()
    }

    /// A link that leads nowhere, if there is one.
    pub(super) fn broken_link(&self) -> Option<String> {
        let folder = Path::new(&self.name).parent().unwrap().to_owned();
        self.links().into_iter().find_map(|(path, anchor)| {
            let target = match path {
                "" => PathBuf::from(&self.name),
                path => folder.join(path),
            };
            let told = || format!("{}: {path}#{}", self.name, anchor.unwrap_or_default());
            if !root().join(&target).exists() {
                return Some(told());
            }
            let anchor = anchor?;
            let page = Page::read(target.to_str().unwrap());
            (!page.anchors().iter().any(|own| own == anchor)).then(told)
        })
    }
}

/// The pages that people read and type from.
pub(super) fn pages() -> Vec<Page> {
    let listed = fs::read_dir(root().join("docs")).unwrap();
    let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/{name}"))
        .filter(|name| !GENERATED.contains(&name.as_str()))
        .collect();
    let others = [
        "README.md",
        "SECURITY.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "AGENTS.md",
        "examples/README.md",
    ];
    names.extend(others.map(str::to_owned));
    names.sort();
    names.iter().map(|name| Page::read(name)).collect()
}
