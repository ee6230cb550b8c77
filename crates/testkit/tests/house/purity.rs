//! Rules about the pure crates: no clock, file, process or network is in reach of them.

use toml::Table;

use crate::Rule;
use crate::source::{File, body_end};

/// Crates that use `std` and still promise to touch nothing.
const PURE: [&str; 4] = ["language", "hosts", "scenario", "views"];

/// What the `clippy.toml` of a pure crate forbids at least.
const FORBIDDEN: [&str; 24] = [
    "std::fs::File",
    "std::fs::OpenOptions",
    "std::process::Command",
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::read_dir",
    "std::fs::metadata",
    "std::fs::write",
    "std::fs::rename",
    "std::fs::remove_file",
    "std::fs::create_dir_all",
    "std::env::var",
    "std::env::var_os",
    "std::env::vars",
    "std::env::args",
    "std::env::current_dir",
    "std::thread::spawn",
    "std::thread::sleep",
    "std::io::stdin",
];

/// The engine is `no_std` and stays away from `std` in every file outside its tests.
pub(crate) fn engine_without_std(files: &[File]) -> Vec<String> {
    let engine = files
        .iter()
        .filter(|file| file.path.starts_with("crates/engine/src/") && !file.is_test());
    let mut found = Vec::new();
    for file in engine {
        let code = file.product_code();
        if file.path.ends_with("/src/lib.rs") && !code.contains("#![no_std]") {
            found.push(format!("{}: no `#![no_std]`", file.path));
        }
        if code.contains("extern crate std") || uses(&code, "std::") {
            found.push(format!("{}: reaches for std", file.path));
        }
    }
    found
}

/// A pure crate names nothing of `std` that reaches outside.
pub(crate) fn pure_sources(files: &[File]) -> Vec<String> {
    const OUTSIDE: [&str; 5] = ["fs", "process", "net", "env", "thread"];
    let pure = files.iter().filter(|file| {
        PURE.iter()
            .any(|name| file.path.starts_with(&format!("crates/{name}/src/")))
    });
    let mut found = Vec::new();
    for file in pure {
        let code = file.product_code();
        let modules = OUTSIDE
            .into_iter()
            .filter(|module| names_module(&code, module));
        let clocks = ["SystemTime", "Instant"]
            .into_iter()
            .filter(|clock| uses(&code, clock));
        found.extend(
            modules
                .chain(clocks)
                .map(|word| format!("{}: names {word}", file.path)),
        );
    }
    found
}

/// `std::fs`, or `fs` inside `std::{…}`.
fn names_module(code: &str, module: &str) -> bool {
    let grouped = code.match_indices("std::{").any(|(at, _)| {
        let group = &code[at + "std::".len()..];
        body_end(group).is_some_and(|end| uses(&group[..end], module))
    });
    grouped || uses(code, &format!("std::{module}"))
}

/// The word is there, and is not a part of a longer one.
fn uses(code: &str, word: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        !before.ends_with(in_name) && (word.ends_with(':') || !after.starts_with(in_name))
    })
}

/// Each pure crate has clippy watch over what it calls.
pub(crate) fn pure_lints(files: &[File]) -> Vec<String> {
    let has_crate = |name: &&str| {
        files
            .iter()
            .any(|file| file.path == format!("crates/{name}/Cargo.toml"))
    };
    PURE.into_iter()
        .filter(has_crate)
        .flat_map(|name| missing_lints(name, files))
        .collect()
}

fn missing_lints(name: &str, files: &[File]) -> Vec<String> {
    let path = format!("crates/{name}/clippy.toml");
    let file = files.iter().find(|file| file.path == path);
    let forbidden = file.map(|file| forbidden(&file.text)).unwrap_or_default();
    let missing = FORBIDDEN
        .into_iter()
        .filter(|call| !forbidden.iter().any(|known| known == call));
    missing
        .map(|call| format!("{path}: does not forbid {call}"))
        .collect()
}

fn forbidden(text: &str) -> Vec<String> {
    let table: Table = text.parse().unwrap_or_default();
    let lists = ["disallowed-types", "disallowed-methods"];
    let lists = lists.iter().filter_map(|list| table.get(*list)?.as_array());
    let paths = lists
        .flatten()
        .filter_map(|entry| entry.get("path").unwrap_or(entry).as_str());
    paths.map(str::to_owned).collect()
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: "the engine does without std",
        find: engine_without_std,
        broken: &[
            &[("crates/engine/src/lib.rs", "extern crate alloc;")],
            &[("crates/engine/src/run.rs", "extern crate std;")],
            &[("crates/engine/src/run.rs", "use std::time::Instant;")],
            &[(
                "crates/engine/src/run.rs",
                "#[cfg(test)]\nmod tests;\nfn a() { ::std::fs::read(b) }",
            )],
        ],
        kept: &[
            (
                "crates/engine/src/lib.rs",
                "#![no_std]\nextern crate alloc;",
            ),
            (
                "crates/engine/src/run.rs",
                "// std::fs\n#[cfg(test)]\nmod tests { use std::fs; }",
            ),
        ],
    },
    Rule {
        says: "a pure crate names nothing that reaches outside",
        find: pure_sources,
        broken: &[
            &[("crates/language/src/a.rs", "use std::fs;")],
            &[(
                "crates/views/src/a.rs",
                "use std::{collections::BTreeMap, env};",
            )],
            &[("crates/hosts/src/a.rs", "use std::{io, process::{self}};")],
            &[("crates/hosts/src/a.rs", "fn a() { ::std::net::b() }")],
            &[("crates/views/src/a.rs", "use std::time::SystemTime;")],
            &[("crates/views/src/a.rs", "fn a(b: Instant) {}")],
        ],
        kept: &[
            ("crates/store/src/a.rs", "use std::fs;"),
            (
                "crates/views/src/a.rs",
                "use std::{fmt, iter};\nstruct Instantly;\nconst A: &str = env!(\"B\");",
            ),
        ],
    },
    Rule {
        says: "clippy watches over what a pure crate calls",
        find: pure_lints,
        broken: &[
            &[("crates/hosts/Cargo.toml", "")],
            &[
                ("crates/hosts/Cargo.toml", ""),
                (
                    "crates/hosts/clippy.toml",
                    "disallowed-methods = [\"std::fs::read\"]",
                ),
            ],
        ],
        kept: &[("crates/store/Cargo.toml", "")],
    },
];
