//! Reads for the screen from home and from the fleet: each run from the store that its id names.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::RunId;
use runtime::context::Context;
use runtime::fleet_seat::ConnectFleet;
use runtime::{fleet_reach, ids};
use views::facts::Inbox;

use crate::person_requests::perform;
use runtime::person_act::PersonAct;

use crate::event::{Event, Notice, RunsFacts, TextTarget};
use crate::fleet::{FleetThread, News, Request, refused};
use crate::reader::Reader;
use crate::wanted::Wanted;

/// How long a key waits for a run of the fleet; what comes later is shown at the next look.
const GLANCE: Duration = Duration::from_millis(300);

/// How long one picture waits for the fleet: for a connection, and for a look, also over a slow network.
const FIRST_LOOK: Duration = Duration::from_secs(16);

pub(crate) struct RunSource<'c> {
    context: &'c Context,
    home: Reader<'c>,
    at_home: RunsFacts,
    /// Only on a machine that has joined one.
    fleet: Option<FleetSource>,
}

struct FleetSource {
    thread: FleetThread,
    /// Its runs as they were read last, or why they cannot be read. Nothing before the first look.
    known: Option<Result<RunsFacts, String>>,
}

impl<'c> RunSource<'c> {
    pub(crate) fn new(context: &'c Context, fleet: Option<&Arc<ConnectFleet>>) -> Self {
        let begin = |connect: &Arc<ConnectFleet>| FleetSource {
            thread: FleetThread::begin(context.shared(), context.who(), Arc::clone(connect)),
            known: None,
        };
        Self {
            context,
            home: Reader::new(context),
            at_home: RunsFacts::default(),
            fleet: fleet.map(begin),
        }
    }

    /// Has anybody written at home since the last call?
    pub(crate) fn has_changed(&mut self) -> bool {
        self.home.has_changed()
    }

    /// All runs and the shown one, read anew.
    pub(crate) fn all(&mut self, wanted: &Wanted) -> Vec<Event> {
        self.read(wanted, Reader::all)
    }

    /// The same without what a write would have changed.
    pub(crate) fn judged(&mut self, wanted: &Wanted) -> Vec<Event> {
        self.read(wanted, Reader::judged)
    }

