//! The programs that a run needs: which are installed, and in which version.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::{Definition, Pipeline, Run, Who};
use evidence::Project;
use evidence::check::{self, CheckEnvironment, SearchPath, program};
use hosts::Program;
use runner::agent::version::{self, ProgramToCheck};
use runner::delivery::{OutwardNeeds, outward_needs};
use runtime::accepted_programs::{self, Accepted};
use runtime::check_environment::{self, Origin};
use runtime::context::Context;
use runtime::drive_settings::DriveRequest;
use runtime::failure::Failure;
use runtime::needed_programs::{self, located};
use runtime::notify_target::NotifyTarget;
use runtime::runners::{self, Member};
use views::Untrusted;
use views::plan::{NeededProgram, ProgramState};

const COLUMNS: usize = 60;

/// What determines the programs that a run needs.
pub(super) struct ProgramQuery<'a> {
    pub pipeline: &'a Pipeline,
    pub run: Option<&'a Run>,
    pub members: &'a [Member<'a>],
    pub drive: &'a DriveRequest,
}

/// The programs of the runners, with their versions, then those of the checks, the notices and the delivery. We
/// only look up the latter: running them could have effects.
pub(super) fn needed(
    context: &Context,
    project: &Project,
    wanted: &ProgramQuery<'_>,
) -> Result<Vec<NeededProgram>, Failure> {
    let path = context.environment.search_path.clone().unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let search = check::search(&folders, &project.root);
    let surroundings = CheckEnvironment {
        variables: std::env::vars_os().collect(),
        ..CheckEnvironment::default()
    };
    let lookup = ProgramLookup {
        variables: check::variables(&surroundings, &search)?,
        root: &project.root,
        search,
    };
    let checks = Checks::of(context, project)?;
    // A rehearsal starts no agent program.
    let agents = match wanted.drive.stand_in {
        Some(_) => BTreeMap::new(),
        None => of_runners(wanted.members),
    };
    let agents = agents.into_values();
    let agents = agents.map(|(program, needed_for)| lookup.agent(program, needed_for));
    let params = wanted.run.map(|run| run.params.clone()).unwrap_or_default();
    let tools = needed_programs::of_checks(wanted.pipeline.definition(), &params).into_iter();
    let tools = tools.map(|(word, needed_for)| checks.tool(&word, needed_for));
    let request = delivery(wanted.pipeline.definition(), wanted.drive);
    let request = request.and_then(|needs| needs.program);
    let request = request.map(|word| (word, vec!["delivery".to_owned()]));
    let others = of_notices(wanted.drive).into_iter().chain(request);
    let others = others.map(|(word, needed_for)| lookup.tool(&word, needed_for));
    Ok(agents.chain(tools).chain(others).collect())
}

/// What the delivery of the run needs, if it has a branch to deliver.
pub(super) fn delivery(definition: &Definition, drive: &DriveRequest) -> Option<OutwardNeeds> {
    let is_branch = drive.place.is_branch(definition);
    is_branch.then(|| outward_needs(definition, &drive.deliver))
}

fn of_notices(drive: &DriveRequest) -> BTreeMap<String, Vec<String>> {
    let targets = drive.notify.iter();
    let targets = targets.filter_map(|target| NotifyTarget::parse(target).ok());
    let words = targets.filter_map(|target| match target {
        NotifyTarget::Address(_) => Some("curl".to_owned()),
        NotifyTarget::Command(words) => words.into_iter().next(),
    });
    words
        .map(|word| (word, vec!["notices".to_owned()]))
        .collect()
}

