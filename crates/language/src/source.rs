//! The files of a definition, and how bytes become the tree.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use engine::PipelineName;

use crate::diagnostic::{Diagnostic, Problems};
use crate::limits::{MOST_BYTES, MOST_DEPTH, Syntax, too_deep};
use crate::rule::LanguageRule;
use crate::tree::Node;
use crate::{from_json, from_toml};

/// A pipeline file with everything that it refers to. The caller has read it all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    pub main: SourceFile,
    /// The other files, by their path as the definition writes it.
    pub files: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// As it is shown to people.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The files that must be read before `compile`, by their path as the definition writes it.
///
/// Empty for a text that cannot be read; `compile` then says why. Invariant: no path leads out of
/// the definition's own folder.
pub fn references(main: &SourceFile) -> Vec<String> {
    let Some(root) = parse(main, &mut Problems::default()) else {
        return Vec::new();
    };
    let tables = |key: &str| root.get(key).map(Node::entries).unwrap_or_default();
    let schemas = tables("artifacts")
        .iter()
        .filter_map(|entry| entry.node.get("schema"));
    let stages = || tables("stages").iter().map(|entry| &entry.node);
    let prompts = stages().filter_map(|stage| stage.get("prompt"));
    let panels = stages()
        .filter_map(|stage| stage.get("panel"))
        .flat_map(Node::items);
    let reviewers = panels.filter_map(|reviewer| reviewer.get("prompt"));
    let templates = root.get("views").and_then(|views| views.get("template"));
    let templates = templates
        .into_iter()
        .flat_map(Node::items)
        .filter_map(|view| view.get("file"));
    let paths = schemas
        .chain(prompts)
        .chain(reviewers)
        .chain(templates)
        .chain(root.get("protocol"))
        .filter_map(Node::text)
        .chain(gives(&root));
    let unique: BTreeSet<&str> = paths.filter(|path| is_below(path)).collect();
    unique.into_iter().map(String::from).collect()
}

/// The same definition under another name; nothing where it has no name that could be replaced.
pub fn renamed(sources: &Sources, name: &PipelineName) -> Option<Sources> {
    let root = parse(&sources.main, &mut Problems::default())?;
    let place = root.get("name").filter(|node| node.text().is_some())?;
    let (before, rest) = sources.main.bytes.split_at_checked(place.span.start)?;
    let (_, after) = rest.split_at_checked(place.span.len())?;
    let bytes = [before, format!("\"{name}\"").as_bytes(), after].concat();
    let ending = match syntax(&sources.main.name, &String::from_utf8_lossy(&bytes)) {
        Syntax::Toml => "toml",
        Syntax::Json => "json",
    };
    let main = SourceFile {
        name: format!("{name}.{ending}"),
        bytes,
    };
    let files = sources.files.clone();
    Some(Sources { main, files })
}

/// The files for a host that an assembled definition lists.
pub(crate) fn given_files<'s>(root: &Node, sources: &'s Sources) -> Vec<(&'s str, &'s [u8])> {
    let paths: BTreeSet<&str> = gives(root).collect();
    let read = paths
        .into_iter()
        .filter_map(|path| sources.files.get_key_value(path));
    read.map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect()
}

fn gives(root: &Node) -> impl Iterator<Item = &str> {
    let items = root.get("gives").map(Node::items).unwrap_or_default();
    items
        .iter()
        .filter_map(Node::text)
        .filter(|path| is_below(path) && is_given(path))
}

/// Can a host use this file?
pub(crate) fn is_given(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    // A name that begins with a dot is hidden, or means another folder.
    let plain = parts.iter().all(|part| !part.starts_with('.'));
    let placed = match parts.as_slice() {
        ["agents" | "commands", _, ..] => path.ends_with(".md") && !path.ends_with("/.md"),
        ["skills", _, _, ..] => true,
        _ => false,
    };
    plain && placed
}

/// Is this path next to the definition or below it, on every system?
pub(crate) fn is_below(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "..";
    path.split('/').all(plain) && !path.contains(['\\', ':', '\0'])
}

