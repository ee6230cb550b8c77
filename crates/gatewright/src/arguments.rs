//! Arguments that several commands share. The doc comments are the help texts.

use runtime::idempotency::LONGEST_KEY;
use store::Key;

use crate::output::Color;

/// What every command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArguments {
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// Which run a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct OfRun {
    /// The run's id, or its first characters [default: the only active run of this project]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

/// What every command that writes takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Writing {
    /// Idempotency key: a command repeated with the same key takes effect once [default: a new key]
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    pub key: Option<Key>,
}

fn parse_key(text: &str) -> Result<Key, String> {
    if text.len() > LONGEST_KEY {
        Err(format!("a key has at most {LONGEST_KEY} characters"))
    } else {
        Key::parse(text).map_err(|problem| problem.to_string())
    }
}
