//! The listing of runs.

use engine::{
    Binding, BindingState, Bypass, Captured, CommandEnd, Delivered, DeliveryState, Dispatch,
    Driver, Duty, Fault, Gate, Grant, Graph, Happened, HeldRoute, KnownWorker, Member, MemberState,
    MoveReason, Override, Panel, Passage, Position, Process, Resume, Run, RunBranch, RunPlace,
    Service, ServiceLimit, Standing, TreeAccess, Turn, Unguarded, UnguardedWork, Usage, Witness,
};

use super::listing::records;

records! {
    struct Run {
        id, definition, task, task_visit, next_task, params, driver, host, started_at, touched_at, position, standing,
        counters, before, artifacts, approved, approved_commands, gates, made, stale_returns, dispatches, last_dispatch, workers,
        panels, graphs, given_steps, session, bypass, overrides, used, driven_ms, grants, granted, holds, unjudged, outside,
        environment, unguarded, trail, base, routes, exits, place, limits, commit,
    }
    struct RunPlace { branch, folder, machine, delivery }
    struct RunBranch { name, base, from, with_changes }
    kinds DeliveryState { Open = "open", Failed { reason } = "failed", Done(delivered) = "done" }
    struct Delivered { commit, pushed, request }
    struct Service { runner, model }
    struct ServiceLimit { service, until, reason, named, times }
    struct Passage { stage, outcome, along, happened }
    kinds MoveReason {
        Edge = "edge",
        Full(counter) = "full",
        Unapproved(artifact) = "unapproved",
        Interrupted = "interrupted",
        StaleGate = "stale_gate",
        Outgrown(route) = "outgrown",
    }
    kinds Happened {
        Worked { agent, step, outcome, left } = "worked",
        Failed { agent, step, fault, reason } = "failed",
        Checked { verdict, commands } = "checked",
        Routed(routed) = "routed",
        Answered { by, choice, words } = "answered",
        Skipped { by, outcome, reason } = "skipped",
        Continued { by, words } = "continued",
        Reset { by, reason } = "reset",
        Restored { by, reason } = "restored",
    }
    struct HeldRoute { outcome, longer }
    struct CommandEnd { argv, ended, matched_failure, lacks, tail }
    words Driver { ByHand = "by_hand", Guarded = "guarded", Headless = "headless" }
    struct Position { stage, visit, entered_at, retries, resume, strayed_from, happened }
    struct Resume { to, count, artifact }
    kinds Standing {
        Queued = "queued",
        Going = "going",
        Stuck { fault, reason } = "stuck",
        Stale = "stale",
        OverBudget { what } = "over_budget",
        Halted { reason } = "halted",
        Abandoned = "abandoned",
        Cancelled { reason } = "cancelled",
    }
    words Fault {
        Crashed = "crashed",
        Missing = "missing",
        Hollow = "hollow",
        Timeout = "timeout",
        Strayed = "strayed",
        Conflict = "conflict",
        Limited = "limited",
    }
    struct Captured { content, dispatch, commands }
    struct Dispatch {
        id, duty, agent, stage, visit, attempt, session, call, worker, worked, sent_back, started_at,
        paused_at, service, conversation, reach, tree, before,
    }
    words TreeAccess { ReadsOnly = "reads_only", MayWrite = "may_write" }
    kinds Duty {
        Work = "work",
        Open = "open",
        Review { reviewer } = "review",
        Fix { reviewer } = "fix",
        Step { step } = "step",
    }
    struct Panel { round, turn, approvals }
    kinds Turn {
        Reviewing { reviewer } = "reviewing",
        Fixing { reviewer } = "fixing",
        Spent = "spent",
    }
    kinds Gate {
        Tree(hash) = "tree",
        Superseded(hash) = "superseded",
        Artifact { artifact, content } = "artifact",
    }
    struct Graph { members }
    struct Member { step, state, retries, left, started_at, ended_at, strayed_from }
    kinds MemberState {
        Pending = "pending",
        Working { dispatch } = "working",
        Done = "done",
        Failed { fault, reason } = "failed",
    }
    struct Binding { session, state, process, since }
    struct UnguardedWork { found, settled }
    struct Unguarded { witness, what, from, until }
    words Witness { Transcript = "transcript", Files = "files", Processes = "processes" }
    struct Process { id, started }
    struct KnownWorker { agent, dispatch, call }
    struct Bypass { until, reason, by }
    words BindingState { Active = "active", Ended = "ended" }
    struct Override { stage, outcome, reason, by, at }
    struct Grant { used, at, driven_ms }
    struct Usage { turns, tokens, cost_cents, estimated_cents }
}
