//! The code that the implementer of the demo writes, and how it fixes it: by what its prompt says.

/// What is there when the orchestrator is killed.
pub(super) const HALF: &str = "# Prints the file name for a title.\n";

/// What a planner writes that does not wait for its turn.
pub(super) const HASTY: &str = "echo todo\n";

/// What a careful reviewer asks for.
pub(super) const GUARD: &str = r#"[ -n "$1" ] || exit 2"#;

/// The separator that a person chose, from the answers in the prompt.
pub(super) fn answer(prompt: &str) -> Option<String> {
    let (_, answer) = prompt.split_once(r#""answer":""#)?;
    let (answer, _) = answer.split_once('"')?;
    Some(answer.to_owned())
}

/// The path that a stage may not change, from the reason why the last attempt did not count.
pub(super) fn forbidden(prompt: &str) -> Option<&str> {
    let (_, path) = prompt.split_once(" may not change ")?;
    path.split([':', ' ']).next()
}

/// The script that the story in the prompt describes.
pub(super) fn script(prompt: &str) -> String {
    let separator = prompt
        .split_once("a space becomes ")
        .and_then(|(_, rest)| rest.chars().next())
        .unwrap_or('-');
    format!("{HALF}printf '%s' \"$1\" | tr 'A-Z ' 'a-z{separator}'\n")
}

/// The script with the line that the reviewer recommends between backquotes.
pub(super) fn fix_by_finding(script: &str, prompt: &str) -> Option<String> {
    let (_, recommended) = prompt.split_once(r#""recommendation""#)?;
    let line = recommended.split('`').nth(1)?.replace(r#"\""#, "\"");
    let (comment, rest) = script.split_once('\n')?;
    Some(format!("{comment}\n{line}\n{rest}"))
}

/// The script without the characters that the failed check found too many, as the prompt quotes its output.
pub(super) fn fix_by_check(script: &str, prompt: &str) -> Option<String> {
    let mut quoted = prompt
        .lines()
        .filter_map(|line| line.trim().strip_prefix("| "));
    let (wanted, found) = quoted.find_map(|line| {
        let (_, rest) = line.split_once("expected ")?;
        rest.split_once(", got ")
    })?;
    let surplus: String = found.chars().filter(|c| !wanted.contains(*c)).collect();
    let fixed = script.trim_end();
    (!surplus.is_empty()).then(|| format!("{fixed} | tr -d '{surplus}'\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_a_person_reaches_the_script() {
        let prompt = r#"{"answers":[{"id":"space","question":"?","answer":"_"}]}"#;
        assert_eq!(answer(prompt), Some("_".to_owned()));
        assert_eq!(answer("no answers yet"), None);
        assert!(script(r#"["a space becomes _"]"#).contains("'a-z_'"));
    }

    #[test]
    fn what_may_not_be_changed_is_read_from_the_reason() {
        let prompt = "ended with `strayed`: plan_drafting may not change slug.sh: undo the changes";
        assert_eq!(forbidden(prompt), Some("slug.sh"));
        assert_eq!(forbidden("change only `.task/**`"), None);
    }

    #[test]
    fn a_finding_is_fixed_by_what_it_recommends() {
        let prompt = r#""findings":[{"recommendation":"add `[ -n \"$1\" ] || exit 2` first"}]"#;
        let fixed = fix_by_finding("# A comment.\nprintf x\n", prompt);
        let expected = "# A comment.\n[ -n \"$1\" ] || exit 2\nprintf x\n";
        assert_eq!(fixed.as_deref(), Some(expected));
        assert_eq!(fix_by_finding("# A comment.\n", "nothing was found"), None);
    }

    #[test]
    fn a_failed_check_is_fixed_by_what_it_printed() {
        let prompt = "  | 'Hello, World!': expected hello-world, got hello,-world!\n";
        let fixed = fix_by_check("printf x\n", prompt);
        assert_eq!(fixed.as_deref(), Some("printf x | tr -d ',!'\n"));
        assert_eq!(fix_by_check("printf x\n", "nothing failed"), None);
    }
}
