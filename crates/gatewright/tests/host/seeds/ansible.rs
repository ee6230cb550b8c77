//! The test scenarios that 000 lists, its orchestrator, and bad input, each through the real Claude Code
//! and with the real linters.

use serde_json::Value;
use testkit::Project;
use testkit::ansible::PLAYBOOK;
use testkit::claude::Claude;
use testkit::model::{Actor, Model, Turn, agent_in_foreground, bash, say};

use crate::stage::{Stage, program};

/// What an agent does that leaves this file.
fn put(path: &str, text: &str) -> Turn {
    bash(&format!(
        "mkdir -p \"$(dirname {path})\"; cat > {path} <<'PUT'\n{text}PUT"
    ))
}

/// What an agent leaves for the next, with these lines more in its head. Never the same twice.
pub(super) fn bundle(stage: &str, agent: &str, target: &str, more: &str) -> Turn {
    bash(&format!(
        "cat > .claude/ansible-workflows.{stage}.bundle.md <<BUNDLE\n\
         ---\nsource_agent: {agent}\ntarget_agent: next\ntimestamp: \"$(date -u +%FT%T.%NZ)\"\n\
         target_path: {target}\n{more}---\n# What was done\nBUNDLE"
    ))
}

fn scaffolds(target: &str) -> Turn {
    bundle("scaffolding", "session", target, "")
}

/// An agent that does this, leaves its bundle, and says so.
fn worker(marker: &str, does: Turn, leaves: Turn) -> Actor {
    Actor::new(marker, [does, leaves, say("DONE")])
}

/// The agents, each with the marker of its prompt, at work on this target.
fn crew(target: &str) -> Vec<Actor> {
    let look = || bash("ls");
    let validates = |status: &str| {
        let head = format!("status: {status}\n");
        bundle("validating", "ansible-validator", target, &head)
    };
    let reviews = |status: &str| {
        let head = format!("status: {status}\n");
        bundle("reviewing", "ansible-reviewer", target, &head)
    };
    let generates = || bundle("generating", "ansible-generator", target, "");
    let mends = || bundle("debugging", "ansible-debugger", target, "");
    let broken = PLAYBOOK.replace("ansible.builtin.debug", "debgu");
    vec![
        worker("GO-GENERATE", put("site.yml", PLAYBOOK), generates()),
        worker("GO-BREAK", put("site.yml", &broken), generates()),
        worker("GO-ROLE", put_role(), generates()),
        worker("GO-PASS", look(), validates("PASS")),
        worker("GO-FAIL", look(), validates("FAIL")),
        worker("GO-MEND", put("site.yml", PLAYBOOK), mends()),
        worker("GO-APPROVE", look(), reviews("APPROVED")),
        worker("GO-REJECT", look(), reviews("NEEDS_REWORK")),
    ]
}

fn put_role() -> Turn {
    let tasks =
        "---\n- name: Say hello\n  ansible.builtin.debug:\n    msg: \"{{ greeting_text }}\"\n";
    put("roles/greeting/tasks/main.yml", tasks).and_also(put(
        "roles/greeting/defaults/main.yml",
        "---\ngreeting_text: Hello\n",
    ))
}

fn generate() -> Turn {
    agent_in_foreground("ansible-generator", "GO-GENERATE")
}

fn validate(marker: &str) -> Turn {
    agent_in_foreground("ansible-validator", marker)
}

fn mend() -> Turn {
    agent_in_foreground("ansible-debugger", "GO-MEND")
}

fn review(marker: &str) -> Turn {
    agent_in_foreground("ansible-reviewer", marker)
}

pub(super) fn lint() -> Turn {
    bash(&format!("{} check", program()))
}

pub(super) fn start(words: &str) -> Turn {
    bash(&format!(
        "{} start ansible {words} --task 'greet people'",
        program()
    ))
}

fn stage_of(marker: &str, target: &str, turns: Vec<Turn>) -> Stage {
    let main = Actor::new(marker, turns);
    let stage = Stage::builtin("ansible", std::iter::once(main).chain(crew(target)));
    give_linters(&stage);
    stage
}

/// A person gives the checks of the project an environment with the real linters.
pub(crate) fn give_linters(stage: &Stage) {
    let path = testkit::ansible::path();
    let path = path.to_str().expect("a search path is text");
    let line = format!("PATH='{path}' '{}' trust --environment", program());
    stage.project.person_at(&line, "yes\n").succeeds();
}

/// A project in which a session does this with a playbook.
fn playbook(turns: impl IntoIterator<Item = Turn>) -> Stage {
    let begin = [start("--param target=site.yml"), scaffolds("site.yml")];
    let turns = begin.into_iter().chain(turns).collect();
    stage_of("GO-MAIN", "site.yml", turns)
}

