//! The listing of definitions.

use engine::{
    Act, Amount, ApprovedCommands, Artifact, Begins, Budget, Claim, Counter, Definition, Deliver,
    Delivery, Format, LoopView, Meaning, Mode, OutcomeField, Param, PlaceKind, Placement, Proof,
    Readers, Removed, Source, Strictness, TextOrParam, View, ViewFormat, ViewTemplate,
};

use super::listing::records;

records! {
    struct Definition {
        name, about, begins, start, mode, ttl, budget, settings, params, counters, groups,
        artifacts, stages, views, commands, helpers, gives, ignores, litter,
        protocol, proofs, placement,
    }
    struct Placement { place, carry, carry_back, delivery }
    words PlaceKind { Tree = "tree", Branch = "branch" }
    struct Delivery { deliver, remote, request }
    words Deliver { Nothing = "none", Branch = "branch", PullRequest = "pull-request" }
    words Begins { Session = "session", Command = "command" }
    words Mode { Enforced = "enforced", Advisory = "advisory" }
    struct Budget { turns, tokens, cost_cents, time }
    kinds Amount { Fixed(amount) = "fixed", Param(param) = "param" }
    struct Param { about, required, default, choices, words, settings, meaning }
    words Meaning { Text = "text", Path = "path" }
    struct Counter { max, then }
    struct Artifact { source, format, require, equals, outcome, approved, strictness, max_bytes }
    kinds Strictness { Strict = "strict", Advisory = "advisory", Param(param) = "param" }
    struct ApprovedCommands { field, then }
    kinds Source { File(path) = "file", Reply = "reply", Answers = "answers" }
    kinds Format { Bundle = "bundle", Json { schema } = "json", Text = "text" }
    struct OutcomeField { field, values, reason }
    struct View { format, path, removed, readers }
    words Readers { Owner = "owner", All = "all" }
    words Removed { Rendered = "rendered", Waits = "waits" }
    kinds ViewFormat {
        Summary = "summary",
        Report = "report",
        Status = "status",
        Diagram = "diagram",
        Log = "log",
        AnsibleState = "ansible-state",
        PipelineState = "pipeline-state",
        TaskState = "task-state",
        LoopState(of) = "loop-state",
        Workflow = "workflow",
        WorkflowReport = "workflow-report",
        TaskGraph = "task-graph",
        Sessions = "sessions",
        Template(template) = "template",
    }
    struct ViewTemplate { file, text }
    struct LoopView { counter, promise }
    kinds TextOrParam { Fixed(text) = "fixed", Param(param) = "param" }
    kinds Act {
        Start = "start",
        Answer(choice) = "answer",
        Finish = "finish",
        Retry = "retry",
        Cancel = "cancel",
        Reset = "reset",
    }
    struct Proof { name, claim }
    kinds Claim {
        Passes { after, before, through } = "passes",
        Admits { agents, only_after } = "admits",
    }
}
