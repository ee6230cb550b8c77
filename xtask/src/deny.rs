//! The step `deny` of `cargo xtask test`: the licences, names, versions and sources of all packages,
//! as `deny.toml` allows them (`cargo deny check` reads the same file), and the advisories about them.

mod advisories;
mod licence;
mod version;

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use toml::Table;

use self::advisories::Snapshot;
use crate::failure::Failure;
use crate::output::say;
use crate::workspace::{cargo, read, root};

/// A package of the lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Package {
    name: String,
    version: String,
    licence: Option<String>,
    /// Where it comes from; nothing for our own.
    source: Option<String>,
}

/// What `deny.toml` says, as far as it is checked here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Policy {
    licences: Vec<String>,
    banned: Vec<String>,
    /// `name@version` of packages that may be there beside another version.
    skipped: Vec<String>,
    registries: Vec<String>,
    /// The ids of advisories that may concern a locked version.
    ignored: Vec<String>,
}

pub(crate) fn run() -> Result<(), Failure> {
    let policy = Policy::parse(&text_of("deny.toml")?)?;
    let snapshot = Snapshot::parse(&text_of(advisories::FILE)?)?;
    let packages = packages(&read(cargo().args(METADATA))?)?;
    let mut faults = faults(&policy, &packages);
    faults.extend(snapshot.faults(&packages, &policy.ignored));
    faults
        .iter()
        .for_each(|fault| say(format_args!("  {fault}")));
    say(format_args!(
        "deny: {} packages, {} faults (licences, bans, sources, advisories)",
        packages.len(),
        faults.len()
    ));
    say(format_args!(
        "deny: {} is of {} and has the advisories until {}; `cargo deny check advisories` fetches newer ones",
        advisories::FILE,
        snapshot.taken,
        snapshot.newest
    ));
    match faults.len() {
        0 => Ok(()),
        count => Err(Failure::no(format!(
            "deny.toml and {} do not allow {count} things",
            advisories::FILE
        ))),
    }
}

fn text_of(file: &str) -> Result<String, Failure> {
    let path = root().join(file);
    fs::read_to_string(&path).map_err(Failure::file("read", &path))
}

const REGISTRIES: &str = "allow-registry";

const IGNORED: &str = "ignore";

/// What cargo-deny allows where nothing else is said.
const DEFAULT_REGISTRY: &str = concat!("https://github.com/rust-lang/crates", ".io-index");

/// All packages of the lock file, whatever system they are for.
const METADATA: [&str; 3] = ["metadata", "--format-version=1", "--locked"];

impl Policy {
    fn parse(text: &str) -> Result<Self, Failure> {
        let table: Table = text
            .parse()
            .map_err(|problem| Failure::no(format!("deny.toml: {problem}")))?;
        let strict = |section: &str, key: &str| {
            let word = table.get(section).and_then(|it| it.get(key));
            match word.and_then(toml::Value::as_str) {
                Some("deny") => Ok(()),
                _ => Err(Failure::no(format!(
                    "deny.toml: {section}.{key} is not \"deny\""
                ))),
            }
        };
        strict("bans", "multiple-versions")?;
        strict("sources", "unknown-registry")?;
        strict("sources", "unknown-git")?;
        Ok(Self {
            licences: list(&table, "licenses", "allow")?,
            banned: list(&table, "bans", "deny")?,
            skipped: list(&table, "bans", "skip")?,
            registries: match table.get("sources").and_then(|it| it.get(REGISTRIES)) {
                Some(_) => list(&table, "sources", REGISTRIES)?,
                None => vec![DEFAULT_REGISTRY.to_owned()],
            },
            ignored: match table.get("advisories").and_then(|it| it.get(IGNORED)) {
                Some(_) => list(&table, "advisories", IGNORED)?,
                None => Vec::new(),
            },
        })
    }
}

/// A list of texts, or of tables with a `crate` or an `id`.
fn list(table: &Table, section: &str, key: &str) -> Result<Vec<String>, Failure> {
    let wrong = || Failure::no(format!("deny.toml: {section}.{key} is not a list of names"));
    let list = table.get(section).and_then(|it| it.get(key));
    let items = list.and_then(toml::Value::as_array).ok_or_else(wrong)?;
    let name = |item: &toml::Value| {
        let key = |key| item.get(key).and_then(toml::Value::as_str);
        let named = item.as_str().or_else(|| key("crate").or_else(|| key("id")));
        named.map(str::to_owned).ok_or_else(wrong)
    };
    items.iter().map(name).collect()
}

fn packages(metadata: &str) -> Result<Vec<Package>, Failure> {
    let metadata: Value = serde_json::from_str(metadata)
        .map_err(|problem| Failure::no(format!("cargo metadata: {problem}")))?;
    let listed = metadata["packages"].as_array().into_iter().flatten();
    let packages: Vec<Package> = listed
        .map(|package| {
            let text = |key: &str| package[key].as_str().map(str::to_owned);
            Package {
                name: text("name").unwrap_or_default(),
                version: text("version").unwrap_or_default(),
                licence: text("license"),
                source: text("source"),
            }
        })
        .collect();
    if packages.is_empty() {
        return Err(Failure::no("cargo metadata names no package"));
    }
    Ok(packages)
}

