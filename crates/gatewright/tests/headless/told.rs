//! What everyone reads in a headless run of each built-in pipeline, when something goes wrong on the way:
//! `docs/transcripts/headless-*.md`.

use std::fmt::Write as _;

use expect_test::{ExpectFile, expect_file};
use testkit::transcript::{fenced, settled, without_colours};
use testkit::{Project, Ran};

use super::builtins::ALL;
use super::fixture::{PROGRAM, World, says};

/// A run whose agents first do what this script says, and otherwise everything well.
struct Told {
    world: World,
    page: String,
}

impl Told {
    /// `once NAME` is true the first time.
    fn new(pipeline: &str, about: &str, first: &str) -> Self {
        let script = format!(
            "once() {{ mkdir \"$here/once.$1\" 2>/dev/null; }}\nmkdir -p .task\n{first}\n{ALL}"
        );
        let page = format!(
            "# What everyone reads in a headless run of `{pipeline}`\n\n{about}\n\nMade from a run of `gatewright run`, in which a \
             script stands in for each agent. It shows what each worker was given to read, and what the person saw \
             at a terminal.\n"
        );
        let world = World::new(Project::with_git(PROGRAM), &script);
        Self { world, page }
    }

    /// Starts the run; the exit code says whether it waits.
    fn runs(&self, words: &str) -> Ran {
        let agent = self.world.programs().join("agent");
        let line = format!(
            "run {words} --task try --id r-test --stand-in {}",
            agent.display()
        );
        self.world.gatewright(&line)
    }

    /// What the person reads, and answers. The run goes on.
    fn answers(&mut self, words: &[&str]) -> String {
        let shown = self.world.gatewright("next r-test").succeeds().stdout;
        let typed: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let lines = format!(
            "$ gatewright next r-test\n{}\n\n$ gatewright answer r-test {}",
            without_colours(&shown).trim(),
            typed.join(" ")
        );
        // After what the workers read so far.
        let until = self.world.starts().len();
        let _ = write!(
            self.page,
            "\n@@{until}\n## The person, at a terminal\n\n{}",
            fenced(&lines)
        );
        let answer = ["answer", "r-test"].iter().chain(words);
        self.world.project.person(answer, "").succeeds();
        shown
    }

    /// The page: the person's parts stand where they were, between the workers.
    fn matches_page(&self, file: &ExpectFile) {
        let starts = self.world.noted("starts");
        let mut parts = self.page.split("\n@@");
        let mut page = parts.next().unwrap_or_default().to_owned();
        let mut next = 1;
        let mut workers = |page: &mut String, until: usize| {
            for (count, start) in starts.iter().enumerate().take(until).skip(next - 1) {
                let (stage, agent) = start.split_once(' ').unwrap();
                let read = fenced(&in_any_worktree(&self.world.prompt(count + 1)));
                let _ = write!(page, "\n## `{agent}`, in `{stage}`\n\nIt reads:\n\n{read}");
            }
            next = next.max(until + 1);
        };
        for part in parts {
            let (until, person) = part.split_once('\n').unwrap();
            workers(&mut page, until.parse().unwrap());
            page.push('\n');
            page.push_str(person);
        }
        workers(&mut page, starts.len());
        let project = self.world.project.path().display().to_string();
        let programs = self.world.programs().display().to_string();
        let replaced = [
            (project.as_str(), "PROJECT"),
            (programs.as_str(), "BIN"),
            ("r-test", "r-RUN"),
        ];
        file.assert_eq(&settled(&page, &replaced));
    }
}

/// A step works in a folder with a name of its own.
fn in_any_worktree(prompt: &str) -> String {
    let lines = prompt
        .lines()
        .map(|line| match line.split_once("/worktrees/") {
            Some(_) if line.starts_with("Paths are relative to ") => {
                "Paths are relative to WORKTREE."
            }
            _ => line,
        });
    lines.collect::<Vec<_>>().join("\n")
}

fn quoted(word: &str) -> String {
    if word.contains(' ') {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

/// What the worker read that was the nth to start in this stage, from 0.
fn prompt_of(world: &World, stage: &str, nth: usize) -> String {
    let starts = world.starts();
    let mut places = starts.iter().enumerate().filter(|(_, at)| *at == stage);
    let (count, _) = places.nth(nth).expect("it started");
    world.prompt(count + 1)
}

const UNSURE: &str = r#"
case $GATEWRIGHT_STAGE in
requirements_gathering)
    if once ask; then
        echo "{\"status\": \"needs_input\", \"worker_id\": \"$GATEWRIGHT_AGENT-1\", \"phase\": \"$GATEWRIGHT_STAGE\", \"timestamp\": \"1\", \"questions\": [{\"id\": \"q1\", \"question\": \"Which word greets people?\", \"options\": [\"hello\", \"moin\"]}]}" > .task/worker-signal.json
        exit 0
    fi ;;
plan_reviewing)
    if once clarify; then
        echo "{\"id\": \"review-20260115-113000\", \"reviewer\": \"$GATEWRIGHT_AGENT\", \"model\": \"$GATEWRIGHT_MODEL\", \"status\": \"needs_clarification\", \"summary\": \"unclear\", \"questions\": [\"May old greetings go?\"]}" > ".task/plan-review-$GATEWRIGHT_MODEL.json"
        exit 0
    fi
    if once fix; then
        echo "{\"id\": \"review-20260115-113000\", \"reviewer\": \"$GATEWRIGHT_AGENT\", \"model\": \"$GATEWRIGHT_MODEL\", \"status\": \"needs_changes\", \"summary\": \"a step is missing\", \"findings\": [{\"title\": \"remove the old greetings\", \"severity\": \"major\"}]}" > ".task/plan-review-$GATEWRIGHT_MODEL.json"
        exit 0
    fi
    if [ "$GATEWRIGHT_AGENT" = planner ]; then
        echo '{"id": "plan-20260115-110000", "title": "t, fixed", "technical_approach": {"pattern": "x", "rationale": "y"}, "steps": [{"id": 1, "description": "do it"}, {"id": 2, "description": "remove"}]}' > .task/plan-refined.json
        exit 0
    fi ;;
