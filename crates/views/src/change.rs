//! What a run has changed, and what its checks said: for reviewers, and for a person who is asked.

use engine::{AgentName, CheckEnd, CheckResult, CheckVerdict, DispatchId, Hash, StageName};
use serde_json::{Value, json};

use crate::layout::{TextBuilder, cut};
use crate::paint::{Paint, Style};
use crate::safe::{Untrusted, line};
use crate::words;

/// How many files are listed for a reviewer or a person; the diff names the others.
const LISTED_FILES: usize = 40;

/// A path or a command in a briefing is one line.
const LINE_COLUMNS: usize = 100;

/// How much of the diff a person sees with a question.
const PERSON_CHARACTERS: usize = 3_000;

/// The change of a run, and the latest result of each of its checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeReport {
    pub since: ChangeSince,
    pub files: Vec<ChangedFile>,
    /// How many files differ in all.
    pub all: usize,
    /// Redacted and bounded.
    pub diff: Untrusted,
    /// The hash of the diff, which marks its quotation.
    pub hash: Hash,
    pub checks: Vec<CheckRun>,
    /// The command that prints all of it.
    pub shown_by: String,
}

/// What the change is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeSince {
    Start,
    LastCommit,
}

impl ChangeSince {
    fn words(self) -> &'static str {
        match self {
            Self::Start => "since the run began",
            Self::LastCommit => "since the last commit",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::LastCommit => "last_commit",
        }
    }
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: Untrusted,
    pub how: FileChange,
    pub added: usize,
    pub removed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    New,
    Changed,
    Removed,
}

impl FileChange {
    /// The change of this word.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::New, Self::Changed, Self::Removed];
        all.into_iter().find(|change| change.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// The latest result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    pub stage: StageName,
    pub verdict: CheckVerdict,
    pub results: Vec<CheckResult>,
}

impl ChangedFile {
    fn line(&self) -> String {
        let Self {
            how,
            added,
            removed,
            ..
        } = self;
        format!("{} ({}, +{added} -{removed})", self.path.line(), how.word())
    }

    fn json(&self) -> Value {
        json!({
            "path": self.path.raw(),
            "change": self.how.word(),
            "added": self.added,
            "removed": self.removed,
        })
    }
}

impl CheckRun {
    /// The stage with its verdict, and each command with its end.
    fn lines(&self) -> Vec<String> {
        let head = format!("{} {}", self.stage, self.verdict.word());
        let commands = self.results.iter().map(|result| {
            let argv = line(&engine::shell_words(&result.argv));
            format!("  $ {argv}: {}", end(&result.ended))
        });
        [head].into_iter().chain(commands).collect()
    }

    /// The ends of the outputs, which others wrote.
    pub(crate) fn output(&self) -> String {
        let tails = self.results.iter().map(|result| {
            let argv = line(&engine::shell_words(&result.argv));
            format!(
                "$ {argv}\n{}",
                Untrusted::new(&result.tail).block().trim_end()
            )
        });
        tails.collect::<Vec<_>>().join("\n")
    }

    fn json(&self) -> Value {
        let results = self.results.iter().map(|result| {
            json!({ "argv": result.argv, "ended": end(&result.ended), "tail": result.tail })
        });
        json!({
            "stage": self.stage.as_str(),
            "verdict": self.verdict.word(),
            "commands": results.collect::<Vec<_>>(),
        })
    }
}

fn end(end: &CheckEnd) -> String {
    match end {
        CheckEnd::Exit(code) => format!("exit {code}"),
        CheckEnd::Signal(signal) => format!("signal {signal}"),
        CheckEnd::TimedOut => "timed out".to_owned(),
        CheckEnd::CouldNotStart(reason)
        | CheckEnd::EnvironmentLost(reason)
        | CheckEnd::ProgramUnaccepted(reason) => format!("not run: {}", line(reason)),
    }
}

impl ChangeReport {
    /// Is there anything to show?
    pub fn is_empty(&self) -> bool {
        self.all == 0 && self.checks.is_empty()
    }

