//! One night on a stand of its own: a repository with a person, a queue, workers, and crashes of the machine.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::plan::{Incident, NightTask, Plan};
use crate::battery::processes::{self, Process, Signal};
use crate::battery::rehearsal::LONGEST;
use crate::battery::stand::{Stand, text};
use crate::failure::Failure;
use crate::setup::{CLAUDE_VERSION, CODEX_VERSION};
use crate::workspace::read;

const MAKING: &str = include_str!("../../../battery/night/making.toml");
const AGENT: &str = include_str!("../../../battery/night/agent.sh");
const FILES: [(&str, &str); 6] = [
    ("making.toml", MAKING),
    ("check.sh", "! grep -rq BROKEN made\n"),
    ("heading.txt", "Heading\n"),
    ("staged.txt", "first\n"),
    ("edited.txt", "first\n"),
    ("settled.txt", "first\n"),
];

/// How often is looked.
const TICK: Duration = Duration::from_millis(5);

/// The rows of the summaries that workers printed, by run. The last one counts.
pub(super) type Told = BTreeMap<String, Value>;

pub(super) struct Scene {
    pub stand: Stand,
    /// The commit that every branch begins with.
    pub base: String,
    at_once: String,
}

/// A worker that was started. It does not outlive this.
pub(super) struct Worker {
    child: Child,
    summary: PathBuf,
}

impl Scene {
    /// A repository with a history, a branch, a tag, a stash, and work that nobody has committed.
    pub(super) fn new(program: &Path, plan: &Plan) -> Result<Self, Failure> {
        let stand = Stand::with_own_program(program, &FILES)?;
        let mut scene = Self {
            stand,
            base: String::new(),
            at_once: plan.at_once.to_string(),
        };
        scene.write_definitions()?;
        scene.write_programs()?;
        for line in [
            "symbolic-ref HEAD refs/heads/main",
            "config user.name Battery",
            "config user.email battery@localhost",
            "add .",
            "commit --quiet --message=one",
            "branch topic",
            "tag --annotate --message=one v1",
        ] {
            scene.git(line)?;
        }
        scene.base = scene.git("rev-parse HEAD")?;
        scene.write("edited.txt", "stashed\n")?;
        scene.git("stash push --quiet")?;
        scene.write("staged.txt", "staged\n")?;
        scene.git("add staged.txt")?;
        scene.write("edited.txt", "edited\n")?;
        scene.write("new.txt", "new\n")?;
        Ok(scene)
    }

    /// The other pipelines are the first one with a question, and with a budget.
    fn write_definitions(&self) -> Result<(), Failure> {
        let asks = "[stages.asking]\nask = \"Is it enough?\"\non.yes = \"complete\"\non.no = \"stopped\"\n";
        let asking = MAKING.replace("on.passed = \"complete\"", "on.passed = \"asking\"");
        let asking = format!(
            "{}\n{asks}",
            asking.replace("\"making\"\nabout", "\"asking\"\nabout")
        );
        let frugal = MAKING.replace("\"making\"\nabout", "\"frugal\"\nabout");
        let frugal = frugal.replacen("start  =", "budget = { tokens = 1800 }\nstart  =", 1);
        self.write("asking.toml", &asking)?;
        self.write("frugal.toml", &frugal)?;
        for name in ["making.toml", "asking.toml", "frugal.toml"] {
            let shown = self.stand.ask(&["trust", name, "--show"])?;
            let hash = shown["hash"].as_str().unwrap_or_default();
            self.stand.run(&["trust", name, "--hash", hash])?;
        }
        Ok(())
    }

    fn write_programs(&self) -> Result<(), Failure> {
        let folder = self.programs();
        fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        let agent = AGENT.replace("CLAUDE_VERSION", CLAUDE_VERSION);
        let agent = agent.replace("CODEX_VERSION", CODEX_VERSION);
        for name in ["claude", "codex"] {
            let path = folder.join(name);
            fs::write(&path, &agent).map_err(Failure::file("write", &path))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
                .map_err(Failure::file("set the mode of", &path))?;
        }
        Ok(())
    }

