//! `gatewright fleet ship`: the journals of guarded runs are copied to a real PostgreSQL.

use serde_json::Value;
use testkit::database::Server;
use testkit::{Project, Ran};

use crate::fixture::{RUN, entries, fact, project, run, says_one_line, trusted};

/// A project with a run that a guarded session holds.
pub(crate) fn guarded() -> Project {
    let project = trusted();
    let words = ["start", "small.toml", "--task", "x", "--id", RUN];
    let mut command = project.command(words);
    command.env("CLAUDECODE", "1");
    command.env("CLAUDE_CODE_SESSION_ID", "session-1");
    Ran::from(command.output().unwrap()).succeeds();
    project
}

/// A server with a database for the fleet, and its address.
pub(crate) fn fleet() -> (Server, String) {
    let server = Server::start();
    let address = server.database("team");
    project().run(["fleet", "setup", &address]).succeeds();
    (server, address)
}

/// The same project as a machine of the fleet. Nothing ships in the background: its run began before.
pub(crate) fn machine(address: &str, name: &str) -> Project {
    let project = guarded();
    join(&project, address, name);
    project
}

pub(crate) fn join(project: &Project, address: &str, name: &str) {
    project
        .run(["fleet", "join", address, "--name", name])
        .succeeds();
}

/// One more entry, and its number.
pub(crate) fn one_more(project: &Project, name: &str) -> usize {
    project.person(["checkpoint", RUN, name], "").succeeds();
    entries(project, RUN)
}

pub(crate) fn ship(project: &Project) -> Value {
    fact(project, "fleet ship --once")
}

fn copied(server: &Server) -> String {
    server.sql(
        "team",
        "SELECT string_agg(encode(hash, 'hex'), ' ' ORDER BY number) FROM gatewright.shipped",
    )
}

fn hashes(project: &Project) -> String {
    let export = run(project, &format!("export {RUN}")).succeeds().stdout;
    let lines = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines = lines.filter(|line: &Value| line["kind"] == "entry");
    let hashes: Vec<String> = lines
        .map(|line| line["hash"].as_str().unwrap().to_owned())
        .collect();
    hashes.join(" ")
}

#[test]
fn what_is_new_is_shipped_and_after_an_outage_the_rest() {
    let (server, address) = fleet();
    let machine = machine(&address, "one");
    let first = ship(&machine);
    assert_eq!(first["entries"], entries(&machine, RUN));
    assert_eq!(copied(&server), hashes(&machine));
    assert_eq!(ship(&machine)["entries"], 0);

    server.crash();
    one_more(&machine, "a");
    says_one_line(run(&machine, "fleet ship --once"), 4, &["cannot reach"]);
    one_more(&machine, "b");
    server.start_again();
    assert_eq!(ship(&machine)["entries"], 2);
    assert_eq!(copied(&server), hashes(&machine));

    // Who has forgotten how far the copy is asks the database, and sends nothing twice.
    std::fs::remove_dir_all(machine.state().join("shipping")).unwrap();
    one_more(&machine, "c");
    assert_eq!(ship(&machine)["entries"], 1);
    assert_eq!(copied(&server), hashes(&machine));
}

#[test]
fn the_definition_of_a_run_is_shipped_with_it() {
    let (server, address) = fleet();
    let machine = machine(&address, "one");
    ship(&machine);
    let files = "SELECT convert_from(f.bytes, 'UTF8') FROM gatewright.shipped_files f \
                 JOIN gatewright.shipped_runs r USING (definition) WHERE f.path = 'small.toml'";
    assert_eq!(
        server.sql("team", files).trim(),
        crate::fixture::SMALL.trim()
    );
}

#[test]
fn a_user_who_may_only_ship_joins_and_ships() {
    let (server, _) = fleet();
    let role = "CREATE USER carrier PASSWORD 'x' IN ROLE gatewright_ship";
    server.sql("team", role);
    let address = server.address_of("carrier", "x", "team");
    let machine = machine(&address, "one");
    ship(&machine);
    one_more(&machine, "a");
    assert_eq!(ship(&machine)["entries"], 1);
    assert_eq!(copied(&server), hashes(&machine));
    says_one_line(run(&machine, "fleet status"), 4, &["may not"]);
    for statement in [
        "SELECT * FROM gatewright.shipped",
        "SELECT gatewright.adopt('m', 'r', 1, '', 'n', 'n', 'p', true)",
        "DELETE FROM gatewright.shipped_runs",
        "INSERT INTO gatewright.adoptions SELECT 'm', 'r', 1, '', 'n', 'n', 'p'",
    ] {
        assert!(server.try_sql(&address, statement).is_err(), "{statement}");
    }
}

