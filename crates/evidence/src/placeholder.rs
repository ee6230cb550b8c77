//! Placeholders: `{run}`, `{step}` and `{parameter}` in paths, command words and required values.

use engine::{AgentName, Definition, ParamName, Run, StepId};

/// The values of placeholders.
#[derive(Clone, Copy)]
pub(crate) struct PlaceholderValues<'a> {
    pub definition: &'a Definition,
    pub run: &'a Run,
    pub step: Option<&'a StepId>,
    /// The worker. With it, `{agent}` and `{stage}` have values, too.
    pub agent: Option<&'a AgentName>,
}

/// A piece of a text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Placeholder(Placeholder),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Run,
    Step,
    Agent,
    Stage,
    Param(ParamName),
}

impl<'a> PlaceholderValues<'a> {
    /// Splits a text at its placeholders. Other braces are ordinary text.
    pub(crate) fn pieces<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        let mut pieces = Vec::new();
        let (mut start, mut from) = (0, 0);
        while let Some((open, close)) = braces(text, from) {
            match self.placeholder(&text[open + 1..close]) {
                Some(placeholder) => {
                    pieces.extend(plain(&text[start..open]));
                    pieces.push(Piece::Placeholder(placeholder));
                    (start, from) = (close + 1, close + 1);
                }
                None => from = open + 1,
            }
        }
        pieces.extend(plain(&text[start..]));
        pieces
    }

    /// The text with every placeholder filled in.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::new();
        for piece in self.pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder(placeholder) => filled.push_str(self.value(&placeholder)?),
            }
        }
        Ok(filled)
    }

    /// The value of a placeholder, or why there is none.
    pub(crate) fn value(&self, placeholder: &Placeholder) -> Result<&'a str, String> {
        match placeholder {
            Placeholder::Agent => self
                .agent
                .map(AgentName::as_str)
                .ok_or_else(|| String::from("{agent} has a value only while somebody works")),
            Placeholder::Stage => Ok(self.run.position.stage.as_str()),
            Placeholder::Run => Ok(self.run.id.as_str()),
            Placeholder::Step => self
                .step
                .map(StepId::as_str)
                .ok_or_else(|| String::from("{step} has a value only in a step of a task graph")),
            Placeholder::Param(name) => self.param(name).ok_or_else(|| {
                format!("the parameter {name} has no value; start the run with one")
            }),
        }
    }

    fn param(&self, name: &ParamName) -> Option<&'a str> {
        let default = || {
            self.definition
                .params
                .get(name)
                .and_then(|param| param.default.as_ref())
        };
        self.run
            .params
            .get(name)
            .or_else(default)
            .map(String::as_str)
    }

    fn declared(&self, name: &str) -> Option<Placeholder> {
        let name = ParamName::parse(name).ok()?;
        let declared = self.definition.params.contains_key(&name);
        declared.then_some(Placeholder::Param(name))
    }

    fn of_work(&self, name: &str) -> Option<Placeholder> {
        match (name, self.agent) {
            ("agent", Some(_)) => Some(Placeholder::Agent),
            ("stage", Some(_)) => Some(Placeholder::Stage),
            _ => None,
        }
    }

    fn placeholder(&self, name: &str) -> Option<Placeholder> {
        match name {
            "run" => Some(Placeholder::Run),
            "step" => Some(Placeholder::Step),
            other => self.declared(other).or_else(|| self.of_work(other)),
        }
    }
}

/// The next pair of braces with no brace between them.
fn braces(text: &str, mut from: usize) -> Option<(usize, usize)> {
    loop {
        let close = from + text[from..].find('}')?;
        if let Some(open) = text[from..close].rfind('{') {
            return Some((from + open, close));
        }
        from = close + 1;
    }
}

fn plain(text: &str) -> Option<Piece<'_>> {
    (!text.is_empty()).then_some(Piece::Text(text))
}
