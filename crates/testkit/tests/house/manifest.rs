//! Rules about manifests: licences, lints, the lock file, and the arrows between crates.

use toml::Table;

use crate::Rule;
use crate::source::File;

/// The maximum for the lock file. The commit that raises this number says what the new dependency saves
/// and what it brings along.
const MOST_PACKAGES: usize = 239;

/// Each one links the whole program again. A new topic is a module of one that is there.
const MOST_TEST_BINARIES: usize = 10;

const LICENCE: &str = "MIT OR Apache-2.0";

/// Our crates, and which of ours each may depend on. The picture is in ARCHITECTURE.md.
const ARROWS: [(&str, &[&str]); 17] = [
    ("engine", &[]),
    ("language", &["engine"]),
    ("hosts", &["engine"]),
    ("views", &["engine"]),
    ("evidence", &["engine"]),
    ("store", &["engine"]),
    ("pg_store", &["engine", "store"]),
    ("scenario", &["engine", "language", "views"]),
    ("runtime", BELOW_RUNTIME),
    ("runner", BELOW_RUNNER),
    ("install", BELOW_INSTALL),
    ("hook", BELOW_HOOK),
    ("tui", &["engine", "views", "runtime"]),
    ("web", BELOW_WEB),
    ("gatewright", PRODUCT),
    ("testkit", PRODUCT),
    ("xtask", PRODUCT),
];

const PRODUCT: &[&str] = &[
    "engine", "language", "hosts", "views", "evidence", "store", "pg_store", "scenario", "runtime",
    "runner", "install", "hook", "tui", "web",
];

const BELOW_RUNTIME: &[&str] = &["engine", "language", "hosts", "views", "evidence", "store"];

const BELOW_RUNNER: &[&str] = &["engine", "hosts", "views", "evidence", "store", "runtime"];

/// Guards are proved by playing a pipeline's scenarios, and doctor asks agent programs for their versions.
const BELOW_INSTALL: &[&str] = &[
    "engine", "language", "hosts", "views", "evidence", "store", "scenario", "runtime", "runner",
];

/// A hook decides through the runtime, and asks what `init` has installed. It drives no run and shows no screen.
const BELOW_HOOK: &[&str] = &[
    "engine", "hosts", "views", "evidence", "store", "runtime", "install",
];

/// The packages of others that a hook may use. Each process of a hook pays for what it brings.
const GUESTS_OF_HOOK: [&str; 3] = ["glob", "rustix", "serde_json"];

/// The page shows what the runtime gathers and the views say. It reads the runs of a store as they are.
const BELOW_WEB: &[&str] = &["engine", "views", "store", "runtime"];

/// A package's manifest.
struct Manifest<'a> {
    path: &'a str,
    name: String,
    table: Table,
}

fn manifests(files: &[File]) -> Vec<Manifest<'_>> {
    let manifests = files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"));
    let parsed = manifests.map(|file| (file, parse(&file.text)));
    let named = parsed.filter_map(|(file, table)| {
        let name = at(&table, "package.name")?.as_str()?.to_owned();
        Some(Manifest {
            path: &file.path,
            name,
            table,
        })
    });
    named.collect()
}

fn parse(text: &str) -> Table {
    text.parse()
        .unwrap_or_else(|problem| panic!("a manifest is no TOML: {problem}\n{text}"))
}

fn at<'a>(table: &'a Table, path: &str) -> Option<&'a toml::Value> {
    let mut keys = path.split('.');
    let first = table.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// The names of the packages that this package needs to be built, on any platform.
fn dependencies(table: &Table) -> Vec<String> {
    let platforms = table.get("target").and_then(toml::Value::as_table);
    let platforms = platforms
        .into_iter()
        .flat_map(Table::values)
        .filter_map(toml::Value::as_table);
    let tables = std::iter::once(table).chain(platforms);
    tables
        .flat_map(|table| names(table, &["dependencies", "build-dependencies"]))
        .collect()
}

fn names(table: &Table, sections: &[&str]) -> Vec<String> {
    let sections = sections
        .iter()
        .filter_map(|section| table.get(*section)?.as_table());
    let entries = sections.flat_map(Table::iter);
    let named = entries.map(|(key, value)| {
        value
            .get("package")
            .and_then(|name| name.as_str())
            .unwrap_or(key)
    });
    named.map(str::to_owned).collect()
}

