//! What `gatewright adopt` does with the database.

use std::fmt::Write as _;

use engine::{RunId, Who};
use pg_store::{Adopting, AdoptionAnswer, MachineCopy, Postgres};
use runtime::adopt_run;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_membership::FleetMembership;
use runtime::import_run::Trusted;
use runtime::workspace::Workspace;
use runtime::{find_run, ids, shipping, signs, view_files};
use serde_json::{Value, json};
use store::{Access, Files, SharedBackend as _, ShippedSummary};

use super::Adopt;
use crate::commands::start::tell_begun;
use crate::confirm::{self, Question};
use crate::exit::Exit;
use crate::fleet_link::FleetLink;
use crate::output::{Format, Output};

/// A machine that was seen within this time is alive, by the database's clock.
const ALIVE_MS: i64 = 5 * 60 * 1000;

impl Adopt {
    pub(super) fn with_database(
        &self,
        context: &Context,
        output: &mut Output,
        run: &RunId,
    ) -> Result<Exit, Failure> {
        if ids::is_of_fleet(run) {
            let message =
                format!("{run} is a run of the fleet: its workers drive it, and nobody adopts it");
            return Err(
                Failure::refused(message).hint(format!("`gatewright status {run}` shows it"))
            );
        }
        let FleetLink {
            membership, store, ..
        } = FleetLink::open(context, Access::Write)?;
        let copies = store.copies_of(run)?;
        let copy = choose(copies, run, self.from.as_deref(), &membership)?;
        if self.show {
            let shipped = store.shipped_run(run, &copy)?;
            return output.text(&shown(&shipped.files)).map(|()| Exit::Success);
        }
        self.require_lost(context, run, &copy, &membership)?;
        self.adopt(context, output, &store, run, &copy, &membership)
    }

    /// The guarded runs of other machines that are not over.
    pub(super) fn list(context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let link = FleetLink::open(context, Access::Read)?;
        let mut shipped = link.store.shipped_runs()?;
        shipped
            .retain(|it| it.machine != link.membership.machine && find_run::is_active(&it.summary));
        if shipped.is_empty() && output.format() == Format::Text {
            output.say("no other machine of the fleet has shipped a guarded run that is not over");
        }
        output.facts(|_| listed(&shipped), || listed_json(&shipped))?;
        Ok(Exit::Success)
    }

    fn adopt(
        &self,
        context: &Context,
        output: &mut Output,
        store: &Postgres,
        run: &RunId,
        copy: &MachineCopy,
        membership: &FleetMembership,
    ) -> Result<Exit, Failure> {
        let trusted = if self.trust {
            Trusted::ByPerson
        } else {
            Trusted::AsKnown
        };
        let mut workspace = Workspace::for_writing(context)?;
        let shipped = store.shipped_run(run, copy)?;
        let adoptable = adopt_run::judge(&workspace, shipped, &copy.name, trusted)?;
        let person = context.who().name();
        let adopting = Adopting {
            machine: &membership.machine,
            name: &membership.name,
            person: &person,
            again: self.force,
        };
        // First the database: from then on the other machine adds nothing. If we die in between, the same command
        // goes on.
        match store.adopt(run, copy, &adopting)? {
            AdoptionAnswer::Adopted => {}
            AdoptionAnswer::Moved => return Err(still_alive(run, &copy.name)),
            AdoptionAnswer::Taken => {
                let message = format!("another machine has just adopted {run}");
                return Err(Failure::refused(message).hint("nothing was adopted here"));
            }
        }
        let opened = adopt_run::store(&mut workspace, &adoptable)?;
        shipping::wake(&workspace.state);
        let opened = view_files::render(&mut workspace, opened);
        output.say(&format!(
            "adopted from {} at entry {}: what came later there is unknown",
            views::line(&copy.name),
            copy.entries
        ));
        tell_begun(&opened, signs::owner(&workspace, &opened), output)
    }