/// Everything that the policy does not allow, in one line each.
fn faults(policy: &Policy, packages: &[Package]) -> Vec<String> {
    let mut faults: Vec<String> = packages.iter().flat_map(|it| of_one(policy, it)).collect();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Package { name, version, .. } in packages {
        if !policy.skipped.contains(&format!("{name}@{version}")) {
            versions.entry(name).or_default().push(version);
        }
    }
    let several = versions.iter().filter(|(_, versions)| versions.len() > 1);
    faults.extend(
        several
            .map(|(name, versions)| format!("{name}: several versions ({})", versions.join(", "))),
    );
    let is_there = |skipped: &&String| {
        let mut names = packages.iter();
        names.any(|it| format!("{}@{}", it.name, it.version) == **skipped)
    };
    let stale = policy.skipped.iter().filter(|it| !is_there(it));
    faults.extend(stale.map(|it| format!("{it}: skipped, and not there any more")));
    faults
}

fn of_one(policy: &Policy, package: &Package) -> Vec<String> {
    let Package {
        name,
        version,
        licence,
        source,
    } = package;
    let mut faults = Vec::new();
    let allowed = match licence {
        Some(licence) => licence::is_allowed(licence, &policy.licences),
        None => false,
    };
    if !allowed {
        let licence = licence.as_deref().unwrap_or("no licence");
        faults.push(format!("{name} {version}: licence {licence}"));
    }
    if policy.banned.contains(name) {
        faults.push(format!("{name} {version}: banned"));
    }
    let is_known = |source: &String| {
        let registry = source.strip_prefix("registry+");
        registry.is_some_and(|registry| policy.registries.iter().any(|it| it == registry))
    };
    if let Some(source) = source.as_ref().filter(|source| !is_known(source)) {
        faults.push(format!("{name} {version}: source {source}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"
[licenses]
allow = ["MIT"]
[bans]
multiple-versions = "deny"
deny = [{ crate = "bad" }]
skip = [{ crate = "old@1.0.0", reason = "x" }]
[sources]
unknown-registry = "deny"
unknown-git = "deny"
allow-registry = ["https://registry"]
"#;

    fn package(name: &str, version: &str, licence: &str, source: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: Some(licence.to_owned()).filter(|licence| !licence.is_empty()),
            source: Some(source.to_owned()).filter(|source| !source.is_empty()),
        }
    }

    fn found(packages: &[Package]) -> Vec<String> {
        let old = package("old", "1.0.0", "MIT", "registry+https://registry");
        let packages = [&[old], packages].concat();
        faults(&Policy::parse(POLICY).unwrap(), &packages)
    }

    #[test]
    fn what_is_allowed_passes() {
        let known = "registry+https://registry";
        let packages = [
            package("ours", "0.1.0", "MIT", ""),
            package("theirs", "1.0.0", "MIT OR GPL-3.0", known),
            package("old", "2.0.0", "MIT", known),
        ];
        assert_eq!(found(&packages), [""; 0]);
    }

    #[test]
    fn each_thing_that_is_not_allowed_is_found() {
        let known = "registry+https://registry";
        for (package, fault) in [
            (package("a", "1", "GPL-3.0", known), "a 1: licence GPL-3.0"),
            (package("a", "1", "", known), "a 1: licence no licence"),
            (package("bad", "1", "MIT", known), "bad 1: banned"),
            (
                package("a", "1", "MIT", "git+https://registry"),
                "a 1: source git+https://registry",
            ),
            (
                package("a", "1", "MIT", "registry+https://other"),
                "a 1: source registry+https://other",
            ),
        ] {
            assert_eq!(found(&[package]), [fault]);
        }
        let two = [
            package("a", "1", "MIT", known),
            package("a", "2", "MIT", known),
        ];
        assert_eq!(found(&two), ["a: several versions (1, 2)"]);
        let gone = faults(&Policy::parse(POLICY).unwrap(), &[]);
        assert_eq!(gone, ["old@1.0.0: skipped, and not there any more"]);
    }

    #[test]
    fn an_advisory_is_ignored_by_its_id() {
        let ignore = r#"
[advisories]
ignore = ["RUSTSEC-2026-0001", { id = "RUSTSEC-2026-0002", reason = "x" }]
"#;
        let policy = Policy::parse(&format!("{POLICY}{ignore}")).unwrap();
        assert_eq!(policy.ignored, ["RUSTSEC-2026-0001", "RUSTSEC-2026-0002"]);
        assert_eq!(Policy::parse(POLICY).unwrap().ignored, [""; 0]);
    }

    #[test]
    fn a_policy_that_is_milder_is_refused() {
        for (from, to) in [
            (
                "multiple-versions = \"deny\"",
                "multiple-versions = \"warn\"",
            ),
            ("unknown-git = \"deny\"", ""),
            ("allow = [\"MIT\"]", "allow = \"MIT\""),
            ("[licenses]", "[licenses"),
        ] {
            let text = POLICY.replace(from, to);
            assert_ne!(text, POLICY);
            assert!(Policy::parse(&text).is_err(), "{to}");
        }
    }
}
