//! Checks the host: is it installed, and in a version that we support?

use super::{CheckTopic, Finding};
use crate::host::{BLOCKING, Host, TESTED, TITLE};

pub(super) fn finding(host: Option<&Host>) -> Finding {
    let Some(host) = host else {
        return CheckTopic::Host.warning(
            format!("{TITLE} is not on the PATH"),
            "install it, or start it by its path",
        );
    };
    let path = host.path.display();
    match &host.version {
        Err(reason) => CheckTopic::Host.warning(
            format!("found {path}, but {reason}"),
            "start it once by hand",
        ),
        Ok(version) if *version < BLOCKING => CheckTopic::Host.red(
            format!(
                "{TITLE} {version} allows a tool call when its hook crashes (fail-open on crash)"
            ),
            format!("update it to {BLOCKING} or later"),
        ),
        Ok(version) if *version != TESTED => CheckTopic::Host.warning(
            format!("{TITLE} {version} is {path}; gatewright was tested with {TESTED}"),
            "`gatewright doctor --live` tests it",
        ),
        Ok(version) => CheckTopic::Host.fine(format!("{TITLE} {version} is {path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use hosts::Version;

    #[test]
    fn a_host_that_lets_calls_through_is_red() {
        let level = |version: Result<[u32; 3], &str>| {
            let host = Host {
                path: "/bin/claude".into(),
                version: version.map(Version).map_err(str::to_owned),
            };
            finding(Some(&host)).level
        };
        for (version, expected) in [
            (Ok([2, 1, 325]), Level::Fine),
            (Ok([2, 1, 295]), Level::Warning),
            (Ok([2, 1, 294]), Level::Red),
            (Ok([1, 9, 999]), Level::Red),
            (Ok([3, 0, 0]), Level::Warning),
            (Err("it does not tell its version"), Level::Warning),
        ] {
            assert_eq!(level(version), expected, "{version:?}");
        }
        assert_eq!(finding(None).level, Level::Warning);
    }
}
