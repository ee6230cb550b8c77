//! The site: which path shows what, and who answers for it.

use engine::Who;
use runtime::context::SharedContext;
use runtime::failure::{Failure, FailureKind};
use serde_json::json;

use crate::acts::{Act, Resume};
use crate::guard::Secrets;
use crate::http::response::{HTML, JSON, Response, Status};
use crate::page::{Base, Page, View};
use crate::pages;
use crate::prometheus;
use crate::reading::{Acting, Readers, Reading};
use crate::stamp::{self, Stamp};
use crate::topic::HelpTopic;

/// What the program gives to the page.
pub struct Parts {
    pub resume: Box<Resume>,
    /// The pages of the documentation.
    pub topics: &'static [HelpTopic],
}

pub(crate) struct Site {
    pub secrets: Secrets,
    pub base: Base,
    pub context: SharedContext,
    /// Who acts on the page; nobody where there is no code.
    pub by: Option<Who>,
    pub readers: Readers,
    pub parts: Parts,
}

/// What goes back over a connection.
pub(crate) enum Answer {
    Whole(Response),
    /// The changes of a page, until somebody closes it.
    Live(View),
}

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/page.js");

impl Site {
    pub(crate) fn read(&self, path: &str, query: &str) -> Answer {
        let whole = |kind, text: &str| Answer::Whole(Response::new(Status::Ok, kind, text));
        match path {
            "style.css" => whole(
                "text/css; charset=utf-8",
                &[STYLE, views::picture::STYLE].concat(),
            ),
            "metrics" => self.prometheus(),
            "page.js" => whole("text/javascript; charset=utf-8", SCRIPT),
            _ => match path.strip_prefix("live") {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => Answer::Live(View {
                    path: rest.trim_start_matches('/').to_owned(),
                    query: query.to_owned(),
                }),
                Some(_) | None => Answer::Whole(self.document(path, query)),
            },
        }
    }

    fn document(&self, path: &str, query: &str) -> Response {
        let view = View {
            path: path.to_owned(),
            query: query.to_owned(),
        };
        let live = match query {
            "" => format!("live/{path}"),
            query => format!("live/{path}?{query}"),
        };
        match self.page(&view) {
            Ok(page) => {
                let document = page.document(&self.base, &live);
                Response::new(Status::Ok, HTML, document)
            }
            Err(failure) => {
                let page = pages::failure(&failure);
                let document = page.document(&self.base, &live);
                Response::new(status_of(&failure), HTML, document)
            }
        }
    }

    /// The figures as Prometheus reads them.
    fn prometheus(&self) -> Answer {
        let context = self.context.to_context();
        let figures = Reading::new(
            &context,
            &self.base,
            Acting::Nobody,
            &self.readers,
            self.parts.topics,
        )
        .and_then(|mut reading| prometheus::text(&mut reading));
        Answer::Whole(match figures {
            Ok(text) => Response::new(Status::Ok, prometheus::KIND, text),
            Err(failure) => Response::line(status_of(&failure), &failure.to_string()),
        })
    }

    /// The state folder: its files tell whether anything was written.
    pub(crate) fn stamp(&self) -> Stamp {
        stamp::of(&self.context.to_context())
    }

    /// The page of a view as it is now.
    pub(crate) fn page(&self, view: &View) -> Result<Page, Failure> {
        let context = self.context.to_context();
        let acting = match self.by {
            Some(_) => Acting::WithCode,
            None => Acting::Nobody,
        };
        let mut reading = Reading::new(
            &context,
            &self.base,
            acting,
            &self.readers,
            self.parts.topics,
        )?;
        pages::page(&mut reading, view)
    }

    /// Does what a person wants, and says what happened.
    pub(crate) fn act(&self, body: &[u8]) -> Response {
        let performed = Act::parse(body).and_then(|act| match &self.by {
            Some(by) => act.perform(&self.context.to_context(), by, &*self.parts.resume),
            None => Err(Failure::refused("nobody can act on this page")),
        });
        let (status, answer) = match performed {
            Ok(done) => (Status::Ok, done),
            Err(failure) => (status_of(&failure), json!({ "error": failure.to_string() })),
        };
        Response::new(status, JSON, answer.to_string())
    }
}

fn status_of(failure: &Failure) -> Status {
    match failure.kind {
        FailureKind::Usage => Status::BadRequest,
        FailureKind::Refused => Status::Conflict,
        FailureKind::NotFound => Status::NotFound,
        FailureKind::Settings
        | FailureKind::Environment
        | FailureKind::Store
        | FailureKind::Bug => Status::Failed,
    }
}
