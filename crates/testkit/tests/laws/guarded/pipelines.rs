//! The pipelines of the stories, each as small as its topic.

/// One agent writes, another judges and may change nothing.
pub(super) const FLOW: &str = r#"
name  = "flow"
about = "A draft is written and judged."
start = "writing"

[counters]
reworks = { max = 2, then = "asked" }

[artifacts.draft]
path   = "out/draft.md"
format = "text"

[artifacts.verdict]
path    = "out/verdict.json"
format  = "json"
outcome = { field = "status", values = { APPROVED = "approved", REWORK = "rework" } }

[stages.writing]
agent   = "alpha-writer"
leaves  = ["draft"]
stop    = "hold"
inject  = "Call alpha-writer."
on.done = "judging"

[stages.judging]
agent       = "judge"
leaves      = ["verdict"]
writes      = []
tools.deny  = ["Edit", "mcp__*"]
stop        = "hold"
on.approved = "over"
on.rework   = { to = "writing", count = "reworks" }

[stages.asked]
ask    = "Go on?"
on.yes = { to = "@interrupted", reset = ["reworks"] }
on.no  = "given_up"

[stages.over]
end = "completed"

[stages.given_up]
end = "failed"
"#;

/// Three steps; two of them are for one agent and can begin at once.
pub(super) const WAVES: &str = r#"
name  = "waves"
about = "Steps in waves."
start = "building"

[artifacts.report]
path   = "out/{step}.md"
format = "text"

[stages.building]
steps = [
    { id = "a", title = "first", agent = "builder" },
    { id = "b", title = "second", agent = "builder" },
    { id = "c", title = "third", agent = "tester", needs = ["a", "b"] },
]
leaves    = ["report"]
stop      = "hold"
on.done   = "over"
on.failed = "given_up"

[stages.over]
end = "completed"

[stages.given_up]
end = "failed"
"#;

/// An open stage, then the session's own work, and an end from which the run begins again.
pub(crate) const OPEN: &str = r#"
name  = "open"
about = "Look around, then work."
start = "looking"

[artifacts.map]
path   = "out/map.md"
format = "text"

[artifacts.notes]
path   = "out/notes.md"
format = "text"

[stages.looking]
allow        = ["scout", "helper-*"]
leaves.scout = ["map"]
after.scout  = "noting"
stop         = "hold"

[stages.noting]
agent   = "session"
leaves  = ["notes"]
stop    = "hold"
on.done = "over"

[stages.over]
end         = "completed"
after.scout = "noting"
"#;

/// A panel of two over one owner's work.
pub(super) const PANEL: &str = r#"
name  = "panel"
about = "Two judges and an owner."
start = "reviewing"

[artifacts.one]
path    = "out/one.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes", "needs_clarification"] }

[artifacts.two]
path    = "out/two.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes", "needs_clarification"] }

[stages.reviewing]
review = "owner"
panel  = [{ agent = "judge", leaves = "one" }, { agent = "critic", leaves = "two" }]
rounds = 2
on.approved            = "over"
on.needs_clarification = "asked"
on.exceeded            = "asked"

[stages.asked]
ask    = "Go on?"
on.yes = { to = "@interrupted", reset = ["reviewing"] }
on.no  = "given_up"

[stages.over]
end = "completed"

[stages.given_up]
end = "failed"
"#;
