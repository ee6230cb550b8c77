//! Whether anybody is at work on a run, as the page shows it: from the process, not from the stored status.

use std::time::{Duration, Instant};

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

/// Asks for the page until it shows this.
#[track_caller]
fn wait_for(served: &Served, path: &str, sign: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let body = served.page(path).body;
        if body.contains(sign) {
            return body;
        }
        assert!(Instant::now() < deadline, "no {sign} in {body}");
    }
}

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
    wait_for(&served, "run/r-test", "I begin");
    let live = served.page("run/r-test").body;
    assert!(
        live.contains("is-live") && !live.contains("data-act=\"resume\""),
        "{live}"
    );
    owner.kill();
    let lost = wait_for(&served, "run/r-test", "is-lost");
    assert!(lost.contains("data-act=\"resume\""), "{lost}");
    wait_for(&served, "", "is-lost");
}
