//! The parent processes, as far as the system shows them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use evidence::small_file;

/// How many parents are read. Longer chains do not occur.
const MOST: usize = 64;

/// How many words of a command line are read.
const MOST_WORDS: usize = 16;

/// A parent process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestor {
    pub id: u32,
    /// Its name in the system.
    pub name: String,
    /// The program's file; `None` if the system does not show it.
    pub program: String,
    /// The command line at its start.
    pub words: Vec<String>,
}

/// The parent processes, the nearest first.
pub fn ancestors() -> Vec<Ancestor> {
    let Some(parent) = rustix::process::getppid() else {
        return Vec::new();
    };
    let parent = parent.as_raw_nonzero().get().unsigned_abs();
    if is_shown() {
        climb(parent, |id| shown(Path::new("/proc"), id))
    } else {
        let table = listed();
        climb(parent, |id| row(&table, id))
    }
}

/// One process, as far as the system shows it.
pub fn process(id: u32) -> Option<Ancestor> {
    let found = if is_shown() {
        shown(Path::new("/proc"), id)
    } else {
        row(&listed(), id)
    };
    found.map(|(_, process)| process)
}

/// Does the system have a `/proc` folder?
fn is_shown() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// Goes from parent to parent. The first process of a system or container has none.
fn climb(from: u32, read: impl Fn(u32) -> Option<(u32, Ancestor)>) -> Vec<Ancestor> {
    let mut found = Vec::new();
    let mut id = from;
    while id != 0 && found.len() < MOST {
        let Some((parent, ancestor)) = read(id) else {
            break;
        };
        found.push(ancestor);
        id = parent;
    }
    found
}

/// A process in `/proc`, and its parent.
fn shown(processes: &Path, id: u32) -> Option<(u32, Ancestor)> {
    let folder = processes.join(id.to_string());
    let status = small_file::read(&folder.join("stat")).ok()?;
    let (name, parent) = stat(&String::from_utf8(status).ok()?)?;
    let program = fs::read_link(folder.join("exe")).unwrap_or_default();
    let line = small_file::read(&folder.join("cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).take(MOST_WORDS);
    let ancestor = Ancestor {
        id,
        name,
        program: program.to_string_lossy().into_owned(),
        words: words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect(),
    };
    Some((parent, ancestor))
}

/// Name and parent from `12 (the name) S 34 …`. The name may contain brackets and blanks.
fn stat(line: &str) -> Option<(String, u32)> {
    let (_, rest) = line.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
    Some((name.to_owned(), parent))
}

/// Without `/proc`, `ps` lists all processes: id, parent, command line.
fn listed() -> String {
    let mut command = Command::new("/bin/ps");
    command.args(["-axo", "pid=,ppid=,args="]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().map(|output| output.stdout);
    String::from_utf8_lossy(&output.unwrap_or_default()).into_owned()
}

fn row(table: &str, id: u32) -> Option<(u32, Ancestor)> {
    let wanted = id.to_string();
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let parent = (words.next()? == wanted)
            .then(|| words.next())??
            .parse()
            .ok()?;
        let words: Vec<String> = words.take(MOST_WORDS).map(str::to_owned).collect();
        let program = words.first().cloned().unwrap_or_default();
        let ancestor = Ancestor {
            id,
            name: String::new(),
            program,
            words,
        };
        Some((parent, ancestor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_brackets_and_blanks() {
        for (line, expected) in [
            ("12 (bash) S 34 12 0", Some(("bash", 34))),
            ("12 (a) (b) S 34 12 0", Some(("a) (b", 34))),
            ("12 (tmux: server) S 1 2", Some(("tmux: server", 1))),
            ("12 bash S 34", None),
            ("12 (bash) S", None),
            ("", None),
        ] {
            let expected = expected.map(|(name, parent)| (name.to_owned(), parent));
            assert_eq!(stat(line), expected, "{line}");
        }
    }

    #[test]
    fn the_way_up_ends_at_the_first_process() {
        let table =
            "    1     0 /sbin/init\n   20     1 /bin/zsh -l\n  300    20 claude\n 30 300 x";
        let found = climb(300, |id| row(table, id));
        let words: Vec<String> = found.iter().map(|found| found.words.join(" ")).collect();
        assert_eq!(words, ["claude", "/bin/zsh -l", "/sbin/init"]);
        assert_eq!(climb(7, |id| row(table, id)), []);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let found = climb(2, |_| Some((2, Ancestor::default())));
        assert_eq!(found.len(), MOST);
    }

    #[test]
    fn our_own_ancestors_are_read() {
        let found = ancestors();
        assert!(!found.is_empty());
        let nearest = &found[0];
        assert!(
            !nearest.words.is_empty() && !nearest.program.is_empty(),
            "{nearest:?}"
        );
    }
}
