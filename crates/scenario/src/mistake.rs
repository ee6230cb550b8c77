//! A mistake in a scenario file: what is wrong, where, and what to write instead.

use std::ops::Range;
use std::rc::Rc;

use engine::Severity;
use language::{Colour, Diagnostic};

macro_rules! rules {
    ($($variant:ident, $code:literal, $text:literal;)*) => {
        /// The rules of scenario files. A code never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $(#[doc = $text] $variant,)*
        }

        impl Rule {
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }
        }
    };
}

rules! {
    Structure, "GW-S01", "a file has a pipeline, then scenarios, in closed blocks";
    NoPipeline, "GW-S02", "a pipeline block names a pipeline that can be read";
    UnknownWord, "GW-S03", "a line starts with a word of the scenario language";
    UnknownName, "GW-S04", "a name without quotes is one that the pipeline knows";
    BadValue, "GW-S05", "a number is a number, a time is a time, a name is a name";
    Incomplete, "GW-S06", "a line says all that it has to say, and no more";
    Misplaced, "GW-S07", "an expectation is below the step that makes it true";
    Unplayable, "GW-S10", "a step says what can happen where the run is";
    Unmet, "GW-S11", "what a scenario says is true, is true";
    Refused, "GW-S12", "a refusal is expected where it happens";
}

/// A mistake at a position of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub rule: Rule,
    /// A range of bytes of the file.
    pub span: Range<usize>,
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

/// A diagnostic with its text.
#[derive(Clone, Debug)]
pub struct LocatedMistake {
    pub diagnostic: Diagnostic,
    pub text: Rc<str>,
}

impl LocatedMistake {
    pub fn new(file: &str, text: &Rc<str>, mistake: Mistake) -> Self {
        let Mistake {
            rule,
            span,
            message,
            hint,
        } = mistake;
        let (code, severity, span) = (rule.code(), Severity::Error, Some(span));
        let diagnostic = Diagnostic {
            code,
            severity,
            file: String::from(file),
            span,
            message,
            hint,
        };
        Self {
            diagnostic,
            text: Rc::clone(text),
        }
    }

    pub fn render(&self, colour: Colour) -> String {
        self.diagnostic.render(&self.text, colour)
    }

    /// The line and the column, both from 1.
    pub fn line_column(&self) -> (usize, usize) {
        self.diagnostic.line_column(&self.text).unwrap_or((1, 1))
    }
}
