//! The documentation on the page: every topic answers, links lead to pages, and pictures come with their page.

use std::collections::BTreeSet;

use super::server::Served;
use crate::fixture::project;

/// The addresses of the links on a page that begin like this, without their anchors.
fn links<'b>(body: &'b str, begin: &str) -> BTreeSet<&'b str> {
    let targets = body.split("href=\"").skip(1);
    let targets = targets.filter_map(|rest| rest.split('"').next());
    let targets = targets.filter_map(|target| target.split('#').next());
    let ours = targets.filter_map(|target| target.split_once(begin));
    ours.map(|(_, topic)| topic).collect()
}

#[test]
fn every_page_of_the_documentation_is_shown_and_its_links_lead_to_pages() {
    let project = project();
    let served = Served::start(&project);
    let index = served.page("docs").body;
    let topics = links(&index, "/docs/");
    assert!(topics.contains("tutorial") && topics.contains("cli"));
    for topic in &topics {
        let page = served.page(&format!("docs/{topic}"));
        assert_eq!(page.status, 200, "{topic}");
        let beyond: Vec<_> = links(&page.body, "/docs/")
            .difference(&topics)
            .copied()
            .collect();
        assert!(beyond.is_empty(), "{topic} links to {beyond:?}");
    }
    assert_eq!(served.page("docs/nothing").status, 404);
}

#[test]
fn pictures_come_with_their_page() {
    let project = project();
    let served = Served::start(&project);
    for topic in ["readme", "guarded"] {
        let page = served.page(&format!("docs/{topic}")).body;
        let picture = page.split("<img src=\"").nth(1);
        assert!(
            picture.is_some_and(|address| address.starts_with("data:image/svg+xml,%3Csvg")),
            "{topic}"
        );
    }
    let index = served.page("docs").body;
    assert!(!index.contains("<img"), "{index}");
}
