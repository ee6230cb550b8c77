//! What workers printed, kept in pieces for people on other machines.

use engine::{DispatchId, RunId};
use store::{Error, OutputPiece};
use tokio_postgres::types::Type;

use crate::link::{Link, Value};
use crate::rows::{signed, unsigned};

const KEEP: &str = "
    INSERT INTO gatewright.worker_output (run, dispatch, place, bytes) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING";
const KEPT: &str = "
    SELECT dispatch, max(place + length(bytes)) AS kept FROM gatewright.worker_output WHERE run = $1
    GROUP BY dispatch ORDER BY dispatch";
const AFTER: &str = "
    SELECT bytes FROM gatewright.worker_output WHERE run = $1 AND dispatch = $2 AND place >= $3 ORDER BY place";

/// Adds a piece. A second time changes nothing.
pub(crate) fn keep(link: &Link, run: &RunId, piece: &OutputPiece<'_>) -> Result<(), Error> {
    let (dispatch, place) = (i64::from(piece.dispatch.0), signed(piece.place));
    let values: [Value<'_>; 4] = [
        (&run.as_str(), Type::TEXT),
        (&dispatch, Type::INT8),
        (&place, Type::INT8),
        (&piece.bytes, Type::BYTEA),
    ];
    link.rows("keep what a worker printed", KEEP, &values)
        .map(drop)
}

/// How many bytes of each worker's output are kept.
pub(crate) fn kept(link: &Link, run: &RunId) -> Result<Vec<(DispatchId, u64)>, Error> {
    let rows = link.rows("look for output", KEPT, &[(&run.as_str(), Type::TEXT)])?;
    let kept = rows.iter().map(|row| {
        let number: i64 = link.get(row, "dispatch")?;
        let number = number
            .try_into()
            .map_err(|_| link.damaged("output without a number of its work"))?;
        Ok((DispatchId(number), unsigned(link.get(row, "kept")?)))
    });
    kept.collect()
}

/// What a worker printed, after so many bytes: the pieces that begin there or later.
pub(crate) fn after(
    link: &Link,
    run: &RunId,
    dispatch: DispatchId,
    place: u64,
) -> Result<Vec<u8>, Error> {
    let (dispatch, place) = (i64::from(dispatch.0), signed(place));
    let values: [Value<'_>; 3] = [
        (&run.as_str(), Type::TEXT),
        (&dispatch, Type::INT8),
        (&place, Type::INT8),
    ];
    let rows = link.rows("read output", AFTER, &values)?;
    let pieces: Result<Vec<Vec<u8>>, Error> =
        rows.iter().map(|row| link.get(row, "bytes")).collect();
    Ok(pieces?.concat())
}
