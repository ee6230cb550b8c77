//! The host's settings files, as far as they concern the guard: our hooks, hooks that may answer for a person,
//! variables. Permissions and matters of taste may change in the middle of a run, and often do.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hosts::SessionHost;
use hosts::settings::Settings;

use super::memory::FileMark;
use super::relied_files::is_absent;
use super::stamp::stamp;
use crate::current_exe;
use crate::environment::Environment;

/// What settings are to a run.
pub(super) const ABOUT: &str = "a settings file";

/// The stamp of a file that does not exist.
pub(super) const ABSENT: &str = "none";

/// A longer file is not a settings file.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

pub(super) fn files(
    worktree: &Path,
    environment: &Environment,
    host: &SessionHost,
) -> Vec<PathBuf> {
    let places = &host.places;
    let own = [places.shared, places.local].map(|name| worktree.join(name));
    let user = environment.settings_folder();
    let user = user.map(|folder| folder.join(places.user));
    own.into_iter().chain(user).collect()
}

/// A settings file as it is now. One that does not exist says nothing, as an empty one does.
pub(super) fn mark(
    path: &Path,
    before: Option<&Rc<FileMark>>,
    host: &SessionHost,
) -> io::Result<Rc<FileMark>> {
    let stamp = match fs::metadata(path) {
        Ok(found) => stamp(&found),
        Err(error) if is_absent(&error) => ABSENT.to_owned(),
        Err(error) => return Err(error),
    };
    if let Some(known) = before.filter(|known| known.stamp == stamp) {
        return Ok(Rc::clone(known));
    }
    let mut bytes = Vec::new();
    if stamp != ABSENT {
        let mut file = fs::File::open(path)?.take(MOST_BYTES);
        file.read_to_end(&mut bytes)?;
    }
    Ok(Rc::new(FileMark {
        stamp,
        content: evidence::hash(guard_text(&bytes, host).as_bytes()).to_string(),
        about: ABOUT.to_owned(),
    }))
}

/// Nothing of a file that is not valid counts for the host.
fn guard_text(bytes: &[u8], host: &SessionHost) -> String {
    let program = current_exe::program().unwrap_or_default();
    match Settings::parse(bytes) {
        Ok(settings) => {
            settings.guard_text(&host.format, host.question_tool, &program.to_string_lossy())
        }
        Err(_) => "invalid".to_owned(),
    }
}
