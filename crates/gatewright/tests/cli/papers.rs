//! What the papers tell people to type works, in the order in which they tell it, and what they
//! quote is what is said.
//!
//! Each page is played in a project of its own, in which the pipeline of the tutorial and the examples lie.
//! The words behind a fence say how:
//!
//! - `afresh`: what follows is played in a new project;
//! - `sh`: run it; `exit=1` is the code that it ends with, `types=yes` what a person types then,
//!   `given=run` has a run by hand begun before;
//! - `file=NAME`: a file of the project;
//! - `session=NAME`: a session is played here by its hooks, and the block quotes from it;
//! - `hook=EVENT`: a payload of such a session, and `answer=CODE` what the hook then printed;
//! - `picture=NAME`: the block shows the run of the demo, and the test of the demo compares it;
//! - `said`: the block quotes what was said before;
//! - `because=REASON`: a command stands there that no test runs.

mod page;
mod schedules;
mod session;
mod stories;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::{Project, Ran};

use crate::fixture::PROGRAM;
use page::{Block, Page, pages, root};
use session::Session;

/// Why a command may stand in a page and be run by no test.
const REASONS: [&str; 4] = [
    // It starts Claude Code, or is typed in it.
    "claude-code",
    // Words in capitals stand for others.
    "shape",
    // It is run by the tests of the whole repository, or builds it.
    "development",
    // It needs a program or an account that the machine of a test need not have.
    "elsewhere",
];

/// A page while it is played.
struct Play {
    project: Project,
    /// All that was printed and said so far.
    heard: String,
    /// What the latest hook answered.
    answered: Option<Ran>,
}

impl Play {
    fn new() -> Self {
        let project = Project::new(PROGRAM);
        project.write("greeting.toml", greeting());
        copy(&root().join("examples"), &project.path().join("examples"));
        Self {
            project,
            heard: String::new(),
            answered: None,
        }
    }

    /// Plays a block; tells whether anything was run.
    fn block(&mut self, block: &Block) -> Result<bool, String> {
        if let Some(file) = block.value("file") {
            self.project.write(file, &block.text);
        }
        if let Some(story) = block.value("session") {
            let heard = stories::play(story, &self.project);
            self.heard.push_str(&heard);
        }
        if let Some(event) = block.value("hook") {
            let session = Session::new(&self.project, stories::SESSION);
            self.answered = Some(session.fed(event, block.text.trim_end()));
        }
        if let Some(code) = block.value("answer") {
            self.is_answered(code, block)?;
        }
        if block.is("said") || block.value("session").is_some() {
            self.is_said(&block.text)?;
        }
        if block.is("sh") && block.value("because").is_none() {
            self.run(block).map(|()| true)
        } else {
            Ok(block.value("session").or(block.value("hook")).is_some())
        }
    }

    /// The hook ended with this code and printed what stands in the block.
    fn is_answered(&self, code: &str, block: &Block) -> Result<(), String> {
        let ran = self.answered.as_ref().expect("a payload stands before");
        let printed = [ran.stdout.as_str(), ran.stderr.as_str()].concat();
        let same = if block.is("json") && !printed.is_empty() {
            value(&printed).is_some() && value(&printed) == value(&block.text)
        } else {
            masked(printed.trim()) == masked(block.text.trim())
        };
        if same && ran.code.unwrap_or(-1).to_string() == code {
            Ok(())
        } else {
            Err(ran.to_string())
        }
    }

    fn run(&mut self, block: &Block) -> Result<(), String> {
        if block.value("given") == Some("run") {
            self.project.trust("greeting.toml");
            let words = ["start", "greeting.toml", "--task", "x", "--by-hand"];
            self.project.run(words).succeeds();
        }
        let text = as_installed(&block.text);
        let (code, told) = match block.value("types") {
            Some(typed) => at_a_terminal(&self.project, &text, typed),
            None => shell(&self.project, &text),
        };
        self.heard.push_str(&told);
        let wanted = block.value("exit").unwrap_or("0");
        if code.to_string() == wanted {
            Ok(())
        } else {
            Err(format!("exit code {code}\n{text}\n{told}"))
        }
    }

