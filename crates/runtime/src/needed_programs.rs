//! The programs that the checks and workers of a pipeline need, and which of them are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::{Commands, Definition, ParamName, Work};
use evidence::Project;
use evidence::check::{self, SearchPath};
use hosts::Program;

use crate::check_environment;
use crate::context::Context;
use crate::failure::Failure;
use crate::runners;

/// A program that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingProgram {
    pub name: String,
    /// The stages or workers that need it.
    pub needed_for: Vec<String>,
    pub remedy: String,
}

/// What a guarded run of this pipeline in this project would not find. The session's own program is not
/// part of it.
pub fn missing(
    context: &Context,
    project: &Project,
    definition: &Definition,
) -> Result<Vec<MissingProgram>, Failure> {
    let (state, by) = (context.state()?, context.who());
    let search = check_environment::chosen(&state, project, &by).search(&project.root);
    let checks = of_checks(definition, &BTreeMap::new()).into_iter();
    let checks = checks.filter(|(word, _)| located(word, &project.root, &search).is_none());
    let checks = checks.map(|(name, needed_for)| MissingProgram {
        name,
        needed_for,
        remedy: "install it, or type `gatewright trust --environment` in a terminal where it works"
            .to_owned(),
    });
    let path = context.environment.search_path.clone().unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let search = check::search(&folders, &project.root);
    let workers = of_workers(definition).into_values();
    let workers = workers.filter(|(program, _)| check::find(program.word(), &search).is_err());
    let workers = workers.map(|(program, needed_for)| MissingProgram {
        name: program.word().to_owned(),
        needed_for,
        remedy: program.installed_by(),
    });
    Ok(checks.chain(workers).collect())
}

/// The first word of every command that the definition itself names, with the stages that run it. What only
/// the run will know cannot be looked for.
pub fn of_checks(
    definition: &Definition,
    params: &BTreeMap<ParamName, String>,
) -> BTreeMap<String, Vec<String>> {
    let mut programs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for stage in &definition.stages {
        let Work::Check(check) = &stage.work else {
            continue;
        };
        let Commands::Fixed(commands) = &check.commands else {
            continue;
        };
        for word in commands.iter().filter_map(|words| words.first()) {
            let word = filled(word, params);
            if !word.is_empty() && !word.contains('{') {
                let needed_for = programs.entry(word).or_default();
                needed_for.insert(stage.name.to_string());
            }
        }
    }
    let programs = programs.into_iter();
    programs
        .map(|(word, stages)| (word, stages.into_iter().collect()))
        .collect()
}

fn filled(word: &str, params: &BTreeMap<ParamName, String>) -> String {
    params.iter().fold(word.to_owned(), |word, (name, value)| {
        word.replace(&format!("{{{name}}}"), value)
    })
}

/// Where this program is, if it is there.
pub fn located(word: &str, root: &Path, search: &SearchPath) -> Option<PathBuf> {
    if word.contains('/') {
        Some(root.join(word)).filter(|path| path.is_file())
    } else {
        check::find(word, search).ok()
    }
}

/// The programs of workers that the session does not start itself.
fn of_workers(definition: &Definition) -> BTreeMap<&'static str, (Program, Vec<String>)> {
    let mut programs = BTreeMap::new();
    for member in runners::members(definition, Program::DEFAULT.word()) {
        let program = runners::program(member.runner);
        let Some(program) = program.filter(|program| *program != Program::DEFAULT) else {
            continue;
        };
        let entry = programs.entry(program.word());
        let (_, needed_for): &mut (Program, Vec<String>) = entry.or_insert((program, Vec::new()));
        if !needed_for.contains(&member.who) {
            needed_for.push(member.who);
        }
    }
    programs
}
