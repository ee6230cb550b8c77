//! Where a run works, and what it hands over: the person's tree, or a branch and a worktree of its own.

use alloc::string::String;
use alloc::vec::Vec;

use crate::names::Hash;

/// Where the runs of a pipeline work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// In the person's own tree.
    Tree,
    /// In a worktree and on a branch of the run.
    Branch,
}

impl PlaceKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Branch => "branch",
        }
    }
}

/// What a completed run on a branch of its own hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deliver {
    /// Nothing: its files stay in its worktree.
    Nothing,
    /// A commit on its branch, which is pushed where a remote is named.
    Branch,
    /// The same, always pushed, and a request to merge it.
    PullRequest,
}

impl Deliver {
    pub const ALL: [Self; 3] = [Self::Nothing, Self::Branch, Self::PullRequest];

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deliver| deliver.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Branch => "branch",
            Self::PullRequest => "pull-request",
        }
    }
}

/// What a definition says about the place of its runs and about their delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Where runs work; by default in the tree, and queued ones on a branch.
    pub place: Option<PlaceKind>,
    /// Untracked files that come along into a worktree, as patterns of an ignore file.
    pub carry: Vec<String>,
    /// Ignored paths that come back from the worktree of a step.
    pub carry_back: Vec<String>,
    pub delivery: Option<Delivery>,
}

/// What a definition says about the delivery of its runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delivery {
    pub deliver: Deliver,
    /// The remote to which the branch is pushed.
    pub remote: Option<String>,
    /// The words of the command that makes a request to merge; `gh` and `glab` alone are known ones.
    pub request: Vec<String>,
}

impl Delivery {
    /// What is filled in where the words of a request name it.
    pub const PLACEHOLDERS: [&str; 5] = ["branch", "base", "title", "body", "text"];

    /// The first placeholder in these words that nothing fills. A word with a space is a text or a script, which may
    /// have braces of its own.
    pub fn unknown_placeholder(words: &[String]) -> Option<&str> {
        let words = words.iter().filter(|it| !it.contains(char::is_whitespace));
        let pieces = words.flat_map(|word| word.split('{').zip(word.split('{').skip(1)));
        let names = pieces.filter_map(|(before, rest)| {
            let (name, _) = rest.split_once('}')?;
            let is_name = !name.is_empty() && name.chars().all(|c| matches!(c, 'a'..='z' | '_'));
            (is_name && !before.ends_with('$')).then_some(name)
        });
        let mut unknown = names.filter(|name| !Self::PLACEHOLDERS.contains(name));
        unknown.next()
    }
}

/// The branch of a run, chosen when it starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunBranch {
    pub name: String,
    /// The commit that it begins with.
    pub base: String,
    /// The branch that the person was on; `None` with a detached HEAD.
    pub from: Option<String>,
    /// Does the base hold work that the person had not committed?
    pub with_changes: bool,
}

/// The place of a run that has a branch of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunPlace {
    pub branch: RunBranch,
    /// Its worktree, once it is made.
    pub folder: Option<String>,
    /// The machine of the fleet that has the worktree, if the run is in one.
    pub machine: Option<String>,
    pub delivery: DeliveryState,
}

/// A machine of the fleet that works on a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnMachine {
    /// Its id, which no other machine has.
    pub machine: String,
    /// Its name, for people.
    pub name: String,
    /// The environment in which checks run there.
    pub environment: Hash,
}

/// A run goes on at another machine of the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relocation {
    pub folder: String,
    pub on: OnMachine,
    /// The commit with the last tree that was kept.
    pub commit: String,
}

/// How far the delivery is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    Open,
    /// It was tried in vain, and can be repeated.
    Failed {
        reason: String,
    },
    Done(Delivered),
}

/// What was handed over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delivered {
    /// The last commit of the branch.
    pub commit: String,
    /// The remote that has it.
    pub pushed: Option<String>,
    /// What the command that made the request printed: usually its address.
    pub request: Option<String>,
}

impl RunPlace {
    pub(crate) fn new(branch: RunBranch) -> Self {
        Self {
            branch,
            folder: None,
            machine: None,
            delivery: DeliveryState::Open,
        }
    }

    /// What was handed over, if anything was.
    pub fn delivered(&self) -> Option<&Delivered> {
        match &self.delivery {
            DeliveryState::Done(delivered) => Some(delivered),
            DeliveryState::Open | DeliveryState::Failed { .. } => None,
        }
    }
}
