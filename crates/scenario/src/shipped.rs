//! The scenarios of the built-in pipelines, which are part of the program.

use language::Sources;

use super::file::File;
use super::file::Folder;

/// Name and text, in the order of the built-in pipelines.
const ALL: &[(&str, &str)] = &[
    ("ansible", include_str!("../scenarios/ansible.md")),
    (
        "context-first",
        include_str!("../scenarios/context-first.md"),
    ),
    ("multi-ai", include_str!("../scenarios/multi-ai.md")),
    ("phases", include_str!("../scenarios/phases.md")),
];

/// The scenarios of the built-in pipeline of this name.
pub fn shipped(name: &str) -> Option<File> {
    let (name, text) = ALL.iter().find(|(known, _)| *known == name)?;
    Some(File {
        name: format!("{name}.md"),
        text: (*text).into(),
    })
}

/// The same for a copy of the pipeline in this file next to the scenarios.
pub fn shipped_for(name: &str, file: &str) -> Option<String> {
    let shipped = shipped(name)?;
    let own = format!("```pipeline\n{name}\n```");
    Some(
        shipped
            .text
            .replace(&own, &format!("```pipeline\n{file}\n```")),
    )
}

/// Built-in scenarios have no folder: they name built-in pipelines, or contain their own.
pub struct NoFolder;

impl Folder for NoFolder {
    fn file(&self, path: &str) -> Result<Sources, String> {
        Err(format!("{path} is not part of the program"))
    }

    fn text(&self, definition: &[u8]) -> Result<Sources, String> {
        let main = language::SourceFile {
            name: "a block".to_owned(),
            bytes: definition.to_vec(),
        };
        language::gather(main, |_| Ok(None))
    }
}
