//! A worker that is played: its work is admitted and claimed as an orchestrator does it, and its hooks
//! are run as its host runs them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use engine::{AgentName, CallId, Event, Happening, Pipeline, RunId, StepId, Time, Who, WorkEvent};
use serde_json::{Value, json};
use store::{Access, Backend as _, Commit, Content, Sqlite, Transacted};
use testkit::{Project, Ran};

use super::hosts::Host;

/// One agent judges and may write nothing but its verdict.
pub(super) const JUDGED: &str = r#"
name  = "judged"
about = "A draft is judged."
start = "judging"

[artifacts.draft]
path   = "out/draft.md"
format = "text"

[artifacts.verdict]
path    = "out/verdict.json"
format  = "json"
outcome = { field = "status", values = { APPROVED = "approved", REWORK = "rework" } }

[stages.judging]
agent       = "judge"
leaves      = ["verdict"]
writes      = ["out/**"]
tools.deny  = ["Edit", "mcp__*"]
on.approved = "complete"
on.rework   = "writing"

[stages.writing]
agent   = "writer"
leaves  = ["draft"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

pub(super) const CALL: &str = "step-abcdefgh";

/// The conversation that the worker is in.
pub(super) const ONE: &str = "94e177ca-6e8d-476c-9202-9845d99bc9b8";
pub(super) const OTHER: &str = "01a1e0b2-b1c3-7850-be44-a5d7e19253b6";

/// Which work is admitted, and what is known of its worker.
pub(super) struct Work<'a> {
    pub pipeline: &'a str,
    pub agent: &'a str,
    pub step: Option<&'a str>,
    pub runner: &'a str,
}

/// The work of the judge.
pub(super) fn judge(host: Host) -> Work<'static> {
    Work {
        pipeline: JUDGED,
        agent: "judge",
        step: None,
        runner: host.word(),
    }
}

pub(super) struct Seat {
    pub project: Project,
    pub host: Host,
    run: RunId,
    pipeline: Pipeline,
    /// Held as long as the process lives that started the worker.
    claim: File,
}

impl Seat {
    /// A project in which this work is open and its worker was started.
    pub(super) fn at(work: &Work<'_>) -> Self {
        let seat = Self::started(work);
        seat.admit(work.agent, work.step, CALL);
        seat.record(&json!({}), work);
        seat
    }

    /// The same before anybody works.
    pub(super) fn started(work: &Work<'_>) -> Self {
        let project = Project::with_git(env!("CARGO_BIN_EXE_gatewright"));
        project.write(".gatewright/mine.toml", work.pipeline);
        project.trust("mine");
        let begun = ["start", "mine", "--task", "t", "--by-hand", "--id", "r-1"];
        project.run(begun).succeeds();
        let folder = project.state().join("working");
        fs::create_dir_all(&folder).unwrap();
        let claim = File::create(folder.join(CALL)).unwrap();
        claim.lock().unwrap();
        Self {
            project,
            host: Host::parse(work.runner),
            run: RunId::parse("r-1").unwrap(),
            pipeline: compiled(work.pipeline),
            claim,
        }
    }

    fn store(&self) -> Sqlite {
        Sqlite::open(&self.project.state(), Access::Write).unwrap()
    }

    /// Admits a piece of work under this call, as the orchestrator does it.
    pub(super) fn admit(&self, agent: &str, step: Option<&str>, call: &str) {
        self.happen(&Happening::Work(WorkEvent::Requested {
            agent: AgentName::parse(agent).unwrap(),
            step: step.map(|step| StepId::parse(step).unwrap()),
            model: None,
            call: Some(CallId::parse(call).unwrap()),
            worker: None,
            service: None,
        }));
    }

    /// Tells the run of something that our own side did.
    pub(super) fn happen(&self, what: &Happening) {
        let mut store = self.store();
        let stored = store.run(&self.run).unwrap().unwrap();
        let event = Event {
            at: now(),
            by: Who::Engine,
            what: what.clone(),
        };
        let needs = engine::needs(&self.pipeline, &stored.run, &event);
        let project = evidence::Project::find(&self.project.path()).unwrap();
        let looked = evidence::look(
            &needs,
            &evidence::LookContext {
                pipeline: &self.pipeline,
                run: &stored.run,
                project: &project,
                contents: &|_: &engine::Hash| None,
                cache: None,
                secrets: &[],
                given: BTreeMap::new(),
                reply: None,
            },
        );
        let looked = looked.unwrap();
        let contents: Vec<Content<'_>> = looked
            .contents
            .iter()
            .map(|content| Content {
                hash: content.hash,
                bytes: &content.bytes,
            })
            .collect();
        let commit = Commit {
            run: &self.run,
            seen: stored.version,
            key: None,
            contents: &contents,
            fence: None,
            secrets: &[],
            status: &|run| engine::status(&self.pipeline, run),
        };
        let mut decide = |run: &_| engine::decide(&self.pipeline, run, &event, &looked.evidence);
        let done = store.transact(&commit, &mut decide).unwrap();
        let Transacted::Done { decision, .. } = done else {
            panic!("somebody else was there: {done:?}");
        };
        assert!(!decision.entries.is_empty(), "{decision:?}");
    }

