//! The language from outside: what it says about bad files, hostile files and its own pipelines.

#![expect(
    clippy::expect_used,
    reason = "clippy knows tests by their attribute, and these functions are called by tests"
)]
mod builtins;
mod diagnostics;
mod gives;
mod hostile;
mod places;
mod uses;

use std::collections::BTreeMap;

use language::{Colour, Compiled, Diagnostic, SourceFile, Sources, compile};

/// Compiles a text with these files beside it.
fn compiled(
    name: &str,
    bytes: &[u8],
    files: &[(&str, &[u8])],
) -> Result<Compiled, Vec<Diagnostic>> {
    let main = SourceFile {
        name: name.into(),
        bytes: bytes.into(),
    };
    let files = files
        .iter()
        .map(|(path, bytes)| (String::from(*path), bytes.to_vec()));
    compile(&Sources {
        main,
        files: files.collect::<BTreeMap<_, _>>(),
    })
}

/// What people would read.
fn said(problems: &[Diagnostic], text: &str) -> String {
    let said = problems
        .iter()
        .map(|problem| problem.render(text, Colour::Plain));
    said.collect::<Vec<_>>().join("\n")
}