implementing_loop)
    if once fail; then
        echo '{"id": "impl-20260115-120000", "status": "failed", "files_modified": [], "files_created": [], "blockers": ["the disk is read-only"]}' > .task/impl-result.json
        exit 0
    fi
    if once red; then
        echo moin > hello.txt
        echo '{"id": "impl-20260115-120001", "status": "complete", "files_modified": [], "files_created": ["hello.txt"]}' > .task/impl-result.json
        exit 0
    fi ;;
esac
"#;

/// A question of a worker, a reviewer that needs to know more, findings, an implementer that gives up, and
/// a test that fails: those who decide or go on read each of them.
#[test]
fn multi_ai_tells_everyone_what_led_to_their_work() {
    let about = "A worker asks, a reviewer needs to know more, another one has a finding, the implementer gives up \
                 once, and a test fails once.";
    let mut told = Told::new("multi-ai", about, UNSURE);
    told.runs("multi-ai").exits(6);
    let asked = told.answers(&["--answer", "q1=hello"]);
    says(&asked, "Which word greets people?");
    told.world.gatewright("resume r-test").exits(6);
    says(
        &prompt_of(&told.world, "requirements_gathering", 1),
        "hello",
    );
    told.answers(&["approve", "Keep it short."]);
    told.world.gatewright("resume r-test").exits(6);
    says(
        &prompt_of(&told.world, "plan_drafting", 0),
        "> Keep it short.",
    );
    let asked = told.answers(&["continue", "Yes, remove them."]);
    says(&asked, "May old greetings go?");
    told.world.gatewright("resume r-test").exits(6);
    // The reviewer that asked, the owner that fixes and the reviewers of its fix read the answer.
    let reads = |nth| prompt_of(&told.world, "plan_reviewing", nth);
    assert!(!reads(0).contains("Yes, remove them."));
    for nth in 1..=3 {
        says(&reads(nth), "Yes, remove them.");
    }
    says(&reads(2), "remove the old greetings");
    let asked = told.answers(&["retry", "It is writable now."]);
    says(&asked, "the disk is read-only");
    told.world.gatewright("resume r-test").succeeds();
    says(
        &prompt_of(&told.world, "implementing_loop", 1),
        "> It is writable now.",
    );
    let repaired = prompt_of(&told.world, "implementing_loop", 2);
    for words in ["grep -q hello hello.txt", "exited with code 1"] {
        says(&repaired, words);
    }
    assert_eq!(told.world.status("r-test"), "completed");
    told.matches_page(&expect_file![
        "../../../../docs/transcripts/headless-multi-ai.md"
    ]);
}

#[test]
fn ansible_tells_the_debugger_what_the_linter_said() {
    let about = "The linter fails once, and the debugger repairs the playbook.";
    let told = Told::new("ansible", about, "");
    let linter = "if mkdir \"$0.once\" 2>/dev/null; then echo 'site.yml:1: yaml[truthy] use true'; exit 2; fi";
    for (name, script) in [("ansible-playbook", ""), ("ansible-lint", linter)] {
        let version = testkit::tells_version(name);
        let path = told.world.programs().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
        testkit::make_executable(&path);
    }
    told.runs("ansible --param target=site.yml").succeeds();
    let debugging = prompt_of(&told.world, "debugging", 0);
    for words in [
        "ansible-lint",
        "exited with code 2",
        "yaml[truthy] use true",
    ] {
        says(&debugging, words);
    }
    told.matches_page(&expect_file![
        "../../../../docs/transcripts/headless-ansible.md"
    ]);
}

#[test]
fn context_first_tells_each_agent_the_task_and_what_was_found() {
    let about = "Context is gathered and refined, the work is planned and done, and the person finishes it.";
    let told = Told::new("context-first", about, "");
    told.runs("context-first --answer EXECUTING=finish")
        .succeeds();
    for stage in ["IDLE", "GATHERING", "REFINING", "EXECUTING"] {
        says(&prompt_of(&told.world, stage, 0), "try");
    }
    says(
        &prompt_of(&told.world, "GATHERING", 0),
        "this is what context-gatherer says",
    );
    told.matches_page(&expect_file![
        "../../../../docs/transcripts/headless-context-first.md"
    ]);
}

const FAILS_ONCE: &str = r#"
if [ "$GATEWRIGHT_STEP" = a ] && once fail; then
    mkdir -p .claude/state/phases
    echo '{"status": "failed", "deliverables": [], "context_for_next": "", "error": "the folder was locked"}' > .claude/state/phases/a.json
    exit 0
fi
"#;

#[test]
fn phases_tell_who_tries_again_why_it_failed() {
    let about = "A phase fails once, for a reason that it gives, and is tried again; the next one needs it.";
    let told = Told::new("phases", about, FAILS_ONCE);
    told.runs("phases").succeeds();
    says(
        &prompt_of(&told.world, "executing/a", 1),
        "the folder was locked",
    );
    told.matches_page(&expect_file![
        "../../../../docs/transcripts/headless-phases.md"
    ]);
}
