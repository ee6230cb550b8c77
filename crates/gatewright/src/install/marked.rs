//! Parts of a text file that are ours, between marks: put in, renewed and taken out. Nothing around
//! them is touched.

use serde::{Deserialize, Serialize};

/// How the marks are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marks {
    /// `# gatewright phases: begin`, as in `.gitignore`.
    #[serde(rename = "hash marks")]
    Hash,
    /// `<!-- gatewright phases: begin -->`, as in Markdown.
    #[serde(rename = "markup marks")]
    Markup,
}

/// A mark without its other end: nobody knows which text is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpaired {
    /// The mark, as it stands there.
    pub mark: String,
}

/// Who put a part there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The program itself.
    Program,
    /// A pipeline, by its name.
    Pipeline(String),
}

/// A file, part by part.
struct Part<'t> {
    lines: Vec<&'t [u8]>,
    /// Whose it is; nobody's of ours when it is the person's.
    owner: Option<Owner>,
}

const PROGRAM: &str = "gatewright";
const BEGIN: &str = ": begin";
const END: &str = ": end";

impl Owner {
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

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Program => f.write_str(PROGRAM),
            Self::Pipeline(name) => f.write_str(name),
        }
    }
}

impl Marks {
    /// The words between the signs of a comment.
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

    fn begins(self, line: &[u8]) -> Option<Owner> {
        Owner::parse(self.comment(line)?.strip_suffix(BEGIN)?)
    }

    fn ends(self, line: &[u8]) -> Option<Owner> {
        Owner::parse(self.comment(line)?.strip_suffix(END)?)
    }

    fn parts(self, bytes: &[u8]) -> Result<Vec<Part<'_>>, Unpaired> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut open: Option<(Owner, Vec<&[u8]>)> = None;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match (open.take(), self.begins(line)) {
                (Some((owner, _)), Some(_)) => return Err(self.unpaired(&owner)),
                (Some((owner, mut lines)), None) => {
                    lines.push(line);
                    if self.ends(line) == Some(owner.clone()) {
                        parts.push(Part {
                            lines,
                            owner: Some(owner),
                        })
                    } else {
                        open = Some((owner, lines))
                    }
                }
                (None, Some(owner)) => open = Some((owner, vec![line])),
                (None, None) => parts.push(Part {
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

    fn unpaired(self, owner: &Owner) -> Unpaired {
        Unpaired {
            mark: self.write(&format!("{}{BEGIN}", owner.title())),
        }
    }

    /// The person's own text: all that is not ours.
    pub fn without_ours(self, bytes: &[u8]) -> Result<Vec<u8>, Unpaired> {
        let own = self.parts(bytes)?.into_iter();
        let own = own.filter(|part| part.owner.is_none());
        Ok(own.flat_map(|part| part.lines).flatten().copied().collect())
    }

    /// The same file in which this owner's part holds this text. It stays where it stands, or comes to
    /// the end; without a text it goes.
    pub fn with(self, bytes: &[u8], owner: &Owner, text: &str) -> Result<Vec<u8>, Unpaired> {
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

    fn block(self, owner: &Owner, text: &str, newline: &str) -> String {
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

    fn phases() -> Owner {
        Owner::Pipeline("phases".to_owned())
    }

    fn with(marks: Marks, text: &str, owner: &Owner, lines: &str) -> String {
        let after = marks.with(text.as_bytes(), owner, lines).unwrap();
        String::from_utf8(after).unwrap()
    }

    #[test]
    fn a_part_comes_to_the_end_and_is_renewed_where_it_stands() {
        let first = with(Marks::Hash, "target", &phases(), ".task/");
        assert_eq!(
            first,
            "target\n# gatewright phases: begin\n.task/\n# gatewright phases: end\n"
        );
        let moved = format!("{first}mine\n");
        let second = with(Marks::Hash, &moved, &Owner::Program, "local");
        let third = with(Marks::Hash, &second, &phases(), "a\nb");
        assert_eq!(
            third,
            "target\n# gatewright phases: begin\na\nb\n# gatewright phases: end\nmine\n\
             # gatewright: begin\nlocal\n# gatewright: end\n"
        );
        assert_eq!(with(Marks::Hash, &third, &phases(), "a\nb"), third);
        let fourth = with(Marks::Hash, &third, &phases(), "");
        assert_eq!(
            fourth,
            "target\nmine\n# gatewright: begin\nlocal\n# gatewright: end\n"
        );
        let own = Marks::Hash.without_ours(fourth.as_bytes()).unwrap();
        assert_eq!(own, b"target\nmine\n");
    }

    #[test]
    fn the_ends_of_lines_are_those_of_the_file() {
        let after = with(Marks::Markup, "# Mine\r\n", &phases(), "one\ntwo");
        let expected = "# Mine\r\n<!-- gatewright phases: begin -->\r\none\r\ntwo\r\n\
                        <!-- gatewright phases: end -->\r\n";
        assert_eq!(after, expected);
        let own = Marks::Markup.without_ours(after.as_bytes()).unwrap();
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
            let own = Marks::Hash.without_ours(text.as_bytes()).unwrap();
            assert_eq!(own, text.as_bytes());
        }
        let bytes = b"\xff\xfe# gatewright: begin\n";
        assert_eq!(Marks::Hash.without_ours(bytes).unwrap(), bytes);
    }

    #[test]
    fn a_mark_without_its_other_end_is_told() {
        for text in [
            "a\n# gatewright phases: begin\nb\n",
            "# gatewright phases: begin\n# gatewright other: end\n",
            "# gatewright phases: begin\n# gatewright: begin\n# gatewright: end\n",
        ] {
            let mark = "# gatewright phases: begin".to_owned();
            let expected = Unpaired { mark };
            assert_eq!(
                Marks::Hash.without_ours(text.as_bytes()),
                Err(expected.clone())
            );
            assert_eq!(
                Marks::Hash.with(text.as_bytes(), &phases(), "x"),
                Err(expected)
            );
        }
    }
}
