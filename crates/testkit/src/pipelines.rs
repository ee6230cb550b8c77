//! Small pipelines that several tests use.

/// An open pipeline, in which every session has a run and any agent may work.
pub const OPEN: &str = r#"
name   = "open"
about  = "Anything goes, and everything is seen."
begins = "session"
start  = "working"

[stages.working]
allow     = ["*"]
stop      = "hold"
on.finish = "complete"

[stages.complete]
end = "completed"
"#;

/// Two steps of one agent that may work at once, and one after them. Codex does them.
pub const PARTS: &str = r#"
name  = "parts"
about = "Work in parts."
start = "working"

[artifacts.part]
path   = ".task/{step}.md"
format = "text"

[stages.working]
steps = [
    { id = "a", title = "First", agent = "worker" },
    { id = "b", title = "Second", agent = "worker" },
    { id = "c", title = "Last", agent = "worker", needs = ["a", "b"] },
]
runner    = "codex"
leaves    = ["part"]
on.done   = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// Steps that come with the task, two at once. Each leaves `reports/STEP.md`.
pub const WAVES: &str = r#"
name  = "waves"
about = "Have steps done at once."
start = "working"

[artifacts.report]
path   = "reports/{step}.md"
format = "text"

[stages.working]
steps        = "start"
max_parallel = 2
leaves       = ["report"]
on.done      = "complete"
on.failed    = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

/// One agent that leaves `made.md`.
pub const MAKING: &str = r#"
name  = "one"
about = "Have one agent make something."
start = "making"

[artifacts.made]
path   = "made.md"
format = "text"

[stages.making]
agent   = "maker"
leaves  = ["made"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

/// A pipeline that is one check with these commands, as they stand in TOML.
pub fn one_check(commands: &str) -> String {
    format!(
        r#"
name  = "checked"
about = "Run a check."
start = "testing"

[stages.testing]
check     = [{commands}]
on.passed = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#
    )
}

/// One review by Codex, of which the run lives.
pub const REVIEW: &str = r#"
name  = "reviewed"
about = "Have the project reviewed."
start = "reviewing"

[artifacts.review]
path    = ".task/review.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[stages.reviewing]
agent            = "review-codex"
runner           = "codex"
model            = "some-model"
prompt           = "prompts/review.md"
leaves           = ["review"]
writes           = []
on.approved      = "complete"
on.needs_changes = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// A quick way with one gate for what a person calls small and what is small, and a longer way with two.
pub const ROUTED: &str = r#"
name  = "routed"
about = "Fix what is small, and plan the rest."
start = "sizing"

[params.size]
about   = "how much of a process"
choices = ["full", "small"]
default = "full"

[artifacts.plan]
path   = "note.txt"
format = "text"

[stages.sizing]
route        = [{ outcome = "small", params = { size = "small" }, files = 2, lines = 10, avoids = ["deploy/**"] }]
on.small     = "fixing"
on.otherwise = "planning"

[stages.fixing]
agent   = "writer"
retry   = 0
on.done = "trying"

[stages.trying]
check     = ["true"]
on.passed = "over"
on.failed = "asked"

[stages.planning]
agent   = "planner"
leaves  = ["plan"]
retry   = 0
on.done = "writing"

[stages.writing]
agent   = "writer"
reads   = ["plan"]
retry   = 0
on.done = "testing"

[stages.testing]
check     = ["true"]
on.passed = "told"
on.failed = "asked"

[stages.asked]
ask    = "On?"
on.yes = "@interrupted"
on.no  = "given_up"

[stages.told]
end = "completed"

[stages.over]
end = "completed"

[stages.given_up]
end = "failed"

[[prove]]
name    = "what is small is tried"
before  = "over"
through = ["trying"]

[[prove]]
name    = "everything else is planned and tested"
before  = "told"
through = ["planning", "testing"]
"#;