    /// The home must be lost, and nobody else may go on with the run; a person may say otherwise.
    fn require_lost(
        &self,
        context: &Context,
        run: &RunId,
        copy: &MachineCopy,
        membership: &FleetMembership,
    ) -> Result<(), Failure> {
        let elsewhere = copy.adopter.as_ref();
        let elsewhere = elsewhere.filter(|adopter| adopter.machine != membership.machine);
        let seen = views::time::duration(copy.silent.unsigned_abs());
        let why = match elsewhere {
            Some(adopter) => format!("{} has adopted it from {}", adopter.name, copy.name),
            // Ours already: an earlier try did not come to its end.
            None if copy.adopter.is_some() => return Ok(()),
            None if copy.silent < ALIVE_MS => format!(
                "{}, the machine of the run, gave a sign of life {seen} ago",
                copy.name
            ),
            None => return Ok(()),
        };
        let why = views::line(&why);
        if !self.force {
            return Err(Failure::refused(format!("{run}: {why}")).hint(
                "wait until the machine is silent for five minutes, or add --force if it is lost",
            ));
        }
        let Who::Person(_) = context.who() else {
            return Err(Failure::refused(format!("{run}: {why}"))
                .hint("only a person at a terminal can force this"));
        };
        confirm::ask(&Question {
            lost: &format!(
                "{why}. If it still works there, the run has two homes, and what it does there from now on is lost to the fleet."
            ),
            word: run.as_str(),
            action: "adopt it",
        })
    }
}

fn still_alive(run: &RunId, machine: &str) -> Failure {
    let message = format!("{run}: {machine} has shipped another entry just now");
    Failure::refused(views::line(&message)).hint("the run is alive there")
}

/// The copy to adopt: that of another machine, which nobody else goes on with, if there is one.
fn choose(
    mut copies: Vec<MachineCopy>,
    run: &RunId,
    from: Option<&str>,
    membership: &FleetMembership,
) -> Result<MachineCopy, Failure> {
    if copies.is_empty() {
        let message = format!("no machine has shipped {run}");
        return Err(Failure::not_found(message)
            .hint("`gatewright adopt` lists what other machines have shipped"));
    }
    copies.retain(|copy| copy.machine != membership.machine);
    copies.retain(|copy| from.is_none_or(|from| copy.name == from || copy.machine == from));
    let is_free = |copy: &MachineCopy| {
        let adopter = copy.adopter.as_ref();
        adopter.is_none_or(|adopter| adopter.machine == membership.machine)
    };
    if copies.iter().any(is_free) {
        copies.retain(is_free);
    } else {
        // The latest one.
        copies.truncate(1);
    }
    let names: Vec<String> = copies.iter().map(|copy| copy.name.clone()).collect();
    match (copies.pop(), names.as_slice()) {
        (Some(copy), [_]) => Ok(copy),
        (None, _) => Err(
            Failure::refused(format!("no other machine has shipped {run}"))
                .hint("`gatewright fleet status` shows the machines"),
        ),
        (Some(_), _) => Err(Failure::refused(views::line(&format!(
            "{} have shipped {run}",
            names.join(" and ")
        )))
        .hint("name the one that is lost with --from MACHINE")),
    }
}

/// A line for each, with what a person needs to choose.
fn listed(shipped: &[ShippedSummary]) -> String {
    let line = |it: &ShippedSummary| {
        let summary = &it.summary;
        format!(
            "{}  {} at {} on {}, seen {} ago: {}\n",
            summary.id,
            summary.status.word(),
            summary.stage,
            views::line(&it.name),
            views::time::duration(it.silent_ms),
            views::line(&summary.task)
        )
    };
    let lines: String = shipped.iter().map(line).collect();
    if shipped.is_empty() {
        lines
    } else {
        format!("{lines}\n`gatewright adopt RUN --trust` adopts one whose machine is lost\n")
    }
}

fn listed_json(shipped: &[ShippedSummary]) -> Value {
    let rows = shipped.iter().map(|it| {
        json!({
            "run": it.summary.id.as_str(),
            "machine": it.name,
            "silent_ms": it.silent_ms,
            "status": it.summary.status.word(),
            "stage": it.summary.stage.as_str(),
            "project": it.summary.project,
            "task": it.summary.task,
        })
    });
    json!({ "runs": rows.collect::<Vec<_>>() })
}

fn shown(files: &Files) -> String {
    let mut text = String::new();
    for (path, bytes) in files.iter() {
        let bytes = views::safe(&String::from_utf8_lossy(bytes)).to_string();
        let _ = writeln!(text, "{}\n{bytes}", views::line(path));
    }
    text
}
