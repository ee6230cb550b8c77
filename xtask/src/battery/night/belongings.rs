//! All that is the person's: files, index, HEAD, settings, branches, tags and stash.

use std::collections::BTreeMap;
use std::fs;

use super::scene::Scene;
use crate::battery::picture;
use crate::failure::Failure;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Belongings(BTreeMap<String, Vec<u8>>);

impl Belongings {
    pub(super) fn of(scene: &Scene) -> Result<Self, Failure> {
        let files = picture::tree(&scene.stand)?.into_iter();
        let mut all: BTreeMap<String, Vec<u8>> = files
            .map(|(name, content)| (name, content.into_bytes()))
            .collect();
        let git = scene.stand.project().join(".git");
        for name in GITS_OWN {
            let content = fs::read(git.join(name)).unwrap_or_default();
            all.insert(format!(".git/{name}"), content);
        }
        let refs = scene.git("for-each-ref --format=%(refname)|%(objectname)")?;
        let is_of_a_run = |line: &&str| {
            line.starts_with("refs/heads/gatewright/") || line.starts_with("refs/gatewright/")
        };
        let theirs = refs.lines().filter(|line| !is_of_a_run(line));
        let theirs = theirs.filter_map(|line| line.split_once('|'));
        all.extend(theirs.map(|(name, value)| (name.to_owned(), value.into())));
        Ok(Self(all))
    }

    /// The names of what differs.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let names = self.0.keys().chain(other.0.keys());
        let mut names: Vec<String> = names
            .filter(|name| self.0.get(*name) != other.0.get(*name))
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }
}
