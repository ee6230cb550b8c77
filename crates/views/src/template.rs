//! Templates: Jinja over the model of a run, within limits.

mod escape;
mod filters;

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};

use engine::ViewFormat;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};
use serde::de::IgnoredAny;

use crate::safe::{has_forbidden, is_forbidden};
use escape::Escaping;

/// A template with the name of its file, which decides how values are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// How many instructions one rendering may take. A graph of a thousand steps needs a tenth of it.
const MOST_INSTRUCTIONS: u64 = 2_000_000;
/// How deep a recursive loop may go.
const MOST_CALLS: usize = 50;
pub(crate) const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Most views are shorter, and need not grow.
const FEW_BYTES: usize = 4 * 1024;

/// Why a template could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// From 1, where it is known.
    pub line: Option<usize>,
    pub reason: String,
}

impl TemplateError {
    pub(crate) fn missing(format: &ViewFormat) -> Self {
        Self::new(format!("the format {} has no template", format.word()))
    }

    /// A text that is longer than any view may be.
    pub(crate) fn too_long() -> Self {
        Self::new(format!("its output has more than {MOST_BYTES} bytes"))
    }

    fn new(reason: String) -> Self {
        Self { line: None, reason }
    }

    fn of(error: &minijinja::Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::OutOfFuel => {
                format!("it needs more than {MOST_INSTRUCTIONS} instructions")
            }
            ErrorKind::WriteFailure => {
                return Self {
                    line: error.line(),
                    ..Self::too_long()
                };
            }
            kind => match error.detail() {
                Some(detail) => format!("{kind}: {detail}"),
                None => kind.to_string(),
            },
        };
        Self {
            line: error.line(),
            reason,
        }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "line {line}: {}", self.reason),
            None => out.write_str(&self.reason),
        }
    }
}

impl std::error::Error for TemplateError {}

/// Renders a template. The same model gives the same text.
///
/// Invariant: the text contains no terminal control characters, whatever the template does, and a
/// template named `.json` gives valid JSON.
pub(crate) fn render(template: Template<'_>, model: Value) -> Result<String, TemplateError> {
    // Most templates need little of Jinja, and to set up all of it takes longer than to render them.
    let lean = render_in(&environment(Jinja::Lean)?, template, model.clone());
    lean.or_else(|_| render_in(&environment(Jinja::Whole)?, template, model))
}

fn render_in(
    environment: &Environment<'_>,
    template: Template<'_>,
    model: Value,
) -> Result<String, TemplateError> {
    let compiled = environment
        .template_from_named_str(template.name, template.text)
        .map_err(|error| TemplateError::of(&error))?;
    let mut output = Output(Vec::with_capacity(FEW_BYTES));
    compiled
        .render_captured_to(model, &mut output)
        .map_err(|error| TemplateError::of(&error))?;
    let text = output.text()?;
    if Escaping::of(template.name) == Escaping::Json {
        serde_json::from_str::<IgnoredAny>(&text)
            .map_err(|error| TemplateError::new(format!("its output is not JSON: {error}")))?;
    }
    Ok(text)
}

/// The names that a template takes from the model, as `run.task`, in their order.
pub(crate) fn names(template: Template<'_>) -> Result<Vec<String>, TemplateError> {
    let environment = environment(Jinja::Whole)?;
    let compiled = environment
        .template_from_named_str(template.name, template.text)
        .map_err(|error| TemplateError::of(&error))?;
    let functions: BTreeSet<&str> = environment.globals().map(|(name, _)| name).collect();
    let names = compiled.undeclared_variables(true).into_iter();
    let mut names: Vec<String> = names
        .filter(|name| !functions.contains(name.as_str()))
        .collect();
    names.sort();
    Ok(names)
}

/// How much of Jinja's own filters, tests and functions there is.
#[derive(Clone, Copy)]
enum Jinja {
    Lean,
    Whole,
}

/// An undefined name is an error, so that a misspelt name is noticed instead of shown as nothing.
fn environment<'t>(jinja: Jinja) -> Result<Environment<'t>, TemplateError> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .map_err(|error| TemplateError::of(&error))?;
    let mut environment = match jinja {
        Jinja::Lean => lean(),
        Jinja::Whole => Environment::new(),
    };
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MOST_INSTRUCTIONS));
    environment.set_recursion_limit(MOST_CALLS);
    environment.set_formatter(escape::write);
    filters::add(&mut environment);
    Ok(environment)
}

fn lean<'t>() -> Environment<'t> {
    let mut environment = Environment::empty();
    environment.add_filter("safe", minijinja::filters::safe);
    environment.add_filter("default", minijinja::filters::default);
    environment.add_filter("replace", minijinja::filters::replace);
    environment.add_test("none", minijinja::tests::is_none);
    environment.add_test("defined", minijinja::tests::is_defined);
    environment.add_function("namespace", minijinja::functions::namespace);
    environment
}

/// The text so far, limited in length.
struct Output(Vec<u8>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Removes terminal control characters: a template may mark any text as safe.
    fn text(self) -> Result<String, TemplateError> {
        let text =
            String::from_utf8(self.0).map_err(|error| TemplateError::new(error.to_string()))?;
        if has_forbidden(&text) {
            Ok(text.replace(is_forbidden, ""))
        } else {
            Ok(text)
        }
    }
}
