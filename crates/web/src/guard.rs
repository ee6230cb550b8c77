//! Judges a request before anything is read: may this caller see a page, or act?
//!
//! Pages need the key in their address. It is not a cookie: servers on other ports of this machine would get that, and
//! a browser would send it along for others. Acts also need the code that only the terminal has shown.

use crate::http::request::{Head, Header, LONGEST_BODY};
use crate::http::response::Status;

/// What the server compares requests with.
#[derive(Clone, Debug)]
pub(crate) struct Secrets {
    pub port: u16,
    /// The first part of every path.
    pub address_key: String,
    /// Without one nobody can act on this page.
    pub code: Option<String>,
}

/// A request that may be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// A page: its path below the key, and its query.
    Read { path: String, query: String },
    /// An act, with the length of its body.
    Act { length: usize },
}

/// Why a request gets no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denial {
    pub status: Status,
    pub reason: &'static str,
}

pub(crate) const ACT_PATH: &str = "act";
pub(crate) const CODE_HEADER: &str = "x-gatewright-code";

const NEED_ADDRESS: &str = "open the whole address that `gatewright serve` printed";

fn deny<T>(status: Status, reason: &'static str) -> Result<T, Denial> {
    Err(Denial { status, reason })
}

/// The host is judged first, then the key, then the rest: who may not read learns nothing else.
pub(crate) fn judge(head: &Head, secrets: &Secrets) -> Result<Admitted, Denial> {
    let host = own_host(head, secrets.port)?;
    let (path, query) = below_key(&head.target, &secrets.address_key)?;
    not_embedded(head)?;
    let is_act = path == ACT_PATH;
    match (head.method.as_str(), is_act) {
        ("GET", false) => read(head, path, query),
        ("POST", true) => act(head, host, secrets),
        _ => deny(
            Status::MethodNotAllowed,
            "use GET for pages and POST for actions",
        ),
    }
}

/// A page of another site that points its own name at this machine has its own name in `Host`.
fn own_host(head: &Head, port: u16) -> Result<&str, Denial> {
    let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
    match head.header("host") {
        Header::Once(host) if own.iter().any(|own| own == host) => Ok(host),
        Header::Once(_) => deny(Status::Forbidden, "this server has another name"),
        Header::Absent | Header::Repeated => {
            deny(Status::BadRequest, "a request needs one `Host` header")
        }
    }
}

fn below_key<'a>(target: &'a str, key: &str) -> Result<(&'a str, &'a str), Denial> {
    let Some(inside) = target.strip_prefix('/') else {
        return deny(Status::BadRequest, "the target must be a path");
    };
    let (path, query) = inside.split_once('?').unwrap_or((inside, ""));
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    if !is_same(first, key) {
        return deny(Status::Forbidden, NEED_ADDRESS);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    let steps_out = rest.split('/').any(|part| part == ".." || part == ".");
    if steps_out || !rest.chars().all(is_plain) {
        return deny(Status::NotFound, "there is no such page");
    }
    Ok((rest.trim_end_matches('/'), query))
}

/// A browser says for whom it asks. Pages of other origins may link here; they may not load or send anything.
fn not_embedded(head: &Head) -> Result<(), Denial> {
    let is_navigation = head.header("sec-fetch-mode") == Header::Once("navigate")
        && head.header("sec-fetch-dest") == Header::Once("document");
    match head.header("sec-fetch-site") {
        Header::Absent | Header::Once("same-origin" | "none") => Ok(()),
        Header::Once(_) if is_navigation && head.method == "GET" => Ok(()),
        Header::Once(_) | Header::Repeated => deny(
            Status::Forbidden,
            "the request comes from another page, which is not allowed",
        ),
    }
}

fn read(head: &Head, path: &str, query: &str) -> Result<Admitted, Denial> {
    let length = head.header("content-length");
    let has_body = !matches!(length, Header::Absent | Header::Once("0"))
        || head.header("transfer-encoding") != Header::Absent;
    if has_body {
        return deny(Status::BadRequest, "a page takes no body");
    }
    Ok(Admitted::Read {
        path: path.to_owned(),
        query: query.to_owned(),
    })
}

fn act(head: &Head, host: &str, secrets: &Secrets) -> Result<Admitted, Denial> {
    let origin = format!("http://{host}");
    if head.header("origin") != Header::Once(&origin) {
        return deny(Status::Forbidden, "an act must come from this page");
    }
    if !is_json(head.header("content-type")) {
        return deny(Status::WrongType, "an act must be application/json");
    }
    let Some(code) = &secrets.code else {
        return deny(
            Status::Forbidden,
            "this page only shows: start `gatewright serve` at a terminal to act on it",
        );
    };
    match head.header(CODE_HEADER) {
        Header::Once(given) if is_same(given, code) => {}
        Header::Once(_) | Header::Absent | Header::Repeated => {
            return deny(
                Status::Forbidden,
                "an act needs the code that `gatewright serve` has shown at the terminal",
            );
        }
    }
    length(head).map(|length| Admitted::Act { length })
}

fn is_json(header: Header<'_>) -> bool {
    let Header::Once(value) = header else {
        return false;
    };
    let (kind, rest) = value.split_once(';').unwrap_or((value, ""));
    let rest = rest.trim();
    kind.trim().eq_ignore_ascii_case("application/json")
        && (rest.is_empty() || rest.eq_ignore_ascii_case("charset=utf-8"))
}

fn length(head: &Head) -> Result<usize, Denial> {
    if head.header("transfer-encoding") != Header::Absent {
        return deny(Status::BadRequest, "the request needs a Content-Length");
    }
    let Header::Once(length) = head.header("content-length") else {
        return deny(Status::BadRequest, "the request needs a Content-Length");
    };
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return deny(Status::BadRequest, "the request needs a Content-Length");
    }
    match length.parse() {
        Ok(length) if length <= LONGEST_BODY => Ok(length),
        Ok(_) | Err(_) => deny(Status::BodyTooLong, "an act is at most 64 KiB long"),
    }
}