#[test]
fn another_journal_of_the_same_run_is_not_shipped_over_the_first() {
    let (server, address) = fleet();
    let machine = machine(&address, "one");
    one_more(&machine, "a");
    ship(&machine);
    // As somebody who goes back to an older store, and goes on from there.
    let before = copied(&server);
    let other = guarded();
    let membership = std::fs::read(machine.state().join("fleet.json")).unwrap();
    std::fs::write(other.state().join("fleet.json"), membership).unwrap();
    one_more(&other, "b");
    let halted = ship(&other);
    assert_eq!(halted["entries"], 0);
    assert_eq!(halted["halted"][0]["why"], "rewritten");
    assert_eq!(copied(&server), before);
    // It is said once.
    assert_eq!(ship(&other)["halted"], serde_json::json!([]));
}

/// Copies what a machine stores, as a backup of its disk would.
fn disk(from: &std::path::Path, to: &std::path::Path) {
    let _ = std::fs::remove_dir_all(to);
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .arg(from)
        .arg(to)
        .status();
    assert!(copied.unwrap().success());
}

#[test]
fn verify_compares_a_journal_with_its_shipped_copy() {
    let (server, address) = fleet();
    let machine = machine(&address, "one");
    let verified = fact(&machine, "verify");
    assert_eq!(verified["runs"][0]["copy"]["verdict"], "not shipped");
    ship(&machine);
    let shipped = entries(&machine, RUN);
    one_more(&machine, "a");
    let verified = fact(&machine, "verify r-test");
    let copy = &verified["runs"][0]["copy"];
    assert_eq!(
        (&copy["verdict"], &copy["entries"]),
        (&"agrees".into(), &shipped.into())
    );
    assert_eq!(verified["copies"]["agree"], true);
    assert_eq!(run(&machine, "verify").succeeds().code, Some(0));

    // Without the database the verdict stays on the local facts.
    server.crash();
    let ran = run(&machine, "verify --json");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.stderr.contains("not compared"), "{ran}");
    let verified: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(verified["copies"]["compared"], false);
    assert_eq!(verified["intact"], true);
    run(&machine, "fleet leave").succeeds();
    let verified = fact(&machine, "verify");
    assert_eq!(verified["copies"], Value::Null);
}

#[test]
fn a_journal_that_was_rolled_back_since_it_was_shipped_shows_in_verify() {
    let (_server, address) = fleet();
    let machine = machine(&address, "one");
    let earlier = machine.home().join("earlier");
    disk(&machine.state(), &earlier);
    one_more(&machine, "a");
    let shipped = one_more(&machine, "b");
    ship(&machine);
    disk(&earlier, &machine.state());
    let ran = run(&machine, "verify --json");
    assert_eq!(ran.code, Some(1), "{ran}");
    let verified: Value = serde_json::from_str(&ran.stdout).unwrap();
    let report = &verified["runs"][0];
    // Nothing at home tells of it.
    assert_eq!(report["intact"], true);
    assert_eq!(report["copy"]["verdict"], "rolled back");
    assert_eq!(report["copy"]["entries"], shipped);
    assert!(run(&machine, "verify").stdout.contains("rolled back"));
    let halted = ship(&machine);
    assert_eq!(halted["halted"][0]["why"], "rolled_back");
}

#[test]
fn a_journal_that_was_rewritten_since_it_was_shipped_shows_in_verify() {
    let (server, address) = fleet();
    let machine = machine(&address, "one");
    let earlier = machine.home().join("earlier");
    disk(&machine.state(), &earlier);
    let first = one_more(&machine, "a");
    one_more(&machine, "b");
    ship(&machine);
    disk(&earlier, &machine.state());
    one_more(&machine, "other");
    one_more(&machine, "b");
    one_more(&machine, "c");
    let ran = run(&machine, "verify r-test --json");
    assert_eq!(ran.code, Some(1), "{ran}");
    let verified: Value = serde_json::from_str(&ran.stdout).unwrap();
    let report = &verified["runs"][0];
    assert_eq!(report["intact"], true);
    assert_eq!(report["copy"]["verdict"], "rewritten");
    assert_eq!(report["copy"]["entry"], first);
    assert_eq!(verified["copies"]["agree"], false);

    // Who may only ship cannot read the copy, and sees it all the same.
    server.sql(
        "team",
        "CREATE USER carrier PASSWORD 'x' IN ROLE gatewright_ship",
    );
    join(&machine, &server.address_of("carrier", "x", "team"), "one");
    let verified = fact(&machine, "verify");
    assert_eq!(verified["runs"][0]["copy"]["verdict"], "rewritten");
    assert_eq!(verified["runs"][0]["copy"]["entry"], first + 1);
}
