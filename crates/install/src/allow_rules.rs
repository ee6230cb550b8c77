//! The rules that spare a person questions of the host: our own harmless commands, and the files that the
//! workers of a pipeline must leave.

use engine::{Definition, Source};
use hosts::DEFAULT_SESSION_HOST;

/// The rules for this pipeline.
pub(crate) fn of(definition: &Definition) -> Vec<String> {
    let commands = hosts::own_command::READING_COMMANDS.into_iter();
    let commands = commands.map(|command| format!("Bash(gatewright {command}:*)"));
    let files = definition.artifacts.values();
    let files = files.filter_map(|artifact| match &artifact.source {
        Source::File(path) if is_the_hosts(path) => None,
        Source::File(path) => Some(format!("Edit({})", pattern(path))),
        Source::Reply | Source::Answers => None,
    });
    let mut rules: Vec<String> = commands.collect();
    rules.extend(files);
    rules.sort();
    rules.dedup();
    rules
}

/// Is the file below the host's own folder? The host asks about each of these, whatever the rules say; our
/// hook answers it while a run needs the file.
fn is_the_hosts(path: &str) -> bool {
    let below = path.strip_prefix(DEFAULT_SESSION_HOST.places.folder);
    below.is_some_and(|rest| rest.starts_with('/'))
}

/// A path whose placeholders stand for anything: for one name, or, where a whole path is a parameter, for
/// that.
fn pattern(path: &str) -> String {
    let mut pattern = String::new();
    let mut rest = path;
    while let Some((before, behind)) = rest.split_once('{') {
        pattern.push_str(before);
        pattern.push('*');
        rest = behind.split_once('}').map_or("", |(_, behind)| behind);
    }
    pattern + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_stars() {
        for (path, expected) in [
            (".task/plan.json", ".task/plan.json"),
            (
                ".claude/state/phases/{step}.json",
                ".claude/state/phases/*.json",
            ),
            ("{target}.{run}.md", "*.*.md"),
        ] {
            assert_eq!(pattern(path), expected);
        }
    }

    #[test]
    fn every_rule_is_about_us_or_one_file() {
        for builtin in language::builtin::all() {
            let compiled = language::compile(&builtin.sources()).unwrap();
            for rule in of(compiled.pipeline.definition()) {
                let ours = rule.starts_with("Bash(gatewright ") && rule.ends_with(":*)");
                let file = rule.starts_with("Edit(")
                    && !rule.contains("**")
                    && rule.contains('.')
                    && !rule.contains(".claude");
                assert!(ours || file, "{}: {rule}", builtin.name);
            }
        }
    }
}
