//! Checks the templates of a definition in a process with limited memory and time.
//!
//! A template comes with a definition that perhaps nobody has read yet, and the template engine counts
//! instructions, not bytes: a few of them can double a text until the machine has no memory left. So a
//! child process of the same program renders them, and may die.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use engine::{CheckRule, Pipeline, Place, Problem};
use language::{SourceFile, Sources};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::current_exe;
use crate::failure::Failure;
use crate::subprocess::{self, SubprocessError};

/// The argument by which the program knows that it is the child.
pub const WORD: &str = "check-templates";

const MOST_MEBIBYTES: u64 = 256;
const MOST_SECONDS: u64 = 60;

/// What is wrong with the definition's own templates. Without any, no process starts.
pub fn problems(sources: &Sources, pipeline: &Pipeline) -> Result<Vec<Problem>, Failure> {
    let templates = views::own_templates(pipeline);
    if templates.is_empty() {
        return Ok(Vec::new());
    }
    let program = current_exe::program()
        .map_err(|cause| Failure::environment(format!("cannot find our program ({cause})")))?;
    let input = json!(TemplateRequest::of(sources)).to_string();
    let limit = Duration::from_secs(MOST_SECONDS);
    let ran = subprocess::run(Command::new(program).arg(WORD), input.as_bytes(), limit);
    match ran {
        Ok(ended) if ended.was_killed() => Ok(vec![over_limit(
            &templates,
            &format!("{MOST_MEBIBYTES} MiB of memory"),
        )]),
        Ok(ended) => {
            let answer = ended.success().map_err(not_checked)?;
            read_problems(&answer).ok_or_else(|| not_checked("its answer is unreadable".to_owned()))
        }
        Err(SubprocessError::TooLong(_)) => Ok(vec![over_limit(
            &templates,
            &format!("{MOST_SECONDS} seconds"),
        )]),
        Err(
            error @ (SubprocessError::Missing
            | SubprocessError::NotStarted(_)
            | SubprocessError::Stopped),
        ) => Err(not_checked(error.to_string())),
    }
}

/// The child: limits itself, reads the definition, and answers with the problems as JSON.
pub fn answer(input: &[u8]) -> Result<String, Failure> {
    limit_this_process()
        .map_err(|cause| Failure::environment(format!("cannot limit memory ({cause})")))?;
    let request: Option<TemplateRequest> = serde_json::from_slice(input).ok();
    let sources = request
        .and_then(TemplateRequest::sources)
        .ok_or_else(|| Failure::usage("the input is not a request"))?;
    let compiled =
        language::compile(&sources).map_err(|_| Failure::usage("the definition is not valid"))?;
    let problems = views::template_problems(&compiled.pipeline);
    Ok(answer_text(problems))
}

fn limit_this_process() -> rustix::io::Result<()> {
    let at_most = |number: u64| Rlimit {
        current: Some(number),
        maximum: Some(number),
    };
    setrlimit(Resource::Core, at_most(0))?;
    setrlimit(Resource::Cpu, at_most(MOST_SECONDS))?;
    setrlimit(Resource::Data, at_most(MOST_MEBIBYTES << 20))
}

fn over_limit(templates: &[&str], limit: &str) -> Problem {
    let named: Vec<String> = templates.iter().map(|file| format!("`{file}`")).collect();
    Problem {
        rule: CheckRule::BadTemplate,
        place: Place(vec!["views".to_owned(), "template".to_owned()]),
        message: format!("{} cannot be rendered within {limit}", named.join(" or ")),
        hint: "build shorter texts and lists in the template".to_owned(),
    }
}

fn not_checked(why: String) -> Failure {
    Failure::environment(format!("cannot check the templates of the views: {why}"))
}

/// What the child is asked. Files need not be UTF-8, so each byte is one character.
#[derive(Serialize, Deserialize)]
struct TemplateRequest {
    name: String,
    main: String,
    files: BTreeMap<String, String>,
}

/// What the child answers. Templates have one rule.
#[derive(Serialize, Deserialize)]
struct TemplateProblem {
    place: Vec<String>,
    message: String,
    hint: String,
}

impl TemplateRequest {
    fn of(sources: &Sources) -> Self {
        let files = sources.files.iter();
        Self {
            name: sources.main.name.clone(),
            main: as_text(&sources.main.bytes),
            files: files
                .map(|(name, bytes)| (name.clone(), as_text(bytes)))
                .collect(),
        }
    }

    fn sources(self) -> Option<Sources> {
        let files = self.files.into_iter();
        Some(Sources {
            main: SourceFile {
                name: self.name,
                bytes: as_bytes(&self.main)?,
            },
            files: files
                .map(|(name, text)| Some((name, as_bytes(&text)?)))
                .collect::<Option<_>>()?,
        })
    }
}

fn as_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn as_bytes(text: &str) -> Option<Vec<u8>> {
    let characters = text.chars();
    characters.map(|found| u8::try_from(found).ok()).collect()
}

fn answer_text(problems: Vec<Problem>) -> String {
    let problems = problems.into_iter().map(|problem| TemplateProblem {
        place: problem.place.0,
        message: problem.message,
        hint: problem.hint,
    });
    json!(problems.collect::<Vec<_>>()).to_string()
}

fn read_problems(answer: &str) -> Option<Vec<Problem>> {
    let problems: Vec<TemplateProblem> = serde_json::from_str(answer).ok()?;
    let problems = problems.into_iter().map(|problem| Problem {
        rule: CheckRule::BadTemplate,
        place: Place(problem.place),
        message: problem.message,
        hint: problem.hint,
    });
    Some(problems.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_and_its_problems_arrive_as_they_were() {
        let sources = Sources {
            main: SourceFile {
                name: "a.toml".to_owned(),
                bytes: "name = \"ü\"\n".into(),
            },
            files: BTreeMap::from([("b.j2".to_owned(), vec![0, 10, 127, 128, 255])]),
        };
        let sent = json!(TemplateRequest::of(&sources)).to_string();
        let read: TemplateRequest = serde_json::from_str(&sent).unwrap();
        let read = read.sources().unwrap();
        assert_eq!(read.main.bytes, sources.main.bytes);
        assert_eq!(read.files, sources.files);
        let problem = over_limit(&["a.j2"], "1 s");
        let answer = answer_text(vec![problem.clone()]);
        assert_eq!(read_problems(&answer), Some(vec![problem]));
        assert_eq!(read_problems("running 0 tests"), None);
    }
}
