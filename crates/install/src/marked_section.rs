//! Sections of a text file between our marks: adds, updates and removes them, and keeps all other text.

use serde::{Deserialize, Serialize};

/// The comment style of the marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkStyle {
    /// `# gatewright phases: begin`, as in `.gitignore`.
    #[serde(rename = "hash marks")]
    Hash,
    /// `<!-- gatewright phases: begin -->`, as in Markdown.
    #[serde(rename = "markup marks")]
    Markup,
}

/// A mark without its counterpart, so we cannot know which text is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpairedMark {
    /// The text of the mark.
    pub mark: String,
}

/// Who added a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionOwner {
    /// The program itself.
    Program,
    /// A pipeline, by its name.
    Pipeline(String),
}

/// A section of a file.
struct Section<'t> {
    lines: Vec<&'t [u8]>,
    /// `None` for the person's own text.
    owner: Option<SectionOwner>,
}

const PROGRAM: &str = "gatewright";
const BEGIN: &str = ": begin";
const END: &str = ": end";

impl SectionOwner {
    fn title(&self) -> String {
        match self {
            Self::Program => PROGRAM.to_owned(),
            Self::Pipeline(name) => format!("{PROGRAM} {name}"),
        }
    }

    fn parse(title: &str) -> Option<Self> {
        match title.strip_prefix(PROGRAM)? {
            "" => Some(Self::Program),
            rest => {
                let name = rest.strip_prefix(' ')?;
                Some(Self::Pipeline(name.to_owned()))
            }
        }
    }
}

impl std::fmt::Display for SectionOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Program => f.write_str(PROGRAM),
            Self::Pipeline(name) => f.write_str(name),
        }
    }
}

impl MarkStyle {
    /// The text inside a comment.
    fn comment(self, line: &[u8]) -> Option<&str> {
        let line = std::str::from_utf8(line).ok()?.trim();
        match self {
            Self::Hash => line.strip_prefix("# "),
            Self::Markup => line.strip_prefix("<!-- ")?.strip_suffix(" -->"),
        }
    }

    fn write(self, words: &str) -> String {
        match self {
            Self::Hash => format!("# {words}"),
            Self::Markup => format!("<!-- {words} -->"),
        }
    }

    fn begins(self, line: &[u8]) -> Option<SectionOwner> {
        SectionOwner::parse(self.comment(line)?.strip_suffix(BEGIN)?)
    }

    fn ends(self, line: &[u8]) -> Option<SectionOwner> {
        SectionOwner::parse(self.comment(line)?.strip_suffix(END)?)
    }

