//! All that is the person's: files, index, HEAD, settings, branches, tags and stash, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::overnight::Overnight;

/// Git's own files about the person's tree and branches.
const GITS_OWN: [&str; 7] = [
    "HEAD",
    "index",
    "config",
    "packed-refs",
    "logs/HEAD",
    "logs/refs/heads/main",
    "logs/refs/stash",
];

pub(super) struct Belongings {
    /// Mode and bytes of each file.
    files: BTreeMap<String, (u32, Vec<u8>)>,
    /// Every ref that is not of a run.
    refs: String,
}

impl Belongings {
    pub(super) fn of(night: &Overnight) -> Self {
        let root = night.world.project.path();
        let mut files = BTreeMap::new();
        collect(&root, "", &mut files);
        for name in GITS_OWN {
            let path = root.join(".git").join(name);
            if path.exists() {
                files.insert(format!(".git/{name}"), content(&path));
            }
        }
        let format = "--format=%(refname) %(objectname)";
        let refs = night.git(&["for-each-ref", format]);
        let is_of_a_run = |line: &&str| {
            line.starts_with("refs/heads/gatewright/") || line.starts_with("refs/gatewright/")
        };
        let theirs = refs.lines().filter(|line| !is_of_a_run(line));
        Self {
            files,
            refs: theirs.collect::<Vec<_>>().join("\n"),
        }
    }

    #[track_caller]
    pub(super) fn assert_same(&self, night: &Overnight, when: &str) {
        let now = Self::of(night);
        let names = |it: &Self| it.files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&now), names(self), "{when}");
        for (name, content) in &self.files {
            let found = &now.files[name];
            assert_eq!(found.0, content.0, "the mode of {name} {when}");
            assert!(found.1 == content.1, "the bytes of {name} differ {when}");
        }
        assert_eq!(now.refs, self.refs, "{when}");
    }
}

fn collect(folder: &Path, beginning: &str, files: &mut BTreeMap<String, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{beginning}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap() {
            _ if name == ".git" => {}
            kind if kind.is_dir() => collect(&entry.path(), &format!("{name}/"), files),
            _ => {
                files.insert(name, content(&entry.path()));
            }
        }
    }
}

fn content(path: &Path) -> (u32, Vec<u8>) {
    let mode = fs::metadata(path).unwrap().permissions().mode();
    (mode, fs::read(path).unwrap())
}
