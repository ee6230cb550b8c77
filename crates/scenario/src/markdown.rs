//! The part of Markdown that a scenario file needs: headings and fenced blocks, with their
//! positions.

use std::ops::Range;

use engine::nearest;

use super::mistake::{Mistake, Rule};

/// A fenced block of a scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub kind: BlockKind,
    /// The line that opens it.
    pub opening: Range<usize>,
    /// The bytes between the fences.
    pub content: Range<usize>,
    /// The indent of the fence, and so of each of its lines.
    pub indent: usize,
    /// The nearest heading above it.
    pub heading: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Pipeline,
    Scenario,
}

const KINDS: [(&str, BlockKind); 2] = [
    ("pipeline", BlockKind::Pipeline),
    ("scenario", BlockKind::Scenario),
];

/// The blocks of a Markdown text, in its order.
pub(crate) fn blocks(text: &str) -> Result<Vec<Block>, Vec<Mistake>> {
    let mut reader = BlockReader::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        reader.line(line.trim_end_matches(['\n', '\r']), start, end);
        start = end;
    }
    reader.finish()
}

#[derive(Default)]
struct BlockReader {
    heading: Option<Range<usize>>,
    open: Option<Open>,
    blocks: Vec<Block>,
    mistakes: Vec<Mistake>,
}

/// A fence that is not closed yet; `kind` is `None` for other blocks.
struct Open {
    fence: Fence,
    kind: Option<BlockKind>,
    opening: Range<usize>,
    content: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl BlockReader {
    fn line(&mut self, line: &str, start: usize, end: usize) {
        match self.open.take() {
            Some(open) if closes(line, open.fence) => self.close(open, start),
            Some(open) => self.open = Some(open),
            None => self.outside(line, start, end),
        }
    }

    fn outside(&mut self, line: &str, start: usize, end: usize) {
        if let Some((fence, info)) = fence(line) {
            let opening = start..start + line.len();
            let kind = self.kind(info.split_whitespace().next().unwrap_or_default(), &opening);
            self.open = Some(Open {
                fence,
                kind,
                opening,
                content: end,
            });
        } else if let Some(title) = heading(line) {
            let from = start + line.find(title).unwrap_or_default();
            self.heading = Some(from..from + title.len());
        }
    }

    fn kind(&mut self, word: &str, opening: &Range<usize>) -> Option<BlockKind> {
        let known = KINDS.iter().find(|(name, _)| *name == word);
        if known.is_none()
            && let Some(near) = nearest(word, KINDS.map(|(name, _)| name))
        {
            self.mistakes.push(Mistake {
                rule: Rule::Structure,
                span: opening.clone(),
                message: format!("`{word}` is not a kind of block"),
                hint: format!("did you mean `{near}`?"),
            });
        }
        known.map(|(_, kind)| *kind)
    }

    fn close(&mut self, open: Open, end: usize) {
        let Open {
            fence,
            kind,
            opening,
            content,
        } = open;
        let heading = self.heading.clone();
        self.blocks.extend(kind.map(|kind| Block {
            kind,
            opening,
            content: content..end,
            indent: fence.indent,
            heading,
        }));
    }

    fn finish(mut self) -> Result<Vec<Block>, Vec<Mistake>> {
        if let Some(Open {
            kind: Some(_),
            opening,
            fence,
            ..
        }) = self.open
        {
            self.mistakes.push(Mistake {
                rule: Rule::Structure,
                span: opening,
                message: String::from("this block is never closed"),
                hint: format!("close it with a line {}", marks(fence)),
            });
        }
        if self.mistakes.is_empty() {
            Ok(self.blocks)
        } else {
            Err(self.mistakes)
        }
    }
}

/// A line that opens a fence, with the text after the marks.
fn fence(line: &str) -> Option<(Fence, &str)> {
    let marks = line.trim_start_matches(' ');
    let indent = line.len() - marks.len();
    let mark = marks
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let info = marks.trim_start_matches(mark);
    let length = marks.len() - info.len();
    let is_fence = indent <= 3 && length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some((
        Fence {
            mark,
            length,
            indent,
        },
        info,
    ))
}

fn marks(fence: Fence) -> String {
    std::iter::repeat_n(fence.mark, fence.length).collect()
}

fn closes(line: &str, open: Fence) -> bool {
    fence(line).is_some_and(|(fence, info)| {
        fence.mark == open.mark && fence.length >= open.length && info.trim().is_empty()
    })
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let is_heading = (1..=6).contains(&level) && title.starts_with(' ');
    is_heading
        .then(|| title.trim_end_matches(['#', ' ']).trim_start())
        .filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each block as `heading: content`.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = blocks(text)
            .unwrap()
            .into_iter()
            .map(|block| {
                let heading = block.heading.map(|heading| &text[heading]).unwrap_or("-");
                format!("{heading}: {}", &text[block.content])
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn blocks_are_found_under_their_headings() {
        check(
            "# One #\n\n```pipeline\na\n```\n## Two\ntext\n~~~~scenario x\nb\n~~~\nc\n~~~~\n",
            &["One: a\n", "Two: b\n~~~\nc\n"],
        );
        check("  ```scenario\n  a\n  ```", &["-:   a\n"]);
    }

    #[test]
    fn what_is_shown_inside_another_block_is_not_ours() {
        check("````md\n# no\n```scenario\na\n```\n````\n", &[]);
        check("```toml\nx = 1\n```\n`scenario`\n", &[]);
    }

    #[test]
    fn an_open_block_and_a_misspelt_one_are_mistakes() {
        for (text, hint) in [
            ("```scenario\na\n", "close it with a line ```"),
            ("```scenaro\na\n```\n", "did you mean `scenario`?"),
            ("```Pipeline\na\n```\n", "did you mean `pipeline`?"),
        ] {
            let mistakes = blocks(text).unwrap_err();
            assert_eq!(mistakes.len(), 1);
            assert_eq!(mistakes[0].hint, hint);
        }
    }
}
