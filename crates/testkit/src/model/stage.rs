//! The stage on which the script is played: who answers which request, and what everybody was told.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use serde_json::json;

use super::answer::Answer;
use super::request::{Kind, Request, TURNS_TAKEN};
use super::script::{Act, Actor, Turn, say};
use crate::PATIENCE;

/// The error message for the host.
const SCRIPTED: &str = "the script says so";

/// Invariant: `played` is locked only for a moment. A held turn waits on `changed`, which gives it back.
pub(super) struct Stage {
    script: Vec<Actor>,
    played: Mutex<Played>,
    changed: Condvar,
}

#[derive(Default)]
struct Played {
    requests: Vec<Request>,
    released: BTreeSet<String>,
    held: BTreeSet<String>,
    /// How often the server has failed for an actor at a turn.
    failed: BTreeMap<(String, usize), usize>,
    closed: bool,
}

impl Stage {
    pub(super) fn new(script: Vec<Actor>) -> Self {
        Self {
            script,
            played: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// The answer to a request; none when the stage was closed meanwhile.
    pub(super) fn answer(&self, mut request: Request) -> Option<Answer> {
        let actor = self.cast(&request);
        request.actor = actor.map(|actor| actor.name.clone());
        self.change(|played| played.requests.push(request.clone()));
        match (request.kind, actor) {
            (Kind::Count, _) => Some(Answer::json(
                200,
                &json!({ "input_tokens": 10, "totalTokens": 10 }),
            )),
            (Kind::Other, _) => Some(Answer::json(200, &json!({}))),
            (Kind::Compaction, Some(actor)) => self.speak(summary(actor, &request), &request),
            (Kind::Conversation, Some(actor)) => self.speak(turn(actor, &request), &request),
            (Kind::Aside, _) => self.speak(say("an aside"), &request),
            (Kind::Compaction | Kind::Conversation, None) => self.speak(
                say("the script has no actor for this conversation"),
                &request,
            ),
        }
    }

    fn cast(&self, request: &Request) -> Option<&Actor> {
        match request.kind {
            Kind::Conversation | Kind::Compaction => {
                self.script.iter().find(|actor| actor.plays(request))
            }
            Kind::Aside | Kind::Count | Kind::Other => None,
        }
    }

    fn speak(&self, turn: Turn, request: &Request) -> Option<Answer> {
        match turn.0 {
            Act::Speak(speech) => Some(request.protocol.message(&speech, &request.body)),
            Act::Fail { status } => Some(request.protocol.error(status, SCRIPTED)),
            Act::FailFirst {
                status,
                times,
                then,
            } => {
                if self.count_failure(request) <= times {
                    return Some(request.protocol.error(status, SCRIPTED));
                }
                self.speak(*then, request)
            }
            Act::LimitFirst {
                seconds,
                times,
                then,
            } => {
                if self.count_failure(request) <= times {
                    return Some(request.protocol.limit(seconds));
                }
                self.speak(*then, request)
            }
            Act::Hold { flag, then } => {
                self.hold(&flag)?;
                self.speak(*then, request)
            }
            Act::Make(make) => match catch_unwind(AssertUnwindSafe(|| make(request))) {
                Ok(turn) => self.speak(turn, request),
                Err(_) => Some(
                    request
                        .protocol
                        .error(400, "a turn of the script has panicked"),
                ),
            },
        }
    }

    fn count_failure(&self, request: &Request) -> usize {
        let actor = request.actor.clone().unwrap_or_default();
        let key = (actor.clone(), request.turns_taken(&actor));
        self.change(|played| {
            let count = played.failed.entry(key).or_default();
            *count += 1;
            *count
        })
    }

    /// A test that has forgotten to release ends the model, so this waits without a limit of its own.
    fn hold(&self, flag: &str) -> Option<()> {
        let mut played = self.change_and_keep(|played| {
            played.held.insert(flag.to_owned());
        });
        while !played.closed && !played.released.contains(flag) {
            played = self.changed.wait(played).expect("no turn has panicked");
        }
        (!played.closed).then_some(())
    }

    pub(super) fn release(&self, flag: &str) {
        self.change(|played| played.released.insert(flag.to_owned()));
    }

    pub(super) fn close(&self) {
        self.change(|played| played.closed = true);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    #[track_caller]
    pub(super) fn told(&self, actor: &str) -> String {
        self.insist_on(actor);
        told(&self.lock().requests, actor)
    }

    #[track_caller]
    pub(super) fn wait_until_told(&self, actor: &str, words: &str) -> String {
        self.insist_on(actor);
        let ready = |played: &Played| {
            let told = told(&played.requests, actor);
            told.contains(words).then_some(told)
        };
        self.wait(ready).unwrap_or_else(|| {
            let told = self.told(actor);
            panic!("{actor} was not told {words:?}, but only:\n{told}")
        })
    }

    #[track_caller]
    pub(super) fn wait_until_held(&self, flag: &str) {
        let held = self.wait(|played| played.held.contains(flag).then_some(()));
        assert!(held.is_some(), "no turn is held by {flag:?}");
    }

    #[track_caller]
    fn insist_on(&self, actor: &str) {
        let known = self.script.iter().any(|known| known.name == actor);
        assert!(known, "the script has no actor {actor:?}");
    }

    fn wait<T>(&self, ready: impl Fn(&Played) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + PATIENCE;
        let mut played = self.lock();
        loop {
            if let Some(found) = ready(&played) {
                return Some(found);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            let woken = self.changed.wait_timeout(played, left);
            played = woken.expect("no turn has panicked").0;
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Played) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    fn change_and_keep(&self, change: impl FnOnce(&mut Played)) -> MutexGuard<'_, Played> {
        let mut played = self.lock();
        change(&mut played);
        self.changed.notify_all();
        played
    }

    fn lock(&self) -> MutexGuard<'_, Played> {
        self.played.lock().expect("no turn has panicked")
    }
}

/// The turn at which the conversation is. Past the last one the model says that it has no more.
fn turn(actor: &Actor, request: &Request) -> Turn {
    let taken = request.turns_taken(&actor.name);
    let turn = actor.turns.get(taken).cloned();
    turn.unwrap_or_else(|| say("the script has no more turns"))
}

/// The marker stands in it, so that the conversation finds its actor again, and the number of turns.
fn summary(actor: &Actor, request: &Request) -> Turn {
    // The question for a summary is not a turn, so the count is that of the conversation.
    let taken = request.turns_taken(&actor.name);
    say(&format!(
        "<summary>{}{TURNS_TAKEN}{taken}</summary>",
        actor.name
    ))
}

/// A request that is repeated has nothing new to tell.
fn told(requests: &[Request], actor: &str) -> String {
    let own = requests
        .iter()
        .filter(|request| request.actor.as_deref() == Some(actor));
    let own: Vec<_> = own
        .filter(|request| request.kind == Kind::Conversation)
        .collect();
    let fresh = own.iter().enumerate().filter(|(at, request)| {
        own[..*at]
            .iter()
            .all(|earlier| earlier.messages() != request.messages())
    });
    fresh
        .map(|(_, request)| request.news())
        .collect::<Vec<_>>()
        .join("\n")
}