/// The host, with the real linters on its search path. Nobody is there whom it could ask whether the
/// bundles may be written: it asks for every file below `.claude`, whatever else is allowed.
pub(super) fn claude(stage: &Stage) -> Claude {
    let claude = stage.claude().permission_mode("bypassPermissions");
    claude.env("PATH", testkit::ansible::path())
}

/// Where the run went, stage by stage.
fn way(stage: &Stage) -> Vec<String> {
    let journal = stage.journal();
    let facts = journal.iter().map(|entry| &entry["fact"]);
    let moves = facts.filter(|fact| fact["kind"] == "moved");
    let places = moves.map(|fact| fact["to"].as_str().unwrap_or_default().to_owned());
    places.collect()
}

/// What the checks said.
fn verdicts(stage: &Stage) -> Vec<Value> {
    let journal = stage.journal();
    let facts = journal.iter().map(|entry| &entry["fact"]);
    let checks = facts.filter(|fact| fact["kind"] == "checked");
    checks.map(|fact| fact["verdict"].clone()).collect()
}

#[test]
fn happy_path_from_an_empty_folder() {
    let asked = "A person asks for an Ansible playbook";
    // At a terminal agents work in the background, and the session is woken when one has ended.
    let turns = [
        scaffolds("site.yml"),
        generate(),
        say("GENERATING"),
        validate("GO-PASS"),
        say("VALIDATING"),
        lint(),
        review("GO-APPROVE"),
        say("REVIEWING"),
        say("END"),
    ];
    let project = Project::new(program());
    let model = Model::start(std::iter::once(Actor::new(asked, turns)).chain(crew("site.yml")));
    let stage = Stage { project, model };
    stage.project.run(["init", "ansible", "--yes"]).succeeds();
    give_linters(&stage);
    let session = claude(&stage).open();
    session.say("/create-playbook target=site.yml Greet people");
    session.wait_for("END");
    session.leave();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(
        way(&stage),
        [
            "generating",
            "validating",
            "linting",
            "reviewing",
            "complete"
        ]
    );
    assert_eq!(verdicts(&stage), ["passed"]);
    assert_eq!(stage.project.read("site.yml"), PLAYBOOK);
    // The person's own words are the task, and the view tells how it went.
    let status = stage.status(&stage.run());
    assert_eq!(status["task"], "Greet people");
    let view = stage.project.read(".claude/ansible-workflows.local.md");
    assert!(view.contains("active: false"), "{view}");
    assert!(view.contains("target_path: site.yml"), "{view}");
}

#[test]
fn validation_failure() {
    let stage = playbook([
        agent_in_foreground("ansible-generator", "GO-BREAK"),
        validate("GO-FAIL"),
        mend(),
        validate("GO-PASS"),
        lint(),
        review("GO-APPROVE"),
        say("END"),
    ]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(
        way(&stage)[..4],
        ["generating", "validating", "debugging", "validating"]
    );
    assert_eq!(stage.project.read("site.yml"), PLAYBOOK);
}

/// The validator's word is not enough.
#[test]
fn a_broken_playbook_that_the_validator_passes_goes_to_the_debugger() {
    let stage = playbook([
        agent_in_foreground("ansible-generator", "GO-BREAK"),
        validate("GO-PASS"),
        lint(),
        review("GO-APPROVE"),
        mend(),
        validate("GO-PASS"),
        lint(),
        review("GO-APPROVE"),
        say("END"),
    ]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(verdicts(&stage), ["failed", "passed"]);
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("debgu"), "{told}");
    // The reviewer that was called too early never worked.
    assert_eq!(stage.count("GW-R11"), 1, "{}", stage.history());
}

#[test]
fn review_rejection() {
    let stage = playbook([
        generate(),
        validate("GO-PASS"),
        lint(),
        review("GO-REJECT"),
        mend(),
        validate("GO-PASS"),
        lint(),
        review("GO-APPROVE"),
        say("END"),
    ]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(
        way(&stage)[3..],
        [
            "reviewing",
            "debugging",
            "validating",
            "linting",
            "reviewing",
            "complete"
        ]
    );
}

#[test]
fn stop_hook_test() {
    let stage = playbook([
        generate(),
        say("I STOP HERE"),
        say("REALLY"),
        validate("GO-PASS"),
        say("AND HERE"),
        lint(),
        review("GO-APPROVE"),
        say("END"),
    ]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.count("GW-R91"), 3, "{}", stage.history());
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("ansible-validator"), "{told}");
    assert!(!told.contains("active: false"), "{told}");
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
}

#[test]
fn max_retries() {
    let stage = playbook([
        agent_in_foreground("ansible-generator", "GO-BREAK"),
        validate("GO-FAIL"),
        mend(),
        validate("GO-FAIL"),
        mend(),
        validate("GO-FAIL"),
        mend(),
        say("I STOP HERE"),
        mend(),
        say("AT THE FIX"),
        validate("GO-PASS"),
        say("VALIDATING"),
        lint(),
        review("GO-APPROVE"),
        say("REVIEWING"),
        say("END"),
    ]);
    let first = claude(&stage).ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "escalate waiting", "{}", stage.history());
    // The third fix was refused, and the stop was free.
    assert_eq!(stage.count("GW-R17"), 1, "{}", stage.history());
    assert_eq!(stage.count("GW-R91"), 0, "{}", stage.history());
    // A person lets it go on, in the same session, and then it is right.
    let session = claude(&stage).resume(first.session_id()).open();
    session.say("/ansible-answer continue");
    session.wait_for("END");
    session.leave();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
}

