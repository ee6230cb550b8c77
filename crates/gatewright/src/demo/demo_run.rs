//! The run of the demo, and the actions in it. Each takes the same path as a command.

use std::fs;

use engine::{
    AgentName, Answer, CheckEnd, Fact, Happening, Outcome, PersonEvent, Refusal, Reply, RunId,
    Status, Usage, WorkEvent,
};
use runtime::answers::{answered, questions};
use runtime::context::Context;
use runtime::definition::DefinitionError;
use runtime::drive_settings::DriveRequest;
use runtime::failure::Failure;
use runtime::file_lock::LOCK_TIMEOUT;
use runtime::ids;
use runtime::run_check::{CheckWatch, check};
use runtime::start_run::{self, Holder, StartRun, Started};
use runtime::transact::{self, Decided, Request};
use runtime::workspace::{OpenRun, Workspace};
use store::{Backend, StoredRun};

use super::artifacts;

pub(super) struct DemoRun<'a> {
    pub workspace: Workspace<'a>,
    context: &'a Context,
    run: RunId,
}

impl<'a> DemoRun<'a> {
    /// Starts the run.
    pub(super) fn open(
        mut workspace: Workspace<'a>,
        context: &'a Context,
    ) -> Result<Self, Failure> {
        let root = &workspace.project()?.root;
        if !context
            .folder
            .canonicalize()
            .is_ok_and(|folder| folder == *root)
        {
            return Err(
                Failure::environment("the temporary folder is inside a git repository")
                    .hint("set TMPDIR to a folder outside it"),
            );
        }
        let start = StartRun {
            pipeline: "multi-ai".to_owned(),
            task: artifacts::TASK.to_owned(),
            params: Vec::new(),
            steps: Vec::new(),
            id: None,
            queued: false,
            patience: LOCK_TIMEOUT,
            by: context.who(),
            holder: Holder::Hand,
            drive: DriveRequest::default(),
        };
        match start_run::start(&mut workspace, start, &ids::key()?) {
            Ok(Started::Run(opened)) => Ok(Self {
                workspace,
                context,
                run: opened.run().id.clone(),
            }),
            Ok(Started::Earlier(_) | Started::Refused(_))
            | Err(DefinitionError::Rejected { .. }) => {
                Err(Failure::bug("the demo's own pipeline does not start"))
            }
            Err(DefinitionError::Failed(failure)) => Err(failure),
        }
    }

