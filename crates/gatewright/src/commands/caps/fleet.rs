//! `gatewright caps --fleet`: what the fleet used today, and the most that it may use on a day.

use std::fmt::Write as _;

use engine::Held;
use pg_store::{CapScope, FleetCap, SpentToday};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;
use serde_json::{Value, json};
use store::Access;

use super::{Cap, Caps};
use crate::exit::Exit;
use crate::fleet_link::FleetLink;
use crate::output::Output;

impl Caps {
    pub(super) fn of_fleet(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let access = if self.day.is_empty() {
            Access::Read
        } else {
            person_only::require_person(context, "caps", Held::Nobody)?;
            Access::Write
        };
        let wanted = self.day.iter().map(cost);
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        let store = FleetLink::open(context, access)?.store;
        let scope = self.scope();
        for cents in wanted {
            match cents {
                Some(cents) => store.set_cap(&scope, cents)?,
                None => drop(store.remove_cap(&scope)?),
            }
        }
        let (spent, caps) = (store.spent_today()?, store.caps()?);
        output.facts(|_| text(&spent, &caps), || facts(&spent, &caps))?;
        Ok(Exit::Success)
    }

    fn scope(&self) -> CapScope {
        let wanted = &self.fleet;
        match (&wanted.user, &wanted.project, &wanted.account) {
            (Some(user), _, _) => CapScope::User(user.clone()),
            (None, Some(project), _) => CapScope::Project(project.clone()),
            (None, None, Some(account)) => CapScope::Account(account.clone()),
            (None, None, None) => CapScope::All,
        }
    }
}

/// The cents of a cap; none if there is to be no cap.
fn cost(cap: &Cap) -> Result<Option<u64>, Failure> {
    match cap {
        Cap::None => Ok(None),
        Cap::Cost(0) => Err(Failure::usage("a cap of the fleet is more than 0")
            .hint("`--day cost=0.01` lets almost nothing through, `--day none` removes the cap")),
        Cap::Cost(cents) => Ok(Some(*cents)),
        Cap::Tokens(_) => {
            Err(Failure::usage("a cap of the fleet is a cost")
                .hint("type it as `--day cost=20.00`"))
        }
    }
}

fn words(scope: &CapScope) -> String {
    match scope {
        CapScope::All => "all runs".to_owned(),
        CapScope::User(name) => format!("user {}", views::line(name)),
        CapScope::Project(name) => format!("project {}", views::line(name)),
        CapScope::Account(name) => format!("account {}", views::line(name)),
    }
}

fn text(spent: &[SpentToday], caps: &[FleetCap]) -> String {
    let total: u64 = spent.iter().map(|row| row.cents).sum();
    let mut text = format!("today  cost {}\n", engine::cents(total));
    for row in spent {
        let account = row.account.as_deref().unwrap_or("no account");
        let _ = writeln!(
            text,
            "  {}  {}  {}  {} · tokens {} · runs {}",
            engine::cents(row.cents),
            views::line(&row.person),
            views::line(&row.project),
            views::line(account),
            row.tokens,
            row.runs
        );
    }
    for cap in caps {
        let reached = if cap.is_reached { "  (reached)" } else { "" };
        let cost = engine::cents(cap.cents);
        let _ = writeln!(text, "cap    {cost} for {}{reached}", words(&cap.scope));
    }
    text
}

fn facts(spent: &[SpentToday], caps: &[FleetCap]) -> Value {
    let spent = spent.iter().map(|row| {
        json!({
            "user": row.person, "project": row.project, "account": row.account,
            "cost_cents": row.cents, "tokens": row.tokens, "runs": row.runs,
        })
    });
    let caps = caps.iter().map(|cap| {
        json!({ "for": words(&cap.scope), "cost_cents": cap.cents, "reached": cap.is_reached })
    });
    json!({ "today": spent.collect::<Vec<_>>(), "caps": caps.collect::<Vec<_>>() })
}
