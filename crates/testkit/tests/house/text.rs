//! Rules about how each file reads: its first line, its length, its names, and words that are not used.

use crate::Rule;
use crate::source::{File, body_end};

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 60;
/// How long an arm of a pure dispatch may be. The alternatives of its pattern are a list, however long.
const LONGEST_ARM: usize = 12;

/// Every Rust file opens with `//!` and a sentence that says what it is for.
pub(crate) fn opening(files: &[File]) -> Vec<String> {
    let rust = files.iter().filter(|file| file.is_rust());
    let silent = rust.filter(|file| !opens_with_a_sentence(&file.text));
    silent
        .map(|file| format!("{}: the first line is no `//!` sentence", file.path))
        .collect()
}

fn opens_with_a_sentence(text: &str) -> bool {
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    let first = paragraph.chars().next();
    first.is_some_and(|c| c.is_uppercase() || c == '`') && paragraph.ends_with(['.', ':', '?'])
}

/// No file is longer than a topic.
pub(crate) fn file_length(files: &[File]) -> Vec<String> {
    let rust = files.iter().filter(|file| file.is_rust());
    let lengths = rust.map(|file| (file, file.text.lines().count()));
    let long = lengths.filter(|(_, lines)| *lines > LONGEST_FILE);
    long.map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect()
}

/// No function is longer than a thought. A test may be: it is mostly a table. So may a pure dispatch: one
/// `match` with short arms.
pub(crate) fn function_length(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.is_test()) {
        let code = file.product_code();
        let long = functions(&code)
            .into_iter()
            .filter(|(_, lines)| *lines > LONGEST_FUNCTION);
        found.extend(
            long.map(|(name, lines)| format!("{}: fn {name} has {lines} lines", file.path)),
        );
    }
    found
}

/// The functions with a body, and how many lines each has. A rough scan: it counts braces.
fn functions(code: &str) -> Vec<(&str, usize)> {
    let starts = code
        .match_indices("fn ")
        .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    starts
        .filter_map(|(at, found)| measure(&code[at + found.len()..]))
        .collect()
}

fn measure(function: &str) -> Option<(&str, usize)> {
    let named = function.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let end = body_end(function)?;
    let lines = if is_dispatch(&function[..end]) {
        0
    } else {
        function[..end].lines().count()
    };
    (named > 0).then_some((&function[..named], lines))
}

/// Is the body one `match` with short arms, after at most one line and before a bare `Ok(())`? It reads the indentation, which
/// the formatter makes.
fn is_dispatch(function: &str) -> bool {
    let mut lines = function.lines().skip_while(|line| !line.ends_with('{'));
    let mut body = lines.by_ref().skip(1).take(2);
    let Some(head) = body.find(|line| line.trim_start().starts_with("match ")) else {
        return false;
    };
    let indent = head.len() - head.trim_start().len();
    let margin = " ".repeat(indent + 4);
    let (mut arm, mut after) = (0, 0);
    for line in lines {
        let starts_arm = line
            .strip_prefix(&margin)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        let is_inside = line.trim().is_empty() || line.starts_with(&margin);
        let is_alternative = line.trim_start().starts_with("| ");
        arm = if starts_arm {
            1
        } else {
            arm + usize::from(!is_alternative)
        };
        match (is_inside, arm > LONGEST_ARM) {
            (true, true) => return false,
            (true, false) => {}
            (false, _) if line.trim() == "Ok(())" => {}
            (false, _) => after += 1,
        }
    }
    // The closing braces of the `match` and of the function.
    after <= 2
}

/// Names that say nothing are not used for files, folders and modules.
pub(crate) fn empty_names(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let path = file.path.trim_end_matches(".rs").split('/');
        let named = path
            .chain(modules(&file.code))
            .find(|name| says_nothing(name));
        found.extend(named.map(|name| format!("{}: the name `{name}` says nothing", file.path)));
    }
    found
}

/// The marks of a merge that nobody has finished.
pub(crate) fn merges(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let mut lines = file.text.lines().zip(1..);
        let marked =
            lines.find(|(line, _)| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "));
        found.extend(
            marked.map(|(_, number)| format!("{}:{number}: the mark of a merge", file.path)),
        );
    }
    found
}

fn modules(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines().map(str::trim);
    lines
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "))
        .map(|rest| rest.trim_end_matches([' ', ';', '{', '}']))
}

