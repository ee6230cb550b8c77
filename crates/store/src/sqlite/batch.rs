//! A batch: several writes in one transaction, each atomic, none undone by another.

use std::time::Duration;

use engine::RunId;

use super::Sqlite;
use super::heads::Head;
use super::write::WriteTransaction;
use crate::chain::Tip;
use crate::{Error, Lease, Transacted};

/// A write that can run in any transaction, and again if that one fails.
///
/// Invariant: it checks all conditions before it writes.
pub(super) type Job = Box<dyn Fn(&WriteTransaction<'_>) -> Result<JobResult, Error> + Send>;

/// The result of a job. It holds once the transaction is durable.
pub(super) struct JobResult {
    pub answer: Answer,
    /// The head file to write afterwards.
    pub head: Option<(Head, RunId, Tip)>,
}

pub(super) enum Answer {
    /// The decision is stored.
    Stored,
    /// It is not stored, for this reason.
    Already(Transacted),
    Claimed(Lease),
}

impl From<Answer> for JobResult {
    fn from(answer: Answer) -> Self {
        Self { answer, head: None }
    }
}

pub(super) type Answers = Vec<Result<Answer, Error>>;

impl Sqlite {
    /// Does all writes in one transaction with one sync, and answers when they are durable.
    ///
    /// If that fails, each write is retried in its own transaction, so that each gets its own
    /// answer.
    pub(super) fn write_together(&mut self, jobs: &[Job]) -> Answers {
        let answers = match self.in_one_transaction(jobs) {
            Ok(answers) => answers,
            Err(error) if jobs.len() == 1 => vec![Err(error)],
            Err(error) => self.one_by_one(jobs, &error),
        };
        self.reuse_log(super::VERY_LONG_LOG);
        answers
    }

    fn in_one_transaction(&mut self, jobs: &[Job]) -> Result<Answers, Error> {
        let writing = WriteTransaction::begin(self)?;
        let (mut answers, mut heads) = (Vec::with_capacity(jobs.len()), Vec::new());
        for job in jobs {
            match job(&writing) {
                Ok(JobResult { answer, head }) => {
                    answers.push(Ok(answer));
                    heads.extend(head);
                }
                Err(error) if is_refusal(&error) => answers.push(Err(error)),
                Err(error) => return Err(error),
            }
        }
        writing.commit_with_heads(&heads)?;
        Ok(answers)
    }

    fn one_by_one(&mut self, jobs: &[Job], error: &Error) -> Answers {
        let writer_timeout = self.writer_timeout;
        if is_busy(error) {
            self.wait_no_longer();
        }
        let answers = jobs.iter().map(|job| {
            let answer = self.in_one_transaction(std::slice::from_ref(job));
            if answer.as_ref().is_err_and(is_busy) {
                self.wait_no_longer();
            }
            answer.and_then(|mut answers| answers.remove(0))
        });
        let answers = answers.collect();
        self.wait_again(writer_timeout);
        answers
    }

    /// All have waited as long as one of them would.
    fn wait_no_longer(&mut self) {
        self.writer_timeout = Duration::ZERO;
        let _ = self.connection.busy_timeout(Duration::ZERO);
    }

    fn wait_again(&mut self, writer_timeout: Duration) {
        self.writer_timeout = writer_timeout;
        let _ = self.connection.busy_timeout(super::BUSY_TIMEOUT);
    }
}

/// Does this error concern one write alone, which has changed nothing?
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::UnknownRun { .. } | Error::Held { .. } | Error::Fenced { .. }
    )
}

fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Busy { .. })
}
