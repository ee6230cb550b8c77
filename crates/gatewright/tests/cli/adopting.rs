//! `gatewright adopt`: another machine goes on with a guarded run whose home is lost.

use serde_json::{Value, json};
use testkit::database::Server;
use testkit::{Project, Ran};

use crate::fixture::{RUN, entries, fact, run, says_one_line, stage, trusted};
use crate::shipping::{fleet, guarded, join, machine, one_more, ship};

/// Nothing was heard of any machine for an hour.
fn time_passes(server: &Server) {
    server.sql(
        "team",
        "UPDATE gatewright.machines SET seen_at = seen_at - 3600000",
    );
}

/// Another machine of the fleet, with the same project and an empty store.
fn second(address: &str) -> Project {
    let project = trusted();
    join(&project, address, "two");
    project
}

/// A person types it at a terminal.
fn adopt(project: &Project, words: &[&str], typed: &str) -> Ran {
    let words = ["adopt", RUN].iter().chain(words);
    project.person(words, typed)
}

fn kinds(project: &Project) -> Vec<String> {
    let history = fact(project, &format!("history {RUN}"));
    let entries = history["entries"].as_array().unwrap().iter();
    let kind = |entry: &Value| entry["fact"]["kind"].as_str().unwrap().to_owned();
    entries.map(kind).collect()
}

#[test]
fn a_run_goes_on_elsewhere_from_its_last_shipped_entry() {
    let (server, address) = fleet();
    let one = machine(&address, "one");
    ship(&one);
    let shipped = entries(&one, RUN);
    // The machine dies with an entry that nobody else has.
    one_more(&one, "unseen");
    time_passes(&server);

    let two = second(&address);
    let shown = run(&two, &format!("adopt {RUN} --show")).succeeds();
    assert!(shown.stdout.contains("[stages.writing]"), "{shown}");
    let untrusted = adopt(&two, &[], "");
    assert_eq!(untrusted.code, Some(1), "{untrusted}");
    adopt(&two, &["--trust"], "").succeeds();
    assert_eq!(stage(&two), "writing");
    let told = kinds(&two);
    assert_eq!(told[shipped..], ["adopted", "detached"]);
    let history = fact(&two, &format!("history {RUN}"));
    let adopted = &history["entries"][shipped];
    assert_eq!(adopted["rule"], "GW-R150");
    assert_eq!(adopted["fact"]["machine"], "one");
    assert_eq!(adopted["fact"]["entry"], shipped);
    run(&two, "verify").succeeds();
    let here = adopt(&two, &["--trust"], "");
    assert_eq!(here.code, Some(1), "{here}");
    until_shipped(&server, entries(&two, RUN));
    let verified = fact(&two, "verify");
    assert_eq!(verified["runs"][0]["copy"]["verdict"], "agrees");
    run(&two, "fleet leave").succeeds();

    // The machine comes back: it has all that it had, and hears of it.
    let before = entries(&one, RUN);
    let halted = ship(&one);
    assert_eq!(halted["entries"], 0);
    assert_eq!(halted["halted"][0]["why"], "adopted");
    assert_eq!(halted["halted"][0]["entry"], shipped);
    assert_eq!(ship(&one)["halted"], json!([]), "it is said once");
    assert_eq!(entries(&one, RUN), before);
    let status = fact(&one, &format!("status {RUN}"));
    assert_eq!(status["adopted"]["by"], "two");
    let verified = run(&one, "verify --json").succeeds();
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(verified["runs"][0]["adopted"]["entry"], shipped);
    assert_eq!(verified["runs"][0]["copy"]["verdict"], "agrees");
}

/// The process in the background has shipped all entries of the second machine.
#[track_caller]
fn until_shipped(server: &Server, entries: usize) {
    let count = "SELECT count(*) FROM gatewright.shipped s JOIN gatewright.machines m ON m.id = s.machine \
                 WHERE m.name = 'two'";
    testkit::until("all is shipped", || {
        server.sql("team", count) == entries.to_string()
    });
}

#[test]
fn a_run_whose_machine_is_alive_is_adopted_only_by_force() {
    let (server, address) = fleet();
    let one = machine(&address, "one");
    ship(&one);
    let two = second(&address);
    let refused = adopt(&two, &["--trust"], "");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stdout.contains("sign of life"), "{refused}");
    let unsure = adopt(&two, &["--trust", "--force"], "yes\n");
    assert_eq!(unsure.code, Some(1), "{unsure}");
    // A script has no say in it.
    says_one_line(
        run(&two, &format!("adopt {RUN} --trust --force")),
        1,
        &["person"],
    );
    let count = "SELECT count(*) FROM gatewright.adoptions";
    assert_eq!(server.sql("team", count), "0");
    adopt(&two, &["--trust", "--force"], "r-test\n").succeeds();
    assert_eq!(server.sql("team", count), "1");
    run(&two, "fleet leave").succeeds();

    // What is adopted once is not adopted again by chance.
    time_passes(&server);
    let three = trusted();
    join(&three, &address, "three");
    let refused = adopt(&three, &["--trust", "--from", "one"], "");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stdout.contains("two has adopted it"), "{refused}");
}

