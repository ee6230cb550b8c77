//! The texts before and after a change, for those who review it. It is shown and decides nothing.

use std::collections::BTreeSet;
use std::process::Stdio;

use engine::Hash;

use super::old_text::OldTexts;
use super::{Counter, LARGEST, products, split, text_hash};
use crate::git::Git;
use crate::look_context::LookContext;
use crate::repository::Repository;
use crate::tree::{self, Tree};

/// More files are only counted.
pub(super) const MOST_FILES: usize = 500;

/// What changed, file by file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedTexts {
    pub since: Since,
    pub files: Vec<ChangedText>,
    /// How many files differ in all.
    pub all: usize,
}

/// What the files are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The tree as it was when the run began.
    Start,
    /// The last commit: the tree at the start was not recorded.
    LastCommit,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedText {
    /// Escaped, as in the manifest.
    pub path: String,
    pub old: Side,
    pub new: Side,
}

/// A file on one side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    Absent,
    Text(String),
    /// It is not a text, or cannot be read; with the reason.
    Unseen(String),
}

/// The change since the run began; without a recorded start, since the last commit. The error says why it
/// cannot be shown.
pub fn changed_texts(
    base: Option<Hash>,
    looking: &LookContext<'_>,
) -> Result<ChangedTexts, String> {
    let repository = looking.project.repository.as_ref();
    let repository = repository.ok_or("this folder is not a git repository")?;
    let tree = tree::read(looking).map_err(|error| error.to_string())?;
    let (commit, mut change) = match base {
        Some(base) => since_start(base, looking, repository, &tree)?,
        None => since_commit(looking, repository, &tree)?,
    };
    let products = products::changed(&commit, looking, repository)?;
    change.all += products.len();
    change.files.extend(products);
    change.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(change)
}

/// The commit of the start, and the change since.
fn since_start(
    base: Hash,
    looking: &LookContext<'_>,
    repository: &Repository,
    tree: &Tree,
) -> Result<(String, ChangedTexts), String> {
    let base = looking.contents.content(&base);
    let base = base.ok_or("the tree that was recorded when the run began is lost")?;
    let (commit, manifest) = split(&base).ok_or("the recorded tree cannot be read")?;
    let unreadable = "a list of files cannot be read";
    let paths = tree::changed(manifest, &tree.manifest).ok_or(unreadable)?;
    let old = tree::files_of(manifest).ok_or(unreadable)?;
    let new = tree::files_of(&tree.manifest).ok_or(unreadable)?;
    let counter = Counter {
        looking,
        repository,
        commit,
        old: &old,
        new: &new,
    };
    let mut texts = OldTexts::open(&looking.project.root, repository)?;
    let file = |path: &String| {
        let before = match text_hash(&old, path) {
            Ok(Some(expected)) => side(texts.read(commit, path, &expected)),
            Ok(None) => Side::Absent,
            Err(reason) => Side::Unseen(reason),
        };
        ChangedText {
            old: before,
            new: counter.after(path),
            path: path.clone(),
        }
    };
    let change = ChangedTexts {
        since: Since::Start,
        all: paths.len(),
        files: paths.iter().take(MOST_FILES).map(file).collect(),
    };
    Ok((commit.to_owned(), change))
}

fn since_commit(
    looking: &LookContext<'_>,
    repository: &Repository,
    tree: &Tree,
) -> Result<(String, ChangedTexts), String> {
    let git = Git::find().map_err(|error| error.to_string())?;
    let root = &looking.project.root;
    let commit = git.head(root, &repository.git_dir);
    let commit = commit.map_err(|error| error.to_string())?;
    let commit = commit.ok_or("this repository has no commit")?;
    let none = std::collections::BTreeMap::new();
    let new = tree::files_of(&tree.manifest).ok_or("a list of files cannot be read")?;
    let counter = Counter {
        looking,
        repository,
        commit: &commit,
        old: &none,
        new: &new,
    };
    let mut texts = OldTexts::open(root, repository)?;
    let mut files = Vec::new();
    let counts = tree::counting(looking);
    let mut paths = candidates(&git, looking, repository, &commit)?;
    paths.retain(|path| counts(path));
    for path in paths {
        let old = texts.side_of(&commit, &path);
        let new = counter.after(&path);
        if old != new {
            files.push(ChangedText { path, old, new });
        }
    }
    let all = files.len();
    files.truncate(MOST_FILES);
    let change = ChangedTexts {
        since: Since::LastCommit,
        files,
        all,
    };
    Ok((commit, change))
}

/// The paths that may differ from the commit. Git compares stamps, and the content of files that are as young as its
/// index: without filters, so that no program of the project starts. In a submodule another git would start, which obeys
/// the settings there, so only its commit counts.
pub(super) fn candidates(
    git: &Git,
    looking: &LookContext<'_>,
    repository: &Repository,
    commit: &str,
) -> Result<BTreeSet<String>, String> {
    let root = &looking.project.root;
    let command = git.without_filters(root, &repository.git_dir);
    let mut command = command.map_err(|error| error.to_string())?;
    command.args(["diff-index", "--ignore-submodules=dirty"]);
    command.args(["--name-only", "-z", commit]);
    let output = command.stderr(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    let files = git.files(root, &repository.git_dir);
    let files = files.map_err(|error| error.to_string())?;
    let touched = output.stdout.split(|byte| *byte == 0);
    // Before the first commit every file is new.
    let new = files
        .iter()
        .filter(|file| !file.tracked || commit.is_empty());
    let new = new.map(|file| file.path);
    let paths = touched.chain(new).filter(|path| !path.is_empty());
    let plain = paths.filter_map(|path| std::str::from_utf8(path).ok());
    Ok(plain.map(str::to_owned).take(MOST_FILES * 4).collect())
}

impl Counter<'_> {
    /// The file as it is now, in so far as it counts.
    fn after(&self, path: &str) -> Side {
        match text_hash(self.new, path) {
            Ok(Some(_)) => side(self.new_text(path)),
            Ok(None) => Side::Absent,
            Err(reason) => Side::Unseen(reason),
        }
    }
}

pub(super) fn side(bytes: Result<Vec<u8>, String>) -> Side {
    match bytes {
        Err(reason) => Side::Unseen(reason),
        Ok(bytes) if bytes.len() as u64 > LARGEST => Side::Unseen("it is too large".to_owned()),
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Side::Text(text),
            Ok(_) | Err(_) => Side::Unseen("it is not a text".to_owned()),
        },
    }
}