/// The orchestrator of 001 is the main session; here it leads a role.
#[test]
fn the_orchestrator_leads_a_role_and_is_nobodys_subagent() {
    let target = "roles/greeting";
    let turns = vec![
        start("--param target=roles/greeting/"),
        scaffolds(target),
        agent_in_foreground("ansible-orchestrator", "GO-GENERATE"),
        agent_in_foreground("ansible-generator", "GO-ROLE"),
        validate("GO-PASS"),
        lint(),
        review("GO-APPROVE"),
        say("END"),
    ];
    let stage = stage_of("GO-MAIN", target, turns);
    let orchestrator = claude(&stage).arguments(["--agent", "ansible-orchestrator"]);
    orchestrator.ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(verdicts(&stage), ["passed"]);
    assert_eq!(stage.count("GW-R11"), 1, "{}", stage.history());
    let requests = stage.model.requests_of("GO-MAIN");
    let system = requests[0].system();
    assert!(
        system.contains("You lead a run of the pipeline"),
        "{system}"
    );
}

#[test]
fn lint_and_analyze_are_looks_from_aside() {
    let turns = [
        "LINTED",
        "ANALYZED",
        "ONE",
        "TWO",
        "THREE",
        "FOUR",
        "LINTED AGAIN",
    ];
    let main = Actor::new("Lint Ansible content", turns.map(say));
    let stage = Stage::builtin("ansible", [main]);
    let session = claude(&stage).open();
    session.say("/lint site.yml");
    session.wait_for("LINTED");
    session.say("/analyze roles");
    session.wait_for("ANALYZED");
    assert_eq!(stage.runs(), [""; 0]);
    session.say("/create-playbook target=site.yml Greet people");
    session.wait_for("FOUR");
    let before = stage.journal().len();
    session.say("/lint site.yml");
    session.wait_for("LINTED AGAIN");
    session.leave();
    assert!(
        stage.place().starts_with("scaffolding"),
        "{}",
        stage.history()
    );
    let moved = stage.journal().len() > before && !way(&stage).is_empty();
    assert!(!moved, "{}", stage.history());
    let told = stage.model.told("Lint Ansible content");
    assert!(told.contains("Change no file"), "{told}");
}

/// Each agent learns what the one before it left, and what to leave itself.
#[test]
fn the_next_agent_is_told_what_to_read() {
    let stage = playbook([
        agent_in_foreground("ansible-generator", "GO-BREAK"),
        validate("GO-FAIL"),
        mend(),
        say("END"),
        say("END"),
        say("END"),
        say("END"),
    ]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    let reads = [
        ("GO-BREAK", "scaffolding", "generating"),
        ("GO-FAIL", "generating", "validating"),
        ("GO-MEND", "validating", "debugging"),
    ];
    for (marker, before, after) in reads {
        let told = stage.model.told(marker);
        for phase in [before, after] {
            let path = format!(".claude/ansible-workflows.{phase}.bundle.md");
            assert!(told.contains(&path), "{marker}: {path}\n{told}");
        }
        assert!(told.contains("target_path (`site.yml`)"), "{told}");
    }
}

#[test]
fn notes_of_a_run_are_left_out_of_git() {
    let stage = playbook([say("END"), say("END"), say("END"), say("END")]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    let path = ".claude/ansible-workflows.scaffolding.bundle.md";
    assert!(stage.path(path).exists(), "{}", stage.history());
    for path in [path, ".claude/ansible-workflows.local.md"] {
        stage.project.git(["check-ignore", path]).succeeds();
    }
}

#[test]
fn the_skills_are_offered_to_the_session() {
    let stage = playbook([say("END"), say("END"), say("END"), say("END")]);
    claude(&stage).ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    for skill in [
        "fundamentals",
        "playbook-design",
        "role-design",
        "idempotency",
        "secrets",
        "error-handling",
        "testing",
        "proxmox",
    ] {
        let line = format!("- ansible-{skill}: ");
        assert!(told.contains(&line), "{line}\n{told}");
    }
}
