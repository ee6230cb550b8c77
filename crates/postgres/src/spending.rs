//! What a run uses counts for the day on which it is noted.

use engine::{RunId, Usage};
use postgres::types::Type;
use store::Error;

use crate::link::{Link, Value};
use crate::rows::signed;

const NOTE: &str = "SELECT gatewright.note_spending($1, $2, $3)";

/// Notes what a run has used so far: what is new counts for today.
pub(crate) fn note(link: &Link, run: &RunId, used: Usage) -> Result<(), Error> {
    let (cost, tokens) = (signed(used.cost_cents), signed(used.tokens));
    let values: [Value<'_>; 3] = [
        (&run.as_str(), Type::TEXT),
        (&cost, Type::INT8),
        (&tokens, Type::INT8),
    ];
    link.rows("note what a run used", NOTE, &values).map(drop)
}
