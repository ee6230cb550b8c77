//! What is written while the power goes: entries, runs, sessions and trust, each acknowledged or not.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;

use super::super::journal;
use super::super::pipelines::SESSION_WRITER;
use super::super::played_hook::{allows, hook};
use super::super::stand::Stand;
use crate::failure::Failure;

const RUN: &str = "r-power";

/// Who writes at the same time.
pub(super) const WRITERS: [Writer; 5] = [
    Writer::Entries(0),
    Writer::Entries(1),
    Writer::Runs,
    Writer::Sessions,
    Writer::Trust,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    Entries(usize),
    Runs,
    Sessions,
    Trust,
}

/// Something that was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// A checkpoint of this name.
    Entry(String),
    /// A run of this id.
    Run(String),
    /// A session of this name holds a run.
    Session(String),
    /// A pipeline of this hash is trusted.
    Trust(String),
}

/// Something that returned well, before or after the power began to go.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub done: Done,
    pub is_late: bool,
}

/// A project on the disk, with one run.
pub(super) struct Site {
    stand: Stand,
}

impl Site {
    pub(super) fn new(program: &Path, disk: &Path) -> Result<Self, Failure> {
        let stand = Stand::at(program, &disk.join("stand"), &[("note.md", "A note.\n")])?;
        let site = Self { stand };
        site.write_synced(".gatewright/writing.toml", SESSION_WRITER)?;
        let hash = site.hash("writing")?;
        site.stand.run(&["trust", "writing", "--hash", &hash])?;
        site.stand.run(&["init", "writing", "--yes"])?;
        let start = ["start", "writing", "--task", "x", "--by-hand", "--id", RUN];
        site.stand.run(&start)?;
        Ok(site)
    }

    /// What we write ourselves is not what is tried.
    fn write_synced(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.stand.project().join(name);
        let folder = path.parent().unwrap_or(&path).to_owned();
        fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        fs::write(&path, text).map_err(Failure::file("write", &path))?;
        for path in [&path, &folder, &self.stand.project()] {
            let file = File::open(path).map_err(Failure::file("open", path))?;
            file.sync_all().map_err(Failure::file("sync", path))?;
        }
        Ok(())
    }

    fn hash(&self, pipeline: &str) -> Result<String, Failure> {
        let shown = self.stand.ask(&["trust", pipeline, "--show"])?;
        Ok(shown["hash"].as_str().unwrap_or_default().to_owned())
    }

    /// Writes until the power goes.
    pub(super) fn write(
        &self,
        writer: Writer,
        round: usize,
        is_off: &dyn Fn() -> bool,
    ) -> Result<Vec<Written>, Failure> {
        let mut written = Vec::new();
        for number in 0.. {
            if is_off() {
                break;
            }
            let name = format!("{round}-{number}");
            let done = self.write_one(writer, &name);
            let is_late = is_off();
            written.extend(done.map(|done| Written { done, is_late }));
        }
        Ok(written)
    }

    /// Nothing where it was not acknowledged.
    fn write_one(&self, writer: Writer, name: &str) -> Option<Done> {
        match writer {
            Writer::Entries(place) => {
                let name = format!("c{place}-{name}");
                let words = ["checkpoint", RUN, &name, "--key", &name];
                self.stand.run(&words).ok()?;
                Some(Done::Entry(name))
            }
            Writer::Runs => {
                let id = format!("r-{name}");
                let start = ["start", "writing", "--task", "x", "--by-hand", "--id", &id];
                self.stand.run(&start).ok()?;
                Some(Done::Run(id))
            }
            Writer::Sessions => {
                let hook = hook("SessionStart", r#"{"source": "startup"}"#);
                let output = hook.run_as(&self.stand, name).ok()?;
                // Without a text about its run, the session was not told of one.
                let told = String::from_utf8_lossy(&output.stdout).contains("additionalContext");
                (output.status.success() && told).then(|| Done::Session(name.to_owned()))
            }
            Writer::Trust => {
                let pipeline = format!("t-{name}");
                let text = SESSION_WRITER.replace("\"writing\"", &format!("\"{pipeline}\""));
                let path = format!(".gatewright/{pipeline}.toml");
                self.write_synced(&path, &text).ok()?;
                let hash = self.hash(&pipeline).ok()?;
                let words = ["trust", &pipeline, "--hash", &hash];
                self.stand.run(&words).ok()?;
                Some(Done::Trust(hash))
            }
        }
    }

    /// What was acknowledged and is not there.
    pub(super) fn missing(&self, done: &[Done]) -> Result<Vec<Done>, Failure> {
        let entries = journal::entries(&self.stand, RUN)?;
        let entries: BTreeSet<String> = journal::checkpoints(&entries)?.into_iter().collect();
        let runs = self.stand.ask(&["list", "--all"])?;
        let runs = names(&runs, "runs", "run");
        let trusted = self.stand.ask(&["trust", "--list"])?;
        let trusted = names(&trusted, "trusted", "hash");
        let mut missing = Vec::new();
        for one in done {
            let there = match one {
                Done::Entry(name) => entries.contains(name),
                Done::Run(id) => runs.contains(id),
                Done::Trust(hash) => trusted.contains(hash),
                Done::Session(name) => self.is_guarded(name)?,
            };
            if !there {
                missing.push(one.clone());
            }
        }
        Ok(missing)
    }

    /// Does the session hold its run, and not another one that begins now?
    fn is_guarded(&self, session: &str) -> Result<bool, Failure> {
        let before = names(&self.stand.ask(&["list", "--all"])?, "runs", "run");
        let nobody = hook(
            "PreToolUse",
            r#"{"tool_name": "Agent", "tool_use_id": "toolu_1",
                "tool_input": {"subagent_type": "nobody", "prompt": "x", "description": "x"}}"#,
        );
        let refused = !allows(&nobody.run_as(&self.stand, session)?);
        let after = names(&self.stand.ask(&["list", "--all"])?, "runs", "run");
        Ok(refused && before == after)
    }

    /// The journals are whole, and the next command goes through.
    pub(super) fn goes_on(&self, round: usize) -> Result<(), Failure> {
        journal::verify(&self.stand)?;
        let name = format!("after-{round}");
        self.stand.run(&["checkpoint", RUN, &name]).map(drop)
    }
}

fn names(value: &Value, list: &str, name: &str) -> BTreeSet<String> {
    let items = value[list].as_array().into_iter().flatten();
    let names = items.filter_map(|item| item[name].as_str());
    names.map(str::to_owned).collect()
}
