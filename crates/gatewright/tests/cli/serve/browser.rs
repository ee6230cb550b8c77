//! The page in a real browser: a person answers there, and pages of others get nothing.

mod frozen;
mod pictures;
mod terminal_frame;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};
use testkit::browser::Browser;

use super::server::Served;
use crate::fixture::{run, stage, started, to_the_question};

#[test]
fn a_person_opens_the_page_sees_the_question_answers_and_sees_the_run_go_on() {
    let project = started();
    let served = Served::start(&project);
    let Served {
        port, key, code, ..
    } = &served;
    let mut browser = Browser::start();
    browser.open(&format!("http://127.0.0.1:{port}/{key}/"));
    browser.wait_for("document.title === 'Inbox · Gatewright'");
    // It waits while the page is open: the page shows it by itself.
    to_the_question(&project);
    browser.wait_for("document.title.startsWith('(1) ')");
    browser
        .wait_for("document.querySelector('#inbox').innerText.includes('Shall it be reviewed?')");
    browser.click("#inbox h2 a");
    browser.wait_for("location.pathname.endsWith('/run/r-test')");
    browser.wait_for("document.querySelector('#verdict form.act') !== null");
    browser.click("#verdict button[value=yes]");
    browser.wait_for("document.querySelector('#verdict output').className === 'bad'");
    assert_eq!(
        stage(&project),
        "asking",
        "without the code nothing happens"
    );
    browser.click("#verdict input[name=code]");
    browser.type_text(code);
    browser.click("#verdict button[value=yes]");
    browser.wait_for("document.querySelector('#verdict .line').innerText.includes('reviewing')");
    assert_eq!(stage(&project), "reviewing");
    browser.wait_for("!document.title.startsWith('(1) ')");
    run(&project, "status r-test").succeeds();
}

/// What the page of an attacker gets: the status, or that the browser kept it from the answer.
fn tried(browser: &mut Browser, request: &str) -> Value {
    let attempt = format!(
        "(async () => {{ try {{ const it = await {request}; return it.type + ' ' + it.status; }} catch (e) {{ return 'blocked'; }} }})()"
    );
    browser.value(&attempt)
}

#[test]
fn a_page_whose_name_points_here_reads_nothing_and_acts_nothing() {
    let project = started();
    to_the_question(&project);
    let served = Served::start(&project);
    let Served {
        port, key, code, ..
    } = &served;
    let mut browser = Browser::with_names(&["evil.test"]);
    browser.open(&format!("http://evil.test:{port}/{key}/"));
    let shown = browser.value("document.body.innerText").to_string();
    assert!(!shown.contains("write a note"), "{shown}");
    let origin = browser.value("location.origin");
    assert_eq!(
        origin,
        format!("http://evil.test:{port}"),
        "it is a page of this server by that name"
    );
    let read = tried(&mut browser, &format!("fetch('/{key}/')"));
    assert_eq!(read, "basic 403");
    let act = format!(
        "fetch('/{key}/act', {{method: 'POST', headers: {{'Content-Type': 'application/json', 'X-Gatewright-Code': '{code}'}}, \
         body: JSON.stringify({{act: 'choose', run: 'r-test', stage: 'asking', choice: 'yes'}})}})"
    );
    assert_eq!(tried(&mut browser, &act), "basic 403");
    assert_eq!(stage(&project), "asking");
}

/// A server of an attacker on another port of this machine, which serves an empty page.
fn attacker() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\nConnection: close\r\n\r\n<!doctype html>";
            let _ = stream.write_all(page.as_bytes());
        }
    });
    port
}

#[test]
fn a_page_of_another_port_that_knows_everything_reads_nothing_and_acts_nothing() {
    let project = started();
    to_the_question(&project);
    let served = Served::start(&project);
    let Served {
        port, key, code, ..
    } = &served;
    let mut browser = Browser::start();
    browser.open(&format!("http://127.0.0.1:{}/", attacker()));
    let page = format!("http://127.0.0.1:{port}/{key}");
    assert_eq!(tried(&mut browser, &format!("fetch('{page}/')")), "blocked");
    let blind = tried(
        &mut browser,
        &format!("fetch('{page}/', {{mode: 'no-cors'}})"),
    );
    assert!(blind == "blocked" || blind == "opaque 0", "{blind}");
    let body = "JSON.stringify({act: 'choose', run: 'r-test', stage: 'asking', choice: 'yes'})";
    for act in [
        format!(
            "fetch('{page}/act', {{method: 'POST', headers: {{'Content-Type': 'application/json', 'X-Gatewright-Code': '{code}'}}, body: {body}}})"
        ),
        format!("fetch('{page}/act', {{method: 'POST', mode: 'no-cors', body: {body}}})"),
    ] {
        let answer = tried(&mut browser, &act);
        assert!(answer == "blocked" || answer == "opaque 0", "{answer}");
    }
    let framed = format!(
        "new Promise((done) => {{ const it = document.createElement('iframe'); it.src = '{page}/'; \
         it.onload = () => {{ try {{ done(it.contentDocument.body.innerText); }} catch (e) {{ done('blocked'); }} }}; document.body.append(it); }})"
    );
    assert_eq!(browser.value(&framed), "blocked");
    assert_eq!(stage(&project), "asking");
}

#[test]
fn no_page_scrolls_sideways_on_a_phone_and_no_page_breaks_its_own_rules() {
    let project = started();
    to_the_question(&project);
    let served = Served::start(&project);
    let Served { port, key, .. } = &served;
    let mut browser = Browser::start();
    let phone = json!({ "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true });
    browser.call("Emulation.setDeviceMetricsOverride", phone);
    // The page itself learns what its policy forbids.
    let listen = "window.broken = []; addEventListener('securitypolicyviolation', (e) => broken.push(e.violatedDirective));";
    let script = json!({ "source": listen });
    browser.call("Page.addScriptToEvaluateOnNewDocument", script);
    for path in [
        "",
        "run/r-test",
        "run/r-test?at=3",
        "run/r-test/history",
        "run/r-test/entry/6",
        "run/r-test/output",
        "run/r-test/diff",
        "run/r-test/artifact/note",
        "run/r-test/reviews",
        "pipelines",
        "pipeline/small",
        "figures",
        "compare?a=r-test&b=r-test",
        "docs/rules",
        "docs/serve",
    ] {
        browser.open(&format!("http://127.0.0.1:{port}/{key}/{path}"));
        browser.wait_for("'script' in document.body.dataset");
        let width = browser.value("document.documentElement.scrollWidth");
        assert!(
            width.as_u64().is_some_and(|width| width <= 390),
            "{path}: {width}"
        );
        assert_eq!(browser.value("broken"), json!([]), "{path}");
    }
}
