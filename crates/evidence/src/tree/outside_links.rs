//! What links lead to outside of the project. A program reads such a file as one of the project, so its content
//! counts with the link: an agent that replaces a source by a link cannot change it behind a gate.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use engine::Hash;

use super::listing::Listed;
use super::manifest::EntryKind;
use super::reading::Found;
use crate::beneath;
use crate::content::hash;

/// A longer file, such as a data set, is known by its stamp.
const LONGEST_READ: u64 = 1024 * 1024;

pub(super) struct OutsideLinks<'r> {
    root: &'r Path,
    /// The same without links. Most trees have none, and need no answer of the system.
    real_root: OnceCell<PathBuf>,
    /// The last folder that was looked at, and whether a link leads out of the project there.
    folder: Option<(Vec<u8>, bool)>,
    /// Was there a file outside? No cache knows its stamp.
    pub met: bool,
}

impl<'r> OutsideLinks<'r> {
    pub(super) fn new(root: &'r Path) -> Self {
        Self {
            root,
            real_root: OnceCell::new(),
            folder: None,
            met: false,
        }
    }

    /// The hash of a link with what it leads to, or of a source behind such a link; nothing for other files.
    pub(super) fn hash_of(&mut self, file: &Listed, found: &Found) -> Option<Hash> {
        let of_link = match found {
            Found::File(EntryKind::Link, link) => Some(link.hash),
            Found::Gone if file.standing.is_source() && self.leads_out(&file.path) => None,
            Found::File(..) | Found::Other(..) | Found::Gone => return None,
        };
        let content = self.content(&file.path)?;
        self.met = true;
        let parts = of_link.into_iter().chain([content]);
        Some(hash(&parts.flat_map(|part| part.0).collect::<Vec<u8>>()))
    }

    /// Does the folder of this file lie outside? Consecutive files mostly share one.
    fn leads_out(&mut self, path: &[u8]) -> bool {
        let (folder, _) = beneath::split(path);
        if self
            .folder
            .as_ref()
            .is_none_or(|(known, _)| known != folder)
        {
            let leads_out = self.outside(folder).is_some();
            self.folder = Some((folder.to_vec(), leads_out));
        }
        self.folder
            .as_ref()
            .is_some_and(|(_, leads_out)| *leads_out)
    }

    /// Where this path leads, if that is outside.
    fn outside(&self, path: &[u8]) -> Option<PathBuf> {
        let root = self.real_root.get_or_init(|| {
            let real = self.root.canonicalize();
            real.unwrap_or_else(|_| self.root.to_owned())
        });
        let real = root.join(OsStr::from_bytes(path)).canonicalize();
        real.ok().filter(|real| !real.starts_with(root))
    }

    fn content(&self, path: &[u8]) -> Option<Hash> {
        let real = self.outside(path)?;
        let stat = fs::metadata(&real).ok().filter(fs::Metadata::is_file)?;
        let is_short = (1..=LONGEST_READ).contains(&stat.len());
        let bytes = is_short.then(|| fs::read(&real).ok()).flatten();
        let stamp = || {
            let times = (
                stat.mtime(),
                stat.mtime_nsec(),
                stat.ctime(),
                stat.ctime_nsec(),
            );
            format!("{} {} {times:?}", stat.len(), stat.ino()).into_bytes()
        };
        Some(hash(&bytes.unwrap_or_else(stamp)))
    }
}
