//! Renders views: compares each file with its last written state, and writes it if it must change.

use engine::{Entry, Hash, Readers, View, ViewChange, ViewFormat};
use evidence::{InsidePath, ViewFolder, artifact_path};
use store::Backend as _;
use views::{JournalDigest, Template, ViewContent, ViewInput};

use super::record::{TextFingerprint, ViewRecord, WrittenView};
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};

/// What was found and done.
#[derive(Default)]
pub(super) struct RenderResult {
    pub changed: Vec<ChangedView>,
    /// A message for each view that could not be written.
    pub unwritten: Vec<String>,
}

/// A view that somebody else changed.
pub(super) struct ChangedView {
    pub view: View,
    pub path: InsidePath,
    pub how: ViewChange,
}

/// Renders the views of the run as it was read, unless a later version was already rendered.
///
/// `stored` are the entries that were stored just now.
pub(super) fn render(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    stored: &[(u64, Entry)],
) -> RenderResult {
    // Before its worktree is made, a run has nowhere to show anything. The machine that has it renders it there.
    if opened.run().is_unplaced() || workspace.is_elsewhere(opened) {
        return RenderResult::default();
    }
    let tried = || {
        let run = &opened.run().id;
        let folder = ViewFolder::new(workspace.worktree_of(opened)?);
        let expect_delay = || workspace.context.expect_delay();
        let _lock = ViewRecord::lock(&workspace.state, run, expect_delay)?;
        let record = ViewRecord::read(&workspace.state, run);
        if record.digest.version > opened.stored.version {
            return Ok(RenderResult::default());
        }
        ViewRenderer::new(workspace, opened, folder, record, stored)?.render()
    };
    tried().unwrap_or_else(|failure: Failure| RenderResult {
        unwritten: vec![failure.to_string()],
        ..RenderResult::default()
    })
}

struct ViewRenderer<'a> {
    workspace: &'a Workspace<'a>,
    opened: &'a OpenRun,
    folder: ViewFolder,
    record: ViewRecord,
    /// The version up to which the log is written.
    logged: u64,
    /// The log lines since then.
    new_log_lines: String,
    rendered: RenderResult,
}

/// Where a view is written, and who may read it there.
#[derive(Clone, Copy)]
struct ViewFile<'a> {
    path: &'a InsidePath,
    readers: Readers,
}

/// The state of a view's file, compared with the record.
enum FileState {
    /// There is no record of it.
    New,
    AsLeft(WrittenView),
    Changed(ViewChange),
}

impl<'a> ViewRenderer<'a> {
    fn new(
        workspace: &'a Workspace<'a>,
        opened: &'a OpenRun,
        folder: ViewFolder,
        mut record: ViewRecord,
        stored: &[(u64, Entry)],
    ) -> Result<Self, Failure> {
        let logged = record.digest.version;
        let new_log_lines = if continues(stored, logged, opened.stored.version) {
            record.digest.update(&opened.pipeline, &numbered(stored))
        } else {
            let journal = journal(workspace, opened, logged)?;
            record.digest.update(&opened.pipeline, &numbered(&journal))
        };
        Ok(Self {
            workspace,
            opened,
            folder,
            record,
            logged,
            new_log_lines,
            rendered: RenderResult::default(),
        })
    }

    fn render(mut self) -> Result<RenderResult, Failure> {
        let OpenRun { stored, pipeline } = self.opened;
        let views = pipeline.definition().views.iter();
        let views = views.filter(|view| views::is_due(&view.format, pipeline, &stored.run));
        let views: Vec<&View> = views.collect();
        let history = if views.iter().any(|view| views::needs_journal(&view.format)) {
            history(self.workspace, self.opened)?
        } else {
            Vec::new()
        };
        let shows_replies = |view: &&View| view.format == ViewFormat::PipelineState;
        if views.iter().any(shows_replies) {
            let contents = contents(self.workspace);
            views::keep_replies(&mut self.record.digest, pipeline, &stored.run, &contents);
        }
        self.record.mark_incomplete();
        let reads = views.iter().any(|view| views::reads_contents(&view.format));
        let store = &self.workspace.store;
        let write = || {
            for view in views {
                if let Err(line) = self.view(view, &history) {
                    self.rendered.unwritten.push(line);
                }
            }
        };
        if reads {
            store.in_one_snapshot(write);
        } else {
            write();
        }
        // Without a record the next rendering reads the whole journal.
        let _ = self.record.save();
        Ok(self.rendered)
    }

