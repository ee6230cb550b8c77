//! The git commands of a worker, as git itself writes them down for it.
//!
//! Git appends an event for each of its processes to the file that a variable names. It does not change
//! what git does. A worker that empties its environment leaves no trace: then nothing is known.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The variables that make git write its events to this file, in a short form.
pub(crate) fn variables(file: &Path) -> [(&'static str, &std::ffi::OsStr); 3] {
    [
        ("GIT_TRACE2_EVENT", file.as_os_str()),
        ("GIT_TRACE2_EVENT_BRIEF", "1".as_ref()),
        ("GIT_TRACE2_EVENT_NESTING", "1".as_ref()),
    ]
}

/// More is not read.
const LONGEST_TRACE: u64 = 64 * 1024 * 1024;

/// Commands that may move any ref without naming it.
const BULK: [&str; 4] = ["fast-import", "receive-pack", "filter-branch", "replay"];

/// Commands that may change the checkout in which they run, or its branch.
const IN_CHECKOUT: [&str; 16] = [
    "add",
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "merge",
    "pull",
    "read-tree",
    "rebase",
    "reset",
    "restore",
    "revert",
    "stash",
    "switch",
];

/// One process of git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitCommand {
    /// Its names: an alias has two.
    names: Vec<String>,
    /// All words that it was given, also by an alias.
    words: Vec<String>,
    /// The top of the worktree that it worked in.
    worktree: Option<PathBuf>,
}

/// All commands in a trace. What is unreadable is skipped.
pub(crate) fn read(file: &Path) -> Vec<GitCommand> {
    let Ok(file) = File::open(file) else {
        return Vec::new();
    };
    let mut commands: BTreeMap<String, GitCommand> = BTreeMap::new();
    let lines = BufReader::new(file.take(LONGEST_TRACE)).split(b'\n');
    for line in lines.map_while(Result::ok) {
        let Ok(event) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        if let Some(process) = event["sid"].as_str() {
            let command = commands.entry(process.to_owned()).or_default();
            command.learn(&event);
        }
    }
    commands.into_values().collect()
}

impl GitCommand {
    #[cfg(test)]
    pub(super) fn of_events(events: &[Value]) -> Self {
        let mut command = Self::default();
        events.iter().for_each(|event| command.learn(event));
        command
    }

    fn learn(&mut self, event: &Value) {
        match event["event"].as_str() {
            Some("start" | "alias") => {
                let words = event["argv"].as_array().into_iter().flatten();
                let words = words.filter_map(Value::as_str).map(str::to_owned);
                self.words.extend(words);
            }
            Some("cmd_name") => self.names.extend(event["name"].as_str().map(str::to_owned)),
            Some("def_repo") => {
                self.worktree = event["worktree"].as_str().map(PathBuf::from);
            }
            Some(_) | None => {}
        }
    }

    /// Does it take something out of the stash, which others may have put there?
    pub(crate) fn takes_from_stash(&self) -> bool {
        let takes = |word: &String| matches!(word.as_str(), "pop" | "apply" | "branch");
        self.is("stash") && self.words.iter().any(takes)
    }

