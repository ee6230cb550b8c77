//! The built-in pipelines from their beginning to their end, each agent played by a script.

use testkit::{Project, Ran};

use super::fixture::{PROGRAM, World, says};

/// Plays every agent of every built-in pipeline, well.
pub(super) const ALL: &str = r#"
mkdir -p .task .claude/state/phases
bundle() {
    printf -- '---\nsource_agent: %s\ntarget_agent: b\ntimestamp: now %s\ntarget_path: site.yml\nstatus: %s\n---\n# Notes\n' \
        "$GATEWRIGHT_AGENT" "$count" "$2" > ".claude/ansible-workflows.$1.bundle.md"
}
signal() { echo "{\"status\": \"completed\", \"worker_id\": \"$GATEWRIGHT_AGENT-1\", \"phase\": \"$GATEWRIGHT_STAGE\", \"timestamp\": \"$count\"}" > .task/worker-signal.json; }
plan="{\"id\": \"plan-20260115-110000\", \"title\": \"t $count\", \"technical_approach\": {\"pattern\": \"x\", \"rationale\": \"y\"}, \"steps\": [{\"id\": 1, \"description\": \"do it\"}]}"
case $GATEWRIGHT_STAGE in
scaffolding | debugging) bundle "$GATEWRIGHT_STAGE" DONE ;;
generating) bundle generating DONE; echo '- hosts: all' > site.yml ;;
validating) bundle validating PASS ;;
reviewing) bundle reviewing APPROVED ;;
IDLE | GATHERING | REFINING) echo "this is what $GATEWRIGHT_AGENT says" ;;
EXECUTING) echo worked > done.txt ;;
requirements_gathering)
    signal
    echo '{"id": "story-20260115-103000", "title": "t", "requirements": {"functional": ["it works"]}, "acceptance_criteria": [{"id": "a", "scenario": "s", "given": "g", "when": "w", "then": "t"}], "test_criteria": {"commands": ["grep -q hello hello.txt"]}}' > .task/user-story.json ;;
plan_drafting) signal; echo "$plan" > .task/plan.json ;;
plan_refining) signal; echo "$plan" > .task/plan-refined.json ;;
plan_reviewing | code_reviewing | quick_reviewing)
    who=${GATEWRIGHT_MODEL:-codex}
    of=${GATEWRIGHT_STAGE%_reviewing}; [ $of = quick ] && of=code
    echo "{\"id\": \"review-20260115-113000\", \"reviewer\": \"$GATEWRIGHT_AGENT\", \"model\": \"$who\", \"status\": \"approved\", \"summary\": \"good\"}" > ".task/$of-review-$who.json" ;;
implementing | implementing_loop | quick_implementing)
    echo hello > hello.txt
    [ -e grows ] && seq 1 70 >> hello.txt
    echo '{"id": "impl-20260115-120000", "status": "complete", "files_modified": [], "files_created": ["hello.txt"]}' > .task/impl-result.json ;;
planning)
    echo '{"phases": [{"id": "a", "title": "A", "agent": "x"}, {"id": "b", "title": "B", "agent": "x", "needs": ["a"]}]}' > .claude/state/plan.json ;;
executing)
    echo "by $GATEWRIGHT_STEP" > "$GATEWRIGHT_STEP.txt"
    echo '{"status": "completed", "deliverables": ["x"], "context_for_next": "y"}' > ".claude/state/phases/$GATEWRIGHT_STEP.json" ;;
verifying) echo '{"status": "PASS", "summary": "fine"}' > .claude/state/verification.json ;;
*) exit 9 ;;
esac
"#;

fn world() -> World {
    World::new(Project::with_git(PROGRAM), ALL)
}

fn run(world: &World, words: &str) -> Ran {
    let agent = world.programs().join("agent");
    let line = format!(
        "run {words} --task try --id r-test --stand-in {}",
        agent.display()
    );
    world.gatewright(&line)
}

#[test]
fn context_first_gathers_refines_plans_works_and_is_finished_by_a_persons_word() {
    let world = world();
    run(&world, "context-first --answer EXECUTING=finish").succeeds();
    let starts = ["IDLE", "GATHERING", "REFINING", "EXECUTING"];
    assert_eq!(world.starts(), starts);
    assert!(world.is_there("done.txt"), "somebody does the work");
    says(&world.prompt(2), "this is what context-gatherer says");
    // Without a person's word it waits after the work, which is done once.
    let agent = world.programs().join("agent");
    let line = format!(
        "run context-first --task more --id r-more --stand-in {}",
        agent.display()
    );
    let waits = world.gatewright(&line).exits(6);
    says(&waits.stdout, "EXECUTING");
    world.gatewright("resume r-more").exits(6);
    assert_eq!(world.starts().len(), 8);
    world.gatewright("finish r-more").succeeds();
    assert_eq!(world.status("r-more"), "completed");
}

#[test]
fn ansible_is_written_linted_and_reviewed_and_a_worker_does_what_the_session_would() {
    let world = world();
    // The checks need programs that lie outside the project.
    world.program("ansible-playbook", "exit 0");
    world.program("ansible-lint", "exit 0");
    run(&world, "ansible --param target=site.yml").succeeds();
    let agents: Vec<String> = world.noted("starts");
    assert_eq!(
        agents
            .iter()
            .filter(|line| line.contains("ing "))
            .collect::<Vec<_>>(),
        [
            "scaffolding session",
            "generating ansible-generator",
            "validating ansible-validator",
            "reviewing ansible-reviewer",
        ]
    );
}

