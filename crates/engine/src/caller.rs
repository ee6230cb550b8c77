//! Who may use a command that only a person may use.

use alloc::string::String;

use crate::event::Who;
use crate::run::{BindingState, Driver, Run};

/// Does a guarded session hold what the command is about?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Nobody,
    Session,
}

/// Who holds this run now.
pub fn held(run: &Run) -> Held {
    let active = run
        .session
        .as_ref()
        .is_some_and(|binding| binding.state == BindingState::Active);
    if active && run.driver == Driver::Guarded {
        Held::Session
    } else {
        Held::Nobody
    }
}

/// May they use a person's command? Says why not.
pub fn may_act(by: &Who, held: Held) -> Result<(), String> {
    match (by, held) {
        (Who::Person(_) | Who::Through(_), _) | (Who::Unattended(_), Held::Nobody) => Ok(()),
        (Who::Unattended(_), Held::Session) => Err(String::from(
            "a session holds the run: only a person at a terminal can do this now",
        )),
        // Only the journal says how an agent was told apart from a person.
        (Who::Agent(_) | Who::Session(_) | Who::Engine, _) => {
            Err(String::from("only a person can do this, not an agent"))
        }
    }
}