    /// The same without changes that others may have made: since the last commit, that is all of them.
    pub fn of_the_run_alone(self) -> Self {
        match self.since {
            ChangeSince::Start => self,
            ChangeSince::LastCommit => Self {
                files: Vec::new(),
                all: 0,
                diff: Untrusted::new(""),
                ..self
            },
        }
    }

    /// `2 files changed since the run began`.
    fn heading(&self) -> String {
        let files = words::count(self.all as u64, "file");
        format!("{files} changed {}", self.since.words())
    }

    fn file_lines(&self, most: usize) -> Vec<String> {
        let listed = self.files.iter().take(most).map(ChangedFile::line);
        let mut lines: Vec<String> = listed.collect();
        if self.all > lines.len() {
            lines.push(format!("… and {} more", self.all - lines.len()));
        }
        lines
    }

    /// The part of a briefing that lists what changed and what was checked, in about so many lines. `copy` has
    /// the whole diff.
    pub(crate) fn briefing(&self, most: usize, copy: Option<&str>) -> String {
        let short = |text: String| format!("- {}", cut(&text, LINE_COLUMNS));
        let mut lines = Vec::new();
        if self.all > 0 {
            let whole = match copy {
                Some(copy) => format!(", complete in `{}`", line(copy)),
                None => String::new(),
            };
            lines.push(format!(
                "{}. The diff is quoted below{whole}:",
                self.heading()
            ));
            lines.extend(self.file_lines(most).into_iter().map(short));
        }
        if !self.checks.is_empty() {
            lines.push("The latest result of each check:".to_owned());
            let checks = self.checks.iter().flat_map(CheckRun::lines);
            lines.extend(checks.take(most).map(short));
        }
        lines.join("\n")
    }

    /// For a person who is asked.
    pub(crate) fn show(&self, builder: &mut TextBuilder) {
        if self.all == 0 {
            return;
        }
        builder.blank();
        builder.line(Style::Strong, &format!("  {}:", self.heading()));
        for file in self.file_lines(LISTED_FILES) {
            builder.line(Style::Normal, &format!("    {file}"));
        }
        self.show_checks(builder);
        let diff = self.diff.block();
        let beginning: String = diff.chars().take(PERSON_CHARACTERS).collect();
        builder.block(4, Style::Normal, beginning.trim_end());
        if beginning.len() < diff.len() {
            let more = format!("    … `{}` prints all of it", self.shown_by);
            builder.line(Style::Dim, &more);
        }
    }

    fn show_checks(&self, builder: &mut TextBuilder) {
        if self.checks.is_empty() {
            return;
        }
        builder.line(Style::Strong, "  The latest result of each check:");
        for check in self.checks.iter().flat_map(CheckRun::lines) {
            builder.line(Style::Normal, &format!("    {check}"));
        }
        builder.line(Style::Strong, "  The diff:");
    }

    /// All of it, line by line.
    pub fn lines(&self) -> Vec<(Style, String)> {
        let mut lines = vec![(Style::Strong, self.heading())];
        let files = self.file_lines(LISTED_FILES).into_iter();
        lines.extend(files.map(|file| (Style::Normal, format!("  {file}"))));
        let checks = self.checks.iter().flat_map(CheckRun::lines);
        lines.extend(checks.map(|check| (Style::Dim, format!("  {check}"))));
        lines.push((Style::Normal, String::new()));
        lines.extend(diff_lines(&self.diff));
        lines
    }

    pub fn text(&self, paint: Paint) -> String {
        painted(&self.lines(), paint)
    }

    pub fn json(&self) -> Value {
        json!({
            "since": self.since.word(),
            "all": self.all,
            "files": self.files.iter().map(ChangedFile::json).collect::<Vec<_>>(),
            "diff": self.diff.raw(),
            "checks": self.checks.iter().map(CheckRun::json).collect::<Vec<_>>(),
        })
    }
}

/// How much one piece of work changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeStat {
    pub files: usize,
    pub added: usize,
    pub removed: usize,
}

