//! Agents' names as hosts read them.

use engine::{AgentName, LONGEST};

/// The agent that the host starts when a call names none.
pub(crate) const UNNAMED: &str = "general-purpose";

/// The agent that a call means.
///
/// The host folds names by NFKC, case, whitespace, dashes and underscores; `AgentName::is_same` does
/// the last four. Of NFKC we fold the full-width forms. Any other name with non-ASCII characters is an
/// error, so the call is refused. That is safe even if the host could resolve the name.
pub(crate) fn agent(raw: &str) -> Result<AgentName, String> {
    AgentName::parse(bare(&plain(raw))).map_err(|_| raw.to_owned())
}

/// Removes the prefix of our plugin: the host puts a plugin's name before its agents and commands, and
/// pipelines use the bare names.
pub(crate) fn bare(name: &str) -> &str {
    name.strip_prefix(OUR_PLUGIN).unwrap_or(name)
}

const OUR_PLUGIN: &str = "gatewright:";

/// The agent at work, by the host's name for it. A worker with an invalid name must not pass for the
/// session itself, so it gets a name that no pipeline uses.
pub(super) fn worker(raw: &str) -> Option<AgentName> {
    let strange = || AgentName::parse(&format!("unnamed:{}", writable(raw))).ok();
    agent(raw).ok().or_else(strange)
}

fn plain(raw: &str) -> String {
    let plain = raw.chars().map(narrow);
    let plain: String = plain
        .map(|c| if c.is_whitespace() { '-' } else { c })
        .collect();
    plain.trim_matches(['-', '_']).to_owned()
}

/// The full-width forms have the same order as ASCII.
fn narrow(c: char) -> char {
    match u32::from(c) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

fn writable(raw: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '.' };
    raw.chars().map(kept).take(LONGEST / 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_plugin_brings_is_known_by_its_own_name() {
        for (raw, expected) in [
            ("gatewright:writer", "writer"),
            ("Gatewright:writer", "Gatewright:writer"),
            ("other:writer", "other:writer"),
        ] {
            assert_eq!(
                agent(raw).map(|name| name.to_string()),
                Ok(expected.to_owned())
            );
        }
    }

    #[test]
    fn a_name_is_read_as_the_host_reads_it() {
        let check = |raw: &str, name: Result<&str, &str>| {
            let read = agent(raw);
            let read = read.as_ref().map(AgentName::as_str).map_err(String::as_str);
            assert_eq!(read, name, "{raw:?}");
        };
        check("alpha-writer", Ok("alpha-writer"));
        check("Alpha Writer", Ok("Alpha-Writer"));
        check("Alpha\u{a0}Writer", Ok("Alpha-Writer"));
        check(" alpha_writer\n", Ok("alpha_writer"));
        check("--alpha", Ok("alpha"));
        check("ａｌｐｈａ－ｗｒｉｔｅｒ", Ok("alpha-writer"));
        check("plugin:alpha", Ok("plugin:alpha"));
        check("", Err(""));
        check("  ", Err("  "));
        check("élève", Err("élève"));
        check("𝐚lpha", Err("𝐚lpha"));
        check("alpha/../beta", Err("alpha/../beta"));
        check("alpha\u{200b}", Err("alpha\u{200b}"));
        let long = "a".repeat(65);
        check(&long, Err(&long));
    }

    #[test]
    fn the_read_name_is_the_same_as_the_defined_one() {
        for raw in [
            "Alpha Writer",
            "ALPHA_WRITER",
            "alphawriter",
            "ａlpha writer",
            "-Alpha--Writer-",
        ] {
            let name = agent(raw).unwrap();
            assert!(name.is_same("alpha-writer"), "{raw} became {name}");
        }
    }

    #[test]
    fn a_worker_always_has_a_name() {
        let check = |raw: &str, name: &str| {
            let worker = worker(raw).unwrap();
            assert_eq!(worker.as_str(), name, "{raw:?}");
        };
        check("alpha-writer", "alpha-writer");
        check("élève", "unnamed:.l.ve");
        check("", "unnamed:");
        check(&"é".repeat(80), &format!("unnamed:{}", ".".repeat(32)));
    }
}
