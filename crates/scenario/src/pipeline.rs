//! The pipeline that a block names or contains.

use std::ops::Range;
use std::rc::Rc;

use engine::{Pipeline, nearest};
use language::{Sources, builtin};

use super::file::{File, Folder};
use super::markdown::Block;
use super::mistake::{LocatedMistake, Mistake, Rule};

/// The pipeline of a block: one word is a name or a path, more is a definition.
pub(crate) fn pipeline(
    file: &File,
    block: &Block,
    folder: &dyn Folder,
) -> Result<Pipeline, Vec<LocatedMistake>> {
    let written = &file.text[block.content.clone()];
    let word = written.trim();
    if word.is_empty() || word.contains(char::is_whitespace) {
        return defined_here(file, block, folder);
    }
    if let Some(builtin) = builtin::find(word) {
        return compiled(&builtin.sources());
    }
    let start = block.content.start + written.find(word).unwrap_or_default();
    let sources = folder
        .file(word)
        .map_err(|reason| vec![unreadable(file, start..start + word.len(), &reason)])?;
    compiled(&sources)
}

fn unreadable(file: &File, span: Range<usize>, reason: &str) -> LocatedMistake {
    let word = &file.text[span.clone()];
    let names = builtin::all().iter().map(|builtin| builtin.name);
    let listed: Vec<&str> = names.clone().collect();
    let hint = match nearest(word, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "name a built-in pipeline ({}), a path from this file's folder, or write a definition",
            listed.join(", ")
        ),
    };
    let message = format!("unknown pipeline `{word}` ({reason})");
    let rule = Rule::NoPipeline;
    LocatedMistake::new(
        &file.name,
        &file.text,
        Mistake {
            rule,
            span,
            message,
            hint,
        },
    )
}

fn compiled(sources: &Sources) -> Result<Pipeline, Vec<LocatedMistake>> {
    let text: Rc<str> = String::from_utf8_lossy(&sources.main.bytes).into();
    let mistake = |diagnostic| LocatedMistake {
        diagnostic,
        text: Rc::clone(&text),
    };
    match language::compile(sources) {
        Ok(compiled) => Ok(compiled.pipeline),
        Err(found) => Err(found.into_iter().map(mistake).collect()),
    }
}

/// A definition in a block. Its problems are shown in the scenario file.
fn defined_here(
    file: &File,
    block: &Block,
    folder: &dyn Folder,
) -> Result<Pipeline, Vec<LocatedMistake>> {
    let definition = &file.text.as_bytes()[block.content.clone()];
    let sources = folder
        .text(definition)
        .map_err(|reason| vec![unreadable(file, block.opening.clone(), &reason)])?;
    compiled(&sources).map_err(|mistakes| {
        let mistakes = mistakes.into_iter();
        mistakes
            .map(|mistake| moved(file, block, mistake))
            .collect()
    })
}

fn moved(file: &File, block: &Block, mistake: LocatedMistake) -> LocatedMistake {
    let mut diagnostic = mistake.diagnostic;
    diagnostic.file = file.name.clone();
    diagnostic.span = Some(match diagnostic.span {
        Some(span) => span.start + block.content.start..span.end + block.content.start,
        None => block.opening.clone(),
    });
    LocatedMistake {
        diagnostic,
        text: Rc::clone(&file.text),
    }
}
