//! Definitions: found by name or path, read within limits, and compiled.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use engine::{PipelineName, Severity};
use language::builtin::Builtin;
use language::{Colour, Compiled, Diagnostic, LanguageRule, MOST_BYTES, SourceFile, Sources};
use store::Files;
use views::Paint;

use crate::failure::Failure;
use crate::project_files::PROJECT_FOLDER;
use crate::{lint_paths, runners, template_process};

/// The limit for a definition with all files that it refers to.
const MOST_BYTES_TOGETHER: u64 = 16 * 1024 * 1024;

pub const ENDINGS: [&str; 2] = ["toml", "json"];

/// Why there is no pipeline.
pub enum DefinitionError {
    /// The definition was read and has problems.
    Rejected {
        text: String,
        problems: Vec<Diagnostic>,
    },
    /// The definition could not be read.
    Failed(Failure),
}

impl From<Failure> for DefinitionError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Where a definition is.
pub enum Place {
    Builtin(&'static Builtin),
    File {
        path: PathBuf,
        /// What people call it.
        shown: String,
    },
}

/// Finds the definition of this name or path. The program's own come first: a file of the project
/// cannot take the place of one of them unless a person writes its path.
pub fn place(word: &str, folder: &Path, root: &Path) -> Result<Place, Failure> {
    let typed = || Place::File {
        path: folder.join(word),
        shown: word.to_owned(),
    };
    if is_path(word) {
        return Ok(typed());
    }
    if let Some(builtin) = language::builtin::find(word) {
        return Ok(Place::Builtin(builtin));
    }
    if let Some(own) = own(word, root) {
        return Ok(own);
    }
    if folder.join(word).is_file() {
        Ok(typed())
    } else {
        Err(unknown(word, root))
    }
}

/// The project's own definition of this name, also if a built-in one has the same name.
pub fn own(word: &str, root: &Path) -> Option<Place> {
    let path = in_project(word, root)?;
    let shown = format!("{PROJECT_FOLDER}/{}", file_name(&path));
    Some(Place::File { path, shown })
}

/// Reads the definition of this name or path.
pub fn find(word: &str, folder: &Path, root: &Path) -> Result<Sources, DefinitionError> {
    match place(word, folder, root)? {
        Place::Builtin(builtin) => Ok(builtin.sources()),
        Place::File { path, shown } => read(&path, &shown),
    }
}

fn is_path(word: &str) -> bool {
    let ending = Path::new(word)
        .extension()
        .and_then(|ending| ending.to_str());
    word.contains('/') || ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// The project's own definition of this name. A name has no slash and no dot, so it stays in the
/// folder.
fn in_project(word: &str, root: &Path) -> Option<PathBuf> {
    let name = PipelineName::parse(word).ok()?;
    let path = |ending| root.join(PROJECT_FOLDER).join(format!("{name}.{ending}"));
    ENDINGS.into_iter().map(path).find(|path| path.is_file())
}

/// The names of all available definitions: built-in ones, then the project's.
pub fn names(root: &Path) -> Vec<String> {
    let builtin = language::builtin::all()
        .iter()
        .map(|builtin| builtin.name.to_owned());
    builtin.chain(project_names(root)).collect()
}

/// The names of the project's own definitions.
pub fn project_names(root: &Path) -> BTreeSet<String> {
    let listed = fs::read_dir(root.join(PROJECT_FOLDER))
        .into_iter()
        .flatten();
    let paths = listed.filter_map(Result::ok).map(|entry| entry.path());
    let named = paths.filter_map(|path| {
        let ending = path.extension()?.to_str()?;
        let name = path.file_stem()?.to_str()?;
        let known = ENDINGS.contains(&ending) && PipelineName::parse(name).is_ok();
        (known && !is_settings(&path)).then(|| name.to_owned())
    });
    named.collect()
}

/// Is this a settings file next to the pipelines? Its JSON has no stages and extends no
/// pipeline. What cannot be read may be a
/// pipeline.
fn is_settings(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let mut text = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(MOST_BYTES as u64).read_to_end(&mut text));
    let value = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
    match value {
        Some(serde_json::Value::Object(fields)) => {
            let is_pipeline = ["stages", "extends"].map(|key| fields.contains_key(key));
            is_json && !is_pipeline.contains(&true)
        }
        Some(_) | None => false,
    }
}

fn unknown(word: &str, root: &Path) -> Failure {
    let names = names(root);
    let failure = Failure::not_found(format!("unknown pipeline '{word}'"));
    let near = engine::nearest(word, names.iter().map(String::as_str));
    match near {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!(
            "the pipelines are {}; or type the path of a file",
            names.join(", ")
        )),
    }
}