    fn read(
        &mut self,
        wanted: &Wanted,
        read: impl Fn(&mut Reader<'c>, &Wanted) -> Vec<Event>,
    ) -> Vec<Event> {
        if self.fleet.is_none() {
            return read(&mut self.home, wanted);
        }
        let events = if self.is_fleets(wanted.run.as_ref()) {
            read(&mut self.home, &Wanted::nothing())
        } else {
            read(&mut self.home, wanted)
        };
        let mut taken: Vec<Event> = events.into_iter().map(|it| self.with_fleet(it)).collect();
        taken.extend(self.news());
        taken
    }

    fn with_fleet(&mut self, event: Event) -> Event {
        match event {
            Event::Runs(runs) => {
                self.at_home = runs;
                Event::Runs(self.together())
            }
            event => event,
        }
    }

    /// The shown run.
    pub(crate) fn one(&mut self, wanted: &Wanted) -> Vec<Event> {
        match &self.fleet {
            Some(fleet) if self.is_fleets(wanted.run.as_ref()) => {
                fleet.thread.ask(Request::Read(wanted.clone()));
                let is_it = |news: &News| matches!(news, News::Happened(Event::Run(_)));
                self.waited(GLANCE, is_it)
            }
            Some(_) | None => self.home.one(wanted),
        }
    }

    /// The text that somebody wants to read.
    pub(crate) fn open(&mut self, target: &TextTarget) -> Vec<Event> {
        match &self.fleet {
            Some(fleet) if self.is_fleets(Some(target.run())) => {
                fleet.thread.ask(Request::Open(target.clone()));
                self.answered()
            }
            Some(_) | None => vec![self.home.open(target)],
        }
    }

    /// Does what a person asks for, in the store of the run.
    pub(crate) fn act(&mut self, act: &PersonAct) -> Vec<Event> {
        match &self.fleet {
            Some(fleet) if self.is_fleets(Some(&act.run)) => {
                fleet.thread.ask(Request::Act(act.clone(), Instant::now()));
                self.answered()
            }
            Some(_) | None => vec![Event::Notice(perform(self.context, act))],
        }
    }

    fn answered(&mut self) -> Vec<Event> {
        let is_answer =
            |news: &News| matches!(news, News::Happened(Event::Notice(_) | Event::Opened(_)));
        let mut events = self.waited(fleet_reach::PATIENCE, is_answer);
        let is_told = |event: &Event| matches!(event, Event::Notice(_) | Event::Opened(_));
        if !events.iter().any(is_told) {
            events.push(Event::Notice(unanswered()));
        }
        events
    }

    /// What has come from the fleet since the last look.
    pub(crate) fn news(&mut self) -> Vec<Event> {
        let come = self.fleet.as_ref().map(|fleet| fleet.thread.come());
        self.taken(come.unwrap_or_default())
    }

    /// Waits for the first look at the fleet, where there is one.
    pub(crate) fn first_look(&mut self) {
        let is_look = |news: &News| matches!(news, News::Away(_) | News::Happened(Event::Runs(_)));
        if let Some(fleet) = &mut self.fleet
            && fleet.known.is_none()
        {
            let come = fleet.thread.wait(FIRST_LOOK, is_look);
            // What comes later replaces it.
            fleet.known = Some(Err(fleet_reach::away(&fleet_reach::silent()).to_string()));
            self.taken(come);
        }
    }

    /// The run whose id is, or begins with, this word.
    pub(crate) fn fleet_run(&self, word: &str) -> Option<RunId> {
        let known = self.fleet.as_ref()?.known.as_ref()?.as_ref().ok()?;
        let exact = known.rows.iter().find(|row| row.run.as_str() == word);
        let begins = || {
            let mut rows = known.rows.iter();
            rows.find(|row| row.run.as_str().starts_with(word))
        };
        exact.or_else(begins).map(|row| row.run.clone())
    }

    fn waited(&mut self, patience: Duration, ends: impl Fn(&News) -> bool) -> Vec<Event> {
        let come = self
            .fleet
            .as_ref()
            .map(|fleet| fleet.thread.wait(patience, ends));
        self.taken(come.unwrap_or_default())
    }

    fn taken(&mut self, come: Vec<News>) -> Vec<Event> {
        let mut events = Vec::new();
        for news in come {
            let known = match news {
                News::Happened(Event::Runs(runs)) => Ok(runs),
                News::Away(why) => Err(why),
                News::Happened(event) => {
                    events.push(event);
                    continue;
                }
            };
            if let Some(fleet) = &mut self.fleet {
                fleet.known = Some(known);
            }
            events.push(Event::Runs(self.together()));
        }
        events
    }

    fn is_fleets(&self, run: Option<&RunId>) -> bool {
        self.fleet.is_some() && run.is_some_and(ids::is_of_fleet)
    }

    /// The runs of both, the latest started first.
    fn together(&self) -> RunsFacts {
        let mut runs = self.at_home.clone();
        let known = self.fleet.as_ref().and_then(|fleet| fleet.known.as_ref());
        match known {
            Some(Ok(fleet)) => {
                let entries = runs.inbox.entries().iter().chain(fleet.inbox.entries());
                runs.inbox = Inbox::new(entries.cloned().collect());
                // A run that another machine has adopted is also here: it is shown once.
                let known: BTreeSet<RunId> = runs.rows.iter().map(|row| row.run.clone()).collect();
                let elsewhere = fleet.rows.iter().filter(|row| !known.contains(&row.run));
                runs.rows.extend(elsewhere.cloned());
                runs.rows.sort_by_key(|row| Reverse(row.started_at));
                runs.unreadable.extend(fleet.unreadable.iter().cloned());
            }
            Some(Err(why)) => runs.fleet_away = Some(why.clone()),
            None => {}
        }
        runs
    }
}

fn unanswered() -> Notice {
    let why = fleet_reach::silent().to_string();
    refused(&format!("{why}; look at the run before you repeat it"))
}
