//! A playbook that the linter rejects: its output reaches the debugger.

use expect_test::expect_file;
use testkit::ansible::PLAYBOOK;
use testkit::model::{Actor, Turn, agent_in_foreground, bash, call, say, write};

use super::transcript::Transcript;
use super::{claude_on, denied};
use crate::seeds::ansible::give_linters;
use crate::stage::Stage;

/// A bundle, in a file that may be there from an earlier attempt.
fn bundle(stage: &Stage, name: &str, agent: &str, status: Option<&str>) -> Vec<Turn> {
    let path = stage.path(&format!(".claude/ansible-workflows.{name}.bundle.md"));
    let status = status.map(|status| format!("status: {status}\n"));
    let text = format!(
        "---\nsource_agent: {agent}\ntarget_agent: next\ntimestamp: \"2026-01-15T10:00:00Z\"\n\
         target_path: site.yml\n{}---\nA playbook that greets people.\n",
        status.unwrap_or_default()
    );
    let read = call("Read", serde_json::json!({ "file_path": path }));
    vec![read, write(path, &text)]
}

fn worker(marker: &str, turns: impl IntoIterator<Item = Turn>) -> Actor {
    Actor::new(marker, turns.into_iter().chain([say("DONE")]))
}

fn script(stage: &Stage) -> Vec<Actor> {
    let next = || bash("gatewright next");
    let check = || bash("gatewright check");
    let bare = PLAYBOOK.replace("    - name: Say hello\n      ansible", "    - ansible");
    let (generator, debugger) = ("ansible-generator", "ansible-debugger");
    let validates = |marker: &str| {
        let leaves = bundle(stage, "validating", "ansible-validator", Some("PASS"));
        worker(marker, leaves)
    };
    let main = [
        vec![next()],
        bundle(stage, "scaffolding", "session", None),
        vec![
            agent_in_foreground(generator, "GO-GENERATE"),
            agent_in_foreground("ansible-validator", "GO-VALIDATE-1"),
            check(),
            next(),
            agent_in_foreground(debugger, "GO-DEBUG"),
            agent_in_foreground("ansible-validator", "GO-VALIDATE-2"),
            check(),
            agent_in_foreground("ansible-reviewer", "GO-REVIEW"),
            say("END"),
        ],
    ];
    let site = stage.path("site.yml");
    let read = call("Read", serde_json::json!({ "file_path": site }));
    let approves = bundle(stage, "reviewing", "ansible-reviewer", Some("APPROVED"));
    vec![
        Actor::new("GO-MAIN", main.concat()),
        worker(
            "GO-GENERATE",
            [
                vec![write(&site, &bare)],
                bundle(stage, "generating", generator, None),
            ]
            .concat(),
        ),
        validates("GO-VALIDATE-1"),
        worker(
            "GO-DEBUG",
            [
                vec![read, write(&site, PLAYBOOK)],
                bundle(stage, "debugging", debugger, None),
            ]
            .concat(),
        ),
        validates("GO-VALIDATE-2"),
        worker("GO-REVIEW", approves),
    ]
}

#[test]
fn ansible_asks_nothing_needless_and_the_linters_words_reach_the_debugger() {
    let stage = Stage::builtin("ansible", []);
    let actors = script(&stage);
    let stage = stage.scripted(actors);
    give_linters(&stage);
    let claude = claude_on(&stage, &testkit::ansible::folder());
    let session = claude.ask("/create-playbook target=site.yml Greet people (GO-MAIN)");
    let session = session.succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(denied(&session), [""; 0]);
    // The validator said PASS; what the linter printed is what there is to repair.
    let debugger = stage.model.told("GO-DEBUG");
    for words in [
        "ansible-lint --offline site.yml",
        "All tasks should be named",
    ] {
        assert!(debugger.contains(words), "{words}: {debugger}");
    }
    let mut page = Transcript::new(
        "ansible",
        "A playbook that its validator passes, and that the linter rejects once.",
    );
    page.conversations(
        &stage,
        &[
            ("The session", "GO-MAIN"),
            ("`ansible-generator`, in `generating`", "GO-GENERATE"),
            ("`ansible-validator`, in `validating`", "GO-VALIDATE-1"),
            ("`ansible-debugger`, in `debugging`", "GO-DEBUG"),
            ("`ansible-reviewer`, in `reviewing`", "GO-REVIEW"),
        ],
    );
    let page = page.finished(&stage, &stage.run());
    expect_file!["../../../../../docs/transcripts/ansible.md"].assert_eq(&page);
}