    fn view(&mut self, view: &View, history: &[(u64, Entry)]) -> Result<(), String> {
        let (definition, run) = (self.opened.pipeline.definition(), self.opened.run());
        let path = artifact_path(&view.path, definition, run, None).map_err(|reason| {
            let name = view.format.name();
            format!("the view {name} has no usable path: {reason}")
        })?;
        let found = self.found(&path)?;
        if let FileState::Changed(how) = found {
            self.rendered.changed.push(ChangedView {
                view: view.clone(),
                path: path.clone(),
                how,
            });
        }
        let shown = self.shown(&view.format, history)?;
        let file = ViewFile {
            path: &path,
            readers: view.readers,
        };
        let written = match (shown, found) {
            (ViewContent::Log, FileState::AsLeft(left)) => self.lengthen(file, left),
            (ViewContent::Log, _) => self.put_log(file),
            (ViewContent::Text(text), found) => self.put(file, &text, found),
        };
        self.record.set(&path, written.as_ref().ok().copied());
        written.map(drop)
    }

    fn found(&self, path: &InsidePath) -> Result<FileState, String> {
        let Some(left) = self.record.of(path) else {
            return Ok(FileState::New);
        };
        let now = self.folder.stamp(path).map_err(|error| error.to_string())?;
        Ok(match now {
            None => FileState::Changed(ViewChange::Removed),
            Some(now) if now == left.file_stamp => FileState::AsLeft(*left),
            Some(now) if self.says_the_same(path, left) => FileState::AsLeft(WrittenView {
                file_stamp: now,
                ..*left
            }),
            Some(_) => FileState::Changed(ViewChange::Edited),
        })
    }

    /// A touched or copied file may still have our text.
    fn says_the_same(&self, path: &InsidePath, left: &WrittenView) -> bool {
        let Some(bytes) = self.folder.read(path) else {
            return false;
        };
        match left.print {
            Some(known) => TextFingerprint::of(&bytes) == known,
            None => self
                .log(self.logged)
                .is_ok_and(|log| log.as_bytes() == bytes),
        }
    }

    /// The whole log up to this entry.
    fn log(&self, version: u64) -> Result<String, String> {
        let journal =
            journal(self.workspace, self.opened, 0).map_err(|failure| failure.to_string())?;
        let mut entries = numbered(&journal);
        entries.retain(|(number, _)| *number <= version);
        Ok(JournalDigest::default().update(&self.opened.pipeline, &entries))
    }

    /// A log only grows.
    fn lengthen(&self, file: ViewFile<'_>, left: WrittenView) -> Result<WrittenView, String> {
        if self.new_log_lines.is_empty() {
            return Ok(left);
        }
        let lines = self.new_log_lines.as_bytes();
        let longer = self.folder.append(file.path, lines, left.file_stamp);
        match longer.map_err(|error| error.to_string())? {
            Some(file_stamp) => Ok(WrittenView {
                file_stamp,
                print: None,
            }),
            None => self.put_log(file),
        }
    }

    fn put_log(&self, file: ViewFile<'_>) -> Result<WrittenView, String> {
        let log = self.log(self.opened.stored.version)?;
        let file_stamp = replaced(&self.folder, file, &log)?;
        Ok(WrittenView {
            file_stamp,
            print: None,
        })
    }

