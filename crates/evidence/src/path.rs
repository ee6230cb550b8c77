//! Paths of artifacts and views: relative, inside the project, and filled in without leaving it.

use engine::{Definition, Run, StepId};

use crate::placeholder::{Piece, Placeholder, PlaceholderValues};

/// A path below the project's root, with `/` between its parts.
///
/// Invariant: it has passed `parse`: at least one part, none of them `..` or `.git`, no NUL. Links
/// on disk are detected when the parts are opened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InsidePath(String);

impl InsidePath {
    /// Parses a path and drops `.` and doubled slashes. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.contains('\0') {
            return Err(String::from("it contains a NUL; write a plain path"));
        }
        if text.starts_with('/') {
            return Err(format!(
                "`{text}` is absolute; write it relative to the project"
            ));
        }
        let parts: Vec<&str> = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        if parts.contains(&"..") {
            return Err(format!(
                "`{text}` contains `..`; write a path inside the project"
            ));
        }
        if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(format!("`{text}` belongs to git; choose another place"));
        }
        if parts.is_empty() || text.ends_with('/') {
            Err(format!("`{text}` names no file; write the path of a file"))
        } else {
            Ok(Self(parts.join("/")))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

/// The path of an artifact or view in this run, or why there is none.
pub fn artifact_path(
    template: &str,
    definition: &Definition,
    run: &Run,
    step: Option<&StepId>,
) -> Result<InsidePath, String> {
    let filling = PlaceholderValues {
        definition,
        run,
        step,
        agent: None,
    };
    let mut path = String::new();
    for piece in filling.pieces(template) {
        match piece {
            Piece::Text(text) => path.push_str(text),
            Piece::Placeholder(placeholder) => path.push_str(path_value(&filling, &placeholder)?),
        }
    }
    InsidePath::parse(&path)
}

/// The paths of one template, for any run or step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathShape {
    /// The texts between the ids.
    texts: Vec<String>,
}

/// Represents an id in a shape: a private-use character, so no path contains it.
const ID: char = '\u{f8ff}';

impl PathShape {
    /// `None` if it cannot be filled in: then it has no paths.
    pub(crate) fn of(template: &str, definition: &Definition, run: &Run) -> Option<Self> {
        let filling = PlaceholderValues {
            definition,
            run,
            step: None,
            agent: None,
        };
        let mut path = String::new();
        for piece in filling.pieces(template) {
            match piece {
                Piece::Text(text) => path.push_str(text),
                Piece::Placeholder(Placeholder::Run | Placeholder::Step) => path.push(ID),
                Piece::Placeholder(placeholder) => {
                    path.push_str(path_value(&filling, &placeholder).ok()?)
                }
            }
        }
        let path = InsidePath::parse(&path).ok()?;
        Some(Self {
            texts: path.as_str().split(ID).map(String::from).collect(),
        })
    }

    pub(crate) fn covers(&self, path: &str) -> bool {
        let Some((first, rest)) = self.texts.split_first() else {
            return false;
        };
        path.strip_prefix(first.as_str())
            .is_some_and(|after| covers_after_id(rest, after))
    }
}

/// Does `path` consist of these texts with one id between each two?
fn covers_after_id(texts: &[String], path: &str) -> bool {
    let Some((text, rest)) = texts.split_first() else {
        return path.is_empty();
    };
    let is_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let longest = path.find(|c| !is_id(c)).unwrap_or(path.len());
    (1..=longest).any(|length| {
        let after = path[length..].strip_prefix(text.as_str());
        after.is_some_and(|after| covers_after_id(rest, after))
    })
}

/// A value may contain folders, but it must not lead outside.
fn path_value<'a>(
    filling: &PlaceholderValues<'a>,
    placeholder: &Placeholder,
) -> Result<&'a str, String> {
    let value = filling.value(placeholder)?;
    let leaves = value.starts_with('/') || value.split('/').any(|part| part == "..");
    if leaves || value.contains('\0') {
        Err(format!(
            "the value {value:?} leads out of the project; start the run with another one"
        ))
    } else {
        Ok(value)
    }
}
