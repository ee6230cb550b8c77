//! The artifacts of the demo: short, and valid for the schemas of the pipeline.

/// A path in the project and the content of the file.
pub(super) type DemoArtifact = (&'static str, &'static str);

pub(super) const TASK: &str = "greet people by name";

const SIGNAL: &str = ".task/worker-signal.json";

pub(super) const SIGNAL_QUESTION: DemoArtifact = (
    SIGNAL,
    r#"{
  "worker_id": "requirements-gatherer-1",
  "phase": "requirements_gathering",
  "status": "needs_input",
  "questions": [{ "id": "language", "question": "In which language?", "options": ["English", "French"] }],
  "timestamp": "2026-01-15T10:30:00Z"
}
"#,
);

pub(super) const SIGNAL_GATHERED: DemoArtifact = (
    SIGNAL,
    r#"{
  "worker_id": "requirements-gatherer-1",
  "phase": "requirements_gathering",
  "status": "completed",
  "timestamp": "2026-01-15T10:31:00Z"
}
"#,
);

pub(super) const SIGNAL_DRAFTED: DemoArtifact = (
    SIGNAL,
    r#"{
  "worker_id": "planner-1",
  "phase": "plan_drafting",
  "status": "completed",
  "timestamp": "2026-01-15T10:40:00Z"
}
"#,
);

pub(super) const SIGNAL_REFINED: DemoArtifact = (
    SIGNAL,
    r#"{
  "worker_id": "planner-1",
  "phase": "plan_refining",
  "status": "completed",
  "timestamp": "2026-01-15T10:50:00Z"
}
"#,
);

pub(super) const STORY: DemoArtifact = (
    ".task/user-story.json",
    r#"{
  "id": "story-20260115-103100",
  "title": "Greet people by name",
  "requirements": { "functional": ["greet.sh greets the person that it is called with"] },
  "acceptance_criteria": [
    { "id": "a1", "scenario": "a name", "given": "the name Ada", "when": "greet.sh Ada is run", "then": "it prints Hello, Ada!" }
  ],
  "test_criteria": { "commands": ["sh tests/greeting.sh"] }
}
"#,
);

pub(super) const PLAN: DemoArtifact = (
    ".task/plan.json",
    r#"{
  "id": "plan-20260115-104000",
  "title": "A greeting",
  "technical_approach": { "pattern": "one script", "rationale": "there is nothing else to do" },
  "steps": [{ "id": 1, "description": "write greet.sh" }]
}
"#,
);

pub(super) const PLAN_REFINED: DemoArtifact = (
    ".task/plan-refined.json",
    r#"{
  "id": "plan-20260115-104000",
  "title": "A greeting",
  "technical_approach": { "pattern": "one script", "rationale": "there is nothing else to do" },
  "steps": [
    { "id": 1, "description": "write tests/greeting.sh" },
    { "id": 2, "description": "write greet.sh" }
  ]
}
"#,
);

pub(super) const PLAN_SONNET: &str = ".task/plan-review-sonnet.json";
pub(super) const PLAN_OPUS: &str = ".task/plan-review-opus.json";
pub(super) const PLAN_CODEX: &str = ".task/plan-review-codex.json";
pub(super) const CODE_SONNET: &str = ".task/code-review-sonnet.json";
pub(super) const CODE_OPUS: &str = ".task/code-review-opus.json";
pub(super) const CODE_CODEX: &str = ".task/code-review-codex.json";

/// What a reviewer writes down.
pub(super) struct ReviewVerdict {
    pub reviewer: &'static str,
    pub model: &'static str,
    pub status: &'static str,
    pub summary: &'static str,
}

impl ReviewVerdict {
    pub(super) fn text(&self) -> String {
        let Self {
            reviewer,
            model,
            status,
            summary,
        } = self;
        format!(
            r#"{{
  "id": "review-20260115-110000",
  "reviewer": "{reviewer}",
  "model": "{model}",
  "status": "{status}",
  "summary": "{summary}"
}}
"#
        )
    }
}

pub(super) const RESULT: DemoArtifact = (
    ".task/impl-result.json",
    r#"{
  "id": "impl-20260115-120000",
  "status": "complete",
  "files_modified": [],
  "files_created": ["greet.sh", "tests/greeting.sh"],
  "tests": { "written": 1, "passing": 1, "failing": 0 }
}
"#,
);

pub(super) const RESULT_AGAIN: DemoArtifact = (
    ".task/impl-result.json",
    r#"{
  "id": "impl-20260115-121500",
  "status": "complete",
  "files_modified": ["greet.sh"],
  "files_created": [],
  "tests": { "written": 1, "passing": 1, "failing": 0 }
}
"#,
);

pub(super) const GREETING_WRONG: &str = "echo \"Hello, $name!\"\n";
pub(super) const GREETING_RIGHT: &str = "echo \"Hello, $1!\"\n";

pub(super) const TEST: &str = r#"found=$(sh greet.sh Ada)
test "$found" = "Hello, Ada!" && exit 0
echo "wanted: Hello, Ada! found: $found"
exit 1
"#;
