//! The scenarios of the pipeline that works a task in phases.
