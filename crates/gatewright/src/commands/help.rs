//! `gatewright help`: the help of the program or of a command, or a page of the documentation.

use std::fmt::Write as _;

use runtime::failure::Failure;
use web::HelpTopic;

use crate::exit::Exit;
use crate::output::Output;

/// Print the help of a command, or a page of the documentation
#[derive(Debug, clap::Args)]
pub(crate) struct Help {
    /// A command, or a topic [default: the help of the program, and the list of topics]
    #[arg(value_name = "COMMAND|TOPIC")]
    word: Option<String>,
}

/// The pages of the documentation. `serve` shows them, too.
pub(crate) const TOPICS: [HelpTopic; 17] = [
    HelpTopic {
        name: "readme",
        about: "What Gatewright does, with two tours",
        page: include_str!("../../../../README.md"),
    },
    HelpTopic {
        name: "guarded",
        about: "Guarded mode: a session of Claude Code, step by step",
        page: include_str!("../../../../docs/guarded.md"),
    },
    HelpTopic {
        name: "headless",
        about: "Headless mode: run, resume, queue, budgets",
        page: include_str!("../../../../docs/headless.md"),
    },
    HelpTopic {
        name: "pipelines",
        about: "The built-in pipelines",
        page: include_str!("../../../../docs/pipelines.md"),
    },
    HelpTopic {
        name: "language",
        about: "The language of pipeline files",
        page: include_str!("../../../../docs/language.md"),
    },
    HelpTopic {
        name: "scenarios",
        about: "Scenarios: unit tests of a pipeline",
        page: include_str!("../../../../docs/scenarios.md"),
    },
    HelpTopic {
        name: "people",
        about: "Which commands are for people only",
        page: include_str!("../../../../docs/people.md"),
    },
    HelpTopic {
        name: "install",
        about: "What `init` writes and what `uninit` restores",
        page: include_str!("../../../../docs/install.md"),
    },
    HelpTopic {
        name: "doctor",
        about: "What `doctor` checks",
        page: include_str!("../../../../docs/doctor.md"),
    },
    HelpTopic {
        name: "prove-guards",
        about: "What `prove-guards` tests",
        page: include_str!("../../../../docs/prove-guards.md"),
    },
    HelpTopic {
        name: "step",
        about: "Codex, Gemini CLI and scripts in a guarded run",
        page: include_str!("../../../../docs/step.md"),
    },
    HelpTopic {
        name: "serve",
        about: "The page in your browser",
        page: include_str!("../../../../docs/serve.md"),
    },
    HelpTopic {
        name: "hooks",
        about: "The contract of the hooks",
        page: include_str!("../../../../docs/hooks.md"),
    },
    HelpTopic {
        name: "metrics",
        about: "The figures of `metrics`",
        page: include_str!("../../../../docs/metrics.md"),
    },
    HelpTopic {
        name: "reliability",
        about: "How crashes are tested, and the results",
        page: include_str!("../../../../docs/reliability.md"),
    },
    HelpTopic {
        name: "rules",
        about: "All rules with their codes",
        page: include_str!("../../../../docs/rules.md"),
    },
    HelpTopic {
        name: "security",
        about: "What the guard stops and what it does not",
        page: include_str!("../../../../SECURITY.md"),
    },
];

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
    for topic in TOPICS {
        let _ = writeln!(text, "  {:<12}  {}", topic.name, topic.about);
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
