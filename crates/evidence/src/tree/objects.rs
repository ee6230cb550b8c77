//! The files of a worktree as objects of git: how git would name each, without giving it to git.
//!
//! A file that has not changed since it was last named is known by its stamp. The stamps are ours: those in
//! git's index are not used, because an agent can write them.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use engine::Hash;
use rustix::fs::{FileType, Stat};

use super::cache::{Cache, ReadFile, StatKey};
use super::listing::{self, Begun};
use super::manifest::EntryKind;
use super::naming::Naming;
use super::reading::{self, Found, LookingAhead, in_parts, processors};
use crate::beneath::{self, Folder};
use crate::error::Error;
use crate::project::Project;

/// The hash function of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectFormat {
    Sha1,
    Sha256,
}

/// A file as an object of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeObject {
    pub kind: ObjectKind,
    /// In hexadecimal digits, as git writes it.
    pub name: String,
}

/// A file that is as it was when it was remembered.
#[derive(Clone, Debug)]
pub struct UnchangedFile {
    pub object: TreeObject,
    stat_key: StatKey,
}

/// A file that git wrote into a worktree.
#[derive(Clone, Copy, Debug)]
pub struct WrittenFile<'a> {
    pub path: &'a [u8],
    /// The name of its object.
    pub object: &'a str,
    /// If git wrote it earlier.
    pub unchanged: Option<&'a UnchangedFile>,
}

/// Paths in their order, with what is there; nothing where there is no file or link.
pub type ListedObjects = Vec<(Vec<u8>, Option<TreeObject>)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    File,
    Program,
    Link,
}

/// What is known of the files of one worktree.
#[derive(Clone, Debug)]
pub struct ObjectStamps {
    pub root: PathBuf,
    /// Where it is kept. It is a cache: a lost one costs time.
    pub file: PathBuf,
    pub format: ObjectFormat,
}

impl ObjectKind {
    /// Its mode in a tree of git.
    pub fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Program => "100755",
            Self::Link => "120000",
        }
    }
}

impl ObjectFormat {
    /// By git's name for it.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "sha1" => Some(Self::Sha1),
            "sha256" => Some(Self::Sha256),
            _ => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    fn naming(self) -> Naming {
        match self {
            Self::Sha1 => Naming::GitSha1,
            Self::Sha256 => Naming::GitSha256,
        }
    }

    /// How many bytes of a hash are a name.
    fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    fn text(self, hash: &Hash) -> String {
        let mut text = hash.to_string();
        text.truncate(2 * self.bytes());
        text
    }

    fn hash(self, text: &str) -> Option<Hash> {
        let is_whole = text.len() == 2 * self.bytes();
        let zeros = "0".repeat(64_usize.saturating_sub(text.len()));
        Hash::parse(&format!("{text}{zeros}")).filter(|_| is_whole)
    }
}

/// How often to ask for the time of a disk, and the pause between. A disk with times in seconds does not
/// get on within that.
const CLOCK_TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

impl ObjectStamps {
    /// What is at each path that git tracks or does not ignore, and at these paths; sorted. While git lists
    /// the files, we look at those that are known.
    pub fn list(&self, project: &Project, more: &[&[u8]]) -> Result<ListedObjects, Error> {
        let naming = self.format.naming();
        let (begun, ahead) = Begun::begin(project, || {
            LookingAhead::begin(&self.root, Cache::at(Some(self.file.clone())), naming)
        })?;
        let ahead = ahead.finish();
        let mut files = super::sources(begun.finish(&ahead)?);
        listing::add_named(&mut files, more);
        let found = ahead.read(&self.root, &files)?;
        ahead.unsaved(&files, &found).save(None);
        let objects = found.iter().map(|found| self.object(found));
        Ok(files
            .into_iter()
            .map(|file| file.path)
            .zip(objects)
            .collect())
    }

    /// What is at each of these paths, which are sorted; nothing where there is no file or link, or where a
    /// link is on the way.
    pub fn objects(&self, files: &[&[u8]]) -> Result<Vec<Option<TreeObject>>, Error> {
        let cache = Cache::at(Some(self.file.clone()));
        let found = reading::named(&self.root, files, &cache, self.format.naming())?;
        Ok(found.iter().map(|found| self.object(found)).collect())
    }

