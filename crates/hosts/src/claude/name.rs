//! Agents' names as Claude Code reads them, and the step that a call names.

use engine::{AgentName, LONGEST, StepId};

/// What the host takes when a call names no agent.
pub const UNNAMED: &str = "general-purpose";

/// The agent that a call means.
///
/// The host folds names by NFKC, case, whitespace, dashes and underscores; `AgentName::is_same` does
/// the last four. Of NFKC we do the full-width forms. Whatever else is not ASCII is no name here: it
/// is told back and refused, which is the safe side of a name that the host might still resolve.
pub fn agent(raw: &str) -> Result<AgentName, String> {
    AgentName::parse(bare(&plain(raw))).map_err(|_| raw.to_owned())
}

/// The host puts a plugin's name before what it brings. Ours brings the agents and commands of
/// pipelines, which know them by their own names.
pub fn bare(name: &str) -> &str {
    name.strip_prefix(OUR_PLUGIN).unwrap_or(name)
}

const OUR_PLUGIN: &str = "gatewright:";

/// The agent that works, as the host tells. A worker whose name we cannot write down must not pass for
/// the session itself, so it gets one that no pipeline uses.
pub fn worker(raw: &str) -> Option<AgentName> {
    let strange = || AgentName::parse(&format!("unnamed:{}", writable(raw))).ok();
    agent(raw).ok().or_else(strange)
}

fn plain(raw: &str) -> String {
    let plain = raw.chars().map(narrow);
    let plain: String = plain
        .map(|c| if c.is_whitespace() { '-' } else { c })
        .collect();
    plain.trim_matches(['-', '_']).to_owned()
}

/// The full-width forms of ASCII lie in the same order.
fn narrow(c: char) -> char {
    match u32::from(c) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

fn writable(raw: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '.' };
    raw.chars().map(kept).take(LONGEST / 2).collect()
}

/// The step that an Agent call names: a line `step: ID`, or `[step ID]`, in its description or in the
/// first line of its prompt. Two different ones name none.
pub fn step(description: &str, prompt: &str) -> Option<StepId> {
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

/// What follows the word `step`, in any case, at the beginning of a text.
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
    fn what_our_plugin_brings_is_known_by_its_own_name() {
        for (raw, expected) in [
            ("gatewright:writer", "writer"),
            ("Gatewright:writer", "Gatewright:writer"),
            ("other:writer", "other:writer"),
        ] {
            assert_eq!(
                agent(raw).map(|name| name.to_string()),
                Ok(expected.to_owned())
            );
        }
    }

    #[test]
    fn a_name_is_read_as_the_host_reads_it() {
        let check = |raw: &str, name: Result<&str, &str>| {
            let read = agent(raw);
            let read = read.as_ref().map(AgentName::as_str).map_err(String::as_str);
            assert_eq!(read, name, "{raw:?}");
        };
        check("alpha-writer", Ok("alpha-writer"));
        check("Alpha Writer", Ok("Alpha-Writer"));
        check("Alpha\u{a0}Writer", Ok("Alpha-Writer"));
        check(" alpha_writer\n", Ok("alpha_writer"));
        check("--alpha", Ok("alpha"));
        check("ａｌｐｈａ－ｗｒｉｔｅｒ", Ok("alpha-writer"));
        check("plugin:alpha", Ok("plugin:alpha"));
        check("", Err(""));
        check("  ", Err("  "));
        check("élève", Err("élève"));
        check("𝐚lpha", Err("𝐚lpha"));
        check("alpha/../beta", Err("alpha/../beta"));
        check("alpha\u{200b}", Err("alpha\u{200b}"));
        let long = "a".repeat(65);
        check(&long, Err(&long));
    }

    #[test]
    fn the_read_name_is_the_same_as_the_defined_one() {
        for raw in [
            "Alpha Writer",
            "ALPHA_WRITER",
            "alphawriter",
            "ａlpha writer",
            "-Alpha--Writer-",
        ] {
            let name = agent(raw).unwrap();
            assert!(name.is_same("alpha-writer"), "{raw} became {name}");
        }
    }

    #[test]
    fn a_worker_always_has_a_name() {
        let check = |raw: &str, name: &str| {
            let worker = worker(raw).unwrap();
            assert_eq!(worker.as_str(), name, "{raw:?}");
        };
        check("alpha-writer", "alpha-writer");
        check("élève", "unnamed:.l.ve");
        check("", "unnamed:");
        check(&"é".repeat(80), &format!("unnamed:{}", ".".repeat(32)));
    }

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