/// Reads a definition file and the files that it refers to. `shown` is its name in messages.
pub fn read(path: &Path, shown: &str) -> Result<Sources, DefinitionError> {
    let file = open(path, shown)?;
    let size = file
        .metadata()
        .map_err(Failure::file("look at", path))?
        .len();
    if size > MOST_BYTES as u64 {
        return Err(too_large(shown, &format!("{size} bytes")));
    }
    let bytes = take(file).map_err(Failure::file("read", path))?;
    let beside = path.parent().unwrap_or(Path::new("."));
    read_text(bytes, shown, beside)
}

/// Reads a definition from stdin; its references are relative to this folder.
pub fn read_input(input: impl Read, folder: &Path) -> Result<Sources, DefinitionError> {
    let shown = "<stdin>";
    let bytes = take(input)
        .map_err(|cause| Failure::environment(format!("cannot read the input ({cause})")))?;
    read_text(bytes, shown, folder)
}

/// Opens only regular files: a pipe would block for ever.
fn open(path: &Path, shown: &str) -> Result<File, Failure> {
    let metadata = fs::metadata(path).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            Failure::not_found(format!("the file {shown} does not exist"))
                .hint("`gatewright pipelines` lists the pipelines with a name")
        }
        _ => Failure::file("look at", path)(cause),
    })?;
    if !metadata.is_file() {
        return Err(
            Failure::not_found(format!("{shown} is not a file")).hint("type the path of a file")
        );
    }
    File::open(path).map_err(Failure::file("open", path))
}

/// Reads one byte more than allowed, to notice files that are too long.
fn take(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn too_large(shown: &str, size: &str) -> DefinitionError {
    let problem = Diagnostic {
        code: LanguageRule::TooLarge.code(),
        severity: Severity::Error,
        file: shown.to_owned(),
        span: None,
        message: format!("the file has {size}, and {MOST_BYTES} are allowed"),
        hint: "keep long texts in files of their own and refer to them".to_owned(),
    };
    DefinitionError::Rejected {
        text: String::new(),
        problems: vec![problem],
    }
}

/// A definition of these bytes; its references are relative to this folder.
pub fn read_text(bytes: Vec<u8>, shown: &str, beside: &Path) -> Result<Sources, DefinitionError> {
    let main = SourceFile {
        name: shown.to_owned(),
        bytes,
    };
    let mut together = 0;
    language::gather(main, |reference| {
        let bytes = read_reference(reference, beside)?;
        together += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        if together > MOST_BYTES_TOGETHER {
            let size = format!("over {MOST_BYTES_TOGETHER} bytes with what it refers to");
            return Err(too_large(shown, &size));
        }
        Ok(bytes)
    })
}

/// A file that the definition refers to; `None` if it does not exist, which `compile` reports.
fn read_reference(reference: &str, beside: &Path) -> Result<Option<Vec<u8>>, DefinitionError> {
    let path = beside.join(reference);
    let (Ok(real), Ok(below)) = (path.canonicalize(), beside_itself(beside).canonicalize()) else {
        return Ok(None);
    };
    if !real.starts_with(&below) {
        let failure = Failure::refused(format!(
            "{reference} points outside the definition's folder"
        ));
        return Err(failure.hint("copy the file itself there").into());
    }
    let file = open(&real, reference)?;
    let size = file
        .metadata()
        .map_err(Failure::file("look at", &real))?
        .len();
    if size > MOST_BYTES as u64 {
        return Err(too_large(reference, &format!("{size} bytes")));
    }
    Ok(Some(take(file).map_err(Failure::file("read", &real))?))
}

/// The parent of a bare file name is empty.
fn beside_itself(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    }
}

