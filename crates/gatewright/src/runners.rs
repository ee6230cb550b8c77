//! What each runner can do, and what a pipeline asks of it.
