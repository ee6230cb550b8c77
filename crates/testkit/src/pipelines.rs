//! Small pipelines that several tests use. A test that needs one with another line replaces that line, or
//! puts keys of the whole pipeline in front. xtask compiles this file, too, so it uses nothing.

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

/// One agent, in a run that every session has. It leaves nothing.
pub const SESSION_WRITER: &str = r#"
name   = "writing"
about  = "One agent, and then the end."
begins = "session"
start  = "working"

[stages.working]
agent   = "writer"
on.done = "complete"

[stages.complete]
end = "completed"
"#;

/// One agent that leaves `note.txt`.
pub const ONE: &str = r#"
name  = "one"
about = "Have a note written."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

/// Two agents, one after the other. The first leaves `note.txt` and the second `end.txt`.
pub const TWO: &str = r#"
name  = "two"
about = "Write a note, then finish it."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[artifacts.end]
path   = "end.txt"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "ending"

[stages.ending]
agent   = "finisher"
leaves  = ["end"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

/// Two review twice what one writes and fixes; then a person decides.
pub const PANEL: &str = r#"
name  = "panel"
about = "Have a note reviewed by two."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[artifacts.ra]
path    = "ra.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[artifacts.rb]
path    = "rb.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "reviewing"

[stages.reviewing]
review = "writer"
panel  = [{ agent = "ca", leaves = "ra" }, { agent = "cb", leaves = "rb" }]
rounds = 2
fixes  = ["note"]
on.approved = "complete"
on.exceeded = "deciding"

[stages.deciding]
ask     = "They do not agree. Go on?"
on.yes  = "complete"
on.stop = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// One agent, which the script `worker.sh` plays.
pub const SCRIPTED: &str = r#"
name  = "scripted"
about = "Have a script work."
start = "working"

[stages.working]
agent   = "worker"
runner  = "command"
prompt  = "worker.sh"
on.done = "complete"

[stages.complete]
end = "completed"
"#;

/// Two steps that work at once. They leave nothing.
pub const SIDES: &str = r#"
name  = "sides"
about = "Build two sides."
start = "building"

[stages.building]
steps = [
    { id = "left", title = "The left side", agent = "builder" },
    { id = "right", title = "The right side", agent = "builder" },
]
max_parallel = 2
on.done      = "complete"
on.failed    = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// These steps, as they stand in TOML, up to nine at once. Each says in `parts/STEP.json` whether it is done.
pub fn graph(steps: &str) -> String {
    format!(
        r#"
name  = "graph"
about = "Work through a graph."
start = "building"

[artifacts.part]
path    = "parts/{{step}}.json"
format  = "json"
outcome = {{ field = "status", values = ["done", "failed"] }}

[stages.building]
steps = [
{steps}]
max_parallel = 9
leaves       = ["part"]
on.done      = "complete"
on.failed    = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#
    )
}

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
