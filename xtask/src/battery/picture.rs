//! A picture of a run that is over: where it stands, what it settled, and what lies in its project. Two runs that
//! came to the same have the same picture, however often either was interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::journal;
use super::rehearsal::Rehearsal;
use super::stand::Stand;
use crate::failure::Failure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    /// Status, stage, visits, counters, passed gates, open work.
    standing: BTreeMap<String, String>,
    /// All that was settled, in order of its words: parallel steps have no order.
    settled: Vec<String>,
    /// The contents of the artifacts, and of the files in the project.
    files: BTreeMap<String, String>,
}

impl Picture {
    pub(super) fn of(rehearsal: &Rehearsal) -> Result<Self, Failure> {
        let (stand, run) = (&rehearsal.stand, rehearsal.run.as_str());
        let mut files = BTreeMap::new();
        read_all(&stand.project(), "", &mut files)?;
        let status = stand.ask(&["status", run])?;
        let entries = journal::entries(stand, run)?;
        let all = names(&status, "/artifacts", "name").into_iter();
        for name in all.filter(|name| !is_of_steps(&entries, name)) {
            let artifact = stand.ask(&["export", run, "--artifact", &name])?;
            let content = artifact["content"].as_str().unwrap_or_default();
            files.insert(format!("artifact {name}"), without_names(content));
        }
        Ok(Self {
            standing: standing(&status),
            settled: settled(&entries)?,
            files,
        })
    }

    /// In what two pictures differ, in one line each.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let standing = between(&self.standing, &other.standing);
        let files = between(&self.files, &other.files);
        let settled = between(&counted(&self.settled), &counted(&other.settled));
        [standing, settled, files].concat()
    }
}

fn counted(lines: &[String]) -> BTreeMap<String, String> {
    let different: BTreeSet<&String> = lines.iter().collect();
    let count = |line: &String| lines.iter().filter(|it| *it == line).count();
    let counted = different.into_iter();
    counted
        .map(|line| (line.clone(), format!("{} times", count(line))))
        .collect()
}

fn between(wanted: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let differ = names
        .into_iter()
        .filter(|name| wanted.get(*name) != found.get(*name));
    let told = |value: Option<&String>| match value {
        Some(value) => format!("{value:?}"),
        None => "nothing".to_owned(),
    };
    differ
        .map(|name| {
            let (wanted, found) = (told(wanted.get(name)), told(found.get(name)));
            format!("{name}: {found} instead of {wanted}")
        })
        .collect()
}

/// Each step leaves one of its own, and which of them is the last is chance. They are files of the
/// project, too.
fn is_of_steps(entries: &[Value], artifact: &str) -> bool {
    let mut facts = entries.iter().map(|entry| &entry["fact"]);
    facts.any(|fact| {
        fact["kind"] == "captured" && fact["artifact"] == artifact && fact["step"].is_string()
    })
}

fn standing(status: &Value) -> BTreeMap<String, String> {
    let plain = [
        "/status",
        "/stage/name",
        "/stage/visit",
        "/counters",
        "/dispatches",
    ];
    let plain = plain.into_iter().map(|pointer| {
        let value = status.pointer(pointer).unwrap_or(&Value::Null);
        (pointer.to_owned(), value.to_string())
    });
    let gates = names(status, "/gates", "stage").join(", ");
    plain.chain([("/gates".to_owned(), gates)]).collect()
}

fn names(status: &Value, pointer: &str, name: &str) -> Vec<String> {
    let list = status.pointer(pointer).and_then(Value::as_array);
    let names = list.into_iter().flatten();
    names
        .filter_map(|item| item[name].as_str().map(str::to_owned))
        .collect()
}

/// What the entries settle, a line each. Work that was begun, interrupted or tried again settles
/// nothing; work that ended with an outcome does.
pub(super) fn settled(entries: &[Value]) -> Result<Vec<String>, Failure> {
    let mut admitted: BTreeMap<String, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for fact in entries.iter().map(|entry| &entry["fact"]) {
        let kind = fact["kind"].as_str().unwrap_or_default();
        let dispatch = fact["dispatch"].as_str().unwrap_or_default();
        match kind {
            "admitted" => {
                let told = [
                    &fact["stage"],
                    &fact["visit"],
                    &fact["duty"],
                    &fact["agent"],
                ];
                let told = told.map(Value::to_string).join(" ");
                admitted.insert(dispatch.to_owned(), told);
            }
            "ended" if fact["result"]["kind"] == "outcome" => {
                let work = admitted.remove(dispatch).ok_or_else(|| {
                    Failure::no(format!("{dispatch} ended twice, or was never begun"))
                })?;
                lines.push(format!("ended {work}: {}", fact["result"]["outcome"]));
            }
            "ended" => drop(admitted.remove(dispatch)),
            "noted" | "retried" | "step_retried" => {}
            "checked" if fact["verdict"] == "void" => {}
            _ => lines.push(told(kind, fact)),
        }
    }
    lines.sort();
    Ok(lines)
}

/// What is the same each time of a fact.
fn told(kind: &str, fact: &Value) -> String {
    const SAME: [&str; 14] = [
        "stage", "from", "outcome", "to", "along", "counted", "answer", "reviewer", "round",
        "verdict", "artifact", "what", "name", "paths",
    ];
    let same = SAME.iter().chain(&["step"]);
    let same = same.filter_map(|name| Some(format!("{name} {}", fact.get(name)?)));
    format!("{kind}: {}", same.collect::<Vec<_>>().join(", "))
}

/// Every file of the project but git's own.
fn read_all(
    folder: &Path,
    beginning: &str,
    files: &mut BTreeMap<String, String>,
) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(Failure::file("list", folder))? {
        let entry = entry.map_err(Failure::file("list", folder))?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = format!("{beginning}{}", name.to_string_lossy());
        if name == ".git" {
            continue;
        }
        if path.is_dir() {
            read_all(&path, &format!("{name}/"), files)?;
        } else {
            let bytes = fs::read(&path).map_err(Failure::file("read", &path))?;
            files.insert(name, without_names(&String::from_utf8_lossy(&bytes)));
        }
    }
    Ok(())
}

/// The lines that tell by whom something is differ each time.
fn without_names(text: &str) -> String {
    let is_name = |line: &&str| line.starts_with("by ") || line.starts_with("\"by\"");
    let lines = text.lines().filter(|line| !is_name(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The files in the project with their bytes, for a look at whether anything changed.
pub(super) fn tree(stand: &Stand) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = BTreeMap::new();
    read_all(&stand.project(), "", &mut files)?;
    Ok(files)
}