/// Checks a definition.
pub fn compile(sources: &Sources) -> Result<Compiled, DefinitionError> {
    compile_for(sources, runners::DEFAULT)
}

/// Checks a definition for runs in which this runner starts agents without a runner.
pub fn compile_for(sources: &Sources, runner: &str) -> Result<Compiled, DefinitionError> {
    let mut compiled = compile_pinned(sources)?;
    let definition = compiled.pipeline.definition();
    let mut found = runners::problems(definition, &sources.files, runner);
    found.extend(lint_paths::problems(definition));
    found.extend(template_process::problems(sources, &compiled.pipeline)?);
    let problems = language::located(sources, found);
    compiled.warnings.extend(problems);
    let mut problems = compiled.warnings.iter();
    let is_refused = problems.any(|problem| problem.severity == Severity::Error);
    compiled
        .warnings
        .sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
    if is_refused {
        Err(rejected(sources, compiled.warnings))
    } else {
        Ok(compiled)
    }
}

/// Checks a definition that a run is pinned to. The abilities of its runners were checked at the
/// start.
pub fn compile_pinned(sources: &Sources) -> Result<Compiled, DefinitionError> {
    language::compile(sources).map_err(|problems| rejected(sources, problems))
}

fn rejected(sources: &Sources, problems: Vec<Diagnostic>) -> DefinitionError {
    let text = String::from_utf8_lossy(&sources.main.bytes).into_owned();
    DefinitionError::Rejected { text, problems }
}

/// The bytes that a run is pinned to. The folder does not count, only the file's name.
pub fn pinned(sources: &Sources) -> Result<Files, Failure> {
    let main = file_name(Path::new(&sources.main.name));
    let mut files = sources.files.clone();
    files.insert(main.clone(), sources.main.bytes.clone());
    Files::new(&main, files).map_err(Failure::from)
}

/// Converts the bytes of a run back to what `compile` takes.
pub fn unpinned(files: &Files) -> Sources {
    let main = files.main();
    let bytes = files.get(main).unwrap_or_default().to_vec();
    let others = files.iter().filter(|(path, _)| *path != main);
    Sources {
        main: SourceFile {
            name: main.to_owned(),
            bytes,
        },
        files: others
            .map(|(path, bytes)| (path.to_owned(), bytes.to_vec()))
            .collect(),
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The problems as text for people.
pub fn rendered(problems: &[Diagnostic], text: &str, paint: Paint) -> String {
    let colour = match paint {
        Paint::Plain => Colour::Plain,
        Paint::Ansi => Colour::Ansi,
    };
    let drawn = problems.iter().map(|problem| problem.render(text, colour));
    // The text of the file is escaped by now: the remaining escapes are our colours.
    let is_shown = |found: &char| *found == '\u{1b}' || !views::is_forbidden(*found);
    drawn
        .collect::<Vec<_>>()
        .join("\n")
        .chars()
        .filter(is_shown)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_word_with_a_slash_or_an_ending_is_a_path() {
        for (word, expected) in [
            ("ansible", false),
            ("multi-ai", false),
            ("a/b", true),
            ("./ansible", true),
            ("p.toml", true),
            ("p.json", true),
            ("p.md", false),
        ] {
            assert_eq!(is_path(word), expected, "{word}");
        }
    }

    #[test]
    fn pinned_bytes_lead_back_to_the_same_sources() {
        let sources = Sources {
            main: SourceFile {
                name: "p.toml".to_owned(),
                bytes: b"name = 'p'".to_vec(),
            },
            files: BTreeMap::from([("a.md".to_owned(), b"x".to_vec())]),
        };
        let elsewhere = Sources {
            main: SourceFile {
                name: "../x/p.toml".to_owned(),
                ..sources.main.clone()
            },
            ..sources.clone()
        };
        let pinned_here = pinned(&sources).unwrap();
        assert_eq!(unpinned(&pinned_here), sources);
        assert_eq!(pinned(&elsewhere).unwrap().hash(), pinned_here.hash());
    }
}
