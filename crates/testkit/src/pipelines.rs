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
