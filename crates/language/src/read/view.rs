//! Views: which files are rendered from a run, and how.

use engine::{
    CounterName, LoopView, ParamName, Readers, Removed, TextOrParam, View, ViewFormat, ViewTemplate,
};

use super::value::braced;
use super::{Fields, Reader};
use crate::tree::{Node, Value};
use crate::vocabulary::{self, READERS, REMOVED};

/// The file of a view, whatever it shows.
struct ViewFile {
    path: Option<String>,
    removed: Removed,
    readers: Readers,
}

impl Reader<'_> {
    /// In the order in which the formats are known, whatever the order of the file.
    pub(super) fn views(&mut self, node: &Node) -> Option<Vec<View>> {
        let fields = &self.fields(node, &vocabulary::VIEWS)?;
        let mut views = Vec::new();
        for word in ViewFormat::WORDS {
            match (ViewFormat::parse(word), word) {
                (Some(format), _) => views.extend(
                    self.optional(fields, word, |reader, node| reader.plain_view(format, node)),
                ),
                (None, ViewFormat::TEMPLATE) => {
                    views.extend(self.list(fields, word, Self::template_view));
                }
                (None, _) => views.extend(self.optional(fields, word, Self::loop_view)),
            }
        }
        Some(views)
    }

    fn plain_view(&mut self, format: ViewFormat, node: &Node) -> Option<View> {
        if let Value::Text(_) = node.value {
            return Some(View {
                format,
                path: self.filled(node)?,
                removed: Removed::default(),
                readers: Readers::default(),
            });
        }
        let fields = &self.fields(node, &vocabulary::VIEW)?;
        let ViewFile {
            path,
            removed,
            readers,
        } = self.file_of_view(fields);
        Some(View {
            format,
            path: path?,
            removed,
            readers,
        })
    }

    fn loop_view(&mut self, node: &Node) -> Option<View> {
        let fields = &self.fields(node, &vocabulary::LOOP_VIEW)?;
        let ViewFile {
            path,
            removed,
            readers,
        } = self.file_of_view(fields);
        let counter = self.required(fields, "counter", |reader, node| {
            reader.name(node, CounterName::parse)
        });
        let promise = self.required(fields, "promise", Self::saying);
        Some(View {
            format: ViewFormat::LoopState(LoopView {
                counter: counter?,
                promise: promise?,
            }),
            path: path?,
            removed,
            readers,
        })
    }

    fn template_view(&mut self, node: &Node) -> Option<View> {
        let fields = &self.fields(node, &vocabulary::TEMPLATE_VIEW)?;
        let ViewFile {
            path,
            removed,
            readers,
        } = self.file_of_view(fields);
        let template = self.required(fields, "file", |reader, node| {
            let text = reader.file_text(node)?;
            let file = String::from(node.text()?);
            Some(ViewTemplate { file, text })
        });
        Some(View {
            format: ViewFormat::Template(template?),
            path: path?,
            removed,
            readers,
        })
    }

    fn file_of_view(&mut self, fields: &Fields<'_>) -> ViewFile {
        let path = self.required(fields, "path", Self::filled);
        let removed = self.optional(fields, "removed", |reader, node| {
            reader.word(node, REMOVED, &[Removed::Rendered, Removed::Waits])
        });
        let readers = self.optional(fields, "readers", |reader, node| {
            reader.word(node, READERS, &[Readers::Owner, Readers::All])
        });
        ViewFile {
            path,
            removed: removed.unwrap_or_default(),
            readers: readers.unwrap_or_default(),
        }
    }

    /// A text, or a parameter in braces.
    fn saying(&mut self, node: &Node) -> Option<TextOrParam> {
        let text = self.filled(node)?;
        match braced(&text) {
            Some(name) => self
                .parse_name(name, &node.span, ParamName::parse)
                .map(TextOrParam::Param),
            None => Some(TextOrParam::Fixed(text)),
        }
    }
}
