//! `gatewright caps --fleet`: what the fleet used today, and the most that it may use on a day.

use std::fmt::Write as _;

use engine::{BudgetLine, Held, Usage};
use pg_store::{CapScope, FleetCap, SpentToday};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;
use serde_json::{Value, json};
use store::{Access, CapSpent};

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

/// What one row used, as everything that is used is written.
fn usage(row: &SpentToday) -> Usage {
    Usage {
        turns: 0,
        tokens: row.tokens,
        cost_cents: row.cents,
        estimated_cents: Some(row.estimated_cents).filter(|cents| *cents > 0),
    }
}

fn cost_line(used: Usage) -> BudgetLine {
    BudgetLine::cost(used.cost_cents, None, used.estimated_cents.is_some())
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
    let all = spent.iter().map(usage).fold(Usage::default(), Usage::and);
    let mut text = format!("today  {}\n", cost_line(all).text());
    for row in spent {
        let account = row.account.as_deref().unwrap_or("no account");
        let _ = writeln!(
            text,
            "  {}  {}  {}  {} · tokens {} · runs {}",
            engine::cost_text(&usage(row)),
            views::line(&row.person),
            views::line(&row.project),
            views::line(account),
            row.tokens,
            row.runs
        );
    }
    for cap in caps {
        let (scope, cost) = (words(&cap.scope), cap.spent.line().text());
        let _ = write!(text, "cap    {scope}: {cost}");
        if cap.spent.is_used_up() {
            text.push_str("  (reached)");
        } else if cap.spent.reserved_cents > 0 {
            let reserved = engine::cents(cap.spent.reserved_cents);
            let _ = write!(text, "  ({reserved} reserved by runs at work)");
        }
        text.push('\n');
    }
    text
}

fn facts(spent: &[SpentToday], caps: &[FleetCap]) -> Value {
    let spent = spent.iter().map(|row| {
        json!({
            "user": row.person, "project": row.project, "account": row.account,
            "cost_cents": row.cents, "estimated_cents": row.estimated_cents, "tokens": row.tokens,
            "runs": row.runs,
        })
    });
    let caps = caps.iter().map(|cap| {
        let CapSpent {
            most_cents,
            cost_cents,
            estimated_cents,
            reserved_cents,
        } = cap.spent;
        json!({
            "for": words(&cap.scope), "cost_cents": most_cents, "reached": cap.spent.is_used_up(),
            "used": { "cost_cents": cost_cents, "estimated_cents": estimated_cents },
            "reserved_cents": reserved_cents,
        })
    });
    json!({ "today": spent.collect::<Vec<_>>(), "caps": caps.collect::<Vec<_>>() })
}
