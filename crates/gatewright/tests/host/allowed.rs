//! The rules of `init --allow`, read by the real host: with them it asks nobody, without them it asks.
//!
//! The session holds no run, so our own hook for permissions has no answer: only the rules decide.

use std::path::Path;

use serde_json::Value;
use testkit::claude::{Claude, Headless};
use testkit::model::{Actor, bash, say, write};

use crate::stage::{DRAFT, STORY, Stage, program};

/// What the workers of a pipeline leave, and what the host asks about with the rules: files that no rule is
/// about, and everything below its own folder, where it takes no rule.
struct Case {
    pipeline: &'static str,
    left: &'static [&'static str],
    asked: &'static [&'static str],
}

const CASES: [Case; 3] = [
    Case {
        pipeline: "multi-ai",
        left: &[".task/plan.json", ".task/code-review-opus.json"],
        asked: &[".task/other.json"],
    },
    Case {
        pipeline: "ansible",
        left: &[],
        asked: &[".claude/ansible-workflows.generating.bundle.md"],
    },
    Case {
        pipeline: "phases",
        left: &[],
        asked: &[".claude/state/plan.json", ".claude/state/phases/build.json"],
    },
];

const COMMAND: &str = "gatewright next";

/// A project in which the pipeline is installed, and a session that writes all these files and asks where
/// the run stands.
fn stage(case: &Case, options: &[&str]) -> Stage {
    let stage = Stage::bare([]);
    let writes = case.left.iter().chain(case.asked);
    let writes = writes.map(|path| write(stage.path(path), "{}\n"));
    let turns = writes.chain([bash(COMMAND), bash("touch a"), say("END")]);
    let session = Actor::new("GO-MAIN", turns);
    let stage = stage.scripted([session]);
    let line = ["init", case.pipeline, "--yes"];
    stage
        .project
        .run(line.iter().chain(options).copied())
        .succeeds();
    stage
}

/// The host asks about every tool that is not allowed, also about edits.
fn claude(stage: &Stage) -> Claude {
    let path = std::env::var("PATH").unwrap_or_default();
    let folder = Path::new(program()).parent().expect("a folder");
    Claude::new(&stage.project, &stage.model)
        .env("PATH", format!("{}:{path}", folder.display()))
        .permission_mode("manual")
}

/// The files and command lines that the host would have asked a person about.
fn asked_about(stage: &Stage, session: &Headless) -> Vec<String> {
    let results = session.of_type("result");
    let denials = results.last().map(|result| &result["permission_denials"]);
    let denials = denials.and_then(Value::as_array).cloned();
    let root = format!("{}/", stage.project.path().display());
    let named = |denial: Value| {
        let input = &denial["tool_input"];
        let path = input["file_path"]
            .as_str()
            .map(|path| path.replace(&root, ""));
        path.or_else(|| Some(input["command"].as_str()?.to_owned()))
    };
    let denials = denials.unwrap_or_default().into_iter();
    denials.filter_map(named).collect()
}

#[test]
fn with_the_rules_nobody_is_asked_about_what_a_worker_leaves() {
    for case in &CASES {
        let stage = stage(case, &["--allow"]);
        let session = claude(&stage).ask("GO-MAIN").succeeds();
        // The rules are about one file and one command each.
        let others = case.asked.iter().chain([&"touch a"]);
        let others: Vec<&str> = others.copied().collect();
        assert_eq!(asked_about(&stage, &session), others, "{}", case.pipeline);
        for path in case.left {
            assert!(stage.path(path).exists(), "{path}");
        }
    }
}

#[test]
fn without_the_rules_the_host_asks_about_each_of_them() {
    for case in &CASES {
        let stage = stage(case, &[]);
        let session = claude(&stage).ask("GO-MAIN").succeeds();
        let all = case.left.iter().chain(case.asked);
        let all = all.chain([&COMMAND, &"touch a"]);
        let all: Vec<&str> = all.copied().collect();
        assert_eq!(asked_about(&stage, &session), all, "{}", case.pipeline);
    }
}

/// A placeholder of a path is a star of the rule, and stands for one name.
#[test]
fn a_star_stands_for_one_name() {
    let pipeline = STORY.replace("draft.md", "out/{run}.md");
    for (allow, asked) in [
        (&["--allow"][..], &["out/deep/r-1.md"][..]),
        (&[], &["out/r-1.md", "out/deep/r-1.md"]),
    ] {
        let stage = Stage::with(&pipeline, []);
        let writes = ["out/r-1.md", "out/deep/r-1.md"].map(|path| write(stage.path(path), DRAFT));
        let session = Actor::new("GO-MAIN", writes.into_iter().chain([say("END")]));
        let stage = stage.scripted([session]);
        let line = ["init", "story", "--yes"].iter().chain(allow).copied();
        stage.project.run(line).succeeds();
        let session = claude(&stage).ask("GO-MAIN").succeeds();
        assert_eq!(asked_about(&stage, &session), asked, "{allow:?}");
    }
}

/// At a terminal the person sees the host's dialogue, or does not.
#[test]
fn with_the_rules_no_dialogue_opens() {
    let case = &CASES[0];
    let allowed = stage(case, &["--allow"]);
    let session = claude(&allowed).open();
    session.say("GO-MAIN");
    // The first dialogue is about the file that no rule is about.
    session.wait_for("Do you want to create other.json?");
    for path in case.left {
        assert!(allowed.path(path).exists(), "{path}");
    }
    let asking = stage(case, &[]);
    let session = claude(&asking).open();
    session.say("GO-MAIN");
    session.wait_for("Do you want to create plan.json?");
    assert!(!asking.path(case.left[0]).exists());
}