/// A crate depends only on those of ours that the picture shows.
pub(crate) fn arrows(files: &[File]) -> Vec<String> {
    manifests(files).iter().flat_map(wrong_arrows).collect()
}

fn wrong_arrows(manifest: &Manifest<'_>) -> Vec<String> {
    let Manifest { path, name, table } = manifest;
    let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
        return vec![format!("{path}: the picture of the crates has no `{name}`")];
    };
    let ours = |dependency: &String| ARROWS.iter().any(|(known, _)| known == dependency);
    let built = dependencies(table).into_iter();
    let built = built.filter(|dependency| !allowed.contains(&dependency.as_str()));
    let tested = names(table, &["dev-dependencies"]).into_iter();
    let tested = tested
        .filter(|dependency| dependency != "testkit" && !allowed.contains(&dependency.as_str()));
    let wrong = built.chain(tested).filter(ours);
    wrong
        .map(|to| format!("{path}: {name} → {to} is no arrow of the picture"))
        .collect()
}

/// The engine is built from nothing but itself.
pub(crate) fn engine_alone(files: &[File]) -> Vec<String> {
    let manifests = manifests(files);
    let engine = manifests
        .iter()
        .filter(|manifest| manifest.name == "engine");
    let guests = engine.flat_map(|manifest| dependencies(&manifest.table));
    guests
        .map(|guest| format!("the engine depends on {guest}"))
        .collect()
}

/// A hook brings no argument parser, network, async runtime or log: its guests are on a list.
pub(crate) fn hook_guests(files: &[File]) -> Vec<String> {
    let manifests = manifests(files);
    let hook = manifests.iter().filter(|manifest| manifest.name == "hook");
    let guests = hook.flat_map(|manifest| dependencies(&manifest.table));
    let is_ours = |guest: &String| ARROWS.iter().any(|(known, _)| known == guest);
    let strange =
        guests.filter(|guest| !is_ours(guest) && !GUESTS_OF_HOOK.contains(&guest.as_str()));
    strange
        .map(|guest| format!("the hook depends on {guest}"))
        .collect()
}

/// Each package takes the workspace's lints, and these forbid `unsafe`.
pub(crate) fn lints(files: &[File]) -> Vec<String> {
    let root = files
        .iter()
        .find(|file| file.path == "Cargo.toml")
        .map(|file| parse(&file.text));
    let forbidden = root
        .as_ref()
        .and_then(|root| at(root, "workspace.lints.rust.unsafe_code")?.as_str());
    let root =
        (forbidden != Some("forbid")).then(|| "Cargo.toml: unsafe is not forbidden".to_owned());
    let manifests = manifests(files).into_iter();
    let free = manifests.filter(|manifest| !is_true(&manifest.table, "lints.workspace"));
    root.into_iter()
        .chain(free.map(|free| format!("{}: no `lints.workspace = true`", free.path)))
        .collect()
}

/// Each package has the licence of the whole, and the licence texts are there.
pub(crate) fn licences(files: &[File]) -> Vec<String> {
    let root = files
        .iter()
        .find(|file| file.path == "Cargo.toml")
        .map(|file| parse(&file.text));
    let licence = root
        .as_ref()
        .and_then(|root| at(root, "workspace.package.license")?.as_str());
    let mut found = Vec::new();
    if licence != Some(LICENCE) {
        found.push(format!("Cargo.toml: the licence is not {LICENCE}"));
    }
    for text in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !files.iter().any(|file| file.path == text) {
            found.push(format!("{text} is missing"));
        }
    }
    let manifests = manifests(files).into_iter();
    let own = manifests.filter(|manifest| !is_true(&manifest.table, "package.license.workspace"));
    found.extend(own.map(|own| format!("{}: no `license.workspace = true`", own.path)));
    found
}

fn is_true(table: &Table, path: &str) -> bool {
    at(table, path).and_then(toml::Value::as_bool) == Some(true)
}

/// The lock file stays short, and every package in it comes from the default registry.
pub(crate) fn lock_file(files: &[File]) -> Vec<String> {
    let default = concat!("registry+https://github.com/rust-lang/crates", ".io-index");
    let Some(lock) = files.iter().find(|file| file.path == "Cargo.lock") else {
        return vec!["Cargo.lock is missing".to_owned()];
    };
    let sources = lock
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("source = "));
    let strange = sources.filter(|source| source.trim_matches('"') != default);
    let mut found: Vec<_> = strange
        .map(|source| format!("Cargo.lock: a package of {source}"))
        .collect();
    let packages = lock
        .text
        .lines()
        .filter(|line| *line == "[[package]]")
        .count();
    if packages > MOST_PACKAGES {
        found.push(format!(
            "Cargo.lock: {packages} packages are more than {MOST_PACKAGES}"
        ));
    }
    found
}

