//! Drives the demo: starts the orchestrator, answers for the person, kills the orchestrator and starts another.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Entry, Hash, Reply, RunId, Seconds, Standing, Status};
use runner::progress::visited;
use runner::recovery::{self, InterruptedWork};
use runtime::answers::{Chosen, answered, chosen, questions};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::transact;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, ids, lease_holder};
use serde_json::{Value, json};
use store::Backend as _;
use views::facts::Timeline;
use views::progress::{self, AtWork, LiveState, ProgressView};
use views::{Style, Untrusted};

use super::folder::DemoFolder;
use super::narrator::Narrator;
use super::orchestrator::{self, OrchestratorProcess};
use super::pace::Pace;
use super::story::{Act, Story, Surroundings};

const POLL: Duration = Duration::from_millis(30);

/// The demo takes less than a minute. After this long it is stuck.
const PATIENCE: Duration = Duration::from_secs(600);

/// The question of the worker, and the answer of the demo.
const ANSWER: (&str, &str) = ("space", "-");

/// How the demo ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DemoEnd {
    Completed,
    /// Ctrl-C.
    Interrupted,
}

/// A process that drove the run, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EndedProcess {
    id: u32,
    status: ExitStatus,
}

impl EndedProcess {
    pub(super) fn json(&self) -> Value {
        json!({ "process": self.id, "signal": self.status.signal(), "code": self.status.code() })
    }
}

pub(super) struct Director<'a, 'o> {
    folder: &'a DemoFolder,
    context: &'a Context,
    workspace: Workspace<'a>,
    narrator: &'a mut Narrator<'o>,
    pace: Pace,
    run: RunId,
    stop: Arc<AtomicBool>,
    story: Story,
    entries: Vec<Entry>,
    process: Option<OrchestratorProcess>,
    /// The processes that drove the run and have ended, in their order.
    ended: Vec<EndedProcess>,
}