    fn parts(self, bytes: &[u8]) -> Result<Vec<Section<'_>>, UnpairedMark> {
        let mut parts: Vec<Section<'_>> = Vec::new();
        let mut open: Option<(SectionOwner, Vec<&[u8]>)> = None;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match (open.take(), self.begins(line)) {
                (Some((owner, _)), Some(_)) => return Err(self.unpaired(&owner)),
                (Some((owner, mut lines)), None) => {
                    lines.push(line);
                    if self.ends(line) == Some(owner.clone()) {
                        parts.push(Section {
                            lines,
                            owner: Some(owner),
                        })
                    } else {
                        open = Some((owner, lines))
                    }
                }
                (None, Some(owner)) => open = Some((owner, vec![line])),
                (None, None) => parts.push(Section {
                    lines: vec![line],
                    owner: None,
                }),
            }
        }
        match open {
            Some((owner, _)) => Err(self.unpaired(&owner)),
            None => Ok(parts),
        }
    }

    fn unpaired(self, owner: &SectionOwner) -> UnpairedMark {
        UnpairedMark {
            mark: self.write(&format!("{}{BEGIN}", owner.title())),
        }
    }

    /// The person's own text: all that is not ours.
    pub fn without_ours(self, bytes: &[u8]) -> Result<Vec<u8>, UnpairedMark> {
        let own = self.parts(bytes)?.into_iter();
        let own = own.filter(|part| part.owner.is_none());
        Ok(own.flat_map(|part| part.lines).flatten().copied().collect())
    }

    /// The same file in which this owner's part holds this text. It stays where it stands, or comes to
    /// the end; without a text it goes.
    pub fn with(
        self,
        bytes: &[u8],
        owner: &SectionOwner,
        text: &str,
    ) -> Result<Vec<u8>, UnpairedMark> {
        let newline = if bytes.windows(2).any(|pair| pair == b"\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let mut block = Some(self.block(owner, text, newline)).filter(|_| !text.is_empty());
        let mut after: Vec<u8> = Vec::new();
        for part in self.parts(bytes)? {
            if part.owner.as_ref() == Some(owner) {
                after.extend(block.take().unwrap_or_default().bytes())
            } else {
                after.extend(part.lines.concat())
            }
        }
        if let Some(block) = block {
            if !after.is_empty() && !after.ends_with(b"\n") {
                after.extend(newline.bytes());
            }
            after.extend(block.bytes());
        }
        Ok(after)
    }

    fn block(self, owner: &SectionOwner, text: &str, newline: &str) -> String {
        let title = owner.title();
        let begin = self.write(&format!("{title}{BEGIN}"));
        let end = self.write(&format!("{title}{END}"));
        let lines = std::iter::once(begin.as_str()).chain(text.lines());
        let lines = lines.chain(std::iter::once(end.as_str()));
        lines.map(|line| format!("{line}{newline}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases() -> SectionOwner {
        SectionOwner::Pipeline("phases".to_owned())
    }

    fn with(marks: MarkStyle, text: &str, owner: &SectionOwner, lines: &str) -> String {
        let after = marks.with(text.as_bytes(), owner, lines).unwrap();
        String::from_utf8(after).unwrap()
    }

    #[test]
    fn a_part_comes_to_the_end_and_is_renewed_where_it_stands() {
        let first = with(MarkStyle::Hash, "target", &phases(), ".task/");
        assert_eq!(
            first,
            "target\n# gatewright phases: begin\n.task/\n# gatewright phases: end\n"
        );
        let moved = format!("{first}mine\n");
        let second = with(MarkStyle::Hash, &moved, &SectionOwner::Program, "local");
        let third = with(MarkStyle::Hash, &second, &phases(), "a\nb");
        assert_eq!(
            third,
            "target\n# gatewright phases: begin\na\nb\n# gatewright phases: end\nmine\n\
             # gatewright: begin\nlocal\n# gatewright: end\n"
        );
        assert_eq!(with(MarkStyle::Hash, &third, &phases(), "a\nb"), third);
        let fourth = with(MarkStyle::Hash, &third, &phases(), "");
        assert_eq!(
            fourth,
            "target\nmine\n# gatewright: begin\nlocal\n# gatewright: end\n"
        );
        let own = MarkStyle::Hash.without_ours(fourth.as_bytes()).unwrap();
        assert_eq!(own, b"target\nmine\n");
    }

    #[test]
    fn the_ends_of_lines_are_those_of_the_file() {
        let after = with(MarkStyle::Markup, "# Mine\r\n", &phases(), "one\ntwo");
        let expected = "# Mine\r\n<!-- gatewright phases: begin -->\r\none\r\ntwo\r\n\
                        <!-- gatewright phases: end -->\r\n";
        assert_eq!(after, expected);
        let own = MarkStyle::Markup.without_ours(after.as_bytes()).unwrap();
        assert_eq!(own, b"# Mine\r\n");
    }

    #[test]
    fn what_only_looks_like_ours_stays() {
        for text in [
            "# gatewright phases: end\n",
            "# gatewrights: begin\n",
            "#gatewright: begin\n",
            "gatewright: begin\n",
            "\u{e4} # gatewright: begin\n",
        ] {
            let own = MarkStyle::Hash.without_ours(text.as_bytes()).unwrap();
            assert_eq!(own, text.as_bytes());
        }
        let bytes = b"\xff\xfe# gatewright: begin\n";
        assert_eq!(MarkStyle::Hash.without_ours(bytes).unwrap(), bytes);
    }

    #[test]
    fn a_mark_without_its_other_end_is_told() {
        for text in [
            "a\n# gatewright phases: begin\nb\n",
            "# gatewright phases: begin\n# gatewright other: end\n",
            "# gatewright phases: begin\n# gatewright: begin\n# gatewright: end\n",
        ] {
            let mark = "# gatewright phases: begin".to_owned();
            let expected = UnpairedMark { mark };
            assert_eq!(
                MarkStyle::Hash.without_ours(text.as_bytes()),
                Err(expected.clone())
            );
            assert_eq!(
                MarkStyle::Hash.with(text.as_bytes(), &phases(), "x"),
                Err(expected)
            );
        }
    }
}
