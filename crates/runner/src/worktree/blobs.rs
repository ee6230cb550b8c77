//! Reads many blobs from the repository with one `git cat-file` process.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use runtime::failure::Failure;

use super::git::not_started;
use super::scratch::Scratch;

/// Dropping it ends the process.
pub(super) struct BlobReader {
    git: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// The content of a blob with known length, not yet read.
pub(super) type Content<'a> = io::Take<&'a mut BufReader<ChildStdout>>;

impl BlobReader {
    pub(super) fn open(scratch: &Scratch<'_>) -> Result<Self, Failure> {
        let mut command = scratch.command();
        command
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut git = command.spawn().map_err(not_started)?;
        let questions = git.stdin.take();
        let answers = git.stdout.take();
        let answers = answers.ok_or_else(|| Failure::bug("git was started without an output"))?;
        Ok(Self {
            git,
            questions,
            answers: BufReader::new(answers),
        })
    }

    /// Passes the content of a blob to `take`, and skips what it does not read.
    pub(super) fn read<T>(
        &mut self,
        object: &str,
        take: impl FnOnce(&mut Content<'_>) -> T,
    ) -> Result<T, Failure> {
        let length = self.ask(object).map_err(|cause| lost(object, &cause))?;
        let mut content = (&mut self.answers).take(length);
        let taken = take(&mut content);
        let rest = io::copy(&mut content, &mut io::sink());
        let end = rest.and_then(|_| self.answers.read_exact(&mut [0]));
        end.map_err(|cause| lost(object, &cause))?;
        Ok(taken)
    }

    /// Asks for an object; the answer starts with its length.
    fn ask(&mut self, object: &str) -> io::Result<u64> {
        let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let questions = self.questions.as_mut().ok_or_else(gone)?;
        writeln!(questions, "{object}")?;
        questions.flush()?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        let mut words = head.split_whitespace().skip(1);
        let length = match (words.next(), words.next()) {
            (Some("blob"), Some(length)) => length.parse().ok(),
            _ => None,
        };
        length.ok_or_else(|| io::Error::other(head.trim().to_owned()))
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        // Git ends when its input is closed.
        self.questions = None;
        let _ = self.git.wait();
    }
}

fn lost(object: &str, cause: &io::Error) -> Failure {
    Failure::environment(format!("git cannot read the object {object} ({cause})"))
        .hint("check the repository with `git fsck`")
}
