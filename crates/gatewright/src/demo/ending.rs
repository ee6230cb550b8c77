//! The end of the demo: the verification, what to look at next, and the folder that goes or stays.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use runtime::context::Context;
use runtime::current_exe;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use tempfile::TempDir;
use views::Style;

use super::RUN;
use super::folder::DemoFolder;
use super::narrator::Narrator;
use super::story::Act;
use crate::verification;

const NEXT: &str = "
Next, in a project of yours:
  gatewright init multi-ai              guards your sessions in Claude Code
  gatewright run multi-ai --task TEXT   works without a session
Look closer:
  gatewright graph multi-ai             draws the pipeline that you just saw
";

const KEEP: &str =
    "  gatewright demo --keep                keeps this project, journal and report\n";

/// How often, and how soon, the removal of the folder is tried again.
const MOST_TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// What every demo shows. If one is missing, the demo itself is broken.
const SHOWN: [&str; 9] = [
    "asked", "REFUSED", "again", "KILLED", "RESUMED", "review", "FAILED", "fixed", "PASSED",
];

/// Tells how the run ended, and verifies it as `gatewright verify` does. Is the journal intact?
pub(super) fn verify(context: &Context, narrator: &mut Narrator<'_>) -> Result<bool, Failure> {
    if let Some(missing) = SHOWN.into_iter().find(|word| !narrator.has_told(word)) {
        return Err(Failure::bug(format!("the demo did not show {missing}")));
    }
    let mut workspace = Workspace::for_writing(context)?;
    narrator.act(Act::new(
        "done",
        Style::Strong,
        &[
            &completed(&mut workspace)?,
            "its work is a commit on a branch of its own",
        ],
    ))?;
    let findings = verification::verify(&mut workspace, &[RUN.to_owned()])?;
    let entries = &findings.json()["runs"][0]["entries"];
    let (style, word) = if findings.is_intact() {
        (Style::Good, "intact")
    } else {
        (Style::Bad, "DAMAGED")
    };
    let text = format!("the journal of {entries} entries, with its chain of hashes, is {word}");
    narrator.act(Act::new("verified", style, &[&text]))?;
    Ok(findings.is_intact())
}

/// The loops of the run were limited, and nobody came near the limit.
fn completed(workspace: &mut Workspace<'_>) -> Result<String, Failure> {
    let opened = workspace.read(&super::run_id()?)?;
    let (run, pipeline) = (opened.run(), &opened.pipeline);
    let counters = run.counters.iter().map(|(counter, used)| {
        let most = engine::counter_limit(pipeline, run, counter);
        format!("; its test loop used {used} of {most} allowed returns")
    });
    Ok(format!(
        "the run is completed{}",
        counters.collect::<String>()
    ))
}

/// What to look at next. Removes the folder, or tells where it is.
pub(super) fn close(
    temporary: TempDir,
    kept: Option<&DemoFolder>,
    context: &Context,
    narrator: &mut Narrator<'_>,
) -> Result<Option<PathBuf>, Failure> {
    narrator.text(NEXT)?;
    let path = match kept {
        Some(folder) => {
            narrator.text(&kept_text(folder, narrator.first_refusal()))?;
            Some(temporary.keep())
        }
        None => {
            remove(temporary)?;
            narrator.text(KEEP)?;
            None
        }
    };
    narrator.text(&own_name(context).unwrap_or_default())?;
    Ok(path)
}

/// A killed worker may write its last file while the folder goes.
pub(super) fn remove(temporary: TempDir) -> Result<(), Failure> {
    let path = temporary.keep();
    let mut tries = 0;
    while let Err(cause) = fs::remove_dir_all(&path) {
        if tries == MOST_TRIES {
            return Err(Failure::file("remove", &path)(cause));
        }
        tries += 1;
        thread::sleep(BETWEEN_TRIES);
    }
    Ok(())
}

/// How to look at a demo that was kept.
fn kept_text(folder: &DemoFolder, refusal: Option<u64>) -> String {
    let root = folder.root().display();
    let report = format!("gatewright show {RUN}");
    let work = "git log --patch --branches --not HEAD";
    let history = format!("gatewright history {RUN}");
    let why = format!("gatewright why {RUN} {}", refusal.unwrap_or(1));
    let lines = [
        format!("  cd {root}/project"),
        format!("  export XDG_STATE_HOME={root}/state"),
        format!("  {report:<38}what was asked, decided and checked"),
        format!("  {work:<38}the work, committed on its branch"),
        format!("  {history:<38}the journal"),
        format!("  {why:<38}the rule that refused the planner"),
    ];
    lines.map(|line| line + "\n").concat()
}

/// How to type the name of this program, if no folder of PATH has it.
fn own_name(context: &Context) -> Option<String> {
    let own = current_exe::program().ok()?.canonicalize().ok()?;
    let search_path = context.environment.search_path.clone().unwrap_or_default();
    let mut found = std::env::split_paths(&search_path).map(|folder| folder.join("gatewright"));
    let is_found = found.any(|path| path.canonicalize().is_ok_and(|path| path == own));
    let shown = own.strip_prefix(&context.folder).unwrap_or(&own);
    (!is_found).then(|| format!("(here `gatewright` is {})\n", shown.display()))
}