    fn is(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name)
    }

    /// May it have moved this ref, which existed before?
    pub(crate) fn may_move(&self, name: &str) -> bool {
        if BULK.iter().any(|bulk| self.is(bulk)) {
            return true;
        }
        let branch = name.strip_prefix("refs/heads/");
        let tag = name.strip_prefix("refs/tags/");
        let short = branch.or(tag).unwrap_or(name);
        let named = self.words.iter().any(|word| word == short || word == name);
        let into = self.words.iter().any(|word| {
            let target = word.rsplit_once(':').map(|(_, target)| target);
            target.is_some_and(|target| target == short || target == name)
        });
        (self.is("branch")
            && branch.is_some()
            && named
            && self.has_flag("fdDmMC", &["force", "delete", "move"]))
            || (self.is("tag")
                && tag.is_some()
                && named
                && self.has_flag("fd", &["force", "delete"]))
            || (self.is("update-ref") && (named || self.has_flag("", &["stdin"])))
            || (self.is("symbolic-ref") && named)
            || (self.is("checkout") && named && self.has_flag("B", &[]))
            || (self.is("switch") && named && self.has_flag("C", &["force-create"]))
            || (self.is("worktree") && named && self.has_flag("B", &[]))
            || (self.is("rebase") && self.has_flag("", &["update-refs"]))
            || (self.is("push") && (into || named && self.has_flag("d", &["delete"])))
            || ((self.is("fetch") || self.is("pull")) && (into || self.forces_tags(tag)))
            || (self.is("notes") && name.starts_with("refs/notes/"))
            || (self.is("replace") && name.starts_with("refs/replace/"))
            || (self.is("stash") && name == "refs/stash")
    }

    fn forces_tags(&self, tag: Option<&str>) -> bool {
        tag.is_some() && self.has_flag("f", &["force"])
    }

    /// Was it given one of these letters, also among others, or one of these long options?
    fn has_flag(&self, letters: &str, long: &[&str]) -> bool {
        self.words.iter().any(|word| match word.strip_prefix("--") {
            Some(option) => {
                let option = option.split('=').next().unwrap_or_default();
                long.contains(&option)
            }
            None => {
                let cluster = word.strip_prefix('-').unwrap_or_default();
                cluster.chars().any(|letter| letters.contains(letter))
            }
        })
    }

    /// Does it change a checkout outside of these folders?
    pub(crate) fn works_outside(&self, own: &[PathBuf]) -> bool {
        let changes = self
            .names
            .iter()
            .any(|name| IN_CHECKOUT.contains(&name.as_str()));
        let outside = |worktree: &PathBuf| !own.iter().any(|own| worktree.starts_with(own));
        changes && self.worktree.as_ref().is_some_and(outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> GitCommand {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        GitCommand {
            names: vec![words[1].clone()],
            words,
            worktree: None,
        }
    }

    #[test]
    fn a_command_may_move_what_it_names_and_changes() {
        let check = |line: &str, name: &str, expected: bool| {
            assert_eq!(command(line).may_move(name), expected, "{line}: {name}");
        };
        let topic = "refs/heads/topic";
        check("git branch -f topic HEAD", topic, true);
        check("git branch -qf topic HEAD", topic, true);
        check("git branch --force topic HEAD", topic, true);
        check("git branch -D topic", topic, true);
        check("git branch --delete --force topic", topic, true);
        check("git branch -M topic other", topic, true);
        check("git update-ref refs/heads/topic HEAD", topic, true);
        check("git update-ref --stdin", topic, true);
        check("git update-ref -d refs/heads/topic", topic, true);
        check("git checkout -B topic", topic, true);
        check("git switch -C topic", topic, true);
        check("git push . HEAD:topic", topic, true);
        check("git fetch . +HEAD:refs/heads/topic", topic, true);
        check("git rebase --update-refs main", topic, true);
        check("git fast-import", topic, true);
        check("git tag -f v1", "refs/tags/v1", true);
        check("git tag -d v1", "refs/tags/v1", true);
        check("git fetch --tags --force", "refs/tags/v1", true);
        check("git stash clear", "refs/stash", true);
        // What only reads, or is about something else.
        check("git branch --list topic", topic, false);
        check("git branch -f other topic", "refs/heads/third", false);
        check("git log topic", topic, false);
        check("git checkout topic", topic, false);
        check("git commit -m topic", topic, false);
        check("git tag -d topic", topic, false);
        check("git branch -D v1", "refs/tags/v1", false);
        check("git tag v1", "refs/tags/v1", false);
        check("git fetch origin", topic, false);
        check("git fetch --tags", "refs/tags/v1", false);
        check("git gc --prune=now", topic, false);
    }

    #[test]
    fn a_command_that_takes_from_the_stash_is_known() {
        for (line, takes) in [
            ("git stash pop", true),
            ("git stash apply stash@{1}", true),
            ("git stash branch mine", true),
            ("git stash", false),
            ("git stash list", false),
            ("git commit -m pop", false),
        ] {
            assert_eq!(command(line).takes_from_stash(), takes, "{line}");
        }
    }

    #[test]
    fn a_trace_is_read_as_git_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trace");
        let text = r#"{"event":"version","sid":"1","evt":"4","exe":"2.47.3"}
{"event":"start","sid":"1","argv":["git","bf","topic","HEAD"]}
{"event":"alias","sid":"1","alias":"bf","argv":["branch","-f"]}
{"event":"def_repo","sid":"1","repo":1,"worktree":"/project"}
{"event":"cmd_name","sid":"1","name":"branch","hierarchy":"branch"}
not an event
{"event":"start","sid":"1/2","argv":["git","commit","-m","x"]}
{"event":"cmd_name","sid":"1/2","name":"commit"}
{"event":"def_repo","sid":"1/2","repo":1,"worktree":"/state/worktrees/r-1/left"}
{"event":"exit","sid":"1","code":0}"#;
        std::fs::write(&file, text).unwrap();
        let commands = read(&file);
        assert_eq!(commands.len(), 2);
        assert!(commands[0].may_move("refs/heads/topic"));
        assert!(!commands[1].may_move("refs/heads/topic"));
        let own = [PathBuf::from("/state/worktrees/r-1/left")];
        assert!(!commands[1].works_outside(&own));
        assert!(commands[1].works_outside(&[]));
        assert!(!commands[0].works_outside(&own), "it changes no checkout");
        assert_eq!(read(&folder.path().join("absent")), []);
    }
}
