//! The runs of the fleet on the screen: a thread reads them, so that no key waits for the database.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use engine::Who;
use runtime::context::{Context, SharedContext};
use runtime::failure::Failure;
use runtime::fleet_reach;
use runtime::fleet_seat::ConnectFleet;
use runtime::workspace::Workspace;
use views::Style;

use crate::person_requests::{failed, perform_in};
use runtime::person_act::PersonAct;

use crate::event::{Event, Notice, TextTarget};
use crate::reader::Reader;
use crate::wanted::Wanted;

/// How often it is asked whether anybody wrote to the fleet.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// How often the liveness of its runs is judged.
const BETWEEN_JUDGEMENTS: Duration = Duration::from_secs(6);

/// What the screen asks of the fleet.
pub(crate) enum Request {
    Read(Wanted),
    Open(TextTarget),
    /// With the time at which a person asked for it.
    Act(PersonAct, Instant),
}

/// What came from the fleet.
pub(crate) enum News {
    /// Runs, one run, a text, or what became of an act.
    Happened(Event),
    /// Its runs cannot be read, and why.
    Away(String),
}

/// The way to the thread that reads.
pub(crate) struct FleetThread {
    requests: Sender<Request>,
    news: Receiver<News>,
}

impl FleetThread {
    /// Begins to read. It ends with the screen.
    pub(crate) fn begin(context: SharedContext, who: Who, connect: Arc<ConnectFleet>) -> Self {
        let (requests, asked) = mpsc::channel();
        let (sender, news) = mpsc::channel();
        let place = Place {
            context,
            who,
            connect,
            asked,
            news: sender.clone(),
        };
        let thread = thread::Builder::new().spawn(move || place.stay());
        if let Err(cause) = thread {
            let why = format!("cannot start a thread ({cause})");
            // We hold the other end.
            let _ = sender.send(News::Away(why));
        }
        Self { requests, news }
    }

    pub(crate) fn ask(&self, request: Request) {
        // A thread that could not start has told why.
        let _ = self.requests.send(request);
    }

    /// What has come, after waiting for something that ends the wait.
    pub(crate) fn wait(&self, patience: Duration, ends: impl Fn(&News) -> bool) -> Vec<News> {
        let (deadline, mut found) = (Instant::now() + patience, Vec::new());
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left) {
                Ok(news) => {
                    let is_last = ends(&news);
                    found.push(news);
                    if is_last {
                        return found;
                    }
                }
                Err(_) => return found,
            }
        }
    }

    /// What has come.
    pub(crate) fn come(&self) -> Vec<News> {
        self.news.try_iter().collect()
    }
}

/// Where the thread works.
struct Place {
    context: SharedContext,
    who: Who,
    connect: Arc<ConnectFleet>,
    asked: Receiver<Request>,
    news: Sender<News>,
}

/// Why a thread does not go on.
enum Stop {
    Away(Failure),
    /// Nobody asks any more.
    Left,
}

impl Place {
    fn stay(self) {
        loop {
            let why = match self.follow() {
                Stop::Away(why) => fleet_reach::away(&why).to_string(),
                Stop::Left => return,
            };
            if self.news.send(News::Away(why.clone())).is_err() {
                return;
            }
            if let Some(Stop::Left) = self.pause(&why) {
                return;
            }
        }
    }

    /// Reads and answers, until that fails.
    fn follow(&self) -> Stop {
        let seat = match fleet_reach::connected(&self.connect) {
            Ok(seat) => seat,
            Err(why) => return Stop::Away(why),
        };
        let context = self.context.to_context_of(self.who.clone());
        let context = context.in_fleet(seat);
        let mut reader = Reader::new(&context);
        let mut wanted = Wanted::nothing();
        let mut judged: Option<Instant> = None;
        loop {
            let is_due = judged.is_none_or(|at| at.elapsed() >= BETWEEN_JUDGEMENTS);
            if reader.has_changed() || is_due {
                judged = Some(Instant::now());
                if let Some(stop) = self.tell_all(reader.all(&wanted)) {
                    return stop;
                }
            }
            let events = match self.asked.recv_timeout(BETWEEN_LOOKS) {
                Ok(Request::Read(now_wanted)) => {
                    wanted = now_wanted;
                    reader.one(&wanted).into_iter().map(softened).collect()
                }
                Ok(Request::Open(target)) => vec![reader.open(&target)],
                Ok(Request::Act(act, asked)) => {
                    let told = acted(&context, &act, asked);
                    told.map(Event::Notice).into_iter().collect()
                }
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => return Stop::Left,
            };
            if let Some(stop) = self.tell_all(events) {
                return stop;
            }
        }
    }

    fn tell_all(&self, events: Vec<Event>) -> Option<Stop> {
        for event in events {
            match event {
                Event::Trouble(None) => {}
                Event::Trouble(Some(why)) => return Some(Stop::Away(Failure::environment(why))),
                event => {
                    if self.news.send(News::Happened(event)).is_err() {
                        return Some(Stop::Left);
                    }
                }
            }
        }
        None
    }

    /// Waits for the next attempt. Nobody is left without an answer.
    fn pause(&self, why: &str) -> Option<Stop> {
        let deadline = Instant::now() + fleet_reach::BETWEEN_ATTEMPTS;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.asked.recv_timeout(left) {
                Ok(Request::Read(_)) => {}
                Ok(Request::Open(_) | Request::Act(..)) => {
                    let _ = self.news.send(News::Happened(Event::Notice(refused(why))));
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(Stop::Left),
            }
        }
    }
}

/// Does it, unless the person was told meanwhile that nobody answers: then it must not happen minutes later.
fn acted(context: &Context, act: &PersonAct, asked: Instant) -> Option<Notice> {
    let opened = Workspace::for_writing(context);
    if asked.elapsed() >= fleet_reach::PATIENCE {
        return None;
    }
    Some(match opened {
        Ok(mut workspace) => perform_in(&mut workspace, act),
        Err(failure) => failed(&failure),
    })
}

/// One run that cannot be read is not the whole fleet: the next look tells more.
fn softened(event: Event) -> Event {
    match event {
        Event::Trouble(Some(why)) => Event::Notice(refused(&why)),
        event => event,
    }
}

/// Nothing was done, and why.
pub(crate) fn refused(why: &str) -> Notice {
    Notice {
        style: Style::Bad,
        text: views::line(why),
    }
}
