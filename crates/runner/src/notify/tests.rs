//! Notices that arrive, and those that do not.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::thread;

use runtime::definition;

use super::*;

fn opened() -> OpenRun {
    let here = Path::new("/");
    let Ok(compiled) =
        definition::find("context-first", here, here).and_then(|it| definition::compile(&it))
    else {
        panic!("the built-in pipeline is accepted")
    };
    testkit::open_run(compiled.pipeline, "Write a note", engine::Time(0))
}

fn sender(folder: &Path) -> NoticeSender {
    let search = check::search(&[], folder);
    let status = Status::Waiting("Is secret-key-1234 right?".to_owned());
    let secrets = ["secret-key-1234".to_owned()];
    NoticeSender {
        body: body(&opened(), &status, &secrets).to_string(),
        variables: BTreeMap::from([
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("GATEWRIGHT_RUN".into(), "r-1".into()),
        ]),
        search,
        folder: folder.to_owned(),
    }
}

#[test]
fn a_target_is_an_address_or_a_command() {
    let words = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned());
        Ok(NotifyTarget::Command(words.collect()))
    };
    let address = |text: &str| Ok(NotifyTarget::Address(text.to_owned()));
    for (text, expected) in [
        (
            "https://example.com/hook?x=1",
            address("https://example.com/hook?x=1"),
        ),
        ("http://127.0.0.1:80", address("http://127.0.0.1:80")),
        (
            "notify-send 'it is done'",
            words(&["notify-send", "it is done"]),
        ),
        ("./tell.sh", words(&["./tell.sh"])),
        ("ftp://example.com", words(&["ftp://example.com"])),
    ] {
        assert_eq!(NotifyTarget::parse(text), expected, "{text}");
    }
    for bad in [
        "",
        "  ",
        "say done | tee log",
        "say 'done",
        "https://a b",
        "http://a\"\nx",
    ] {
        assert!(NotifyTarget::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_secret_in_an_address_is_not_shown() {
    for (text, expected) in [
        (
            "https://ada:pw@example.com/T0/B0/secret",
            "https://example.com/…",
        ),
        ("http://example.com?token=1", "http://example.com/…"),
        ("say 'the word'", "say"),
    ] {
        assert_eq!(NotifyTarget::parse(text).unwrap().shown(), expected);
    }
}

#[test]
fn a_command_hears_the_notice_on_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sh -c 'cat > heard; echo $GATEWRIGHT_RUN >> heard'";
    // The quotes keep the dollar away from us, and the shell is one that was asked for.
    let target = NotifyTarget::parse(script).unwrap();
    sender(folder.path()).send(&target).unwrap();
    let heard = std::fs::read_to_string(folder.path().join("heard")).unwrap();
    let (notice, run) = heard.split_once('}').unwrap();
    assert_eq!(run, "r-1\n");
    let notice: Value = serde_json::from_str(&format!("{notice}}}")).unwrap();
    assert_eq!(
        notice,
        json!({
            "run": "r-1", "pipeline": "context-first", "task": "Write a note", "status": "waiting",
            "stage": "IDLE", "reason": "Is «redacted» right?", "project": "/p",
        })
    );
}

#[test]
fn an_address_gets_the_notice_as_a_post() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook", server.local_addr().unwrap());
    let request = thread::spawn(move || {
        let (stream, _) = server.accept().unwrap();
        let mut reader = BufReader::new(&stream);
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        for line in head.lines() {
            if let Some(number) = line.to_lowercase().strip_prefix("content-length: ") {
                length = number.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let reply = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        std::io::Write::write_all(&mut (&stream), reply).unwrap();
        (head, String::from_utf8(body).unwrap())
    });
    let folder = tempfile::tempdir().unwrap();
    let target = NotifyTarget::parse(&address).unwrap();
    sender(folder.path()).send(&target).unwrap();
    let (head, body) = request.join().unwrap();
    assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
    assert!(
        head.to_lowercase()
            .contains("content-type: application/json"),
        "{head}"
    );
    let notice: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(notice["status"], "waiting");
}

#[test]
fn what_cannot_be_told_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let why = |target: &str| {
        let target = NotifyTarget::parse(target).unwrap();
        sender(folder.path()).send(&target).unwrap_err()
    };
    assert!(why("no-such-program-here").contains("was not found"));
    assert!(why("./nothing.sh").contains("cannot start"));
    assert_eq!(
        why("sh -c 'echo no route >&2; exit 7'"),
        "it ended with 7: no route"
    );
    // Nobody listens there.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    assert!(
        why(&address).starts_with("it ended with 7"),
        "{}",
        why(&address)
    );
}

#[test]
fn only_what_a_person_wants_to_know_is_worth_a_notice() {
    for (status, expected) in [
        (Status::Waiting(String::new()), true),
        (Status::Failed, true),
        (Status::Completed, true),
        (Status::Cancelled, false),
        (Status::Running, false),
        (Status::Queued, false),
    ] {
        assert_eq!(is_worth_a_notice(&status), expected, "{status:?}");
    }
}
