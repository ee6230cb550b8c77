//! The site: which path shows what, and who answers for it.

use std::sync::Arc;

use engine::Who;
use runtime::context::{Context, SharedContext};
use runtime::failure::{Failure, FailureKind};
use runtime::fleet_seat::ConnectFleet;
use runtime::workspace::Workspace;
use runtime::{fleet_reach, ids};
use serde_json::{Value, json};

use crate::acts::{self, Act, Resume};
use crate::fleet::Fleet;
use crate::guard::Secrets;
use crate::http::response::{HTML, JSON, Response, Status};
use crate::page::{Base, Page, View};
use crate::pages;
use crate::prometheus;
use crate::reading::{self, Acting, FleetFigures, Glance, Readers, Reading, Stores};
use crate::stamp::{self, Stamp};
use crate::topic::HelpTopic;

/// What the program gives to the page.
pub struct Parts {
    pub resume: Box<Resume>,
    /// The way to the fleet that this machine has joined.
    pub fleet: Option<Arc<ConnectFleet>>,
    /// The pages of the documentation.
    pub topics: &'static [HelpTopic],
}

pub(crate) struct Site {
    pub secrets: Secrets,
    pub base: Base,
    pub context: SharedContext,
    /// The fleet that this machine has joined.
    pub fleet: Option<Fleet>,
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
    pub(crate) fn read(self: &Arc<Self>, path: &str, query: &str) -> Answer {
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

    fn document(self: &Arc<Self>, path: &str, query: &str) -> Response {
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
    fn prometheus(self: &Arc<Self>) -> Answer {
        let glance = self.glance();
        let counted = self.fleet_figures(&glance);
        let figures = self.reading(Acting::Nobody, glance, |reading| {
            reading.fleet_figures = counted;
            prometheus::text(reading)
        });
        Answer::Whole(match figures {
            Ok(text) => Response::new(Status::Ok, prometheus::KIND, text),
            Err(failure) => Response::line(status_of(&failure), &failure.to_string()),
        })
    }

    /// What was counted goes on being counted where it takes too long for this page.
    fn fleet_figures(self: &Arc<Self>, glance: &Glance) -> FleetFigures {
        let runs = match glance {
            Glance::Alone => return FleetFigures::default(),
            Glance::Read(runs) => Arc::clone(runs),
            Glance::Away(why) => {
                return FleetFigures {
                    missing: Some(why.clone()),
                    ..FleetFigures::default()
                };
            }
        };
        let site = Arc::clone(self);
        let counted = fleet_reach::in_time(move |_| {
            let context = site.context.to_context().in_fleet(runs.seat.clone());
            let mut workspace = Workspace::for_reading(&context)?;
            site.readers.count_fleet(&mut workspace, &runs.summaries)
        });
        match counted {
            Ok(runs) => FleetFigures {
                runs,
                missing: None,
            },
            Err(why) => FleetFigures {
                runs: Vec::new(),
                missing: Some(fleet_reach::away(&why)),
            },
        }
    }

    fn glance(&self) -> Glance {
        match self.fleet.as_ref().map(Fleet::latest) {
            None => Glance::Alone,
            Some(Ok(runs)) => Glance::Read(runs),
            Some(Err(why)) => Glance::Away(why),
        }
    }

    /// Calls `read` with one look at the stores.
    fn reading<T>(
        &self,
        acting: Acting,
        glance: Glance,
        read: impl FnOnce(&mut Reading<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let home = self.context.to_context();
        let fleet = fleet_context(&home, &glance);
        let stores = Stores {
            home: &home,
            fleet: fleet.as_ref(),
        };
        let (readers, topics) = (&self.readers, self.parts.topics);
        read(&mut Reading::new(
            stores, glance, &self.base, acting, readers, topics,
        )?)
    }

    /// The state folder: its files tell whether anything was written.
    pub(crate) fn stamp(&self) -> Stamp {
        stamp::of(&self.context.to_context())
    }

    /// The page of a view as it is now. The database of the fleet cannot keep anybody waiting.
    pub(crate) fn page(self: &Arc<Self>, view: &View) -> Result<Page, Failure> {
        let glance = self.glance();
        let (site, view) = (Arc::clone(self), view.clone());
        match &glance {
            Glance::Read(_) if pages::may_read_fleet(&view) => {
                fleet_reach::in_time(move |_| site.made(glance, &view))
            }
            Glance::Alone | Glance::Read(_) | Glance::Away(_) => self.made(glance, &view),
        }
    }

    fn made(self: &Arc<Self>, glance: Glance, view: &View) -> Result<Page, Failure> {
        let acting = match self.by {
            Some(_) => Acting::WithCode,
            None => Acting::Nobody,
        };
        let counted = if pages::counts_fleet(view) {
            self.fleet_figures(&glance)
        } else {
            FleetFigures::default()
        };
        self.reading(acting, glance, |reading| {
            reading.fleet_figures = counted;
            pages::page(reading, view)
        })
    }

    /// Does what a person wants, and says what happened.
    pub(crate) fn act(self: &Arc<Self>, body: &[u8]) -> Response {
        let performed = Act::parse(body).and_then(|act| match &self.by {
            Some(by) => self.perform(act, by),
            None => Err(Failure::refused("nobody can act on this page")),
        });
        let (status, answer) = match performed {
            Ok(done) => (Status::Ok, done),
            Err(failure) => (status_of(&failure), json!({ "error": failure.to_string() })),
        };
        Response::new(status, JSON, answer.to_string())
    }

    /// In the store of the run.
    fn perform(self: &Arc<Self>, act: Act, by: &Who) -> Result<Value, Failure> {
        let act = match act {
            Act::Put(act) if ids::is_of_fleet(&act.run) => act,
            act @ (Act::Put(_) | Act::Resume(_)) => {
                return act.perform(&self.context.to_context(), by, &*self.parts.resume);
            }
        };
        let glance = self.glance();
        let (site, by) = (Arc::clone(self), by.clone());
        let performed = fleet_reach::in_time(move |waiting| {
            let home = site.context.to_context();
            let fleet = fleet_context(&home, &glance).ok_or_else(|| reading::no_fleet(&glance))?;
            let mut workspace = Workspace::for_writing(&fleet)?;
            waiting.check()?;
            acts::record(&act, &mut workspace, &by)
        });
        performed.map_err(|failure| match failure.kind {
            FailureKind::Environment | FailureKind::Unreachable => {
                failure.hint("look at the page again before you repeat the act")
            }
            FailureKind::Usage
            | FailureKind::Refused
            | FailureKind::NotFound
            | FailureKind::Settings
            | FailureKind::Store
            | FailureKind::Bug => failure,
        })
    }
}

/// The context for the runs of the fleet, where it can be read.
fn fleet_context(home: &Context, glance: &Glance) -> Option<Context> {
    match glance {
        Glance::Read(runs) => Some(home.in_fleet(runs.seat.clone())),
        Glance::Alone | Glance::Away(_) => None,
    }
}

fn status_of(failure: &Failure) -> Status {
    match failure.kind {
        FailureKind::Usage => Status::BadRequest,
        FailureKind::Refused => Status::Conflict,
        FailureKind::NotFound => Status::NotFound,
        FailureKind::Settings
        | FailureKind::Environment
        | FailureKind::Unreachable
        | FailureKind::Store
        | FailureKind::Bug => Status::Failed,
    }
}
