//! `gatewright import`: loads a run that `export` or `reset` wrote to a file.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use runtime::context::Context;
use runtime::failure::Failure;
use runtime::import_run::{self, Trusted};
use runtime::workspace::Workspace;
use runtime::{person_only, signs, view_files};
use store::Backup;

use super::start::tell_begun;
use crate::exit::Exit;
use crate::output::Output;

/// Load a run from a backup of `reset`, or from an `export`, into this project
///
/// The whole run is verified first: its hash chain, its contents, and every decision in it. The chain
/// shows that nobody has changed the file, not who wrote it.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The file, as `reset` or `export` wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Trust the pipeline in the file, which may run commands as you
    #[arg(long)]
    trust: bool,
}

impl Import {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let held = person_only::session_holds_a_run(context)?;
        person_only::require_person(context, "import", held)?;
        let path = context.folder.join(&self.file);
        let file = File::open(&path).map_err(Failure::file("read", &path))?;
        let backup =
            Backup::read(&mut BufReader::new(file)).map_err(|wrong| refused(&path, wrong))?;
        let trusted = if self.trust {
            Trusted::ByPerson
        } else {
            Trusted::AsKnown
        };
        let mut workspace = Workspace::for_writing(context)?;
        let opened = import_run::import(&mut workspace, &backup, trusted)?;
        let opened = view_files::render(&mut workspace, opened);
        output.say(if engine::is_over(&opened.pipeline, opened.run()) {
            "imported: the run is over, and its journal can be read"
        } else {
            "imported: the run continues from where it was"
        });
        tell_begun(&opened, signs::owner(&workspace, &opened), output)
    }
}

/// One line that names the file, and says that nothing was stored.
fn refused(path: &Path, wrong: store::Error) -> Failure {
    let failure = Failure::from(wrong);
    let message = format!("cannot import {}: {}", path.display(), failure.message);
    Failure { message, ..failure }
        .hint("nothing was stored; take a whole file that nobody has edited")
}
