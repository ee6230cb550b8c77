//! The output of a fleet's workers: each machine keeps its own, and hands it on to those who look elsewhere.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use engine::{DispatchId, RunId};
use store::{OutputPiece, SharedBackend};

use crate::failure::Failure;
use crate::state::State;
use crate::worker_log;

/// One piece has at most so many bytes.
const PIECE: u64 = 256 * 1024;

/// Of each piece of work the first bytes are handed on, so many.
const MOST: u64 = 4 * 1024 * 1024;

/// Hands on what the workers of a run printed here since the last time.
pub fn hand_on(store: &dyn SharedBackend, state: &State, run: &RunId) -> Result<(), Failure> {
    let kept = store.kept_output(run)?;
    for dispatch in worker_log::numbers(state, run) {
        let path = worker_log::path(state, run, dispatch);
        if is_copy(&path) {
            continue;
        }
        let known = kept.iter().find(|(number, _)| *number == dispatch);
        let mut place = known.map_or(0, |(_, kept)| *kept);
        while place < MOST {
            let Some(bytes) = piece(&path, place) else {
                break;
            };
            let piece = OutputPiece {
                dispatch,
                place,
                bytes: &bytes,
            };
            store.keep_output(run, &piece)?;
            place += bytes.len() as u64;
        }
    }
    Ok(())
}

/// Fetches what the workers of a run printed on other machines. Output of this machine stays as it is.
pub fn fetch(store: &dyn SharedBackend, state: &State, run: &RunId) -> Result<(), Failure> {
    for (dispatch, kept) in store.kept_output(run)? {
        let path = worker_log::path(state, run, dispatch);
        let here = fs::metadata(&path).map_or(0, |it| it.len());
        if (path.exists() && !is_copy(&path)) || here >= kept {
            continue;
        }
        copy(store, run, dispatch, &path, here).map_err(|failure| match failure {
            CopyError::Store(error) => error.into(),
            CopyError::File(cause) => Failure::file("write to", &path)(cause),
        })?;
    }
    Ok(())
}

enum CopyError {
    Store(store::Error),
    File(std::io::Error),
}

/// Invariant: the mark is there before the copy, so that a copy is never taken for output of this machine.
fn copy(
    store: &dyn SharedBackend,
    run: &RunId,
    dispatch: DispatchId,
    path: &Path,
    here: u64,
) -> Result<(), CopyError> {
    let bytes = store
        .output_after(run, dispatch, here)
        .map_err(CopyError::Store)?;
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(CopyError::File)?;
    fs::write(mark(path), "").map_err(CopyError::File)?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(&bytes))
        .map_err(CopyError::File)
}

fn is_copy(path: &Path) -> bool {
    mark(path).exists()
}

fn mark(path: &Path) -> std::path::PathBuf {
    path.with_added_extension("copy")
}

/// The next whole lines of a file, if there are any.
fn piece(path: &Path, place: u64) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(place)).ok()?;
    let mut bytes = Vec::new();
    file.take(PIECE).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n')?;
    bytes.truncate(end + 1);
    Some(bytes)
}
