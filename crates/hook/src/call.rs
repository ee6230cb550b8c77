//! One call of a host at its hook: the event, what the payload says, and when it counts only once.

use engine::{Hash, SessionId};
use hosts::{Event, Payload, Program, What};
use store::Key;

/// A call of the host, as it was read.
pub(super) struct HookCall<'a> {
    pub event: Event,
    pub payload: &'a Payload,
    /// Calls with the same key count once. It goes with the one request that the call is about.
    pub key: Option<Key>,
}

impl<'a> HookCall<'a> {
    /// A call of a session. One that the host makes twice is one call; events without a number of
    /// their own are distinguished by what the run knows.
    pub(super) fn of_session(
        host: Program,
        event: Event,
        payload: &'a Payload,
        session: &SessionId,
    ) -> Self {
        let number = number(payload);
        let short: String = session.as_str().chars().take(36).collect();
        let key = number.and_then(|number| {
            let (host, event) = (host.word(), event.word());
            Key::parse(&format!("{host} {event} {short} {number}")).ok()
        });
        Self {
            event,
            payload,
            key,
        }
    }

    /// A call of an agent that we started. Two hooks of one host get the same bytes for one event.
    pub(super) fn of_headless_agent(event: Event, payload: &'a Payload, digest: Hash) -> Self {
        Self {
            event,
            payload,
            key: Key::parse(&format!("worker {} {digest}", event.word())).ok(),
        }
    }

    /// A call that begins a run: no run has seen it before.
    pub(super) fn first(event: Event, payload: &'a Payload) -> Self {
        Self {
            event,
            payload,
            key: None,
        }
    }
}

/// What distinguishes this call from others of its kind, if it has such a thing.
fn number(payload: &Payload) -> Option<String> {
    if let What::CommandTyped { name, .. } = &payload.what {
        return Some(format!("{name} {}", payload.prompt.as_ref()?));
    }
    let (What::AgentRequested { call, .. }
    | What::SkillRequested { call, .. }
    | What::MessageRequested { call, .. }) = &payload.what
    else {
        return None;
    };
    call.as_ref().map(ToString::to_string)
}