    /// The files among these paths, which are sorted, that are as they were when they were remembered. None
    /// is read.
    pub fn unchanged(&self, files: &[&[u8]]) -> Vec<Option<UnchangedFile>> {
        let cache = Cache::at(Some(self.file.clone()));
        let Ok(root) = Folder::open(&self.root) else {
            return vec![None; files.len()];
        };
        let look = |files: &[&[u8]]| {
            let mut stats = Stats::below(&root);
            let mut place = 0;
            let unchanged = files.iter().map(|path| {
                let stat = stats.of(path)?;
                let stat_key = StatKey::of(&stat);
                place = cache.place(path, place);
                let hash = cache.hash_at(place, path, &stat_key)?;
                let kind = match stat.st_mode & 0o100 {
                    0 => ObjectKind::File,
                    _ => ObjectKind::Program,
                };
                let name = self.format.text(&hash);
                Some(UnchangedFile {
                    object: TreeObject { kind, name },
                    stat_key,
                })
            });
            unchanged.collect::<Vec<_>>()
        };
        in_parts(files, processors(), look).concat()
    }

    fn object(&self, found: &Found) -> Option<TreeObject> {
        let (kind, hash) = match found {
            Found::File(EntryKind::Program, file) => (ObjectKind::Program, file.hash),
            Found::File(EntryKind::Link, file) => (ObjectKind::Link, file.hash),
            Found::File(_, file) => (ObjectKind::File, file.hash),
            Found::Other(..) | Found::Gone => return None,
        };
        let name = self.format.text(&hash);
        Some(TreeObject { kind, name })
    }

    /// Remembers files of a worktree in which nobody works yet: sorted paths with the names of their objects.
    /// Git has just written them, except for those that are unchanged.
    ///
    /// They were written just now. They count as known all the same when the clock of the disk has got on
    /// since: whatever is written later has a later time.
    pub fn remember(&self, files: &[WrittenFile<'_>]) {
        let Ok(root) = Folder::open(&self.root) else {
            return;
        };
        let look = |files: &[WrittenFile<'_>]| {
            let mut stats = Stats::below(&root);
            let read = files.iter().map(|file| {
                let stat_key = match file.unchanged {
                    Some(unchanged) => unchanged.stat_key,
                    None => StatKey::of(&stats.of(file.path)?),
                };
                Some(ReadFile {
                    stat_key,
                    hash: self.format.hash(file.object)?,
                    was_known: file.unchanged.is_some(),
                })
            });
            read.collect::<Vec<_>>()
        };
        let read = in_parts(files, processors(), look).concat();
        let read = files.iter().zip(&read);
        let read = read.filter_map(|(file, read)| Some((file.path, read.as_ref()?)));
        let new = read.clone().filter(|(_, file)| !file.was_known);
        let mut cache = Cache::at(Some(self.file.clone()));
        if let Some(now) = self.moment_after(new.map(|(_, file)| &file.stat_key)) {
            cache = cache.settled_before(now);
        }
        cache.unsaved(read).save(None);
    }

    /// A time of the disk on which all of these are, later than each of theirs.
    fn moment_after<'k>(&self, files: impl Iterator<Item = &'k StatKey> + Clone) -> Option<i64> {
        let newest = files.clone().map(StatKey::changed).max()?;
        let device = files.clone().next()?.device();
        let is_there = |now: &StatKey| now.device() == device;
        if !files.clone().all(is_there) {
            return None;
        }
        for _ in 0..CLOCK_TRIES {
            let now = disk_time(self.file.parent()?)?;
            if is_there(&now) && now.changed() > newest {
                return Some(now.changed());
            }
            thread::sleep(BETWEEN_TRIES);
        }
        None
    }
}

/// The status of regular files. Consecutive ones mostly share a folder.
struct Stats<'r, 'f> {
    root: &'r Folder,
    open: (&'f [u8], Option<Folder>),
}

impl<'r, 'f> Stats<'r, 'f> {
    fn below(root: &'r Folder) -> Self {
        let open = (b"".as_slice(), None);
        Self { root, open }
    }