    fn programs(&self) -> PathBuf {
        self.stand.path("programs")
    }

    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), Failure> {
        let path = self.stand.project().join(name);
        fs::write(&path, content).map_err(Failure::file("write", &path))
    }

    /// What git says in the person's tree, without a look that would renew their index.
    pub(super) fn git(&self, line: &str) -> Result<String, Failure> {
        let words: Vec<&str> = line.split(' ').collect();
        self.git_words(&words)
    }

    pub(super) fn git_words(&self, words: &[&str]) -> Result<String, Failure> {
        let words = [&["--no-optional-locks"], words].concat();
        let said = read(&mut self.stand.git_command(&words))?;
        Ok(said.trim().to_owned())
    }

    /// The program on the search path of the agents.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.stand.command(words);
        let system = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.programs()).chain(std::env::split_paths(&system));
        command.envs(std::env::join_paths(all).map(|path| ("PATH", path)));
        command
    }

    pub(super) fn queue(&self, task: &NightTask) -> Result<(), Failure> {
        let told = task.text();
        let what = [
            "start",
            task.incident.pipeline(),
            "--queue",
            "--task",
            &told,
        ];
        let how = ["--id", &task.run, "--runner", task.runner];
        let output = self
            .stand
            .output(&mut self.command(&[&what[..], &how].concat()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = text(&output.stderr);
        Err(Failure::no(format!("start {}: {said}", task.run)))
    }

    /// While the runs work, the person commits a heading of their own, stages and edits.
    pub(super) fn edit_as_the_person(&self, time: usize) -> Result<(), Failure> {
        self.write("heading.txt", &format!("The person's heading {time}\n"))?;
        self.git(&format!(
            "commit --quiet --message=heading-{time} heading.txt"
        ))?;
        self.write(&format!("late-{time}.txt"), "staged late\n")?;
        self.git(&format!("add late-{time}.txt"))?;
        self.write("edited.txt", &format!("edited {time} times\n"))?;
        self.git(&format!("branch topic-{time}")).map(drop)
    }

    pub(super) fn begin_worker(&self) -> Result<Worker, Failure> {
        let summary = self.stand.path("summary");
        let printed = File::create(&summary).map_err(Failure::file("write", &summary))?;
        let said = self.stand.path("said");
        let said = File::options()
            .create(true)
            .append(true)
            .open(&said)
            .map_err(Failure::file("write", &said))?;
        let words = ["worker", "--once", "--json", "--runs", &self.at_once];
        let mut command = self.command(&words);
        let child = command.stdout(printed).stderr(said).spawn();
        let child = child.map_err(Failure::program("the program under test"))?;
        Ok(Worker { child, summary })
    }

    /// Drives what is left to its end.
    pub(super) fn work(&self, told: &mut Told) -> Result<ExitStatus, Failure> {
        let mut worker = self.begin_worker()?;
        let ended = worker
            .wait(LONGEST)?
            .ok_or_else(|| Failure::no(format!("the worker does not end:\n{}", self.said())))?;
        worker.read_summary(told);
        Ok(ended)
    }

    /// The last lines of all workers.
    pub(super) fn said(&self) -> String {
        let said = fs::read(self.stand.path("said")).unwrap_or_default();
        let said = text(&said);
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// Nothing survives it: neither the worker, nor an agent, nor git, nor their watchdogs.
    pub(super) fn crash(&self, worker: &mut Worker) -> Result<(), Failure> {
        loop {
            let all: Vec<u32> = self.left().iter().map(|process| process.id).collect();
            if all.is_empty() {
                break;
            }
            processes::send(Signal::Kill, &all)?;
        }
        worker.wait(LONGEST).map(drop)
    }

    /// The processes of this stand.
    pub(super) fn left(&self) -> Vec<Process> {
        let all = processes::all().into_iter();
        all.filter(|it| it.is_inside(self.stand.folder())).collect()
    }

    /// The person answers all that was asked, and the runs go on.
    pub(super) fn answer(&self, plan: &Plan) -> Result<(), Failure> {
        let asked = plan
            .tasks
            .iter()
            .filter(|task| task.incident == Incident::Ask);
        for task in asked {
            self.stand.run(&["answer", &task.run, "yes"])?;
        }
        Ok(())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let left: Vec<u32> = self.left().iter().map(|process| process.id).collect();
        let _ = processes::send(Signal::Kill, &left);
    }
}

impl Worker {
    /// Waits so long for its end.
    pub(super) fn wait(&mut self, longest: Duration) -> Result<Option<ExitStatus>, Failure> {
        let begun = Instant::now();
        loop {
            let ended = self.child.try_wait();
            let ended = ended.map_err(Failure::program("the program under test"))?;
            if ended.is_some() || begun.elapsed() >= longest {
                return Ok(ended);
            }
            thread::sleep(TICK);
        }
    }

    /// What it told at its end. One that was killed may have told nothing.
    pub(super) fn read_summary(&self, told: &mut Told) {
        let printed = fs::read_to_string(&self.summary).unwrap_or_default();
        let summary: Value = serde_json::from_str(&printed).unwrap_or_default();
        let rows = summary["runs"].as_array().into_iter().flatten();
        told.extend(rows.filter_map(|row| Some((row["run"].as_str()?.to_owned(), row.clone()))));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
