//! Finds artifacts at paths where no worker may write.

use engine::{CheckRule, Definition, Place, Problem, Source};
use evidence::InsidePath;

use crate::project_files::{LOCAL_SETTINGS, PROJECT_FOLDER, SHARED_SETTINGS};

/// The artifacts of a definition at paths that the guard protects.
pub fn problems(definition: &Definition) -> Vec<Problem> {
    let artifacts = definition.artifacts.iter();
    let files = artifacts.filter_map(|(name, artifact)| match &artifact.source {
        Source::File(path) => Some((name, path)),
        Source::Reply | Source::Answers => None,
    });
    let shut = files.filter(|(_, path)| is_shut(path));
    shut.map(|(name, path)| Problem {
        rule: CheckRule::OutOfReach,
        place: Place(vec![
            "artifacts".to_owned(),
            name.to_string(),
            "path".to_owned(),
        ]),
        message: format!("no worker may write {path}: it belongs to the guard"),
        hint: "choose a path outside of it, as `.work/NAME.json`".to_owned(),
    })
    .collect()
}

fn is_shut(path: &str) -> bool {
    InsidePath::parse(path).is_ok_and(|path| {
        let first = path.parts().next();
        first == Some(PROJECT_FOLDER) || [LOCAL_SETTINGS, SHARED_SETTINGS].contains(&path.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_guard_keeps_is_shut() {
        for (path, shut) in [
            (".gatewright/x.json", true),
            ("./.gatewright/{run}/x.json", true),
            (".gatewright", true),
            (".claude/settings.local.json", true),
            (".claude/settings.json", true),
            (".claude/state/x.json", false),
            (".work/x.json", false),
            ("docs/.gatewright/x.json", false),
        ] {
            assert_eq!(is_shut(path), shut, "{path}");
        }
    }
}