    /// Writes what is known of the worker, with these changes.
    pub(super) fn record(&self, changes: &Value, work: &Work<'_>) {
        let mut record = json!({
            "run": self.run.as_str(), "dispatch": "d1", "agent": work.agent,
            "runner": work.runner, "process": null, "conversation": null,
            "workplace": null, "restarts": 0, "ended": null,
        });
        for (name, value) in changes.as_object().unwrap() {
            record[name] = value.clone();
        }
        fs::write(self.beside("json"), record.to_string()).unwrap();
    }

    /// A file beside the worker's claim.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        let working = self.project.state().join("working");
        working.join(CALL).with_extension(ending)
    }

    /// The process that started the worker is gone. To close the file would not be enough: a child that another
    /// test has just forked may hold it as well.
    pub(super) fn is_left_behind(&self) {
        self.claim.unlock().unwrap();
    }

    /// Runs the hook with this payload, in the worker's first conversation.
    pub(super) fn hook(&self, payload: &Value) -> Ran {
        self.hook_of(ONE, payload)
    }

    pub(super) fn hook_of(&self, conversation: &str, payload: &Value) -> Ran {
        let payload = self.told(conversation, payload);
        let event = payload["hook_event_name"].as_str().unwrap().to_owned();
        self.raw(&event, payload.to_string().as_bytes())
    }

    /// The payload, as the host completes it.
    pub(super) fn told(&self, conversation: &str, payload: &Value) -> Value {
        let mut payload = payload.clone();
        payload["session_id"] = json!(conversation);
        if payload["cwd"].is_null() {
            payload["cwd"] = json!(self.project.path());
        }
        payload
    }

    pub(super) fn raw(&self, event: &str, input: &[u8]) -> Ran {
        self.raw_with(event, input, &[("GATEWRIGHT_CALL", CALL)])
    }

    pub(super) fn raw_with(&self, event: &str, input: &[u8], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.project.child(["hook", self.host.word(), event]);
        if self.host == Host::Claude {
            command
                .env("CLAUDECODE", "1")
                .env("CLAUDE_CODE_SESSION_ID", ONE)
                .env("CLAUDE_PID", std::process::id().to_string())
                .env("CLAUDE_PROJECT_DIR", self.project.path());
        }
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the hook can be started");
        let mut pipe = child.stdin.take().expect("the input is a pipe");
        // It may refuse before it has read everything.
        let _ = pipe.write_all(input);
        drop(pipe);
        Ran::from(child.wait_with_output().expect("the hook ends"))
    }

    /// The rules of the entries since the work was admitted.
    pub(super) fn rules(&self) -> Vec<String> {
        let entries = self.journal();
        let admitted = entries.iter().position(|entry| entry["rule"] == "GW-R10");
        let after = admitted.map_or(0, |place| place + 1);
        let rules = entries[after..]
            .iter()
            .map(|entry| entry["rule"].as_str().unwrap());
        rules
            .map(|rule| rule.trim_start_matches("GW-").to_owned())
            .collect()
    }

    /// Every entry of the only run.
    pub(super) fn journal(&self) -> Vec<Value> {
        let ran = self.project.run(["history", "--json"]).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        told["entries"].as_array().unwrap().clone()
    }
}

/// Passed without a word, as far as the worker is concerned.
#[track_caller]
pub(super) fn passes(ran: &Ran) {
    let said = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
    assert_eq!(said, (Some(0), "", ""), "{ran}");
}

/// Refused by this rule, in a way that the host honours.
#[track_caller]
pub(super) fn is_refused(host: Host, ran: &Ran, rule: &str) {
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(host.honours(ran), "{ran}");
    assert!(told.contains(&format!("GW-{rule} ")), "{rule}: {ran}");
    assert!(ran.stderr.lines().count() <= 1, "{ran}");
}

fn compiled(text: &str) -> Pipeline {
    let main = language::SourceFile {
        name: "mine.toml".into(),
        bytes: text.as_bytes().to_vec(),
    };
    let sources = language::Sources {
        main,
        files: BTreeMap::new(),
    };
    language::compile(&sources).expect("a pipeline").pipeline
}

fn now() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Time(u64::try_from(since.unwrap().as_millis()).unwrap())
}