    fn put(&self, file: ViewFile<'_>, text: &str, found: FileState) -> Result<WrittenView, String> {
        let print = Some(TextFingerprint::of(text.as_bytes()));
        match found {
            FileState::AsLeft(left) if left.print == print => Ok(left),
            FileState::AsLeft(_) | FileState::New | FileState::Changed(_) => {
                let file_stamp = replaced(&self.folder, file, text)?;
                Ok(WrittenView { file_stamp, print })
            }
        }
    }

    fn shown(&self, format: &ViewFormat, history: &[(u64, Entry)]) -> Result<ViewContent, String> {
        let contents = contents(self.workspace);
        let input = ViewInput {
            pipeline: &self.opened.pipeline,
            run: self.opened.run(),
            digest: &self.record.digest,
            entries: &numbered(history),
            project: self.opened.stored.worktree(),
            contents: &contents,
            builtin: &builtin_template,
        };
        let name = format.name();
        views::file(format, &input)
            .map_err(|error| format!("the view {name} cannot be rendered: {error}"))
    }
}

/// The captured contents that are text.
fn contents(workspace: &Workspace<'_>) -> impl Fn(&Hash) -> Option<String> {
    |hash| {
        let bytes = workspace.store.content(*hash).ok().flatten()?;
        String::from_utf8(bytes).ok()
    }
}

fn builtin_template(format: &ViewFormat) -> Option<Template<'static>> {
    let template = language::builtin::view_template(format)?;
    Some(Template {
        name: template.name,
        text: template.text,
    })
}

fn replaced(
    folder: &ViewFolder,
    file: ViewFile<'_>,
    text: &str,
) -> Result<evidence::FileStamp, String> {
    let ViewFile { path, readers } = file;
    let replaced = folder.replace(path, text.as_bytes(), readers);
    replaced.map_err(|error| error.to_string())
}

/// How many of the latest entries a view gets. A hook renders after every change, and must not slow
/// down with the length of the history.
const NEWEST: u64 = 500;

/// To read more entries than these may take long.
const MANY: u64 = 1_000;

/// Are these all entries from behind the first version up to the second one?
fn continues(entries: &[(u64, Entry)], after: u64, last: u64) -> bool {
    let ends = entries.first().zip(entries.last());
    ends.is_some_and(|((first, _), (end, _))| (*first, *end) == (after + 1, last))
}

/// The start of the run, and the latest entries.
fn history(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Vec<(u64, Entry)>, Failure> {
    let (run, last) = (&opened.stored.run.id, opened.stored.version);
    let mut entries = workspace.store.journal(run, 1, 1)?;
    entries.extend(
        workspace
            .store
            .journal(run, first_of_newest(last), NEWEST)?,
    );
    let entries = entries.into_iter();
    Ok(entries
        .map(|stored| (stored.number, stored.entry))
        .collect())
}

/// The number of the first of the latest entries; the very first entry is always included.
fn first_of_newest(last: u64) -> u64 {
    last.saturating_sub(NEWEST).max(1) + 1
}

/// The journal after this entry, up to the version that was read.
fn journal(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    after: u64,
) -> Result<Vec<(u64, Entry)>, Failure> {
    let stored = &opened.stored;
    let wanted = stored.version.saturating_sub(after);
    if wanted > MANY {
        workspace.context.expect_delay();
    }
    let entries = workspace.store.journal(&stored.run.id, after + 1, wanted)?;
    let entries = entries.into_iter();
    Ok(entries
        .map(|stored| (stored.number, stored.entry))
        .collect())
}

fn numbered(journal: &[(u64, Entry)]) -> Vec<(u64, &Entry)> {
    let entries = journal.iter();
    entries.map(|(number, entry)| (*number, entry)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_is_told_once_and_the_newest_are_no_more_than_they_may_be() {
        for (last, first) in [(1, 2), (2, 2), (500, 2), (501, 2), (502, 3), (9_000, 8_501)] {
            assert_eq!(first_of_newest(last), first, "{last}");
            assert!(last.saturating_sub(first) < NEWEST);
        }
    }
}
