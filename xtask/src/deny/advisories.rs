//! `advisories.toml`: what RustSec has published about the packages of the lock file, as facts.

use toml::{Table, Value};

use super::Package;
use super::version::{Range, Version};
use crate::failure::Failure;

pub(super) const FILE: &str = "advisories.toml";

/// A copy of the facts, taken on one day.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) taken: String,
    /// The date of the newest advisory that the copied database had.
    pub(super) newest: String,
    /// Every package that somebody looked up.
    packages: Vec<String>,
    advisories: Vec<Advisory>,
}

#[derive(Debug, PartialEq, Eq)]
struct Advisory {
    id: String,
    package: String,
    /// `vulnerability`, or why it was published nevertheless.
    kind: String,
    /// The versions that it does not concern: patched, or never affected.
    free: Vec<Range>,
}

impl Snapshot {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let table: Table = text.parse().map_err(wrong)?;
        let snapshot = table
            .get("snapshot")
            .ok_or_else(|| wrong("it has no [snapshot]"))?;
        let packages = texts(snapshot, "packages")?;
        let listed = table.get("advisory").and_then(Value::as_array);
        let advisories: Vec<_> = listed
            .into_iter()
            .flatten()
            .map(Advisory::parse)
            .collect::<Result<_, _>>()?;
        let stray = advisories.iter().find(|it| !packages.contains(&it.package));
        if let Some(Advisory { id, package, .. }) = stray {
            return Err(wrong(format!(
                "{id} is about {package}, which is not in snapshot.packages"
            )));
        }
        Ok(Self {
            taken: word(snapshot, "taken")?,
            newest: word(snapshot, "newest")?,
            packages,
            advisories,
        })
    }

    /// What is wrong with the locked packages, in one line each. `ignored` has the ids that `deny.toml` lets pass.
    pub(super) fn faults(&self, packages: &[Package], ignored: &[String]) -> Vec<String> {
        let foreign = || packages.iter().filter(|package| package.source.is_some());
        let unknown = foreign().filter(|package| !self.packages.contains(&package.name));
        let mut faults: Vec<_> = unknown
            .map(|Package { name, version, .. }| {
                format!("{name} {version}: not looked up in {FILE}")
            })
            .collect();
        let concerned: Vec<_> = foreign()
            .flat_map(|package| {
                let advisories = self.advisories.iter();
                advisories
                    .filter(|advisory| advisory.concerns(package))
                    .map(move |advisory| (package, advisory))
            })
            .collect();
        for (Package { name, version, .. }, Advisory { id, kind, .. }) in &concerned {
            if !ignored.contains(id) {
                faults.push(format!("{name} {version}: {id} ({kind})"));
            }
        }
        let is_needed = |id: &&String| concerned.iter().any(|(_, advisory)| advisory.id == **id);
        let stale = ignored.iter().filter(|id| !is_needed(id));
        faults.extend(stale.map(|id| format!("{id}: ignored, and concerns nothing any more")));
        faults
    }
}

impl Advisory {
    fn parse(value: &Value) -> Result<Self, Failure> {
        let id = word(value, "id")?;
        let unaffected = match value.get("unaffected") {
            Some(_) => texts(value, "unaffected")?,
            None => Vec::new(),
        };
        let ranges = texts(value, "patched")?.into_iter().chain(unaffected);
        let free = ranges
            .map(|text| {
                Range::parse(&text)
                    .ok_or_else(|| wrong(format!("{id}: {text:?} is not a range of versions")))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            package: word(value, "package")?,
            kind: word(value, "kind")?,
            id,
            free,
        })
    }

    /// A version that cannot be read is concerned.
    fn concerns(&self, package: &Package) -> bool {
        let is_free =
            |version| -> bool { self.free.iter().any(|range: &Range| range.has(version)) };
        self.package == package.name && !Version::parse(&package.version).is_some_and(is_free)
    }
}

fn word(value: &Value, key: &str) -> Result<String, Failure> {
    let text = value.get(key).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| wrong(format!("`{key}` is not a text")))
}

fn texts(value: &Value, key: &str) -> Result<Vec<String>, Failure> {
    let wrong = || wrong(format!("`{key}` is not a list of texts"));
    let list = value.get(key).and_then(Value::as_array).ok_or_else(wrong)?;
    list.iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong))
        .collect()
}

fn wrong(problem: impl std::fmt::Display) -> Failure {
    Failure::no(format!("{FILE}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str = r#"
[snapshot]
taken = "2026-02-01"
newest = "2026-01-01"
packages = ["sound", "patched"]
[[advisory]]
id = "RUSTSEC-2026-0001"
package = "patched"
kind = "unsound"
patched = [">= 1.2.0", "^0.9.4"]
unaffected = ["< 0.5.0"]
[[advisory]]
id = "RUSTSEC-2026-0002"
package = "patched"
kind = "unmaintained"
patched = []
unaffected = ["< 3.0.0"]
"#;

    fn package(name: &str, version: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: None,
            source: Some("registry+https://registry".to_owned()),
        }
    }

    fn found(packages: &[Package], ignored: &[&str]) -> Vec<String> {
        let ignored: Vec<_> = ignored.iter().map(|id| (*id).to_owned()).collect();
        Snapshot::parse(SNAPSHOT)
            .unwrap()
            .faults(packages, &ignored)
    }

    #[test]
    fn versions_that_no_advisory_concerns_pass() {
        let ours = Package {
            source: None,
            ..package("ours", "0.1.0")
        };
        assert_eq!(found(&[ours, package("sound", "1.0.0")], &[]), [""; 0]);
        for version in ["1.2.0", "2.0.0+build", "0.9.5", "0.4.9"] {
            assert_eq!(found(&[package("patched", version)], &[]), [""; 0]);
        }
    }

    #[test]
    fn a_version_that_an_advisory_concerns_is_found() {
        for version in ["1.1.9", "1.2.0-beta", "0.5.0", "0.9.3", "not a version"] {
            let faults = found(&[package("patched", version)], &[]);
            let fault = format!("patched {version}: RUSTSEC-2026-0001 (unsound)");
            assert!(faults.contains(&fault), "{faults:?}");
        }
        let forsaken = found(&[package("patched", "3.0.0")], &[]);
        assert_eq!(
            forsaken,
            ["patched 3.0.0: RUSTSEC-2026-0002 (unmaintained)"]
        );
    }

    #[test]
    fn a_package_that_nobody_looked_up_is_found() {
        let faults = found(&[package("new", "1.0.0")], &[]);
        assert_eq!(faults, ["new 1.0.0: not looked up in advisories.toml"]);
    }

    #[test]
    fn an_ignored_advisory_passes_as_long_as_it_concerns_something() {
        let ignored = ["RUSTSEC-2026-0002"];
        assert_eq!(found(&[package("patched", "3.0.0")], &ignored), [""; 0]);
        assert_eq!(
            found(&[package("patched", "2.0.0")], &ignored),
            ["RUSTSEC-2026-0002: ignored, and concerns nothing any more"]
        );
    }

    #[test]
    fn a_snapshot_that_is_not_whole_is_refused() {
        for (from, to) in [
            ("[snapshot]", "[other]"),
            ("newest = \"2026-01-01\"", ""),
            ("\"patched\"]", "]"),
            ("\">= 1.2.0\"", "\"at least 1.2\""),
            ("patched = []", ""),
            ("kind = \"unsound\"", ""),
        ] {
            let text = SNAPSHOT.replacen(from, to, 1);
            assert_ne!(text, SNAPSHOT);
            assert!(Snapshot::parse(&text).is_err(), "{to}");
        }
    }
}
