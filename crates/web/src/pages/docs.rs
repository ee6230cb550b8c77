//! The documentation, as the program carries it.

use maud::html;
use runtime::failure::Failure;

use crate::markdown;
use crate::page::{Page, Part, Place};
use crate::reading::Reading;

pub(super) fn page(reading: &mut Reading<'_>, name: &str) -> Result<Page, Failure> {
    let topics = reading.topics;
    let topic = topics.iter().find(|topic| topic.name == name);
    let topic = topic.ok_or_else(|| Failure::not_found("the documentation has no such page"))?;
    let base = reading.base;
    let resolve = |target: &str| {
        if target.starts_with("https://") || target.starts_with("http://") {
            return Some(target.to_owned());
        }
        let file = target.rsplit('/').next().unwrap_or(target);
        let (file, anchor) = file.split_once('#').unwrap_or((file, ""));
        let name = file.strip_suffix(".md").unwrap_or(file).to_lowercase();
        let known = topics.iter().find(|topic| topic.name == name)?;
        let anchor = if anchor.is_empty() {
            String::new()
        } else {
            format!("#{anchor}")
        };
        Some(format!(
            "{}{anchor}",
            base.to(&format!("docs/{}", known.name))
        ))
    };
    let content = html! {
        div.docs {
            nav.topics aria-label="Documentation" {
                @for topic in topics {
                    a href=(base.to(&format!("docs/{}", topic.name))) title=(topic.about)
                        aria-current=[(topic.name == name).then_some("page")] { (topic.name) }
                }
            }
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
