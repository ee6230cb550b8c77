//! Whether anybody is at work on a run, as the page shows it: from the process, not from the stored status.

use testkit::Project;
use testkit::pipelines::SCRIPTED;
use testkit::terminal::Terminal;

use super::server::Served;
use crate::fixture::{PROGRAM, RUN};

#[test]
fn a_run_whose_owner_is_killed_is_lost_on_every_page_and_can_be_resumed() {
    let project = Project::with_git(PROGRAM);
    project.write("scripted.toml", SCRIPTED);
    project.write("worker.sh", "#!/bin/sh\necho I begin\nsleep 600\n");
    project.trust("scripted.toml");
    let mut command = project.at_home("sh");
    let line = format!("exec '{PROGRAM}' run scripted.toml --task x --id {RUN}");
    command.args(["-c", &line]);
    let owner = Terminal::open(&command);
    let served = Served::start(&project);
    let live = served.wait_for("run/r-test", |page| page.contains("I begin"));
    assert!(
        live.contains("is-live") && !live.contains("data-act=\"resume\""),
        "{live}"
    );
    owner.kill();
    let lost = served.wait_for("run/r-test", |page| page.contains("is-lost"));
    assert!(lost.contains("data-act=\"resume\""), "{lost}");
    served.wait_for("", |page| page.contains("is-lost"));
}
