//! Steps given at the start: a task graph as JSON, or a list of titles to do one after the other.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use engine::{Format, Step};
use serde_json::{Value, json};

use crate::failure::Failure;

const MOST_BYTES: u64 = 1024 * 1024;

/// The agent of a step that names none: every Claude Code session has it.
const ANYBODY: &str = "general-purpose";

/// The keys of the list in an object: plans of agents call it `phases`, and the view of a task graph `tasks`.
const LISTS: [&str; 3] = ["steps", "phases", "tasks"];

/// The steps in a file.
pub fn read(path: &Path) -> Result<Vec<Step>, Failure> {
    let size = fs::metadata(path).map_err(Failure::file("look at", path))?;
    if !size.is_file() || size.len() > MOST_BYTES {
        let message = format!(
            "{} must be a file of at most {MOST_BYTES} bytes",
            path.display()
        );
        return Err(Failure::refused(message).hint("use a file with fewer steps"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Failure::file("open", path))?;
    file.take(MOST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(Failure::file("read", path))?;
    let json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let shape = if json { Shape::Json } else { Shape::Any };
    let wrong = |reason: String| {
        Failure::refused(format!("{}: {reason}", path.display())).hint(
            "write a title on each line, or JSON: [{\"id\", \"title\", \"agent\", \"needs\"}]",
        )
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
    parse(&text, shape).map_err(wrong)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Json,
    /// JSON or lines: the first character decides.
    Any,
}

fn parse(text: &str, shape: Shape) -> Result<Vec<Step>, String> {
    let is_json = shape == Shape::Json || text.trim_start().starts_with(['[', '{']);
    let items = if is_json {
        listed(serde_json::from_str(text).map_err(|cause| format!("not valid JSON: {cause}"))?)?
    } else {
        titles(text).map(Value::from).collect()
    };
    if items.is_empty() {
        return Err("there are no steps".to_owned());
    }
    let steps = if items.iter().any(Value::is_string) {
        in_a_row(&items)?
    } else {
        items.into_iter().map(with_agent).collect()
    };
    let field = LISTS[0];
    let content = json!({ field: steps }).to_string();
    evidence::steps::read(&content, &Format::Json { schema: None }, field)
}

/// The list itself, or the one in an object.
fn listed(value: Value) -> Result<Vec<Value>, String> {
    let mut fields = match value {
        Value::Array(items) => return Ok(items),
        Value::Object(fields) => fields,
        _ => return Err("there is no list of steps".to_owned()),
    };
    let named = LISTS.iter().filter(|name| fields.contains_key(**name));
    let named: Vec<&str> = named.copied().collect();
    match named.as_slice() {
        [name] => match fields.remove(*name) {
            Some(Value::Array(items)) => Ok(items),
            _ => Err(format!("`{name}` is not a list")),
        },
        [] => Err("there is no list of steps".to_owned()),
        several => Err(format!("it has `{}`: keep one", several.join("` and `"))),
    }
}

/// Lines without list markers; headings and empty lines are skipped.
fn titles(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let numbered = number
            .strip_prefix(". ")
            .filter(|_| number.len() < line.len());
        let marked = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        marked.or(numbered).unwrap_or(line).trim()
    })
}

/// Plain titles are done one after the other.
fn in_a_row(items: &[Value]) -> Result<Vec<Value>, String> {
    let id = |number: usize| format!("phase_{number}");
    let step = |(number, item): (usize, &Value)| {
        let Value::String(title) = item else {
            return Err("write all steps as titles, or all with an id".to_owned());
        };
        let needs: Vec<String> = number.checked_sub(1).map(id).into_iter().collect();
        Ok(json!({ "id": id(number), "title": title, "agent": ANYBODY, "needs": needs }))
    };
    items.iter().enumerate().map(step).collect()
}

fn with_agent(item: Value) -> Value {
    match item {
        Value::Object(mut fields) => {
            fields
                .entry("agent")
                .or_insert_with(|| Value::from(ANYBODY));
            Value::Object(fields)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats each step as `id title agent needs`.
    fn described(text: &str) -> Vec<String> {
        let steps = parse(text, Shape::Any).unwrap();
        let described = steps.iter().map(|step| {
            let needs: Vec<&str> = step.needs.iter().map(engine::StepId::as_str).collect();
            format!(
                "{} {} {} {}",
                step.id,
                step.title,
                step.agent,
                needs.join(",")
            )
        });
        described.collect()
    }

    #[test]
    fn the_view_of_a_task_graph_is_read_again() {
        let graph = r#"{"workflow_id": "wf_1", "task": "x", "current_wave": 0, "waves": [["a"], ["b"]], "tasks": [
            {"id": "a", "phase": "phase_0", "title": "begin", "agent": "worker", "needs": [], "wave": 0, "status": "completed"},
            {"id": "b", "phase": "phase_1", "title": "go on", "agent": "worker", "needs": ["a"], "wave": 1, "status": "pending"}]}"#;
        assert_eq!(described(graph), ["a begin worker ", "b go on worker a"]);
    }

    #[test]
    fn a_list_and_an_object_say_the_same() {
        let steps = r#"[{"id": "a", "title": "begin", "agent": "worker"},
            {"id": "b", "title": "end", "needs": ["a"]}]"#;
        let expected = ["a begin worker ", "b end general-purpose a"];
        assert_eq!(described(&format!(" {steps}")), expected);
        assert_eq!(described(&format!("{{\"steps\": {steps}}}")), expected);
        assert_eq!(
            described(&format!("{{\"task\": \"x\", \"phases\": {steps}}}")),
            expected
        );
    }

    #[test]
    fn titles_are_done_one_after_the_other() {
        let expected = [
            "phase_0 Create calculator module general-purpose ",
            "phase_1 Write tests general-purpose phase_0",
            "phase_2 2 + 2 is 4 general-purpose phase_1",
        ];
        for text in [
            "Create calculator module\nWrite tests\n2 + 2 is 4\n",
            "# The plan\n\n- Create calculator module\r\n * Write tests\n3. 2 + 2 is 4",
            r#"["Create calculator module", "Write tests", "2 + 2 is 4"]"#,
            r#"{"phases": ["Create calculator module", "Write tests", "2 + 2 is 4"]}"#,
        ] {
            assert_eq!(described(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_step_is_told() {
        let many = vec!["\"x\""; 10_000].join(",");
        for (text, shape, expected) in [
            ("", Shape::Any, "there are no steps"),
            ("\n# only a heading\n", Shape::Any, "there are no steps"),
            ("[]", Shape::Any, "there are no steps"),
            ("{}", Shape::Any, "there is no list of steps"),
            ("7", Shape::Json, "there is no list of steps"),
            ("one\ntwo", Shape::Json, "not valid JSON: "),
            ("[1", Shape::Any, "not valid JSON: "),
            ("[1]", Shape::Any, "step 1 of `steps` is a number"),
            (r#"[{"id": "a"}]"#, Shape::Any, "has no title"),
            (r#"[{"title": "a"}]"#, Shape::Any, "has no id"),
            (
                r#"[{"id": "../a", "title": "a"}]"#,
                Shape::Any,
                "has a bad id: ",
            ),
            (
                r#"["a", {"id": "b", "title": "b"}]"#,
                Shape::Any,
                "write all steps as titles",
            ),
            (
                r#"{"steps": ["a"], "phases": ["b"]}"#,
                Shape::Any,
                "`steps` and `phases`",
            ),
            (&format!("[{many}]"), Shape::Any, "1000 steps"),
        ] {
            let described = parse(text, shape).unwrap_err();
            assert!(described.contains(expected), "{expected}\n{described}");
        }
    }
}
