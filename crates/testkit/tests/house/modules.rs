//! The rule about the modules of a crate: they form layers, so no two top-level modules import each other, by whatever detour.

use std::collections::{BTreeMap, BTreeSet};

use crate::Rule;
use crate::imports::{Imports, RootUse, imports};
use crate::source::File;

/// What lies in `lib.rs` or `main.rs` itself. Its `pub use` only offers names to others: who imports
/// such a name imports the module that holds it.
const ROOT: &str = "the crate's root";

/// Every cycle between the top-level modules of a crate, with the imports that cause it.
pub(crate) fn cycles(files: &[File]) -> Vec<String> {
    let folders = source_folders(files).into_iter();
    let found = folders.flat_map(|folder| {
        let cycles = Graph::read(folder, files).cycles().into_iter();
        cycles.map(move |cycle| format!("{folder}: {cycle}"))
    });
    found.collect()
}

/// The folders with the sources of crates: `crates/engine/src/`.
fn source_folders(files: &[File]) -> BTreeSet<&str> {
    let roots = files.iter().filter_map(|file| {
        let folder = ["lib.rs", "main.rs"]
            .iter()
            .find_map(|root| file.path.strip_suffix(root))?;
        folder.ends_with("/src/").then_some(folder)
    });
    roots.collect()
}

/// Which top-level module imports which, with the first import that shows it.
#[derive(Default)]
struct Graph {
    edges: BTreeMap<String, BTreeMap<String, String>>,
}

impl Graph {
    fn read(folder: &str, files: &[File]) -> Self {
        let sources = sources(folder, files);
        let read = sources
            .iter()
            .map(|(module, file)| (module, *file, imports(module, &file.product_code())));
        let read: Vec<_> = read.collect();
        let inline = read.iter().flat_map(|(_, _, imports)| &imports.inline);
        let names = sources
            .iter()
            .map(|(module, _)| module)
            .chain(inline)
            .filter_map(|module| module.first().cloned())
            .collect();
        let root = read.iter().filter(|(module, _, _)| module.is_empty());
        let root = Root {
            modules: names,
            uses: root
                .flat_map(|(_, _, imports)| &imports.root_uses)
                .collect(),
        };
        let mut graph = Self::default();
        for (module, file, imports) in &read {
            graph.add(module.first(), file, imports, &root);
        }
        graph
    }

    fn add(&mut self, from: Option<&String>, file: &File, imports: &Imports, root: &Root<'_>) {
        let from = from.map_or(ROOT, String::as_str);
        let paths = imports
            .paths
            .iter()
            .map(|import| (&import.path, import.line));
        let private = imports.root_uses.iter().filter(|import| !import.is_public);
        let uses = private.map(|import| (&import.path, import.line));
        for (path, line) in paths.chain(uses) {
            let Some(to) = root.module_of(path, from) else {
                continue;
            };
            if to != from {
                let shown = format!("{}:{line} crate::{}", file.path, path.join("::"));
                let edges = self.edges.entry(from.to_owned()).or_default();
                edges.entry(to.to_owned()).or_insert(shown);
            }
        }
    }

    fn cycles(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut cycles = Vec::new();
        for module in self.edges.keys() {
            let ring: BTreeSet<_> = self
                .reached(module)
                .into_iter()
                .filter(|other| self.reached(other).contains(module.as_str()))
                .collect();
            if !ring.is_empty() && seen.insert(ring.clone()) {
                cycles.push(self.shown(&ring));
            }
        }
        cycles
    }

    fn reached<'a>(&'a self, from: &str) -> BTreeSet<&'a str> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            for to in self.edges.get(module).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(to.as_str()) {
                    open.push(to);
                }
            }
        }
        reached
    }

    fn shown(&self, ring: &BTreeSet<&str>) -> String {
        let names: Vec<_> = ring.iter().copied().collect();
        let mut text = format!("a cycle between {}", names.join(", "));
        for from in ring {
            for (to, import) in &self.edges[*from] {
                if ring.contains(to.as_str()) {
                    text += &format!("\n      {from} → {to}: {import}");
                }
            }
        }
        text
    }
}

/// What the names of the root module stand for.
struct Root<'a> {
    modules: BTreeSet<String>,
    uses: Vec<&'a RootUse>,
}

impl Root<'_> {
    /// The top-level module to which a path leads; nothing when it leads out of the crate.
    fn module_of<'b>(&'b self, path: &'b [String], from: &str) -> Option<&'b str> {
        let first = path.first()?;
        // A lone word in the root is a local name more often than the module of that name.
        if self.modules.contains(first) && (path.len() > 1 || from != ROOT) {
            return Some(first);
        }
        let Some(import) = self.uses.iter().find(|import| import.name == *first) else {
            return Some(ROOT);
        };
        let first = import.path.first()?;
        self.modules.contains(first).then_some(first)
    }
}