fn of_runners(members: &[Member<'_>]) -> BTreeMap<&'static str, (Program, Vec<String>)> {
    let mut programs = BTreeMap::new();
    for member in members {
        let Some(program) = runners::program(member.runner) else {
            continue;
        };
        let entry = programs.entry(program.word());
        let (_, needed_for) = entry.or_insert((program, Vec::new()));
        let who = views::progress::short(&member.who, COLUMNS);
        if !needed_for.contains(&who) {
            needed_for.push(who);
        }
    }
    programs
}

struct ProgramLookup<'a> {
    search: SearchPath,
    variables: BTreeMap<OsString, OsString>,
    root: &'a Path,
}

impl ProgramLookup<'_> {
    fn agent(&self, program: Program, needed_for: Vec<String>) -> NeededProgram {
        let word = program.word();
        let state = match check::find(word, &self.search) {
            Ok(path) => self.judged(program, path),
            Err(_) => ProgramState::Missing {
                install: Untrusted::new(program.installed_by()),
            },
        };
        NeededProgram {
            name: Untrusted::new(word),
            needed_for,
            state,
        }
    }

    fn judged(&self, program: Program, path: PathBuf) -> ProgramState {
        let candidate = ProgramToCheck {
            program,
            path,
            variables: self.variables.clone(),
        };
        let judged = version::check(&candidate);
        let path = Untrusted::new(candidate.path.display().to_string());
        match judged {
            Ok(usable) => ProgramState::Found {
                path,
                version: Some(Untrusted::new(usable.said)),
                caution: usable.caution.map(Untrusted::new),
            },
            Err(unusable) => ProgramState::Unfit {
                path,
                reason: Untrusted::new(unusable.reason),
                remedy: Untrusted::new(unusable.remedy),
            },
        }
    }

    fn tool(&self, word: &str, needed_for: Vec<String>) -> NeededProgram {
        let state = match located(word, self.root, &self.search) {
            Some(path) => ProgramState::Found {
                path: Untrusted::new(path.display().to_string()),
                version: None,
                caution: None,
            },
            None => ProgramState::Missing {
                install: Untrusted::new("install it, or fix the command in the pipeline"),
            },
        };
        NeededProgram {
            name: Untrusted::new(word),
            needed_for,
            state,
        }
    }
}

/// What the checks of a run that is started now would find.
struct Checks<'a> {
    search: SearchPath,
    root: &'a Path,
    /// What a person has accepted, where that is asked for.
    accepted: Option<Accepted>,
    /// A person who starts a run accepts what lies in folders that are new.
    by_person: bool,
}

impl<'a> Checks<'a> {
    fn of(context: &Context, project: &'a Project) -> Result<Self, Failure> {
        let (state, by) = (context.state()?, context.who());
        let environment = check_environment::chosen(&state, project, &by);
        let accepted = (environment.origin == Origin::Person)
            .then(|| accepted_programs::of_project(&state, project));
        Ok(Self {
            search: environment.search(&project.root),
            root: &project.root,
            accepted,
            by_person: matches!(by, Who::Person(_)),
        })
    }

    fn tool(&self, word: &str, needed_for: Vec<String>) -> NeededProgram {
        let state = match located(word, self.root, &self.search) {
            Some(path) => self.judged(&path),
            None => ProgramState::Missing {
                install: Untrusted::new(
                    "install it, fix the command in the pipeline, or have a person type \
                     `gatewright trust --environment` where it works",
                ),
            },
        };
        NeededProgram {
            name: Untrusted::new(word),
            needed_for,
            state,
        }
    }

    fn judged(&self, path: &Path) -> ProgramState {
        let shown = Untrusted::new(path.display().to_string());
        let accepted = self.accepted.as_ref();
        let accepted = accepted.filter(|it| !self.by_person || it.knows_folder_of(path));
        let judged = accepted.map_or(Ok(()), |accepted| {
            let seen = program::seen(path, self.root, &self.search);
            program::judge(&seen, &accepted.programs, &self.search)
        });
        match judged {
            Ok(()) => ProgramState::Found {
                path: shown,
                version: None,
                caution: None,
            },
            Err(reason) => ProgramState::Unfit {
                path: shown,
                reason: Untrusted::new(reason),
                remedy: Untrusted::new("then start the run"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_program_that_is_nowhere_is_told_with_what_installs_it() {
        let lookup = ProgramLookup {
            search: SearchPath::default(),
            variables: BTreeMap::new(),
            root: Path::new("/"),
        };
        for program in Program::ALL {
            let needed = lookup.agent(program, Vec::new());
            let ProgramState::Missing { install } = needed.state else {
                panic!("{program:?} was found in no folder");
            };
            assert!(
                install.raw().starts_with("`npm install -g @"),
                "{install:?}"
            );
        }
    }
}
