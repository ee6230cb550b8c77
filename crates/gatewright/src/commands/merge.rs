//! `gatewright merge`: brings the branch of a completed run into your tree.

use engine::Held;
use runner::merge_branch::{
    self, BranchMerge, BranchMergeReport, BroughtBack, MergeTree, TreeChoice,
};
use runner::place_gc;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{find_run, person_only, run_branch, transact};
use serde_json::json;
use views::Style;

use crate::exit::Exit;
use crate::output::{Format, Output};

/// Merge the branch of a completed run into your tree
///
/// Works in the tree in which the run was started, and in the one in which you type it if that is gone; for a run of the fleet, in the clone of its project in which you type it. If both sides changed the same
/// lines, prints the files and changes nothing. Refuses if it would overwrite files that git does not track, or write files with a filter of git. After a merge, removes the run's worktree; its branch stays.
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
        let report = merge_branch::merge(&workspace, &opened)?;
        let back = match &report.end {
            BranchMerge::Merged { .. } | BranchMerge::Nothing { .. } => {
                merge_branch::bring_back(&workspace, &opened, &report.tree)?
            }
            BranchMerge::Conflict { .. } => BroughtBack::default(),
        };
        match output.format() {
            Format::Json => tell_facts(output, &report, &back)?,
            Format::Text => tell(output, &report, &back)?,
        }
        match report.end {
            BranchMerge::Conflict { .. } => Ok(Exit::No),
            BranchMerge::Nothing { is_empty, .. } => {
                // Somebody has merged it with git. What is settled has no place any more.
                if run_branch::run_folder(&workspace.state, &run).exists() {
                    let message = "its branch was merged without `gatewright merge`";
                    let message = (!is_empty).then_some(message);
                    note(&mut workspace, opened, message, &back)?;
                }
                Ok(Exit::Success)
            }
            BranchMerge::Merged { commit, .. } => {
                let by = workspace.context.who().name();
                let commit = short(&commit);
                let message = format!("{by} merged its branch, as {commit}");
                note(&mut workspace, opened, Some(&message), &back)?;
                Ok(Exit::Success)
            }
        }
    }
}

/// The history tells the merge. The person has the work, so nothing of it is kept besides the branch, and nobody is
/// asked to deliver it.
fn note(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    message: Option<&str>,
    back: &BroughtBack,
) -> Result<(), Failure> {
    let (is_here, run) = (!workspace.is_elsewhere(&opened), opened.run().id.clone());
    if let Some(message) = message {
        transact::remark(workspace, opened, None, message)?;
    }
    if is_here {
        place_gc::collect_merged(workspace, &run, back)?;
    }
    Ok(())
}

fn tell_facts(
    output: &mut Output,
    report: &BranchMergeReport,
    back: &BroughtBack,
) -> Result<(), Failure> {
    let BroughtBack { brought, left, .. } = back;
    let folder = report.tree.project.root.to_string_lossy();
    let facts = match &report.end {
        BranchMerge::Nothing { branch, .. } => {
            json!({ "branch": branch, "merged": false, "folder": folder, "brought_back": brought, "left_as_yours": left })
        }
        BranchMerge::Merged {
            branch,
            commit,
            files,
        } => {
            json!({ "branch": branch, "merged": true, "folder": folder, "commit": commit, "files": files, "brought_back": brought, "left_as_yours": left })
        }
        BranchMerge::Conflict { branch, paths } => {
            json!({ "branch": branch, "merged": false, "folder": folder, "conflicts": paths })
        }
    };
    output.json(&facts)
}

fn tell(
    output: &mut Output,
    report: &BranchMergeReport,
    back: &BroughtBack,
) -> Result<(), Failure> {
    let tree = &report.tree;
    match &tree.choice {
        TreeChoice::Typed | TreeChoice::Started => {}
        TreeChoice::TypedSinceGone(gone) => {
            let (gone, here) = (views::line(gone), tree.folder());
            output.say(&format!(
                "{gone}, where the run was started, is gone: merging into {here}"
            ));
        }
    }
    tell_back(output, back);
    let named = tree.named();
    match &report.end {
        BranchMerge::Nothing {
            branch,
            is_empty: true,
        } => output.text(&format!(
            "the run left no commit on {branch}, so there is nothing to merge\n"
        )),
        BranchMerge::Nothing { branch, .. } => {
            let there = named.map_or_else(String::new, |folder| format!(" in {folder}"));
            output.text(&format!("{branch} is merged already{there}\n"))
        }
        BranchMerge::Merged {
            branch,
            commit,
            files,
        } => {
            let files = counted(*files);
            let into = named.map_or_else(String::new, |folder| format!(" into {folder}"));
            let commit = short(commit);
            output.text(&format!(
                "merged {branch}{into} as {commit}: {files} changed\n"
            ))
        }
        BranchMerge::Conflict { branch, paths } => {
            let there = named.map_or_else(String::new, |folder| format!(" {folder}"));
            let line = format!("{branch} and your tree{there} conflict; nothing was merged");
            output.say_in(Style::Bad, &line);
            tell_conflicts(output, tree, branch, paths);
            Ok(())
        }
    }
}

fn tell_back(output: &mut Output, back: &BroughtBack) {
    let BroughtBack {
        brought,
        left,
        folder,
    } = back;
    if !brought.is_empty() {
        let brought = views::line(&brought.join(", "));
        output.say(&format!("brought back {brought}"));
    }
    if !left.is_empty() {
        let (left, folder) = (
            views::line(&left.join(", ")),
            views::line(&folder.to_string_lossy()),
        );
        output.say_in(
            Style::Bad,
            &format!(
                "left as it is in your tree, since you have changed it after the run began: {left}; what the run made of it is in {folder}"
            ),
        );
    }
}

fn tell_conflicts(output: &mut Output, tree: &MergeTree, branch: &str, paths: &[String]) {
    for path in paths {
        output.say(&format!("  {}", views::line(path)));
    }
    let resolve = tree.git(&["merge", branch]);
    output.say(&format!("`{resolve}` lets you resolve the conflicts"));
}

fn counted(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        more => format!("{more} files"),
    }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