#[test]
fn what_cannot_go_on_is_not_adopted() {
    let (server, address) = fleet();
    let one = machine(&address, "one");
    let two = second(&address);
    let unknown = adopt(&two, &["--trust"], "");
    assert_eq!(unknown.code, Some(3), "{unknown}");
    one.person(["cancel", RUN, "--reason", "x"], "r-test\n")
        .succeeds();
    ship(&one);
    time_passes(&server);
    let over = adopt(&two, &["--trust"], "");
    assert_eq!(over.code, Some(1), "{over}");
    assert!(over.stdout.contains("GW-R150"), "{over}");
    // A machine does not adopt from itself, and who has not joined adopts nothing.
    let own = one.person(["adopt", RUN, "--trust"], "");
    assert_eq!(own.code, Some(1), "{own}");
    let stranger = guarded().person(["adopt", RUN], "");
    assert!(stranger.stdout.contains("has not joined"), "{stranger}");
    assert_eq!(
        server.sql("team", "SELECT count(*) FROM gatewright.adoptions"),
        "0"
    );
}

#[test]
fn the_guarded_runs_of_other_machines_are_listed_until_somebody_adopts_them() {
    let (server, address) = fleet();
    let one = machine(&address, "one");
    ship(&one);
    let two = second(&address);
    let rows = |project: &Project| {
        let listed = fact(project, "list --all");
        let rows = listed["runs"].as_array().unwrap().iter();
        let rows = rows.map(|row| (row["run"].clone(), row["machine"].clone()));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(rows(&two), [(json!(RUN), json!("one"))]);
    assert_eq!(
        rows(&one),
        [(json!(RUN), Value::Null)],
        "its own is its own"
    );
    let status = fact(&two, "fleet status");
    let shipped = &status["shipped_runs"][0];
    assert_eq!(
        (&shipped["id"], &shipped["machine"], &shipped["stage"]),
        (&json!(RUN), &json!("one"), &json!("writing"))
    );
    let figures = fact(&two, "metrics --all");
    assert_eq!(figures["runs"]["statuses"]["running"], 1, "{figures}");
    let picture = run(&two, "watch --once").succeeds();
    assert!(picture.stdout.contains(RUN), "{picture}");
    let candidates = fact(&two, "adopt");
    assert_eq!(candidates["runs"][0]["run"], RUN);
    assert_eq!(candidates["runs"][0]["machine"], "one");
    assert!(run(&two, "adopt").succeeds().stdout.contains(RUN));
    for command in ["status", "why", "history"] {
        let ran = run(&two, &format!("{command} {RUN}")).exits(3);
        for part in ["machine one", &format!("gatewright adopt {RUN}")] {
            assert!(ran.stderr.contains(part), "{ran}");
        }
    }
    let unknown = run(&two, "status r-none").exits(3);
    assert!(!unknown.stderr.contains("machine one"), "{unknown}");
    // A run of the fleet is nobody's to adopt, and an unknown one is said to be so.
    says_one_line(run(&two, "adopt f-1"), 1, &["f-1"]);
    says_one_line(run(&two, "adopt r-none"), 3, &["gatewright adopt"]);

    time_passes(&server);
    adopt(&two, &["--trust"], "").succeeds();
    run(&two, "fleet leave").succeeds();
    // The machine that comes back has nothing new, and hears of it.
    let halted = ship(&one);
    assert_eq!(halted["halted"][0]["why"], "adopted");
    let status = fact(&one, &format!("status {RUN}"));
    assert_eq!(status["adopted"]["by"], "two");
    let again = run(&one, "fleet ship --once").succeeds();
    assert!(again.stdout.contains("gatewright verify"), "{again}");
    let three = trusted();
    join(&three, &address, "three");
    let candidates = fact(&three, "adopt");
    let candidates = candidates["runs"].as_array().unwrap();
    assert!(candidates.iter().all(|it| it["machine"] != "one"));
    // There the run has another home now: a person can only close it.
    let before = entries(&one, RUN);
    let refused = one.person(["skip", RUN, "--reason", "x"], "r-test\n");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stdout.contains("gatewright cancel"), "{refused}");
    assert_eq!(entries(&one, RUN), before);
    one.person(["cancel", RUN, "--reason", "x"], "r-test\n")
        .succeeds();
    assert_eq!(fact(&one, &format!("status {RUN}"))["status"], "cancelled");
}