/// The files of a crate that are built without tests, each with the path of its module.
fn sources<'a>(folder: &str, files: &'a [File]) -> Vec<(Vec<String>, &'a File)> {
    let inside = files.iter().filter_map(|file| {
        let path = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
        Some((module_path(path), file))
    });
    let inside: Vec<_> = inside.filter(|(_, file)| !file.is_test()).collect();
    let mut hidden = Vec::new();
    for (module, file) in &inside {
        let names = file.test_modules().into_iter();
        hidden.extend(names.map(|name| [module.as_slice(), &[name.to_owned()]].concat()));
    }
    let is_hidden = |module: &Vec<String>| hidden.iter().any(|hidden| module.starts_with(hidden));
    inside
        .into_iter()
        .filter(|(module, _)| !is_hidden(module))
        .collect()
}

fn module_path(path: &str) -> Vec<String> {
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if matches!(path, "lib" | "main") {
        return Vec::new();
    }
    path.split('/').map(str::to_owned).collect()
}

#[test]
fn a_cycle_is_shown_with_the_imports_that_cause_it() {
    let files = [
        File::new(
            "crates/a/src/lib.rs",
            "mod one;\nmod three;\nmod two;\npub use three::Three;\n",
        ),
        File::new("crates/a/src/one.rs", "use crate::two::Two;\n"),
        File::new(
            "crates/a/src/two/deep.rs",
            "fn f() {\n    crate::Three::new()\n}\n",
        ),
        File::new("crates/a/src/three.rs", "\n\nuse super::{one, std};\n"),
        File::new("crates/b/src/lib.rs", "mod one;\n"),
        File::new("crates/b/src/one.rs", "fn f() {}\n"),
    ];
    let cycle = "crates/a/src/: a cycle between one, three, two\
        \n      one → two: crates/a/src/one.rs:1 crate::two::Two\
        \n      three → one: crates/a/src/three.rs:3 crate::one\
        \n      two → three: crates/a/src/two/deep.rs:2 crate::Three::new";
    assert_eq!(cycles(&files), [cycle]);
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[Rule {
    says: "the modules of a crate form layers, without a cycle",
    find: cycles,
    broken: &[
        &[
            ("crates/a/src/lib.rs", "mod one;\nmod two;\n"),
            ("crates/a/src/one.rs", "use crate::{three, two::Two};\n"),
            ("crates/a/src/two.rs", "fn f() { super::one::g() }\n"),
        ],
        &[
            (
                "xtask/src/main.rs",
                "mod one;\nmod two;\npub use two::deep::{Two as Second};\n",
            ),
            ("xtask/src/one.rs", "use crate::Second;\n"),
            (
                "xtask/src/two/deep.rs",
                "mod inner { use super::super::super::one::*; }\n",
            ),
        ],
        &[
            ("crates/a/src/lib.rs", "mod one;\npub fn f() { one::g() }\n"),
            ("crates/a/src/one.rs", "use crate::f;\n"),
        ],
        &[
            (
                "crates/a/src/lib.rs",
                "mod one;\npub use one::One;\npub fn f(one: One) {}\n",
            ),
            ("crates/a/src/one.rs", "use crate::f;\n"),
        ],
    ],
    kept: &[
        (
            "crates/a/src/lib.rs",
            "mod one;\n#[cfg(test)]\nmod try_out;\nmod two;\npub use one::One;\n",
        ),
        (
            "crates/a/src/one.rs",
            "// use crate::two;\n/* crate::two */\nconst A: &str = \"crate::two::A\";\n\
                 pub(in crate::two) fn g() {}\nfn f() -> impl Sized + use<'_> {}\n\
                 #[cfg(test)]\nuse crate::two::Two;\n#[cfg(test)]\nmod tests { use crate::two::Two; }\n",
        ),
        ("crates/a/src/one/tests.rs", "use crate::two::Two;\n"),
        ("crates/a/src/try_out.rs", "use crate::{one, two};\n"),
        (
            "crates/a/src/two.rs",
            "use crate::One;\nuse self::deep::Deep;\nuse super::try_out;\n",
        ),
        (
            "crates/a/src/two/deep.rs",
            "use super::Two;\nuse crate::one;\n",
        ),
        ("crates/a/tests/all.rs", "use crate::two;\n"),
    ],
}];
