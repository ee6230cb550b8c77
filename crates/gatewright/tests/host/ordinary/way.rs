//! Ways through the stages of the built-in pipelines, on which a person takes the run from one to the next.

use crate::stage::Stage;

/// An outcome, and the stage that it leads to.
type Leg = (&'static str, &'static str);

/// A way through a pipeline.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub pipeline: &'static str,
    /// Where a run starts.
    pub start: &'static str,
    pub legs: &'static [Leg],
}

pub(super) const ANSIBLE: Way = Way {
    pipeline: "ansible",
    start: "scaffolding",
    legs: &[
        ("done", "generating"),
        ("done", "validating"),
        ("failed", "debugging"),
        ("done", "validating"),
        ("failed", "debugging"),
        ("done", "validating"),
        ("failed", "escalate"),
        ("continue", "debugging"),
        ("done", "validating"),
        ("passed", "linting"),
        ("passed", "reviewing"),
    ],
};

/// All but the stage for new test commands, into which only a plan with such commands leads.
pub(super) const MULTI_AI: Way = Way {
    pipeline: "multi-ai",
    start: "requirements_gathering",
    legs: &[
        ("error", "stuck"),
        ("retry", "requirements_gathering"),
        ("needs_input", "needs_user_input"),
        ("answered", "requirements_gathering"),
        ("completed", "approval"),
        ("approve", "plan_drafting"),
        ("completed", "plan_refining"),
        ("completed", "plan_reviewing"),
        ("needs_clarification", "clarify"),
        ("continue", "plan_reviewing"),
        ("exceeded", "exceeded"),
        ("continue", "plan_reviewing"),
        ("approved", "implementing"),
        ("complete", "code_reviewing"),
        ("approved", "testing"),
        ("failed", "implementing_loop"),
    ],
};

pub(super) const PHASES: Way = Way {
    pipeline: "phases",
    start: "planning",
    legs: &[
        ("done", "executing"),
        ("failed", "planning"),
        ("done", "executing"),
        ("failed", "planning"),
        ("done", "executing"),
        ("done", "verifying"),
        ("failed", "escalate"),
    ],
};

/// The stages that a person answers.
const ASKING: [&str; 5] = ["approval", "clarify", "escalate", "exceeded", "stuck"];

impl Way {
    /// Is this leg the first that leads to its stage?
    pub(super) fn is_new(&self, at: usize) -> bool {
        let (_, stage) = self.legs[at];
        stage != self.start && self.legs[..at].iter().all(|(_, seen)| *seen != stage)
    }

    /// How many stages it leads through.
    pub(super) fn stages(&self) -> usize {
        1 + (0..self.legs.len()).filter(|at| self.is_new(*at)).count()
    }

    /// The person takes every leg, each as soon as the session has come to it.
    pub(super) fn walk(&self, stage: &Stage, mut arrived: impl FnMut(usize)) {
        for (at, (outcome, to)) in self.legs.iter().enumerate() {
            stage.model.wait_until_held(&held(at));
            take_on(stage, outcome);
            let place = stage.place();
            assert!(place.starts_with(&format!("{to} ")), "{place}, not {to}");
            stage.model.release(&held(at));
            arrived(at);
        }
    }
}

/// The flag of the turn in which the model waits for this leg.
pub(super) fn held(at: usize) -> String {
    format!("leg {at}")
}

/// A person takes the run on, from another terminal.
fn take_on(stage: &Stage, outcome: &str) {
    let run = stage.run();
    let skip = ["skip", &run, "--as", outcome, "--reason", "an ordinary day"];
    // `clarify` demands words; every other question takes them.
    let answer = ["answer", &run, outcome, "as on any other day"];
    let place = stage.place();
    let words = if ASKING.iter().any(|name| place.starts_with(name)) {
        &answer[..]
    } else {
        &skip[..]
    };
    stage.project.person(words, &format!("{run}\n")).succeeds();
}