/// There are few test binaries: `tests/NAME.rs` and `tests/NAME/main.rs` of each package are one each.
pub(crate) fn test_binaries(files: &[File]) -> Vec<String> {
    let binaries = files.iter().filter(|file| {
        let package = file.path.strip_prefix("crates/").unwrap_or(&file.path);
        let parts: Vec<&str> = package.split('/').collect();
        matches!(parts[..], [_, "tests", name] if name.ends_with(".rs"))
            || matches!(parts[..], [_, "tests", _, "main.rs"])
    });
    let count = binaries.count();
    let too_many = count > MOST_TEST_BINARIES;
    let told = format!("{count} test binaries are more than {MOST_TEST_BINARIES}");
    too_many.then_some(told).into_iter().collect()
}

/// A stranger who opens a crate reads first what it holds, what it may touch and where to begin.
pub(crate) fn readmes(files: &[File]) -> Vec<String> {
    const LINES: std::ops::RangeInclusive<usize> = 5..=15;
    let mut found = Vec::new();
    for manifest in manifests(files) {
        let path = manifest.path.replace("Cargo.toml", "README.md");
        match files.iter().find(|file| file.path == path) {
            None => found.push(format!("{path}: is missing")),
            Some(readme) if !LINES.contains(&readme.text.lines().count()) => {
                found.push(format!("{path}: has not five to fifteen lines"));
            }
            Some(_) => {}
        }
    }
    found
}

const LAWFUL: &str = "[workspace.package]\nlicense = \"MIT OR Apache-2.0\"\n\
                      [workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
