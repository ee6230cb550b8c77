//! Git as a program: only asked for facts, in an environment where a repository can start nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::error::Error;
use crate::system_path::SYSTEM_PATH;

/// The git program, at a path that no project can choose.
pub struct Git {
    program: PathBuf,
}

/// The files that git lists.
pub struct GitFiles(Vec<u8>);

/// A file that git lists.
pub struct GitFile<'a> {
    pub path: &'a [u8],
    /// Is it in the index?
    pub tracked: bool,
}

impl GitFiles {
    /// All that git said.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn iter(&self) -> impl Iterator<Item = GitFile<'_>> {
        let lines = self.0.split(|byte| *byte == 0);
        lines.filter_map(GitFile::parse)
    }
}

impl<'a> GitFile<'a> {
    /// A tag, a space and the path; the tag of an untracked file is a question mark.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let path = line.get(2..).filter(|path| !path.is_empty())?;
        let tracked = line[0] != b'?';
        Some(Self { path, tracked })
    }
}

/// Settings that would start programs or trust a cache that an agent can write.
const SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.alternateRefsCommand=false",
    // It starts the program for signatures, whose words come before those of git.
    "log.showSignature=false",
    "protocol.allow=never",
    "credential.helper=",
];

/// An agent can name another object to be shown in place of a commit, and other parents. A file that cannot be there is
/// the only one about which git says nothing.
pub const OWN_PARENTS: [(&str, &str); 2] = [
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null/none"),
];

/// A filter that changes nothing.
const FILTER_OFF: [(&str, &str); 4] = [
    (".smudge", ""),
    (".clean", ""),
    (".process", ""),
    (".required", "false"),
];

/// A merge driver that merges nothing. An empty one would, wrongly.
const DRIVER_OFF: &str = "false";

impl Git {
    pub fn find() -> Result<Self, Error> {
        Self::find_in(&SYSTEM_PATH)
    }

    fn find_in(folders: &[&str]) -> Result<Self, Error> {
        let programs = folders.iter().map(|folder| Path::new(folder).join("git"));
        match programs.into_iter().find(|program| program.is_file()) {
            Some(program) => Ok(Self { program }),
            None => Err(Error::GitMissing {
                searched: folders.join(", "),
            }),
        }
    }

    /// Tracked and unignored files, relative to the root. A nested repository ends with a slash.
    pub fn files(&self, root: &Path, git_dir: &Path) -> Result<GitFiles, Error> {
        let (files, ()) = self.files_while(root, git_dir, || ())?;
        Ok(files)
    }

    /// The same, and does something else while git is at work.
    pub fn files_while<T>(
        &self,
        root: &Path,
        git_dir: &Path,
        meanwhile: impl FnOnce() -> T,
    ) -> Result<(GitFiles, T), Error> {
        let mut command = self.command(root, git_dir);
        command.args(["ls-files", "-z", "-t", "-co", "--exclude-standard"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(Error::GitStart)?;
        let done = meanwhile();
        let output = child.wait_with_output().map_err(Error::GitStart)?;
        listed(root, output).map(|files| (files, done))
    }

    /// The files of a commit that are no longer in the index; nothing if there is no such commit.
    pub fn untracked_since(
        &self,
        root: &Path,
        git_dir: &Path,
        commit: &str,
    ) -> Option<Vec<Vec<u8>>> {
        let words = [
            "diff-index",
            "--cached",
            "--no-renames",
            "--diff-filter=D",
            "--name-only",
            "-z",
            commit,
            "--",
        ];
        let output = self.ask(root, git_dir, &words).ok()?;
        let paths = output.stdout.split(|byte| *byte == 0);
        let paths = paths.filter(|path| !path.is_empty()).map(<[u8]>::to_vec);
        output.status.success().then(|| paths.collect())
    }

    /// The checked-out commit, if there is one.
    pub fn head(&self, root: &Path, git_dir: &Path) -> Result<Option<String>, Error> {
        let output = self.ask(root, git_dir, &["rev-parse", "--verify", "--quiet", "HEAD"])?;
        let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.status.success() && !commit.is_empty()).then_some(commit))
    }

