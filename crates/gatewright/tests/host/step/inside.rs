//! A step inside a guarded session: the real Claude Code calls it, and the real Codex reviews.

use testkit::Project;
use testkit::claude::Claude;
use testkit::codex::{self, run, say as codex_says};
use testkit::model::{Actor, Model, agent_in_foreground, bash, say};

use crate::stage::program;

const STORY: &str = r#"
name   = "story"
about  = "Write a story and have it judged."
begins = "command"
start  = "writing"

[artifacts.draft]
path   = "draft.md"
format = "text"

[artifacts.judgement]
path    = "judgement.json"
format  = "json"
outcome = { field = "verdict", values = { APPROVED = "approved", REJECTED = "rejected" } }

[stages.writing]
agent   = "writer"
leaves  = ["draft"]
stop    = "hold"
on.done = "judging"

[stages.judging]
agent       = "critic"
runner      = "codex"
reads       = ["draft"]
leaves      = ["judgement"]
writes      = []
stop        = "hold"
on.approved = "complete"
on.rejected = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

/// A PATH with Codex.
fn search_path() -> String {
    let system = std::env::var("PATH").unwrap_or_default();
    format!("{}:{system}", codex::folder().display())
}

/// A project in which the story is installed, and trusted by a person who has Codex.
fn installed() -> Project {
    let project = Project::with_git(program());
    project.write(".gatewright/story.toml", STORY);
    let line = format!("PATH='{}' '{}' trust story", search_path(), program());
    let trusted = project.person_at(&line, "yes\n");
    assert_eq!(trusted.code, Some(0), "{trusted}");
    project.run(["init", "story", "--yes"]).succeeds();
    for agent in ["writer", "critic"] {
        let text = format!("---\nname: {agent}\ndescription: the {agent}\n---\nWork.\n");
        project.write(format!(".claude/agents/{agent}.md"), text);
    }
    project
}

#[test]
fn codex_reviews_from_inside_claude_code() {
    let project = installed();
    let program = program();
    let reviewer = codex::CodexModel::start([
        run(r#"cat draft.md && echo '{"verdict": "APPROVED"}' > judgement.json"#),
        codex_says("approved"),
    ]);
    codex::settle(&project, &reviewer);
    let start = format!("{program} start story --task 'a story' --id r-test");
    let model = Model::start([
        Actor::new(
            "GO-MAIN",
            [
                bash(&start),
                bash(&format!("{program} step")),
                agent_in_foreground("writer", "GO-WRITER"),
                agent_in_foreground("critic", "GO-CRITIC"),
                bash(&format!("{program} step")),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [bash("echo Once > draft.md"), say("WRITTEN")]),
        Actor::new("GO-CRITIC", [say("NEVER")]),
    ]);
    let claude = Claude::new(&project, &model).allow(["Bash", "Agent", "Write", "Read"]);
    claude
        .env("PATH", search_path())
        .ask("GO-MAIN: begin")
        .succeeds();

    let told = model.told("GO-MAIN");
    let history = project.run(["history", "r-test"]).stdout;
    // Out of its turn the step says whose turn it is and how that one is called.
    assert!(
        told.contains("'writer'") && told.contains("Agent tool"),
        "{told}"
    );
    // And an agent of the session cannot play the one that Codex is.
    assert!(
        told.contains("'critic'") && told.contains("`gatewright step`"),
        "{told}"
    );
    assert!(model.requests_of("GO-CRITIC").is_empty(), "{history}");
    let status = project.run(["status", "r-test"]).succeeds();
    assert!(status.stdout.contains("completed"), "{history}\n{told}");
    let brief = reviewer.told();
    assert!(
        brief.contains("'critic'") && brief.contains("r-test"),
        "{brief}"
    );
    assert!(brief.contains("draft.md"), "{brief}");
}
