//! Whether a worker takes a run of the queue: for those who look at the run.

use engine::RunId;
use store::{Error, QueueMark};
use tokio_postgres::types::Type;

use crate::link::{Link, Value};

const MARK: &str = "SELECT set_aside IS NOT NULL AS is_aside FROM gatewright.queue WHERE run = $1";
const SET_ASIDE: &str =
    "SELECT run, set_aside FROM gatewright.queue WHERE set_aside IS NOT NULL ORDER BY place";

pub(crate) fn of_run(link: &Link, run: &RunId) -> Result<Option<QueueMark>, Error> {
    let values: [Value<'_>; 1] = [(&run.as_str(), Type::TEXT)];
    let Some(row) = link.row("look at the queue", MARK, &values)? else {
        return Ok(None);
    };
    Ok(Some(if link.get(&row, "is_aside")? {
        QueueMark::SetAside
    } else {
        QueueMark::Waits
    }))
}

pub(crate) fn set_aside(link: &Link) -> Result<Vec<(RunId, String)>, Error> {
    let wrong = |error: engine::NameError| link.damaged(&error.to_string());
    let rows = link.rows("look at the queue", SET_ASIDE, &[])?;
    let runs = rows.iter().map(|row| {
        let run: String = link.get(row, "run")?;
        let run = RunId::parse(&run).map_err(wrong)?;
        Ok((run, link.get(row, "set_aside")?))
    });
    runs.collect()
}
