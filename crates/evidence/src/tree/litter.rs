//! Litter: untracked files that tools leave behind, to which no gate is bound.
//!
//! A file that git tracks is always a source, and so is a file that a check runs. Names that only tools
//! use are litter everywhere. A word that people use, too, is litter only where a tool puts it, and
//! only if git tracks nothing below it.

use engine::{Commands, PathGlob, Work};

use super::listing::{Listed, Standing};
use crate::look_context::LookContext;

/// Folders whose name no source has.
const FOLDERS: [&str; 19] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".ipynb_checkpoints",
    "htmlcov",
    ".nyc_output",
    ".parcel-cache",
    ".turbo",
    ".gradle",
    ".ansible",
    ".phpunit.cache",
    ".import_linter_cache",
    ".dart_tool",
    ".zig-cache",
    ".scannerwork",
];

/// Folders inside of another that has sources, too.
const INNER_FOLDERS: [[&str; 2]; 3] = [
    ["node_modules", ".cache"],
    ["node_modules", ".vite"],
    [".next", "cache"],
];

/// Files whose name no source has.
const FILES: [&str; 11] = [
    "*.pyc",
    "*.pyo",
    ".coverage",
    ".coverage.*",
    ".DS_Store",
    "Thumbs.db",
    ".eslintcache",
    ".stylelintcache",
    ".phpunit.result.cache",
    "*.tsbuildinfo",
    "*.profraw",
];

/// Folders with an ordinary name, at the top of a repository or next to one of these files.
const BUILD_FOLDERS: [(&str, &[&str]); 2] = [
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    ("coverage", &["package.json", "composer.json", "Gemfile"]),
];

/// What is litter among the files of a tree.
pub(super) struct Litter<'a> {
    tracked: Vec<&'a [u8]>,
    globs: &'a [PathGlob],
}

impl<'a> Litter<'a> {
    /// Invariant: the files are sorted.
    pub(super) fn of(files: &'a [Listed], globs: &'a [PathGlob]) -> Self {
        let tracked = files
            .iter()
            .filter(|file| file.standing == Standing::Tracked);
        Self {
            tracked: tracked.map(|file| file.path.as_slice()).collect(),
            globs,
        }
    }

    pub(super) fn covers(&self, file: &Listed) -> bool {
        let build_folder = match file.standing {
            Standing::Tracked | Standing::Named | Standing::Former => return false,
            Standing::Untracked { repository } => self.is_built(&file.path, repository),
            Standing::Unknown => false,
        };
        build_folder || is_cache(&file.path) || self.is_declared(&file.path)
    }

    fn is_declared(&self, path: &[u8]) -> bool {
        let path = std::str::from_utf8(path);
        path.is_ok_and(|path| self.globs.iter().any(|glob| glob.covers(path)))
    }

    /// Is it below a build folder that has no source?
    fn is_built(&self, path: &[u8], repository: usize) -> bool {
        let slashes = (0..path.len()).filter(|at| path[*at] == b'/' && *at > repository);
        slashes.into_iter().any(|end| {
            let (above, name) = split(&path[..end]);
            let known = BUILD_FOLDERS
                .iter()
                .find(|(known, _)| known.as_bytes() == name);
            known.is_some_and(|(_, beside)| {
                let is_theirs = above.len() == repository
                    || beside
                        .iter()
                        .any(|file| self.tracks(&[above, file.as_bytes()].concat()));
                is_theirs && !self.tracks_below(&path[..=end])
            })
        })
    }

    fn tracks(&self, path: &[u8]) -> bool {
        self.tracked.binary_search(&path).is_ok()
    }

    fn tracks_below(&self, folder: &[u8]) -> bool {
        let first = self.tracked.partition_point(|path| *path < folder);
        let first = self.tracked.get(first);
        first.is_some_and(|path| path.starts_with(folder))
    }
}

/// Is it a cache or a report by its name alone?
pub fn is_cache(path: &[u8]) -> bool {
    let Ok(path) = std::str::from_utf8(path) else {
        return false;
    };
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folders: Vec<&str> = folders.split('/').collect();
    folders.iter().any(|folder| FOLDERS.contains(folder))
        || folders
            .windows(2)
            .any(|pair| INNER_FOLDERS.iter().any(|inner| inner == pair))
        || FILES.iter().any(|file| PathGlob::new(file).covers(name))
}

/// The files that the commands of checks name: what they run is a source, wherever it lies.
pub(super) fn run_by_checks(looking: &LookContext<'_>) -> Vec<Listed> {
    let stages = looking.pipeline.definition().stages.iter();
    let fixed = stages.filter_map(|stage| match &stage.work {
        Work::Check(check) => match &check.commands {
            Commands::Fixed(commands) => Some(commands),
            Commands::Approved(_) => None,
        },
        _ => None,
    });
    let commands = fixed.flatten().chain(&looking.run.approved_commands);
    let words = commands
        .flatten()
        .map(|word| word.strip_prefix("./").unwrap_or(word));
    let root = &looking.project.root;
    let is_file = |word: &&str| {
        let is_inside = word.split('/').all(|part| !matches!(part, "" | "." | ".."));
        is_inside && is_cache_or_built(word) && root.join(word).is_file()
    };
    let listed = |word: &str| Listed {
        path: word.as_bytes().to_vec(),
        standing: Standing::Named,
    };
    words.filter(is_file).map(listed).collect()
}

/// Could this path be litter? Other files are listed anyway.
fn is_cache_or_built(path: &str) -> bool {
    let built = |part: &str| BUILD_FOLDERS.iter().any(|(name, _)| *name == part);
    is_cache(path.as_bytes()) || path.split('/').any(built)
}

/// The folder with its slash, and the name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    path.split_at(slash.map_or(0, |slash| slash + 1))
}
