//! Export: a complete run as JSON lines, each with its kind.

use std::collections::BTreeSet;
use std::io::Write;

use engine::{Hash, RunId};
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::error::Error;
use crate::files::Files;
use crate::import::FORMAT;
use crate::line::StoredEntry;
use crate::record;
use crate::stored::StoredRun;

/// Writes a complete run as JSON lines: the run, its definition, its journal, its contents.
pub fn export<B: Backend + ?Sized>(
    backend: &B,
    run: &RunId,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let unknown = || Error::UnknownRun { run: run.clone() };
    let stored = backend.run(run)?.ok_or_else(unknown)?;
    let named = named(backend, &stored)?;
    line(out, &header(&stored, named.len()))?;
    let hash = stored.run.definition;
    let files = backend
        .definition(hash)?
        .ok_or(Error::UnknownDefinition { hash })?;
    files
        .iter()
        .try_for_each(|(path, bytes)| line(out, &file(&files, path, bytes)))?;
    backend.walk(run, stored.version, &mut |stored| {
        raw_line(out, &entry(stored))
    })?;
    contents(backend, &named, out)
}

/// Every hash in the journal that names a stored content. Most are those of trees, which are not kept.
fn named<B: Backend + ?Sized>(backend: &B, stored: &StoredRun) -> Result<BTreeSet<Hash>, Error> {
    let mut hashes = BTreeSet::new();
    backend.walk(&stored.run.id, stored.version, &mut |stored| {
        hashes.extend(record::hashes(&stored.entry));
        Ok(())
    })?;
    let mut named = BTreeSet::new();
    for hash in hashes {
        if backend.content(hash)?.is_some() {
            named.insert(hash);
        }
    }
    Ok(named)
}

fn contents<B: Backend + ?Sized>(
    backend: &B,
    named: &BTreeSet<Hash>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    for hash in named {
        if let Some(bytes) = backend.content(*hash)? {
            let (form, body) = body(&bytes);
            line(
                out,
                &json!({ "kind": "content", "hash": hash.to_string(), form: body }),
            )?;
        }
    }
    Ok(())
}

fn header(stored: &StoredRun, contents: usize) -> Value {
    json!({
        "kind": "run",
        "format": FORMAT,
        "id": stored.run.id.as_str(),
        "project": stored.project,
        "worktree": stored.worktree(),
        "pipeline": stored.pipeline.as_str(),
        "definition": stored.run.definition.to_string(),
        "version": stored.version,
        "head": stored.head.to_string(),
        "contents": contents,
    })
}

fn file(files: &Files, path: &str, bytes: &[u8]) -> Value {
    let (form, body) = body(bytes);
    json!({ "kind": "file", "path": path, "main": path == files.main(), form: body })
}

/// The entry's JSON is copied byte for byte, so that its hash can be recomputed.
fn entry(stored: &StoredEntry) -> String {
    let key = stored
        .key
        .as_ref()
        .map_or(Value::Null, |key| Value::from(key.as_str()));
    format!(
        r#"{{"kind":"entry","number":{},"decision":{},"key":{key},"previous":"{}","hash":"{}","entry":{}}}"#,
        stored.number,
        stored.decision,
        stored.previous,
        stored.hash,
        record::entry_to_json(&stored.entry),
    )
}

/// Text as text, anything else as hexadecimal digits.
fn body(bytes: &[u8]) -> (&'static str, String) {
    match std::str::from_utf8(bytes) {
        Ok(text) => ("text", text.to_owned()),
        Err(_) => (
            "hex",
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ),
    }
}

fn line(out: &mut dyn Write, value: &Value) -> Result<(), Error> {
    raw_line(out, &value.to_string())
}

fn raw_line(out: &mut dyn Write, line: &str) -> Result<(), Error> {
    writeln!(out, "{line}").map_err(|source| Error::Export { source })
}
