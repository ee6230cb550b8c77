//! The look: reads all evidence that the engine needs, at once.

use engine::{Evidence, FieldOf, Format, Hash, Needs};

use crate::content::{Content, captured_bytes};
use crate::error::Error;
use crate::look_context::LookContext;
use crate::{artifact, change, process, questions, steps, tree};

/// The evidence, and the bytes of its hashes, to be stored with the decision.
///
/// Invariant: `contents` has the bytes of every new hash in the evidence, except for a tree whose
/// manifest need not be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    pub evidence: Evidence,
    pub contents: Vec<Content>,
}

/// Reads all evidence that the engine needs.
pub fn look(needs: &Needs, looking: &LookContext<'_>) -> Result<Looked, Error> {
    let mut looked = Looked::default();
    for need in &needs.artifacts {
        let look = artifact::look(need, looking)?;
        looked
            .evidence
            .artifacts
            .insert(need.artifact.clone(), look.seen);
        if let Some(written) = look.written {
            let times = &mut looked.evidence.written;
            times.insert(need.artifact.clone(), written);
        }
        if !look.commands.is_empty() {
            let commands = &mut looked.evidence.commands;
            commands.insert(need.artifact.clone(), look.commands);
        }
        if let Some(reason) = look.reason {
            let reasons = &mut looked.evidence.reasons;
            reasons.insert(need.artifact.clone(), reason);
        }
        if !look.unlisted.is_empty() {
            let unlisted = &mut looked.evidence.unlisted;
            unlisted.insert(need.artifact.clone(), look.unlisted);
        }
        looked.contents.extend(look.content);
    }
    let inputs = needs.inputs.iter();
    let altered = inputs.filter(|input| !artifact::is_as_captured(input, looking));
    looked.evidence.altered = altered.cloned().collect();
    look_at_files(needs, looking, &mut looked)?;
    looked.evidence.holder = needs.holder.as_ref().map(process::state);
    if let Some((field, hash)) = &needs.questions {
        let (content, format) = captured(field, hash, looking, &looked)?;
        looked.evidence.questions = Some(questions::read(&content, format, &field.field));
    }
    if let Some((field, hash)) = &needs.steps {
        let (content, format) = captured(field, hash, looking, &looked)?;
        looked.evidence.steps = Some(steps::read(&content, format, &field.field));
    }
    Ok(looked)
}

/// Reads the tree once for all that need it. Only a route works without it.
fn look_at_files(
    needs: &Needs,
    looking: &LookContext<'_>,
    looked: &mut Looked,
) -> Result<(), Error> {
    let asked = needs.tree || needs.keep_tree || needs.changed_since.is_some();
    let is_kept = needs.keep_tree || needs.change.is_some();
    // Nobody needs the paths of a tree in which nothing has changed.
    if let Some(old) = needs.changed_since.filter(|_| !is_kept) {
        match tree::read_unless(looking, &old)? {
            Some(tree) => look_at_tree(needs, looking, tree, looked)?,
            None => {
                looked.evidence.tree = Some(old);
                looked.evidence.changed = Some(Vec::new());
            }
        }
        return look_at_base(needs, looking, looked);
    }
    if asked || needs.change.is_some() {
        let tree = tree::read(looking);
        if let Some(need) = &needs.change {
            let change = change::measure(need, looking, tree.as_ref());
            looked.evidence.change = Some(change);
        }
        if asked {
            look_at_tree(needs, looking, tree?, looked)?;
        }
    }
    look_at_base(needs, looking, looked)
}

fn look_at_base(
    needs: &Needs,
    looking: &LookContext<'_>,
    looked: &mut Looked,
) -> Result<(), Error> {
    if needs.base {
        let base = change::base(looking);
        looked.evidence.base = base.as_ref().map(|base| base.hash);
        looked.contents.extend(base);
    }
    Ok(())
}

fn look_at_tree(
    needs: &Needs,
    looking: &LookContext<'_>,
    tree: tree::Tree,
    looked: &mut Looked,
) -> Result<(), Error> {
    looked.evidence.tree = Some(tree.hash);
    looked.evidence.changed = match needs.changed_since {
        None => None,
        // The same hash is the same tree, whether its manifest was kept or not.
        Some(old) if old == tree.hash => Some(Vec::new()),
        Some(old) => match looking.contents.content(&old) {
            Some(manifest) => {
                let changed = tree::changed(&manifest, &tree.manifest);
                Some(changed.ok_or(Error::NotAManifest { hash: old })?)
            }
            // Older versions kept no manifest for a review. The trees differ, and nobody can name the paths:
            // the engine lets nothing pass by that.
            None => None,
        },
    };
    if needs.keep_tree {
        looked.contents.push(Content {
            hash: tree.hash,
            bytes: tree.manifest,
        });
    }
    Ok(())
}

/// The captured copy of an artifact, which may have been captured just now, and its format.
fn captured<'a>(
    field: &FieldOf,
    hash: &Hash,
    looking: &LookContext<'a>,
    looked: &Looked,
) -> Result<(String, &'a Format), Error> {
    let now = looked.contents.iter().find(|content| content.hash == *hash);
    let bytes = match now {
        Some(content) => content.bytes.clone(),
        None => captured_bytes(looking.contents, hash)?,
    };
    let artifact = looking.pipeline.definition().artifacts.get(&field.artifact);
    let artifact = artifact.ok_or(Error::UnknownArtifact {
        artifact: field.artifact.clone(),
    })?;
    Ok((
        String::from_utf8_lossy(&bytes).into_owned(),
        &artifact.format,
    ))
}
