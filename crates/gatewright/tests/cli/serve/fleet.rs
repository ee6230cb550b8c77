//! The page of a machine that has joined a fleet: runs of both stores, acts on both, and a database that goes and comes.

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testkit::Project;
use testkit::database::Server;

use super::server::Served;
use crate::fixture::{PROGRAM, RUN, fact};

/// A question, and a check after it: no agent is needed.
const ASKS: &str = r#"
name  = "asks"
about = "Ask, then test."
start = "asking"

[stages.asking]
ask    = "Shall it be tested?"
on.yes = "testing"
on.no  = "stopped"

[stages.testing]
check     = ["true"]
on.passed = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// A machine with a queued run at home, and a run of its fleet that waits for an answer.
struct Joined {
    server: Server,
    project: Project,
    _remote: TempDir,
}

impl Joined {
    fn new() -> Self {
        let (server, remote) = (Server::start(), TempDir::new().unwrap());
        let address = server.database("team");
        let mut git = Command::new("git");
        git.arg("-C").arg(remote.path());
        let made = git.args(["init", "--quiet", "--bare"]).status();
        assert!(made.unwrap().success());
        let project = Project::with_git(PROGRAM);
        project.write("asks.toml", ASKS);
        project.trust("asks.toml");
        let git = |line: &str| project.git(line.split(' ')).succeeds();
        git("config user.name Somebody");
        git("config user.email somebody@localhost");
        git("add asks.toml");
        git("commit --quiet --message=one");
        git(&format!("remote add origin {}", remote.path().display()));
        let run = |line: &str| project.run(line.split(' ')).succeeds();
        run(&format!("fleet setup {address}"));
        run(&format!("fleet join {address} --name desk"));
        run(&format!(
            "start asks.toml --task at-home --queue --id {RUN}"
        ));
        run("start asks.toml --task together --queue --fleet --id f-1");
        run("worker --fleet --once");
        Self {
            server,
            project,
            _remote: remote,
        }
    }
}

#[test]
fn runs_of_both_stores_are_on_the_page_and_are_acted_on_where_they_are() {
    let joined = Joined::new();
    let served = Served::start(&joined.project);
    let home = served.page("").body;
    for run in ["run/r-test", "run/f-1"] {
        assert!(home.contains(run), "no {run} in {home}");
    }
    assert!(home.contains("<title>(1) "), "{home}");
    assert!(home.contains("act-choose-f-1"), "{home}");
    for path in [
        "run/f-1",
        "run/f-1/history",
        "run/r-test",
        "pipeline/asks",
        "compare?a=f-1&b=r-test",
    ] {
        let page = served.page(path);
        assert_eq!(page.status, 200, "{path}: {page:?}");
        assert!(page.body.contains("asks"), "{path}: {}", page.body);
    }
    assert_eq!(served.page("run/f-nobody").status, 404);
    let figures = served.page("metrics").body;
    for line in [
        "gatewright_runs{status=\"waiting\"} 1\n",
        "gatewright_runs{status=\"queued\"} 1\n",
        "gatewright_fleet_counted 1\n",
        "gatewright_waiting_runs 1\n",
    ] {
        assert!(figures.contains(line), "no {line} in {figures}");
    }
    assert!(served.page("figures").body.contains("2 runs"));

    let answer = r#"{"act":"choose","run":"f-1","stage":"asking","choice":"yes"}"#;
    let done = served.act(answer);
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(
        fact(&joined.project, "status f-1")["stage"]["name"],
        "testing"
    );
    let history = fact(&joined.project, "history f-1");
    let mut entries = history["entries"].as_array().unwrap().iter();
    let answered = entries.find(|entry| entry["fact"]["kind"] == "answered");
    let by = &answered.expect("an answer")["by"];
    assert_eq!(by["kind"], "person", "{by}");
    assert!(by.to_string().contains("on the page"), "{by}");
    served.wait_for("", |home| home.contains("<title>Inbox"));
    let cancel = r#"{"act":"cancel","run":"f-1","reason":"not needed","confirm":"f-1"}"#;
    assert_eq!(served.act(cancel).status, 200);
    assert_eq!(fact(&joined.project, "status f-1")["status"], "cancelled");
}

#[test]
fn a_database_that_is_away_takes_only_its_runs_from_the_page_until_it_is_back() {
    let joined = Joined::new();
    let served = Served::start(&joined.project);
    served.wait_for("", |home| home.contains("run/f-1"));
    joined.server.crash();
    let away = served.wait_for("", |home| !home.contains("run/f-1"));
    assert!(away.contains("run/r-test"), "{away}");
    assert_eq!(
        away.matches("cannot read the runs of the fleet").count(),
        1,
        "{away}"
    );
    assert_eq!(served.page("run/r-test").status, 200);
    assert_eq!(served.page("run/f-1").status, 500);
    let answer = r#"{"act":"choose","run":"f-1","stage":"asking","choice":"yes"}"#;
    assert_eq!(served.act(answer).status, 500);
    let figures = served.page("metrics").body;
    for line in [
        "gatewright_runs{status=\"queued\"} 1\n",
        "gatewright_fleet_counted 0\n",
    ] {
        assert!(figures.contains(line), "no {line} in {figures}");
    }

    joined.server.start_again();
    let back = served.wait_for("", |home| home.contains("run/f-1"));
    assert!(!back.contains("cannot read"), "{back}");
    assert_eq!(served.page("run/f-1").status, 200);
    assert_eq!(fact(&joined.project, "status f-1")["status"], "waiting");
}

#[test]
fn a_database_that_answers_nothing_keeps_no_page_waiting_for_good() {
    let joined = Joined::new();
    let served = Served::start(&joined.project);
    served.wait_for("", |home| home.contains("run/f-1"));
    let process = joined.server.process().unwrap().try_into().unwrap();
    let process = Pid::from_raw(process).unwrap();
    let answer = r#"{"act":"choose","run":"f-1","stage":"asking","choice":"yes"}"#;
    // It goes on to accept connections, as a machine that is paused does. No assertion fails meanwhile: a stopped
    // server cannot be ended.
    kill_process(process, Signal::STOP).unwrap();
    let (page, act) = (served.page("run/f-1"), served.act(answer));
    let (home, other) = (served.page(""), served.page("run/r-test"));
    kill_process(process, Signal::CONT).unwrap();
    assert_eq!(page.status, 500, "{page:?}");
    assert_eq!(act.status, 500, "{act:?}");
    assert!(home.body.contains("run/r-test"), "{home:?}");
    assert_eq!(other.status, 200, "{other:?}");
    served.wait_for("run/f-1", |page| page.contains("together"));
    // What nobody waited for was not done.
    assert_eq!(served.act(answer).status, 200);
}
