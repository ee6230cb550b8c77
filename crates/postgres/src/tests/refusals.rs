//! What does not work is said in one line, with what to do.

use store::{Access, DatabaseFault, Error};
use testkit::database::{PASSWORD, Server, USER};
use testkit::proxy::Proxy;

use super::{open, ready};
use crate::schema::MIGRATIONS;
use crate::{Address, Postgres, set_up};

#[track_caller]
fn refused<T>(result: Result<T, Error>) -> DatabaseFault {
    match result {
        Ok(_) => panic!("it was not refused"),
        Err(Error::Database { fault, message, .. }) => {
            assert!(
                !message.contains(PASSWORD) && !message.contains('\n'),
                "{message}"
            );
            assert!(message.contains(": "), "{message}");
            fault
        }
        Err(other) => panic!("{other}"),
    }
}

fn at(text: &str) -> Result<Postgres, Error> {
    Postgres::open(&Address::parse(text)?, Access::Write)
}

#[test]
fn each_obstacle_has_its_own_words() {
    let server = Server::start();
    let address = ready(&server, "team");
    let nobody = server.address_of("nobody", PASSWORD, "team");
    let wrong = server.address_of(USER, "wrong", "team");
    let plain = server.address("team");
    let encrypted = format!("{plain}?sslmode=require");
    let elsewhere = plain.replace(&server.port().to_string(), "1");
    for (text, expected) in [
        (wrong.as_str(), DatabaseFault::Password),
        (&nobody, DatabaseFault::Password),
        (&server.address("missing"), DatabaseFault::NoDatabase),
        (&server.address("postgres"), DatabaseFault::NotSetUp),
        (&elsewhere, DatabaseFault::Unreachable),
        (&encrypted, DatabaseFault::Encryption),
    ] {
        assert_eq!(refused(at(text)), expected, "{text}");
    }
    open(&address);
    server.sql("team", "CREATE USER stranger PASSWORD 'x'");
    let stranger = server.address_of("stranger", "x", "team");
    assert_eq!(refused(at(&stranger)), DatabaseFault::Forbidden);
    assert_eq!(
        refused(set_up(&Address::parse(&stranger).unwrap())),
        DatabaseFault::Forbidden
    );
}

#[test]
fn an_encrypted_connection_needs_a_certificate_to_trust() {
    let (server, certificate) = Server::encrypted();
    server.database("team");
    let named = server.address("team").replace("127.0.0.1", "localhost");
    let trusting = format!("sslmode=require&sslrootcert={}", certificate.display());
    let address = Address::parse(&format!("{named}?{trusting}")).unwrap();
    set_up(&address).unwrap();
    let store = open(&address);
    let encrypted = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                     WHERE s.ssl AND a.application_name = 'gatewright'";
    assert_eq!(server.sql("team", encrypted), "1");
    drop(store);
    let unnamed = server.address("team");
    for text in [
        format!("{named}?sslmode=require"),
        format!("{unnamed}?{trusting}"),
        format!("{named}?sslmode=require&sslrootcert=/no/such/file"),
    ] {
        assert_eq!(refused(at(&text)), DatabaseFault::Encryption, "{text}");
    }
}

#[test]
fn only_the_schema_of_this_version_is_used() {
    let server = Server::start();
    let address = ready(&server, "team");
    let again = set_up(&address).unwrap();
    assert_eq!(again.from, again.to);
    server.sql("team", "INSERT INTO gatewright.versions VALUES (1000)");
    assert_eq!(
        refused(at(&server.address("team"))),
        DatabaseFault::NewerSchema
    );
    assert_eq!(refused(set_up(&address)), DatabaseFault::NewerSchema);
    server.sql("team", "DELETE FROM gatewright.versions WHERE version > 1");
    assert_eq!(
        refused(at(&server.address("team"))),
        DatabaseFault::OlderSchema
    );
}

#[test]
fn a_database_of_the_version_before_is_upgraded_and_keeps_what_it_has() {
    let server = Server::start();
    let address = server.database("team");
    for (number, step) in (1..).zip(&MIGRATIONS[..MIGRATIONS.len() - 1]) {
        server.sql("team", step);
        let noted = format!("INSERT INTO gatewright.versions VALUES ({number})");
        server.sql("team", &noted);
    }
    server.sql(
        "team",
        "INSERT INTO gatewright.spending (day, run, person, project, account, cost, tokens) VALUES \
         (gatewright.today(), 'f-1', 'ada', 'shop', '', 70, 1), \
         (gatewright.today(), 'f-2', 'ada', 'shop', '', 30, 1); \
         INSERT INTO gatewright.caps (kind, name, cost) VALUES ('user', 'ada', 100)",
    );
    assert_eq!(refused(at(&address)), DatabaseFault::OlderSchema);
    let done = set_up(&Address::parse(&address).unwrap()).unwrap();
    assert_eq!(done.from + 1, done.to);
    let store = at(&address).unwrap();
    let spent = store.spent_today().unwrap();
    let spent = spent.iter();
    let spent: Vec<_> = spent
        .map(|it| (&*it.person, it.cents, it.estimated_cents))
        .collect();
    assert_eq!(spent, [("ada", 100, 0)]);
    assert!(store.caps().unwrap()[0].spent.is_used_up());
}

#[test]
fn eight_who_set_up_at_once_wait_for_each_other() {
    let server = Server::start();
    let address = Address::parse(&server.database("team")).unwrap();
    let made: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| set_up(&address).unwrap()))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.filter(|set_up| set_up.from == 0).count()
    });
    assert_eq!(made, 1);
    open(&address);
}

#[test]
fn a_replica_is_read_and_not_written() {
    let primary = Server::start();
    ready(&primary, "team");
    let replica = Server::replica_of(&primary);
    let address = Address::parse(&replica.address("team")).unwrap();
    assert_eq!(
        refused(Postgres::open(&address, Access::Write)),
        DatabaseFault::ReadOnly
    );
    Postgres::open(&address, Access::Read).unwrap();
}

#[test]
fn an_older_server_is_refused_by_what_it_says_of_itself() {
    let server = Server::start();
    ready(&server, "team");
    let proxy = Proxy::to(server.port());
    let through = server
        .address("team")
        .replace(&server.port().to_string(), &proxy.port().to_string());
    at(&through).unwrap();
    let version = server.sql("team", "SHOW server_version_num");
    // As the server answers: six bytes follow, and then the number as a text.
    let said = |version: &str| [&6_i32.to_be_bytes(), version.as_bytes()].concat();
    proxy.replace_in_answers(&said(&version), &said("140012"));
    assert_eq!(refused(at(&through)), DatabaseFault::OldServer);
    let address = Address::parse(&through).unwrap();
    assert_eq!(refused(set_up(&address)), DatabaseFault::OldServer);
}
