//! A scratch repository: it reads the person's objects, obeys none of their settings, and makes new
//! objects that come into the person's repository all at once.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use runtime::failure::Failure;
use tempfile::TempDir;

use super::git::{Repository, WorktreeDirs, failed, line, start, succeed, unfinished, with_input};

/// Settings of the scratch repository. What it makes stays in packs, and is durable only when it is
/// handed over. Each processor writes files.
const SETTINGS: &str = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfsync = none\n\
                        \tlogAllRefUpdates = false\n\tcompression = 1\n\
                        \tprotectHFS = false\n\tprotectNTFS = false\n\
                        [fastimport]\n\tunpackLimit = 0\n\
                        [checkout]\n\tworkers = 0\n";

/// Attributes of every file, whatever the project's own attributes say: its bytes are its content.
const ATTRIBUTES: &str = "* -text -ident !filter !working-tree-encoding !eol !crlf\n";

/// How often a commit is made when somebody removes its objects again.
const MOST_TRIES: u32 = 8;

/// How often it is made when it fails: an object that it needs may have been removed.
const MOST_FAILURES: u32 = 3;

/// The author of our commits, so that git needs no configured name.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", NAME),
    ("GIT_AUTHOR_EMAIL", EMAIL),
    ("GIT_COMMITTER_NAME", NAME),
    ("GIT_COMMITTER_EMAIL", EMAIL),
];
pub(super) const NAME: &str = "Gatewright";
pub(super) const EMAIL: &str = "gatewright@localhost";

/// A scratch repository. Dropping it removes it.
pub(super) struct Scratch<'a> {
    repository: &'a Repository,
    folder: TempDir,
    /// No attempt at the same has failed before.
    pub(super) is_first_try: bool,
}

impl Repository {
    /// A scratch repository inside this folder, with the repository's objects.
    pub(super) fn scratch(&self, folder: &Path) -> Result<Scratch<'_>, Failure> {
        let made = make_scratch(folder, self.object_format.word());
        Ok(Scratch {
            folder: made.map_err(Failure::file("write to", folder))?,
            repository: self,
            is_first_try: true,
        })
    }

    /// Makes a commit and keeps it under a ref. Somebody's `git gc --prune=now` may remove an object
    /// that the commit shares with nothing else: then it is made again.
    pub(super) fn keep_new<T>(
        &self,
        name: &str,
        make: impl Fn(&Scratch<'_>) -> Result<(Option<String>, T), Failure>,
        folder: &Path,
    ) -> Result<T, Failure> {
        let mut tries = 1;
        loop {
            let scratch = Scratch {
                is_first_try: tries == 1,
                ..self.scratch(folder)?
            };
            let made = make(&scratch).and_then(|(commit, made)| {
                let kept = commit.map_or(Ok(true), |commit| scratch.keep(name, &commit));
                Ok(kept?.then_some(made))
            });
            match made {
                Ok(Some(made)) => return Ok(made),
                Err(failure) if tries >= MOST_FAILURES => return Err(failure),
                Ok(None) if tries >= MOST_TRIES => return Err(pruned(name)),
                Ok(None) | Err(_) => tries += 1,
            }
            self.wait_for_pruning();
        }
    }
}

