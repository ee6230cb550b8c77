//! Tables of runs: flat, or with the worktrees under their repository; on a narrow screen a block for each run.

use std::collections::BTreeMap;

use engine::RunId;
use maud::{Markup, html};
use store::RunSummary;
use views::list::RunRow;

use super::order::{Listing, Order};
use crate::bits;
use crate::reading::Reading;

const COLUMNS: &str = "6";

/// A repository with the runs of each of its worktrees.
struct Repository<'r> {
    key: &'r str,
    worktrees: Vec<Worktree<'r>>,
}

struct Worktree<'r> {
    path: &'r str,
    rows: Vec<&'r RunRow>,
}

/// Runs, one a line.
pub(super) fn table(reading: &Reading<'_>, rows: &[RunRow]) -> Markup {
    framed(
        &heads(),
        &html! { tbody { @for row in rows { (line(reading, row)) } } },
    )
}

/// The same, with links that sort.
pub(super) fn sortable(reading: &Reading<'_>, listing: &Listing, rows: &[RunRow]) -> Markup {
    let lines = html! { tbody { @for row in rows { (line(reading, row)) } } };
    framed(&sorting_heads(reading, listing), &lines)
}

/// The same, with the worktrees under their repository. Both stand where their first run does.
pub(super) fn by_repository(
    reading: &Reading<'_>,
    listing: &Listing,
    rows: &[RunRow],
    summaries: &[&RunSummary],
) -> Markup {
    let repositories = repositories(rows, summaries);
    let bodies = html! {
        @for repository in &repositories {
            tbody {
                tr.repository { th colspan=(COLUMNS) scope="rowgroup" { (repository_name(repository)) } }
                @for worktree in &repository.worktrees {
                    @if repository.worktrees.len() > 1 {
                        tr.worktree { th colspan=(COLUMNS) scope="rowgroup" {
                            "worktree " (bits::folder(worktree.path)) span.count { (worktree.rows.len()) }
                        } }
                    }
                    @for row in &worktree.rows { (line(reading, row)) }
                }
            }
        }
    };
    framed(&sorting_heads(reading, listing), &bodies)
}

fn repositories<'r>(rows: &'r [RunRow], summaries: &[&'r RunSummary]) -> Vec<Repository<'r>> {
    let places: BTreeMap<&RunId, &RunSummary> = summaries
        .iter()
        .map(|summary| (&summary.id, *summary))
        .collect();
    let mut found: Vec<Repository<'r>> = Vec::new();
    for row in rows {
        let place = places.get(&row.run);
        let own = row.project.raw();
        let (key, path) =
            place.map_or((own, own), |it| (it.project.as_str(), it.worktree.as_str()));
        let known = found.iter().position(|it| it.key == key);
        let known = known.unwrap_or_else(|| {
            let worktrees = Vec::new();
            found.push(Repository { key, worktrees });
            found.len() - 1
        });
        add(&mut found[known].worktrees, path, row);
    }
    found
}

fn add<'r>(worktrees: &mut Vec<Worktree<'r>>, path: &'r str, row: &'r RunRow) {
    match worktrees.iter_mut().find(|it| it.path == path) {
        Some(worktree) => worktree.rows.push(row),
        None => worktrees.push(Worktree {
            path,
            rows: vec![row],
        }),
    }
}

/// The folder of the repository's main worktree, and where it lies.
fn repository_name(repository: &Repository<'_>) -> Markup {
    let folder = repository.key;
    let folder = folder.strip_suffix("/.git").unwrap_or(folder);
    let number: usize = repository.worktrees.iter().map(|it| it.rows.len()).sum();
    html! {
        (bits::folder(folder)) span.count { (number) }
        span.where { (views::line(folder)) }
    }
}

fn framed(heads: &Markup, bodies: &Markup) -> Markup {
    html! { table.runs { thead { (heads) } (bodies) } }
}

fn heads() -> Markup {
    html! { tr { @for order in Order::ALL { th.num[order.is_number()] { (order.title()) } } } }
}

fn sorting_heads(reading: &Reading<'_>, listing: &Listing) -> Markup {
    html! { tr { @for order in Order::ALL {
        @let current = listing.order == order;
        th.num[order.is_number()] aria-sort=[current.then_some(order.direction())] {
            a href=(listing.sorted_by(reading.base, order)) {
                (order.title()) @if current { span.mark aria-hidden="true" { (order.arrow()) } }
            }
        }
    } } }
}

fn line(reading: &Reading<'_>, row: &RunRow) -> Markup {
    let link = reading.base.to(&format!("run/{}", row.run));
    let marks = row.marks();
    html! {
        tr {
            td { @if bits::is_over(&row.status) { (bits::status(&row.status)) } @else { (bits::liveness(row.liveness)) } }
            td.task {
                a href=(link) { (row.task.line()) } " " code.id { (row.run) }
                @if !marks.is_empty() {
                    " " span.pill.(if row.is_loud() { "bad" } else { "dim" }) { (views::line(&marks.join(", "))) }
                }
            }
            td { (row.stage) }
            td { (row.pipeline) }
            td { (bits::folder(row.project.raw())) }
            td.num { (bits::rough(row.idle)) " ago" }
        }
    }
}