#[test]
fn multi_ai_goes_from_requirements_to_tested_code_with_one_answer_in_advance() {
    let world = world();
    run(&world, "multi-ai --answer approval=approve").succeeds();
    assert_eq!(
        world.starts(),
        [
            "requirements_gathering",
            "plan_drafting",
            "plan_refining",
            "plan_reviewing",
            "plan_reviewing",
            "plan_reviewing",
            "implementing_loop",
            "code_reviewing",
            "code_reviewing",
            "code_reviewing",
        ]
    );
    assert_eq!(
        world.history("checked").len(),
        1,
        "what the person approved was run"
    );
}

#[test]
fn multi_ai_takes_a_small_change_the_quick_way_with_one_review_and_the_tests() {
    let world = world();
    let small = "multi-ai --answer approval=approve --param size=small";
    run(&world, small).succeeds();
    let quick = [
        "requirements_gathering",
        "quick_implementing",
        "quick_reviewing",
    ];
    assert_eq!(world.starts(), quick);
    let checked = world.history("checked");
    assert_eq!(checked.len(), 1);
    assert_eq!(checked[0]["fact"]["stage"], "quick_testing");
    let status = world.facts("status r-test");
    assert_eq!(status["stage"]["name"], "complete_small", "{status}");
}

#[test]
fn multi_ai_plans_and_reviews_in_full_what_was_called_small_and_has_grown() {
    let world = world();
    world.project.write("grows", "");
    let small = "multi-ai --answer approval=approve --param size=small";
    run(&world, small).succeeds();
    let starts = world.starts();
    assert_eq!(
        starts[..4],
        [
            "requirements_gathering",
            "quick_implementing",
            "plan_drafting",
            "plan_refining"
        ]
    );
    let reviews = |stage: &str| starts.iter().filter(|start| *start == stage).count();
    assert_eq!(
        ["quick_reviewing", "plan_reviewing", "code_reviewing"].map(reviews),
        [0, 3, 3]
    );
    says(&world.prompt(3), "71 lines");
    let status = world.facts("status r-test");
    assert_eq!(status["stage"]["name"], "complete", "{status}");
}

#[test]
fn phases_are_planned_worked_through_and_verified() {
    let world = world();
    run(&world, "phases").succeeds();
    assert_eq!(
        world.starts(),
        ["planning", "executing/a", "executing/b", "verifying"]
    );
    assert_eq!(world.project.read("b.txt"), "by b\n");
}

#[test]
fn phases_that_are_given_are_worked_through_without_a_plan() {
    let world = world();
    world
        .project
        .write("list.txt", "- the first part\n- the second part\n");
    run(&world, "phases --steps list.txt").succeeds();
    assert_eq!(
        world.starts(),
        ["executing/phase_0", "executing/phase_1", "verifying"]
    );
    assert_eq!(world.project.read("phase_1.txt"), "by phase_1\n");
}

/// The document asks for files created, patterns applied and concerns; who comes next reads them.
#[test]
fn the_generator_of_ansible_hands_on_the_patterns_that_it_applied() {
    let notes = "## Files Created\nsite.yml\n\n## Patterns Applied\nhandlers instead of restarts\n";
    let script = ALL.replace(
        "generating) bundle generating DONE;",
        &format!("generating) bundle generating DONE; printf '{notes}' >> .claude/ansible-workflows.generating.bundle.md;"),
    );
    // The programs of the checks are numbered like the agents, so each agent keeps its own prompt.
    let script = format!("cp \"$here/prompt.$count\" \"$here/told.$GATEWRIGHT_AGENT\"\n{script}");
    let world = World::new(Project::with_git(PROGRAM), &script);
    world.program("ansible-playbook", "exit 0");
    world.program("ansible-lint", "exit 0");
    run(&world, "ansible --param target=site.yml").succeeds();
    let told = |agent: &str| world.noted(&format!("told.{agent}")).join("\n");
    let generator = told("ansible-generator");
    for section in ["## Files Created", "## Patterns Applied", "Concerns"] {
        says(&generator, section);
    }
    // The validator gets the bundle word for word.
    says(&told("ansible-validator"), "handlers instead of restarts");
}

/// The tests fail because none of them printed the story's `success_pattern`, whatever their exit codes; the
/// implementer reads which text was missing, and then they pass.
#[test]
fn the_success_pattern_of_a_story_fails_its_tests_until_they_print_it() {
    let script = ALL
        .replace(
            r#"{"commands": ["grep -q hello hello.txt"]}"#,
            r#"{"commands": ["grep hello hello.txt"], "success_pattern": "hello world"}"#,
        )
        .replace(
            "    echo hello > hello.txt\n",
            "    if [ -e hello.txt ]; then echo hello world > hello.txt; else echo hello > hello.txt; fi\n",
        );
    let world = World::new(Project::with_git(PROGRAM), &script);
    run(&world, "multi-ai --answer approval=approve").succeeds();
    let checked = world.history("checked");
    let verdicts = checked.iter().map(|entry| &entry["fact"]["verdict"]);
    assert_eq!(
        verdicts.collect::<Vec<_>>(),
        ["failed", "passed"],
        "{checked:?}"
    );
    let starts = world.starts();
    let tries = starts.iter().enumerate();
    let tries = tries.filter(|(_, stage)| *stage == "implementing_loop");
    let tries: Vec<usize> = tries.map(|(at, _)| at + 1).collect();
    assert_eq!(tries.len(), 2, "{starts:?}");
    let again = world.prompt(tries[1]);
    for fact in ["grep hello hello.txt", "hello world", "exited with code 0"] {
        says(&again, fact);
    }
    world.gatewright("verify r-test").succeeds();
}
