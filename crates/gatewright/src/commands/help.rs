//! `gatewright help`: the help of the program or of a command, or a page of the documentation.

use std::fmt::Write as _;

use runtime::failure::Failure;

use crate::exit::Exit;
use crate::help_topics::TOPICS;
use crate::output::Output;

/// Print the help of a command, or a page of the documentation
#[derive(Debug, clap::Args)]
pub(crate) struct Help {
    /// A command, or a topic [default: the help of the program, and the list of topics]
    #[arg(value_name = "COMMAND|TOPIC")]
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

/// The help of the command with this name, then the page with this name.
fn page(mut program: clap::Command, word: &str) -> Result<String, Failure> {
    program.build();
    let command = program.find_subcommand_mut(word);
    let help = command.map(|command| command.render_long_help().to_string());
    let topic = TOPICS.iter().find(|topic| topic.name == word);
    let parts: Vec<String> = help
        .into_iter()
        .chain(topic.map(|topic| topic.page.to_owned()))
        .collect();
    if parts.is_empty() {
        Err(
            Failure::usage(format!("no command or topic is named '{word}'"))
                .hint("`gatewright help` lists them"),
        )
    } else {
        Ok(parts.join("\n"))
    }
}
