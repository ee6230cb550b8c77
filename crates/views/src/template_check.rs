//! Checks the templates of a definition: renders each for sample runs in every state, before there is a run.

mod sample;

use std::collections::BTreeSet;

use engine::{CheckRule, Hash, Pipeline, Place, Problem, ViewFormat, ViewTemplate, nearest};
use minijinja::Value;
use serde_json::Value as Json;

use crate::model::{ROOTS, model};
use crate::template::{Template, TemplateError, names, render};
use crate::view_input::ViewInput;
use sample::samples;

/// The longest template, in bytes.
const MOST_BYTES: usize = 64 * 1024;

/// The files of the pipeline's own templates.
pub fn own_templates(pipeline: &Pipeline) -> Vec<&str> {
    let own = templates(pipeline).map(|(_, template)| template.file.as_str());
    own.collect()
}

/// Why the templates of this pipeline cannot render every run.
pub fn template_problems(pipeline: &Pipeline) -> Vec<Problem> {
    let templates = templates(pipeline);
    let found = templates.enumerate().flat_map(|(number, (format, own))| {
        let errors = errors(pipeline, format, own).into_iter();
        errors.map(move |error| problem(number, own, &error))
    });
    found.collect()
}

fn templates(pipeline: &Pipeline) -> impl Iterator<Item = (&ViewFormat, &ViewTemplate)> {
    let views = pipeline.definition().views.iter();
    views.filter_map(|view| {
        if let ViewFormat::Template(template) = &view.format {
            Some((&view.format, template))
        } else {
            None
        }
    })
}

fn problem(number: usize, own: &ViewTemplate, error: &TemplateError) -> Problem {
    let keys = ["views", ViewFormat::TEMPLATE, &number.to_string(), "file"];
    Problem {
        rule: CheckRule::BadTemplate,
        place: Place(keys.map(str::to_owned).to_vec()),
        message: format!("`{}` cannot be rendered: {error}", own.file),
        hint: "fix the template; docs/view-model.md lists what it can show".to_owned(),
    }
}

/// All unknown names, or else the first error when it is rendered.
fn errors(pipeline: &Pipeline, format: &ViewFormat, own: &ViewTemplate) -> Vec<TemplateError> {
    let template = Template {
        name: &own.file,
        text: &own.text,
    };
    if own.text.len() > MOST_BYTES {
        let reason = format!("it has more than {MOST_BYTES} bytes");
        return vec![TemplateError { line: None, reason }];
    }
    let names = match names(template) {
        Ok(names) => names,
        Err(error) => return vec![error],
    };
    let models = models(pipeline, template, format);
    let seen: Vec<Json> = models.iter().filter_map(as_json).collect();
    let assigned = assigned(template.text);
    let taken = names.iter().filter(|name| !assigned.contains(root(name)));
    let unknown = taken.filter(|name| !is_known(name, &seen));
    let unknown: Vec<TemplateError> = unknown.map(|name| unknown_name(template, name)).collect();
    if !unknown.is_empty() {
        return unknown;
    }
    let mut renderings = models.into_iter().map(|model| render(template, model));
    let failed = renderings.find_map(Result::err);
    failed.into_iter().collect()
}

fn models(pipeline: &Pipeline, template: Template<'_>, format: &ViewFormat) -> Vec<Value> {
    // Every artifact is an empty object: a template may not rely on what an agent writes.
    let contents = |_: &Hash| Some("{}".to_owned());
    let samples = samples(pipeline).into_iter();
    let models = samples.map(|sample| {
        let input = ViewInput {
            pipeline,
            run: &sample.run,
            digest: &sample.digest,
            entries: &[],
            project: "/project",
            contents: &contents,
            builtin: &|_| None,
        };
        model(template, format, &input)
    });
    models.collect()
}

fn as_json(model: &Value) -> Option<Json> {
    serde_json::to_value(model).ok()
}

/// The names that a template gives to values itself. Those that it sets in a condition count for its whole
/// text here; where they are missing is found when it is rendered.
fn assigned(text: &str) -> BTreeSet<&str> {
    let tags = text.split("{%").skip(1);
    let targets = tags.filter_map(|tag| {
        let tag = tag.trim_start_matches(['-', '+']).trim_start();
        tag.strip_prefix("set ")?.split(['=', '%', '|']).next()
    });
    targets
        .flat_map(|targets| targets.split(','))
        .map(|target| target.trim_matches(|found: char| "() ".contains(found)))
        .collect()
}

fn root(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Has some run such a value?
fn is_known(name: &str, models: &[Json]) -> bool {
    models.iter().any(|model| {
        let mut parts = name.split('.');
        let found = parts.try_fold(model, |value, part| match value {
            Json::Object(members) => members.get(part),
            // Methods of a text and attributes of null are found when it is rendered.
            other => Some(other),
        });
        found.is_some()
    })
}

fn unknown_name(template: Template<'_>, name: &str) -> TemplateError {
    let mut lines = (1..).zip(template.text.lines());
    let line = lines.find(|(_, text)| text.contains(name));
    let root = root(name);
    let reason = match nearest(root, ROOTS.iter().copied()) {
        Some(near) if !ROOTS.contains(&root) => {
            format!("there is no `{name}`; did you mean `{near}`?")
        }
        _ => format!("there is no `{name}`"),
    };
    TemplateError {
        line: line.map(|(number, _)| number),
        reason,
    }
}
