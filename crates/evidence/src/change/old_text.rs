//! Files as a commit has them, asked of one git process, which applies no filter to them.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use engine::Hash;

use super::texts::{Side, side};
use super::{LARGEST, Unseen, is_content, text};
use crate::git::Git;
use crate::repository::Repository;

/// A git that answers with the bytes of files.
pub(super) struct OldTexts {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl OldTexts {
    pub(super) fn open(root: &Path, repository: &Repository) -> Result<Self, Unseen> {
        let failed = || Unseen::from("git cannot be asked for the files of the last commit");
        let git = Git::find().map_err(|error| error.to_string())?;
        let mut command = git.command(root, &repository.git_dir);
        command.args(["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| failed())?;
        let questions = child.stdin.take().ok_or_else(failed)?;
        let answers = BufReader::new(child.stdout.take().ok_or_else(failed)?);
        Ok(Self {
            child,
            questions,
            answers,
        })
    }

    /// The file of this path, as it was when the run began.
    pub(super) fn read(
        &mut self,
        commit: &str,
        path: &str,
        expected: &Hash,
    ) -> Result<Vec<u8>, Unseen> {
        let bytes = self.ask(commit, path);
        let bytes = bytes.map_err(|_| format!("git cannot read {path} of the last commit"))?;
        match bytes {
            Some(bytes) if is_content(&bytes, expected) => text(path, bytes),
            // The base has the hash of the file only, not its lines.
            Some(_) | None => Err(format!(
                "{path} was not as in the last commit when the run began"
            )),
        }
    }

    /// The file of this path in this commit, whatever the run found.
    pub(super) fn of_commit(
        &mut self,
        commit: &str,
        path: &str,
    ) -> Result<Option<Vec<u8>>, Unseen> {
        let bytes = self.ask(commit, path);
        bytes.map_err(|_| format!("git cannot read {path} of the last commit"))
    }

    /// The same, as one side of a change.
    pub(super) fn side_of(&mut self, commit: &str, path: &str) -> Side {
        match self.of_commit(commit, path) {
            Ok(None) => Side::Absent,
            Ok(Some(bytes)) => side(Ok(bytes)),
            Err(reason) => Side::Unseen(reason),
        }
    }

    /// The file, if the commit has one of a reasonable size.
    fn ask(&mut self, commit: &str, path: &str) -> std::io::Result<Option<Vec<u8>>> {
        if commit.is_empty() {
            return Ok(None);
        }
        writeln!(self.questions, "{commit}:{path}")?;
        self.questions.flush()?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        let Some(size) = blob_size(&head) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        // With the line feed that ends an answer.
        let mut answer = (&mut self.answers).take(size + 1);
        if size > LARGEST {
            std::io::copy(&mut answer, &mut std::io::sink())?;
            return Ok(None);
        }
        answer.read_to_end(&mut bytes)?;
        bytes.pop();
        Ok(Some(bytes))
    }
}

/// The size in an answer such as `8baef1b… blob 12`.
fn blob_size(head: &str) -> Option<u64> {
    let (_, rest) = head.trim_end().split_once(" blob ")?;
    rest.parse().ok()
}

impl Drop for OldTexts {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