    fn of(&mut self, path: &'f [u8]) -> Option<Stat> {
        let (above, last) = beneath::split(path);
        if self.open.1.is_none() || self.open.0 != above {
            self.open = (above, self.root.descend_path(above).ok());
        }
        let stat = self.open.1.as_ref()?.stat(last).ok()?;
        (beneath::kind(&stat) == FileType::RegularFile).then_some(stat)
    }
}

/// The status of a file that is written now.
fn disk_time(folder: &Path) -> Option<StatKey> {
    let file = tempfile::tempfile_in(folder).ok()?;
    Some(StatKey::of(&rustix::fs::fstat(&file).ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    fn place(format: ObjectFormat) -> (tempfile::TempDir, ObjectStamps) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("below")).unwrap();
        let stamps = ObjectStamps {
            file: folder.path().join("stamps"),
            root,
            format,
        };
        (folder, stamps)
    }

    fn named(stamps: &ObjectStamps, path: &str) -> Option<TreeObject> {
        stamps.objects(&[path.as_bytes()]).unwrap().remove(0)
    }

    fn written<'a>(path: &'a [u8], object: &'a str) -> WrittenFile<'a> {
        WrittenFile {
            path,
            object,
            unchanged: None,
        }
    }

    /// What git itself calls this file.
    fn by_git(stamps: &ObjectStamps, path: &str) -> String {
        let mut git = Command::new("git");
        git.current_dir(&stamps.root).env_clear();
        let format = format!("--object-format={}", stamps.format.word());
        let made = git.args(["init", "--quiet", &format]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let mut git = Command::new("git");
        git.current_dir(&stamps.root).env_clear();
        let output = git.args(["hash-object", "--no-filters", path]).output();
        String::from_utf8(output.unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned()
    }

    #[test]
    fn files_have_the_names_that_git_gives_them() {
        for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
            let (_folder, stamps) = place(format);
            let large = "a line of a large file\n".repeat(10_000);
            let texts = ["", "fn main() {}\n", large.as_str()];
            for (path, text) in ["empty", "below/a.rs", "large"].into_iter().zip(texts) {
                fs::write(stamps.root.join(path), text).unwrap();
                let object = named(&stamps, path).unwrap();
                assert_eq!(object.kind, ObjectKind::File);
                assert_eq!(object.name, by_git(&stamps, path), "{path}");
            }
            let program = stamps.root.join("large");
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(named(&stamps, "large").unwrap().kind, ObjectKind::Program);
            // The object of a link is its target.
            symlink("below/a.rs", stamps.root.join("link")).unwrap();
            fs::write(stamps.root.join("target"), "below/a.rs").unwrap();
            let link = named(&stamps, "link").unwrap();
            assert_eq!(link.kind, ObjectKind::Link);
            assert_eq!(link.name, by_git(&stamps, "target"));
            assert_eq!(named(&stamps, "below"), None, "a folder");
            assert_eq!(named(&stamps, "gone"), None);
        }
    }

    #[test]
    fn a_write_right_behind_a_look_is_seen() {
        let (_folder, stamps) = place(ObjectFormat::Sha1);
        let file = stamps.root.join("a");
        fs::write(&file, "one").unwrap();
        let one = named(&stamps, "a").unwrap();
        stamps.remember(&[written(b"a", &one.name)]);
        // As long as before, and perhaps at the same time.
        fs::write(&file, "two").unwrap();
        let two = named(&stamps, "a").unwrap();
        assert_eq!(two.name, by_git(&stamps, "a"));
        assert_ne!(one, two);
    }

    #[test]
    fn files_that_git_has_just_written_are_not_read_again() {
        let (_folder, stamps) = place(ObjectFormat::Sha1);
        fs::write(stamps.root.join("a"), "one").unwrap();
        let other = "0123456789abcdef0123456789abcdef01234567";
        stamps.remember(&[written(b"a", other)]);
        assert_eq!(named(&stamps, "a").unwrap().name, other);
        // Whatever changes the file shows, also what leaves its length and its time as they were.
        let was = fs::metadata(stamps.root.join("a"))
            .unwrap()
            .modified()
            .unwrap();
        fs::write(stamps.root.join("a"), "two").unwrap();
        let file = fs::File::options().write(true).open(stamps.root.join("a"));
        file.unwrap().set_modified(was).unwrap();
        assert_eq!(named(&stamps, "a").unwrap().name, by_git(&stamps, "a"));
    }

    #[test]
    fn a_file_that_was_written_long_ago_is_known_by_its_stamp() {
        let (_folder, stamps) = place(ObjectFormat::Sha1);
        let file = stamps.root.join("a");
        fs::write(&file, "one").unwrap();
        let found = named(&stamps, "a").unwrap();
        // No program can set the change time back, so what was known says another name.
        let other = "0123456789abcdef0123456789abcdef01234567";
        let stat = rustix::fs::stat(&file).unwrap();
        let known = ReadFile {
            stat_key: StatKey::of(&stat),
            hash: stamps.format.hash(other).unwrap(),
            was_known: true,
        };
        let cache = Cache::at(Some(stamps.file.clone()));
        cache
            .unsaved([(b"a".as_slice(), &known)].into_iter())
            .save(None);
        assert_eq!(named(&stamps, "a").unwrap().name, other);
        fs::write(&file, "two").unwrap();
        assert_ne!(named(&stamps, "a").unwrap().name, other);
        fs::write(&file, "one").unwrap();
        assert_eq!(named(&stamps, "a").unwrap(), found);
    }
}
