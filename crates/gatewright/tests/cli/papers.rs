//! What the papers tell people to type works, in the order in which they tell it.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::Project;

use crate::fixture::PROGRAM;

/// A fenced block of a page: the words behind the fence, and what stands in it.
struct Block {
    words: Vec<String>,
    text: String,
    line: usize,
}

impl Block {
    fn is(&self, language: &str) -> bool {
        self.words.first().is_some_and(|word| word == language)
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.words
            .iter()
            .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
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
            (None, Some(block)) => {
                open = Some(Block {
                    text: format!("{}{line}\n", block.text),
                    ..block
                });
            }
            (None, None) => {}
        }
    }
    blocks
}

/// From the source tree one types `cargo run --release --`; here the program is already built.
fn as_installed(text: &str) -> String {
    text.replace("cargo run --release --", "gatewright")
}

fn play(name: &str) -> usize {
    let page = fs::read_to_string(root().join(name)).unwrap();
    let project = Project::new(PROGRAM);
    let mut played = 0;
    for block in blocks(&page) {
        if let Some(file) = block.value("file") {
            project.write(file, &block.text);
        }
        if !block.is("sh") || block.text.trim() == "cargo xtask test" {
            continue;
        }
        let wanted = block.value("exit").unwrap_or("0");
        let text = as_installed(&block.text);
        let ran = match block.value("types") {
            Some(typed) => at_a_terminal(&project, &text, typed),
            None => shell(&project, &text),
        };
        assert_eq!(
            ran.0.to_string(),
            wanted,
            "{name}:{}\n{}\n{}",
            block.line,
            block.text,
            ran.1
        );
        played += 1;
    }
    played
}

/// A person types a line, and then the word that they are asked for.
fn at_a_terminal(project: &Project, line: &str, typed: &str) -> (i32, String) {
    let line = line.trim().replacen("gatewright", PROGRAM, 1);
    let ran = project.person_at(&line, &format!("{typed}\n"));
    (ran.code.unwrap_or(-1), ran.stdout)
}

/// Runs the lines in order; all but the last must succeed.
fn shell(project: &Project, script: &str) -> (i32, String) {
    let program = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.display());
    let output = project.shell(script).env("PATH", path).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

#[test]
fn the_tour_of_the_readme_works_as_it_is_told() {
    assert!(play("README.md") >= 8, "the tour has lost its commands");
}

#[test]
fn the_test_command_of_the_readme_is_what_the_checks_run() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let checks = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(readme.contains("\ncargo xtask test\n"));
    assert!(checks.contains("cargo xtask test"));
}

#[test]
fn every_example_of_the_language_page_is_toml() {
    let page = fs::read_to_string(root().join("docs/language.md")).unwrap();
    let examples: Vec<Block> = blocks(&page)
        .into_iter()
        .filter(|block| block.is("toml"))
        .collect();
    assert!(examples.len() > 10);
    for block in examples {
        let project = Project::new(PROGRAM);
        project.write("example.toml", &block.text);
        let ran = project.run(["lint", "example.toml", "--json"]);
        // A fragment is no whole definition, but it is TOML and knows only keys of the language.
        for code in [
            "GW-L104", "GW-L105", "GW-L110", "GW-L111", "GW-L113", "GW-L114",
        ] {
            assert!(
                !ran.stdout.contains(code),
                "docs/language.md:{}\n{ran}",
                block.line
            );
        }
    }
}
