//! A copy of one run, outside of every store: all that a decision about one of its workers needs.
//!
//! The caches of the run and of its definition are in it as they are in a store, so another version of the program
//! reads nothing from it.

use engine::{Definition, Hash, PipelineName, RunId};

use crate::chain::Tip;
use crate::record::{
    Cached, RunOrigin, compiled_from_bytes, compiled_to_bytes, state_from_bytes, state_to_bytes,
};
use crate::stored::StoredRun;

/// The first bytes of a copy.
const MARK: &[u8] = b"gatewright run copy 1\n";

#[derive(Clone, Debug, PartialEq)]
pub struct RunCopy {
    pub stored: StoredRun,
    pub compiled: Definition,
    /// What its decisions compare with, such as the list of files before the work.
    pub contents: Vec<Vec<u8>>,
}

impl RunCopy {
    pub fn to_bytes(&self) -> Vec<u8> {
        let stored = &self.stored;
        let state = state_to_bytes(&stored.run, stored.tip(), stored.origin());
        let compiled = compiled_to_bytes(&self.compiled, stored.run.definition);
        let mut bytes = MARK.to_vec();
        for part in [
            stored.run.id.as_str().as_bytes(),
            stored.project.as_bytes(),
            stored.home.as_bytes(),
            stored.pipeline.as_str().as_bytes(),
            &stored.version.to_be_bytes(),
            &stored.head.0,
            &stored.run.definition.0,
            &state,
            &compiled,
        ]
        .into_iter()
        .chain(self.contents.iter().map(Vec::as_slice))
        {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part);
        }
        bytes
    }

    /// `None` if it is none, or another version of the program made it.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MARK)?;
        let (id, project) = (text(&mut rest)?, text(&mut rest)?);
        let (home, pipeline) = (text(&mut rest)?, text(&mut rest)?);
        let version = u64::from_be_bytes(part(&mut rest)?.try_into().ok()?);
        let tip = Tip {
            version,
            head: hash(&mut rest)?,
        };
        let definition = hash(&mut rest)?;
        let origin = RunOrigin {
            project: &project,
            worktree: &home,
            pipeline: &pipeline,
        };
        let run = value(state_from_bytes(part(&mut rest)?, tip, origin).ok()?)?;
        let compiled = value(compiled_from_bytes(part(&mut rest)?, definition).ok()?)?;
        let mut contents = Vec::new();
        while !rest.is_empty() {
            contents.push(part(&mut rest)?.to_vec());
        }
        if run.id != RunId::parse(&id).ok()? || run.definition != definition {
            return None;
        }
        let stored = StoredRun {
            run,
            version: tip.version,
            head: tip.head,
            pipeline: PipelineName::parse(&pipeline).ok()?,
            project,
            home,
        };
        Some(Self {
            stored,
            compiled,
            contents,
        })
    }
}

fn value<T>(cached: Cached<T>) -> Option<T> {
    match cached {
        Cached::Value(value) => Some(value),
        Cached::OtherFormat => None,
    }
}

fn part<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_be_bytes(*length)).ok()?;
    let (found, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(found)
}

fn text(rest: &mut &[u8]) -> Option<String> {
    String::from_utf8(part(rest)?.to_vec()).ok()
}

fn hash(rest: &mut &[u8]) -> Option<Hash> {
    part(rest)?.try_into().ok().map(Hash)
}

#[cfg(test)]
mod tests {
    use engine::Status;

    use super::*;
    use crate::conformance::test_run::TestRun;
    use crate::{Backend as _, Memory};

    fn copy() -> RunCopy {
        let test_run = TestRun::new("f-1").unwrap();
        let mut store = Memory::new();
        test_run.begin(&mut store).unwrap();
        let stored = store.run(&test_run.id).unwrap().unwrap();
        let compiled = store.compiled(stored.run.definition).unwrap().unwrap();
        RunCopy {
            stored,
            compiled,
            contents: vec![b"a".to_vec(), Vec::new()],
        }
    }

    #[test]
    fn a_copy_is_read_as_it_was_written_and_damage_is_no_copy() {
        let copy = copy();
        let bytes = copy.to_bytes();
        assert_eq!(RunCopy::from_bytes(&bytes), Some(copy.clone()));
        for length in 0..bytes.len() {
            let short = RunCopy::from_bytes(&bytes[..length]);
            assert_ne!(short.as_ref(), Some(&copy), "{length}");
        }
        let mut other = copy.clone();
        other.stored.version += 1;
        let mut forged = other.to_bytes();
        let place = MARK.len() + 8 + copy.stored.run.id.as_str().len();
        forged[place + 7] ^= 1;
        assert_eq!(RunCopy::from_bytes(&forged), None);
    }

    #[test]
    fn a_store_of_a_copy_has_its_run() {
        let copy = copy();
        let (stored, definition) = (copy.stored.clone(), copy.compiled.clone());
        let store = Memory::with_copy(copy, Status::Running);
        let id = &stored.run.id;
        assert_eq!(store.run(id).unwrap(), Some(stored.clone()));
        let compiled = store.compiled(stored.run.definition).unwrap();
        assert_eq!(compiled, Some(definition));
        let content = store.content(crate::content_hash(b"a")).unwrap();
        assert_eq!(content, Some(b"a".to_vec()));
        assert!(store.journal(id, 1, 9).unwrap().is_empty());
    }
}
