//! What a store in another crate is made of: lines of the chain, bytes of the caches, columns of the list, and
//! the verifier. So the same run has the same bytes in every store.

pub use crate::chain::{Tip, root};
pub use crate::columns::{Columns, signed};
pub use crate::error::Corruption;
pub use crate::import::noted;
pub use crate::journal::{Addition, append, begin, check_contents};
pub use crate::line::Line;
pub use crate::record::{
    Cached, RunOrigin, compiled_from_bytes, compiled_to_bytes, state_from_bytes, state_to_bytes,
};
pub use crate::verification::{Anchor, Snapshot};
pub use crate::verifier::Verifier;
