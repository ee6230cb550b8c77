//! A person vouches for what checks run in and with: their own environment, and programs in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::{CheckedProgram, Happening, PersonEvent, ProgramPlace, Who};
use evidence::Project;
use evidence::check::{self, program};
use runtime::accepted_programs::{self, Difference};
use runtime::check_environment::{self, Given, Origin, SavedEnvironment};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, find_run, ids, transact};
use serde_json::json;
use store::Backend as _;

use crate::confirm::{self, Question};
use crate::exit::Exit;
use crate::output::Output;

/// Shows the person who installs or trusts which environment checks will have, where it is not the one
/// that the project has already.
pub(crate) fn show(
    context: &Context,
    output: &mut Output,
    project: &Project,
) -> Result<(), Failure> {
    let Who::Person(_) = context.who() else {
        return Ok(());
    };
    let environment = SavedEnvironment::of_process(Origin::Person, &project.root);
    let earlier = check_environment::of_project(&context.state()?, project);
    if earlier.is_none_or(|earlier| earlier.environment != environment) {
        output.say("checks will run in this environment of yours:");
        tell(output, &environment);
    }
    Ok(())
}

fn tell(output: &mut Output, environment: &SavedEnvironment) {
    for line in environment.lines() {
        output.say(&format!("  {}", views::line(&line)));
    }
}

/// Gives the project the environment of the person who installs or trusts. That of a script is taken
/// only where there is none, and that of an agent never.
pub(crate) fn give(
    context: &Context,
    output: &mut Output,
    project: &Project,
) -> Result<(), Failure> {
    let state = context.state()?;
    let origin = match context.who() {
        Who::Person(_) => Origin::Person,
        Who::Unattended(_) if check_environment::of_project(&state, project).is_none() => {
            Origin::Unattended
        }
        Who::Unattended(_) | Who::Agent(_) | Who::Through(_) | Who::Session(_) | Who::Engine => {
            return Ok(());
        }
    };
    let environment = SavedEnvironment::of_process(origin, &project.root);
    if origin == Origin::Person {
        let difference = accepted_programs::accept_all(&state, project, &environment)?;
        tell_difference(output, &difference);
    }
    let given = Given {
        environment,
        at: clock::now(),
        by: context.who().name(),
    };
    check_environment::give(&state, project, &given)?;
    Ok(())
}

fn tell_difference(output: &mut Output, difference: &Difference) {
    for (paths, how) in [(&difference.changed, "changed"), (&difference.new, "new")] {
        for path in paths {
            let path = views::line(&path.display().to_string());
            output.say(&format!("accepted for checks: {path} ({how})"));
        }
    }
}

/// `trust --environment`: the project and its active runs get the person's environment.
pub(crate) fn environment(context: &Context, output: &mut Output) -> Result<Exit, Failure> {
    at_terminal(context)?;
    let project = Project::find(&context.folder)?;
    let environment = SavedEnvironment::of_process(Origin::Person, &project.root);
    output.say("checks of this project and of its active runs will run in this environment:");
    tell(output, &environment);
    asked("use this environment")?;
    let mut workspace = Workspace::for_writing(context)?;
    give(context, output, &project)?;
    let hash = check_environment::keep(&workspace.state, &environment)?;
    let event = PersonEvent::Vouched {
        environment: Some(hash),
        programs: Vec::new(),
    };
    let runs = tell_runs(&mut workspace, &event)?;
    output.facts(
        |_| format!("checks use this environment{}\n", of_runs(&runs)),
        || json!({ "environment": hash.to_string(), "variables": environment.variables, "runs": runs }),
    )?;
    Ok(Exit::Success)
}

