//! An answer at the terminal, where the person may have changed the file of an artifact meanwhile.

use engine::{Reply, Rule, Who};
use runtime::answers::{self, Edits};
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Target};
use runtime::workspace::{OpenRun, Workspace};

use super::Orchestrator;
use super::ask_person::Person;
use crate::drive_options::DriveEnd;

const YES: &str = "yes";
const NO: &str = "no";

/// An answer of the person at the terminal.
pub(super) struct TypedAnswer<'a> {
    pub(super) edits: Edits,
    /// What is said about it on the screen.
    pub(super) shown: String,
    pub(super) submit: &'a mut SubmitAnswer<'a>,
}

pub(super) type SubmitAnswer<'a> =
    dyn FnMut(&mut Workspace<'_>, &OpenRun, &Who) -> Result<Decided, Failure> + 'a;

impl Orchestrator<'_, '_> {
    /// Submits the answer. Where it is refused because a file was changed, the person is asked whether
    /// they take the change.
    pub(super) fn submit_typed(
        &mut self,
        opened: &OpenRun,
        person: &mut Person<'_>,
        answer: TypedAnswer<'_>,
    ) -> Result<Option<DriveEnd>, Failure> {
        let TypedAnswer {
            edits,
            shown,
            submit,
        } = answer;
        if edits == Edits::Taken {
            let taken = self.take_edits(opened, person.who)?;
            if let Reply::Refuse(_) = taken.reply {
                return self.answered(&taken, person, shown);
            }
        }
        let decided = submit(self.workspace, opened, person.who)?;
        if !is_about_edits(&decided) {
            return self.answered(&decided, person, shown);
        }
        self.answered(&decided, person, shown.clone())?;
        person.terminal.say("Take the changed text?\n")?;
        let words = [YES.to_owned(), NO.to_owned()];
        let typed = self.one_of(person.terminal.as_mut(), &decided.opened, &words)?;
        if typed.as_deref() != Some(YES) {
            return Ok(None);
        }
        let taken = self.take_edits(&decided.opened, person.who)?;
        if let Reply::Refuse(_) = taken.reply {
            return self.answered(&taken, person, shown);
        }
        let decided = submit(self.workspace, &taken.opened, person.who)?;
        self.answered(&decided, person, shown)
    }

    fn take_edits(&mut self, opened: &OpenRun, by: &Who) -> Result<Decided, Failure> {
        let opened = self.workspace.read(&opened.run().id)?;
        transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options { by, key: None },
            &mut |_, _, _| Ok(answers::edits_taken()),
        )
    }
}

fn is_about_edits(decided: &Decided) -> bool {
    match &decided.reply {
        Reply::Refuse(refusal) => refusal.rule == Rule::Edits,
        Reply::Allow | Reply::Hold(_) | Reply::Inject(_) | Reply::Done => false,
    }
}
