//! What every page is made of: parts with ids, which the script replaces one by one, in one frame.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The beginning of every address: `/KEY/`.
#[derive(Clone, Debug)]
pub(crate) struct Base(String);

/// A place of a page that can change while it is open.
pub(crate) struct Part {
    /// Unique on the page, and the same each time.
    pub id: &'static str,
    pub content: Markup,
}

/// A page as its path asks for it.
pub(crate) struct Page {
    pub title: String,
    /// How many runs wait for a person.
    pub waiting: usize,
    pub place: Place,
    pub parts: Vec<Part>,
}

/// A page that somebody looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub path: String,
    pub query: String,
}

/// Which entry of the navigation is the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Home,
    Pipelines,
    Figures,
    Docs,
    Run,
}

impl Base {
    pub(crate) fn new(address_key: &str) -> Self {
        Self(format!("/{address_key}/"))
    }

    /// The address of a page. `path` is made of checked names.
    pub(crate) fn to(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

impl Part {
    pub(crate) fn new(id: &'static str, content: Markup) -> Self {
        Self { id, content }
    }

    pub(crate) fn markup(&self) -> Markup {
        html! { section id=(self.id) data-part { (self.content) } }
    }
}

impl Page {
    /// The count of those who wait is in front, where a narrow tab still shows it.
    pub(crate) fn window_title(&self) -> String {
        match self.waiting {
            0 => format!("{} · Gatewright", self.title),
            waiting => format!("({waiting}) {} · Gatewright", self.title),
        }
    }

    /// The whole document. `live` is the path of its changes, below the key.
    pub(crate) fn document(&self, base: &Base, live: &str) -> String {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.window_title()) }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href=(base.to("style.css"));
                    script src=(base.to("page.js")) defer {}
                }
                body data-live=(base.to(live)) data-act=(base.to("act")) {
                    a.skip href="#main" { "Skip to the content" }
                    (self.navigation(base))
                    main id="main" tabindex="-1" {
                        @for part in &self.parts { (part.markup()) }
                    }
                }
            }
        };
        markup.into_string()
    }

    fn navigation(&self, base: &Base) -> Markup {
        let pages = [
            (Place::Pipelines, "Pipelines", "pipelines"),
            (Place::Figures, "Figures", "figures"),
            (Place::Docs, "Docs", "docs"),
        ];
        let mark = |place: Place| (self.place == place).then_some("page");
        html! {
            header.top {
                nav aria-label="Pages" {
                    a.brand href=(base.to("")) { "Gatewright" }
                    a href=(base.to("")) aria-current=[mark(Place::Home)] {
                        "Runs" span id="waiting" { (waiting_badge(self.waiting)) }
                    }
                    @for (place, name, path) in pages {
                        a href=(base.to(path)) aria-current=[mark(place)] { (name) }
                    }
                }
                p.lost role="alert" { "The server does not answer: this page is not up to date." }
            }
            noscript { p.banner { "Without JavaScript this page does not change by itself: reload it. To act, type the commands that it shows." } }
        }
    }
}

/// The number of those who wait; nothing where nobody does.
pub(crate) fn waiting_badge(waiting: usize) -> Markup {
    match waiting {
        0 => PreEscaped(String::new()),
        more => html! { span.badge title="wait for you" { (more) } },
    }
}
