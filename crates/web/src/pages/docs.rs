//! The documentation, as the program carries it.

use maud::{Markup, html};
use runtime::failure::Failure;

use crate::markdown;
use crate::page::{Base, Page, Part, Place};
use crate::query;
use crate::reading::Reading;
use crate::topic::HelpTopic;

pub(super) fn page(reading: &mut Reading<'_>, name: &str) -> Result<Page, Failure> {
    let topics = reading.topics;
    let topic = topics.iter().find(|topic| topic.name == name);
    let topic = topic.ok_or_else(|| Failure::not_found("the documentation has no such page"))?;
    let base = reading.base;
    let resolve = |target: &str| picture(topic, target).or_else(|| link(topics, base, target));
    let content = html! {
        div.docs {
            (navigation(topics, base, name))
            article.text { (markdown::markup(topic.page, &resolve)) }
        }
    };
    Ok(Page {
        title: topic.about.to_owned(),
        waiting: reading.waiting()?,
        place: Place::Docs,
        parts: vec![Part::new("docs", content)],
    })
}

/// All pages, each group below its heading.
fn navigation(topics: &[HelpTopic], base: &Base, name: &str) -> Markup {
    let groups = topics.chunk_by(|one, next| one.group == next.group);
    html! {
        nav.topics aria-label="Documentation" {
            @for group in groups {
                @if let Some(first) = group.first() { strong { (first.group) } }
                @for topic in group {
                    a href=(base.to(&format!("docs/{}", topic.name))) title=(topic.about)
                        aria-current=[(topic.name == name).then_some("page")] { (topic.name) }
                }
            }
        }
    }
}

/// A picture of this page, as an address that carries it: nothing else is loaded.
fn picture(topic: &HelpTopic, target: &str) -> Option<String> {
    let file = target.rsplit('/').next()?;
    let known = topic.pictures.iter().find(|picture| picture.file == file)?;
    Some(format!(
        "{}{}",
        markdown::PICTURE,
        query::encoded(known.svg)
    ))
}

/// Another page, or an address elsewhere. A file of the repository that is not a page has none.
fn link(topics: &[HelpTopic], base: &Base, target: &str) -> Option<String> {
    if target.starts_with("https://") || target.starts_with("http://") {
        return Some(target.to_owned());
    }
    if target.starts_with('#') {
        return Some(target.to_owned());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let name = file.strip_suffix(".md")?.to_lowercase();
    let is_page = matches!(folder, "" | ".." | "docs");
    let known = topics.iter().find(|topic| is_page && topic.name == name)?;
    let anchor = if anchor.is_empty() {
        String::new()
    } else {
        format!("#{anchor}")
    };
    Some(format!(
        "{}{anchor}",
        base.to(&format!("docs/{}", known.name))
    ))
}
