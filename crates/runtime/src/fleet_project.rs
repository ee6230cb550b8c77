//! The project of a fleet's run: a remote of git. Machines hand the run's files on through it, under
//! `refs/gatewright/RUN`.
//!
//! Git reaches out here as the person's own git would, with their keys and helpers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use engine::{RunId, redact};
use evidence::Project;
use store::Fence;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::outward_git;
use crate::subprocess;

/// The remote of the project that a fleet uses.
pub const REMOTE: &str = "origin";

/// A push of a large repository takes a while.
const TIMEOUT: Duration = Duration::from_secs(300);

/// What git may use to reach a remote: never a command that the address names.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// Git that reaches the remote of a project.
pub struct FleetProject<'a> {
    pub folder: &'a Path,
    pub environment: &'a Environment,
}

/// Which of a run's trees a ref has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptTree {
    /// The commit that the run begins with.
    Start,
    /// The last tree of the worker that had this fence. Nobody else pushes there, so a machine that wakes up late
    /// changes nothing that another one reads.
    Under(Fence),
}

impl KeptTree {
    /// Steps have names without a dot, so their refs are others.
    pub fn name(self, run: &RunId) -> String {
        match self {
            Self::Start => format!("refs/gatewright/{run}/tree.start"),
            Self::Under(Fence { number, claim }) => {
                format!("refs/gatewright/{run}/tree.{number}.{claim:032x}")
            }
        }
    }
}

/// The address of the project's remote, as other machines use it.
pub fn remote_of(project: &Project, environment: &Environment) -> Result<String, Failure> {
    if project.repository.is_none() {
        let message = "a run in the fleet needs a git repository, and this project is not one";
        return Err(Failure::refused(message)
            .hint("make one with `git init`, or start the run without --fleet"));
    }
    let here = FleetProject {
        folder: &project.root,
        environment,
    };
    let found = here.git(&["remote", "get-url", REMOTE]).map_err(|_| {
        Failure::refused(format!(
            "the project has no remote {REMOTE}, and machines exchange files through it"
        ))
        .hint(format!("add one with `git remote add {REMOTE} ADDRESS`"))
    })?;
    let address = found.trim();
    if has_password(address) {
        let message = format!(
            "the address of the remote {REMOTE} has a password, which every machine would see"
        );
        return Err(Failure::refused(message)
            .hint("remove it from the address, and let git ask a credential helper"));
    }
    Ok(absolute(address, &project.root))
}

/// A path means the same on every machine only if it is complete.
fn absolute(address: &str, root: &Path) -> String {
    let is_path = !address.contains(':') && !address.starts_with('/');
    if is_path {
        let path = root.join(address);
        let path = fs::canonicalize(&path).unwrap_or(path);
        path.to_string_lossy().into_owned()
    } else {
        address.to_owned()
    }
}

fn has_password(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
}

impl FleetProject<'_> {
    /// Pushes a commit to a ref of the run.
    pub fn push(&self, run: &RunId, commit: &str, tree: KeptTree) -> Result<(), Failure> {
        let refspec = format!("+{commit}:{}", tree.name(run));
        self.git(&outward_git::push(REMOTE, &[&refspec]))
            .map(drop)
            .map_err(|why| {
                Failure::environment(format!(
                    "the remote {REMOTE} does not take the tree of {run}: {why}"
                ))
                .hint(format!(
                    "make sure that `git push {REMOTE} HEAD:refs/gatewright/try` works here"
                ))
            })
    }

    /// Makes this folder a clone of the remote, and fetches what it has of the run.
    pub fn fetch(&self, remote: &str, run: &RunId) -> Result<(), Failure> {
        if !self.folder.join(".git").is_dir() {
            fs::create_dir_all(self.folder).map_err(Failure::file("make", self.folder))?;
            self.asked(&["init", "--quiet"])?;
        }
        self.asked(&["config", &format!("remote.{REMOTE}.url"), remote])?;
        let refspec = format!("+refs/gatewright/{run}/*:refs/gatewright/{run}/*");
        let words = ["fetch", "--quiet", "--no-tags", "--", REMOTE, &refspec];
        self.git(&words).map(drop).map_err(|why| {
            let remote = views::line(remote);
            Failure::environment(format!("git cannot fetch {run} from {remote}: {why}")).hint(
                format!("make sure that `git ls-remote {remote}` works on this machine"),
            )
        })
    }

    /// Fetches a branch of the remote, and lets this ref name its last commit.
    pub fn fetch_branch(&self, branch: &str, name: &str) -> Result<(), Failure> {
        let refspec = format!("+refs/heads/{branch}:{name}");
        let words = ["fetch", "--quiet", "--no-tags", "--", REMOTE, &refspec];
        self.git(&words).map(drop).map_err(|why| {
            let branch = views::line(branch);
            Failure::environment(format!(
                "git cannot fetch the branch {branch} from {REMOTE}: {why}"
            ))
            .hint(format!(
                "make sure that `git ls-remote {REMOTE}` works here and lists it"
            ))
        })
    }

    /// Removes what the remote has of a run that is over.
    pub fn forget(&self, run: &RunId) -> Result<(), Failure> {
        let listed = self.asked(&[
            "for-each-ref",
            "--format=%(refname)",
            &format!("refs/gatewright/{run}/tree.*"),
        ])?;
        let refs: Vec<&str> = listed
            .lines()
            .filter(|line| line.contains("/tree."))
            .collect();
        let known = self.asked(&[
            "ls-remote",
            "--refs",
            "--",
            REMOTE,
            &format!("refs/gatewright/{run}/*"),
        ])?;
        let there = known
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1));
        let gone: Vec<String> = there.map(|name| format!(":{name}")).collect();
        if !gone.is_empty() {
            let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
            self.asked(&outward_git::push(REMOTE, &gone))?;
        }
        for name in refs {
            self.asked(&["update-ref", "-d", name])?;
        }
        Ok(())
    }

    fn asked(&self, words: &[&str]) -> Result<String, Failure> {
        self.git(words).map_err(|why| {
            let what = words.first().copied().unwrap_or_default();
            Failure::environment(format!("`git {what}` failed: {why}"))
                .hint(format!("repair {}", self.folder.display()))
        })
    }

    /// What git says; otherwise why it failed.
    fn git(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new("git");
        command
            .args(outward_git::words(words))
            .current_dir(self.folder);
        outward_git::surround(&mut command);
        command.env("GIT_ALLOW_PROTOCOL", PROTOCOLS);
        let ended =
            subprocess::run(&mut command, b"", TIMEOUT).map_err(|error| error.to_string())?;
        ended.success().map_err(|why| {
            let why = redact(&why, self.environment.secrets());
            views::line(&why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_seen() {
        for (address, expected) in [
            ("https://ada:secret@example.org/shop.git", true),
            ("https://ada@example.org/shop.git", false),
            ("https://example.org/a:b/shop.git", false),
            ("git@example.org:shop.git", false),
            ("/srv/git/shop.git", false),
        ] {
            assert_eq!(has_password(address), expected, "{address}");
        }
    }

    #[test]
    fn a_relative_path_is_completed() {
        let root = Path::new("/nowhere/shop");
        assert_eq!(absolute("../shop.git", root), "/nowhere/shop/../shop.git");
        for address in [
            "/srv/shop.git",
            "git@example.org:shop.git",
            "https://example.org/x",
        ] {
            assert_eq!(absolute(address, root), address);
        }
    }
}
