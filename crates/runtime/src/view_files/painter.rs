//! Painting: each view compared with how it was left, and written if it is to say something else.

use engine::{Entry, Hash, View, ViewChange, ViewFormat};
use evidence::{InsidePath, Project, append, artifact_path, mark, replace, written};
use store::Backend as _;
use views::{JournalDigest, Template, ViewContent, ViewInput};

use super::record::{Print, Record, Written};
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};

/// What was found and done.
#[derive(Default)]
pub struct Painted {
    pub disturbed: Vec<Disturbed>,
    /// A line for each view that could not be written.
    pub unwritten: Vec<String>,
}

/// A view that somebody else has changed.
pub struct Disturbed {
    pub view: View,
    pub path: InsidePath,
    pub how: ViewChange,
}

/// Renders the views of the run as it was looked at, unless somebody has rendered a later one.
pub fn paint(workspace: &Workspace<'_>, opened: &OpenRun) -> Painted {
    let tried = || {
        let run = &opened.run().id;
        let project = workspace.project_of(opened)?;
        let _turn = Record::turn(&workspace.state, run)?;
        let record = Record::read(&workspace.state, run);
        if record.digest.version > opened.stored.version {
            return Ok(Painted::default());
        }
        Painter::new(workspace, opened, project, record)?.paint()
    };
    tried().unwrap_or_else(|failure: Failure| Painted {
        unwritten: vec![failure.to_string()],
        ..Painted::default()
    })
}

struct Painter<'a> {
    workspace: &'a Workspace<'a>,
    opened: &'a OpenRun,
    project: Project,
    record: Record,
    /// The version up to which the log was written.
    logged: u64,
    /// What the log has to say since.
    news: String,
    painted: Painted,
}

/// How the file of a view is, compared with how it was left.
enum Found {
    /// Nothing is known of it.
    New,
    AsLeft(Written),
    Disturbed(ViewChange),
}

impl<'a> Painter<'a> {
    fn new(
        workspace: &'a Workspace<'a>,
        opened: &'a OpenRun,
        project: Project,
        mut record: Record,
    ) -> Result<Self, Failure> {
        let logged = record.digest.version;
        let journal = journal(workspace, opened, logged)?;
        let news = record.digest.update(&opened.pipeline, &numbered(&journal));
        Ok(Self {
            workspace,
            opened,
            project,
            record,
            logged,
            news,
            painted: Painted::default(),
        })
    }

    fn paint(mut self) -> Result<Painted, Failure> {
        let views = &self.opened.pipeline.definition().views;
        let story = if views.iter().any(|view| views::needs_journal(&view.format)) {
            story(self.workspace, self.opened)?
        } else {
            Vec::new()
        };
        self.record.begin();
        for view in views {
            if let Err(line) = self.view(view, &story) {
                self.painted.unwritten.push(line);
            }
        }
        // What is not kept is rendered from the whole journal the next time.
        let _ = self.record.keep();
        Ok(self.painted)
    }

    fn view(&mut self, view: &View, story: &[(u64, Entry)]) -> Result<(), String> {
        let (definition, run) = (self.opened.pipeline.definition(), self.opened.run());
        let path = artifact_path(&view.path, definition, run, None).map_err(|reason| {
            let name = view.format.name();
            format!("the view {name} has no usable path: {reason}")
        })?;
        let found = self.found(&path)?;
        if let Found::Disturbed(how) = found {
            self.painted.disturbed.push(Disturbed {
                view: view.clone(),
                path: path.clone(),
                how,
            });
        }
        let shown = self.shown(&view.format, story)?;
        let written = match (shown, found) {
            (ViewContent::Log, Found::AsLeft(left)) => self.lengthen(&path, left),
            (ViewContent::Log, _) => self.put_log(&path),
            (ViewContent::Text(text), found) => self.put(&path, &text, found),
        };
        self.record.set(&path, written.as_ref().ok().copied());
        written.map(drop)
    }

    fn found(&self, path: &InsidePath) -> Result<Found, String> {
        let Some(left) = self.record.of(path) else {
            return Ok(Found::New);
        };
        let now = mark(&self.project, path).map_err(|error| error.to_string())?;
        Ok(match now {
            None => Found::Disturbed(ViewChange::Removed),
            Some(now) if now == left.mark => Found::AsLeft(*left),
            Some(now) if self.says_the_same(path, left) => {
                Found::AsLeft(Written { mark: now, ..*left })
            }
            Some(_) => Found::Disturbed(ViewChange::Edited),
        })
    }

    /// A file that was touched, copied or given another mode may still say what we wrote.
    fn says_the_same(&self, path: &InsidePath, left: &Written) -> bool {
        let Some(bytes) = written(&self.project, path) else {
            return false;
        };
        match left.print {
            Some(known) => Print::of(&bytes) == known,
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
    fn lengthen(&self, path: &InsidePath, left: Written) -> Result<Written, String> {
        if self.news.is_empty() {
            return Ok(left);
        }
        let longer = append(&self.project, path, self.news.as_bytes(), left.mark);
        match longer.map_err(|error| error.to_string())? {
            Some(mark) => Ok(Written { mark, print: None }),
            None => self.put_log(path),
        }
    }

    fn put_log(&self, path: &InsidePath) -> Result<Written, String> {
        let log = self.log(self.opened.stored.version)?;
        let mark = replaced(&self.project, path, &log)?;
        Ok(Written { mark, print: None })
    }

    fn put(&self, path: &InsidePath, text: &str, found: Found) -> Result<Written, String> {
        let print = Some(Print::of(text.as_bytes()));
        match found {
            Found::AsLeft(left) if left.print == print => Ok(left),
            Found::AsLeft(_) | Found::New | Found::Disturbed(_) => {
                let mark = replaced(&self.project, path, text)?;
                Ok(Written { mark, print })
            }
        }
    }

    fn shown(&self, format: &ViewFormat, story: &[(u64, Entry)]) -> Result<ViewContent, String> {
        let contents = |hash: &Hash| {
            let bytes = self.workspace.store.content(*hash).ok().flatten()?;
            String::from_utf8(bytes).ok()
        };
        let input = ViewInput {
            pipeline: &self.opened.pipeline,
            run: self.opened.run(),
            digest: &self.record.digest,
            entries: &numbered(story),
            project: &self.opened.stored.worktree,
            contents: &contents,
            builtin: &builtin_template,
        };
        let name = format.name();
        views::file(format, &input)
            .map_err(|error| format!("the view {name} cannot be rendered: {error}"))
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
    project: &Project,
    path: &InsidePath,
    text: &str,
) -> Result<evidence::FileStamp, String> {
    replace(project, path, text.as_bytes()).map_err(|error| error.to_string())
}

/// How many of the newest entries a page tells. A hook renders after every change, and may not become
/// slower with every one.
const NEWEST: u64 = 500;

/// How the run began, and the newest of what happened since.
fn story(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Vec<(u64, Entry)>, Failure> {
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

/// The number of the entry with which the newest begin; the first of all is told before them.
fn first_of_newest(last: u64) -> u64 {
    last.saturating_sub(NEWEST).max(1) + 1
}

/// The journal after this entry, up to the run as it was looked at.
fn journal(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    after: u64,
) -> Result<Vec<(u64, Entry)>, Failure> {
    let stored = &opened.stored;
    let wanted = stored.version.saturating_sub(after);
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
