//! `gatewright merge`: brings the branch of a completed run into your tree.

use engine::Held;
use runner::merge_branch::{self, BranchMerge};
use runner::place_gc;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{find_run, person_only, transact};
use serde_json::json;
use views::Style;

use crate::exit::Exit;
use crate::output::{Format, Output};

/// Merge the branch of a completed run into your tree
///
/// Works in the tree in which the run was started; for a run of the fleet, in the clone of its project in which you type it. If both sides changed the same lines, prints the
/// files and changes nothing. After a merge, removes the run's worktree; its branch stays.
#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    /// The run's id, or its first characters [default: the only completed run of this project that is not merged]
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

impl Merge {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "merge", Held::Nobody)?;
        let mut workspace = Workspace::for_writing(context)?;
        let candidates = merge_branch::candidates(&mut workspace)?;
        let word = self.run.as_deref();
        let run = find_run::find_candidate(&workspace, word, &candidates, "can be merged")?
            .run
            .id;
        let opened = workspace.read(&run)?;
        let merged = merge_branch::merge(&workspace, &opened)?;
        let brought = match &merged {
            BranchMerge::Merged { .. } | BranchMerge::Nothing { .. } => {
                merge_branch::bring_back(&workspace, &opened)?
            }
            BranchMerge::Conflict { .. } => Vec::new(),
        };
        tell(output, &merged, &brought)?;
        match merged {
            BranchMerge::Conflict { .. } => Ok(Exit::No),
            BranchMerge::Nothing { .. } => Ok(Exit::Success),
            BranchMerge::Merged { commit, .. } => {
                note(&mut workspace, opened, &commit)?;
                Ok(Exit::Success)
            }
        }
    }
}

/// The history tells the merge. The person has the work, so nothing of it is kept besides the branch, and nobody is
/// asked to deliver it.
fn note(workspace: &mut Workspace<'_>, opened: OpenRun, commit: &str) -> Result<(), Failure> {
    let by = workspace.context.who().name();
    let message = format!("{by} merged its branch, as {}", short(commit));
    let (is_here, run) = (!workspace.is_elsewhere(&opened), opened.run().id.clone());
    transact::remark(workspace, opened, None, &message)?;
    if is_here {
        place_gc::collect_merged(workspace, &run)?;
    }
    Ok(())
}

fn tell(output: &mut Output, merged: &BranchMerge, brought: &[String]) -> Result<(), Failure> {
    if output.format() == Format::Json {
        let json = match merged {
            BranchMerge::Nothing { branch } => {
                json!({ "branch": branch, "merged": false, "brought_back": brought })
            }
            BranchMerge::Merged {
                branch,
                commit,
                files,
            } => {
                json!({ "branch": branch, "merged": true, "commit": commit, "files": files, "brought_back": brought })
            }
            BranchMerge::Conflict { branch, paths } => {
                json!({ "branch": branch, "merged": false, "conflicts": paths })
            }
        };
        return output.json(&json);
    }
    if !brought.is_empty() {
        output.say(&format!(
            "brought back {}",
            views::line(&brought.join(", "))
        ));
    }
    match merged {
        BranchMerge::Nothing { branch } => output.text(&format!("{branch} is merged already\n")),
        BranchMerge::Merged {
            branch,
            commit,
            files,
        } => {
            let files = if *files == 1 {
                "1 file".to_owned()
            } else {
                format!("{files} files")
            };
            output.text(&format!(
                "merged {branch} as {}: {files} changed\n",
                short(commit)
            ))
        }
        BranchMerge::Conflict { branch, paths } => {
            let line = format!("{branch} and your tree changed the same files; nothing was merged");
            output.say_in(Style::Bad, &line);
            for path in paths {
                output.say(&format!("  {}", views::line(path)));
            }
            output.say(&format!(
                "`git merge {branch}` lets you resolve the conflicts"
            ));
            Ok(())
        }
    }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
