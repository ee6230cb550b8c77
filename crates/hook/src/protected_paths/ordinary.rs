//! Real shell of this machine, none of which may be refused: scripts of its packages, of crates' sources
//! and of npm packages, as whole texts and line by line.

use std::fs;
use std::path::{Path, PathBuf};

use super::tests::TestHome;
use super::*;

/// Fewer lines than this prove nothing.
const FEWEST_LINES: usize = 5000;

/// From each root at most so many files are read, and of each so many bytes.
const MOST_FILES: usize = 1500;
const LONGEST_FILE: u64 = 64 * 1024;

#[test]
fn no_line_of_real_shell_is_refused() {
    let machine = TestHome::new();
    let mut texts = Vec::new();
    for root in roots() {
        let mut scripts = Vec::new();
        collect(&root, 6, &mut scripts);
        texts.extend(scripts);
    }
    let lines: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.lines())
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    assert!(lines.len() >= FEWEST_LINES, "only {} lines", lines.len());
    let all = texts
        .iter()
        .map(String::as_str)
        .chain(lines.iter().copied());
    let refused: Vec<String> = all.filter_map(|text| machine.refusal(text)).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// The same list with a line that must be refused: the test above can fail.
#[test]
fn a_line_that_changes_the_settings_is_found_among_them() {
    let machine = TestHome::new();
    for line in [
        "rm -rf .claude",
        "claude -p hi",
        "gatewright answer yes",
        "cat <<EOF > .gatewright/mine.toml\nx\nEOF",
    ] {
        assert!(machine.refusal(line).is_some(), "{line}");
    }
}

impl TestHome {
    fn refusal(&self, text: &str) -> Option<String> {
        let (resolver, folder) = (Resolver::default(), self.root.join("project"));
        let shell = Shell::new(&self.environment, &resolver, &folder);
        let bypass = bypass(&shell, &ShellText::read(text)).map(|bypass| format!("{bypass:?}"));
        let changed = || self.changed("project", text).map(|it| format!("{it:?}"));
        let found = bypass.or_else(changed)?;
        let shown: String = text.chars().take(300).collect();
        Some(format!("{found}: {shown}"))
    }
}

/// Where packages keep shell: the system's, those of crates, those of npm.
fn roots() -> Vec<PathBuf> {
    let system = [
        "/usr/bin",
        "/usr/sbin",
        "/usr/lib/git-core",
        "/etc",
        "/usr/share",
        "/var/lib/dpkg/info",
    ];
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let default = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    let crates = home.or_else(default).map(|home| home.join("registry/src"));
    let built = std::env::current_exe().ok();
    let agents = built.and_then(|path| Some(path.ancestors().nth(3)?.join("agents")));
    let system = system.into_iter().map(PathBuf::from);
    system.chain(crates).chain(agents).collect()
}

/// The shell texts beneath a folder.
fn collect(folder: &Path, depth: usize, texts: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if texts.len() >= MOST_FILES {
            return;
        }
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(|kind| kind.is_dir()) && depth > 0 {
            collect(&path, depth - 1, texts);
        } else if kind.is_ok_and(|kind| kind.is_file()) {
            texts.extend(shell_of(&path));
        }
    }
}

/// The shell in a file: a script as a whole, the `scripts` of a package, the `run` steps of a workflow.
fn shell_of(path: &Path) -> Vec<String> {
    let is_short = fs::metadata(path).is_ok_and(|it| it.len() <= LONGEST_FILE);
    let name = path.file_name().and_then(|name| name.to_str());
    let text = || fs::read_to_string(path).ok().filter(|_| is_short);
    match name {
        Some("package.json") => text().map(|text| npm_scripts(&text)).unwrap_or_default(),
        Some(name) if name.ends_with(".yml") || name.ends_with(".yaml") => {
            text().map(|text| run_steps(&text)).unwrap_or_default()
        }
        Some(name) if name.ends_with(".sh") || !name.contains('.') || is_maintainers(name) => {
            text().filter(|text| is_script(text)).into_iter().collect()
        }
        Some(_) | None => Vec::new(),
    }
}

fn is_maintainers(name: &str) -> bool {
    let ends = [".postinst", ".preinst", ".postrm", ".prerm"];
    ends.iter().any(|end| name.ends_with(end))
}

fn is_script(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!")
        && first
            .split(['/', ' '])
            .any(|word| matches!(word, "sh" | "bash" | "dash"))
}

fn npm_scripts(text: &str) -> Vec<String> {
    let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = package["scripts"].as_object().into_iter().flatten();
    let scripts = scripts.filter_map(|(_, script)| script.as_str());
    scripts.map(str::to_owned).collect()
}

fn run_steps(text: &str) -> Vec<String> {
    let steps = text
        .lines()
        .filter_map(|line| line.trim().split_once("run: "));
    let steps = steps.filter(|(before, _)| before.trim_matches(['-', ' ']).is_empty());
    steps.map(|(_, command)| command.to_owned()).collect()
}
