//! Whether anybody is at work on a run, as the page shows it: from the process, not from the stored status.

use testkit::Project;
use testkit::terminal::Terminal;

use super::server::Served;
use crate::fixture::{PROGRAM, RUN};

/// A worker that takes its time.
pub(super) const LONG: &str = r#"
name  = "long"
about = "Take your time."
start = "working"

[stages.working]
agent   = "worker"
runner  = "command"
prompt  = "worker.sh"
on.done = "complete"

[stages.complete]
end = "completed"
"#;

#[test]
fn a_run_whose_owner_is_killed_is_lost_on_every_page_and_can_be_resumed() {
    let project = Project::with_git(PROGRAM);
    project.write("long.toml", LONG);
    project.write("worker.sh", "#!/bin/sh\necho I begin\nsleep 600\n");
    project.trust("long.toml");
    let mut command = project.at_home("sh");
    let line = format!("exec '{PROGRAM}' run long.toml --task x --id {RUN}");
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
