//! The matrix of attacks on the real server: without the address nobody reads, without the code nobody acts.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use testkit::{Project, Ran};

use super::server::{Answered, Served, Unattended, send};
use crate::fixture::{RUN, entries, says_one_line, stage, started, to_the_question};

/// In the task of the run: nobody may read it who has not the address.
const TASK: &str = "write a note";

fn asking() -> Project {
    let project = started();
    to_the_question(&project);
    project
}

/// One line of the matrix: what is sent, and the status that must come back.
struct Row {
    attack: &'static str,
    request: String,
    status: u16,
}

fn row(attack: &'static str, status: u16, request: impl Into<String>) -> Row {
    Row {
        attack,
        request: request.into(),
        status,
    }
}

/// A request with these headers, each on its line.
fn get(target: &str, headers: &str) -> String {
    format!("GET {target} HTTP/1.1\r\n{headers}\r\n")
}

fn reads(served: &Served) -> Vec<Row> {
    let Served { port, key, .. } = served;
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let home = format!("/{key}/");
    vec![
        row(
            "a name that points here (rebinding)",
            403,
            get(&home, &format!("Host: evil.test:{port}\r\n")),
        ),
        row(
            "no port in the host",
            403,
            get(&home, "Host: 127.0.0.1\r\n"),
        ),
        row(
            "the port of another",
            403,
            get(&home, "Host: 127.0.0.1:1\r\n"),
        ),
        row("no host", 400, get(&home, "")),
        row(
            "two hosts",
            400,
            get(&home, &format!("{host}Host: evil.test\r\n")),
        ),
        row(
            "an absolute target",
            400,
            get(&format!("http://127.0.0.1:{port}{home}"), &host),
        ),
        row(
            "an absolute target of another host",
            400,
            get("http://evil.test/", &host),
        ),
        row("no key", 403, get("/", &host)),
        row(
            "another key",
            403,
            get(&format!("/{}/", "0".repeat(key.len())), &host),
        ),
        row(
            "the beginning of the key",
            403,
            get(&format!("/{}/", &key[..key.len() - 1]), &host),
        ),
        row(
            "the key as a query",
            403,
            get(&format!("/?key={key}"), &host),
        ),
        row(
            "the key as a cookie",
            403,
            get("/", &format!("{host}Cookie: key={key}\r\n")),
        ),
        row("two slashes", 403, get(&format!("//{key}/"), &host)),
        row("the style without the key", 403, get("/style.css", &host)),
        row("the events without the key", 403, get("/live/", &host)),
        row("the figures without the key", 403, get("/metrics", &host)),
        row(
            "a way out of the folder",
            404,
            get(&format!("/{key}/../../../etc/passwd"), &host),
        ),
        row(
            "an encoded way out",
            404,
            get(&format!("/{key}/%2e%2e/%2e%2e/etc/passwd"), &host),
        ),
        row(
            "a page that is not there",
            404,
            get(&format!("/{key}/etc/passwd"), &host),
        ),
        row(
            "a run that is not there",
            404,
            get(&format!("/{key}/run/r-nobody"), &host),
        ),
        row(
            "an image of another site",
            403,
            get(
                &home,
                &format!("{host}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"),
            ),
        ),
        row(
            "a script of another port",
            403,
            get(
                &home,
                &format!("{host}Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n"),
            ),
        ),
        row(
            "a frame of another site",
            403,
            get(
                &home,
                &format!(
                    "{host}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"
                ),
            ),
        ),
        row("HEAD", 405, format!("HEAD {home} HTTP/1.1\r\n{host}\r\n")),
        row(
            "OPTIONS",
            405,
            format!(
                "OPTIONS {home} HTTP/1.1\r\n{host}Origin: http://evil.test\r\nAccess-Control-Request-Method: POST\r\n\r\n"
            ),
        ),
        row("TRACE", 405, format!("TRACE {home} HTTP/1.1\r\n{host}\r\n")),
        row(
            "PUT",
            405,
            format!("PUT {home} HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n"),
        ),
        row(
            "CONNECT",
            400,
            format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{host}\r\n"),
        ),
        row(
            "a body with a page",
            400,
            format!("GET {home} HTTP/1.1\r\n{host}Content-Length: 3\r\n\r\nabc"),
        ),
        row(
            "chunks with a page",
            400,
            format!("GET {home} HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ),
        row(
            "an old version",
            400,
            format!("GET {home} HTTP/1.0\r\n{host}\r\n"),
        ),
        row("no HTTP", 400, "\u{16}\u{3}\u{1}hello\r\n\r\n"),
        row(
            "a long header",
            431,
            get(&home, &format!("{host}X: {}\r\n", "a".repeat(40_000))),
        ),
        row(
            "many headers",
            431,
            get(&home, &format!("{host}{}", "X: 1\r\n".repeat(200))),
        ),
        row(
            "a long target",
            431,
            get(&format!("/{key}/{}", "a".repeat(40_000)), &host),
        ),
    ]
}

type Headers<'a> = &'a [(&'a str, &'a str)];

/// A post to the act's address; what a row gives replaces the header of the same name.
fn post(served: &Served, replaced: Headers<'_>, body: &str) -> String {
    let Served {
        port, key, code, ..
    } = served;
    let length = body.len().to_string();
    let (host, origin) = (
        format!("127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}"),
    );
    let usual = [
        ("Host", host.as_str()),
        ("Origin", &origin),
        ("Content-Type", "application/json"),
        ("X-Gatewright-Code", code),
        ("Content-Length", &length),
    ];
    let kept = usual
        .iter()
        .filter(|(name, _)| !replaced.iter().any(|(other, _)| other == name));
    let given = replaced.iter().filter(|(_, value)| !value.is_empty());
    let headers: String = kept
        .chain(given)
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    format!("POST /{key}/act HTTP/1.1\r\n{headers}\r\n{body}")
}

const YES: &str = r#"{"act":"choose","run":"r-test","stage":"asking","choice":"yes"}"#;

fn acts(served: &Served) -> Vec<Row> {
    let Served {
        port, key, code, ..
    } = served;
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let cases: [(&str, u16, Headers<'_>); 16] = [
        ("a name that points here", 403, &[("Host", "evil.test")]),
        ("no code", 403, &[("X-Gatewright-Code", "")]),
        (
            "another code",
            403,
            &[("X-Gatewright-Code", "0000-0000-0000-0000-0000")],
        ),
        ("the key as the code", 403, &[("X-Gatewright-Code", key)]),
        ("no origin", 403, &[("Origin", "")]),
        ("another origin", 403, &[("Origin", "http://evil.test")]),
        ("a null origin", 403, &[("Origin", "null")]),
        (
            "the origin of another port",
            403,
            &[("Origin", "http://127.0.0.1:1")],
        ),
        (
            "the origin by another name",
            403,
            &[("Origin", "http://localhost")],
        ),
        (
            "a form",
            415,
            &[("Content-Type", "application/x-www-form-urlencoded")],
        ),
        ("plain text", 415, &[("Content-Type", "text/plain")]),
        (
            "a form with a file",
            415,
            &[("Content-Type", "multipart/form-data; boundary=x")],
        ),
        ("no type", 415, &[("Content-Type", "")]),
        ("no length", 400, &[("Content-Length", "")]),
        ("a long body", 413, &[("Content-Length", "70000")]),
        (
            "from another site",
            403,
            &[("Sec-Fetch-Site", "cross-site")],
        ),
    ];
    let mut rows: Vec<Row> = cases
        .iter()
        .map(|(attack, status, headers)| row(attack, *status, post(served, headers, YES)))
        .collect();
    rows.extend([
        row(
            "an act by GET",
            405,
            get(
                &format!("/{key}/act"),
                &format!("{host}X-Gatewright-Code: {code}\r\n"),
            ),
        ),
        row(
            "an act by GET with a query",
            405,
            get(
                &format!("/{key}/act?act=choose&run=r-test&stage=asking&choice=yes"),
                &host,
            ),
        ),
        row(
            "an act without the key",
            403,
            post(served, &[], YES).replace(key.as_str(), "x"),
        ),
        row(
            "an act at another path",
            405,
            post(served, &[], YES).replace("/act HTTP", "/run/r-test HTTP"),
        ),
        row(
            "two codes",
            403,
            post(served, &[], YES).replace("\r\n\r\n", "\r\nX-Gatewright-Code: x\r\n\r\n"),
        ),
        row(
            "chunks",
            400,
            post(served, &[("Transfer-Encoding", "chunked")], YES),
        ),
        row(
            "no JSON",
            400,
            post(served, &[], "act=choose&run=r-test&choice=yes"),
        ),
        row(
            "an unknown act",
            400,
            post(served, &[], r#"{"act":"skip","run":"r-test"}"#),
        ),
        row(
            "the question of another stage",
            409,
            post(served, &[], &YES.replace("asking", "writing")),
        ),
        row(
            "a cancel that is not confirmed",
            409,
            post(
                served,
                &[],
                r#"{"act":"cancel","run":"r-test","reason":"x","confirm":"yes"}"#,
            ),
        ),
    ]);
    rows
}

#[track_caller]
fn withstands(project: &Project, served: &Served, rows: Vec<Row>) {
    let before = entries(project, RUN);
    for Row {
        attack,
        request,
        status,
    } in rows
    {
        let answer = send(served.port, &request);
        assert_eq!(answer.status, status, "{attack}: {answer:?}");
        assert!(!answer.body.contains(TASK), "{attack} reads: {answer:?}");
        assert!(
            !answer.head.to_lowercase().contains("access-control"),
            "{attack}: {answer:?}"
        );
        assert!(
            !answer.head.to_lowercase().contains("location:"),
            "{attack}: {answer:?}"
        );
    }
    assert_eq!(entries(project, RUN), before, "nothing was written");
}

#[test]
fn nobody_reads_the_page_without_its_whole_address() {
    let project = asking();
    let served = Served::start(&project);
    withstands(&project, &served, reads(&served));
    let home = served.page("");
    assert_eq!(home.status, 200, "{home:?}");
    assert!(home.body.contains(TASK), "{home:?}");
}

#[test]
fn nobody_acts_on_the_page_without_the_code_of_the_terminal() {
    let project = asking();
    let served = Served::start(&project);
    withstands(&project, &served, acts(&served));
    let done = send(served.port, &post(&served, &[], YES));
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(stage(&project), "reviewing");
}

#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let project = asking();
    let served = Served::start(&project);
    let refused = send(served.port, "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    for answer in [
        served.page(""),
        served.page("style.css"),
        served.page("none"),
        refused,
    ] {
        for expected in [
            "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self';",
            "frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
            "Cross-Origin-Resource-Policy: same-origin",
        ] {
            assert!(
                answer.head.contains(expected),
                "{expected}: {}",
                answer.head
            );
        }
        assert!(!answer.head.contains("Set-Cookie"), "{}", answer.head);
    }
}

#[test]
fn a_slow_client_is_sent_away_and_keeps_nobody_waiting() {
    let project = asking();
    let served = Served::start(&project);
    let mut slow = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    assert_eq!(served.page("").status, 200, "others are answered meanwhile");
    let mut said = String::new();
    let _ = slow.read_to_string(&mut said);
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
}

#[test]
fn too_many_connections_are_refused_and_then_there_is_room_again() {
    let project = asking();
    let served = Served::start(&project);
    let held: Vec<TcpStream> = (0..64)
        .map(|_| TcpStream::connect(("127.0.0.1", served.port)).unwrap())
        .collect();
    assert_eq!(served.page("").status, 503);
    drop(held);
    // Each connection is let go of as soon as its thread sees the end.
    let answered = std::iter::repeat_with(|| served.page("").status).take(1_000);
    assert!(answered.into_iter().any(|status| status == 200));
}

#[test]
fn a_server_without_a_terminal_only_shows() {
    let project = asking();
    let served = Unattended::start(&project);
    let Unattended { port, key, .. } = &served;
    let page = send(
        *port,
        &format!("GET /{key}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
    );
    assert_eq!(page.status, 200);
    assert!(
        !page.body.contains("<form class=\"act\""),
        "no form: {}",
        page.body
    );
    let before = entries(&project, RUN);
    for code in ["", "0000-0000-0000-0000-0000"] {
        let Answered { status, .. } = send(
            *port,
            &format!(
                "POST /{key}/act HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n\
                 Content-Type: application/json\r\nX-Gatewright-Code: {code}\r\nContent-Length: {}\r\n\r\n{YES}",
                YES.len()
            ),
        );
        assert_eq!(status, 403);
    }
    assert_eq!(entries(&project, RUN), before);
}

#[test]
fn a_taken_port_is_one_clear_line_and_another_server_runs_beside() {
    let project = asking();
    let (one, other) = (Served::start(&project), Served::start(&project));
    assert_ne!(one.port, other.port);
    assert_ne!(one.key, other.key);
    assert_eq!((one.page("").status, other.page("").status), (200, 200));
    let taken: Ran = project.run(["serve", "--port", &one.port.to_string()]);
    says_one_line(taken, 4, &["is taken", "--port"]);
}
