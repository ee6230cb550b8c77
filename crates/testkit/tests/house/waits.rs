//! How tests wait: they watch for a thing with `testkit::until`, or say why time must pass.

use crate::Rule;
use crate::source::File;

/// A test that sleeps has a comment on the line above.
pub(crate) fn unexplained_sleeps(files: &[File]) -> Vec<String> {
    let tests = files.iter().filter(|file| file.is_rust() && file.is_test());
    tests.flat_map(sleeps_of).collect()
}

fn sleeps_of(file: &File) -> Vec<String> {
    let (mut found, mut above) = (Vec::new(), "");
    for (index, (code, line)) in file.code.lines().zip(file.text.lines()).enumerate() {
        if code.contains("thread::sleep(") && !above.trim_start().starts_with("//") {
            found.push(format!("{}:{}", file.path, index + 1));
        }
        above = line;
    }
    found
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[Rule {
    says: "a test watches for a thing with testkit::until, or says above its sleep why time must pass",
    find: unexplained_sleeps,
    broken: &[
        &[(
            "crates/a/tests/one.rs",
            "fn waits() {\n    while !is_there() {\n        std::thread::sleep(SHORT);\n    }\n}\n",
        )],
        &[(
            "crates/a/src/tests/one.rs",
            "// Waits.\nfn waits() {\n    thread::sleep(SHORT);\n}\n",
        )],
    ],
    kept: &[
        (
            "crates/a/tests/one.rs",
            "fn passes() {\n    // Time is the subject.\n    thread::sleep(SHORT);\n    let text = \"thread::sleep(\";\n}\n",
        ),
        (
            "crates/a/src/one.rs",
            "fn turn() {\n    thread::sleep(SHORT);\n}\n",
        ),
    ],
}];
