//! The tree that the branch of a run is merged into, and what a person types there.

use std::path::Path;

use engine::{RunId, RunPlace, shell_words};
use evidence::Project;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};

use crate::run_place::Checkout;

/// The tree that the branch of a run is merged into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeTree {
    pub project: Project,
    pub choice: TreeChoice,
}

/// Why it is this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeChoice {
    /// The command is typed in it.
    Typed,
    /// The run was started in it, and the command is typed in another one.
    Started,
    /// The command is typed in it, and the one where the run was started is gone.
    TypedSinceGone(String),
}

impl MergeTree {
    /// The tree in which a run was started. If that is gone, the one in which the command is typed. Another project may
    /// be in its folder now.
    pub(super) fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Self, Failure> {
        let typed = workspace.project()?;
        let home = Path::new(&opened.stored.home);
        let started = home.is_dir().then(|| Project::find(home)).transpose()?;
        let started = started.filter(|started| started.key == opened.stored.project);
        let (project, choice) = if let Some(started) = started {
            let choice = if started.root == typed.root {
                TreeChoice::Typed
            } else {
                TreeChoice::Started
            };
            (started, choice)
        } else if typed.key == opened.stored.project {
            let gone = opened.stored.home.clone();
            (typed.clone(), TreeChoice::TypedSinceGone(gone))
        } else {
            return Err(is_gone(opened));
        };
        Ok(Self { project, choice })
    }

    pub(super) fn typed_in(project: &Project) -> Self {
        Self {
            project: project.clone(),
            choice: TreeChoice::Typed,
        }
    }

    /// The tree, where it is not plain which one it is.
    pub fn named(&self) -> Option<String> {
        match self.choice {
            TreeChoice::Typed => None,
            TreeChoice::Started | TreeChoice::TypedSinceGone(_) => Some(self.folder()),
        }
    }

    /// Its folder on one line.
    pub fn folder(&self) -> String {
        views::line(&self.project.root.to_string_lossy())
    }

    /// A command of git, as a person types it where they are.
    pub fn git(&self, words: &[&str]) -> String {
        let folder = self.project.root.to_string_lossy();
        let elsewhere: &[&str] = match self.choice {
            TreeChoice::Typed | TreeChoice::TypedSinceGone(_) => &[],
            TreeChoice::Started => &["-C", &folder],
        };
        let words = ["git"].iter().chain(elsewhere).chain(words);
        let words: Vec<String> = words.map(|word| (*word).to_owned()).collect();
        views::line(&shell_words(&words))
    }
}

fn is_gone(opened: &OpenRun) -> Failure {
    let run = &opened.run().id;
    let home = views::line(&opened.stored.home);
    let failure = Failure::refused(format!("{home}, where {run} was started, is gone"));
    let Some(place) = &opened.run().place else {
        return failure;
    };
    let name = &place.branch.name;
    failure
        .hint(format!(
            "its work is on the branch {name}: `git merge {name}` brings it into the tree in which you type it"
        ))
        .hint(format!(
            "so does `gatewright merge {run}` in a tree of the same repository"
        ))
}

/// A merge that is asked for.
pub(super) struct Target<'a> {
    pub here: Checkout<'a>,
    pub tree: &'a MergeTree,
    pub run: &'a RunId,
    pub place: &'a RunPlace,
    /// The name under which git knows the branch there.
    pub name: &'a str,
}

impl Target<'_> {
    /// The commit that is checked out.
    pub(super) fn head(&self) -> Result<String, Failure> {
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        match self.here.line(&head)? {
            Some(head) => Ok(head),
            None => Err(self.is_unborn()?),
        }
    }

    fn is_unborn(&self) -> Result<Failure, Failure> {
        let branch = self
            .here
            .line(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        let branch = branch.as_deref().unwrap_or("HEAD");
        let there = self.there();
        let message = format!("your branch {branch}{there} has no commit yet; nothing was merged");
        let from = self.place.branch.from.as_deref();
        let from = match from.filter(|from| *from != branch) {
            Some(from) if self.here.branch_tip(from)?.is_some() => from,
            Some(_) | None => "BRANCH",
        };
        let (switch, again) = (self.tree.git(&["switch", from]), self.again());
        Ok(Failure::refused(message).hint(format!(
            "`{switch}` brings you to a branch with commits; then type {again}"
        )))
    }

    /// Refuses if the two have no commit in common.
    pub(super) fn require_related(&self, head: &str, tip: &str) -> Result<(), Failure> {
        if self.here.line(&["merge-base", head, tip])?.is_some() {
            return Ok(());
        }
        let (name, there) = (self.name, self.there());
        let message = format!(
            "{name} and your branch{there} have no commit in common: their histories are unrelated; nothing was merged"
        );
        let commits = format!("{}..{name}", self.place.branch.base);
        let pick = self.tree.git(&["cherry-pick", &commits]);
        let merge = self
            .tree
            .git(&["merge", "--allow-unrelated-histories", name]);
        Err(Failure::refused(message)
            .hint(format!("`{pick}` brings only what the run changed"))
            .hint(format!("`{merge}` brings both histories together")))
    }

    /// The tree, if it must be named.
    pub(super) fn there(&self) -> String {
        let named = self.tree.named();
        named.map_or_else(String::new, |folder| format!(" in {folder}"))
    }

    /// The command that asks for this merge.
    pub(super) fn again(&self) -> String {
        format!("`gatewright merge {}`", self.run)
    }
}
