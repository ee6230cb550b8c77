//! Rules about how each file reads: its first line, its length, its names, and words that are not used.

use crate::source::{File, body_end};

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 60;
/// How long an arm of a pure dispatch may be, with its pattern.
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

/// Is the body one `match` with short arms, after at most one line? It reads the indentation, which
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
        arm = if starts_arm { 1 } else { arm + 1 };
        match (is_inside, arm > LONGEST_ARM) {
            (true, true) => return false,
            (true, false) => {}
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
