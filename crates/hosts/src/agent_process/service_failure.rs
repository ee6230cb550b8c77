//! Failures of a service that are not the worker's fault, recognised by status or message.

/// What must happen before a retry can work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceFailure {
    /// Time must pass.
    Limited,
    /// The service has failed or cannot be reached. Time must pass, too.
    Down,
    /// A person must log in or provide a key.
    NotLoggedIn,
}

/// What services and programs say about limits, in lower case.
const LIMITS: [&str; 14] = [
    "rate limit",
    "rate_limit",
    "usage limit",
    "hit your limit",
    "limit reached",
    "out of extra usage",
    "too many requests",
    "overloaded",
    "high demand",
    "at capacity",
    "quota",
    "resource_exhausted",
    "please wait and try again later",
    "try again later",
];

/// What programs say when a service cannot be reached, in lower case.
const OUTAGES: [&str; 13] = [
    "internal server error",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
    "connection error",
    "connection refused",
    "unable to connect",
    "econnrefused",
    "error sending request",
    "fetch failed",
    "stream closed before",
    "idle timeout waiting for",
    "stream ended without a finish reason",
];

/// What they say when nobody has logged in.
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

/// The failure that an HTTP status means. Some gateways send 503 for an overload.
pub(crate) fn of_status(status: u64) -> Option<ServiceFailure> {
    match status {
        401 | 403 => Some(ServiceFailure::NotLoggedIn),
        429 | 503 | 529 => Some(ServiceFailure::Limited),
        408 | 500 | 502 | 504 | 520..=524 => Some(ServiceFailure::Down),
        _ => None,
    }
}

/// The failure that an error message means. A status in it counts more than the words around it,
/// which each service chooses for itself.
pub(crate) fn of_message(message: &str) -> Option<ServiceFailure> {
    let message = message.to_lowercase();
    let named = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match status_in(&message) {
        Some(status) if of_status(status).is_some() => of_status(status),
        _ if named(&LOGINS) => Some(ServiceFailure::NotLoggedIn),
        _ if named(&LIMITS) => Some(ServiceFailure::Limited),
        _ if named(&OUTAGES) => Some(ServiceFailure::Down),
        _ => None,
    }
}

/// The number after `status` or `"code":`.
fn status_in(message: &str) -> Option<u64> {
    let marks = ["status: ", "status ", "\"code\":"];
    let mut after = marks.iter().filter_map(|mark| {
        let at = message.find(mark)? + mark.len();
        message.get(at..)
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
    fn a_message_tells_the_kind_of_failure() {
        for (message, expected) in [
            (
                "unexpected status 401 Unauthorized: x",
                Some(ServiceFailure::NotLoggedIn),
            ),
            (
                "last status: 429 Too Many Requests",
                Some(ServiceFailure::Limited),
            ),
            (
                "You’ve hit your usage limit.",
                Some(ServiceFailure::Limited),
            ),
            (
                r#"[API Error: {"error":{"code":403,"#,
                Some(ServiceFailure::NotLoggedIn),
            ),
            (
                r#"{"code":400,"message":"API key not valid."}"#,
                Some(ServiceFailure::NotLoggedIn),
            ),
            (
                "Not logged in · Please run /login",
                Some(ServiceFailure::NotLoggedIn),
            ),
            (
                "unexpected status 400 Bad Request: no quota here",
                Some(ServiceFailure::Limited),
            ),
            (
                "unexpected status 500 Internal Server Error",
                Some(ServiceFailure::Down),
            ),
            (
                "Unable to connect to API (ECONNREFUSED)",
                Some(ServiceFailure::Down),
            ),
            (
                "Selected model is at capacity. Please try a different model.",
                Some(ServiceFailure::Limited),
            ),
            (
                "stream disconnected before completion: stream closed before response.completed",
                Some(ServiceFailure::Down),
            ),
            (
                "stream disconnected before completion: idle timeout waiting for SSE",
                Some(ServiceFailure::Down),
            ),
            (
                "unexpected status 408 Request Timeout: x",
                Some(ServiceFailure::Down),
            ),
            (
                "Model stream ended without a finish reason.",
                Some(ServiceFailure::Down),
            ),
            // What follows is the service's own reason, which a retry may not change.
            ("stream disconnected before completion: no such model", None),
            ("the disk has no capacity left", None),
            ("it read the stream to its end", None),
            ("status", None),
            ("", None),
        ] {
            assert_eq!(of_message(message), expected, "{message}");
        }
    }
}
