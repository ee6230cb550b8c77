//! Fail-overs: the primary is killed, a replica takes over, and the machines find it at the same address.

use std::collections::{BTreeMap, BTreeSet};

use testkit::database::Server;

use crate::Result;
use crate::checker::missing;
use crate::facts::{keys, last_fences};
use crate::log::{self, Acknowledged, Record, now_ms};
use crate::site::{Site, TEAM, wait};

/// How many entries are written after the last one that the replica gets.
const BEHIND: usize = 12;

/// What a fail-over to an asynchronous replica lost.
pub(crate) struct Loss {
    /// Acknowledged, and not in the new primary.
    pub lost: BTreeSet<String>,
    /// Not in the old primary either: nothing explains these.
    pub unexplained: BTreeSet<String>,
    /// The last fence of each run in the new primary, as it took over.
    pub fences: BTreeMap<String, u64>,
}

pub(crate) fn to_synchronous(site: &mut Site) -> Result<()> {
    let replica = site.synchronous.take().ok_or("there is no replica")?;
    site.primary.kill();
    site.machines.iter().for_each(|machine| machine.proxy.cut());
    replica.promote();
    let primary = take_over(site, replica);
    open(site);
    // Nobody may reach it again. Its folder goes with it.
    drop(primary);
    Ok(())
}

pub(crate) fn to_asynchronous(site: &mut Site) -> Result<Loss> {
    let replica = Server::replica_of(&site.primary);
    site.fill()?;
    caught_up(site, &replica)?;
    replica.sql(TEAM, "ALTER SYSTEM SET primary_conninfo = ''");
    replica.sql(TEAM, "SELECT pg_reload_conf()");
    let followed = "SELECT count(*) FROM pg_stat_replication";
    wait("the end of replication", || Ok(site.sql(followed) == "0"))?;
    site.advance(BEHIND)?;
    site.primary.kill();
    site.machines.iter().for_each(|machine| machine.proxy.cut());
    replica.promote();
    let (there, fences) = (keys(&replica, TEAM), last_fences(&replica, TEAM)?);
    let old = take_over(site, replica);
    // Whatever was acknowledged before now, the old primary acknowledged: nobody reaches the new one yet.
    let opened_at = now_ms();
    open(site);
    let acknowledged = acknowledged_before(site, opened_at)?;
    let lost = missing(acknowledged.iter(), &there);
    old.start_again();
    let unexplained = missing(acknowledged.iter(), &keys(&old, TEAM));
    Ok(Loss {
        lost,
        unexplained,
        fences,
    })
}

/// Waits until the replica has what the primary has now: so it has all runs that are queued.
fn caught_up(site: &Site, replica: &Server) -> Result<()> {
    let now = site.sql("SELECT pg_current_wal_lsn()");
    let has = format!("SELECT pg_last_wal_replay_lsn() >= '{now}'");
    wait("the replica", || Ok(replica.sql(TEAM, &has) == "t"))
}

/// The machines will find this server, and the old one is handed back.
fn take_over(site: &mut Site, server: Server) -> Server {
    for machine in &site.machines {
        machine.proxy.lead_to(server.port());
    }
    std::mem::replace(&mut site.primary, server)
}

fn open(site: &Site) {
    for machine in &site.machines {
        machine.proxy.open();
    }
}

fn acknowledged_before(site: &Site, at_ms: u64) -> Result<Vec<Acknowledged>> {
    let records = log::read_all(&site.folder.path().join("logs"))?;
    let acknowledged = records.into_iter().filter_map(|record| match record {
        Record::Acknowledged(acknowledged) => Some(acknowledged),
        Record::Claimed { .. }
        | Record::Fenced { .. }
        | Record::Altered { .. }
        | Record::Trouble(_) => None,
    });
    Ok(acknowledged.filter(|it| it.at_ms < at_ms).collect())
}
