//! A hook on a machine of a fleet: it decides at home, waits for nobody, and opens no connection.

use serde_json::{Value, json};
use testkit::database::{PASSWORD, Server, USER};
use testkit::proxy::Proxy;
use testkit::{Ran, until};

use super::seat::Seat;

fn begun() -> Value {
    json!({"hook_event_name": "SessionStart", "source": "startup"})
}

fn call() -> Value {
    json!({
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": "toolu_1",
        "tool_input": { "command": "ls" },
    })
}

/// A database of a fleet behind a proxy, and its address there.
fn fleet() -> (Server, Proxy, String) {
    let server = Server::start();
    let seat = Seat::bare();
    let own = server.database("team");
    seat.project.run(["fleet", "setup", &own]).succeeds();
    let proxy = Proxy::to(server.port());
    let password = PASSWORD.replace(' ', "%20");
    let address = format!(
        "postgres://{USER}:{password}@127.0.0.1:{}/team",
        proxy.port()
    );
    (server, proxy, address)
}

fn join(seat: &Seat, address: &str) {
    seat.project.run(["fleet", "join", address]).succeeds();
}

/// The answer without what differs from project to project.
fn answer(seat: &Seat, ran: Ran) -> (Option<i32>, String, String) {
    let path = seat.project.path().display().to_string();
    let status = seat.project.run(["status", "--json"]).succeeds().stdout;
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let run = status["run"].as_str().or(status["id"].as_str());
    let run = run.expect("a run").to_owned();
    let plain = |text: String| text.replace(&path, "PROJECT").replace(&run, "RUN");
    (ran.code, plain(ran.stdout), plain(ran.stderr))
}

#[test]
fn a_session_starts_the_process_that_ships_and_no_tool_call_does() {
    let (server, proxy, address) = fleet();
    let seat = Seat::enrolled();
    join(&seat, &address);
    let before = proxy.connections();
    for _ in 0..3 {
        seat.hook("PreToolUse", &call()).succeeds();
    }
    assert_eq!(proxy.connections(), before);
    assert!(!seat.project.state().join("shipping.lock").exists());
    let shipped = || server.sql("team", "SELECT count(*) FROM gatewright.shipped");
    assert_eq!(shipped(), "0");

    seat.hook("SessionStart", &begun()).succeeds();
    until("all is shipped", || {
        shipped() == seat.journal().len().to_string()
    });
    // What comes later is shipped without another start.
    seat.hook(
        "UserPromptSubmit",
        &json!({"hook_event_name": "UserPromptSubmit", "prompt": "write it"}),
    )
    .succeeds();
    until("all is shipped", || {
        shipped() == seat.journal().len().to_string()
    });
    let connected = proxy.connections();
    seat.hook("SessionStart", &begun()).succeeds();
    until("all is shipped", || {
        shipped() == seat.journal().len().to_string()
    });
    assert_eq!(proxy.connections(), connected, "one process ships");
    // It ends with the membership.
    seat.project.run(["fleet", "leave"]).succeeds();
    let lock = std::fs::File::open(seat.project.state().join("shipping.lock")).expect("a lock");
    until("nobody ships", || lock.try_lock().is_ok());
}

#[test]
fn without_its_database_a_hook_answers_as_without_a_fleet() {
    let (server, _proxy, address) = fleet();
    let (alone, member) = (Seat::installed(), Seat::installed());
    join(&member, &address);
    server.crash();
    for (event, payload) in [("SessionStart", begun()), ("PreToolUse", call())] {
        let expected = alone.hook(event, &payload);
        let found = member.hook(event, &payload);
        assert_eq!(answer(&member, found), answer(&alone, expected), "{event}");
    }
    assert_eq!(member.journal().len(), alone.journal().len());
    let log = member.project.state().join("shipping.log");
    until("the log says why nothing is shipped", || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("cannot reach"))
    });
    // It ships when the database is back.
    server.start_again();
    let shipped = || server.sql("team", "SELECT count(*) FROM gatewright.shipped");
    until("all is shipped", || {
        shipped() == member.journal().len().to_string()
    });
    member.project.run(["fleet", "leave"]).succeeds();
}
