//! Merges one commit into the person's tree: all looks come first, so that a refusal has changed nothing.

use std::io::{self, Write as _};

use evidence::git::fields;
use runtime::failure::Failure;
use tempfile::NamedTempFile;

use super::BranchMerge;
use super::in_the_way;
use super::planned::{self, Conflicts, Planned};
use super::target::Target;
use crate::run_place::complaint;

/// Other ways to merge that the person may have set up for merges of their own. Here they would leave a merge half done,
/// or stop one that nothing stands against.
const USUAL: [&str; 4] = ["--ff", "--commit", "--no-squash", "--no-autostash"];

/// The repository's settings could name other programs, for the signatures that the person may want to see.
const PROGRAMS: [&str; 8] = [
    "-c",
    "gpg.program=gpg",
    "-c",
    "gpg.openpgp.program=gpg",
    "-c",
    "gpg.x509.program=gpgsm",
    "-c",
    "gpg.ssh.program=ssh-keygen",
];

/// Merges this commit, the last one of the branch.
pub(super) fn merge(target: &Target<'_>, tip: &str) -> Result<BranchMerge, Failure> {
    let branch = target.name.to_owned();
    let head = target.head()?;
    let mut command = target.here.command()?;
    command.args(["merge-base", "--is-ancestor", tip, &head]);
    if target.here.output(&mut command)?.status.success() {
        let is_empty = tip == target.place.branch.base;
        return Ok(BranchMerge::Nothing { branch, is_empty });
    }
    target.require_related(&head, tip)?;
    let planned = match planned::plan(target, &head, tip)? {
        Ok(planned) => planned,
        Err(Conflicts(paths)) => return Ok(BranchMerge::Conflict { branch, paths }),
    };
    planned.require_unfiltered(target)?;
    let same = planned.require_free(target)?;
    write(target, &planned, &head, tip, &same)?;
    let commit = target.here.line(&["rev-parse", "HEAD"])?;
    let commit = commit.unwrap_or_default();
    let changed = ["diff", "--name-only", "-z", &head, &commit];
    let changed = target.here.ask(&changed)?;
    Ok(BranchMerge::Merged {
        branch,
        commit,
        files: fields(&changed).count(),
    })
}

fn write(
    target: &Target<'_>,
    planned: &Planned,
    head: &str,
    tip: &str,
    same: &[Vec<u8>],
) -> Result<(), Failure> {
    let (here, name) = (&target.here, target.name);
    let mut command = here.command()?;
    // Git writes over an untracked file only if it ignores it.
    let ignored = ignored(same).map_err(evidence::Error::GitStart)?;
    if let Some(ignored) = &ignored {
        let file = ignored.path().display();
        command.args(["-c", &format!("core.excludesFile={file}")]);
    }
    if here.line(&["config", "user.email"])?.is_none() {
        command.args([
            "-c",
            "user.name=gatewright",
            "-c",
            "user.email=gatewright@localhost",
        ]);
    }
    command.args(PROGRAMS);
    command.args(["merge", "--quiet", "--no-edit", "--no-gpg-sign"]);
    // A tag may have the name of the branch, and git would merge that one.
    let says = format!("Merge branch '{}'", target.place.branch.name);
    let output = here.output(command.args(USUAL).args(["-m", &says, tip]))?;
    if output.status.success() {
        return Ok(());
    }
    let (why, there) = (complaint(&output), target.there());
    let failure = Failure::refused(format!("git does not merge {name}{there} ({why})"));
    let again = target.again();
    Err(if planned.meets_changes(target, head)? {
        failure.hint(format!("commit or stash your changes, then type {again}"))
    } else {
        failure.hint(format!("change that, then type {again}"))
    })
}

/// A file with the patterns of these paths.
fn ignored(paths: &[Vec<u8>]) -> io::Result<Option<NamedTempFile>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut file = NamedTempFile::new()?;
    for path in paths {
        file.write_all(&in_the_way::pattern(path))?;
    }
    Ok(Some(file))
}
