//! `gatewright fleet`: machines with a home of their own on one real PostgreSQL.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use testkit::database::{PASSWORD, Server, USER};
use testkit::{Project, Ran};

use crate::fixture::{project, run, says_one_line};

/// The password as an address has it.
const SECRETS: [&str; 2] = [PASSWORD, "only%20for%20tests"];

fn fleet<const WORDS: usize>(project: &Project, words: [&str; WORDS]) -> Ran {
    let ran = Ran::from(
        project
            .command(["fleet"].iter().chain(&words))
            .output()
            .unwrap(),
    );
    for secret in SECRETS {
        assert!(
            !ran.stdout.contains(secret) && !ran.stderr.contains(secret),
            "{ran}"
        );
    }
    ran
}

fn json(ran: Ran) -> Value {
    serde_json::from_str(&ran.succeeds().stdout).unwrap()
}

#[test]
fn two_machines_join_see_each_other_and_leave() {
    let server = Server::start();
    let address = server.database("team");
    let (one, two) = (project(), project());
    let set_up = json(fleet(&one, ["setup", &address, "--json"]));
    assert_eq!(set_up["from"], 0);
    assert_eq!(
        json(fleet(&two, ["setup", &address, "--json"]))["from"],
        set_up["schema"]
    );

    let first = json(fleet(
        &one,
        [
            "join", &address, "--label", "linux", "--label", "gpu", "--json",
        ],
    ));
    let second = json(fleet(&two, ["join", &address, "--json"]));
    // Both have the same host name.
    let (name, longer) = (
        first["name"].as_str().unwrap(),
        second["name"].as_str().unwrap(),
    );
    assert!(
        longer.starts_with(name) && longer.len() > name.len(),
        "{name} {longer}"
    );
    let kept = one.state().join("fleet.json");
    assert_eq!(
        fs::metadata(kept).unwrap().permissions().mode() & 0o777,
        0o600
    );

    let status = json(fleet(&two, ["status", "--json"]));
    let machines = status["machines"].as_array().unwrap();
    assert_eq!(machines.len(), 2);
    let is_this: Vec<bool> = machines
        .iter()
        .map(|it| it["is_this"].as_bool().unwrap())
        .collect();
    assert_eq!(is_this, [false, true]);
    assert_eq!(machines[0]["labels"], serde_json::json!(["linux", "gpu"]));
    assert!(
        fleet(&one, ["status"])
            .succeeds()
            .stdout
            .contains("linux, gpu")
    );

    // A clock that is an hour off shows on every machine.
    let off = format!("UPDATE gatewright.machines SET skew = 3600000 WHERE name = '{longer}'");
    server.sql("team", &off);
    let status = fleet(&one, ["status"]).succeeds();
    assert_eq!(
        status.stdout.matches("clock off by 1h").count(),
        1,
        "{status}"
    );
    let status = json(fleet(&one, ["status", "--json"]));
    assert_eq!(status["machines"][1]["skew_ms"], 3_600_000);

    // A machine that joins again is the same one.
    let again = json(fleet(
        &two,
        ["join", &address, "--name", "builder", "--json"],
    ));
    assert_eq!(
        (again["machine"].clone(), again["name"].as_str()),
        (second["machine"].clone(), Some("builder"))
    );
    assert_eq!(json(fleet(&two, ["leave", "--json"]))["removed"], true);
    says_one_line(fleet(&two, ["status"]), 1, &["has not joined"]);
    assert_eq!(
        json(fleet(&one, ["status", "--json"]))["machines"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn the_address_may_be_in_a_variable_or_in_a_secret_file() {
    let server = Server::start();
    let address = server.database("team");
    let machine = project();
    let secret = machine.write("secret", &address);
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let path = secret.to_str().unwrap();
    fleet(&machine, ["setup", "--file", path]).succeeds();
    fleet(&machine, ["join", "--file", path]).succeeds();
    let kept = fs::read_to_string(machine.state().join("fleet.json")).unwrap();
    assert!(!kept.contains("only"), "{kept}");
    fleet(&machine, ["status"]).succeeds();
    // The file is read again whenever it is needed.
    fs::write(&secret, server.address_of(USER, "wrong", "team")).unwrap();
    let refused = fleet(&machine, ["status"]);
    says_one_line(refused, 4, &["password", "gatewright fleet join"]);

    let with_variable = |words: [&str; 4]| {
        let mut command = machine.command(["fleet"].iter().chain(&words));
        Ran::from(command.env("TEAM_DATABASE", &address).output().unwrap())
    };
    with_variable(["join", "--variable", "TEAM_DATABASE", "--json"]).succeeds();
    says_one_line(fleet(&machine, ["status"]), 1, &["TEAM_DATABASE"]);
    // A machine without its database leaves as well.
    let left = json(fleet(&machine, ["leave", "--json"]));
    assert_eq!(left["removed"], false);
}

#[test]
fn what_stands_in_the_way_is_said_in_one_line() {
    let server = Server::start();
    let machine = project();
    let missing = server.address("missing");
    let bare = server.address("postgres");
    let wrong = server.address_of(USER, "wrong", "postgres");
    for (words, code, says) in [
        (["join", missing.as_str()], 4, "has no database missing"),
        (["join", &bare], 4, "gatewright fleet setup"),
        (["join", &wrong], 4, "password"),
        (
            ["setup", "postgres://ada@127.0.0.1:1/team"],
            4,
            "cannot reach",
        ),
        (
            ["setup", "mysql://ada@127.0.0.1/team"],
            4,
            "not the address",
        ),
    ] {
        says_one_line(fleet(&machine, words), code, &[says]);
    }
    for line in [
        "fleet join",
        "fleet setup",
        "fleet status postgres://a@b/c",
        "fleet leave --label x",
    ] {
        assert_eq!(run(&machine, line).code, Some(2), "{line}");
    }
    assert!(!machine.state().join("fleet.json").exists());
}

#[test]
fn a_user_who_may_only_read_joins_and_looks() {
    let server = Server::start();
    let address = server.database("team");
    let (admin, reader) = (project(), project());
    fleet(&admin, ["setup", &address]).succeeds();
    fleet(&admin, ["join", &address, "--name", "build"]).succeeds();
    server.sql(
        "team",
        "CREATE USER looker PASSWORD 'x' IN ROLE gatewright_read",
    );
    server.sql("team", "CREATE USER nobody PASSWORD 'x'");
    let looker = server.address_of("looker", "x", "team");
    let joined = json(fleet(&reader, ["join", &looker, "--json"]));
    assert_eq!(joined["reader"], true);
    let status = json(fleet(&reader, ["status", "--json"]));
    assert_eq!(status["machines"].as_array().unwrap().len(), 1);
    for line in [
        "list",
        "list --all",
        "inbox",
        "queue",
        "caps --fleet",
        "adopt",
    ] {
        let ran = run(&reader, line).succeeds();
        assert!(!ran.stderr.contains("not shown"), "{line}: {ran}");
    }
    says_one_line(run(&reader, "status f-none"), 3, &["f-none"]);
    // What writes says which role it needs.
    for line in ["caps --fleet --day cost=1.00", "worker --fleet --once"] {
        let ran = run(&reader, line);
        assert_eq!(ran.code, Some(4), "{ran}");
        assert!(ran.stderr.contains("gatewright_drive"), "{ran}");
    }
    fleet(&reader, ["leave"]).succeeds();
    let nobody = server.address_of("nobody", "x", "team");
    says_one_line(fleet(&reader, ["join", &nobody]), 4, &["may not"]);
    // So it is with a replica, which only reads.
    let replica = Server::replica_of(&server);
    fleet(&reader, ["join", &replica.address("team")]).succeeds();
    run(&reader, "list").succeeds();
    let refused = run(&reader, "caps --fleet --day cost=1.00");
    says_one_line(refused, 4, &["replica"]);
    says_one_line(
        run(&reader, "caps --fleet --day cost=0"),
        2,
        &["more than 0"],
    );
    fleet(&admin, ["leave"]).succeeds();
}