/// Takes the same time wherever the texts differ.
fn is_same(given: &str, expected: &str) -> bool {
    let pairs = given.bytes().zip(expected.bytes());
    let difference = pairs.fold(0, |sum, (one, other)| sum | (one ^ other));
    given.len() == expected.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "k3y";
    const CODE: &str = "c0de";

    fn secrets() -> Secrets {
        Secrets {
            port: 7,
            address_key: KEY.to_owned(),
            code: Some(CODE.to_owned()),
        }
    }

    fn head(method: &str, target: &str, headers: &[(&str, &str)]) -> Head {
        let headers = headers.iter();
        Head {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    /// The status of the denial, or what was admitted.
    fn judged(head: &Head) -> Result<Admitted, Status> {
        judge(head, &secrets()).map_err(|denial| denial.status)
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:7");
    const ACT: [(&str, &str); 5] = [
        HOST,
        ("origin", "http://127.0.0.1:7"),
        ("content-type", "application/json"),
        ("content-length", "2"),
        (CODE_HEADER, CODE),
    ];

    #[test]
    fn a_page_needs_the_own_host_and_the_key() {
        let read = |path: &str| {
            Ok(Admitted::Read {
                path: path.to_owned(),
                query: String::new(),
            })
        };
        for host in ["127.0.0.1:7", "localhost:7", "[::1]:7"] {
            let asked = head("GET", "/k3y/", &[("host", host)]);
            assert_eq!(judged(&asked), read(""), "{host}");
        }
        assert_eq!(
            judged(&head("GET", "/k3y/run/r-1", &[HOST])),
            read("run/r-1")
        );
        let denied = |target: &str, headers: &[(&str, &str)], status: Status| {
            let asked = head("GET", target, headers);
            assert_eq!(judged(&asked), Err(status), "{target} {headers:?}");
        };
        for host in [
            "evil.test:7",
            "127.0.0.1",
            "127.0.0.1:8",
            "127.0.0.1:7.",
            "",
            "LOCALHOST:7",
        ] {
            denied("/k3y/", &[("host", host)], Status::Forbidden);
        }
        denied("/k3y/", &[], Status::BadRequest);
        denied("/k3y/", &[HOST, HOST], Status::BadRequest);
        for target in [
            "/",
            "/k3",
            "/k3y0/",
            "/K3Y/",
            "//k3y/",
            "/k3y%2f",
            "/x/../k3y/",
        ] {
            denied(target, &[HOST], Status::Forbidden);
        }
        for target in ["http://127.0.0.1:7/k3y/", "*", "127.0.0.1:7"] {
            denied(target, &[HOST], Status::BadRequest);
        }
        for target in [
            "/k3y/../../etc/passwd",
            "/k3y/%2e%2e/x",
            "/k3y/./x",
            "/k3y/a\\b",
        ] {
            denied(target, &[HOST], Status::NotFound);
        }
        denied(
            "/k3y/",
            &[HOST, ("content-length", "1")],
            Status::BadRequest,
        );
        denied(
            "/k3y/",
            &[HOST, ("transfer-encoding", "chunked")],
            Status::BadRequest,
        );
    }

    #[test]
    fn another_page_may_link_here_and_not_load() {
        let from = |site: &'static str, mode: &'static str, to: &'static str| {
            let headers = [
                HOST,
                ("sec-fetch-site", site),
                ("sec-fetch-mode", mode),
                ("sec-fetch-dest", to),
            ];
            judged(&head("GET", "/k3y/", &headers)).is_ok()
        };
        assert!(from("none", "navigate", "document"));
        assert!(from("same-origin", "cors", "empty"));
        assert!(from("cross-site", "navigate", "document"));
        assert!(!from("cross-site", "navigate", "iframe"));
        assert!(!from("cross-site", "no-cors", "image"));
        assert!(!from("same-site", "cors", "empty"));
    }

    #[test]
    fn an_act_needs_origin_json_length_and_code() {
        assert_eq!(
            judged(&head("POST", "/k3y/act", &ACT)),
            Ok(Admitted::Act { length: 2 })
        );
        let with = |name: &str, value: Option<&str>| {
            let mut headers: Vec<(&str, &str)> = ACT.to_vec();
            headers.retain(|(known, _)| *known != name);
            headers.extend(value.map(|value| (name, value)));
            judged(&head("POST", "/k3y/act", &headers)).err()
        };
        for origin in [
            None,
            Some("null"),
            Some("http://localhost:7"),
            Some("https://127.0.0.1:7"),
        ] {
            assert_eq!(
                with("origin", origin),
                Some(Status::Forbidden),
                "{origin:?}"
            );
        }
        let form = "application/x-www-form-urlencoded";
        for kind in [
            None,
            Some("text/plain"),
            Some(form),
            Some("application/jsonp"),
        ] {
            assert_eq!(
                with("content-type", kind),
                Some(Status::WrongType),
                "{kind:?}"
            );
        }
        assert_eq!(
            with("content-type", Some("Application/JSON; charset=UTF-8")),
            None
        );
        for code in [None, Some(""), Some("c0d"), Some("c0dE"), Some("c0de0")] {
            assert_eq!(with(CODE_HEADER, code), Some(Status::Forbidden), "{code:?}");
        }
        for length in [None, Some("+2"), Some("-1"), Some(""), Some("0x2")] {
            assert_eq!(
                with("content-length", length),
                Some(Status::BadRequest),
                "{length:?}"
            );
        }
        for length in ["65537", "99999999999999999999999"] {
            assert_eq!(
                with("content-length", Some(length)),
                Some(Status::BodyTooLong)
            );
        }
        assert_eq!(
            with("transfer-encoding", Some("chunked")),
            Some(Status::BadRequest)
        );
        assert_eq!(
            with("sec-fetch-site", Some("same-site")),
            Some(Status::Forbidden)
        );
        assert_eq!(with("sec-fetch-site", Some("same-origin")), None);
    }

    #[test]
    fn every_other_method_is_refused() {
        for method in [
            "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "CONNECT", "get",
        ] {
            for target in ["/k3y/", "/k3y/act"] {
                let asked = head(method, target, &ACT);
                assert_eq!(
                    judged(&asked),
                    Err(Status::MethodNotAllowed),
                    "{method} {target}"
                );
            }
        }
        assert_eq!(
            judged(&head("GET", "/k3y/act", &[HOST])),
            Err(Status::MethodNotAllowed)
        );
        assert_eq!(
            judged(&head("POST", "/k3y/", &ACT)),
            Err(Status::MethodNotAllowed)
        );
    }

    #[test]
    fn without_a_code_nobody_acts() {
        let secrets = Secrets {
            code: None,
            ..secrets()
        };
        for code in ["", CODE] {
            let mut headers = ACT;
            headers[4] = (CODE_HEADER, code);
            let denied = judge(&head("POST", "/k3y/act", &headers), &secrets);
            assert_eq!(denied.unwrap_err().status, Status::Forbidden);
        }
    }
}
