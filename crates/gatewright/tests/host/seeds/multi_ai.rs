//! The flow from requirements to tested code, with its pauses.
