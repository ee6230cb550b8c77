//! Small pipelines that several test binaries use.

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
