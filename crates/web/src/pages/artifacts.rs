//! The artifacts of a run, as they were captured.

use engine::{ArtifactName, Hash, RunId};
use maud::{Markup, html};
use runtime::failure::Failure;
use store::Backend as _;
use views::status::Approval;

use super::run::{self, Shown, Tab};
use crate::bits;
use crate::page::{Page, Part, Place};
use crate::reading::Reading;

/// A longer artifact is cut on the page.
const LONGEST: usize = 512 * 1024;

pub(super) fn page(reading: &mut Reading<'_>, run: &RunId) -> Result<Page, Failure> {
    let shown = run::now(reading, run)?;
    let list = list(reading, &shown);
    whole(reading, &shown, list, html! {})
}

/// One of them, with its content.
pub(super) fn one(reading: &mut Reading<'_>, run: &RunId, name: &str) -> Result<Page, Failure> {
    let shown = run::now(reading, run)?;
    let unknown = || Failure::not_found(format!("{run} has no such artifact"));
    let name = ArtifactName::parse(name).map_err(|_| unknown())?;
    let line = shown.view.artifacts.iter().find(|line| line.name == name);
    let content = line.ok_or_else(unknown)?.content;
    let list = list(reading, &shown);
    let content = text(reading, run, &name, content)?;
    whole(reading, &shown, list, content)
}

fn whole(
    reading: &mut Reading<'_>,
    shown: &Shown,
    list: Markup,
    content: Markup,
) -> Result<Page, Failure> {
    Ok(Page {
        title: format!("Artifacts of {}", shown.run.id),
        waiting: reading.waiting()?,
        place: Place::Run,
        parts: vec![
            run::heading(reading, shown, Tab::Artifacts),
            Part::new("artifacts", list),
            Part::new("content", content),
        ],
    })
}

fn list(reading: &Reading<'_>, shown: &Shown) -> Markup {
    let run = &shown.run.id;
    html! {
        @if shown.view.artifacts.is_empty() { p.empty { "Nothing has been captured yet." } } @else {
            table { thead { tr { th { "Artifact" } th { "Content" } th { "From" } th { "A person's approval" } } }
                tbody { @for line in &shown.view.artifacts { tr {
                    td { a href=(reading.base.to(&format!("run/{run}/artifact/{}", line.name))) { (line.name) } }
                    td { (bits::hash(line.content)) }
                    td { @match line.dispatch { Some(dispatch) => { (dispatch.to_string()) }, None => { span.dim { "–" } } } }
                    td { @match line.approval {
                        Approval::None => { span.dim { "none" } },
                        Approval::Approved => { span.pill.good { "✓ approved" } },
                        Approval::Stale => { span.pill.wait { "≠ approved with other content" } },
                    } }
                } } }
            }
        }
    }
}

fn text(
    reading: &mut Reading<'_>,
    run: &RunId,
    name: &ArtifactName,
    hash: Hash,
) -> Result<Markup, Failure> {
    let bytes = reading.workspace_of(run)?.store.content(hash)?;
    let Some(bytes) = bytes else {
        return Ok(html! { p.banner.bad { "The content of " (name) " is not kept." } });
    };
    let cut = bytes.len() > LONGEST;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
    Ok(html! {
        h2 { (name) " " (bits::hash(hash)) }
        pre.output { (views::safe(&shown)) }
        @if cut { p.dim { "Cut here, of " (bytes.len()) " bytes." } }
    })
}