impl ChangeStat {
    /// `2 files, +12 -3`.
    pub fn text(self) -> String {
        let files = words::count(self.files as u64, "file");
        match self.files {
            0 => "no file changed".to_owned(),
            _ => format!("{files}, +{} -{}", self.added, self.removed),
        }
    }
}

/// What one piece of work changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkChange {
    pub dispatch: DispatchId,
    pub agent: AgentName,
    pub stage: StageName,
    /// Its number at the stage.
    pub attempt: u32,
    pub state: WorkChangeState,
}

/// What is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkChangeState {
    Seen {
        files: Vec<ChangedFile>,
        /// How many files differ in all.
        all: usize,
        /// Redacted and bounded.
        diff: Untrusted,
        /// The work goes on: this is what it has changed so far.
        so_far: bool,
    },
    /// Nobody knows, for this reason.
    Unseen { reason: Untrusted },
}

impl WorkChange {
    fn heading(&self) -> String {
        let Self {
            dispatch,
            agent,
            stage,
            attempt,
            state,
        } = self;
        let changed = match state {
            WorkChangeState::Seen { all, so_far, .. } => {
                let so_far = if *so_far { " so far" } else { "" };
                format!("{} changed{so_far}", words::count(*all as u64, "file"))
            }
            WorkChangeState::Unseen { reason } => format!("not known: {}", reason.line()),
        };
        format!("{dispatch} '{agent}' in {stage}, attempt {attempt}: {changed}")
    }

    /// All of it, line by line.
    pub fn lines(&self) -> Vec<(Style, String)> {
        let mut lines = vec![(Style::Strong, self.heading())];
        if let WorkChangeState::Seen {
            files, all, diff, ..
        } = &self.state
        {
            let listed = files.iter().take(LISTED_FILES);
            lines.extend(listed.map(|file| (Style::Normal, format!("  {}", file.line()))));
            let more = all.saturating_sub(files.len().min(LISTED_FILES));
            if more > 0 {
                lines.push((Style::Dim, format!("  … and {more} more")));
            }
            lines.push((Style::Normal, String::new()));
            lines.extend(diff_lines(diff));
        }
        lines
    }

    pub fn text(&self, paint: Paint) -> String {
        painted(&self.lines(), paint)
    }

    pub fn json(&self) -> Value {
        let (files, all, diff, so_far, reason) = match &self.state {
            WorkChangeState::Seen {
                files,
                all,
                diff,
                so_far,
            } => (Some(files), Some(all), Some(diff.raw()), *so_far, None),
            WorkChangeState::Unseen { reason } => (None, None, None, false, Some(reason.raw())),
        };
        json!({
            "dispatch": self.dispatch.to_string(),
            "agent": self.agent.as_str(),
            "stage": self.stage.as_str(),
            "attempt": self.attempt,
            "all": all,
            "files": files.map(|files| files.iter().map(ChangedFile::json).collect::<Vec<_>>()),
            "diff": diff,
            "so_far": so_far,
            "unknown": reason,
        })
    }
}

/// A diff is never wrapped: it is read, and applied, line by line.
fn painted(lines: &[(Style, String)], paint: Paint) -> String {
    let mut builder = TextBuilder::new(paint);
    for (style, line) in lines {
        builder.push(&paint.on(*style, line));
    }
    builder.finish()
}

fn diff_lines(diff: &Untrusted) -> Vec<(Style, String)> {
    let text = diff.block();
    let lines = text.lines();
    lines.map(|line| (style(line), line.to_owned())).collect()
}

fn style(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => Style::Good,
        Some(b'-') => Style::Bad,
        Some(b'@') => Style::Dim,
        Some(_) | None => Style::Normal,
    }
}