    /// Every line of the quotation was said. Ids and times are others each time.
    fn is_said(&self, quoted: &str) -> Result<(), String> {
        let heard = colourless(&self.heard)
            .replace(self.project.path().to_str().unwrap(), "/home/ada/hello")
            .replace(PROGRAM, "gatewright");
        let heard: BTreeSet<String> = heard.lines().map(masked).collect();
        let missing = quoted.lines().map(masked).find(|line| {
            let line = line.trim_end();
            !line.is_empty() && line != "…" && !heard.iter().any(|told| told.contains(line))
        });
        match missing {
            None => Ok(()),
            Some(line) => Err(format!("nobody said: {line}\n{}", self.heard)),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(&masked(text)).ok()
}

/// The pipeline of the tutorial, which other pages take up.
fn greeting() -> String {
    let blocks = Page::read("docs/tutorial.md").blocks();
    let greeting = blocks
        .iter()
        .find(|block| block.value("file") == Some("greeting.toml"));
    greeting.expect("the tutorial has a pipeline").text.clone()
}

/// What a terminal shows, without the marks for its colours.
fn colourless(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

/// The line with every run's id, every time, every process and every number of entries made alike.
fn masked(line: &str) -> String {
    let words = line.split_inclusive(|c: char| c.is_whitespace() || "`'\"();,".contains(c));
    let words: Vec<&str> = words.collect();
    let is = |at: Option<usize>, word: &str| {
        at.and_then(|at| words.get(at))
            .is_some_and(|it| it.trim() == word)
    };
    let masked = words.iter().enumerate().map(|(at, word)| {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_number = rest.len() < word.len() && rest.trim_matches([' ', ',', ')']).is_empty();
        if is_number && (is(at.checked_sub(1), "process") || is(Some(at + 1), "entries")) {
            format!("·{rest}")
        } else {
            masked_word(word)
        }
    });
    masked.collect()
}

fn masked_word(word: &str) -> String {
    let is_id = |text: &str| text.len() == 6 && text.chars().all(|c| c.is_ascii_alphanumeric());
    let (bare, end) = word.split_at(word.trim_end_matches([' ', '`', '\'', ')', ';', ',']).len());
    let is_time = bare.len() == 20 && bare.starts_with("20") && bare.ends_with('Z');
    match bare.strip_prefix("r-") {
        Some(id) if is_id(id) => format!("r-······{end}"),
        _ if is_time => format!("time{end}"),
        _ => word.to_owned(),
    }
}

/// From the source tree one types `cargo run --release --`; here the program is already built.
fn as_installed(text: &str) -> String {
    text.replace("cargo run --release --", "gatewright")
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

/// Plays a page; tells how many of its blocks were run.
fn play(page: &Page) -> usize {
    let (mut played, mut play) = (0, Play::new());
    for block in page.blocks() {
        if block.is("afresh") {
            play = Play::new();
        }
        match play.block(&block) {
            Ok(ran) => played += usize::from(ran),
            Err(fault) => panic!("{}:{}\n{fault}", page.name, block.line),
        }
    }
    played
}

#[test]
fn the_tours_of_the_readme_work_as_they_are_told() {
    let played = play(&Page::read("README.md"));
    assert!(played >= 10, "the tours have lost their commands: {played}");
}

#[test]
fn the_tutorial_works_as_it_is_told() {
    let played = play(&Page::read("docs/tutorial.md"));
    assert!(played >= 18, "the tutorial has lost its commands: {played}");
}

#[test]
fn every_command_of_the_other_pages_works_as_it_is_told() {
    let mut pages = pages();
    pages.retain(|page| !["README.md", "docs/tutorial.md"].contains(&page.name.as_str()));
    let played: usize = pages.iter().map(play).sum();
    assert!(played >= 10, "the pages have lost their commands: {played}");
}

#[test]
fn a_command_that_no_test_runs_says_why() {
    for page in pages() {
        for block in page.blocks() {
            let lines = block.text.lines().map(|line| line.trim_start_matches("$ "));
            let commands = lines.filter(|line| {
                let word = line.split_whitespace().next();
                matches!(word, Some("gatewright" | "claude" | "cargo"))
            });
            let told = block
                .value("because")
                .is_some_and(|reason| REASONS.contains(&reason));
            let is_played = |key: &str| block.value(key).is_some();
            let run =
                block.is("sh") || block.is("said") || is_played("session") || is_played("picture");
            let (name, line) = (&page.name, block.line);
            assert!(told || run || commands.count() == 0, "{name}:{line}");
        }
    }
}

#[test]
fn every_command_that_the_papers_name_is_there() {
    let pages = pages();
    let named: BTreeSet<&str> = pages.iter().flat_map(Page::commands).collect();
    assert!(named.len() > 20, "{named:?}");
    let project = Project::new(PROGRAM);
    // What hosts call is looked for before the parser is built.
    for word in named.iter().filter(|word| **word != "hook") {
        let ran = project.run([word, "--help"]);
        assert_eq!(ran.code, Some(0), "`gatewright {word}` is no command");
    }
}

#[test]
fn every_rule_that_the_papers_name_is_there() {
    let rules = fs::read_to_string(root().join("docs/rules.md")).unwrap();
    for page in pages() {
        for code in page.codes() {
            let row = format!("| {code} |");
            assert!(rules.contains(&row), "{}: no rule is {code}", page.name);
        }
    }
}

#[test]
fn help_and_the_index_know_every_page() {
    let project = Project::new(PROGRAM);
    let index = Page::read("docs/index.md").text;
    for page in pages() {
        let Some(name) = page.name.strip_prefix("docs/") else {
            continue;
        };
        let topic = name.trim_end_matches(".md");
        let is_listed = index.contains(&format!("({name})"));
        assert!(is_listed || topic == "index", "docs/index.md lacks {name}");
        // The page of the seeds is for contributors.
        if topic != "seeds" {
            let printed = project.run(["help", topic]).succeeds().stdout;
            // What stands behind a fence is for tests.
            let plain = page
                .text
                .lines()
                .map(|line| match line.strip_prefix("```") {
                    Some(fence) => format!("```{}\n", fence.split(' ').next().unwrap()),
                    None => format!("{line}\n"),
                });
            let plain: String = plain.collect();
            assert!(printed.contains(plain.trim_end()), "help {topic}");
        }
    }
}

#[test]
fn every_link_of_the_papers_leads_somewhere() {
    let mut all = pages();
    all.extend(["CHANGELOG.md", "docs/cli.md", "docs/rules.md"].map(Page::read));
    let broken: Vec<String> = all.iter().filter_map(Page::broken_link).collect();
    assert!(broken.is_empty(), "{broken:?}");
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
    let examples = Page::read("docs/language.md").blocks();
    let examples: Vec<Block> = examples
        .into_iter()
        .filter(|block| block.is("toml"))
        .collect();
    assert!(examples.len() > 10);
    for block in examples {
        let project = Project::new(PROGRAM);
        project.write("example.toml", &block.text);
        let ran = project.run(["lint", "example.toml", "--json"]);
        // A fragment is not a whole definition, but it is TOML and knows only keys of the language.
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