const LAWFUL_CRATE: &str = "[package]\nname = \"views\"\nlicense.workspace = true\n\
                            [lints]\nworkspace = true\n";

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: "crates depend on each other only along the arrows",
        find: arrows,
        broken: &[
            &[(
                "crates/views/Cargo.toml",
                "package.name = \"views\"\n[dependencies]\nstore.workspace = true",
            )],
            &[(
                "crates/engine/Cargo.toml",
                "package.name = \"engine\"\n[build-dependencies]\nviews = \"1\"",
            )],
            &[(
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[target.'cfg(unix)'.dependencies]\nhosts = \"1\"",
            )],
            &[(
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[dependencies]\nx = { package = \"hosts\" }",
            )],
            &[(
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[dev-dependencies]\nevidence = \"1\"",
            )],
            &[(
                "crates/runner/Cargo.toml",
                "package.name = \"runner\"\n[dependencies]\nlanguage = \"1\"",
            )],
            &[(
                "crates/hook/Cargo.toml",
                "package.name = \"hook\"\n[dependencies]\npg_store = \"1\"",
            )],
            &[(
                "crates/hook/Cargo.toml",
                "package.name = \"hook\"\n[dependencies]\nrunner = \"1\"",
            )],
            &[(
                "crates/gatewright/Cargo.toml",
                "package.name = \"gatewright\"\n[dependencies]\ntestkit = \"1\"",
            )],
            &[("crates/new/Cargo.toml", "package.name = \"new\"")],
        ],
        kept: &[
            (
                "crates/runner/Cargo.toml",
                "package.name = \"runner\"\n[dependencies]\nstore = \"1\"\nserde = \"1\"",
            ),
            (
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[dev-dependencies]\ntestkit = \"1\"",
            ),
            (
                "crates/gatewright/Cargo.toml",
                "package.name = \"gatewright\"\n[dependencies]\nlanguage = \"1\"",
            ),
        ],
    },
    Rule {
        says: "the engine depends on nothing",
        find: engine_alone,
        broken: &[&[(
            "crates/engine/Cargo.toml",
            "package.name = \"engine\"\n[dependencies]\nserde = \"1\"",
        )]],
        kept: &[(
            "crates/engine/Cargo.toml",
            "package.name = \"engine\"\n[dev-dependencies]\nproptest = \"1\"",
        )],
    },
    Rule {
        says: "a hook uses only packages that cost it nothing",
        find: hook_guests,
        broken: &[&[(
            "crates/hook/Cargo.toml",
            "package.name = \"hook\"\n[dependencies]\nclap = \"1\"",
        )]],
        kept: &[
            (
                "crates/hook/Cargo.toml",
                "package.name = \"hook\"\n[dependencies]\nrustix = \"1\"\nruntime = \"1\"\n\
                 [dev-dependencies]\ntempfile = \"3\"",
            ),
            (
                "crates/gatewright/Cargo.toml",
                "package.name = \"gatewright\"\n[dependencies]\nclap = \"4\"",
            ),
        ],
    },
    Rule {
        says: "every crate takes the workspace's lints, which forbid unsafe",
        find: lints,
        broken: &[
            &[
                ("Cargo.toml", LAWFUL),
                ("crates/views/Cargo.toml", "package.name = \"views\""),
            ],
            &[(
                "Cargo.toml",
                "[workspace.lints.rust]\nunsafe_code = \"deny\"",
            )],
        ],
        kept: &[
            ("Cargo.toml", LAWFUL),
            ("crates/views/Cargo.toml", LAWFUL_CRATE),
        ],
    },
    Rule {
        says: "every crate has a README of five to fifteen lines",
        find: readmes,
        broken: &[
            &[("crates/views/Cargo.toml", LAWFUL_CRATE)],
            &[
                ("crates/views/Cargo.toml", LAWFUL_CRATE),
                ("crates/views/README.md", "# views\n"),
            ],
        ],
        kept: &[
            ("crates/views/Cargo.toml", LAWFUL_CRATE),
            (
                "crates/views/README.md",
                "# views\n\nText.\n\n- It is pure.\n",
            ),
        ],
    },
    Rule {
        says: "every crate has the licence of the whole",
        find: licences,
        broken: &[
            &[("Cargo.toml", LAWFUL), ("LICENSE-MIT", "")],
            &[
                ("Cargo.toml", ""),
                ("LICENSE-MIT", ""),
                ("LICENSE-APACHE", ""),
            ],
            &[
                ("Cargo.toml", LAWFUL),
                ("LICENSE-MIT", ""),
                ("LICENSE-APACHE", ""),
                (
                    "crates/views/Cargo.toml",
                    "[package]\nname = \"views\"\nlicense = \"MIT\"",
                ),
            ],
        ],
        kept: &[
            ("Cargo.toml", LAWFUL),
            ("LICENSE-MIT", ""),
            ("LICENSE-APACHE", ""),
            ("crates/views/Cargo.toml", LAWFUL_CRATE),
        ],
    },
    Rule {
        says: "the lock file is short and names one registry",
        find: lock_file,
        broken: &[
            &[("README.md", "")],
            &[(
                "Cargo.lock",
                "source = \"registry+https://mirror.example/index\"",
            )],
            &[("Cargo.lock", "source = \"git+https://git.example/a\"")],
            &[("Cargo.lock", "⟨999 packages⟩")],
        ],
        kept: &[("Cargo.lock", "[[package]]\n[[package]]\n")],
    },
    Rule {
        says: "there are at most ten integration test binaries",
        find: test_binaries,
        broken: &[&[
            ("crates/a/tests/a.rs", ""),
            ("crates/a/tests/b.rs", ""),
            ("crates/a/tests/c.rs", ""),
            ("crates/a/tests/d/main.rs", ""),
            ("crates/b/tests/a.rs", ""),
            ("crates/b/tests/b.rs", ""),
            ("crates/b/tests/c.rs", ""),
            ("crates/b/tests/d/main.rs", ""),
            ("xtask/tests/a.rs", ""),
            ("xtask/tests/b.rs", ""),
            ("xtask/tests/c/main.rs", ""),
        ]],
        kept: &[
            ("crates/a/tests/a.rs", ""),
            ("crates/a/tests/b/main.rs", ""),
            ("crates/a/tests/b/c.rs", ""),
            ("crates/a/tests/b/d/mod.rs", ""),
            ("crates/a/tests/b/e.rs", ""),
            ("crates/a/tests/b/f.rs", ""),
            ("crates/a/tests/b/g.rs", ""),
            ("crates/a/tests/b/h.rs", ""),
            ("crates/a/src/b/tests/main.rs", ""),
            ("crates/a/src/tests/main.rs", ""),
            ("crates/a/src/c.rs", ""),
            ("crates/a/src/d.rs", ""),
        ],
    },
];