impl Scratch<'_> {
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Git with the objects of both, which writes to the scratch repository.
    pub(super) fn command(&self) -> Command {
        let mut command = self.command_on(&self.objects());
        command.env(
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            quoted(&self.repository.objects()),
        );
        command
    }

    fn objects(&self) -> PathBuf {
        self.folder.path().join("objects")
    }

    /// Git without settings, and with these objects alone.
    fn command_on(&self, objects: &Path) -> Command {
        let folder = self.folder.path();
        let mut command = self.repository.git.command(folder, folder);
        command
            .env("GIT_OBJECT_DIRECTORY", objects)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .envs(IDENTITY);
        command
    }

    /// Hands all new objects over and keeps this commit under a ref. False if somebody has removed an
    /// object of it meanwhile.
    fn keep(&self, name: &str, commit: &str) -> Result<bool, Failure> {
        let repository = self.repository;
        let keep_file = self.hand_over(name)?;
        let kept = repository.keep(name, commit);
        if let Some(keep_file) = keep_file {
            // It only makes a pack stay, and `release_packs` removes it later.
            let _ = fs::remove_file(keep_file);
        }
        kept?;
        repository.wait_for_pruning();
        self.repository.is_whole(commit)
    }

    /// Copies all new objects into the person's repository, as a pack that git may not remove while the
    /// returned file exists. The file says for which ref it is.
    fn hand_over(&self, name: &str) -> Result<Option<PathBuf>, Failure> {
        let pack = match self.only_pack()? {
            Some(pack) => Some((self.objects().join("pack"), pack)),
            None => self.packed()?,
        };
        let Some((folder, pack)) = pack else {
            return Ok(None);
        };
        let theirs = self.repository.objects().join("pack");
        let written = install_pack(&folder, &theirs, &pack, name);
        written
            .map(Some)
            .map_err(Failure::file("write to", &theirs))
    }

    /// The pack with all new objects, where one import made them.
    fn only_pack(&self) -> Result<Option<String>, Failure> {
        let objects = self.objects();
        let names = |folder: &Path| -> io::Result<Vec<String>> {
            let entries = fs::read_dir(folder)?;
            let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
            names.collect()
        };
        // Single objects lie in folders of two digits.
        let made = names(&objects).map_err(Failure::file("read", &objects))?;
        if made != ["pack"] {
            return Ok(None);
        }
        let packs = objects.join("pack");
        let files = names(&packs).map_err(Failure::file("read", &packs))?;
        let mut packs = files.iter().filter_map(|name| name.strip_suffix(".idx"));
        let pack = packs.next().filter(|_| packs.next().is_none());
        Ok(pack.map(str::to_owned))
    }

    /// Puts all new objects into one pack, if there are any.
    fn packed(&self) -> Result<Option<(PathBuf, String)>, Failure> {
        let mut listing = self.command_on(&self.objects());
        listing.args(["cat-file", "--batch-all-objects", "--unordered"]);
        let list = succeed(listing.arg("--batch-check=%(objectname)"))?;
        if list.is_empty() {
            return Ok(None);
        }
        let folder = self.folder.path();
        let mut packing = self.command_on(&self.objects());
        packing.args(["pack-objects", "--quiet", "--window=0"]);
        let hash = with_input(packing.arg(folder.join("pack")), &list)?;
        Ok(Some((folder.to_owned(), format!("pack-{}", line(&hash)))))
    }

    /// Writes the files of a commit into a new worktree, byte for byte, and its index. Files that the index
    /// already has in this form are not looked at.
    pub(super) fn check_out(&self, to: &WorktreeDirs, commit: &str) -> Result<(), Failure> {
        let mut command = self.command_in(to);
        succeed(command.args(["read-tree", "-m", "-u", commit])).map(drop)
    }

    /// Writes these files of the index.
    pub(super) fn write_files(&self, to: &WorktreeDirs, paths: &[&[u8]]) -> Result<(), Failure> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut command = self.command_in(to);
        command.args(["checkout-index", "--index", "-z", "--stdin"]);
        with_input(&mut command, &paths.join(&0)).map(drop)
    }

    /// Git in a worktree, with its index.
    fn command_in(&self, to: &WorktreeDirs) -> Command {
        let mut command = self.command();
        command
            .arg("-C")
            .arg(&to.root)
            .env("GIT_WORK_TREE", &to.root)
            .env("GIT_INDEX_FILE", to.git_dir.join("index"));
        command
    }

    /// The output of a git command.
    pub(super) fn ask(&self, words: &[&str]) -> Result<Vec<u8>, Failure> {
        succeed(self.command().args(words))
    }

    /// The output of a git command that exits with 0 for yes and 1 for no.
    pub(super) fn ask_yes_no(&self, words: &[&str]) -> Result<(bool, Vec<u8>), Failure> {
        let mut command = self.command();
        command.args(words);
        let output = start(&mut command)?;
        match output.status.code() {
            Some(0) => Ok((true, output.stdout)),
            Some(1) => Ok((false, output.stdout)),
            _ => Err(failed(&output)),
        }
    }

    /// Makes a commit of a tree.
    pub(super) fn commit(
        &self,
        tree: &str,
        parents: &[&str],
        about: &str,
    ) -> Result<String, Failure> {
        let mut command = self.command();
        command.args(["commit-tree", tree, "-m", about]);
        for parent in parents {
            command.args(["-p", parent]);
        }
        Ok(line(&succeed(&mut command)?))
    }

    /// The tree of a commit.
    pub(super) fn tree(&self, commit: &str) -> Result<String, Failure> {
        self.trees([commit]).map(|[tree]| tree)
    }

    /// The trees of some commits.
    pub(super) fn trees<const N: usize>(&self, commits: [&str; N]) -> Result<[String; N], Failure> {
        let trees = commits.map(|commit| format!("{commit}^{{tree}}"));
        let words = ["rev-parse"].into_iter();
        let words: Vec<&str> = words.chain(trees.iter().map(String::as_str)).collect();
        let output = line(&self.ask(&words)?);
        let trees: Vec<String> = output.lines().map(str::to_owned).collect();
        let told = trees.try_into();
        told.map_err(|_| Failure::bug("git did not name the tree of each commit"))
    }
}

fn make_scratch(folder: &Path, object_format: &str) -> std::io::Result<TempDir> {
    let scratch = TempDir::new_in(folder)?;
    for name in ["refs", "objects", "info"] {
        fs::create_dir(scratch.path().join(name))?;
    }
    fs::write(scratch.path().join("HEAD"), "ref: refs/heads/none\n")?;
    fs::write(scratch.path().join("info/attributes"), ATTRIBUTES)?;
    let settings = format!("{SETTINGS}[extensions]\n\tobjectFormat = {object_format}\n");
    fs::write(scratch.path().join("config"), settings)?;
    Ok(scratch)
}

/// A path as git reads it in a list, whatever characters it has.
fn quoted(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

/// Copies a pack into a folder of packs. The index comes last, because git knows a pack by it.
fn install_pack(from: &Path, to: &Path, pack: &str, note: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(to)?;
    let keep_file = to.join(format!("{pack}.keep"));
    fs::write(&keep_file, format!("{note}\n"))?;
    for end in ["pack", "idx"] {
        let name = format!("{pack}.{end}");
        let new = to.join(unfinished(pack, end));
        fs::copy(from.join(&name), &new)?;
        File::open(&new)?.sync_all()?;
        fs::rename(&new, to.join(&name))?;
    }
    File::open(to)?.sync_all()?;
    Ok(keep_file)
}

fn pruned(name: &str) -> Failure {
    Failure::environment(format!(
        "somebody removes the objects of {name} again and again"
    ))
    .hint("let `git gc` and `git prune` end, then retry")
}