    /// The file with ignore rules that git's settings name, or git's default.
    pub fn excludes_file(&self, root: &Path, git_dir: &Path) -> Result<Option<PathBuf>, Error> {
        let question = ["config", "--type=path", "--get", "core.excludesFile"];
        let output = self.ask(root, git_dir, &question)?;
        let named = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        if output.status.success() && !named.is_empty() {
            return Ok(Some(root.join(OsStr::from_bytes(named))));
        }
        let settings = variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let home = || variable("HOME").map(|home| PathBuf::from(home).join(".config"));
        Ok(settings
            .or_else(home)
            .map(|settings| settings.join("git/ignore")))
    }

    /// The same as `command`, with every filter and merge driver off that the settings name: files have the bytes
    /// that git stores, those of a large-file store are its pointers, and what only a driver could merge is a conflict.
    pub fn without_filters(&self, root: &Path, git_dir: &Path) -> Result<Command, Error> {
        let known = self.program_keys(root, git_dir)?;
        let mut command = self.command(root, git_dir);
        give(&mut command, &harmless(&known));
        Ok(command)
    }

    /// The keys of all settings of filters and merge drivers, separated by zeros.
    pub fn program_keys(&self, root: &Path, git_dir: &Path) -> Result<Vec<u8>, Error> {
        let question = [
            "config",
            "--null",
            "--name-only",
            "--get-regexp",
            "^(filter|merge)[.]",
        ];
        let output = self.ask(root, git_dir, &question)?;
        match output.status.code() {
            // Git says no if there is none.
            Some(0 | 1) => Ok(output.stdout),
            _ => Err(failed(root, &output)),
        }
    }

    fn ask(&self, root: &Path, git_dir: &Path, words: &[&str]) -> Result<Output, Error> {
        let mut command = self.command(root, git_dir);
        command.args(words).output().map_err(Error::GitStart)
    }

    /// Git for this worktree of this repository. The repository's settings start no program, except
    /// filters and merge drivers, which the caller must avoid: `without_filters` does.
    pub fn command(&self, root: &Path, git_dir: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().stdin(Stdio::null());
        // Git changes the folder itself: for `current_dir` a static program forks, which costs milliseconds
        // where we have many files in memory.
        command.arg("-C").arg(root);
        for name in ["HOME", "XDG_CONFIG_HOME"] {
            command.envs(variable(name).map(|value| (name, value)));
        }
        // With both folders given, git neither searches nor obeys `core.worktree`.
        command.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", root);
        command
            .env("PATH", SYSTEM_PATH.join(":"))
            .env("LC_ALL", "C")
            .env("GIT_PAGER", "cat");
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0");
        command
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "");
        command.envs(OWN_PARENTS);
        command
            .arg("--no-pager")
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command
    }
}

/// A setting of a filter: `clean` of `lfs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterSetting<'a> {
    pub filter: &'a [u8],
    pub key: &'a [u8],
}

/// The settings of filters among these keys, which zeros separate.
pub fn filter_settings(keys: &[u8]) -> impl Iterator<Item = FilterSetting<'_>> {
    fields(keys).filter_map(|key| {
        let rest = key.strip_prefix(b"filter.")?;
        let end = rest.iter().rposition(|byte| *byte == b'.')?;
        Some(FilterSetting {
            filter: &rest[..end],
            key: &rest[end + 1..],
        })
    })
}

/// What git separates by zeros.
pub fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    let fields = output.split(|byte| *byte == 0);
    fields.filter(|field| !field.is_empty())
}

/// The paths in an answer of `git check-attr -z` about one attribute, each with its value.
pub fn attributes(answer: &[u8]) -> Vec<(&[u8], &[u8])> {
    let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    let files = fields.chunks_exact(3);
    files.map(|file| (file[0], file[2])).collect()
}

/// The input of a git command. It comes from a file: git answers while it still reads, and a pipe holds little.
pub fn input(bytes: &[u8]) -> Result<Stdio, Error> {
    let written = || -> std::io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(file)
    };
    written().map(Stdio::from).map_err(Error::GitStart)
}

/// Settings that start no program in place of those with these keys.
fn harmless(keys: &[u8]) -> BTreeMap<Vec<u8>, &'static str> {
    let mut settings = BTreeMap::new();
    for FilterSetting { filter, .. } in filter_settings(keys) {
        for (last, value) in FILTER_OFF {
            settings.insert([b"filter.", filter, last.as_bytes()].concat(), value);
        }
    }
    let drivers =
        fields(keys).filter(|key| key.starts_with(b"merge.") && key.ends_with(b".driver"));
    settings.extend(drivers.map(|key| (key.to_vec(), DRIVER_OFF)));
    settings
}