/// Reads the bytes as a tree; what is wrong goes to `problems`.
pub(crate) fn parse(main: &SourceFile, problems: &mut Problems) -> Option<Node> {
    match prepare(main) {
        Ok((text, syntax)) => match syntax {
            Syntax::Toml => from_toml::parse(&main.name, &text, problems),
            Syntax::Json => from_json::parse(&main.name, &text, problems),
        },
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Checks the limits. The resulting text has the byte positions of the file.
fn prepare(main: &SourceFile) -> Result<(Cow<'_, str>, Syntax), Diagnostic> {
    if main.bytes.len() > MOST_BYTES {
        return Err(too_large(main));
    }
    let text = std::str::from_utf8(&main.bytes).map_err(|error| not_utf8(main, error))?;
    // Three spaces for a byte order mark keep every position.
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => Cow::Owned(format!("   {rest}")),
        None => Cow::Borrowed(text),
    };
    let syntax = syntax(&main.name, &text);
    match too_deep(&text, syntax) {
        Some(byte) => Err(nested_too_deep(main).at(&(byte..byte + 1))),
        None => Ok((text, syntax)),
    }
}

/// No TOML file begins with a brace, so the text itself decides, not the file name.
fn syntax(name: &str, text: &str) -> Syntax {
    if name.ends_with(".json") || text.trim_start().starts_with('{') {
        Syntax::Json
    } else {
        Syntax::Toml
    }
}

fn too_large(main: &SourceFile) -> Diagnostic {
    let message = format!(
        "the file has {} bytes, but only {MOST_BYTES} are allowed",
        main.bytes.len()
    );
    let hint = String::from("move long texts to their own files and refer to them");
    Diagnostic::new(LanguageRule::TooLarge, &main.name, message, hint)
}

fn not_utf8(main: &SourceFile, error: std::str::Utf8Error) -> Diagnostic {
    let byte = error.valid_up_to();
    let message = format!("the file is not valid UTF-8 at byte {byte}");
    let hint = String::from("save it as UTF-8");
    Diagnostic::new(LanguageRule::NotUtf8, &main.name, message, hint).at(&(byte..byte + 1))
}

fn nested_too_deep(main: &SourceFile) -> Diagnostic {
    let message = format!("this is nested more than {MOST_DEPTH} levels deep");
    let hint = String::from("write a flat file: one table per stage");
    Diagnostic::new(LanguageRule::TooDeep, &main.name, message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_a_definition_refers_to_are_listed_once() {
        let text = r#"
            artifacts.a.schema = "schemas/a.json"
            artifacts.b.schema = { type = "object" }
            artifacts.c.schema = "../outside.json"
            artifacts.d.schema = "/etc/passwd"
            stages.x = { agent = "x", prompt = "prompts/x.md" }
            gives = ["agents/x.md", "agents/x.md", "agents/../y.md", "other/z.md", "prompts/w.md"]
            protocol = "protocol.md"
            views.template = [{ file = "boards/a.md.j2", path = "a.md" }, { file = "../b.j2", path = "b" }]
            stages.y = { review = "x", prompt = "prompts/x.md", panel = [{ agent = "r", prompt = "r.md" }] }
        "#;
        let main = SourceFile {
            name: "p.toml".into(),
            bytes: text.into(),
        };
        assert_eq!(
            references(&main),
            [
                "agents/x.md",
                "boards/a.md.j2",
                "prompts/x.md",
                "protocol.md",
                "r.md",
                "schemas/a.json"
            ]
        );
    }

    #[test]
    fn a_host_is_given_what_the_definition_lists_and_nothing_else() {
        let text = r#"
            gives = ["skills/a/SKILL.md", "agents/x.md", "agents/gone.md", "../outside.md"]
            artifacts.b.schema = "agents/b.md"
        "#;
        let main = SourceFile {
            name: "p.toml".into(),
            bytes: text.into(),
        };
        let there = [
            "agents/b.md",
            "agents/x.md",
            "agents/y.md",
            "skills/a/SKILL.md",
            "../outside.md",
        ];
        let files = there.map(|path| (path.into(), path.into())).into();
        let sources = Sources { main, files };
        assert_eq!(
            crate::given_files(&sources),
            ["agents/x.md", "skills/a/SKILL.md"].map(|path| (path, path.as_bytes()))
        );
    }

    #[test]
    fn a_definition_gets_another_name_and_keeps_the_rest() {
        let name = PipelineName::parse("mine").unwrap();
        for (old, expected) in [
            (
                "name  = \"old\" # this\nabout = \"old\"",
                "name  = \"mine\" # this\nabout = \"old\"",
            ),
            ("about = 'x'\nname = 'old'", "about = 'x'\nname = \"mine\""),
            ("\u{feff}name = 'old'", "\u{feff}name = \"mine\""),
            (
                "{\"about\": \"\", \"name\": \"old\"}",
                "{\"about\": \"\", \"name\": \"mine\"}",
            ),
        ] {
            let main = SourceFile {
                name: "old".into(),
                bytes: old.into(),
            };
            let sources = Sources {
                main,
                files: BTreeMap::from([("a.md".into(), b"x".to_vec())]),
            };
            let renamed = renamed(&sources, &name).unwrap();
            assert_eq!(String::from_utf8_lossy(&renamed.main.bytes), expected);
            assert_eq!(renamed.files, sources.files);
        }
        for nameless in ["about = 'x'", "name = 3", "[[["] {
            let main = SourceFile {
                name: "old".into(),
                bytes: nameless.into(),
            };
            let files = BTreeMap::new();
            assert_eq!(renamed(&Sources { main, files }, &name), None, "{nameless}");
        }
    }

    #[test]
    fn a_broken_file_refers_to_nothing() {
        for bytes in [&b"[[["[..], b"\xff", b"a = ", b"{\"artifacts\": 1}", b""] {
            let main = SourceFile {
                name: "p".into(),
                bytes: bytes.into(),
            };
            assert_eq!(references(&main), Vec::<String>::new());
        }
    }

    #[test]
    fn only_paths_below_the_definition_are_read() {
        for (path, below) in [
            ("a.json", true),
            ("schemas/a.json", true),
            (".hidden/a", true),
            ("a..b/c", true),
            ("../a", false),
            ("a/../../b", false),
            ("/etc/passwd", false),
            ("C:\\a", false),
            ("a\\..\\b", false),
            ("./a", true),
            ("a//b", false),
            ("", false),
        ] {
            assert_eq!(is_below(path), below, "{path:?}");
        }
    }
}
