//! The files that belong to a definition: what it refers to, and the definitions that it takes over.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use crate::assemble::{is_file, path_of};
use crate::builtin;
use crate::diagnostic::Problems;
use crate::read::uses;
use crate::source::{SourceFile, Sources, is_below, parse, references};

/// More used definitions than this are not read; `compile` then says what is missing.
const MOST_USED: usize = 64;

/// Collects everything that `compile` needs. `read` returns the bytes of a file next to the definition,
/// or nothing where there is no such file, which `compile` reports.
pub fn gather<E>(
    main: SourceFile,
    mut read: impl FnMut(&str) -> Result<Option<Vec<u8>>, E>,
) -> Result<Sources, E> {
    let mut files = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![main.clone()];
    while let Some(definition) = open.pop() {
        for path in references(&definition) {
            if let Some(bytes) = read(&path)? {
                files.insert(path, bytes);
            }
        }
        for used in used_by(&definition) {
            if seen.len() >= MOST_USED || !seen.insert(used.clone()) {
                continue;
            }
            if is_file(&used) {
                if let Some(bytes) = read(&used)? {
                    files.insert(used.clone(), bytes.clone());
                    open.push(SourceFile { name: used, bytes });
                }
            } else if let Some(builtin) = builtin::find(&used) {
                files.insert(path_of(&used), builtin.text.into());
                for (path, text) in builtin.files {
                    // A file that the definition itself names is the user's own.
                    let path = String::from(*path);
                    files.entry(path).or_insert_with(|| Vec::from(*text));
                }
            }
        }
    }
    Ok(Sources { main, files })
}

/// The files of a definition that lie next to it; the others come with the program.
pub fn files_beside(sources: &Sources) -> Vec<(&str, &[u8])> {
    let mut asked = BTreeSet::new();
    let read = |path: &str| {
        asked.insert(path.to_owned());
        Ok::<_, Infallible>(sources.files.get(path).cloned())
    };
    let Ok(_) = gather(sources.main.clone(), read);
    let there = asked
        .iter()
        .filter_map(|path| sources.files.get_key_value(path));
    there
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect()
}

/// The definitions that this one names. A file of another folder is not read.
fn used_by(definition: &SourceFile) -> Vec<String> {
    let unheard = &mut Problems::default();
    let Some(root) = parse(definition, unheard) else {
        return Vec::new();
    };
    let uses = uses(&definition.name, &root, unheard);
    let names = uses.sources().map(|word| word.text.clone());
    names
        .filter(|name| is_below(name) && !name.contains('/'))
        .collect()
}