/// Gives settings to a command. The equals sign ends a key on the command line, so one with such a name, which is as
/// good as another, goes through the environment.
fn give(command: &mut Command, settings: &BTreeMap<Vec<u8>, &'static str>) {
    let mut odd = 0;
    for (key, value) in settings {
        let key = OsStr::from_bytes(key);
        if key.as_bytes().contains(&b'=') {
            command.env(format!("GIT_CONFIG_KEY_{odd}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{odd}"), value);
            odd += 1;
        } else {
            let mut setting = key.to_owned();
            setting.push("=");
            setting.push(value);
            command.arg("-c").arg(setting);
        }
    }
    if odd > 0 {
        command.env("GIT_CONFIG_COUNT", odd.to_string());
    }
}

/// The files that git listed.
fn listed(root: &Path, output: Output) -> Result<GitFiles, Error> {
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || skipped_a_folder(&complaint) {
        return Err(failed(root, &output));
    }
    Ok(GitFiles(output.stdout))
}

fn failed(root: &Path, output: &Output) -> Error {
    Error::GitFailed {
        root: root.to_path_buf(),
        message: crate::text::line(&String::from_utf8_lossy(&output.stderr), 300),
    }
}

/// Git only warns about a folder that it cannot open, but its files would be hidden from us.
fn skipped_a_folder(complaint: &str) -> bool {
    complaint.contains("could not open directory")
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A path from git's bytes.
pub fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_git_is_an_error_that_says_what_to_do() {
        let empty = tempfile::tempdir().unwrap();
        let folder = empty.path().to_str().unwrap();
        let error = Git::find_in(&[folder]).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!("git was not found in {folder}, and this project needs it; install git")
        );
        assert!(Git::find().is_ok());
    }

    #[test]
    fn filters_and_merge_drivers_are_known_by_the_settings() {
        let output =
            b"filter.lfs.clean\0filter.lfs.process\0filter.a=b.c.smudge\0merge.ff\0merge.own.driver\0merge.own.name\0";
        let found = harmless(output);
        let keys = found.keys().map(|key| String::from_utf8_lossy(key));
        let expected = [
            "filter.a=b.c.clean",
            "filter.a=b.c.process",
            "filter.a=b.c.required",
            "filter.a=b.c.smudge",
            "filter.lfs.clean",
            "filter.lfs.process",
            "filter.lfs.required",
            "filter.lfs.smudge",
            "merge.own.driver",
        ];
        assert_eq!(Vec::from_iter(keys), expected);
        assert!(harmless(b"").is_empty());
    }

    #[test]
    fn a_filter_is_known_by_any_of_its_settings() {
        let keys = b"filter.lfs.process\0filter.a.b.clean\0merge.x.driver\0filter.odd\0";
        let found: Vec<_> = filter_settings(keys)
            .map(|it| (it.filter, it.key))
            .collect();
        let expected: [(&[u8], &[u8]); 2] = [(b"lfs", b"process"), (b"a.b", b"clean")];
        assert_eq!(found, expected);
    }

    #[test]
    fn settings_that_cannot_be_read_are_not_settings_without_programs() {
        let folder = tempfile::tempdir().unwrap();
        let (root, git) = (folder.path(), Git::find().unwrap());
        let git_dir = root.join(".git");
        let made = git.ask(root, &git_dir, &["init", "--quiet"]).unwrap();
        assert!(made.status.success());
        assert!(git.program_keys(root, &git_dir).unwrap().is_empty());
        assert!(git.without_filters(root, &git_dir).is_ok());
        std::fs::write(git_dir.join("config"), "[filter \"x\n").unwrap();
        assert!(git.without_filters(root, &git_dir).is_err());
    }

    #[test]
    fn a_folder_that_git_skipped_is_noticed() {
        let warning = "warning: could not open directory 'a/': Permission denied\n";
        assert!(skipped_a_folder(warning));
        assert!(!skipped_a_folder("warning: something harmless\n"));
    }
}