fn says_nothing(name: &str) -> bool {
    const EMPTY: [&str; 13] = [
        "util",
        "utils",
        "helper",
        "helpers",
        "manager",
        "managers",
        "handler",
        "handlers",
        "processor",
        "common",
        "misc",
        "core",
        "types",
    ];
    name.split(['_', '-', '.'])
        .any(|word| EMPTY.contains(&word.to_lowercase().as_str()))
}

/// What is unfinished, left over or silenced does not go in. `#[expect(…)]` tells when it has become needless.
pub(crate) fn leftovers(files: &[File]) -> Vec<String> {
    const LEFT_OVER: [&str; 6] = [
        "todo!",
        "unimplemented!",
        "dbg!",
        "#[ignore",
        "#[allow(",
        "#![allow(",
    ];
    each_line(files, |line| {
        LEFT_OVER.into_iter().find(|word| line.contains(word))
    })
}

/// Only `output.rs` of the command prints; tests and developers' tools may.
pub(crate) fn printing(files: &[File]) -> Vec<String> {
    let silent = files.iter().filter(|file| !may_print(&file.path));
    silent
        .flat_map(|file| each_line(std::slice::from_ref(file), prints))
        .collect()
}

fn may_print(path: &str) -> bool {
    path == "crates/gatewright/src/output.rs"
        || ["xtask/", "crates/testkit/"]
            .iter()
            .any(|folder| path.starts_with(folder))
        || ["/tests/", "/benches/", "/examples/"]
            .iter()
            .any(|folder| path.contains(folder))
}

fn prints(line: &str) -> Option<&'static str> {
    const PRINTS: [&str; 8] = [
        "println!",
        "print!",
        "eprintln!",
        "eprint!",
        "stdout()",
        "stderr()",
        "io::stdout",
        "io::stderr",
    ];
    // A method of this name is a pipe of a child or of a test's result.
    PRINTS.into_iter().find(|word| {
        line.match_indices(word)
            .any(|(at, _)| !line[..at].ends_with(['.', '_']))
    })
}

fn each_line(files: &[File], find: impl Fn(&str) -> Option<&'static str>) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (number, line) in file.code.lines().enumerate() {
            let word = find(line);
            found.extend(word.map(|word| format!("{}:{}: {word}", file.path, number + 1)));
        }
    }
    found
}

