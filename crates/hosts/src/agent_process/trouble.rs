//! Troubles that are no worker's fault, told by what a service or a program says of them.

/// Who must do something before it is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nobody: it passes.
    Limit,
    /// A person, who logs in or gives a key.
    Login,
}

/// What services and programs say when it is too much, in lower case.
const LIMITS: [&str; 10] = [
    "rate limit",
    "rate_limit",
    "usage limit",
    "too many requests",
    "overloaded",
    "high demand",
    "quota",
    "resource_exhausted",
    "please wait and try again later",
    "try again later",
];

/// The same where nobody has logged in.
const LOGINS: [&str; 10] = [
    "not logged in",
    "please run /login",
    "run `codex login`",
    "failed to authenticate",
    "invalid api key",
    "api key not valid",
    "unauthenticated",
    "must specify the gemini_api_key",
    "invalid auth method",
    "set an auth method",
];

/// By the status of an answer of the service. Some gateways say 503 for an overload.
pub fn of_status(status: u64) -> Option<Trouble> {
    match status {
        401 | 403 => Some(Trouble::Login),
        429 | 503 | 529 => Some(Trouble::Limit),
        _ => None,
    }
}

/// By the words of a complaint. A status that stands in them counts more than the words around it,
/// which a service chooses as it likes.
pub fn in_words(complaint: &str) -> Option<Trouble> {
    let complaint = complaint.to_lowercase();
    let named = |words: &[&str]| words.iter().any(|words| complaint.contains(words));
    match status_in(&complaint) {
        Some(status) if of_status(status).is_some() => of_status(status),
        _ if named(&LOGINS) => Some(Trouble::Login),
        _ if named(&LIMITS) => Some(Trouble::Limit),
        _ => None,
    }
}

/// The number after `status` or `"code":`.
fn status_in(complaint: &str) -> Option<u64> {
    let marks = ["status: ", "status ", "\"code\":"];
    let mut after = marks.iter().filter_map(|mark| {
        let at = complaint.find(mark)? + mark.len();
        complaint.get(at..)
    });
    after.find_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_says_tells_whose_turn_it_is() {
        for (complaint, expected) in [
            (
                "unexpected status 401 Unauthorized: x",
                Some(Trouble::Login),
            ),
            ("last status: 429 Too Many Requests", Some(Trouble::Limit)),
            ("You’ve hit your usage limit.", Some(Trouble::Limit)),
            (r#"[API Error: {"error":{"code":403,"#, Some(Trouble::Login)),
            (
                r#"{"code":400,"message":"API key not valid."}"#,
                Some(Trouble::Login),
            ),
            ("Not logged in · Please run /login", Some(Trouble::Login)),
            (
                "unexpected status 400 Bad Request: no quota here",
                Some(Trouble::Limit),
            ),
            ("unexpected status 500 Internal Server Error", None),
            ("stream disconnected before completion", None),
            ("status", None),
            ("", None),
        ] {
            assert_eq!(in_words(complaint), expected, "{complaint}");
        }
    }
}
