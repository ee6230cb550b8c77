//! Reads a scenario file: pipelines in one kind of block, scenarios in another, prose around them.

use std::ops::Range;
use std::rc::Rc;

use engine::Pipeline;

use super::expectation::Expectation;
use super::expectation_grammar::expectation;
use super::file::{File, Folder};
use super::grammar::step;
use super::known_names::KnownNames;
use super::markdown::{Block, BlockKind, blocks};
use super::mistake::{LocatedMistake, Mistake, Rule};
use super::phrase::Phrase;
use super::pipeline::pipeline;
use super::step::Step;
use super::words::{Word, words};

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub file: File,
    pub pipeline: Rc<Pipeline>,
    /// Its position in the file.
    pub opening: Range<usize>,
    pub lines: Vec<Line>,
}

/// One step with the expectations after it.
#[derive(Clone, Debug)]
pub struct Line {
    pub span: Range<usize>,
    pub times: u32,
    pub step: Step,
    pub expectations: Vec<ExpectedFact>,
}

#[derive(Clone, Debug)]
pub struct ExpectedFact {
    pub span: Range<usize>,
    pub what: Expectation,
}

/// More repetitions are a typing error.
const MOST_TIMES: u32 = 1_000;

/// Reads a file. Reports every problem, in the order of the file.
pub(crate) fn read(file: &File, folder: &dyn Folder) -> Result<Vec<Scenario>, Vec<LocatedMistake>> {
    let mut reader = ScenarioReader {
        file,
        folder,
        pipeline: Current::None,
        scenarios: Vec::new(),
        mistakes: Vec::new(),
    };
    match blocks(&file.text) {
        Ok(blocks) => blocks.into_iter().for_each(|block| reader.block(block)),
        Err(mistakes) => mistakes
            .into_iter()
            .for_each(|mistake| reader.report(mistake)),
    }
    if reader.mistakes.is_empty() && reader.scenarios.is_empty() {
        reader.report(Mistake {
            rule: Rule::Structure,
            span: 0..0,
            message: String::from("there is no scenario in this file"),
            hint: String::from("write one in a block that opens with ```scenario"),
        });
    }
    if reader.mistakes.is_empty() {
        Ok(reader.scenarios)
    } else {
        Err(reader.mistakes)
    }
}

struct ScenarioReader<'a> {
    file: &'a File,
    folder: &'a dyn Folder,
    pipeline: Current,
    scenarios: Vec<Scenario>,
    mistakes: Vec<LocatedMistake>,
}

/// The pipeline of the next scenario.
enum Current {
    None,
    /// It was reported; its scenarios cannot be read.
    Unusable,
    Pipeline(Rc<Pipeline>),
}

impl ScenarioReader<'_> {
    fn report(&mut self, mistake: Mistake) {
        self.mistakes.push(LocatedMistake::new(
            &self.file.name,
            &self.file.text,
            mistake,
        ));
    }

    fn block(&mut self, block: Block) {
        match block.kind {
            BlockKind::Pipeline => match pipeline(self.file, &block, self.folder) {
                Ok(pipeline) => self.pipeline = Current::Pipeline(Rc::new(pipeline)),
                Err(mistakes) => {
                    self.pipeline = Current::Unusable;
                    self.mistakes.extend(mistakes);
                }
            },
            BlockKind::Scenario => match &self.pipeline {
                Current::Pipeline(pipeline) => self.scenario(&block, Rc::clone(pipeline)),
                Current::Unusable => {}
                Current::None => self.report(Mistake {
                    rule: Rule::Structure,
                    span: block.opening,
                    message: String::from("there is no pipeline above this scenario"),
                    hint: String::from("name one in a block that opens with ```pipeline"),
                }),
            },
        }
    }

    fn scenario(&mut self, block: &Block, pipeline: Rc<Pipeline>) {
        let mut known = KnownNames::new(pipeline.definition());
        let mut lines: Vec<Line> = Vec::new();
        let before = self.mistakes.len();
        for (span, indent) in source_lines(&self.file.text, block) {
            if let Err(mistake) = self.line(&mut lines, &mut known, span, indent) {
                self.report(mistake);
            }
        }
        // If a line was not understood, the order cannot be checked.
        if before == self.mistakes.len()
            && let Some(mistake) = misordered(block, &lines)
        {
            self.report(mistake);
        }
        let name = self.name(block);
        let (file, opening) = (self.file.clone(), block.opening.clone());
        self.scenarios.push(Scenario {
            name,
            file,
            pipeline,
            opening,
            lines,
        });
    }

    fn line(
        &self,
        lines: &mut Vec<Line>,
        known: &mut KnownNames<'_>,
        span: Range<usize>,
        indent: Indent,
    ) -> Result<(), Mistake> {
        let words = words(&self.file.text[span.clone()], span.start)?;
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return Ok(());
        };
        let span = first.span.start..last.span.end;
        match indent {
            Indent::None => lines.push(step_line(&words, span, known)?),
            Indent::Some => {
                let demand = demand(&words, span, known, lines.last())?;
                lines.iter_mut().last().into_iter().for_each(|line| {
                    line.expectations.push(demand.clone());
                });
            }
        }
        Ok(())
    }

    /// The nearest heading above; a second scenario below it gets a number.
    fn name(&self, block: &Block) -> String {
        let heading = block
            .heading
            .clone()
            .map(|heading| &self.file.text[heading]);
        let name = heading.map_or_else(|| String::from("a scenario"), plain);
        let numbered = |number: usize| match number {
            1 => name.clone(),
            _ => format!("{name} ({number})"),
        };
        let taken = |candidate: &String| self.scenarios.iter().any(|s| s.name == *candidate);
        (1..)
            .map(numbered)
            .find(|candidate| !taken(candidate))
            .unwrap_or(name.clone())
    }
}

