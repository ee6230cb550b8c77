//! A project in which a pipeline is installed, a scripted model, and the real host.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::Project;
use testkit::claude::Claude;
use testkit::model::{Actor, Model};

/// Whether a model was refused something by this rule, and the refusal names this.
pub(crate) fn is_refused(told: &str, rule: &str, name: &str) -> bool {
    let refusals = told.split(rule).skip(1);
    let mut refusals = refusals.map(|rest| rest.split("GW-R").next().unwrap_or_default());
    refusals.any(|refusal| refusal.contains(name))
}

/// A pipeline of two agents: one writes a draft, the other judges it.
pub(crate) const STORY: &str = r#"
name   = "story"
about  = "Write a story and have it judged."
begins = "command"
start  = "writing"

[commands]
story        = "start"
cancel-story = "cancel"
choose       = "answer"

[counters]
rewrites = { max = 1, then = "asking" }

[artifacts.draft]
path    = "draft.md"
format  = "bundle"
require = ["author"]

[artifacts.judgement]
path    = "judgement.json"
format  = "json"
outcome = { field = "verdict", values = { APPROVED = "approved", REJECTED = "rejected" } }

[stages.writing]
agent   = "writer"
leaves  = ["draft"]
stop    = "hold"
on.done = "judging"

[stages.judging]
agent       = "critic"
reads       = ["draft"]
leaves      = ["judgement"]
stop        = "hold"
writes      = []
on.approved = "complete"
on.rejected = { to = "writing", count = "rewrites" }

[stages.asking]
ask       = "The critic says no. Go on?"
on.again  = { to = "writing", reset = ["rewrites"] }
on.stop   = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

/// What the writer of a story leaves.
pub(crate) const DRAFT: &str = "---\nauthor: writer\n---\nOnce upon a time.\n";
pub(crate) const APPROVED: &str = r#"{"verdict": "APPROVED"}"#;
pub(crate) const REJECTED: &str = r#"{"verdict": "REJECTED"}"#;

pub(crate) struct Stage {
    pub project: Project,
    pub model: Model,
}

/// The program under test.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_gatewright")
}

impl Stage {
    /// A project in which every session has a run of `context-first`.
    pub(crate) fn always_on(script: impl IntoIterator<Item = Actor>) -> Self {
        Self::builtin("context-first", script)
    }

    /// A project in which this built-in pipeline is installed.
    pub(crate) fn builtin(pipeline: &str, script: impl IntoIterator<Item = Actor>) -> Self {
        let stage = Self::bare(script);
        stage.project.run(["init", pipeline, "--yes"]).succeeds();
        stage
    }

    /// A project with the story pipeline, which a person trusts.
    pub(crate) fn story(script: impl IntoIterator<Item = Actor>) -> Self {
        Self::with(STORY, script)
    }

    /// A project with this pipeline, whose name is `story`.
    pub(crate) fn with(pipeline: &str, script: impl IntoIterator<Item = Actor>) -> Self {
        let stage = Self::bare(script);
        stage.project.write(".gatewright/story.toml", pipeline);
        stage.project.trust("story");
        stage.project.run(["init", "story", "--yes"]).succeeds();
        for agent in ["writer", "critic", "helper"] {
            let text =
                format!("---\nname: {agent}\ndescription: the {agent}\n---\nDo as you are told.\n");
            stage
                .project
                .write(format!(".claude/agents/{agent}.md"), text);
        }
        for command in ["story", "cancel-story", "choose"] {
            let path = format!(".claude/commands/{command}.md");
            stage.project.write(path, "GO-MAIN: go on. $ARGUMENTS\n");
        }
        stage
    }

    /// A project in which nothing is installed yet.
    pub(crate) fn bare(script: impl IntoIterator<Item = Actor>) -> Self {
        let project = Project::with_git(program());
        let model = Model::start(script);
        Self { project, model }
    }

    /// The same project with another script: one that knows its paths.
    pub(crate) fn scripted(self, script: impl IntoIterator<Item = Actor>) -> Self {
        Self {
            model: Model::start(script),
            project: self.project,
        }
    }

    /// The host, which may use every tool that a test needs.
    pub(crate) fn claude(&self) -> Claude {
        Claude::new(&self.project, &self.model).allow(TOOLS)
    }

    /// A path of the project, as the model writes it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    /// Every entry of the newest run, as JSON.
    #[track_caller]
    pub(crate) fn journal(&self) -> Vec<Value> {
        self.journal_of(&self.run())
    }

    #[track_caller]
    pub(crate) fn journal_of(&self, run: &str) -> Vec<Value> {
        let ran = self.project.run(["history", run, "--json"]).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).expect("the history is JSON");
        let entries = told.get("entries").unwrap_or(&told);
        entries.as_array().expect("a list of entries").clone()
    }

    /// The ids of all runs, the newest first.
    #[track_caller]
    pub(crate) fn runs(&self) -> Vec<String> {
        let ran = self.project.run(["list", "--all", "--json"]).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).expect("the list is JSON");
        let runs = told.get("runs").unwrap_or(&told).as_array().cloned();
        let ids = runs.unwrap_or_default();
        ids.iter()
            .filter_map(|run| Some(run.get("run")?.as_str()?.to_owned()))
            .collect()
    }

    /// The only run.
    #[track_caller]
    pub(crate) fn run(&self) -> String {
        match self.runs().as_slice() {
            [only] => only.clone(),
            several => panic!("one run is expected, not {several:?}"),
        }
    }

    /// How the run stands.
    #[track_caller]
    pub(crate) fn status(&self, run: &str) -> Value {
        let ran = self.project.run(["status", run, "--json"]).succeeds();
        serde_json::from_str(&ran.stdout).expect("the status is JSON")
    }

    /// `stage status` of the only run.
    #[track_caller]
    pub(crate) fn place(&self) -> String {
        self.place_of(&self.run())
    }

    /// The same for a run that has something unguarded.
    #[track_caller]
    pub(crate) fn unguarded_place(&self) -> String {
        let status = self.status(&self.run());
        assert_ne!(status["unguarded"], json!([]), "{}", self.history());
        place(&status)
    }

    #[track_caller]
    pub(crate) fn place_of(&self, run: &str) -> String {
        let status = self.status(run);
        // Whatever a test is about, a false alarm would be a fault.
        assert_eq!(status["unguarded"], json!([]), "{}", self.history());
        place(&status)
    }

    /// How many entries of this rule the run has.
    #[track_caller]
    pub(crate) fn count(&self, rule: &str) -> usize {
        let journal = self.journal();
        journal.iter().filter(|entry| entry["rule"] == rule).count()
    }

    /// The whole history as people read it, for messages of failing tests.
    pub(crate) fn history(&self) -> String {
        let runs = self.runs();
        let texts = runs
            .iter()
            .map(|run| self.project.run(["history", run]).stdout);
        texts.collect::<Vec<_>>().join("\n")
    }
}

fn place(status: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!(
        "{} {}",
        text(&status["stage"]["name"]),
        text(&status["status"])
    )
}

/// What a session in a test may do without a question.
const TOOLS: [&str; 10] = [
    "Bash",
    "Agent",
    "Write",
    "Edit",
    "Read",
    "Skill",
    "SendMessage",
    "Workflow",
    "TaskCreate",
    "TaskUpdate",
];