impl<'a, 'o> Director<'a, 'o> {
    pub(super) fn new(
        folder: &'a DemoFolder,
        context: &'a Context,
        narrator: &'a mut Narrator<'o>,
        pace: Pace,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            folder,
            context,
            workspace: Workspace::for_writing(context)?,
            narrator,
            pace,
            run: super::run_id()?,
            stop,
            story: Story::default(),
            entries: Vec::new(),
            process: None,
            ended: Vec::new(),
        })
    }

    /// Takes the run to its end. Every orchestrator has ended when this returns.
    pub(super) fn direct(&mut self) -> Result<DemoEnd, Failure> {
        let end = self.play();
        self.process = None;
        end
    }

    fn play(&mut self) -> Result<DemoEnd, Failure> {
        let deadline = Instant::now() + PATIENCE;
        self.start_orchestrator()?;
        while !self.is_stopped() {
            self.tell_news()?;
            if let Some(opened) = self.workspace.find(&self.run)? {
                match engine::status(&opened.pipeline, opened.run()) {
                    Status::Completed => return self.completed(),
                    Status::Failed | Status::Cancelled => return Err(self.broken("it failed")),
                    Status::Waiting(why) => self.answer(&opened, &why)?,
                    Status::Queued | Status::Running => self.kill_if_due(&opened)?,
                }
                self.draw(&opened)?;
            }
            self.is_driven()?;
            if Instant::now() > deadline {
                return Err(self.broken("it took too long"));
            }
            thread::sleep(POLL);
        }
        Ok(DemoEnd::Interrupted)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn start_orchestrator(&mut self) -> Result<(), Failure> {
        let process = OrchestratorProcess::start(self.folder, self.context)?;
        self.process = Some(process);
        Ok(())
    }

    /// Tells what is new in the journal.
    fn tell_news(&mut self) -> Result<(), Failure> {
        let from = self.entries.len() as u64 + 1;
        if self.workspace.store.run(&self.run)?.is_none() {
            return Ok(());
        }
        for stored in self.workspace.store.journal(&self.run, from, u64::MAX)? {
            let around = StoryContext {
                folder: self.folder,
                workspace: &self.workspace,
            };
            let act = self.story.tell(&stored.entry, &around);
            self.entries.push(stored.entry);
            if let Some(act) = act {
                let entry = Some(self.entries.len() as u64);
                self.narrator.act(Act { entry, ..act })?;
            }
        }
        Ok(())
    }

    /// Plays the person: answers the worker's question, then approves.
    fn answer(&mut self, opened: &OpenRun, why: &str) -> Result<(), Failure> {
        if opened.run().standing != Standing::Going {
            return Err(self.broken(why));
        }
        let asked = questions(&self.workspace, opened)?;
        let first = asked.and_then(|asked| asked.into_iter().next());
        let (asks, answer) = match &first {
            Some(question) => (format!("a worker asks: {}", question.text), ANSWER.1),
            None => (why.to_owned(), "approve"),
        };
        let answers = format!("the run waits; the demo answers for you: {answer}");
        let given = [(ANSWER.0.to_owned(), ANSWER.1.to_owned())];
        let is_worker = first.is_some();
        self.narrator
            .act(Act::new("asked", Style::Wait, &[&asks]))?;
        self.pause(opened, self.pace.thinking())?;
        let decided = transact::command(
            &mut self.workspace,
            &self.run,
            &ids::key()?,
            &mut |workspace, opened, at| {
                if is_worker {
                    answered(workspace, opened, &given)
                } else {
                    chosen(workspace, opened, Chosen::silent("approve"), at)
                }
            },
        )?;
        match &decided.reply {
            Reply::Refuse(refusal) | Reply::Hold(refusal) => {
                Err(Failure::bug(views::refusal(refusal)))
            }
            Reply::Allow | Reply::Inject(_) | Reply::Done => {
                self.narrator.act(Act::new("", Style::Normal, &[&answers]))
            }
        }
    }

    /// Once: kills the orchestrator while the implementer has written half of its file.
    fn kill_if_due(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let is_first = self.ended.is_empty();
        let is_there = self.folder.script().is_some();
        let is_due = opened.run().position.stage.as_str() == "implementing_loop";
        // The orchestrator notes the process of a worker that may already be at work.
        if !(is_first && is_there && is_due && self.worker(opened).is_some()) {
            return Ok(());
        }
        self.pause(opened, self.pace.working())?;
        let Some(process) = self.process.take() else {
            return Ok(());
        };
        let killed = process.id();
        let status = process.kill()?;
        self.ended.push(EndedProcess { id: killed, status });
        let left = self.wait_for_workers()?;
        self.tell_kill(killed, &left)?;
        self.pause(opened, self.pace.reading())?;
        self.start_orchestrator()?;
        self.tell_resume(&left)
    }

    /// The process of the worker, once the orchestrator has noted it.
    fn worker(&self, opened: &OpenRun) -> Option<u32> {
        let works = recovery::interrupted(&self.workspace, opened);
        works.iter().find_map(noted_process)
    }

    /// The watchdog ends the workers of a killed orchestrator.
    fn wait_for_workers(&mut self) -> Result<Vec<InterruptedWork>, Failure> {
        loop {
            let opened = self.workspace.read(&self.run)?;
            let left = recovery::interrupted(&self.workspace, &opened);
            let is_gone = left.iter().all(|work| work.alive.is_empty());
            if is_gone || self.is_stopped() {
                return Ok(left);
            }
            thread::sleep(POLL);
        }
    }

    fn tell_kill(&mut self, killed: u32, left: &[InterruptedWork]) -> Result<(), Failure> {
        let worker = left.iter().find_map(noted_process);
        let worker = worker.map_or(String::new(), |id| format!(", process {id},"));
        let text = [
            format!("kill -9 hits the orchestrator, process {killed}, in mid-work"),
            format!("its worker{worker} is gone, too; slug.sh is half written"),
        ];
        self.narrator
            .act(Act::new("KILLED", Style::Bad, &[&text[0], &text[1]]))
    }

    fn tell_resume(&mut self, left: &[InterruptedWork]) -> Result<(), Failure> {
        let Some(id) = self.process.as_ref().map(OrchestratorProcess::id) else {
            return Ok(());
        };
        let holder = format!("process {id}");
        loop {
            let lease = self.workspace.store.lease(&self.run)?;
            if lease_holder::driver(lease.as_ref()).is_some_and(|driver| driver == holder) {
                break;
            }
            if self.is_stopped() {
                return Ok(());
            }
            self.is_driven()?;
            thread::sleep(POLL);
        }
        let action = left.first().map_or("", |work| work.action.description());
        let text = [
            format!("process {id} continues from the journal: what was done stays done,"),
            format!("and the implementer is {action}"),
        ];
        let act = Act::new("RESUMED", Style::Good, &[&text[0], &text[1]]);
        self.narrator.act(act)
    }

    /// Fails if the orchestrator has ended by itself.
    fn is_driven(&mut self) -> Result<(), Failure> {
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let Some(status) = process.has_ended()? else {
            return Ok(());
        };
        let opened = self.workspace.find(&self.run)?;
        let is_over = opened.is_some_and(|it| engine::is_over(&it.pipeline, it.run()));
        if is_over || self.is_stopped() {
            return Ok(());
        }
        Err(self.broken(&format!("its orchestrator ended ({status})")))
    }

    fn broken(&self, what: &str) -> Failure {
        let failure = Failure::environment(format!("the demo did not reach its end: {what}"));
        match orchestrator::last_words(self.folder) {
            Some(words) => failure.hint(words),
            None => failure.hint("free disk space, or set TMPDIR to another folder"),
        }
    }

    /// The run is completed; its orchestrator writes the report and ends.
    fn completed(&mut self) -> Result<DemoEnd, Failure> {
        while let Some(process) = &mut self.process
            && !self.stop.load(Ordering::Relaxed)
        {
            if let Some(status) = process.has_ended()? {
                let id = process.id();
                self.ended.push(EndedProcess { id, status });
                self.process = None;
            }
            thread::sleep(POLL);
        }
        self.tell_news()?;
        Ok(DemoEnd::Completed)
    }

    /// Lets a reader follow, while the live view goes on.
    fn pause(&mut self, opened: &OpenRun, pause: Duration) -> Result<(), Failure> {
        let end = Instant::now() + pause;
        while Instant::now() < end && !self.is_stopped() {
            self.draw(opened)?;
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn draw(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let (entries, narrator) = (&self.entries, &mut *self.narrator);
        narrator.draw(|| live_view(opened, entries))
    }

    pub(super) fn ended_processes(self) -> Vec<EndedProcess> {
        self.ended
    }
}

fn noted_process(work: &InterruptedWork) -> Option<u32> {
    Some(work.record.as_ref()?.process?.id)
}

/// The same picture as `gatewright run` draws.
fn live_view(opened: &OpenRun, entries: &[Entry]) -> ProgressView {
    let now = clock::now();
    let at_work = opened.run().dispatches.values().map(|dispatch| AtWork {
        dispatch: dispatch.id,
        agent: dispatch.agent.clone(),
        step: None,
        runner: "script".to_owned(),
        model: None::<Untrusted>,
        attempt: dispatch.attempt,
        elapsed: Seconds(now.since(dispatch.started_at).0),
        action: None,
        said: None,
        refused: 0,
        usage: engine::Usage::default(),
    });
    let mut timeline = Timeline::default();
    for (number, entry) in (1..).zip(entries) {
        timeline.add(&opened.pipeline, number, entry);
    }
    let live = LiveState {
        visited: visited(entries),
        spent: timeline.spent(),
        at_work: at_work.collect(),
        driven_ms: 0,
        pause: None,
        keys: None,
    };
    progress::progress(&opened.pipeline, opened.run(), now, live)
}

/// What the story looks up.
struct StoryContext<'a> {
    folder: &'a DemoFolder,
    workspace: &'a Workspace<'a>,
}

impl Surroundings for StoryContext<'_> {
    fn artifact(&self, content: Hash) -> Option<Value> {
        let bytes = self.workspace.store.content(content).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    fn script(&self) -> Option<String> {
        self.folder.script()
    }
}
