//! `gatewright help`: the help of the program or of a command, or a page of the documentation.

use std::fmt::Write as _;

use runtime::failure::Failure;

use crate::exit::Exit;
use crate::help_topics::TOPICS;
use crate::output::Output;

/// Print the help of a command, or a page of the documentation
#[derive(Debug, clap::Args)]
pub(crate) struct Help {
    /// A command, a topic, or the code of a rule [default: the help of the program, and the list of topics]
    #[arg(value_name = "COMMAND|TOPIC|CODE")]
    word: Option<String>,
}

impl Help {
    pub(crate) fn run(&self, program: clap::Command, output: &mut Output) -> Result<Exit, Failure> {
        let text = match &self.word {
            None => overview(program),
            Some(word) => page(program, word)?,
        };
        output.text(&text)?;
        Ok(Exit::Success)
    }
}

fn overview(mut program: clap::Command) -> String {
    let mut text = program.render_long_help().to_string();
    text.push_str("\nTopics (`gatewright help TOPIC`):\n");
    let mut group = "";
    for topic in TOPICS {
        if topic.group != group {
            group = topic.group;
            let _ = writeln!(text, "  {group}");
        }
        let _ = writeln!(text, "    {:<15}  {}", topic.name, topic.about);
    }
    text
}

/// The help of the command with this name, then the page with this name; or the rule with this code.
fn page(mut program: clap::Command, word: &str) -> Result<String, Failure> {
    program.build();
    let command = program.find_subcommand_mut(word);
    let help = command.map(|command| command.render_long_help().to_string());
    let topic = TOPICS.iter().find(|topic| topic.name == word);
    let parts: Vec<String> = help
        .into_iter()
        .chain(topic.map(|topic| plain(topic.page)))
        .chain(rule(word))
        .collect();
    if parts.is_empty() {
        Err(
            Failure::usage(format!("no command, topic or rule is named '{word}'"))
                .hint("`gatewright help` lists them"),
        )
    } else {
        Ok(parts.join("\n"))
    }
}

/// A page without the words behind its fences, which are for tests.
fn plain(page: &str) -> String {
    let line = |line: &str| match line.strip_prefix("```") {
        Some(fence) => format!("```{}\n", fence.split(' ').next().unwrap_or_default()),
        None => format!("{line}\n"),
    };
    page.lines().map(line).collect()
}

/// The row of the rule with this code, as `GW-R11  only the agents of the current stage may work`.
fn rule(word: &str) -> Option<String> {
    let code = Some(word.to_ascii_uppercase()).filter(|code| code.starts_with("GW-"))?;
    let rows = TOPICS.iter().flat_map(|topic| topic.page.lines());
    let mut cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    cells.find_map(|cells| match cells.as_slice() {
        ["", found, text @ .., ""] if *found == code => {
            Some(format!("{code}  {}\n", text.join("; ")))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_found_by_its_code() {
        for rule in engine::Rule::ALL {
            let code = rule.code();
            let text = super::rule(code).unwrap_or_else(|| panic!("{code}"));
            assert!(text.starts_with(code), "{text}");
        }
        assert!(super::rule("gw-l140").is_some());
        assert_eq!(super::rule("GW-R999"), None);
        assert_eq!(super::rule(""), None);
        assert_eq!(super::rule("code"), None);
    }

    #[test]
    fn a_page_is_shown_without_what_is_for_tests() {
        let page = "a\n```sh because=development\nb\n```\n";
        assert_eq!(plain(page), "a\n```sh\nb\n```\n");
    }
}
