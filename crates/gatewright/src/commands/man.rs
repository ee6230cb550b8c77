//! `gatewright man`: the manual, as a man page, as files, or as Markdown.

use std::fs;
use std::path::PathBuf;

use runtime::failure::Failure;

use super::export::save;
use crate::exit::Exit;
use crate::output::Output;
use crate::reference;

/// Print the manual as a man page
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Write one page per command into this folder instead
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print one Markdown page instead
    #[arg(long, conflicts_with = "out")]
    markdown: bool,
}

impl Man {
    pub(crate) fn run(&self, program: clap::Command, output: &mut Output) -> Result<Exit, Failure> {
        let command = reference::complete(program);
        match &self.out {
            Some(folder) => {
                fs::create_dir_all(folder).map_err(Failure::file("make", folder))?;
                for (name, page) in reference::pages(&command)? {
                    save(&folder.join(name), page.as_bytes())?;
                }
            }
            None if self.markdown => output.text(&reference::markdown(&command))?,
            None => output.text(&reference::page(&command)?)?,
        }
        Ok(Exit::Success)
    }
}
