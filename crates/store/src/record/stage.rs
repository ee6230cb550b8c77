//! The listing of stages and the work in them.

use engine::{
    After, AgentWork, AskWork, CheckText, CheckWork, Commands, Conversation, Edge, End, EndWork,
    Fallback, FieldOf, HomeFolder, Leaves, OpenWork, Questions, Reads, Retry, ReviewWork, Reviewer,
    RouteRule, RouteWork, Stage, Step, StepsSource, StepsWork, StopRule, Target, WordsRule, Work,
    Worker, WorkerSettings, Writes,
};

use super::listing::records;

records! {
    struct Stage {
        name, about, shown, work, on, inject, stop, writes, tools_deny, retry, timeout, heartbeat,
    }
    kinds Work {
        Agent(work) = "agent",
        Open(work) = "open",
        Check(work) = "check",
        Ask(work) = "ask",
        Review(work) = "review",
        Steps(work) = "steps",
        Route(work) = "route",
        End(work) = "end",
    }
    struct AgentWork { worker, settings, reads, leaves }
    kinds Worker { Session = "session", Agent(agent) = "agent" }
    struct WorkerSettings { runner, model, prompt, conversation, fallbacks }
    struct Fallback { runner, model }
    words Conversation { Fresh = "fresh", Same = "same" }
    struct Reads { needed, if_there }
    struct Leaves { always, by_outcome }

    struct OpenWork { allow, after, leaves }
    struct After { agent, edge }

    struct CheckWork { commands, fails_on, expects, home }
    words HomeFolder { Own = "own", Private = "private" }
    kinds Commands { Fixed(commands) = "fixed", Approved(fields) = "approved" }
    kinds CheckText { Text(text) = "text", From(fields) = "from" }
    struct FieldOf { artifact, field }

    struct AskWork { question, questions }
    kinds Questions { Choice { leaves } = "choice", From { field, leaves } = "from" }

    struct ReviewWork { owner, owner_settings, panel, rounds, of, reads, fixes }
    struct Reviewer { agent, settings, leaves, last_word }

    struct StepsWork { source, max_parallel, agents, settings, reads, leaves }
    kinds StepsSource {
        Fixed(steps) = "fixed",
        Start = "start",
        Artifact(field) = "artifact",
        ArtifactOrStart(field) = "artifact_or_start",
    }
    struct Step { id, title, agent, needs }

    struct RouteWork { rules }
    struct RouteRule { outcome, files, lines, within, avoids, params, verdicts }

    struct EndWork { end, after, leaves }
    words End { Completed = "completed", Failed = "failed", Cancelled = "cancelled" }

    struct Edge { to, count, reset, approves, words }
    words WordsRule { Optional = "optional", Required = "required" }
    kinds Target {
        Stage(stage) = "stage",
        Interrupted = "interrupted",
        Param(param) = "param",
    }
    words StopRule { Free = "free", Hold = "hold" }
    kinds Writes { Anything = "anything", Only(globs) = "only" }
    struct Retry { max, backoff }
}
