//! Who may install and who may not: an agent begins, and only a person changes or takes back.

use testkit::{Project, Ran};

use super::fixture::{LOCAL, init, project, tree};

fn agent(project: &Project, arguments: &[&str]) -> Ran {
    let mut command = project.command(arguments);
    command.env("CLAUDECODE", "1");
    Ran::from(command.output().unwrap())
}

#[test]
fn an_agent_may_install_where_nothing_is_installed() {
    let project = project();
    agent(&project, &["init", "--yes"]).succeeds();
    assert!(project.path().join(LOCAL).exists());
}

#[test]
fn an_agent_may_not_change_what_is_installed() {
    let project = project();
    init(&project, &[]).succeeds();
    let before = tree(&project.path());
    for arguments in [
        &["init", "--yes", "ansible"][..],
        &["init", "--yes"],
        &["init", "--yes", "--shared"],
        &["uninit", "--yes"],
        &["uninit", "--yes", "--user"],
    ] {
        let ran = agent(&project, arguments).exits(1);
        assert!(ran.stderr.contains("GW-R66"), "{arguments:?}\n{ran}");
        assert_eq!(tree(&project.path()), before, "{arguments:?}");
    }
    agent(&project, &["doctor"]).exits(1);
    init(&project, &["--user"]).succeeds();
    let ran = agent(&project, &["init", "--yes", "--user"]).exits(1);
    assert!(ran.stderr.contains("GW-R66"), "{ran}");
}

#[test]
fn a_script_may_install_and_take_back_while_nobody_works() {
    let project = project();
    init(&project, &[]).succeeds();
    init(&project, &["ansible"]).succeeds();
    project.run(["uninit", "--yes"]).succeeds();
}

/// What to type is the same command, so that nobody installs another pipeline.
#[test]
fn a_script_that_does_not_confirm_is_told_its_own_command() {
    let project = project();
    for (arguments, line) in [
        (&["init"][..], "`gatewright init --yes`"),
        (
            &["init", "multi-ai", "--shared", "--allow"],
            "`gatewright init multi-ai --shared --allow --yes`",
        ),
        (
            &["init", "phases", "--plugin", "my plugin"],
            "`gatewright init phases --yes --plugin 'my plugin'`",
        ),
    ] {
        let ran = project.run(arguments).exits(1);
        assert!(ran.stderr.contains(line), "{ran}");
    }
}
