//! Worktrees: each parallel worker has its own, and its changes are merged back.