/// The repository is at home everywhere: it names no folder of the machine on which it was made, nor
/// of the one on which it is tested, and no package registry. Made-up folders are fine.
pub(crate) fn places(files: &[File]) -> Vec<String> {
    // Taken apart, so that this file keeps its own rule.
    const PLACES: [&str; 6] = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/main"),
        concat!("/wo", "rk/shared"),
        concat!("crates", ".io"),
        concat!("npm", "js."),
        concat!("py", "pi.org"),
    ];
    let here = env!("CARGO_MANIFEST_DIR").trim_end_matches("/crates/testkit");
    // A root like `/src` is too short to be told apart from the end of a longer path.
    let here = Some(here).filter(|here| here.matches('/').count() > 1);
    let mut found = Vec::new();
    // The lock file names the default registry; `manifest::lock_file` sees to it that it names no other.
    for file in files.iter().filter(|file| file.path != "Cargo.lock") {
        let places = PLACES
            .into_iter()
            .chain(here)
            .filter(|place| file.text.contains(place));
        found.extend(places.map(|place| format!("{}: mentions {place}", file.path)));
    }
    found
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: "every Rust file opens with a sentence that says what it is for",
        find: opening,
        broken: &[
            &[("a.rs", "fn a() {}\n")],
            &[("a.rs", "//!\n")],
            &[("a.rs", "//! todo\n")],
            &[("a.rs", "// Comment.\n")],
        ],
        kept: &[
            (
                "a.rs",
                "//! What it is for,\n//! over two lines.\n\nfn a() {}\n",
            ),
            ("a.md", "# A\n"),
        ],
    },
    Rule {
        says: "no file has more than 600 lines",
        find: file_length,
        broken: &[&[("a.rs", "⟨601 lines⟩")]],
        kept: &[("a.rs", "⟨61 lines⟩"), ("a.md", "⟨601 lines⟩")],
    },
    Rule {
        says: "no function has more than 60 lines",
        find: function_length,
        broken: &[
            &[("a.rs", "pub fn long(a: [u8; 2]) -> u8 { ⟨61 lines⟩ }")],
            &[(
                "a.rs",
                "impl A { fn f() { let a = '{'; if b { ⟨61 lines⟩ } } }",
            )],
            &[("a.rs", "#[cfg(test)]\nmod tests;\nfn long() { ⟨61 lines⟩ }")],
            &[(
                "a.rs",
                "fn a(a: A) {\n    match a {\n        A::B => {\n⟨61 lines⟩        }\n    }\n}",
            )],
            &[(
                "a.rs",
                "fn a(a: A) {\n    match a {\n⟨61 arms⟩    }\n    more();\n}",
            )],
        ],
        kept: &[
            (
                "a.rs",
                "fn a() {} ⟨61 lines⟩ trait B { fn b(); } ⟨61 lines⟩ fn c() {}",
            ),
            (
                "b.rs",
                "#[cfg(test)]\nmod tests { fn table() { ⟨61 lines⟩ } }",
            ),
            ("crates/a/tests/b.rs", "fn table() { ⟨61 lines⟩ }"),
            ("c.rs", "fn c(a: A) {\n    match a {\n⟨61 arms⟩    }\n}"),
            (
                "e.rs",
                "fn e(a: A) {\n    match a {\n        A::A\n⟨61 alternatives⟩        | A::C => c(),\n    }\n}",
            ),
            (
                "d.rs",
                "fn d(a: A) -> R {\n    match a {\n⟨61 arms⟩    }\n    Ok(())\n}",
            ),
        ],
    },
    Rule {
        says: "no file, folder or module has a name that says nothing",
        find: empty_names,
        broken: &[
            &[("crates/store/src/utils.rs", "")],
            &[("crates/core/src/lib.rs", "")],
            &[("src/hook_handler.rs", "")],
            &[("src/a.rs", "pub mod helpers;")],
            &[("src/a.rs", "mod tests { mod common { } }\nmod misc {")],
        ],
        kept: &[("src/score.rs", "// mod util;\nmod hooks;\nfn handler() {}")],
    },
    Rule {
        says: "nothing unfinished, left over or silenced",
        find: leftovers,
        broken: &[
            &[("a.rs", "fn a() { todo!() }")],
            &[("a.rs", "fn a() { unimplemented!() }")],
            &[("a.rs", "fn a() { dbg!(1); }")],
            &[("a.rs", "#[test]\n#[ignore]\nfn a() {}")],
            &[("a.rs", "#[ignore = \"slow\"]\nfn a() {}")],
            &[("a.rs", "#[allow(dead_code)]\nfn a() {}")],
            &[("a.rs", "#![allow(dead_code)]\n")],
        ],
        kept: &[(
            "a.rs",
            "// todo!\n#[expect(dead_code)]\nfn a() { f(\"dbg!\") }",
        )],
    },
    Rule {
        says: "no merge is left half done",
        find: merges,
        broken: &[
            &[("a.md", "- one\n<<<<<<< HEAD\n- two\n")],
            &[("a.rs", "fn a() {}\n>>>>>>> 1234567 (a: b)\n")],
        ],
        kept: &[("a.md", "A heading\n=======\nand `<<<<<<< HEAD` in a line\n")],
    },
    Rule {
        says: "only output.rs prints",
        find: printing,
        broken: &[
            &[("crates/gatewright/src/main.rs", "fn a() { println!(); }")],
            &[("crates/gatewright/src/main.rs", "fn a() { eprint!(); }")],
            &[("crates/store/src/lib.rs", "use std::io::stdout;")],
            &[("crates/store/src/lib.rs", "fn a() { stderr().write(b); }")],
        ],
        kept: &[
            ("crates/gatewright/src/output.rs", "fn a() { println!(); }"),
            ("crates/store/tests/a.rs", "fn a() { println!(); }"),
            (
                "crates/store/src/a.rs",
                "fn a() { child.stdout(piped()); b.stdout(); }",
            ),
        ],
    },
    Rule {
        says: "no folder of a machine, no registry",
        find: places,
        broken: &[
            &[(
                "README.md",
                concat!("see ", env!("CARGO_MANIFEST_DIR"), "/x"),
            )],
            &[("a.rs", concat!("// /ro", "ot/x"))],
            &[("a.md", concat!("from crates", ".io"))],
        ],
        kept: &[
            (
                "README.md",
                "see ~/x and /home/ann/web, the rooted tree and the homely crate",
            ),
            ("a.rs", "// /usr/bin/env"),
        ],
    },
];
