//! Server-sent events: the parts of an open page that changed, as soon as they did.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::response;
use crate::page::{Page, View};
use crate::pages;
use crate::site::Site;

/// How often we look whether anybody wrote to the store.
const GLANCE: Duration = Duration::from_millis(400);

/// How often a page is made again although nobody wrote: owners die and fall silent without a word.
const LOOK: Duration = Duration::from_secs(3);

/// A comment that shows whether the reader is still there.
const PING: Duration = Duration::from_secs(10);

/// What the reader has.
#[derive(Default)]
struct SentPage {
    title: Option<String>,
    ids: Vec<&'static str>,
    parts: BTreeMap<&'static str, String>,
}

/// Sends changes until the reader leaves.
pub(crate) fn stream(connection: &mut TcpStream, site: &Arc<Site>, view: &View) -> io::Result<()> {
    response::begin_events(connection)?;
    let mut shown = SentPage::default();
    let mut sent = Instant::now();
    loop {
        let stamp = site.stamp();
        let page = site
            .page(view)
            .unwrap_or_else(|failure| pages::failure(&failure));
        let events = shown.events(&page);
        let looked = Instant::now();
        if !events.is_empty() {
            send(connection, &events)?;
            sent = looked;
        }
        while site.stamp() == stamp && looked.elapsed() < LOOK {
            std::thread::sleep(GLANCE);
            if sent.elapsed() >= PING {
                send(connection, ": here\n\n")?;
                sent = Instant::now();
            }
        }
    }
}

fn send(connection: &mut TcpStream, text: &str) -> io::Result<()> {
    connection.write_all(text.as_bytes())?;
    connection.flush()
}

impl SentPage {
    /// What changed since the last time, as events. All of it at the first time: nobody knows when the reader loaded
    /// the page.
    fn events(&mut self, page: &Page) -> String {
        let mut events = String::new();
        let title = page.window_title();
        if self.title.as_ref() != Some(&title) {
            let data = json!({ "title": title, "waiting": page.waiting });
            let _ = write!(events, "event: title\ndata: {data}\n\n");
            self.title = Some(title);
        }
        // A page that cannot be shown any more, or again, has other parts: the old ones would go on telling what was.
        let ids: Vec<_> = page.parts.iter().map(|part| part.id).collect();
        if self.ids != ids {
            let data = json!({ "ids": ids });
            let _ = write!(events, "event: parts\ndata: {data}\n\n");
            self.parts.retain(|id, _| ids.contains(id));
            self.ids = ids;
        }
        for part in &page.parts {
            let html = part.markup().into_string();
            if self.parts.get(part.id) != Some(&html) {
                let data = json!({ "id": part.id, "html": html });
                let _ = write!(events, "event: part\ndata: {data}\n\n");
                self.parts.insert(part.id, html);
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;
    use crate::page::{Part, Place};

    fn page(waiting: usize, texts: [&str; 2]) -> Page {
        let part = |id, text: &str| Part::new(id, html! { p { (text) } });
        Page {
            title: "T".to_owned(),
            waiting,
            place: Place::Home,
            parts: vec![part("one", texts[0]), part("two", texts[1])],
        }
    }

    #[test]
    fn only_what_changed_is_sent() {
        let mut shown = SentPage::default();
        let parts = |events: &str| events.matches("event: part\n").count();
        let titles = |events: &str| events.matches("event: title").count();
        let first = shown.events(&page(0, ["a", "b"]));
        assert_eq!((titles(&first), parts(&first)), (1, 2));
        assert_eq!(shown.events(&page(0, ["a", "b"])), "");
        let second = shown.events(&page(1, ["a", "<b>\n"]));
        assert_eq!((titles(&second), parts(&second)), (1, 1));
        assert!(second.contains(r#""id":"two""#), "{second}");
        let lines = second.lines().filter(|line| !line.is_empty());
        let plain = |line: &str| line.starts_with("event: ") || line.starts_with("data: {");
        assert!(lines.clone().all(plain), "no text ends its line: {second}");
    }

    #[test]
    fn what_a_page_no_longer_has_is_taken_away_and_comes_back_with_it() {
        let mut shown = SentPage::default();
        shown.events(&page(0, ["a", "b"]));
        let failure = runtime::failure::Failure::not_found("no store");
        let failed = shown.events(&pages::failure(&failure));
        assert!(failed.contains(r#"{"ids":["failure"]}"#), "{failed}");
        let again = shown.events(&page(0, ["a", "b"]));
        assert!(again.contains(r#"{"ids":["one","two"]}"#), "{again}");
        assert_eq!(again.matches("event: part\n").count(), 2, "{again}");
    }
}
