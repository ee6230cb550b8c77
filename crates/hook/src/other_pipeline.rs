//! A slash command of another pipeline, in a session that already holds a run: it says why nothing
//! happens, and what to type instead.

use engine::{Act, Begins, CommandName};
use evidence::Project;
use hosts::Answer;
use runtime::enrolment::{self, Installed, InstalledPipeline};

use super::guarded_session::Guarded;

/// The answer, if the command belongs to another pipeline of this project.
pub(super) fn answer(guarded: &Guarded<'_, '_>, name: &CommandName) -> Option<Answer> {
    let installed = installed(guarded)?;
    let other = owner(guarded, &installed, name)?;
    let line = line(guarded, &installed, other, name);
    Some(Answer {
        context: Some(format!(
            "{line}\nTell the person, and do not start the work."
        )),
        notice: Some(format!("gatewright: {line}")),
        ..Answer::nothing()
    })
}

/// Does the command belong to another pipeline of this project?
pub(super) fn owns(guarded: &Guarded<'_, '_>, name: &CommandName) -> bool {
    let installed = installed(guarded);
    installed.is_some_and(|installed| owner(guarded, &installed, name).is_some())
}

fn owner<'i>(
    guarded: &Guarded<'_, '_>,
    installed: &'i Installed,
    name: &CommandName,
) -> Option<&'i InstalledPipeline> {
    let own = &guarded.opened.pipeline.definition().name;
    let mut pipelines = installed.pipelines.iter();
    pipelines.find(|it| it.name != *own && it.commands.contains_key(name))
}

fn line(
    guarded: &Guarded<'_, '_>,
    installed: &Installed,
    other: &InstalledPipeline,
    command: &CommandName,
) -> String {
    let run = guarded.opened.run();
    let (id, stage) = (&run.id, &run.position.stage);
    let (own, other_name) = (&guarded.opened.pipeline.definition().name, &other.name);
    let held = format!("this session holds run {id} of `{own}`, which is in {stage}");
    if other.commands.get(command) != Some(&Act::Start) {
        return format!("`/{command}` did nothing: it is a command of `{other_name}`, and {held}");
    }
    let mut pipelines = installed.pipelines.iter();
    let is_always_on = pipelines.any(|it| it.name == *own && it.begins == Begins::Session);
    let instead = if is_always_on {
        format!(
            "every session here has one; at a terminal, type \
             `gatewright run {other_name} --task \"TASK\"`"
        )
    } else {
        format!(
            "type `/{command}` in another session, or end this run first: \
             `gatewright cancel {id} --reason WHY` at a terminal"
        )
    };
    format!("`/{command}` started no run of `{other_name}`: {held}; {instead}")
}

/// What is installed in the project. Without an answer the command is like any other.
fn installed(guarded: &Guarded<'_, '_>) -> Option<Installed> {
    let state = &guarded.workspace.state;
    let known = |key: &str| enrolment::of_project(state, key).ok().flatten();
    let folder = &guarded.workspace.context.folder;
    let project = Project::find_installed(folder, |key| known(key).is_some()).ok()?;
    project.keys().iter().find_map(|key| known(key))
}
