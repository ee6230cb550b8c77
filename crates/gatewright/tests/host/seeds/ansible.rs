//! The scenarios of the playbook pipeline.
