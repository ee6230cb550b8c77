//! The scenarios of the pipeline that wants context first.
