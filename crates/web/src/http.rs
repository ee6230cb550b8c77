//! The little HTTP that the page needs: one request on each connection, read within limits.

pub(crate) mod request;
pub(crate) mod response;
