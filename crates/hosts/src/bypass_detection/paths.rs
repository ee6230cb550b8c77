//! Does a word of a shell's text name a protected path? By its parts alone: no file is looked at.

/// A path by its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    base: Base,
    parts: Vec<String>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Root,
    /// The present folder.
    Here,
    /// The folder in which programs keep their state.
    State,
    /// Some folder that the text does not tell: a home, a variable.
    Somewhere,
}

/// How much of what a command names is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The path itself.
    Itself,
    /// All that is in it.
    Whole,
}

impl Path {
    pub fn parse(text: &str) -> Self {
        let (base, rest) = base(text);
        let parts = Vec::new();
        let mut path = Self { base, parts };
        rest.split('/').for_each(|part| path.enter(glob(part)));
        path
    }

    fn enter(&mut self, part: String) {
        let is_inside = self.parts.last().is_some_and(|last| last != "..");
        match part.as_str() {
            "" | "." => {}
            ".." if is_inside => drop(self.parts.pop()),
            ".." if self.base == Base::Root => {}
            _ => self.parts.push(part),
        }
    }

    /// This path seen from a folder.
    pub fn within(&self, folder: &Self) -> Self {
        if self.base != Base::Here {
            return self.clone();
        }
        let mut path = folder.clone();
        self.parts.iter().for_each(|part| path.enter(part.clone()));
        path
    }

    /// Something of this name in this folder.
    pub fn holding(&self, name: &Self) -> Self {
        let parts = self.parts.iter().chain(name.parts.last()).cloned();
        Self {
            base: self.base,
            parts: parts.collect(),
        }
    }

    /// Does a change of this path change the protected one?
    pub fn changes(&self, protected: &Self, reach: Reach) -> bool {
        let (own, theirs) = (self.parts.len(), protected.parts.len());
        match (self.base, protected.base) {
            (Base::Root, Base::Root) => self.fits(0, protected, 0, reach),
            (Base::Root, _) => {
                (0..own).any(|skipped| self.fits(skipped, protected, 0, Reach::Itself))
            }
            (Base::Here | Base::State | Base::Somewhere, _) => (0..theirs).any(|skipped| {
                self.fits(self.above(), protected, skipped, reach)
                    && self.is_telling(theirs - skipped, skipped)
            }),
        }
    }

    /// Is this the other one, or a folder around it?
    pub fn is_around(&self, other: &Self) -> bool {
        self.base == other.base && other.parts.starts_with(&self.parts)
    }

    /// How many parts lead out of the folder in which it begins.
    fn above(&self) -> usize {
        self.parts.iter().take_while(|part| *part == "..").count()
    }

    /// Are both the same from these parts on, as far as both go? Where the protected one goes on, only
    /// a change of the whole folder reaches it.
    fn fits(&self, from: usize, protected: &Self, protected_from: usize, reach: Reach) -> bool {
        let mine = self.parts.get(from..).unwrap_or_default();
        let theirs = protected.parts.get(protected_from..).unwrap_or_default();
        let is_above = mine.len() < theirs.len();
        !mine.is_empty()
            && (!is_above || reach == Reach::Whole)
            && mine
                .iter()
                .zip(theirs)
                .all(|(mine, theirs)| is_like(mine, theirs))
    }

    /// Do the parts that fit tell enough? A lone `settings.json` may be anybody's; a hidden folder, two
    /// parts, something of the state folder, or the whole of a relative path are not.
    fn is_telling(&self, fitting: usize, skipped: usize) -> bool {
        let mine = self.parts.iter().skip(self.above());
        let is_plain = |part: &&String| part.chars().any(|c| !matches!(c, '*' | '?'));
        let plain = mine.clone().take(fitting).filter(is_plain).count();
        let is_hidden = mine
            .take(1)
            .any(|part| part.starts_with('.') && part.len() > 2);
        plain > 1 || plain == 1 && (is_hidden || skipped == 0 || self.base == Base::State)
    }
}

/// Where a text begins, and the rest of it.
fn base(text: &str) -> (Base, &str) {
    match text.chars().next() {
        Some('/') => (Base::Root, text),
        Some('~') => (
            Base::Somewhere,
            text.split_once('/').map_or("", |(_, rest)| rest),
        ),
        Some('$') => {
            let (variable, rest) = text.split_at(variable_length(text));
            let is_state = variable.contains("XDG_STATE_HOME");
            (
                if is_state {
                    Base::State
                } else {
                    Base::Somewhere
                },
                rest,
            )
        }
        Some(_) | None => (Base::Here, text),
    }
}

/// Up to the brace that closes it, which may lie behind slashes, or up to the first slash.
fn variable_length(text: &str) -> usize {
    let mut open = 0_usize;
    let end = text.char_indices().find(|(_, c)| {
        match c {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        *c == '/' && open == 0
    });
    end.map_or(text.len(), |(place, _)| place)
}

/// A part with its variables, braces and brackets as plain wildcards.
fn glob(part: &str) -> String {
    let mut glob = String::with_capacity(part.len());
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        let (closing, wildcard) = match c {
            '{' => ('}', '*'),
            '[' => (']', '?'),
            '$' => {
                glob.push('*');
                return glob;
            }
            c => {
                glob.push(c);
                continue;
            }
        };
        rest.by_ref().find(|c| *c == closing);
        glob.push(wildcard);
    }
    glob
}

/// Does a part with wildcards fit a plain one? Backtracks to the last star alone, so it takes at most
/// the product of both lengths.
fn is_like(pattern: &str, text: &str) -> bool {
    if !pattern.bytes().any(|byte| matches!(byte, b'*' | b'?')) {
        return pattern == text;
    }
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(c) if *c == '?' || Some(c) == text.get(place) => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((star_at, star_place)) => {
                    star = Some((star_at, star_place + 1));
                    at = star_at + 1;
                    place = star_place + 1;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(at..)
        .is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}
