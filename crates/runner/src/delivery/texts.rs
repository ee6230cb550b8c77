//! What a delivery says: the title, the message of the commit, and the report of the run.

use engine::{Run, RunId};
use runtime::clock;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};

/// Names the run in a commit that it made.
pub(super) const TRAILER: &str = "Gatewright-Run";

/// The longest report in a commit's message.
const LONGEST_REPORT: usize = 16 * 1024;

/// The longest text of a request. GitHub takes 65,536 characters, and an argument of a command has at most 128 KiB.
const LONGEST_REQUEST: usize = 60_000;

/// The longest title, which is a commit's subject.
const LONGEST_TITLE: usize = 72;

/// What is said about the work of a run.
pub(super) struct Texts {
    /// The first line of the task.
    pub title: String,
    /// The report as Markdown, for a request to merge. A longer one is cut.
    pub report: String,
    /// The same in plain lines, for a commit.
    plain: String,
}

impl Texts {
    /// From the journal of the run.
    pub(super) fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Self, Failure> {
        let mut reader = RunReader::new(opened.run().id.clone());
        let report = reader.report(workspace, opened, clock::now())?.published();
        Ok(Self {
            title: title(opened.run()),
            report: of_request(report.markdown(), &opened.run().id),
            plain: report.commit_text(),
        })
    }

    /// The message of the commit with the work of a completed run.
    pub(super) fn message(&self, opened: &OpenRun) -> String {
        message(
            opened,
            &self.title,
            &rest(&self.title, &opened.run().task),
            &self.plain,
        )
    }
}

/// The message of a commit with what a run left that is not completed.
pub(super) fn left_message(opened: &OpenRun) -> String {
    let run = opened.run();
    message(
        opened,
        &format!("What {} left", run.id),
        run.task.trim(),
        "",
    )
}

fn message(opened: &OpenRun, subject: &str, task: &str, report: &str) -> String {
    let parts = [plain_lines(task), plain_lines(&shortened(report))];
    let parts = parts.iter().filter(|part| !part.is_empty());
    let body: String = parts.map(|part| format!("{part}\n\n")).collect();
    let pipeline = &opened.pipeline.definition().name;
    let run = &opened.run().id;
    format!("{subject}\n\n{body}{TRAILER}: {run}\nGatewright-Pipeline: {pipeline}\n")
}

/// The first line of the task, as a commit's subject.
fn title(run: &Run) -> String {
    let line = run.task.trim().lines().next().unwrap_or_default();
    let line = views::line(line);
    let line = line.trim_start_matches(['#', ' ']);
    match line.char_indices().nth(LONGEST_TITLE) {
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
        None => line.to_owned(),
    }
}

/// What the subject does not say of the task.
fn rest(title: &str, task: &str) -> String {
    let task = task.trim();
    let (first, rest) = task.split_once('\n').unwrap_or((task, ""));
    if views::line(first).trim_start_matches(['#', ' ']) == title {
        rest.trim().to_owned()
    } else {
        task.to_owned()
    }
}

/// Text whose lines git keeps when somebody edits the message: it drops those that begin with `#`.
fn plain_lines(text: &str) -> String {
    let text = views::safe(text).to_string();
    let lines = text
        .trim()
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) => rest.trim_start_matches('#').trim_start(),
            None => line.trim_end(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// What a request can hold of a report, and where all of it is.
fn of_request(report: String, run: &RunId) -> String {
    if report.len() <= LONGEST_REQUEST {
        return report;
    }
    let rest = format!("\n\n… This report is cut: `gatewright show {run}` has all of it.\n");
    let cut = &report[..report.floor_char_boundary(LONGEST_REQUEST - rest.len())];
    format!("{}{rest}", cut.trim_end())
}

fn shortened(report: &str) -> String {
    if report.len() <= LONGEST_REPORT {
        return report.to_owned();
    }
    let cut = &report[..report.floor_char_boundary(LONGEST_REPORT)];
    format!("{}\n…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_no_request_can_hold_is_cut_and_says_where_all_of_it_is() {
        let run = RunId::parse("r-1").unwrap();
        let cut = of_request("ü".repeat(LONGEST_REQUEST), &run);
        assert!(cut.len() <= LONGEST_REQUEST && cut.len() > LONGEST_REQUEST - 200);
        let last = cut.lines().next_back().unwrap();
        assert!(last.contains("`gatewright show r-1`"), "{last}");
        let whole = "x".repeat(LONGEST_REQUEST);
        assert_eq!(of_request(whole.clone(), &run), whole);
    }

    #[test]
    fn a_message_has_the_task_once_and_no_line_that_git_takes_for_a_comment() {
        for (title, task, expected) in [
            ("try", "try", ""),
            ("try", "  try\n", ""),
            ("Add a login", "# Add a login\n\nWith JWT.\n", "With JWT."),
            (
                "a very long…",
                "a very long line\nmore",
                "a very long line\nmore",
            ),
        ] {
            assert_eq!(rest(title, task), expected);
        }
        assert_eq!(
            plain_lines("## Why\n#1 is open\ntext  \n"),
            "Why\n1 is open\ntext"
        );
    }
}
