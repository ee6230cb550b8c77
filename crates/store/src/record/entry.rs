//! The listing of journal entries. Existing journals contain its words, so they never change.

use engine::{
    Author, Change, CheckEnd, CheckResult, CheckVerdict, CheckedProgram, Entry, Fact, LineCount,
    Miss, Move, MovedRef, OnMachine, Outside, OutsideChange, Placed, ProgramPlace, RefHandling,
    Relocation, Routed, Started, TreeAround, Unmet, Who, WorkResult,
};

use super::listing::records;

records! {
    struct Entry { at, by, rule, fact }
    kinds Who {
        Person(name) = "person",
        Unattended(name) = "unattended",
        Agent(sign) = "agent",
        Through(session) = "through",
        Session(session) = "session",
        Engine = "engine",
    }
    kinds Fact {
        Started(run) = "started",
        Forked { from, entry, state } = "forked",
        TakenUp = "taken_up",
        Placed(placed) = "placed",
        Relocated(relocation) = "relocated",
        Delivered(delivered) = "delivered",
        DeliveryFailed { reason } = "delivery_failed",
        TaskGiven { task } = "task_given",
        NextTaskGiven { task } = "next_task_given",
        TaskBegan { task } = "task_began",
        Attached { session, process } = "attached",
        Detached { session } = "detached",

        Admitted { dispatch } = "admitted",
        Began { dispatch, worker } = "began",
        Worked { dispatch } = "worked",
        SentBack { dispatch, reason } = "sent_back",
        Ended { dispatch, result, usage } = "ended",
        CutShort { dispatch, usage } = "cut_short",
        Limited(limit) = "limited",
        WentOn { dispatch, service } = "went_on",
        Captured { artifact, content, dispatch, step, commands } = "captured",
        Warned { message } = "warned",
        Noted { message } = "noted",
        Unevaluated { what } = "unevaluated",
        Unguarded(found) = "unguarded",
        AcceptedUnguarded { number } = "accepted_unguarded",
        ChangedOutside(change) = "changed_outside",
        Refused { what, reason } = "refused",

        Retried { stage, fault, reason } = "retried",
        StepRetried { stage, step, fault, reason } = "step_retried",
        StepFailed { stage, step, fault, reason } = "step_failed",
        Stuck { fault, reason } = "stuck",
        Unstuck = "unstuck",

        Checked { stage, verdict, results, tree } = "checked",
        GatePassed { stage, gate } = "gate_passed",

        ReviewerApproved { stage, reviewer, subject } = "reviewer_approved",
        ReviewerFound { stage, reviewer } = "reviewer_found",
        Fixed { stage, reviewer } = "fixed",
        RoundStarted { stage, round } = "round_started",
        RoundsSpent { stage } = "rounds_spent",

        Planned { stage, steps } = "planned",
        StepsRevived { stage } = "steps_revived",

        Routed(routed) = "routed",
        Answered { stage, answer, given, words } = "answered",
        Approved { artifact, content } = "approved",
        Overridden { stage, outcome, reason } = "overridden",

        Moved(way) = "moved",

        Held { holds } = "held",
        Abandoned = "abandoned",
        WentStale = "went_stale",
        Driven { ms } = "driven",
        OverBudget { what } = "over_budget",
        Halted { reason } = "halted",
        Continued { budget_again, words } = "continued",
        Cancelled { reason } = "cancelled",
        Reset { reason, stage } = "reset",
        Bypassed { until, reason } = "bypassed",
        Checkpointed { name } = "checkpointed",
        Vouched { environment, programs } = "vouched",
        Restored { entry, state, reason } = "restored",
        Adopted { machine, entry } = "adopted",
    }
    struct Started {
        id, definition, task, params, driver, host, stage, session, process, steps, before, queued, environment,
        base, branch, commit,
    }
    struct Placed { folder, on, before, base }
    struct OnMachine { machine, name, environment }
    struct Relocation { folder, on, commit }
    struct Routed { route, outcome, longer, change, params, verdicts, unmet }
    kinds Change { Seen { files, lines, paths } = "seen", Unseen { reason } = "unseen" }
    kinds LineCount { Counted(lines) = "counted", Unasked = "unasked", Unseen(reason) = "unseen" }
    struct Unmet { rule, because }
    kinds Miss {
        Param { param } = "param",
        Verdict { stage } = "verdict",
        Files { most } = "files",
        Lines { most } = "lines",
        Outside { path } = "outside",
        Forbidden { path } = "forbidden",
        Unseen { reason } = "unseen",
    }
    kinds WorkResult {
        Outcome(outcome) = "outcome",
        Fault { fault, reason } = "fault",
        Late = "late",
        Dropped = "dropped",
    }
    words CheckVerdict { Passed = "passed", Failed = "failed", Void = "void" }
    struct Move { from, outcome, to, along, counted, reset, resume }
    struct CheckResult { argv, ended, duration_ms, tail, matched_failure, lacks, programs }
    struct CheckedProgram { path, hash, place }
    words ProgramPlace { System = "system", Account = "account", Project = "project" }
    kinds CheckEnd {
        Exit(code) = "exit",
        Signal(signal) = "signal",
        TimedOut = "timed_out",
        CouldNotStart(reason) = "could_not_start",
        EnvironmentLost(reason) = "environment_lost",
        ProgramUnaccepted(reason) = "program_unaccepted",
    }
    struct TreeAround { before, after, made }
    struct OutsideChange { during, author, what }
    words Author { Worker = "worker", Unknown = "unknown" }
    kinds Outside {
        Ref(moved) = "ref",
        Project { paths } = "project",
        Elsewhere { tool, paths } = "elsewhere",
    }
    struct MovedRef { name, before, after, handling, kept }
    words RefHandling { PutBack = "put_back", Left = "left", Failed = "failed" }
}
