//! Who moved a ref while workers worked, and what is done about it. Pure: all evidence is given.

use std::collections::BTreeSet;
use std::path::PathBuf;

use engine::Author;

use super::git_trace::GitCommand;
use super::head_log::LogLine;
use crate::worktree::RefState;

/// The stash, which is one list for all worktrees.
pub(super) const STASH: &str = "refs/stash";

/// Both logs of one git command have the same time, give or take.
const SAME_MOMENT_SECONDS: u64 = 2;

/// A ref that is not where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefDifference {
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub author: Author,
    pub act: Act,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    PutBack,
    Leave,
}

/// Where the workers work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Workplace {
    /// In the person's tree: its branch is theirs to move.
    Project,
    /// In the worktree of a run with a branch of its own: that branch and the worktree are theirs, and nothing
    /// else is.
    Branch { name: String, folder: PathBuf },
    /// In worktrees with these top folders: the person's refs are not theirs.
    Own(Vec<PathBuf>),
}

/// Everything that tells who moved a ref.
pub(super) struct RefEvidence<'a> {
    pub workplace: Workplace,
    /// New lines in the logs of HEADs that are not of these workers.
    pub elsewhere: Vec<LogLine>,
    /// New lines in the logs of the workers' own HEADs.
    pub own: Vec<LogLine>,
    /// The git commands of the workers.
    pub commands: Vec<GitCommand>,
    /// Refs that appeared while the run's workers worked: they may be the workers' own.
    pub appeared: &'a BTreeSet<String>,
    /// The last line in the log of a ref; `None` without a log.
    pub last_line: &'a dyn Fn(&str) -> Option<LogLine>,
}

/// All that differs and is worth a record.
pub(super) fn differences(
    before: &RefState,
    now: &RefState,
    evidence: &RefEvidence<'_>,
) -> Vec<RefDifference> {
    let known = before.refs.iter();
    let moved = known.filter_map(|(name, value)| {
        let after = now.refs.get(name);
        let is_same = after == Some(value);
        let is_own = evidence.appeared.contains(name) || evidence.is_branch_of_run(name);
        let verdict = (!is_same && !is_own).then(|| evidence.verdict(name, after))?;
        difference(name, Some(value), after, verdict)
    });
    let mut all: Vec<RefDifference> = moved.collect();
    all.extend(evidence.stash(before, now));
    all.extend(evidence.head(before, now));
    all
}

fn difference(
    name: &str,
    before: Option<&String>,
    after: Option<&String>,
    verdict: Option<(Author, Act)>,
) -> Option<RefDifference> {
    verdict.map(|(author, act)| RefDifference {
        name: name.to_owned(),
        before: before.cloned(),
        after: after.cloned(),
        author,
        act,
    })
}

impl RefEvidence<'_> {
    /// `None` if somebody else moved it in a checkout of theirs, which does not concern the run.
    fn verdict(&self, name: &str, after: Option<&String>) -> Option<(Author, Act)> {
        let last = (self.last_line)(name);
        if self.is_of_checkout(after, last.as_ref()) {
            return self.works_outside().then_some((Author::Worker, Act::Leave));
        }
        let made_here = after.is_some_and(|value| self.own.iter().any(|line| line.new == *value));
        let by_command = self.commands.iter().any(|command| command.may_move(name));
        Some(if made_here || by_command || is_raw(after, last.as_ref()) {
            (Author::Worker, self.act())
        } else {
            (Author::Unknown, Act::Leave)
        })
    }

    /// Does the log of somebody else's HEAD have this value, from the moment when the ref got it?
    fn is_of_checkout(&self, after: Option<&String>, last: Option<&LogLine>) -> bool {
        let is_moment =
            |at: u64| last.is_none_or(|last| last.at.abs_diff(at) <= SAME_MOMENT_SECONDS);
        let mut lines = self.elsewhere.iter();
        lines.any(|line| Some(&line.new) == after && is_moment(line.at))
    }

    fn works_outside(&self) -> bool {
        let folders = match &self.workplace {
            Workplace::Own(folders) => folders.as_slice(),
            Workplace::Branch { folder, .. } => std::slice::from_ref(folder),
            Workplace::Project => return false,
        };
        let mut commands = self.commands.iter();
        commands.any(|command| command.works_outside(folders))
    }

    fn is_branch_of_run(&self, ref_name: &str) -> bool {
        match &self.workplace {
            Workplace::Branch { name, .. } => name == ref_name,
            Workplace::Own(_) | Workplace::Project => false,
        }
    }

    /// A worker in the person's tree acts as its person does, and nothing is undone.
    fn act(&self) -> Act {
        match self.workplace {
            Workplace::Own(_) | Workplace::Branch { .. } => Act::PutBack,
            Workplace::Project => Act::Leave,
        }
    }

    /// The stash is one list for all worktrees. A person uses it every day, so only what workers did to
    /// it counts.
    fn stash(&self, before: &RefState, now: &RefState) -> Vec<RefDifference> {
        if !self.commands.iter().any(|command| command.may_move(STASH)) {
            return Vec::new();
        }
        let one = |before: Option<&String>, after: Option<&String>, act| RefDifference {
            name: STASH.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
            author: Author::Worker,
            act,
        };
        let dropped = before.stash.difference(&now.stash);
        let dropped = dropped.map(|entry| one(Some(entry), None, self.act()));
        let added = now.stash.difference(&before.stash);
        let added = added.map(|entry| one(None, Some(entry), Act::Leave));
        dropped.chain(added).collect()
    }

    /// The branch that the run's worktree is on.
    fn head(&self, before: &RefState, now: &RefState) -> Option<RefDifference> {
        let is_theirs = match self.workplace {
            Workplace::Project | Workplace::Branch { .. } => true,
            Workplace::Own(_) => false,
        };
        let author = if self.works_outside() {
            Author::Worker
        } else {
            Author::Unknown
        };
        let has_moved = before.head != now.head && !is_theirs;
        let verdict = has_moved.then_some((author, Act::Leave));
        difference("HEAD", before.head.as_ref(), now.head.as_ref(), verdict)
    }
}

/// Was the ref written past git? Git's log of it would end with its value, and end with the ref.
fn is_raw(after: Option<&String>, last: Option<&LogLine>) -> bool {
    last.is_some_and(|last| after.is_none_or(|value| *value != last.new))
}

#[cfg(test)]
mod tests;