    /// Somebody writes a file of the project.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let path = self.context.folder.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Failure::file("make", folder))?;
        }
        fs::write(&path, text).map_err(Failure::file("write", &path))
    }

    /// An agent leaves these files and ends; the engine accepts it.
    pub(super) fn leaves(&mut self, files: &[(&str, &str)], agent: &str) -> Result<(), Failure> {
        for (path, text) in files {
            self.write(path, text)?;
        }
        let decided = self.reports(agent)?;
        accepted(&decided).map(drop)
    }

    /// An agent ends, and the engine does not accept it. Gives the refusal as people see it.
    pub(super) fn refused(&mut self, agent: &str) -> Result<String, Failure> {
        let decided = self.reports(agent)?;
        match refusal(&decided) {
            Some(refusal) => Ok(views::refusal(refusal)),
            None => Err(Failure::bug(format!(
                "the demo expected a refusal of '{agent}'"
            ))),
        }
    }

    fn reports(&mut self, agent: &str) -> Result<Decided, Failure> {
        let agent = AgentName::parse(agent).map_err(|problem| Failure::bug(problem.to_string()))?;
        let (step, said) = (None, None);
        let what = Happening::Work(WorkEvent::Reported {
            agent: Some(agent),
            step,
            said,
            usage: Usage::default(),
        });
        self.drive(&|_, _| Ok(what.clone().into()))
    }

    /// A person answers the questions of a worker.
    pub(super) fn answers(&mut self, answers: &[(&str, &str)]) -> Result<(), Failure> {
        let given: Vec<(String, String)> = answers
            .iter()
            .map(|(id, text)| ((*id).to_owned(), (*text).to_owned()))
            .collect();
        let decided = self.drive(&|workspace, opened| answered(workspace, opened, &given))?;
        accepted(&decided).map(drop)
    }

    /// A person chooses.
    pub(super) fn chooses(&mut self, choice: &str) -> Result<(), Failure> {
        let choice = Outcome::parse(choice).map_err(|problem| Failure::bug(problem.to_string()))?;
        let what = Happening::Person(PersonEvent::Answered(Answer::Choice {
            choice,
            words: None,
        }));
        let decided = self.drive(&|_, _| Ok(what.clone().into()))?;
        accepted(&decided).map(drop)
    }

    /// The first question that a worker asks now.
    pub(super) fn question(&mut self) -> Result<String, Failure> {
        let opened = self.opened()?;
        let asked = questions(&self.workspace, &opened)?.unwrap_or_default();
        let first = asked.into_iter().next().map(|question| question.text);
        first.ok_or_else(|| Failure::bug("the demo expected a question"))
    }

    /// What the run asks a person now.
    pub(super) fn asked(&mut self) -> Result<String, Failure> {
        let opened = self.opened()?;
        match engine::status(&opened.pipeline, opened.run()) {
            Status::Waiting(question) => Ok(question),
            status => Err(Failure::bug(format!(
                "the demo is {} and asks nothing",
                status.word()
            ))),
        }
    }

    /// Gatewright runs the commands of the present check. Tells the last of them and what it said.
    pub(super) fn checks(&mut self) -> Result<String, Failure> {
        let (key, opened) = (ids::key()?, self.opened()?);
        let watch = CheckWatch::by_us(&opened)?;
        let decided = check(&mut self.workspace, opened, &key, &watch)?;
        let decided = accepted(&decided)?;
        let results = decided.entries.iter().find_map(|(_, entry)| {
            let Fact::Checked { results, .. } = &entry.fact else {
                return None;
            };
            results.last()
        });
        let result = results.ok_or_else(|| Failure::bug("the demo's check ran no command"))?;
        let ended = match &result.ended {
            CheckEnd::Exit(code) => format!("exit {code}"),
            CheckEnd::Signal(signal) => format!("signal {signal}"),
            CheckEnd::TimedOut => "timed out".to_owned(),
            CheckEnd::CouldNotStart(reason)
            | CheckEnd::EnvironmentLost(reason)
            | CheckEnd::ProgramUnaccepted(reason) => {
                return Err(Failure::environment(reason.clone()));
            }
        };
        let said = views::line(&result.tail);
        let said = if said.is_empty() {
            said
        } else {
            format!(", {said:?}")
        };
        Ok(format!("`{}`, {ended}{said}", result.argv.join(" ")))
    }

    /// The run, once it is seen to be completed.
    pub(super) fn ended(&mut self) -> Result<RunId, Failure> {
        let opened = self.opened()?;
        match engine::status(&opened.pipeline, opened.run()) {
            Status::Completed => Ok(self.run.clone()),
            status => Err(Failure::bug(format!("the demo ended {}", status.word()))),
        }
    }

    fn drive(
        &mut self,
        make: &dyn Fn(&Workspace<'_>, &OpenRun) -> Result<Request, Failure>,
    ) -> Result<Decided, Failure> {
        let (key, stored) = (ids::key()?, self.stored()?);
        transact::command(
            &mut self.workspace,
            &stored.run.id,
            &key,
            &mut |workspace, opened, _| make(workspace, opened),
        )
    }

    fn opened(&mut self) -> Result<OpenRun, Failure> {
        let stored = self.stored()?;
        self.workspace.opened(stored)
    }

    fn stored(&self) -> Result<StoredRun, Failure> {
        let stored = self.workspace.store.run(&self.run)?;
        stored.ok_or_else(|| {
            store::Error::UnknownRun {
                run: self.run.clone(),
            }
            .into()
        })
    }
}

fn refusal(decided: &Decided) -> Option<&Refusal> {
    match &decided.reply {
        Reply::Refuse(refusal) | Reply::Hold(refusal) => Some(refusal),
        Reply::Allow | Reply::Inject(_) | Reply::Done => None,
    }
}

fn accepted(decided: &Decided) -> Result<&Decided, Failure> {
    match refusal(decided) {
        None => Ok(decided),
        Some(refusal) => Err(Failure::bug(format!(
            "the demo was refused: {}",
            views::refusal(refusal)
        ))),
    }
}
