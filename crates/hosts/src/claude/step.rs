//! The step that an Agent call names.

use engine::StepId;

/// The step that an Agent call names: a line `step: ID`, or `[step ID]`, in its description or in the
/// first line of its prompt. `None` if it names two different steps.
pub(super) fn step(description: &str, prompt: &str) -> Option<StepId> {
    let first = prompt.lines().find(|line| !line.trim().is_empty());
    let mut named = description.lines().chain(first).filter_map(step_of_line);
    let step = named.next()?;
    named.all(|other| other == step).then_some(step)
}

fn step_of_line(line: &str) -> Option<StepId> {
    let line = line.trim();
    let labelled = after_step(line).and_then(|rest| rest.trim_start().strip_prefix(':'));
    let word = labelled.or_else(|| bracketed(line))?;
    let word = word.split_whitespace().next()?;
    StepId::parse(word.trim_end_matches(['.', ',', ';', ':'])).ok()
}

/// The text after the word `step`, in any case.
fn after_step(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked(4)?;
    word.eq_ignore_ascii_case("step").then_some(rest)
}

fn bracketed(line: &str) -> Option<&str> {
    let mut openings = line.match_indices('[');
    openings.find_map(|(at, _)| {
        let (inside, _) = line.get(at + 1..)?.split_once(']')?;
        after_step(inside.trim_start())?.strip_prefix([' ', ':'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_its_step() {
        let check = |description: &str, prompt: &str, named: Option<&str>| {
            let step = step(description, prompt);
            assert_eq!(
                step.as_ref().map(StepId::as_str),
                named,
                "{description:?}, {prompt:?}"
            );
        };
        check("build", "step: parser\nbuild the parser", Some("parser"));
        check(
            "build",
            "\n  Step : parser.two, quickly",
            Some("parser.two"),
        );
        check("step: parser", "build it", Some("parser"));
        check("build\nSTEP: parser", "build it", Some("parser"));
        check("[step parser] build", "build it", Some("parser"));
        check("build [x] [step: parser]", "build it", Some("parser"));
        check("build", "do this [step parser].", Some("parser"));
        check("[step parser]", "step: parser", Some("parser"));
        // Only the first line of a prompt counts: the rest may quote other steps.
        check("build", "build it\nstep: parser", None);
        check("[step parser]", "step: lexer", None);
        check("build", "step parser", None);
        check("build", "steps: parser", None);
        check("build", "stepwise: parser", None);
        check("build", "[stepwise parser]", None);
        check("build", "step: ../parser", None);
        check("build", "step:", None);
        check("", "step 3 of 4 [step parser]", Some("parser"));
        check("", "", None);
        check("sté: é", "é", None);
    }
}
