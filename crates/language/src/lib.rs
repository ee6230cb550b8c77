//! The pipeline file: text in, a checked `engine::Pipeline` or problems with their place out.
//!
//! Invariant: this crate is pure. The caller reads the files; the same bytes give the same answer.
//!
//! The modules form layers. A module uses those of earlier layers, and earlier ones of its own:
//!
//! 1. words: `rule`, `vocabulary`, `limits`; diagnostics: `diagnostic`, `render`
//! 2. from text to a tree of values with their places: `tree`, `from_toml`, `from_json`, `source`, `members`
//! 3. from the tree to a definition: `read`; and the JSON Schema of both: `schema`
//! 4. files that come with the program: `template`, `builtin`
//! 5. one tree from several definitions: `assemble`; and the files of all of them: `gather`

mod assemble;
pub mod builtin;
mod diagnostic;
mod from_json;
mod from_toml;
mod gather;
mod limits;
mod members;
mod read;
mod render;
mod rule;
mod schema;
mod source;
pub mod template;
mod tree;
mod vocabulary;

pub use diagnostic::Diagnostic;
pub use gather::{files_beside, gather};
pub use limits::MOST_BYTES;
pub use members::{ADDED_MEMBERS, OpenGroups, with_members};
pub use read::words::words;
pub use render::Colour;
pub use rule::LanguageRule;
pub use schema::schema;
pub use source::{SourceFile, Sources, references, renamed};

use diagnostic::Problems;
use engine::CheckRule;
use tree::{Node, Part};

/// A pipeline with the warnings of the checker.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub pipeline: engine::Pipeline,
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks a definition. Everything that is wrong is reported, in the order of the file.
pub fn compile(sources: &Sources) -> Result<Compiled, Vec<Diagnostic>> {
    let file = &sources.main.name;
    let mut problems = Problems::default();
    let root = assemble::assemble(sources, &mut problems);
    let definition = root
        .as_ref()
        .and_then(|root| read::read(file, root, &sources.files, &mut problems));
    let (Some(root), Some(definition)) = (root, definition) else {
        return Err(problems.into_sorted(file));
    };
    match engine::Pipeline::new(definition) {
        Ok(checked) => {
            let warnings = placed(file, &root, checked.warnings);
            Ok(Compiled {
                pipeline: checked.pipeline,
                warnings,
            })
        }
        Err(problems) => Err(placed(file, &root, problems)),
    }
}

/// The files for a host, by their path in the host's own folder, such as `agents/planner.md`.
///
/// Invariant: every path is below `agents/`, `commands/` or `skills/`.
pub fn given_files(sources: &Sources) -> Vec<(&str, &[u8])> {
    let root = assemble::assemble(sources, &mut Problems::default());
    root.map_or_else(Vec::new, |root| source::given_files(&root, sources))
}

/// Finds open groups; nothing if there are none. `compile` reports what is wrong with them.
pub fn open_groups(sources: &Sources) -> Option<OpenGroups> {
    let root = assemble::assemble(sources, &mut Problems::default())?;
    members::open_groups(&root)
}

/// What somebody else found in a definition that compiles, with its place in the file.
pub fn located(sources: &Sources, found: Vec<engine::Problem>) -> Vec<Diagnostic> {
    let file = &sources.main.name;
    let mut problems = Problems::default();
    match assemble::assemble(sources, &mut problems) {
        Some(root) => placed(file, &root, found),
        None => problems.into_sorted(file),
    }
}

/// The engine knows the keys that lead to a problem; the tree knows where they are written.
fn placed(file: &str, root: &Node, found: Vec<engine::Problem>) -> Vec<Diagnostic> {
    let mut problems = Problems::default();
    for engine::Problem {
        rule,
        place,
        message,
        hint,
    } in found
    {
        let span = Some(root.locate(&place.0, part(rule)));
        let (code, severity, file) = (rule.code(), rule.severity(), String::from(file));
        problems.push(Diagnostic {
            code,
            severity,
            file,
            span,
            message,
            hint,
        });
    }
    problems.into_sorted(file)
}

/// Some rules are about the key itself: an impossible outcome, an unused declaration.
fn part(rule: CheckRule) -> Part {
    match rule {
        CheckRule::ImpossibleOutcome
        | CheckRule::AfterNotAllowed
        | CheckRule::UnusedArtifact
        | CheckRule::UnusedCounter
        | CheckRule::UnusedGroup
        | CheckRule::UnusedParam
        | CheckRule::GroupShadowsAgent => Part::Key,
        _ => Part::Value,
    }
}
