//! The files of a worktree as objects of git: how git would name each, without giving it to git.
//!
//! A file that has not changed since it was last named is known by its stamp. The stamps are ours: those in
//! git's index are not used, because an agent can write them.

use std::path::PathBuf;

use engine::Hash;

use super::cache::{Cache, ReadFile, StatKey};
use super::manifest::EntryKind;
use super::naming::Naming;
use super::reading::{self, Found};
use crate::beneath::{self, Folder};
use crate::error::Error;

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

impl ObjectStamps {
    /// What is at each of these paths, which are sorted; nothing where there is no file or link, or where a
    /// link is on the way.
    pub fn objects(&self, files: &[&[u8]]) -> Result<Vec<Option<TreeObject>>, Error> {
        let cache = Cache::at(Some(self.file.clone()));
        let found = reading::named(&self.root, files, &cache, self.format.naming())?;
        Ok(found.iter().map(|found| self.object(found)).collect())
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

    /// Remembers files that git has just written into a worktree in which nobody works yet: sorted paths
    /// with the names of their objects.
    pub fn remember<'f>(&self, files: impl Iterator<Item = (&'f [u8], &'f str)>) {
        let cache = Cache::at(Some(self.file.clone()));
        let Ok(root) = Folder::open(&self.root) else {
            return;
        };
        let mut open: (&[u8], Option<Folder>) = (b"", None);
        let read = |(path, name): (&'f [u8], &str)| {
            let (above, last) = beneath::split(path);
            if open.1.is_none() || open.0 != above {
                open = (above, root.descend_path(above).ok());
            }
            let stat = open.1.as_ref()?.stat(last).ok()?;
            let is_file = beneath::kind(&stat) == rustix::fs::FileType::RegularFile;
            let file = ReadFile {
                stat_key: StatKey::of(&stat),
                hash: self.format.hash(name)?,
                was_known: false,
            };
            is_file.then_some((path, file))
        };
        let read: Vec<(&[u8], ReadFile)> = files.filter_map(read).collect();
        let read = read.iter().map(|(path, file)| (*path, file));
        cache.unsaved(read).save(None);
    }
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
        stamps.remember([(b"a".as_slice(), one.name.as_str())].into_iter());
        // As long as before, and perhaps at the same time.
        fs::write(&file, "two").unwrap();
        let two = named(&stamps, "a").unwrap();
        assert_eq!(two.name, by_git(&stamps, "a"));
        assert_ne!(one, two);
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