/// `trust --program NAME`: a program that the account can change is accepted as it is now.
pub(crate) fn program(context: &Context, output: &mut Output, word: &str) -> Result<Exit, Failure> {
    at_terminal(context)?;
    let project = Project::find(&context.folder)?;
    let mut workspace = Workspace::for_writing(context)?;
    let found = found(&workspace, &project, word)?;
    let state = workspace.state.clone();
    let accepted = accepted_programs::of_project(&state, &project).programs;
    for program in &found {
        let (path, hash) = (views::line(&program.path), shown(program.hash));
        output.say(&format!("{path}\n  now       {hash}"));
        if let Some(earlier) = accepted.get(Path::new(&program.path)) {
            output.say(&format!("  accepted  {earlier}"));
        }
    }
    asked(&format!("let checks use {}", views::line(word)))?;
    accepted_programs::accept(&state, &project, &found)?;
    let event = PersonEvent::Vouched {
        environment: None,
        programs: found.clone(),
    };
    let runs = tell_runs(&mut workspace, &event)?;
    let programs = found
        .iter()
        .map(|program| json!({ "path": program.path, "sha256": shown(program.hash) }));
    output.facts(
        |_| format!("{} is accepted{}\n", views::line(word), of_runs(&runs)),
        || json!({ "programs": programs.collect::<Vec<_>>(), "runs": runs }),
    )?;
    Ok(Exit::Success)
}

fn shown(hash: Option<engine::Hash>) -> String {
    hash.map_or_else(|| "unreadable".to_owned(), |hash| hash.to_string())
}

/// The programs of this name in the environments of the project and of its active runs, with what runs them,
/// as far as they must be accepted.
fn found(
    workspace: &Workspace<'_>,
    project: &Project,
    word: &str,
) -> Result<Vec<CheckedProgram>, Failure> {
    let (state, root) = (&workspace.state, &project.root);
    let given = check_environment::of_project(state, project).map(|given| given.environment);
    let mut environments: Vec<SavedEnvironment> = given.into_iter().collect();
    for summary in active(workspace)? {
        if let Some(stored) = workspace.store.run(&summary)? {
            environments.extend(check_environment::of_run(state, &stored.run));
        }
    }
    let mut programs: Vec<CheckedProgram> = Vec::new();
    let mut looked_at: BTreeSet<PathBuf> = BTreeSet::new();
    for environment in &environments {
        let search = environment.search(root);
        let path = if word.contains('/') {
            Some(root.join(word)).filter(|path| path.is_file())
        } else {
            check::find(word, &search).ok()
        };
        if let Some(path) = path.filter(|path| looked_at.insert(path.clone())) {
            programs.extend(program::seen(&path, root, &search));
        }
    }
    if programs.is_empty() {
        let failure = Failure::not_found(format!("no check of this project finds `{word}`"));
        return Err(
            failure.hint("`gatewright trust --environment` takes the folders that you use now")
        );
    }
    programs.retain(|program| program.place == ProgramPlace::Account);
    programs.dedup();
    if programs.is_empty() {
        let failure = Failure::refused(format!("`{word}` needs no acceptance"));
        return Err(
            failure.hint("only a program that your account can change outside the project does")
        );
    }
    Ok(programs)
}

fn active(workspace: &Workspace<'_>) -> Result<Vec<engine::RunId>, Failure> {
    let runs = find_run::of_project(workspace)?.into_iter();
    let active = runs.filter(find_run::is_active).map(|summary| summary.id);
    Ok(active.collect())
}

/// Records it in the project's active runs; a check that waited for it may run again.
fn tell_runs(workspace: &mut Workspace<'_>, event: &PersonEvent) -> Result<Vec<String>, Failure> {
    let runs = active(workspace)?;
    for run in &runs {
        let mut make =
            |_: &Workspace<'_>, _: &OpenRun, _| Ok(Happening::Person(event.clone()).into());
        transact::command(workspace, run, &ids::key()?, &mut make)?;
    }
    Ok(runs.iter().map(ToString::to_string).collect())
}

fn of_runs(runs: &[String]) -> String {
    if runs.is_empty() {
        String::new()
    } else {
        format!(", also in {}", runs.join(", "))
    }
}

fn at_terminal(context: &Context) -> Result<(), Failure> {
    match context.who() {
        Who::Person(_) => Ok(()),
        Who::Unattended(_)
        | Who::Agent(_)
        | Who::Through(_)
        | Who::Session(_)
        | Who::Engine => Err(Failure::refused(
            "only a person at a terminal can vouch for what checks run, and this is not a terminal",
        )
        .hint("type the command at a terminal")),
    }
}

fn asked(action: &str) -> Result<(), Failure> {
    confirm::ask(&Question {
        lost: "",
        word: "yes",
        action,
    })
}
