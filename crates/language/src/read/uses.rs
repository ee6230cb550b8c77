//! What a definition takes over from others: the one that it extends, and those whose stages it uses.

use std::collections::BTreeMap;

use super::{Fields, Reader};
use crate::diagnostic::Problems;
use crate::tree::{Entry, Node, Span, Value};
use crate::vocabulary;

/// Everything that comes from other definitions.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub extends: Option<Word>,
    /// Dotted keys of the extended definition that are not taken over.
    pub without: Vec<Word>,
    pub parts: Vec<UsedPart>,
}

/// Stages of another definition under a prefix.
#[derive(Debug)]
pub(crate) struct UsedPart {
    pub prefix: Word,
    pub from: Word,
    /// Nothing: all stages that `with` does not replace.
    pub stages: Option<Vec<Word>>,
    /// Names in the other definition, and those that take their place here.
    pub with: BTreeMap<String, Word>,
}

/// A text of the file with its place.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub text: String,
    pub span: Span,
}

impl Uses {
    /// The other definitions, as this one calls them.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Word> {
        let parts = self.parts.iter().map(|part| &part.from);
        self.extends.iter().chain(parts)
    }
}

/// Reads the keys that name other definitions; what is wrong with them goes to `problems`.
pub(crate) fn uses(file: &str, root: &Node, problems: &mut Problems) -> Uses {
    let files = &BTreeMap::new();
    let mut reader = Reader::new(file, files, problems);
    // `read` reports the unknown keys of the whole.
    let fields = &Fields {
        node: root,
        table: &vocabulary::PIPELINE,
    };
    Uses {
        extends: reader.optional(fields, "extends", Reader::word_with_place),
        without: reader.list(fields, "without", Reader::word_with_place),
        parts: reader.map(fields, "use", Reader::used_part),
    }
}

impl Reader<'_> {
    fn word_with_place(&mut self, node: &Node) -> Option<Word> {
        let text = self.filled(node)?;
        let span = node.span.clone();
        Some(Word { text, span })
    }

    fn used_part(&mut self, entry: &Entry) -> Option<UsedPart> {
        let prefix = self.key(entry, engine::StageName::parse).map(|_| Word {
            text: entry.key.clone(),
            span: entry.key_span.clone(),
        });
        if let Value::Text(_) = entry.node.value {
            return Some(UsedPart {
                prefix: prefix?,
                from: self.word_with_place(&entry.node)?,
                stages: None,
                with: BTreeMap::new(),
            });
        }
        let fields = &self.fields(&entry.node, &vocabulary::USE)?;
        let from = self.required(fields, "from", Self::word_with_place);
        let stages = self.optional(fields, "stages", |reader, node| {
            reader.items(node, Self::word_with_place)
        });
        let with = self.map(fields, "with", |reader, entry| {
            Some((entry.key.clone(), reader.word_with_place(&entry.node)?))
        });
        Some(UsedPart {
            prefix: prefix?,
            from: from?,
            stages,
            with: with.into_iter().collect(),
        })
    }
}