/// A heading without the marks of Markdown.
fn plain(heading: &str) -> String {
    heading.replace(['`', '*'], "")
}

#[derive(Clone, Copy)]
enum Indent {
    None,
    Some,
}

/// Each line of a block, without the fence's own indent.
fn source_lines(text: &str, block: &Block) -> Vec<(Range<usize>, Indent)> {
    let mut start = block.content.start;
    let mut lines = Vec::new();
    for line in text[block.content.clone()].split_inclusive('\n') {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let from = start + spaces.min(block.indent);
        let to = start + line.trim_end().len();
        let indent = if text[from..to.max(from)].starts_with([' ', '\t']) {
            Indent::Some
        } else {
            Indent::None
        };
        lines.push((from..to.max(from), indent));
        start += line.len();
    }
    lines
}

fn step_line(
    words: &[Word],
    span: Range<usize>,
    known: &mut KnownNames<'_>,
) -> Result<Line, Mistake> {
    let (times, step) = step(&mut Phrase::new(words, span.clone()), known)?;
    if !(1..=MOST_TIMES).contains(&times) {
        return Err(Mistake {
            rule: Rule::BadValue,
            span,
            message: format!("a step cannot happen {times} times"),
            hint: format!("it happens 1 to {MOST_TIMES} times"),
        });
    }
    Ok(Line {
        span,
        times,
        step,
        expectations: Vec::new(),
    })
}

fn demand(
    words: &[Word],
    span: Range<usize>,
    known: &KnownNames<'_>,
    above: Option<&Line>,
) -> Result<ExpectedFact, Mistake> {
    let misplaced = |message: &str, hint: &str| Mistake {
        rule: Rule::Misplaced,
        span: span.clone(),
        message: String::from(message),
        hint: String::from(hint),
    };
    let Some(above) = above else {
        let hint = "write a step in column one, and its expectations indented below it";
        return Err(misplaced("there is no step above this line", hint));
    };
    let what = expectation(&mut Phrase::new(words, span.clone()), known)?;
    let about_answer = matches!(what, Expectation::Reply { .. } | Expectation::Rule(_));
    if about_answer && !above.step.is_answered() {
        let hint = "put it below a step that gets a reply";
        return Err(misplaced("there is no reply yet", hint));
    }
    Ok(ExpectedFact { span, what })
}

/// A run starts once, and before anything else happens.
fn misordered(block: &Block, lines: &[Line]) -> Option<Mistake> {
    let is_start = |line: &&Line| matches!(line.step, Step::Start(_));
    let mistake = |span: &Range<usize>, message: &str, hint: &str| Mistake {
        rule: Rule::Misplaced,
        span: span.clone(),
        message: String::from(message),
        hint: String::from(hint),
    };
    let Some(first) = lines.iter().find(|line| line.step.is_answered()) else {
        let hint = "start with `start`, then say what happens";
        return Some(mistake(
            &block.opening,
            "nothing happens in this scenario",
            hint,
        ));
    };
    if !is_start(&first) {
        let hint = "write `start` above it";
        return Some(mistake(&first.span, "the run has not been started", hint));
    }
    let second = lines.iter().filter(is_start).nth(1);
    let second = second.or_else(|| lines.iter().filter(is_start).find(|line| line.times > 1));
    second.map(|second| {
        let hint = "write a second scenario";
        mistake(&second.span, "a scenario starts one run", hint)
    })
}
