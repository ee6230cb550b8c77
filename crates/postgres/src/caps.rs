//! What runs used today, by person, project and model account, and the caps on it.

use store::{CapSpent, Error};
use tokio_postgres::types::Type;

use crate::backend::Postgres;
use crate::cap_rows;
use crate::link::Value;
use crate::rows::{amount, signed, unsigned};

const TODAY: &str = "
    SELECT person, project, account, sum(cost)::bigint AS cost, sum(estimated)::bigint AS estimated,
        sum(tokens)::bigint AS tokens, count(DISTINCT run) AS runs
    FROM gatewright.spending WHERE day = gatewright.today() GROUP BY person, project, account
    ORDER BY cost DESC, person, project, account";
const CAPS: &str = "
    SELECT kind, name, cost, spent, estimated, reserved FROM gatewright.caps_now ORDER BY kind, name";
const SET_CAP: &str = "
    INSERT INTO gatewright.caps (kind, name, cost) VALUES ($1, $2, $3)
    ON CONFLICT (kind, name) DO UPDATE SET cost = EXCLUDED.cost";
const REMOVE_CAP: &str = "DELETE FROM gatewright.caps WHERE kind = $1 AND name = $2 RETURNING kind";

/// Whose spending a cap limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapScope {
    All,
    User(String),
    Project(String),
    Account(String),
}

/// The most that may be spent on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetCap {
    pub scope: CapScope,
    pub spent: CapSpent,
}

/// What one person used today in one project with one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentToday {
    pub person: String,
    pub project: String,
    pub account: Option<String>,
    pub cents: u64,
    /// How much of the cost is an estimate.
    pub estimated_cents: u64,
    pub tokens: u64,
    pub runs: u64,
}

impl CapScope {
    fn kind(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::User(_) => "user",
            Self::Project(_) => "project",
            Self::Account(_) => "account",
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::All => "",
            Self::User(name) | Self::Project(name) | Self::Account(name) => name,
        }
    }

    fn parse(kind: &str, name: String) -> Option<Self> {
        Some(match kind {
            "all" => Self::All,
            "user" => Self::User(name),
            "project" => Self::Project(name),
            "account" => Self::Account(name),
            _ => return None,
        })
    }
}

impl Postgres {
    /// What was used today, the most expensive first.
    pub fn spent_today(&self) -> Result<Vec<SpentToday>, Error> {
        let link = &self.link;
        let rows = link.rows("read what was used", TODAY, &[])?;
        let spent = rows.iter().map(|row| {
            let account: String = link.get(row, "account")?;
            Ok(SpentToday {
                person: link.get(row, "person")?,
                project: link.get(row, "project")?,
                account: Some(account).filter(|account| !account.is_empty()),
                cents: amount(link.get(row, "cost")?),
                estimated_cents: amount(link.get(row, "estimated")?),
                tokens: amount(link.get(row, "tokens")?),
                runs: unsigned(link.get(row, "runs")?),
            })
        });
        spent.collect()
    }

    /// The caps of the fleet.
    pub fn caps(&self) -> Result<Vec<FleetCap>, Error> {
        let link = &self.link;
        let rows = link.rows("read the caps", CAPS, &[])?;
        let caps = rows.iter().map(|row| {
            let kind: String = link.get(row, "kind")?;
            let scope = CapScope::parse(&kind, link.get(row, "name")?);
            Ok(FleetCap {
                scope: scope.ok_or_else(|| link.damaged("a cap of an unknown kind"))?,
                spent: cap_rows::spent(link, row)?,
            })
        });
        caps.collect()
    }

    /// Sets a cap, in place of an earlier one.
    pub fn set_cap(&self, scope: &CapScope, cents: u64) -> Result<(), Error> {
        let cost = signed(cents);
        let values: [Value<'_>; 3] = [
            (&scope.kind(), Type::TEXT),
            (&scope.name(), Type::TEXT),
            (&cost, Type::INT8),
        ];
        self.link.rows("set a cap", SET_CAP, &values).map(drop)
    }

    /// Removes a cap; `false` if there was none.
    pub fn remove_cap(&self, scope: &CapScope) -> Result<bool, Error> {
        let values: [Value<'_>; 2] = [(&scope.kind(), Type::TEXT), (&scope.name(), Type::TEXT)];
        let row = self.link.row("remove a cap", REMOVE_CAP, &values)?;
        Ok(row.is_some())
    }
}
