//! What a driver writes into a journal: a piece of work begins, it ends, or the run is over; by whom, under which fence.

use std::fmt;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Word {
    Begin,
    End,
    Over,
}

/// One attempt at one piece of the work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Attempt {
    pub piece: usize,
    /// From 1.
    pub number: usize,
}

/// The text of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub word: Word,
    pub attempt: Attempt,
    pub holder: String,
    pub fence: u64,
}

impl Word {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "begin" => Some(Self::Begin),
            "end" => Some(Self::End),
            "over" => Some(Self::Over),
            _ => None,
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begin => "begin",
            Self::End => "end",
            Self::Over => "over",
        })
    }
}

impl Mark {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        Some(Self {
            word: Word::parse(words.next()?)?,
            attempt: Attempt {
                piece: words.next()?.parse().ok()?,
                number: words.next()?.parse().ok()?,
            },
            holder: words.next()?.to_owned(),
            fence: words.next()?.parse().ok()?,
        })
    }

    /// The key of the change. No two attempts have the same.
    pub(crate) fn key(&self, run: &str) -> String {
        key(run, self.word, self.attempt)
    }
}

pub(crate) fn key(run: &str, word: Word, attempt: Attempt) -> String {
    let Attempt { piece, number } = attempt;
    format!("{run} {word} {piece} {number}")
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            word,
            attempt: Attempt { piece, number },
            holder,
            fence,
        } = self;
        write!(f, "{word} {piece} {number} {holder} {fence}")
    }
}

/// What a run still needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// This attempt begins. An attempt that began and never ended is not taken up: another one counts.
    Work(Attempt),
    /// All pieces have ended.
    End,
    Nothing,
}

/// The next thing to do in a run with so many pieces and this journal.
pub(crate) fn needed<'a>(marks: impl Iterator<Item = &'a Mark> + Clone, pieces: usize) -> Need {
    if marks.clone().any(|mark| mark.word == Word::Over) {
        return Need::Nothing;
    }
    let of = |word, piece| {
        let all = marks.clone();
        all.filter(move |mark| mark.word == word && mark.attempt.piece == piece)
    };
    let open = (0..pieces).find(|piece| of(Word::End, *piece).next().is_none());
    open.map_or(Need::End, |piece| {
        let number = of(Word::Begin, piece).count() + 1;
        Need::Work(Attempt { piece, number })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(texts: &[&str]) -> Vec<Mark> {
        let parse = |text: &&str| Mark::parse(&format!("{text} m1-7 3")).unwrap();
        texts.iter().map(parse).collect()
    }

    #[test]
    fn an_attempt_that_never_ended_is_followed_by_another() {
        let work = |piece, number| Need::Work(Attempt { piece, number });
        for (texts, expected) in [
            (&[][..], work(0, 1)),
            (&["begin 0 1"], work(0, 2)),
            (&["begin 0 1", "end 0 1"], work(1, 1)),
            (&["begin 0 1", "end 0 1", "begin 1 1", "end 1 1"], Need::End),
            (
                &["begin 0 1", "end 0 1", "begin 1 1", "end 1 1", "over 2 1"],
                Need::Nothing,
            ),
        ] {
            assert_eq!(needed(marks(texts).iter(), 2), expected, "{texts:?}");
        }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let mark = marks(&["end 4 2"]).remove(0);
        assert_eq!(Mark::parse(&mark.to_string()), Some(mark.clone()));
        assert_eq!(mark.key("r-1"), "r-1 end 4 2");
        assert_eq!(Mark::parse("a person's note"), None);
    }
}
