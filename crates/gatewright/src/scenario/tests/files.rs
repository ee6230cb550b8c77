//! Our own scenario files and the examples of the documentation are played.

use std::fs;
use std::path::{Path, PathBuf};

use language::{SourceFile, Sources};

use super::super::pipeline::Beside;
use super::super::read::File;
use super::super::report::Report;

/// A folder of the repository.
pub struct OnDisk(pub PathBuf);

impl Beside for OnDisk {
    fn file(&self, path: &str) -> Result<Sources, String> {
        let bytes = fs::read(self.0.join(path)).map_err(|cause| cause.to_string())?;
        Ok(self.with_files(path, bytes))
    }

    fn text(&self, definition: &[u8]) -> Result<Sources, String> {
        Ok(self.with_files("a block", definition.to_vec()))
    }
}

impl OnDisk {
    fn with_files(&self, name: &str, bytes: Vec<u8>) -> Sources {
        let main = SourceFile {
            name: name.to_owned(),
            bytes,
        };
        let wanted = language::references(&main).into_iter();
        let files = wanted.map(|path| (path.clone(), fs::read(self.0.join(path)).unwrap()));
        Sources {
            files: files.collect(),
            main,
        }
    }
}

pub fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

fn check(path: &Path) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let file = File {
        name,
        text: fs::read_to_string(path).unwrap().into(),
    };
    let mut report = Report::default();
    report.add(&file, &OnDisk(path.parent().unwrap().to_owned()));
    let paint = views::Paint::Plain;
    assert!(
        report.is_good(),
        "{}{}",
        report.mistakes(paint),
        report.text(paint)
    );
    assert!(report.passed() > 0, "{} has no scenario", path.display());
}

#[test]
fn every_scenario_of_ours_passes() {
    let files = fs::read_dir(scenarios())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files.iter().for_each(|path| check(path));
}

#[test]
fn every_built_in_pipeline_has_scenarios() {
    for builtin in language::builtin::all() {
        let path = scenarios().join(format!("{}.md", builtin.name));
        assert!(path.is_file(), "{}", path.display());
    }
}

#[test]
fn the_examples_of_the_documentation_pass() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md"));
}
