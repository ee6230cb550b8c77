//! `gatewright merge`: brings the branch of a completed run into your tree.

use engine::Held;
use runner::merge_branch::{self, BranchMerge};
use runner::place_gc;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use runtime::{find_run, person_only, transact};
use serde_json::json;
use views::Style;

use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::{Format, Output};

/// Merge the branch of a completed run into your tree
///
/// Works in the tree in which the run was started; for a run of the fleet, in the clone of its project in which you type it. If both sides changed the same lines, prints the
/// files and changes nothing. After a merge, removes the run's worktree; its branch stays.
#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    #[command(flatten)]
    of: OfRun,
}

impl Merge {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "merge", Held::Nobody)?;
        let mut workspace = Workspace::for_writing(context)?;
        let run = find_run::find_to_show(&workspace, self.of.run.as_deref())?
            .run
            .id;
        let opened = workspace.read(&run)?;
        let merged = merge_branch::merge(&workspace, &opened)?;
        tell(output, &merged)?;
        match merged {
            BranchMerge::Conflict { .. } => Ok(Exit::No),
            BranchMerge::Nothing { .. } => Ok(Exit::Success),
            BranchMerge::Merged { commit, .. } => {
                let by = context.who().name();
                let message = format!("{by} merged its branch, as {}", short(&commit));
                let is_here = !workspace.is_elsewhere(&opened);
                transact::remark(&mut workspace, opened, None, &message)?;
                if is_here {
                    place_gc::collect_one(&mut workspace, &run)?;
                }
                Ok(Exit::Success)
            }
        }
    }
}

fn tell(output: &mut Output, merged: &BranchMerge) -> Result<(), Failure> {
    if output.format() == Format::Json {
        let json = match merged {
            BranchMerge::Nothing { branch } => json!({ "branch": branch, "merged": false }),
            BranchMerge::Merged {
                branch,
                commit,
                files,
            } => {
                json!({ "branch": branch, "merged": true, "commit": commit, "files": files })
            }
            BranchMerge::Conflict { branch, paths } => {
                json!({ "branch": branch, "merged": false, "conflicts": paths })
            }
        };
        return output.json(&json);
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
